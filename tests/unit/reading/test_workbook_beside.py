"""What stands beside the cells of a sheet: remarks, texts, pictures, charts, and what is not read."""

from __future__ import annotations

import io

import openpyxl
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment

from asky.reading.office.sheets import read
from asky.text.beside.remarks import REMARK
from tests.support.workbook_files import MAIN, RELATIONS, relations, row, sheet_xml, workbook

DRAWING = (
    'xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)


def shape(text: str, *, attributes: str = "") -> str:
    body = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in text.split("\n"))
    return (
        f'<xdr:sp><xdr:nvSpPr><xdr:cNvPr id="2" name="Box" {attributes}/></xdr:nvSpPr>'
        f"<xdr:txBody>{body}</xdr:txBody></xdr:sp>"
    )


def anchored(content: str) -> str:
    return f"<xdr:twoCellAnchor><xdr:from/>{content}<xdr:clientData/></xdr:twoCellAnchor>"


def test_threads_have_their_replies_and_stand_in_place_of_the_note_that_says_so() -> None:
    threads = (
        '<ThreadedComments xmlns="http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments">'
        '<threadedComment ref="B2" personId="{1}" id="{a}"><text>Is this still true?</text></threadedComment>'
        '<threadedComment ref="B2" personId="{2}" id="{b}" parentId="{a}"><text>Until May.</text></threadedComment>'
        "</ThreadedComments>"
    )
    people = (
        '<personList xmlns="http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments">'
        '<person displayName="Ada Byrne" id="{1}"/><person displayName="Bo Lund" id="{2}"/></personList>'
    )
    notes = (
        f'<comments xmlns="{MAIN}"><authors><author>tc={{a}}</author><author>Cleo</author></authors><commentList>'
        '<comment ref="B2" authorId="0"><text><t>[Threaded comment] Your version of Excel ...</t></text></comment>'
        '<comment ref="A1" authorId="1"><text><r><rPr><b/></rPr><t>Cleo:</t></r><r><t xml:space="preserve">\n'
        "Not mine</t></r></text></comment></commentList></comments>"
    )
    data = workbook(
        row("Quay", "Rent") + row("North", 12),
        of_sheet={1: relations(("threadedComment", "../threads/t.xml"), ("comments", "../comments1.xml"))},
        parts={"xl/threads/t.xml": threads, "xl/persons/person.xml": people, "xl/comments1.xml": notes},
    )
    text = read(data, "a.xlsx").text
    assert text == (
        "Sheet1\nQuay; Rent\nQuay: North; Rent: 12\n"
        "[Comment by Cleo on “A1: Quay”: Not mine]\n"
        "[Comment by Ada Byrne on “B2: 12”: Is this still true?]\n"
        "[Comment by Bo Lund on “B2: 12”: Until May.]\n\n"
    )
    assert len(REMARK.findall(text)) == 3


def test_a_note_on_an_empty_cell_names_the_cell() -> None:
    book = openpyxl.Workbook()
    book.active["A1"] = "x"
    book.active["C7"].comment = Comment("Look here", "Ada")
    out = io.BytesIO()
    book.save(out)
    assert "[Comment by Ada on “C7”: Look here]\n" in read(out.getvalue(), "a.xlsx").text


def test_texts_of_drawings_are_lines_and_hidden_ones_are_left_out() -> None:
    alternative = (
        f"<mc:AlternateContent><mc:Choice>{shape('First choice')}</mc:Choice>"
        f"<mc:Fallback>{shape('Not available')}</mc:Fallback></mc:AlternateContent>"
    )
    group = f'<xdr:grpSp><xdr:nvGrpSpPr><xdr:cNvPr id="1" name="G"/></xdr:nvGrpSpPr>{shape("In a group")}</xdr:grpSp>'
    picture = '<xdr:pic><xdr:nvPicPr><xdr:cNvPr id="3" name="P" descr="Map of the quay"/></xdr:nvPicPr></xdr:pic>'
    hidden = shape("Hidden", attributes='hidden="1"')
    content = "".join(map(anchored, (shape("Prices\nwithout tax"), alternative, group, picture, hidden)))
    data = workbook(
        row("x"),
        of_sheet={1: relations(("drawing", "../drawings/d.xml"))},
        parts={"xl/drawings/d.xml": f"<xdr:wsDr {DRAWING}>{content}</xdr:wsDr>"},
    )
    assert read(data, "a.xlsx").text == (
        "Sheet1\nx\nPrices\nwithout tax\nFirst choice\nIn a group\n[Picture: Map of the quay]\n\n"
    )


