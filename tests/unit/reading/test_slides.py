from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from typing import Any

import openpyxl
import pptx
import pytest
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from asky.errors import SourceUnreadable
from asky.reading.detection import media_type_of
from asky.reading.office.slides import read
from asky.values import Document
from tests.support.office_files import archive, part, saved, with_parts, with_relation

SPACE = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
)
RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
SLIDE = "ppt/slides/slide1.xml"


def shape(paragraphs: str, *, kind: str = "", facts: str = "") -> str:
    """Return a shape with these paragraphs; a placeholder with `kind`."""
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="7" name="Box" {facts}/><p:cNvSpPr/><p:nvPr>{kind}</p:nvPr></p:nvSpPr><p:spPr/>'
        f"<p:txBody><a:bodyPr/>{paragraphs}</p:txBody></p:sp>"
    )


def line(text: str, properties: str = "") -> str:
    return f"<a:p>{properties}<a:r><a:t>{text}</a:t></a:r></a:p>"


def frame(content: str, uri: str, facts: str = "") -> str:
    return (
        f'<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="9" name="Frame" {facts}/><p:cNvGraphicFramePr/><p:nvPr/>'
        f'</p:nvGraphicFramePr><a:graphic><a:graphicData uri="{uri}">{content}</a:graphicData></a:graphic>'
        "</p:graphicFrame>"
    )


def deck(shapes: str, layout: int = 6, slide: str = "") -> bytes:
    """Return a presentation of one slide with these shapes."""
    presentation = pptx.Presentation()
    presentation.slides.add_slide(presentation.slide_layouts[layout])
    content = f"<p:sld {SPACE} {slide}><p:cSld><p:spTree><p:nvGrpSpPr/><p:grpSpPr/>{shapes}</p:spTree></p:cSld></p:sld>"
    return with_parts(saved(presentation), {SLIDE: content})


def text(shapes: str, layout: int = 6) -> str:
    return read(deck(shapes, layout), "a.pptx").text


def made(fill: Callable[[Any], None]) -> Document:
    presentation = pptx.Presentation()
    fill(presentation)
    return read(saved(presentation), "a.pptx")


def test_bullets_are_those_that_the_layout_shows_and_text_boxes_have_none() -> None:
    def fill(presentation: Any) -> None:
        first = presentation.slides.add_slide(presentation.slide_layouts[0])
        first.shapes.title.text, first.placeholders[1].text = "Mills\vof the north", "A survey"
        second = presentation.slides.add_slide(presentation.slide_layouts[1])
        box = second.shapes.add_textbox(0, 0, Inches(1), Inches(1))
        box.text_frame.text = "Not in use"
        body = second.placeholders[1].text_frame
        body.text = "They grind"
        for each, level in (("wheat", 1), ("rye\vand barley", 1), ("They burn", 0)):
            added = body.add_paragraph()
            added.text, added.level = each, level

    document = made(fill)
    assert document.text == (
        "Mills of the north\n\nA survey\n\n- They grind\n  - wheat\n  - rye\nand barley\n- They burn\n\nNot in use\n\n"
    )
    assert document.title == "Mills of the north"
    assert [each.heading for each in document.sections] == ["Mills of the north", "Slide 2"]
    assert [document.text[each.start : each.end] for each in document.pages] == [
        "Mills of the north\n\nA survey\n\n",
        document.text[each_start(document) :],
    ]


def each_start(document: Document) -> int:
    return document.pages[1].start


def test_numbered_lines_have_the_number_that_is_shown() -> None:
    first, letters = '<a:buAutoNum type="arabicPeriod" startAt="9"/>', '<a:buAutoNum type="alphaLcParenR"/>'
    lines = [
        line("open", f"<a:pPr>{first}</a:pPr>"),
        line("left", f'<a:pPr lvl="1">{letters}</a:pPr>'),
        line("right", f'<a:pPr lvl="1">{letters}</a:pPr>'),
        line("close", f"<a:pPr>{first}</a:pPr>"),
        line("By hand", "<a:pPr><a:buNone/></a:pPr>"),
        line("again", f"<a:pPr>{first}</a:pPr>"),
        line("last", '<a:pPr><a:buAutoNum type="romanUcParenBoth" startAt="4"/></a:pPr>'),
    ]
    assert text(shape("".join(lines))) == (
        "9. open\n  a) left\n  b) right\n10. close\n\nBy hand\n\n9. again\n(IV) last\n\n"
    )


