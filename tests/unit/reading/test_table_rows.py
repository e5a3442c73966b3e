from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

from asky.reading.tables.cells import GridCell as Cell
from asky.reading.tables.rows import add_rows, add_table
from asky.reading.text_builder import TextBuilder
from tests.support.timing import check_linear


def table(rows: Iterable[Sequence[str | Cell]], header_rows: int | None = None) -> list[str]:
    builder = TextBuilder()
    cells = [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows]
    add_table(builder, cells, header_rows=header_rows)
    return builder.text().splitlines()


def listed(rows: Iterable[Sequence[str]]) -> list[str]:
    builder = TextBuilder()
    add_rows(builder, rows)
    return builder.text().splitlines()


def heads(*texts: str) -> list[Cell]:
    return [Cell(text, is_head=True) for text in texts]


FARES: list[Sequence[str | Cell]] = [
    [Cell("Stop", rows=2), Cell("Westbound", columns=2), Cell("Eastbound", columns=2)],
    ["Adult", "Child", "Adult", "Child"],
    ["Quay", "12.40", "6.20", "11", "5"],
    ["Skerry", "15.90", "8", "14", "7"],
]


def test_several_header_rows_are_one_name_for_each_column() -> None:
    header, first, _ = table(FARES)
    assert header == "Stop; Westbound, Adult; Westbound, Child; Eastbound, Adult; Eastbound, Child"
    assert first.startswith("Stop: Quay; Westbound, Adult: 12.40; Westbound, Child: 6.20; Eastbound, Adult: 11;")
    assert table(FARES, header_rows=2) == table(FARES)


def test_groups_of_columns_are_told_by_the_names_that_come_again() -> None:
    rows = [
        ["", "West", "", "East", ""],
        ["Stop", "Adult", "Child", "Adult", "Child"],
        ["Quay", "12.4", "6", "11", "5"],
    ]
    assert listed(rows)[1] == "Stop: Quay; West, Adult: 12.4; West, Child: 6; East, Adult: 11; East, Child: 5"


def test_names_that_are_cut_in_the_rows_stand_whole_in_the_line_of_names_once() -> None:
    note = "Figures before the audit of the harbour board, in thousands, without the ferry and without the dry dock"
    long = "Share of the berths that were let to members in the whole season (percent)"
    rows: list[Sequence[str | Cell]] = [
        [Cell("Pier", rows=2), Cell(note, columns=3)],
        ["Fees", "Rents", long],
        ["North", "12", "7", "80"],
    ]
    header, first = table(rows, header_rows=2)
    assert header.startswith(f"Pier; {note}, Fees; ")
    assert header.count(note) == 1
    assert header.endswith(long)
    assert "; Figures before the audit" in first
    assert note not in first


def test_a_second_row_of_words_above_other_values_belongs_to_the_header() -> None:
    rows = [["Boat", "Trip", "Trip"], ["name", "length", "speed"], *(["Gull", str(n), f"{n}.5"] for n in range(5))]
    assert listed(rows)[0] == "Boat, name; Trip, length; Trip, speed"
    assert listed([["a", "b"], ["x", "closed"], ["y", "4"]])[1] == "a: x; b: closed"


def test_units_below_the_names_join_them() -> None:
    rows = [["Sample", "Weight", "Length (m)"], ["", "kg", "m"], ["A1", "5", "2.2"], ["A2", "6", "2.5"]]
    assert listed(rows)[0] == "Sample; Weight (kg); Length (m)"
    assert listed([["Name", "Sex"], ["Ann", "f"], ["Bo", "m"]])[1:] == ["Name: Ann; Sex: f", "Name: Bo; Sex: m"]


def test_a_cell_over_several_rows_is_shown_in_each_and_one_over_columns_once_under_all_their_names() -> None:
    rows: list[Sequence[str | Cell]] = [
        heads("Day", "Noon", "Evening", "Night"),
        [Cell("Mon", rows=2), "Ada", Cell("Oskar", columns=2)],
        ["Bo", "Cleo", "Dan"],
        ["Tue", Cell("closed", columns=3)],
    ]
    assert table(rows)[1:] == [
        "Day: Mon; Noon: Ada; Evening, Night: Oskar",
        "Day: Mon; Noon: Bo; Evening: Cleo; Night: Dan",
        "Day: Tue; Noon, Evening, Night: closed",
    ]


def test_a_cell_over_many_columns_is_under_the_first_and_last_of_their_names() -> None:
    names = [f"the month of {name}" for name in ("January", "February", "March", "April")]
    assert table([heads("Hall", *names), ["North", Cell("shut", columns=4)]])[1] == (
        "Hall: North; the month of January to the month of April: shut"
    )


