from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.reading.tables.csv_file import read

CELLS = st.text(alphabet="abc äß,;\"\n'", max_size=8)


def lines_of(data: bytes) -> list[str]:
    return read(data, "a.csv").text.splitlines()


def test_each_row_names_its_columns() -> None:
    data = b"city,country,people\nParis,France,2102650\nOslo,Norway,709037\n"
    assert lines_of(data) == [
        "city; country; people",
        "city: Paris; country: France; people: 2102650",
        "city: Oslo; country: Norway; people: 709037",
    ]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_are_recognised(delimiter: str) -> None:
    rows = ["a b", "c, d"], ["1; x", "two"], ["3", "4"]
    packed = io.StringIO()
    csv.writer(packed, delimiter=delimiter).writerows(rows)
    assert lines_of(packed.getvalue().encode()) == ["a b; c, d", "a b: 1; x; c, d: two", "a b: 3; c, d: 4"]


def test_without_names_the_values_stand_alone() -> None:
    assert lines_of(b"1,2\n3,4\n") == ["1; 2", "3; 4"]
    assert lines_of(b"a,a\nb,c\n") == ["a; a", "b; c"]
    assert lines_of(b"apple\npear\n") == ["apple", "pear"]


def test_empty_cells_and_rows_are_left_out_and_surplus_cells_kept() -> None:
    assert lines_of(b"a,b\n,x\n,\n\n1,2,3\n") == ["a; b", "b: x", "a: 1; b: 2; 3"]


def test_quoted_cells_may_hold_delimiters_quotes_and_lines() -> None:
    assert lines_of(b'name,note\nAnn,"said ""hi"",\nthen left"\n') == [
        "name; note",
        'name: Ann; note: said "hi", then left',
    ]


def test_a_cell_beyond_the_parsers_usual_limit_is_read() -> None:
    assert len(lines_of(b"a,b\n" + b"x" * 200_000 + b",y\n")[1]) > 200_000


def test_a_long_name_is_whole_in_its_own_line_and_short_in_the_rows() -> None:
    name = "n" * 500
    header, row, _ = lines_of(f"{name},b\n1,2\n3,4\n".encode())
    assert header == f"{name}; b"
    assert len(row) < 100


def test_titles_above_a_table_are_not_its_names() -> None:
    assert lines_of(b"Budget of the club,,\n,,\nmonth,in,out\nMay,40,12\n") == [
        "Budget of the club",
        "month; in; out",
        "month: May; in: 40; out: 12",
    ]


def test_years_name_columns_and_the_first_may_have_no_name() -> None:
    assert lines_of(b",2022,2023\nguests,40,12\n") == ["2022; 2023", "guests; 2022: 40; 2023: 12"]
    assert lines_of(b"count,2022/23,2023/24\nguests,40,12\n")[1] == "count: guests; 2022/23: 40; 2023/24: 12"


def test_another_table_below_an_empty_row_has_names_of_its_own() -> None:
    data = b"month,in\nMay,40\nJune,50\n,\nname,paid\nAnn,7\n"
    assert lines_of(data)[3:] == ["name; paid", "name: Ann; paid: 7"]
    gap = b"month,in\nMay,40\n,\nJune,50\n"
    assert lines_of(gap)[2:] == ["month: June; in: 50"]


@given(st.lists(st.lists(CELLS, min_size=1, max_size=4), max_size=6))
def test_every_word_of_every_cell_is_in_the_text(rows: list[list[str]]) -> None:
    packed = io.StringIO()
    csv.writer(packed).writerows(rows)
    text = read(packed.getvalue().encode(), "a.csv").text
    for cells in rows:
        for cell in cells:
            # Which character divides the cells is a guess; the words are kept whatever it is.
            for word in cell.replace('"', " ").replace(",", " ").replace(";", " ").split():
                assert word in text
