from __future__ import annotations

from asky.cli.cells import character_cells, text_cells
from asky.cli.plain_rows import PlainRows, RawText
from tests.support.terminals import ScreenStream


def rows_of(text: str, columns: int) -> list[str]:
    rows = PlainRows(columns)
    rows.add(text)
    return rows.rows


def test_cells_are_those_of_a_terminal() -> None:
    assert [character_cells(each) for each in "aé中\u0301\u200d\u00adア😀"] == [1, 1, 2, 0, 0, 1, 2, 2]
    assert text_cells("中文 abc e\u0301") == 10
    assert text_cells("❤\ufe0f") == 2


def test_rows_break_between_words_and_never_fill_the_last_column() -> None:
    assert rows_of("the quick brown fox", 10) == ["the quick", "brown fox"]
    assert rows_of("the quicker fox", 10) == ["the", "quicker", "fox"]
    assert all(text_cells(row) <= 15 for row in rows_of("中文字符" * 20 + " and words" * 5, 16))


def test_a_word_longer_than_a_row_is_broken() -> None:
    assert rows_of("x" * 20, 10) == ["x" * 9, "x" * 9, "xx"]


def test_line_breaks_wait_for_what_comes_after_them() -> None:
    rows = PlainRows(20)
    assert rows.add("one\n\n") == "one"
    assert rows.add("two") == "\r\n\r\ntwo"
    assert rows.rows == ["one", "", "two"]


def test_blanks_at_a_break_are_swallowed_but_not_a_line_break() -> None:
    assert rows_of("123456789   next", 10) == ["123456789", "next"]
    assert rows_of("123456789 \nnext", 10) == ["123456789", "next"]
    assert rows_of("123456789 \n\nnext", 10) == ["123456789", "", "next"]


def test_what_is_sent_makes_the_rows_on_a_screen() -> None:
    text = "Ein längerer Satz über Größe,\twide 中文字符 text and слово слово слово e\u0301te\u0301 " * 3
    stream, rows = ScreenStream(24, 60), PlainRows(24)
    for character in text:
        stream.write(rows.add(character))
    assert stream.lines() == [row.rstrip().replace("e\u0301", "é") for row in rows.rows]
    assert [row.replace(" ", "") for row in rows_of(text, 24)] == [row.replace(" ", "") for row in rows.rows]


def test_rows_below_others_begin_with_a_break_and_a_gap() -> None:
    assert PlainRows(20, follows=True).add("\nx") == "\r\nx"
    rows = PlainRows(20, follows=True, gap=True)
    assert rows.add("\n") == ""
    assert rows.add("x") == "\r\n\r\nx"
    assert rows.rows == ["", "x"]


def test_raw_text_knows_the_row_it_is_on_after_a_break() -> None:
    raw, lines = RawText(started=True, breaks=1), []
    for piece, sent in (("one\n", "\r\none"), ("\ntwo\nth", "\r\n\r\ntwo\r\nth"), ("ree", "ree")):
        assert raw.add(piece) == sent
        lines.append(raw.line)
    assert lines == ["one", "th", "three"]
    unknown = PlainRows(20).freeze()
    assert unknown.add("\nx") == "x"
    assert unknown.line is None
