from __future__ import annotations

import pytest

from asky.text.tables import bar_tables, column_letters, head_above, joined_name, named_row
from tests.support.timing import check_linear


def rows(text: str) -> list[tuple[str, str]]:
    """Return each row as it stands and with its names."""
    found = [row for table in bar_tables(text) for row in table.rows]
    return [(text[row.span.start : row.span.end], row.named) for row in found]


def test_the_rows_below_a_head_have_the_names_of_its_columns() -> None:
    text = "Mills\n\n| Mill | **Built** |\n|:--|--:|\n| [[Clare]] | 1820 |  \n  | Ennis | |\n\nThe end."
    assert rows(text) == [("| [[Clare]] | 1820 |", "Mill: Clare; Built: 1820"), ("| Ennis | |", "Mill: Ennis")]


def test_a_row_may_have_fewer_or_more_cells_than_the_head() -> None:
    assert [named for _, named in rows("a | b\n-|-\n1 |\n1 | 2 | 3\n")] == ["a: 1", "a: 1; b: 2; column C: 3"]
    assert named_row(["", "b"], ["x", "", "z"]) == "x; column C: z"


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


def test_a_line_between_two_rows_heads_a_group() -> None:
    text = "a | b\n--- | ---\nOars\n1 | 2\nRopes\n3 | 4\nThe end."
    (table,) = bar_tables(text)
    assert [(row.named, row.group) for row in table.rows] == [("a: 1; b: 2", "Oars"), ("a: 3; b: 4", "Ropes")]
    assert text[table.lines[-1].start : table.lines[-1].end] == "3 | 4"
    assert len(list(bar_tables("| a |\n|---|\n| 1 |\n- an item\n| 2 |"))) == 2


@pytest.mark.parametrize(
    "text",
    [
        "> | a | b |\n> |---|---|\n> | 1 | 2 |",
        "- | a | b |\n  |---|---|\n  | 1 | 2 |",
        "1. | a | b |\n   |:-:|--:|\n   | 1 | 2 |",
    ],
)
def test_a_table_may_stand_in_a_quotation_or_an_item(text: str) -> None:
    assert [named for _, named in rows(text)] == ["a: 1; b: 2"]


def test_rows_whose_head_was_cut_off_have_the_names_that_are_given() -> None:
    text = "Clare | 1820\nEnnis | 1790\n\nx | y"
    (table,) = bar_tables(text, names=["Mill", "Built"])
    assert [row.named for row in table.rows] == ["Mill: Clare; Built: 1820", "Mill: Ennis; Built: 1790"]


@pytest.mark.parametrize(
    ("above", "row", "head"),
    [
        ("Mills\n\n| Mill | Built |\n|---|---|\n| Clare | 1820 |\n", "| Ennis | 1790 |", "Mill | Built"),
        ("Mill | a \\| b\n--- | ---\n", "Ennis | 1790", "Mill | a \\| b"),
        ("These are mills:\nMill | Built\n--- | ---\nNorth\n", "Ennis | 1790", "Mill | Built"),
        ("Mill | Built\n", "--- | ---", "Mill | Built"),
        ("> | Mill | Built |\n> |---|---|\n> ", "| Ennis | 1790 |", "Mill | Built"),
        ("Mill | Built\n--- | ---\nEnnis | ", "1790 | 4", None),
        ("Mill | Built\n--- | ---\n\n", "Ennis | 1790", None),
        ("Mill | Built\n--- | ---\n", "The end.", None),
        ("Clare | 1820\n", "Ennis | 1790", None),
        ("Mill | Built\n--- | ---\nClare | 1820\n\f", "Ennis | 1790", "Mill | Built"),
        ("Mill | Built\n--- | ---\nClare | 1820\n\f", "Ennis | 1790 | 4", None),
        ("Mill | Built\n--- | ---\nClare | 1820\n\fThe end.\n\n\f", "Ennis | 1790", None),
        ("", "Mill | Built\n--- | ---", None),
    ],
)
def test_the_head_of_a_table_is_found_from_a_row_below_it(above: str, row: str, head: str | None) -> None:
    assert head_above(f"{above}{row}\nx | y\n", len(above)) == head


def test_columns_are_named_by_letters_as_in_a_worksheet() -> None:
    assert [column_letters(number) for number in (0, 25, 26, 701, 702, 16_383)] == ["A", "Z", "AA", "ZZ", "AAA", "XFD"]


def test_the_name_of_several_columns_has_what_they_share_once() -> None:
    assert joined_name(["Mon", "Tue"]) == "Mon, Tue"
    assert joined_name(["West, Adult", "West, Child"]) == "West, Adult, Child"
    assert joined_name(["West, Adult", "East, Adult"]) == "West, East"
