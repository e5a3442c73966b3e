from __future__ import annotations

import re

import pytest

from asky.cli.terminal.cells import Row, text_cells
from asky.cli.terminal.markdown_render import BlockRenderer
from asky.text.markdown import BlockSplitter

SGR = re.compile(r"\x1b\[[0-9;]*m")
ENVIRON = {"TERM": "xterm"}
RENDERER = BlockRenderer(ENVIRON)


def render(text: str, columns: int = 60, *, renderer: BlockRenderer = RENDERER) -> list[Row]:
    splitter = BlockSplitter()
    blocks = [*splitter.feed(text), *splitter.close()]
    return [row for block in blocks for row in renderer.render(block, columns)]


def shown(text: str, columns: int = 60) -> str:
    return "\n".join(row.text for row in render(text, columns))


def test_marks_become_styles() -> None:
    row = render("Some **bold**, *slanted* and `code` text.")[0]
    assert row.text == "Some bold, slanted and code text."
    assert "\x1b[1mbold\x1b[0m" in row.sent
    assert "\x1b[3mslanted\x1b[0m" in row.sent


def test_citations_are_coloured_but_not_in_code() -> None:
    sent = render("A fact [1][12]. `x[1]`")[0].sent
    assert sent.count("\x1b[36m") == 2
    assert "\x1b[36m[1]\x1b[0m" in sent


def test_a_row_without_styles_is_sent_as_it_is() -> None:
    assert render("Only words.") == [Row("Only words.", "Only words.")]


def test_a_link_is_followed_by_where_it_leads() -> None:
    assert shown("See [the **page**](https://evil.test/?q=1).") == "See the page (https://evil.test/?q=1)."
    assert shown("<https://a.test/x> and <me@a.test>") == "https://a.test/x and me@a.test"


def test_a_remote_image_is_its_description_and_its_address_is_dropped() -> None:
    assert shown("![a chart](http://evil.test/?q=SECRET) end") == "[image: a chart] end"
    assert shown("[![in](http://evil.test/?q=SECRET)](http://a.test)") == "[image: in] (http://a.test)"


def test_nothing_of_a_text_is_lost() -> None:
    assert shown("<details>secret</details>") == "<details>secret</details>"
    assert shown("a <b>bold</b> word") == "a <b>bold</b> word"
    assert shown("[1]: http://a.test/source") == "[1]: http://a.test/source"
    assert shown("<!-- note -->") == "<!-- note -->"
    assert shown("#") == "#"


def test_entities_bring_in_no_controls() -> None:
    for text in (
        "&#x202e;evil",
        "a&#13;b",
        "a&#x9b;31mb",
        "`&#27;[31m`",
        "[x](http://a/&#x202e;b)",
        "&#x1b;[2J",
        "&#10;x",
    ):
        for row in render(text):
            assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e]", SGR.sub("", row.sent)), text


def test_headings_stand_at_the_left() -> None:
    assert shown("# One\n## Two\n### *Three*") == "One\nTwo\nThree"


def test_code_keeps_its_lines_and_is_wrapped_not_cut() -> None:
    assert shown("```py\nif x:\n\treturn [1]\n\n# end\n```") == "  if x:\n      return [1]\n\n  # end"
    assert shown("```\n" + "x" * 100 + "\n```", 40).replace("\n", "").replace(" ", "") == "x" * 100


def test_items_keep_their_number_and_their_place() -> None:
    assert shown("7. seven\n8. eight") == " 7 seven\n 8 eight"
    assert shown("- a\n  - b\n    1. c") == " • a\n    • b\n       1 c"
    assert shown("  * set in") == "   • set in"
    assert shown("    \n\n+ after blanks") == " • after blanks"


def test_tables_are_aligned() -> None:
    assert shown("| a | b |\n|---|--:|\n| one | 2 |\n| 中文 | [1] |").splitlines() == [
        " a       b",
        " ─────────",
        " one     2",
        " 中文  [1]",
    ]


def test_cells_that_are_too_wide_are_wrapped_and_lose_nothing() -> None:
    rows = shown(f"| n | what |\n|---|---|\n| 1 | tide in in falls [1] 中文 old {'y' * 27} |", 34)
    assert rows.split()[3:] == ["1", "tide", "in", "in", "falls", "[1]", "中文", "old", "y" * 27]


def test_a_table_whose_words_do_not_fit_is_shown_as_a_list_of_its_rows() -> None:
    table = f"| body | what it does |\n|---|---|\n| moon | it pulls [1] {'y' * 40} |\n| sun | |"
    assert shown(table, 34).splitlines() == [
        "body: moon",
        "  what it does: it pulls [1]",
        f"  {'y' * 31}",
        f"  {'y' * 9}",
        "",
        "body: sun",
        "  what it does:",
    ]
    assert shown("| one | two | three |\n|---|---|---|", 12).split() == ["one", "two", "three"]


def test_without_colour_nothing_is_styled_and_signs_stand_for_what_is_bold_or_struck_out() -> None:
    text = "# The *moon*\n\n## Tides\n\n### Deep\n\nIt **pulls** `x` ~~[7?]~~ [a](https://x.test/) [1].\n\n    y = 1\n"
    rows = render(text, renderer=BlockRenderer(ENVIRON, colored=False))
    assert [row.text for row in rows] == [row.sent for row in rows]
    assert [row.text for row in rows if row.text] == [
        "The moon",
        "════════",
        "Tides",
        "─────",
        "Deep",
        "It pulls `x` ~~[7?]~~ a (https://x.test/) [1].",
        "  y = 1",
    ]


def test_a_link_is_one_for_the_terminal_over_its_text_and_its_address() -> None:
    renderer = BlockRenderer(ENVIRON, colored=False, links=True)
    rows = render("See [the tables](https://x.test/tides) [a](ftp://x.test).", 25, renderer=renderer)
    assert [row.text for row in rows] == ["See the tables", "(https://x.test/tides) a", "(ftp://x.test)."]
    begin, end = "\x1b]8;id=2c4f;https://x.test/tides\x1b\\", "\x1b]8;;\x1b\\"
    sent = [re.sub("id=[0-9a-f]+", "id=2c4f", row.sent) for row in rows]
    assert sent[2] == "(ftp://x.test)."
    assert [each.replace(begin, "{").replace(end, "}") for each in sent[:2]] == [
        "See {the tables}",
        "{(https://x.test/tides)} a",
    ]


@pytest.mark.parametrize("columns", [16, 17, 20, 33])
def test_no_row_reaches_the_last_column(columns: int) -> None:
    text = (
        "# A heading that is long enough\n\n" + "中文字符 words " * 10 + "\n\n"
        "- item " + "long " * 10 + "\n  > quoted " + "text " * 10 + "\n\n| a | b | c | d |\n|---|---|---|---|\n"
        "| one | two | three | four |\n\n```\n" + "y" * 50 + "\n```\n\n***\n\n" + "x" * 70
    )
    assert max(text_cells(row.text) for row in render(text, columns)) < columns


def test_nesting_without_end_is_survived() -> None:
    for text in (">" * 500 + "a", "- " * 300 + "a", "[" * 3000, "*a " * 2000, "`" * 999 + "a", "|" * 2000 + "\n|-"):
        assert render(text, 20)


def test_a_block_of_more_than_a_book_page_is_left_as_it_is() -> None:
    text = "**word** " * 3_000
    assert shown(text, 80).startswith("**word**")