def test_fields_breaks_and_formulas_stand_in_their_line() -> None:
    paragraph = (
        '<a:p><a:r><a:t>On </a:t></a:r><a:fld type="datetime1" id="{1}"><a:t>3 May 2024</a:t></a:fld><a:br/>'
        '<a:fld type="slidenum" id="{2}"><a:t>1</a:t></a:fld><mc:AlternateContent><mc:Choice Requires="a14"><a14:m>'
        "<m:oMath><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath>"
        "</a14:m></mc:Choice><mc:Fallback><a:r><a:t>no formula</a:t></a:r></mc:Fallback></mc:AlternateContent></a:p>"
    )
    assert text(shape(paragraph)) == "On 3 May 2024\n(a+b)/2\n\n"


def test_alternatives_are_read_once_and_groups_in_their_place() -> None:
    inner = f"<p:grpSp><p:nvGrpSpPr/><p:grpSpPr/>{shape(line('second'))}</p:grpSp>"
    group = f"<p:grpSp><p:nvGrpSpPr/><p:grpSpPr/>{shape(line('first'))}{inner}</p:grpSp>"
    choice = f'<mc:Choice Requires="p14">{group}</mc:Choice><mc:Fallback>{shape(line("first"))}</mc:Fallback>'
    assert text(f"<mc:AlternateContent>{choice}</mc:AlternateContent>{shape(line('third'))}") == (
        "first\n\nsecond\n\nthird\n\n"
    )


def test_hidden_shapes_and_texts_of_the_template_are_left_out() -> None:
    hidden = shape(line("old price 9"), facts='hidden="1"')
    empty = shape("<a:p/>", kind='<p:ph type="body" idx="1"/>')
    assert text(hidden + empty + shape(line("price 10")), layout=1) == "price 10\n\n"


def test_pictures_have_their_alternative_text_but_no_names_of_files() -> None:
    def pic(description: str) -> str:
        return f'<p:pic><p:nvPicPr><p:cNvPr id="4" name="Picture 3" descr="{description}"/></p:nvPicPr></p:pic>'

    shown = text(
        pic("The pump of hall 3")
        + pic("IMG_2041.JPG")
        + pic("A picture containing text&#10;&#10;Description automatically generated")
        + pic("")
    )
    assert shown == "[Picture: The pump of hall 3]\n\n"


def test_cells_of_a_table_stay_under_their_names() -> None:
    def fill(presentation: Any) -> None:
        slide = presentation.slides.add_slide(presentation.slide_layouts[6])
        table = slide.shapes.add_table(3, 4, 0, 0, Inches(6), Inches(2)).table
        rows = (("Day", "Morning", "Noon", "Night"), ("Monday", "Idunn", "", "Steinar"), ("Tuesday", "a", "b", "c"))
        for number, row in enumerate(rows):
            for column, each in enumerate(row):
                table.cell(number, column).text = each
        table.cell(1, 1).merge(table.cell(1, 2))

    shown = made(fill).text
    assert "Monday" in shown
    assert "Night: Steinar" in shown
    assert "Noon: Steinar" not in shown


def test_a_chart_is_lines_and_its_workbook_is_not_read() -> None:
    def fill(presentation: Any) -> None:
        slide = presentation.slides.add_slide(presentation.slide_layouts[6])
        data = CategoryChartData()
        data.categories = ["2024", "2025"]
        data.add_series("Rents", (10, 12))
        slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, Inches(4), Inches(3), data)

    assert made(fill).text == "Chart “Rents”: 2024 = 10; 2025 = 12\n\n"


def test_a_diagram_is_a_list_read_from_its_data_alone() -> None:
    def point(name: str, words: str = "", kind: str = "node") -> str:
        body = f"<dgm:t><a:bodyPr/>{line(words)}</dgm:t>" if words else ""
        return f'<dgm:pt modelId="{name}" type="{kind}">{body}</dgm:pt>'

    def link(source: str, target: str, order: int, kind: str = "parOf") -> str:
        return f'<dgm:cxn type="{kind}" srcId="{source}" destId="{target}" srcOrd="{order}"/>'

    data = (
        f'<dgm:dataModel xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" {SPACE}><dgm:ptLst>'
        f"{point('0', kind='doc')}{point('2', 'Dry')}{point('1', 'Wash')}{point('3', 'by hand')}"
        f"{point('9', 'shown elsewhere', 'pres')}</dgm:ptLst><dgm:cxnLst>{link('0', '2', 1)}{link('0', '1', 0)}"
        f"{link('1', '3', 0)}{link('2', '9', 0, 'presOf')}{link('3', '1', 0)}</dgm:cxnLst></dgm:dataModel>"
    )
    ids = '<dgm:relIds xmlns:dgm="urn:d" r:dm="rId50" r:lo="rId51"/>'
    whole = with_relation(
        deck(frame(ids, "diagram")), SLIDE, f"{RELATION}diagramData", "ppt/diagrams/data1.xml", data, "rId50"
    )
    assert read(whole, "a.pptx").text == "- Wash\n  - by hand\n- Dry\n\n"