def test_a_long_cell_over_many_rows_does_not_multiply_the_text() -> None:
    rows: list[Sequence[str | Cell]] = [
        heads("a", "b"),
        [Cell("long " * 200, rows=500), "1"],
        *(["2"] for _ in range(499)),
    ]
    assert len("\n".join(table(rows))) < 1_000 + 500 * 250


def test_what_stands_over_the_whole_width_is_a_line_and_names_nothing() -> None:
    rows: list[Sequence[str | Cell]] = [
        [Cell("Stock of the shed", columns=3)],
        ["Item", "Count", "Price"],
        [Cell("Ropes", columns=3)],
        ["Oak line", "4", "12.50"],
        ["Paint", "", ""],
        ["White", "9", "46"],
        [Cell("Total", columns=2), "58.50"],
    ]
    assert table(rows) == [
        "Stock of the shed",
        "Item; Count; Price",
        "Ropes",
        "Item: Oak line; Count: 4; Price: 12.50",
        "Paint",
        "Item: White; Count: 9; Price: 46",
        "Total; Price: 58.50",
    ]
    assert table(rows, header_rows=2)[:3] == ["Stock of the shed", "Item; Count; Price", "Ropes"]


@pytest.mark.parametrize("mark", [False, True])
def test_names_beside_their_values_are_no_header(mark: bool) -> None:
    pairs = [("Name", "Silver Heron"), ("Length", "9.35"), ("Built", "1987"), ("Port", "")]
    rows = [[Cell(name, is_head=mark), value] for name, value in pairs]
    assert table(rows) == ["Name: Silver Heron", "Length: 9.35", "Built: 1987", "Port"]
    assert table(rows[:2]) == ["Name: Silver Heron", "Length: 9.35"]


def test_several_names_beside_their_values_in_a_row() -> None:
    rows: list[Sequence[str | Cell]] = [
        ["Name:", "Ines Moreau", "Date:", "2 May 2026"],
        ["Boat:", "Gull", "Berth:", "14"],
        ["Phone:", "", "Crew:", "3"],
        ["Remarks:", Cell("none of the lights work", columns=3)],
    ]
    assert table(rows) == [
        "Name: Ines Moreau; Date: 2 May 2026",
        "Boat: Gull; Berth: 14",
        "Phone: –; Crew: 3",
        "Remarks: none of the lights work",
    ]


def test_two_columns_with_a_header_have_one() -> None:
    assert table([["Item", "Price"], ["Oar", "40"], ["Rope", "12.50"]])[1] == "Item: Oar; Price: 40"
    assert table([["Role", "Person"], ["Mate", "Ola Berg"]])[1] == "Role: Mate; Person: Ola Berg"
    assert table([heads("Country", "Capital"), ["Norway", "Oslo"]])[1] == "Country: Norway; Capital: Oslo"
    assert listed([["city", "river"], ["Oslo", "Akerselva"], ["Lyon", "Rhone"]])[1] == "city: Oslo; river: Akerselva"


def test_names_of_rows_are_kept_below_an_empty_corner_and_without_a_header() -> None:
    assert table([["", "Mon", "Tue"], ["Noon", "Ada", "Bo"]]) == ["Mon; Tue", "Noon; Mon: Ada; Tue: Bo"]
    rows = [[Cell("Noon", is_head=True), "Ada", "Bo"], [Cell("Night", is_head=True), "Cleo", "Dan"]]
    assert table(rows) == ["Noon: Ada; Bo", "Night: Cleo; Dan"]


def test_what_the_format_says_of_the_header_wins() -> None:
    rows = [["1", "2"], ["a", "b"]]
    assert table(rows, header_rows=1) == ["1; 2", "1: a; 2: b"]
    assert table([["Ann", "Mate", "x"], ["Bo", "Cook", "y"]], header_rows=0) == ["Ann; Mate; x", "Bo; Cook; y"]


def test_columns_without_a_name_or_with_that_of_others_are_named_by_their_letters() -> None:
    rows = [["Order", "Customer", "", "Amount", "Amount"], ["5501", "Nordlys", "urgent", "1200", "960"]]
    assert listed(rows)[1] == (
        "Order: 5501; Customer: Nordlys; column C: urgent; Amount (column D): 1200; Amount (column E): 960"
    )


def test_what_would_part_a_row_is_left_out_of_names() -> None:
    header, row = listed([["Time: local", "Price; EUR", "n"], ["9:00", "5", "4"]])
    assert (header, row) == ("Time local; Price, EUR; n", "Time local: 9:00; Price, EUR: 5; n: 4")


