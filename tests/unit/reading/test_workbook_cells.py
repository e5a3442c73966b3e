"""What the cells of workbooks say, as the programs that write them state it."""

from __future__ import annotations

import io
from datetime import timedelta

import openpyxl
import pytest

from asky.errors import SourceUnreadable
from asky.reading.office.sheets import read
from asky.reading.office.workbook.cells import CellBudget
from asky.reading.office.workbook.sheet import MAX_CELLS
from tests.support.workbook_files import MAIN, archive, row, sheet_xml, styles_xml, workbook


def text_of(data: bytes) -> str:
    return read(data, "a.xlsx").text


def saved(book: openpyxl.Workbook) -> bytes:
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def test_all_cells_are_read_whatever_dimension_is_stated() -> None:
    rows = row("Article", "Count") + row("Copper gaskets", 730)
    part = sheet_xml(rows, before='<dimension ref="A1"/>')
    assert text_of(workbook(part)) == "Sheet1\nArticle; Count\nArticle: Copper gaskets; Count: 730\n\n"


def test_a_cell_far_away_is_one_more_value_with_the_name_of_its_column() -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    for each in (["Name", "Berth", "Boat"], ["Ida", 7, "Gull"], ["Kai", 9, "Tern"], ["Mei", 11, "Auk"]):
        sheet.append(each)
    sheet["XFD3"] = "stray"
    sheet["XFD2"].font = openpyxl.styles.Font(bold=True)
    sheet["A1048576"].font = openpyxl.styles.Font(bold=True)
    assert text_of(saved(book)) == (
        "Sheet\nName; Berth; Boat; column XFD\nName: Ida; Berth: 7; Boat: Gull\n"
        "Name: Kai; Berth: 9; Boat: Tern; column XFD: stray\nName: Mei; Berth: 11; Boat: Auk\n\n"
    )


def test_values_are_shown_as_their_formats_show_them() -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Loan", "Rate", "Fee", "Run time", "Post code", "Paid"])
    sheet.append(["Harbour", 0.075, 1234.5, timedelta(hours=26, minutes=30), 1234, True])
    for cell, code in {"B2": "0.00%", "C2": '#,##0.00 "kr"', "D2": "[h]:mm", "E2": "00000"}.items():
        sheet[cell].number_format = code
    assert "Rate: 7.50%; Fee: 1,234.50 kr; Run time: 26:30; Post code: 01234; Paid: TRUE\n" in text_of(saved(book))


def test_dates_are_iso_in_both_date_systems() -> None:
    cells = '<row><c s="0"><v>46083</v></c><c s="1"><v>46083</v></c><c t="d" s="0"><v>2026-03-02T00:00:00</v></c></row>'
    styles = styles_xml("m/d/yy", "mmm yyyy")
    assert "2026-03-02; 2026-03; 2026-03-02\n" in text_of(workbook(cells, styles=styles))
    assert "2030-03-03; 2030-03; 2026-03-02\n" in text_of(workbook(cells, styles=styles, settings='date1904="1"'))
    assert "2026-03-02\n" in text_of(workbook('<row><c t="d"><v>2026-03-02T00:00:00</v></c></row>'))


def test_cells_without_references_or_out_of_order_are_in_their_places() -> None:
    rows = (
        '<row r="3"><c r="B3"><v>2</v></c><c r="A3" t="str"><v>late</v></c></row>'
        '<row r="1"><c t="inlineStr"><is><t>Name</t></is></c><c t="inlineStr"><is><t>Size</t></is></c></row>'
        '<row><c t="inlineStr"><is><t>early</t></is></c><c><v>1</v></c></row>'
        '<row r="3"><c r="C3" t="b"><v>0</v></c></row>'
    )
    lines = text_of(workbook(rows)).splitlines()
    assert lines[:3] == ["Sheet1", "Name; Size", "Name: early; Size: 1"]
    assert lines[3].startswith("Name: late; Size: 2; ")
    assert lines[3].endswith("FALSE")


@pytest.mark.parametrize("prefix", ["x", "ss.main"])
def test_names_with_a_prefix_and_the_strict_form_are_the_same(prefix: str) -> None:
    part = sheet_xml(row("Name", "Size") + row("Ida", 5.5))
    prefixed = (
        part.replace("<", f"<{prefix}:").replace(f"<{prefix}:/", f"</{prefix}:").replace("xmlns=", f"xmlns:{prefix}=")
    )
    expected = "Sheet1\nName; Size\nName: Ida; Size: 5.5\n\n"
    assert text_of(workbook(prefixed)) == expected
    assert text_of(workbook(part.replace(MAIN, "http://purl.oclc.org/ooxml/spreadsheetml/main"))) == expected
    declared = "<?xml version='1.0' encoding='utf-16'?>"
    assert text_of(archive_with_sheet(workbook(part), (declared + prefixed).encode("utf-16"))) == expected


