"""Office files as other programs than Office write them: SheetJS, XlsxWriter, pyexcel, odfpy, PptxGenJS, docx.js."""

from __future__ import annotations

import struct
from typing import Any

import pptx
import pytest
from pptx.util import Inches

from asky.errors import SourceUnreadable
from asky.reading.detection import HEAD_BYTES, may_be_text, media_type_of
from asky.reading.office import open_document as odf
from asky.reading.office import slides
from asky.reading.office.sheets import read as read_workbook
from asky.reading.office.sheets import read_any
from asky.reading.process.worker import read as read_as
from asky.reading.tables.kinds import kind_of
from asky.values import Document
from tests.support.office_files import NAMES, open_document, part, saved, with_parts
from tests.support.workbook_files import workbook

_BOLD = '<style:style style:name="B" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style>'


def read(data: bytes, name: str) -> Document:
    media_type = media_type_of(name, data[:HEAD_BYTES])
    assert media_type is not None
    return read_as(data, name=name, media_type=media_type, max_chars=1_000_000)


# workbooks


def spreadsheet_2003(*cells: str) -> bytes:
    rows = "".join(f"<Row>{each}</Row>" for each in cells)
    return (
        '<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"'
        ' xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet"><Styles><Style ss:ID="d"><NumberFormat'
        f' ss:Format="m/d/yy"/></Style></Styles><Worksheet ss:Name="Dues"><Table>{rows}</Table></Worksheet></Workbook>'
    ).encode()


def test_a_date_of_xml_of_2003_may_have_a_zone() -> None:
    day = '<Cell ss:StyleID="d"><Data ss:Type="DateTime">2026-03-02T00:00:00.000Z</Data></Cell>'
    assert read_any(spreadsheet_2003(day), "a.xls").text == "Dues\n2026-03-02\n\n"


def test_a_formula_of_xml_of_2003_without_a_value_is_itself() -> None:
    formula = '<Cell ss:Formula="=SUM(R[-2]C:R[-1]C)"><Data ss:Type="{}"></Data></Cell>'
    assert "=SUM(R[-2]C:R[-1]C) (not computed)" in read_any(spreadsheet_2003(formula.format("Number")), "a.xls").text
    assert "SUM" not in read_any(spreadsheet_2003(formula.format("String")), "a.xls").text


def test_office_xml_is_told_by_its_content_whatever_its_suffix() -> None:
    flat = (
        f"<office:document {NAMES}><office:body><office:spreadsheet><table:table table:name='Dues'><table:table-row>"
        "<table:table-cell><text:p>Crane</text:p></table:table-cell></table:table-row></table:table>"
        "</office:spreadsheet></office:body></office:document>"
    ).encode()
    for name in ("a.fods", "a.xml", "a.xls"):
        assert read(flat, name).text == "Dues\nCrane\n\n"
    row = '<Cell><Data ss:Type="String">Crane</Data></Cell>'
    assert read(spreadsheet_2003(row), "a.xml").text == "Dues\nCrane\n\n"


@pytest.mark.parametrize(
    "namespace",
    ["http://schemas.microsoft.com/office/word/2003/wordml", "http://schemas.microsoft.com/office/2006/xmlPackage"],
)
@pytest.mark.parametrize("name", ["a.xml", "a.doc"])
def test_xml_of_word_is_named_with_a_way_to_convert_it(namespace: str, name: str) -> None:
    with pytest.raises(SourceUnreadable, match="the XML format of Word; convert it: soffice") as refused:
        read(f'<?xml version="1.0"?><w:wordDocument xmlns:w="{namespace}"/>'.encode(), name)
    assert refused.value.verdict == "unsupported"


