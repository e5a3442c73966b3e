from __future__ import annotations

import pytest

from asky.cli.terminal.cells import character_cells, folded, text_cells, wrapped


def test_cells_are_those_of_a_terminal() -> None:
    assert [character_cells(each) for each in "aé中\u0301\u200d\u00adア😀"] == [1, 1, 2, 0, 0, 1, 2, 2]
    assert text_cells("中文 abc e\u0301") == 10
    assert text_cells("❤\ufe0f") == 2


def test_rows_break_between_words_and_are_never_too_wide() -> None:
    assert wrapped("the quick brown fox", 9) == ["the quick", "brown fox"]
    assert wrapped("the quicker fox", 9) == ["the", "quicker", "fox"]
    assert wrapped("one\n\ttwo", 9) == ["one", "    two"]
    assert all(text_cells(row.rstrip()) <= 15 for row in wrapped("中文字符" * 20 + " and words" * 5, 15))


def test_a_word_longer_than_a_row_is_broken() -> None:
    assert wrapped("x" * 20, 9) == ["x" * 9, "x" * 9, "xx"]
    assert wrapped("  " + "x" * 12, 9) == ["  " + "x" * 7, "x" * 5]


def test_blanks_at_a_break_begin_no_row() -> None:
    assert [row.rstrip() for row in wrapped("123456789   next", 9)] == ["123456789", "next"]
    assert [row.rstrip() for row in wrapped("123456789 \n\nnext", 9)] == ["123456789", "", "next"]


def test_rows_that_grow_are_those_of_the_whole_text() -> None:
    text = "Ein längerer Satz über Größe,\n\twide 中文字符 text   and слово слово e\u0301te\u0301 " * 3
    rows = [""]
    for character in text:
        rows[-1:] = wrapped(rows[-1] + character, 23)
    assert rows == wrapped(text, 23)


@pytest.mark.parametrize(
    ("text", "columns", "hang", "rows"),
    [
        ("The moon pulls", 14, 0, ["The moon pulls"]),
        ("The moon pulls", 9, 0, ["The moon", "pulls"]),
        ("  a  bc de", 7, 0, ["  a  bc", "  de"]),
        ("[1] The moon", 8, 4, ["[1] The", "    moon"]),
        ("at https://x.test/long/path now", 10, 0, ["at", "https://x.test/long/path", "now"]),
        ("中文 中文", 5, 0, ["中文", "中文"]),
        ("one\ntwo three\n", 5, 0, ["one", "two", "three", ""]),
        (" " * 30 + "a b", 20, 0, [" " * 30 + "a", " " * 10 + "b"]),
        ("", 5, 0, [""]),
    ],
)
def test_lines_are_folded_between_words(text: str, columns: int, hang: int, rows: list[str]) -> None:
    assert folded(text, columns, hang=hang) == rows
