"""Where the tables of a sheet are, and what is hidden in it."""

from __future__ import annotations

import io
from collections.abc import Callable

import openpyxl
import pytest
from openpyxl.worksheet.table import Table

from asky.reading.office.sheets import read
from tests.support.workbook_files import row, sheet_xml, workbook

BOLD = openpyxl.styles.Font(bold=True)


def text_of(fill: Callable[[openpyxl.worksheet.worksheet.Worksheet], object]) -> str:
    book = openpyxl.Workbook()
    fill(book.active)
    out = io.BytesIO()
    book.save(out)
    return read(out.getvalue(), "a.xlsx").text.removeprefix("Sheet\n")


def put(sheet: openpyxl.worksheet.worksheet.Worksheet, at: str, *rows: list[object]) -> None:
    first = sheet[at]
    for down, values in enumerate(rows):
        for across, value in enumerate(values):
            sheet.cell(first.row + down, first.column + across, value)


def test_tables_side_by_side_are_tables_of_their_own() -> None:
    def fill(sheet: openpyxl.worksheet.worksheet.Worksheet) -> None:
        put(sheet, "A1", ["Name", "Age"], ["Ida", 40], ["Kai", 50])
        put(sheet, "D1", ["Boat", "Berth", "Owner"], ["Gull", 7, "Bo"], ["Tern", 9, "Mei"])
        sheet["XFD3"] = "stray"

    assert text_of(fill) == (
        "Name; Age\nName: Ida; Age: 40\nName: Kai; Age: 50\n"
        "Boat; Berth; Owner; column XFD\nBoat: Gull; Berth: 7; Owner: Bo\n"
        "Boat: Tern; Berth: 9; Owner: Mei; column XFD: stray\n\n"
    )


def test_an_empty_column_within_a_table_changes_nothing() -> None:
    def fill(sheet: openpyxl.worksheet.worksheet.Worksheet) -> None:
        put(sheet, "A1", ["Name", None, "Age", "Town"], ["Ida", None, 40, "Bergen"], ["Kai", None, 50, "Oslo"])

    assert "Name: Ida; Age: 40; Town: Bergen\n" in text_of(fill)


def test_named_tables_have_their_names_and_what_is_around_them_its_place() -> None:
    def fill(sheet: openpyxl.worksheet.worksheet.Worksheet) -> None:
        sheet["A1"] = "All people of the harbour"
        put(sheet, "A2", ["Name", "Age"], ["Ida", 40], ["Kai", 50], ["Sum", 90])
        put(sheet, "D2", ["Key", "Door"], ["K1", "Gate"], ["K2", "Shed"])
        sheet["A6"] = "As of May"
        sheet.add_table(Table(displayName="People", ref="A2:B5", totalsRowCount=1))
        sheet.add_table(Table(displayName="Keys", ref="D2:E4"))

    assert text_of(fill) == (
        "All people of the harbour\nPeople\nName; Age\nName: Ida; Age: 40\nName: Kai; Age: 50\nName: Sum; Age: 90\n"
        "Keys\nKey; Door\nKey: K1; Door: Gate\nKey: K2; Door: Shed\nAs of May\n\n"
    )


def test_a_bold_row_below_a_gap_begins_another_table() -> None:
    def fill(sheet: openpyxl.worksheet.worksheet.Worksheet) -> None:
        put(sheet, "A1", ["Name", "Age"], ["Ida", 40], ["Kai", 50], [], ["Boat", "Berth"], ["Gull", 7], ["Tern", 9])
        sheet["A5"].font = sheet["B5"].font = BOLD

    assert text_of(fill) == (
        "Name; Age\nName: Ida; Age: 40\nName: Kai; Age: 50\nBoat; Berth\nBoat: Gull; Berth: 7\nBoat: Tern; Berth: 9\n\n"
    )


def test_words_below_a_gap_where_a_table_has_numbers_have_no_names() -> None:
    def fill(sheet: openpyxl.worksheet.worksheet.Worksheet) -> None:
        put(sheet, "A1", ["Day", "Hours"], ["Monday", 8], ["Tuesday", 7], [], ["Signed", "I. Moe"], ["Seen", "B. Lund"])

    assert text_of(fill).splitlines()[3] in ("Signed; I. Moe", "Signed: I. Moe")


