from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.reading.tables.csv_file import read
from tests.support.timing import check_linear

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


def test_empty_cells_and_rows_are_left_out_and_surplus_cells_have_the_letters_of_their_column() -> None:
    assert lines_of(b"a,b\n,x\n1,2,3\n") == ["a; b", "b: x", "a: 1; b: 2; column C: 3"]
    assert lines_of(b"a,b\n,x\n\n1,2,3\n") == ["a; b", "b: x", "1; 2; 3"]


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


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("sep=;\nName;Price\nOar;1,5\n", ["Name; Price", "Name: Oar; Price: 1,5"]),
        ("Price, EUR;Mass, kg\n1,5;2,5\n3,7;4,0\n", ["Price, EUR; Mass, kg", "Price, EUR: 1,5; Mass, kg: 2,5"]),
        ("id,note\n1,'red, blue'\n2,'a, b'\n", ["id; note", "id: 1; note: red, blue"]),
        ('id,note\n1,"he said \\"hi, you\\" twice"\n2,"x"\n', ["id; note", 'id: 1; note: he said "hi, you" twice']),
        ('id, note\n1, "red, blue"\n', ["id; note", "id: 1; note: red, blue"]),
        ('id,pipe\n1,5" wide\n2,6" wide\n', ["id; pipe", 'id: 1; pipe: 5" wide']),
        ("root:x:0:0\nann:x:10:20\nbo:x:11:21\n", ["root; x; 0; 0", "ann; x; 10; 20"]),
        ("t x y\n0 1.5 2.5\n1 1.7 2.9\n2 2 3\n", ["t; x; y", "t: 0; x: 1.5; y: 2.5"]),
        ("Ann Lund\nBo Berg\nCy Dahl\n", ["Ann Lund", "Bo Berg"]),
        ("| Name | Sum |\n|---|---|\n| Ann | 4 |\n", ["Name; Sum", "Name: Ann; Sum: 4"]),
        ("#Date,High,Low\n2026-01-01,4,1\n", ["Date; High; Low", "Date: 2026-01-01; High: 4; Low: 1"]),
        ("# by x, y, z\nDate,High,Low\n2026-01-01,4,1\n", ["# by x, y, z", "Date; High; Low"]),
    ],
)
def test_dialects_are_found(text: str, rows: list[str]) -> None:
    assert lines_of(text.encode())[:2] == rows


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
def test_encodings_are_found(encoding: str) -> None:
    data = "Ort;Höhe\r\nMünchen;520\r\nKöln;37\r\n".encode(encoding)
    assert lines_of(data) == ["Ort; Höhe", "Ort: München; Höhe: 520", "Ort: Köln; Höhe: 37"]


def test_a_name_that_promises_tabs_decides() -> None:
    data = b"a, b\tc, d\n1, 2\t3, 4\n"
    assert read(data, "a.TSV").text == read(data, "a.tab").text == "a, b; c, d\na, b: 1, 2; c, d: 3, 4\n"


def test_a_quote_that_is_never_closed_does_not_take_the_rest_of_the_file() -> None:
    rows = "".join(f'{number},"Bo {number}",7\n' for number in range(4, 400))
    lines = lines_of(f'id,name,n\n1,"Ann,5\n2,Bo,6\n3,"Cy\nDahl",7\n{rows}'.encode())
    assert lines[1:4] == ['id: 1; name: "Ann; n: 5', "id: 2; name: Bo; n: 6", "id: 3; name: Cy Dahl; n: 7"]
    assert lines[-1] == "id: 399; name: Bo 399; n: 7"


@pytest.mark.parametrize("unit", ['1,"x\n', '"a,', '""\n', '1,""x"\n', "\n1,2", "x\n", "a,b,c\n1,2,3\n", '1,"x\\"y"\n'])
def test_hostile_tables_take_linear_time(unit: str) -> None:
    check_linear(lambda size: read(f"a,b,c\n{unit * size}".encode(), "a.csv"), 4_000)


def test_the_widest_table_is_read() -> None:
    names, values = (",".join(f"{mark}{number}" for number in range(16_384)) for mark in ("c", ""))
    header, row = lines_of(f"{names}\n{values}\n".encode())
    assert header.endswith("; c16383")
    assert row.endswith("; c16383: 16383")