@pytest.mark.parametrize("data", [b'ID;PWXL;N;E\nC;Y1;X1;K"Berth"\nE\n', b'TABLE\r\n0,1\r\n"x"\r\nVECTORS\r\n0,5\r\n'])
def test_rows_of_old_formats_are_named_and_not_read_as_their_markup(data: bytes) -> None:
    with pytest.raises(SourceUnreadable, match="SYLK, DIF") as refused:
        read_any(data, "a.xls")
    assert refused.value.verdict == "unsupported"
    assert not any(map(may_be_text, ("a.slk", "a.dif", "a.dbf")))


def test_a_workbook_of_excel_2_is_read() -> None:
    label = struct.pack("<HH3sB", 0, 0, b"\0\0\0", 5) + b"Berth"
    number = struct.pack("<HH3sd", 1, 0, b"\0\0\0", 12.5)
    parts = ((0x09, struct.pack("<HH", 2, 0x10)), (0x04, label), (0x03, number), (0x0A, b""))
    data = b"".join(struct.pack("<HH", kind, len(each)) + each for kind, each in parts)
    assert read_any(data, "a.xls").text == "Sheet 1\nBerth\n12.5\n\n"


def test_a_zero_that_stands_for_no_value_is_none() -> None:
    """XlsxWriter stores 0 for every formula, and asks Excel to compute the file."""
    rows = (
        "<row><c><f>B1*2</f><v>0</v></c><c><f>B1*3</f><v>44</v></c><c><v>0</v></c>"
        '<c t="str"><f>B1&amp;""</f><v></v></c></row>'
    )
    data = workbook(rows)
    assert read_workbook(data, "a.xlsx").text == "Sheet1\n0; 44; 0\n\n"
    main = part(data, "xl/workbook.xml").replace("</sheets>", '</sheets><calcPr fullCalcOnLoad="1"/>')
    asked = read_workbook(with_parts(data, {"xl/workbook.xml": main}), "a.xlsx")
    assert asked.text == "Sheet1\n=B1*2 (not computed); 44; 0\n\n"


def test_formulas_that_are_not_computed_do_not_hide_the_names_of_columns() -> None:
    assert kind_of("=SUM(B2:B9) (not computed)") == ""
    assert kind_of("=not a formula") == "text"


# OpenDocument


def cell(kind: str, facts: str, shown: str = "") -> str:
    words = f"<text:p>{shown}</text:p>" if shown else ""
    return f'<table:table-cell office:value-type="{kind}" {facts}>{words}</table:table-cell>'


@pytest.mark.parametrize(
    ("made", "shown"),
    [
        (cell("date", 'office:date-value="2026-03-02"', "3/2/26"), "2026-03-02"),
        (cell("date", 'office:date-value="2026-03-02T00:00:00"', "02.03.2026"), "2026-03-02"),
        (cell("date", 'office:date-value="2026-03-02T14:30:00"', "02/03/26 02:30 PM"), "2026-03-02 14:30"),
        (cell("date", 'office:date-value="2026-03-02T14:30:00"', "02/03/26"), "2026-03-02"),
        (cell("date", 'office:date-value="2026-03-02"', "2 March 2026"), "2 March 2026"),
        (cell("date", 'office:date-value="2026-03-02"', "3/26"), "3/26"),
        (cell("date", 'office:date-value="2026-03-02T09:05:00"'), "2026-03-02 09:05:00"),
        (cell("string", "", "3/2/26"), "3/2/26"),
        (cell("time", 'office:time-value="PT09H05M00S"'), "09:05:00"),
        (cell("time", 'office:time-value="PT26H30M"'), "26:30:00"),
        (cell("boolean", 'office:boolean-value="false"'), "FALSE"),
    ],
)
def test_dates_in_figures_can_be_read_in_one_way_and_values_without_a_text_as_they_are_shown(
    made: str, shown: str
) -> None:
    table = f'<table:table table:name="Dues"><table:table-row>{made}</table:table-row></table:table>'
    assert odf.read(open_document(table, "", "spreadsheet"), "a.ods").text == f"Dues\n{shown}\n\n"