def test_a_sheet_that_is_a_chart_has_its_heading_and_its_values() -> None:
    chart = (
        '<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"><c:chart><c:plotArea>'
        "<c:barChart><c:ser><c:tx><c:strRef><c:strCache><c:pt idx='0'><c:v>Rent</c:v></c:pt></c:strCache></c:strRef>"
        "</c:tx><c:val><c:numRef><c:numCache><c:pt idx='0'><c:v>12</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser>"
        "</c:barChart></c:plotArea></c:chart></c:chartSpace>"
    )
    frame = (
        '<xdr:graphicFrame><xdr:nvGraphicFramePr><xdr:cNvPr id="2" name="C"/></xdr:nvGraphicFramePr><a:graphic>'
        '<a:graphicData><c:chart xmlns:c="urn:c" xmlns:r="urn:r" r:id="rId1"/></a:graphicData></a:graphic>'
        "</xdr:graphicFrame>"
    )
    data = workbook(
        ('name="Rents"', f'<chartsheet xmlns="{MAIN}" xmlns:r="{RELATIONS}"><drawing r:id="rId1"/></chartsheet>'),
        of_sheet={1: relations(("drawing", "../drawings/d.xml"))},
        parts={
            "xl/drawings/d.xml": f"<xdr:wsDr {DRAWING}>{anchored(frame)}</xdr:wsDr>",
            "xl/drawings/_rels/d.xml.rels": relations(("chart", "../charts/c.xml")),
            "xl/charts/c.xml": chart,
        },
    )
    document = read(data, "a.xlsx")
    assert document.text == "Rents\nChart “Rent”: 1 = 12\n\n"
    assert [each.heading for each in document.sections] == ["Rents"]


def test_a_chart_without_stored_values_is_named() -> None:
    book = openpyxl.Workbook()
    book.active.append([1])
    chart = BarChart()
    chart.add_data(Reference(book.active, min_col=1, min_row=1))
    book.active.add_chart(chart)
    out = io.BytesIO()
    book.save(out)
    assert read(out.getvalue(), "a.xlsx").metadata["unread_parts"] == "chart on Sheet: no values are stored with it"


def test_a_missing_sheet_is_named() -> None:
    listed = '<sheet name="Gone" r:id="rId9"/><sheet name="A" r:id="rId1"/>'
    book = f'<workbook xmlns="{MAIN}" xmlns:r="urn:r"><sheets>{listed}</sheets></workbook>'
    data = workbook(row("x"), parts={"xl/workbook.xml": book})
    document = read(data, "a.xlsx")
    assert document.text == "A\nx\n\n"
    assert document.metadata["unread_parts"] == "sheet Gone: missing in the file"


def test_facts_of_the_file_are_metadata() -> None:
    book = openpyxl.Workbook()
    book.active["A1"] = "x"
    book.properties.title, book.properties.creator = "Accounts", "Ada Byrne"
    out = io.BytesIO()
    book.save(out)
    document = read(out.getvalue(), "a.xlsx")
    assert (document.title, document.metadata["author"]) == ("Accounts", "Ada Byrne")
    assert "Accounts" not in document.text


def test_rows_of_print_and_lists_to_choose_from_are_left_out() -> None:
    after = (
        '<dataValidations><dataValidation type="list" sqref="A1" prompt="Choose one" showInputMessage="1">'
        '<formula1>"a,b"</formula1></dataValidation></dataValidations><headerFooter><oddHeader>Page &amp;P</oddHeader>'
        "</headerFooter>"
    )
    assert read(workbook(sheet_xml(row("x"), after=after)), "a.xlsx").text == "Sheet1\nx\n\n"


def test_a_damaged_part_costs_itself() -> None:
    data = workbook(
        row("x"),
        sheet_xml("<row><c><v>1"),
        of_sheet={1: relations(("comments", "../c.xml"), ("drawing", "../d.xml"))},
        parts={"xl/c.xml": "<comments", "xl/d.xml": "<a>" * 3_000},
    )
    document = read(data, "a.xlsx")
    assert document.text == "Sheet1\nx\n\n"
    assert document.metadata["unread_parts"] == (
        "drawings on Sheet1: damaged; comments on Sheet1: damaged; sheet Sheet2: damaged"
    )


def test_a_file_that_stands_on_a_sheet_is_read_below_it() -> None:
    inner = workbook(row("Inner", 1))
    data = workbook(
        row("x"),
        of_sheet={1: relations(("package", "../embeddings/plan.xlsx"), ("oleObject", "../embeddings/o.bin"))},
        parts={"xl/embeddings/plan.xlsx": inner, "xl/embeddings/o.bin": b"?"},
    )
    document = read(data, "a.xlsx")
    assert document.text.startswith("Sheet1\nx\n\nEmbedded file: plan.xlsx\n\nSheet1\nInner; 1\n")
    assert document.metadata["unread_parts"] == "object on Sheet1: made by another program"
