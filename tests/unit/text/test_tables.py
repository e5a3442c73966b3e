from __future__ import annotations

import pytest

from asky.text.tables import bar_tables, named_row
from tests.support.timing import check_linear


def rows(text: str) -> list[tuple[str, str]]:
    """Return each row as it stands and with its names."""
    found = [row for table in bar_tables(text) for row in table.rows]
    return [(text[row.span.start : row.span.end], row.named) for row in found]


def test_the_rows_below_a_head_have_the_names_of_its_columns() -> None:
    text = "Mills\n\n| Mill | **Built** |\n|:--|--:|\n| [[Clare]] | 1820 |  \n  | Ennis | |\n\nThe end."
    assert rows(text) == [("| [[Clare]] | 1820 |", "Mill: Clare; Built: 1820"), ("| Ennis | |", "Mill: Ennis")]


def test_a_row_may_have_fewer_or_more_cells_than_the_head() -> None:
    assert [named for _, named in rows("a | b\n-|-\n1\n1 | 2 | 3\n|||\n")] == []
    assert [named for _, named in rows("a | b\n-|-\n1 |\n1 | 2 | 3\n")] == ["a: 1", "a: 1; b: 2; 3"]
    assert named_row(["", "b"], ["x", "", "z"]) == "x; z"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no bars",
        "Use a | b to pipe.",
        "a | b\nc | d",
        "Title | of it\n---------",
        "- a | b | c\n- d | e | f",
        "|\n\n|",
    ],
)
def test_what_is_no_table_is_none(text: str) -> None:
    assert list(bar_tables(text)) == []


def test_rows_whose_head_was_cut_off_have_no_names() -> None:
    assert rows("| Clare | 1820 |\n| Ennis | 1790 |") == [("| Clare | 1820 |", ""), ("| Ennis | 1790 |", "")]


def test_offsets_limit_the_search() -> None:
    text = "| a |\n|---|\n| 1 |\n\n| b |\n|---|\n| 2 |\n"
    assert [table.names for table in bar_tables(text, text.index("| b"))] == [("b",)]
    assert [table.names for table in bar_tables(text, 0, text.index("| b"))] == [("a",)]


def test_a_long_table_takes_linear_time() -> None:
    check_linear(lambda size: list(bar_tables("| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * size)), 500)
    check_linear(lambda size: list(bar_tables("|" + "-" * size + "x|\n" + " " * size + "|")), 20_000)