def test_notes_are_those_of_the_speaker() -> None:
    def fill(presentation: Any) -> None:
        slide = presentation.slides.add_slide(presentation.slide_layouts[5])
        slide.shapes.title.text = "Mills"
        slide.notes_slide.notes_text_frame.text = "Say it slowly.\nThen wait."

    assert made(fill).text == "Mills\n\nNotes: Say it slowly.\nThen wait.\n\n"


def test_comments_are_remarks_after_their_slide() -> None:
    old = f'<p:cmLst {SPACE}><p:cm authorId="0" idx="1"><p:text>Is this true?</p:text></p:cm></p:cmLst>'
    authors = f'<p:cmAuthorLst {SPACE}><p:cmAuthor id="0" name="Ada Byrne" initials="AB"/></p:cmAuthorLst>'
    whole = with_relation(
        deck(shape(line("It burned."))), SLIDE, f"{RELATION}comments", "ppt/comments/comment1.xml", old, "rId60"
    )
    whole = with_relation(
        whole, "ppt/presentation.xml", f"{RELATION}commentAuthors", "ppt/commentAuthors.xml", authors, "rId61"
    )
    assert read(whole, "a.pptx").text == "It burned.\n\n[Comment by Ada Byrne: Is this true?]\n\n"


def test_comments_in_threads_have_their_answers_and_the_words_that_they_are_on() -> None:
    microsoft = "http://schemas.microsoft.com/office/2018/10/relationships/"
    names = (
        'xmlns:p188="http://schemas.microsoft.com/office/powerpoint/2018/8/main" '
        'xmlns:ac="http://schemas.microsoft.com/office/drawing/2013/main/command"'
    )
    thread = (
        f'<p188:cmLst {names} {SPACE}><p188:cm id="{{1}}" authorId="{{A}}"><ac:txMkLst><ac:spMk id="7"/>'
        f'<ac:txMk cp="3" len="6"/></ac:txMkLst><p188:replyLst><p188:reply id="{{2}}" authorId="{{B}}"><p188:txBody>'
        f"<a:bodyPr/>{line('In 1911.')}</p188:txBody></p188:reply></p188:replyLst><p188:txBody><a:bodyPr/>"
        f"{line('When?')}</p188:txBody></p188:cm></p188:cmLst>"
    )
    authors = (
        f'<p188:authorLst {names}><p188:author id="{{A}}" name="Ada"/><p188:author id="{{B}}" name="Bo"/>'
        "</p188:authorLst>"
    )
    whole = with_relation(
        deck(shape(line("It burned."))), SLIDE, f"{microsoft}comments", "ppt/comments/m1.xml", thread, "rId60"
    )
    whole = with_relation(whole, "ppt/presentation.xml", f"{microsoft}authors", "ppt/authors.xml", authors, "rId61")
    assert read(whole, "a.pptx").text == (
        "It burned.\n\n[Comment by Ada on “burned”: When?]\n[Comment by Bo on “burned”: In 1911.]\n\n"
    )


def test_hidden_slides_say_so() -> None:
    titled = shape(line("Prices"), kind='<p:ph type="title"/>')
    document = read(deck(titled + shape(line("10 crowns")), slide='show="0"'), "a.pptx")
    assert document.text == "Prices (hidden slide)\n\n10 crowns\n\n"
    assert [each.heading for each in document.sections] == ["Prices (hidden slide)"]
    assert read(deck(shape(line("x")), slide='show="0"'), "a.pptx").text == "Slide 1 (hidden slide)\n\nx\n\n"