def test_a_merged_title_is_said_once_and_covered_cells_are_not_shown() -> None:
    def fill(sheet: openpyxl.worksheet.worksheet.Worksheet) -> None:
        put(sheet, "A1", ["Rents"], ["Quay", "Rent", "Note"], ["North", 12, "paid"], ["South", 15, None])
        sheet.merge_cells("A1:C1")
        sheet.merge_cells("B4:C4")

    assert text_of(fill) == "Rents\nQuay; Rent; Note\nQuay: North; Rent: 12; Note: paid\nQuay: South; Rent: 15\n\n"
    covered = sheet_xml(row("a", "b", "c"), after='<mergeCells><mergeCell ref="A1:B1"/></mergeCells>')
    assert read(workbook(covered), "a.xlsx").text == "Sheet1\na; c\n\n"


def test_a_merged_area_down_several_rows_keeps_the_other_columns_in_place() -> None:
    def fill(sheet: openpyxl.worksheet.worksheet.Worksheet) -> None:
        put(sheet, "A1", ["Quay", "Berth", "Boat"], ["North", 1, "Gull"], [None, 2, "Tern"], ["South", 3, "Auk"])
        sheet.merge_cells("A2:A3")

    lines = text_of(fill).splitlines()
    assert lines[1] == "Quay: North; Berth: 1; Boat: Gull"
    assert lines[2].endswith("Berth: 2; Boat: Tern")
    assert lines[3] == "Quay: South; Berth: 3; Boat: Auk"


def test_hidden_rows_and_columns_are_marked_where_they_stand() -> None:
    def fill(sheet: openpyxl.worksheet.worksheet.Worksheet) -> None:
        put(sheet, "A1", ["Name", "Cost", "Price"], ["Gull", 7, 9], ["Tern", 8, 10])
        sheet.column_dimensions["B"].hidden = True
        sheet.row_dimensions[3].hidden = True

    assert text_of(fill) == (
        "Name; Cost [hidden column]; Price\nName: Gull; Cost [hidden column]: 7; Price: 9\n"
        "[hidden row] Name: Tern; Cost [hidden column]: 8; Price: 10\n\n"
    )


def test_a_hidden_row_of_names_is_marked_and_the_others_are_not() -> None:
    rows = row("Name", "Cost", attributes='hidden="1"') + row("Gull", 7) + row("Tern", 8, attributes='ht="0"')
    assert read(workbook(rows), "a.xlsx").text == (
        "Sheet1\n[hidden row] Name; Cost\nName: Gull; Cost: 7\n[hidden row] Name: Tern; Cost: 8\n\n"
    )


@pytest.mark.parametrize(
    ("attributes", "heading"),
    [
        ('name="Costs" state="hidden"', "Costs (hidden sheet)"),
        ('name="Costs" state="veryHidden"', "Costs (very hidden sheet)"),
        ('name="=A &amp; &lt;B&gt; &apos;😀&apos;"', "=A & <B> '😀'"),
    ],
)
def test_a_sheet_has_its_name_and_whether_it_is_hidden(attributes: str, heading: str) -> None:
    document = read(workbook((attributes, row("x"))), "a.xlsx")
    assert document.text == f"{heading}\nx\n\n"
    assert [each.heading for each in document.sections] == [heading]


def test_a_merged_name_above_the_last_columns_is_that_of_all_of_them() -> None:
    def fill(sheet: openpyxl.worksheet.worksheet.Worksheet) -> None:
        put(sheet, "A1", ["Day", "North", None, "South", None], [None, "Leaves", "Arrives", "Leaves", "Arrives"])
        put(sheet, "A3", ["Monday", 8, 9, 10, 11], ["Sunday", 9, 10, 12, 13])
        for merged in ("A1:A2", "B1:C1", "D1:E1"):
            sheet.merge_cells(merged)

    first = text_of(fill).splitlines()[0]
    assert first == "Day; North, Leaves; North, Arrives; South, Leaves; South, Arrives"