def test_a_paragraph_in_the_style_of_a_heading_is_one() -> None:
    style = '<style:style style:name="Heading_20_2" style:display-name="Heading 2" style:family="paragraph"/>'
    body = '<text:p text:style-name="Heading_20_2">Rules</text:p><text:p>Moor here.</text:p>'
    document = odf.read(open_document(body, style), "a.odt")
    assert [(each.level, each.heading) for each in document.sections] == [(2, "Rules")]


def changed(kind: str, number: int) -> str:
    return (
        f'<text:changed-region xml:id="c{number}" text:id="c{number}"><text:{kind}><office:change-info/></text:{kind}>'
        "</text:changed-region>"
    )


def test_deleted_words_that_stand_in_their_place_are_left_out() -> None:
    """LibreOffice writes them so if it shows the changes."""
    changes = f"<text:tracked-changes>{changed('deletion', 1)}{changed('insertion', 2)}</text:tracked-changes>"

    def marked(number: int, words: str) -> str:
        return f'<text:change-start text:change-id="c{number}"/>{words}<text:change-end text:change-id="c{number}"/>'

    words = f"<text:p>The rent is {marked(1, '4,<text:span>200</text:span>')}{marked(2, '5,150')} euros.</text:p>"
    assert odf.read(open_document(changes + words), "a.odt").text == "The rent is 5,150 euros.\n\n"
    over = (
        '<text:p>Kept.<text:change-start text:change-id="c1"/> Not kept.</text:p><text:p>Nor this.</text:p><text:p>'
        "Nor<text:note><text:note-body><text:p>a note</text:p></text:note-body></text:note>"
        '<text:change-end text:change-id="c1"/>Kept too.</text:p>'
    )
    assert odf.read(open_document(changes + over), "a.odt").text == "Kept.\n\nKept too.\n\n"
    beside = (
        '<text:change-start text:change-id="c1"/><text:p>Not kept.</text:p><text:change-end text:change-id="c1"/>'
        "<text:p>Kept.</text:p>"
    )
    assert odf.read(open_document(changes + beside), "a.odt").text == "Kept.\n\n"


def test_a_bold_first_row_of_a_table_has_the_names_of_its_columns() -> None:
    def row(*words: str) -> str:
        cells = "".join(f"<table:table-cell><text:p>{each}</text:p></table:table-cell>" for each in words)
        return f"<table:table-row>{cells}</table:table-row>"

    def bold(word: str) -> str:
        return f'<text:span text:style-name="B">{word}</text:span>'

    rows = row("Skerry", "Adult", "none") + row("Harp", "Child", "half")
    table = f"<table:table>{row(*map(bold, ('Route', 'Class', 'Fare')))}{rows}</table:table>"
    assert "Route: Harp; Class: Child; Fare: half" in odf.read(open_document(table, _BOLD), "a.odt").text


# slides


def test_a_bold_first_row_on_a_slide_has_the_names_of_its_columns() -> None:
    def made(*, bold: bool) -> str:
        presentation: Any = pptx.Presentation()
        slide = presentation.slides.add_slide(presentation.slide_layouts[6])
        table = slide.shapes.add_table(3, 3, 0, 0, Inches(6), Inches(2)).table
        table.first_row = False
        for number, words in enumerate((("Route", "Fare", ""), ("Skerry", "Adult", "12.40"), ("", "Child", "6.20"))):
            for column, each in enumerate(words):
                table.cell(number, column).text = each
                for run in table.cell(number, column).text_frame.paragraphs[0].runs:
                    run.font.bold = bold and not number
        table.cell(0, 1).merge(table.cell(0, 2))
        table.cell(1, 0).merge(table.cell(2, 0))
        return slides.read(saved(presentation), "a.pptx").text

    assert "Route: Skerry; Fare (column B): Child; Fare (column C): 6.20" in made(bold=True)
    assert "Skerry; Child; 6.20" in made(bold=False)
