"""Workbooks in other formats, and files that only have the name of a workbook."""

from __future__ import annotations

import pytest

from asky.errors import SourceUnreadable
from asky.reading.detection import media_type_of
from asky.reading.formats import format_of
from asky.reading.office.sheets import read, read_any
from tests.support.old_workbook_files import old_workbook
from tests.support.workbook_files import TYPES, archive, relations, row, workbook

FLAT = """<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?>
<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet"
 xmlns:x="urn:schemas-microsoft-com:office:excel"><Styles><Style ss:ID="p"><NumberFormat ss:Format="Percent"/></Style>
<Style ss:ID="d"><NumberFormat ss:Format="Short Date"/></Style></Styles>
<Worksheet ss:Name="Rates"><Table><Column ss:Index="4" ss:Hidden="1"/><Row><Cell ss:MergeAcross="2"><Data
 ss:Type="String">All rates</Data></Cell></Row><Row ss:Index="3"><Cell><Data ss:Type="String">Loan</Data></Cell><Cell>
<Data ss:Type="String">Rate</Data></Cell><Cell><Data ss:Type="String">Since</Data></Cell><Cell><Data ss:Type="String"
>Limit</Data></Cell></Row><Row ss:Hidden="1"><Cell><Data ss:Type="String">Boat</Data><Comment ss:Author="Ada"><ss:Data>
Which?</ss:Data></Comment></Cell><Cell ss:StyleID="p"><Data ss:Type="Number">0.075</Data></Cell><Cell ss:StyleID="d">
<Data ss:Type="DateTime">2026-03-02T00:00:00.000</Data></Cell><Cell ss:Index="4"><Data ss:Type="Boolean">1</Data></Cell>
</Row></Table></Worksheet><Worksheet ss:Name="Old"><Table/><x:WorksheetOptions><x:Visible>SheetHidden</x:Visible>
</x:WorksheetOptions></Worksheet></Workbook>"""


def test_a_table_of_rows_called_xls_is_read_by_what_it_is() -> None:
    assert read_any(b"Name\tAge\nIda\t40\n", "a.xls").text == "Name; Age\nName: Ida; Age: 40\n"
    page = (
        b"<html><body><table><tr><th>Name</th><th>Age</th></tr><tr><td>Ida</td><td>40</td></tr></table></body></html>"
    )
    assert "Ida" in read_any(page, "a.xls").text
    assert "<" not in read_any(page, "a.xls").text
    assert read_any(workbook(row("x")), "a.xls").text == "Sheet1\nx\n\n"


def test_a_web_page_that_names_the_namespaces_of_excel_is_a_page() -> None:
    page = (
        b'<html xmlns:x="urn:schemas-microsoft-com:office:excel"'
        b' xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet">'
        b"<head><meta http-equiv=Content-Type content='text/html; charset=windows-1252'></head><body><table>"
        b"<tr><th>Name<th>Fee<tr><td>Zo\xeb<td>40</table></body></html>"
    )
    assert "Zoë | 40" in read_any(page, "report.xls").text


def test_xml_of_2003_is_read() -> None:
    assert read_any(FLAT.encode(), "a.xls").text == (
        "Rates\nAll rates\nLoan; Rate; Since; Limit [hidden column]\n"
        "[hidden row] Loan: Boat; Rate: 7.50%; Since: 2026-03-02; Limit [hidden column]: TRUE\n"
        "[Comment by Ada on “A4: Boat”: Which?]\n\nOld (hidden sheet)\n\n"
    )


@pytest.mark.parametrize(
    ("data", "verdict"),
    [
        (b"\x00\x01\x02" * 100, "unsupported"),
        (b"%PDF-1.4", "unsupported"),
        (b"\xd0\xcf\x11\xe0" + b"\0" * 600 + "EncryptedPackage".encode("utf-16-le"), "encrypted"),
        (archive({"a": "b"}), "unsupported"),
        (
            archive(
                {
                    "[Content_Types].xml": TYPES,
                    "_rels/.rels": relations(("officeDocument", "xl/workbook.bin")),
                    "xl/workbook.bin": "x",
                }
            ),
            "unsupported",
        ),
        (
            archive(
                {
                    "[Content_Types].xml": TYPES,
                    "_rels/.rels": relations(("officeDocument", "word/document.xml")),
                    "word/document.xml": '<w:document xmlns:w="urn:w"/>',
                }
            ),
            "unsupported",
        ),
    ],
    ids=["bytes", "pdf", "protected", "archive", "xlsb", "docx"],
)
def test_what_is_no_workbook_is_refused(data: bytes, verdict: str) -> None:
    for function in (read_any,) if not data.startswith((b"PK", b"\xd0")) else (read, read_any):
        with pytest.raises(SourceUnreadable) as raised:
            function(data, "a.xls")
        assert raised.value.verdict == verdict


@pytest.mark.parametrize("name", ["a.xlsx", "a.XLSM", "a.xltx", "a.xltm", "a.xls", "a.xlt", "a.xlsb"])
def test_workbooks_have_a_reader_by_their_names(name: str) -> None:
    row_of = format_of(name)
    assert row_of is not None
    assert media_type_of(name, workbook(row("x"))[:8_192]) == row_of.media_type
    assert media_type_of(name, b"\xd0\xcf\x11\xe0" + b"\0" * 600) == row_of.media_type


def test_a_web_page_called_xlsx_has_no_reader_but_one_called_xls_has() -> None:
    assert media_type_of("a.xlsx", b"<html>") is None
    assert media_type_of("a.xls", b"<html>") == "application/vnd.ms-excel"


def test_a_workbook_of_excel_97_is_read_like_a_new_one() -> None:
    rows = [
        [("All rates", 0)],
        [("Loan", 3), ("Rate", 3), ("Since", 3)],
        [("Boat", 0), (0.075, 1), (46083.0, 2), None, (True, 0)],
        [("Quay", 0), (0.5, 1), (1234.5, 0)],
    ]
    sheets = [("Rates", 0, rows), ("Old", 1, [[("x", 0)]]), ("Older", 2, [[("y", 0)]])]
    data = old_workbook(sheets, codes=["0.00%", "d/m/yy"], merged=[(0, 0, 0, 2)], hidden={"row": 3, "column": 2})
    assert read_any(data, "a.xls").text == (
        "Rates\nAll rates\nLoan; Rate; Since [hidden column]; column E\n"
        "Loan: Boat; Rate: 7.50%; Since [hidden column]: 2026-03-02; column E: TRUE\n"
        "[hidden row] Loan: Quay; Rate: 50.00%; Since [hidden column]: 1234.5\n\n"
        "Old (hidden sheet)\nx\n\nOlder (very hidden sheet)\ny\n\n"
    )


def test_a_protected_workbook_of_excel_97_is_encrypted() -> None:
    with pytest.raises(SourceUnreadable) as raised:
        read_any(old_workbook([("A", 0, [])], is_protected=True), "a.xls")
    assert raised.value.verdict == "encrypted"


def test_whatever_is_missing_of_a_workbook_of_excel_97_is_no_other_error() -> None:
    whole = old_workbook([("Rates", 0, [[("Loan", 0), (0.075, 1)]])], codes=["0.00%"])
    for size in range(8, len(whole), 7):
        for damaged in (whole[:size], whole[:size] + b"\xff" * 9 + whole[size + 9 :]):
            try:
                read_any(damaged, "a.xls")
            except SourceUnreadable:
                continue