def test_rows_of_another_shape_are_not_zipped() -> None:
    rows = [
        ["Date", "Item", "Sum", "Paid"],
        ["2026-01-01", "Rope", "4.50", "yes"],
        ["2026-01-02", "Oar", "5", "no"],
        ["2026-01-03", "Oar"],
        ["2026-01-04", "Sail, red", "5", "no", "late"],
        ["Date", "Item", "Sum", "Paid"],
        ["Total", "", "9.50", ""],
        ["Prepared by", "", "Ann", ""],
        ["Printed by the harbour office"],
    ]
    assert listed(rows)[3:] == [
        "Date: 2026-01-03; Item: Oar",
        "Date: 2026-01-04; Item: Sail, red; Sum: 5; Paid: no; column E: late",
        "Date: Total; Sum: 9.50",
        "Prepared by; Ann",
        "Printed by the harbour office",
    ]


def test_a_table_below_another_has_names_of_its_own() -> None:
    rows = [
        ["Crew"],
        ["Name", "Role", "Boat"],
        ["Ann", "Mate", "Gull"],
        ["Boats"],
        ["Boat", "Length", "Built"],
        ["Gull", "9.1", "1987"],
        [],
        ["Prepared by", "Ann"],
    ]
    assert listed(rows)[3:] == [
        "Boats",
        "Boat; Length; Built",
        "Boat: Gull; Length: 9.1; Built: 1987",
        "Prepared by; Ann",
    ]


def test_pairs_above_a_table_are_not_its_names() -> None:
    rows = [
        ["Station", "Quay"],
        ["Unit", "cm"],
        ["Date", "High", "Low"],
        ["2026-03-01", "412", "88"],
        ["2026-03-02", "4", "9"],
    ]
    assert listed(rows)[:4] == ["Station: Quay", "Unit: cm", "Date; High; Low", "Date: 2026-03-01; High: 412; Low: 88"]


@pytest.mark.parametrize("names", [["2023", "2024"], ["2026-01", "2026-02"], ["Q1", "Q2"], ["1 May", "2 May"]])
def test_dates_and_codes_name_columns_of_numbers(names: list[str]) -> None:
    assert (
        listed([["Hall", *names], ["North", "5", "6"], ["South", "7", "8"]])[1]
        == f"Hall: North; {names[0]}: 5; {names[1]}: 6"
    )


def test_counted_columns_have_numbers_as_names() -> None:
    assert listed([["Hall", "1", "2", "3"], ["North", "5", "6", "2"], ["South", "7", "8", "9"]])[1] == (
        "Hall: North; 1: 5; 2: 6; 3: 2"
    )


@pytest.mark.parametrize(
    "rows", [[["Ann", "12", "3"], ["Bo", "13", "4"]], [["5501", "Haug", "1"], ["5502", "Berg", "2"]]]
)
def test_values_are_no_header(rows: list[list[str]]) -> None:
    assert listed(rows) == ["; ".join(row) for row in rows]


def test_a_header_shorter_than_its_rows_by_one_leaves_the_first_column_without_a_name() -> None:
    assert listed([["name", "score"], ["1", "Ann", "5"], ["2", "Bo", "6"]])[1] == "1; name: Ann; score: 5"


def test_rows_take_linear_time() -> None:
    check_linear(lambda size: listed(["a", "b", "c"] if number % 50 else [] for number in range(size)), 2_000)
    check_linear(lambda size: table([[Cell("x", rows=size, columns=3), "y"], *(["z"] for _ in range(size))]), 1_000)


def test_a_row_that_is_marked_like_the_header_begins_another_table_if_it_has_other_names() -> None:
    rows = [
        heads("Item", "Price"),
        ["Oar", "4"],
        heads("Item", "Price"),
        ["Rope", "5"],
        heads("Crew", "Role"),
        ["Ann", "Mate"],
    ]
    assert table(rows)[1:] == ["Item: Oar; Price: 4", "Item: Rope; Price: 5", "Crew; Role", "Crew: Ann; Role: Mate"]
    totals = [heads("Item", "Price"), ["Oar", "4"], heads("Total", "4"), ["Rope", "5"]]
    assert table(totals)[2:] == ["Item: Total; Price: 4", "Item: Rope; Price: 5"]


def test_a_form_may_have_names_that_are_no_common_ones() -> None:
    rows = [
        ["Surname", "Oar", "First name", "Ben"],
        ["Vessel", "Kittiwake", "Length", "9.4 m"],
        ["Draught", "1.6 m", "Mooring", "Swinging"],
        ["Phone", "01234 567", "E-mail", "ben@example.org"],
    ]
    assert table(rows)[1:3] == ["Vessel: Kittiwake; Length: 9.4 m", "Draught: 1.6 m; Mooring: Swinging"]