def test_footers_are_read_once_and_numbers_of_slides_never() -> None:
    footer = shape(line("Harbour office"), kind='<p:ph type="ftr" idx="11"/>')
    number = shape(line("7"), kind='<p:ph type="sldNum" idx="12"/>')
    presentation = pptx.Presentation()
    for _ in range(2):
        presentation.slides.add_slide(presentation.slide_layouts[6])
    one = f"<p:sld {SPACE}><p:cSld><p:spTree>{footer}{number}{shape(line('text'))}</p:spTree></p:cSld></p:sld>"
    whole = with_parts(saved(presentation), {SLIDE: one, "ppt/slides/slide2.xml": one})
    assert read(whole, "a.pptx").text == "text\n\nHarbour office\n\ntext\n\n"


def test_embedded_workbooks_are_read_and_other_objects_are_named() -> None:
    book = openpyxl.Workbook()
    book.active.title = "Rents"
    book.active.append(["Quay", 10])
    ole = "http://schemas.openxmlformats.org/presentationml/2006/ole"
    objects = frame('<p:oleObj name="Sheet" r:id="rId70" progId="Excel.Sheet.12"/>', ole) + frame(
        '<p:oleObj name="Drawing" r:id="rId71" progId="Visio.Drawing.15"/>', ole
    )
    whole = with_relation(
        deck(objects + shape(line("text"))), SLIDE, f"{RELATION}package", "ppt/embeddings/a.xlsx", saved(book), "rId70"
    )
    whole = with_relation(whole, SLIDE, f"{RELATION}oleObject", "ppt/embeddings/oleObject1.bin", b"\1\2", "rId71")
    document = read(whole, "a.pptx")
    assert document.text.startswith("text\n\nEmbedded file: a.xlsx\n\nRents\nQuay; 10\n")
    assert document.metadata["unread_parts"] == "slide 1, oleObject1.bin: an object of Visio.Drawing.15"


def test_the_strict_form_is_read_too() -> None:
    whole = deck(shape(line("text")))
    for path in ("ppt/presentation.xml", SLIDE, "_rels/.rels", "ppt/_rels/presentation.xml.rels"):
        strict = part(whole, path).replace("http://schemas.openxmlformats.org/", "http://purl.oclc.org/ooxml/")
        whole = with_parts(
            whole,
            {
                path: strict.replace("/2006/main", "/main")
                .replace("/2006/relationships", "/relationships")
                .replace("package/relationships", "package/2006/relationships")
            },
        )
    assert read(whole, "a.pptx").text == "text\n\n"


def test_shows_and_files_with_macros_are_presentations() -> None:
    for suffix in ("pptx", "pptm", "ppsx", "ppsm", "potx"):
        assert media_type_of(f"a.{suffix}", b"PK\x03\x04") is not None


@pytest.mark.parametrize(
    "shapes",
    [
        "<p:grpSp>" * 200 + "</p:grpSp>" * 200,
        frame("<a:tbl><a:tr><a:tc gridSpan='2000000000' rowSpan='999999999'/></a:tr></a:tbl>", "table"),
        frame('<a:tbl><a:tblPr firstRow="1"/></a:tbl>', "table"),
        frame('<c:chart xmlns:c="urn:c" r:id="rId99"/>', "chart"),
        shape(line("x", '<a:pPr lvl="99999999999"><a:buAutoNum type="?" startAt="99999999999"/></a:pPr>')),
    ],
)
def test_odd_shapes_do_no_harm(shapes: str) -> None:
    assert "text\n\n" in text(shapes + shape(line("text")))


def test_a_damaged_slide_costs_that_slide_alone() -> None:
    presentation = pptx.Presentation()
    for name in ("Mills", "Boats"):
        presentation.slides.add_slide(presentation.slide_layouts[5]).shapes.title.text = name
    document = read(with_parts(saved(presentation), {SLIDE: "<p:sld"}), "a.pptx")
    assert document.text == "Boats\n\n"
    assert [(each.start, each.end) for each in document.pages] == [(0, 0), (0, 7)]
    assert document.metadata["unread_parts"] == "slide 1: slide1.xml is missing or damaged"


def test_damaged_files_are_no_other_error() -> None:
    whole = deck(shape(line("text")))
    for path in ("ppt/presentation.xml", SLIDE, "ppt/_rels/presentation.xml.rels"):
        for content in ("", "<a>", "<a/>", "<g>" * 3_000 + "</g>" * 3_000):
            with contextlib.suppress(SourceUnreadable):
                read(with_parts(whole, {path: content}), "a.pptx")
    with pytest.raises(SourceUnreadable):
        read(archive({"_rels/.rels": "<a/>"}), "a.pptx")
    assert io.BytesIO(whole).read(2) == b"PK"