def archive_with_sheet(data: bytes, part: bytes) -> bytes:
    import zipfile

    with zipfile.ZipFile(io.BytesIO(data)) as made:
        parts = {name: made.read(name) for name in made.namelist()}
    return archive({**parts, "xl/sheets/sheet1.xml": part})


def test_shared_texts_have_their_runs_without_readings_and_escapes() -> None:
    strings = (
        "<si><t>Height</t></si>"
        "<si><r><t xml:space='preserve'>10 m</t></r><r><rPr><vertAlign val='superscript'/></rPr><t>2</t></r></si>"
        "<si><t>東京</t><rPh sb='0' eb='2'><t>トウキョウ</t></rPh></si>"
        "<si><t>one_x000D__x000A_two _x005F_x000D_</t></si>"
    )
    cells = "".join(f"<row><c t='s'><v>{number}</v></c></row>" for number in (0, 1, 2, 3, 9))
    document = read(workbook(cells, strings=strings), "a.xlsx")
    assert document.text == "Sheet1\nHeight\n10 m^2\n東京\none two _x000D_\n\n"
    assert document.metadata["unread_parts"] == "sheet Sheet1: the texts of 1 cells are missing in the file"


def test_formulas_have_their_stored_values_or_are_named() -> None:
    rows = (
        '<row r="1"><c r="A1"><f>SUM(B1:B9)</f><v>12</v></c><c r="B1"><f>_xlfn.XLOOKUP(1,A1,B1)</f></c>'
        '<c r="C1"><f t="shared" ref="C1:C2" si="0">A1*2</f></c><c r="D1" t="str"><f>A1&amp;""</f><v></v></c>'
        '<c r="E1" t="e"><f>1/0</f><v>#DIV/0!</v></c></row>'
        '<row r="2"><c r="A2" t="str"><f>"a"</f><v>a</v></c><c r="C2"><f t="shared" si="0"/></c></row>'
    )
    assert text_of(workbook(rows)) == (
        "Sheet1\n12; =XLOOKUP(1,A1,B1) (not computed); =A1*2 (not computed); #DIV/0!\n"
        "a; =A1*2, filled from C1, (not computed)\n\n"
    )


def test_a_picture_in_a_cell_is_no_error() -> None:
    cells = '<row><c t="e" vm="1"><v>#VALUE!</v></c><c t="str"><v>=DISPIMG("ID_1",1)</v></c></row>'
    assert text_of(workbook(cells)) == "Sheet1\n[picture in the cell]; [picture in the cell]\n\n"


def test_too_many_cells_are_refused_and_empty_ones_cost_nothing() -> None:
    empty = "<row>" + "<c s='1'/>" * 3_000 + "</row>"
    assert "one\n" in text_of(workbook(empty * 40 + row("one")))
    budget = CellBudget("a.xlsx")
    budget.spend(MAX_CELLS)
    with pytest.raises(SourceUnreadable) as raised:
        budget.spend(1)
    assert raised.value.verdict == "too_large"


@pytest.mark.parametrize(
    "part",
    [
        '<!DOCTYPE worksheet [<!ENTITY a "aaaa">]>' + sheet_xml("<row><c t='str'><v>&a;</v></c></row>"),
        sheet_xml("<row><c t='str'><v>" + "<v>" * 3_000 + "</v>" * 3_000 + "</v></c></row>"),
        sheet_xml(
            "<row r='99999999999'><c r='ZZZZ9' t='s'><v>x</v></c><c><v>1e999</v></c><c s='-1'><v>1</v></c></row>"
        ),
        sheet_xml("<row><c><v>1"),
        sheet_xml(row("a"), after='<mergeCells><mergeCell ref="A1:XFD1048576"/><mergeCell ref="?"/></mergeCells>'),
        sheet_xml(row("a"), before='<cols><col min="1" max="999999999" hidden="1"/></cols>'),
    ],
)
def test_hostile_sheets_are_read_or_refused(part: str) -> None:
    try:
        text = text_of(workbook(part))
    except SourceUnreadable:
        return
    assert "aaaa" not in text
    assert len(text) < 500
