from __future__ import annotations

import contextlib
import time

import pytest

from asky.errors import SourceUnreadable
from asky.reading.detection import media_type_of
from asky.reading.formats import format_of
from asky.reading.office.open_document import read, read_flat
from tests.support.office_files import NAMES, archive, open_document

LIST = (
    '<text:list-style style:name="L1">'
    '<text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/>'
    '<text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")" style:num-prefix="("/>'
    '<text:list-level-style-number text:level="3" style:num-format="i" style:num-suffix="." text:display-levels="3"/>'
    "</text:list-style>"
    '<text:list-style style:name="L2"><text:list-level-style-bullet text:level="1" text:bullet-char="•"/>'
    '<text:list-level-style-bullet text:level="2" text:bullet-char="◦"/></text:list-style>'
)


def text(body: str, styles: str = "", **parts: str | bytes) -> str:
    """Return what is read of a text with this body and these automatic styles."""
    return read(open_document(body, styles, **parts), "a.odt").text


def sheet(rows: str, styles: str = "", columns: str = "") -> str:
    table = f'<table:table table:name="Rents" table:style-name="ta1">{columns}{rows}</table:table>'
    return read(open_document(table, styles, "spreadsheet"), "a.ods").text


def row(*cells: str, facts: str = "") -> str:
    return f"<table:table-row {facts}>{''.join(cells)}</table:table-row>"


def cell(words: str = "", facts: str = "") -> str:
    paragraph = f"<text:p>{words}</text:p>" if words else ""
    return f"<table:table-cell {facts}>{paragraph}</table:table-cell>"


def item(*content: str, facts: str = "") -> str:
    return f"<text:list-item {facts}>{''.join(content)}</text:list-item>"


def p(words: str) -> str:
    return f"<text:p>{words}</text:p>"


def items(*content: str, facts: str = "") -> str:
    """Return a list with these items."""
    return f"<text:list {facts}>{''.join(content)}</text:list>"


def test_tabs_breaks_and_spaces_are_kept_and_white_space_of_the_file_is_one_space() -> None:
    body = p(
        "Skipper:<text:tab/>Aas<text:line-break/>Cabin<text:s/>four<text:s text:c='3'/>x\n   and\n"
        "<text:span> y</text:span>"
    )
    assert text(body) == "Skipper:\tAas\nCabin four   x and y\n\n"


def test_any_number_of_spaces_is_harmless() -> None:
    assert len(text(p('a<text:s text:c="2000000000"/>b'))) < 100


def test_links_marks_fields_and_readings_are_part_of_their_sentence() -> None:
    body = p(
        '<text:bookmark-start text:name="m"/>See <text:a xlink:href="http://a.example/">the list</text:a>'
        '<text:bookmark-end text:name="m"/> of <text:date>3 May 2024</text:date>, Figure '
        "<text:sequence>2</text:sequence>"
        ", <text:ruby><text:ruby-base>漢字</text:ruby-base><text:ruby-text>かんじ</text:ruby-text></text:ruby>."
    )
    assert text(body) == "See the list of 3 May 2024, Figure 2, 漢字 (かんじ).\n\n"


def test_hidden_text_is_left_out() -> None:
    styles = (
        '<style:style style:name="T1" style:family="text"><style:text-properties text:display="none"/></style:style>'
        '<style:style style:name="P1" style:family="paragraph"><style:text-properties text:display="none"/>'
        "</style:style>"
        '<style:style style:name="P2" style:family="paragraph" style:parent-style-name="P1"/>'
    )
    body = (
        p('Open <text:span text:style-name="T1">secret </text:span>to all.')
        + '<text:p text:style-name="P2">inherited secret</text:p>'
        + p('<text:hidden-text text:is-hidden="true" text:string-value="x">secret</text:hidden-text>shown')
        + p('<text:hidden-paragraph text:is-hidden="true"/>secret')
        + f'<text:section text:name="S" text:display="none">{p("secret")}</text:section>'
        + f'<text:section text:name="S" text:display="condition" text:is-hidden="true">{p("secret")}</text:section>'
        + f'<text:section text:name="S">{p("in a section")}</text:section>'
    )
    assert text(body, styles) == "Open to all.\n\nshown\n\nin a section\n\n"


def test_changes_are_accepted() -> None:
    changes = (
        '<text:tracked-changes><text:changed-region text:id="c1"><text:deletion><office:change-info><dc:creator>Bo'
        f"</dc:creator></office:change-info>{p('4200')}</text:deletion></text:changed-region></text:tracked-changes>"
    )
    words = 'The rent is <text:change text:change-id="c1"/><text:change-start/>5150<text:change-end/> euros.'
    assert text(changes + p(words)) == "The rent is 5150 euros.\n\n"


def test_a_comment_stands_at_the_end_with_the_words_that_it_is_on() -> None:
    def note(name: str, words: str) -> str:
        return (
            f'<office:annotation office:name="{name}"><dc:creator>Reviewer Q</dc:creator><dc:date>2026-02-01</dc:date>'
            f"{p(words)}<text:list><text:list-item>{p('and more')}</text:list-item></text:list></office:annotation>"
        )

    body = (
        p(f"The fee is 60 crowns{note('a', 'Was it 75?')} a week.")
        + p(f"It {note('b', 'Sure?')}is <text:span>closed</text:span>")
        + p('in May<office:annotation-end office:name="b"/> again.')
    )
    assert text(body) == (
        "The fee is 60 crowns a week.\n\nIt is closed\n\nin May again.\n\n"
        "[Comment by Reviewer Q: Was it 75? - and more]\n"
        "[Comment by Reviewer Q on “is closed in May”: Sure? - and more]\n\n"
    )


def test_footnotes_follow_their_paragraph_and_endnotes_the_text() -> None:
    def note(kind: str, mark: str, words: str) -> str:
        return (
            f'<text:note text:note-class="{kind}"><text:note-citation>{mark}</text:note-citation><text:note-body>'
            f"{p(words)}</text:note-body></text:note>"
        )

    foot, end = note("footnote", "1", "Except for rescue boats."), note("endnote", "i", "By law.")
    first = p(f"The slip is closed{foot} in May{end}.")
    table = f"<table:table>{row(cell('Gate'), cell('Weight' + note('footnote', '2', 'In tonnes.')))}</table:table>"
    assert text(first + table + p("It opens.")) == (
        "The slip is closed in May.\n\nFootnote 1: Except for rescue boats.\n\nGate; Weight\n\n"
        "Footnote 2: In tonnes.\n\nIt opens.\n\nEndnote i: By law.\n\n"
    )


def test_lists_have_their_numbers_and_go_on_where_the_file_says_so() -> None:
    inner = items(item(p("deep")), item(p("deeper"), items(item(p("deepest")))))
    first, numbered = 'xml:id="l1" text:style-name="L1"', 'text:style-name="L1"'
    body = (
        items(item(p("one")), item(p("two"), p("more"), inner), facts=first)
        + p("Between.")
        + items(item(p("three")), facts=f'{numbered} text:continue-numbering="true"')
        + items(item(p("dot"), items(item(p("circle")))), facts='text:style-name="L2"')
        + items(
            item(p("four")),
            f"<text:list-header>{p('no number')}</text:list-header>",
            facts=f'{numbered} text:continue-list="l1"',
        )
        + items(item(p("nine"), facts='text:start-value="9"'), item(p("ten")), facts=numbered)
    )
    assert text(body, LIST) == (
        "1. one\n2. two\n  more\n  (a) deep\n  (b) deeper\n    2.b.i. deepest\n\nBetween.\n\n3. three\n- dot\n"
        "  - circle\n"
        "\nno number\n\n4. four\n9. nine\n10. ten\n\n"
    )


def test_an_item_that_only_holds_a_list_counts_for_nothing() -> None:
    nested = items(item(items(item(p("a")))), item(p("b")), facts='text:style-name="L1"')
    assert text(nested, LIST) == "  (a) a\n1. b\n\n"


def test_headings_have_their_numbers_and_titles_are_headings() -> None:
    common = (
        f"<office:document-styles {NAMES}><office:styles>"
        '<style:style style:name="Title" style:family="paragraph"/>'
        '<text:outline-style style:name="Outline">'
        '<text:outline-level-style text:level="1" style:num-format="1" style:num-suffix="."/>'
        '<text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/>'
        "</text:outline-style></office:styles></office:document-styles>"
    )

    def h(level: int, words: str, facts: str = "") -> str:
        return f'<text:h text:outline-level="{level}" {facts}>{words}</text:h>'

    body = (
        '<text:p text:style-name="P1">The plan</text:p>'
        + h(1, "Mills")
        + h(2, "Of wood")
        + h(2, "Of  stone")
        + h(1, "Annex", 'text:is-list-header="true"')
        + h(1, "Boats")
    )
    styles = '<style:style style:name="P1" style:family="paragraph" style:parent-style-name="Title"/>'
    document = read(open_document(body, styles, styles__xml=common), "a.odt")
    assert [(each.level, each.heading) for each in document.sections] == [
        (1, "The plan"),
        (1, "1. Mills"),
        (2, "1.1 Of wood"),
        (2, "1.2 Of stone"),
        (1, "Annex"),
        (1, "2. Boats"),
    ]
    assert document.title == "The plan"


def test_a_table_of_contents_is_left_out_and_a_bibliography_is_not() -> None:
    index = f"<text:index-body><text:index-title>{p('Contents')}</text:index-title>{p('Mills 3')}</text:index-body>"
    body = f"<text:table-of-content>{index}</text:table-of-content><text:bibliography><text:index-body>{p('[A] Ada')}"
    assert text(f"{body}</text:index-body></text:bibliography>{p('Mills')}") == "[A] Ada\n\nMills\n\n"


def test_heads_and_feet_of_pages_are_read_once_without_the_numbers_of_pages() -> None:
    pages = "Page <text:page-number>1</text:page-number> of <text:page-count>3</text:page-count>"
    head = f"<style:header>{p(f'QM-2291<text:tab/>{pages}')}</style:header>"
    off = f'<style:header-left style:display="false">{p("not in use")}</style:header-left>'
    foot = f"<style:footer>{p('<text:page-number>1</text:page-number>')}{p('Harbour office')}</style:footer>"
    masters = (
        f'<office:master-styles><style:master-page style:name="Standard">{head}{off}{foot}</style:master-page>'
        f'<style:master-page style:name="First">{head}</style:master-page>'
        f'<style:master-page style:name="Unused"><style:header>{p("never")}</style:header></style:master-page>'
        "</office:master-styles>"
    )
    used = '<style:style style:name="P1" style:family="paragraph" style:master-page-name="First"/>'
    common = f"<office:document-styles {NAMES}>{masters}</office:document-styles>"
    assert text(p("Text."), used, styles__xml=common) == "QM-2291\n\nText.\n\nHarbour office\n\n"


def test_frames_shapes_and_pictures_stand_after_the_paragraph_that_they_are_anchored_in() -> None:
    box = f"<draw:frame><draw:text-box>{p('Admission is 9 francs.')}</draw:text-box></draw:frame>"
    picture = (
        '<draw:frame draw:name="Image1"><draw:image xlink:href="Pictures/1.png"/><svg:title>Pump</svg:title>'
        "<svg:desc>The pump of hall 3</svg:desc></draw:frame>"
    )
    shape = f"<draw:g><draw:custom-shape>{p('Valve 9')}</draw:custom-shape><draw:line/></draw:g>"
    assert text(p(f"Come {box}and see{picture}.{shape}")) == (
        "Come and see.\n\nAdmission is 9 francs.\n\n[Picture: Pump: The pump of hall 3]\n\nValve 9\n\n"
    )


def test_words_that_are_written_on_a_picture_are_read() -> None:
    picture = (
        '<draw:frame><draw:image xlink:href="Pictures/1.png"><text:p>Sold by <text:span>Friday</text:span></text:p>'
        '</draw:image><draw:image xlink:href="Pictures/2.png"><text:p>Sold by Friday</text:p></draw:image></draw:frame>'
    )
    assert text(f"<text:p>Boats.{picture}</text:p>") == "Boats.\n\nSold by Friday\n\n"


def test_formulas_stand_in_their_line_and_charts_are_lines() -> None:
    math = (
        '<math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mrow><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c'
        '</mi><mn>2</mn></msup></mrow><annotation encoding="StarMath 5.0">E = m c^2</annotation></semantics></math>'
    )
    cells = "".join(
        row(cell(name), cell(value, 'office:value-type="float"'))
        for name, value in (("", "Crowns"), ("2024", "10"), ("2025", "12"))
    )
    chart = (
        f"<office:document-content {NAMES}><office:body><office:chart><chart:chart><chart:title>{p('Rents')}"
        '</chart:title><chart:plot-area><chart:axis chart:dimension="x"><chart:categories '
        'table:cell-range-address="local-table.$A$2:.$A$3"/></chart:axis><chart:series '
        'chart:values-cell-range-address="local-table.$B$2:.$B$3" chart:label-cell-address="local-table.$B$1"/>'
        f'</chart:plot-area><table:table table:name="local-table">{cells}</table:table></chart:chart></office:chart>'
        "</office:body></office:document-content>"
    )

    def frame(number: int) -> str:
        return f'<draw:frame><draw:object xlink:href="./Object {number}"/><draw:image xlink:href="x"/></draw:frame>'

    parts = {"Object 1/content__xml": math, "Object 2/content__xml": chart}
    assert text(p(f"So {frame(1)} holds.{frame(2)}"), **parts) == (
        "So E=mc^2 holds.\n\nChart “Rents”, Crowns: 2024 = 10; 2025 = 12\n\n"
    )


def test_a_chart_of_a_sheet_has_the_values_of_the_sheet_that_it_names() -> None:
    chart = (
        f"<office:document-content {NAMES}><office:body><office:chart><chart:chart><chart:plot-area>"
        '<chart:axis chart:dimension="x"><chart:categories table:cell-range-address="Rents.A2:Rents.A3"/></chart:axis>'
        '<chart:series chart:values-cell-range-address="Rents.B2:Rents.B3" chart:label-cell-address="Rents.B1"/>'
        '</chart:plot-area><table:table table:name="local-table"/></chart:chart></office:chart>'
        "</office:body></office:document-content>"
    )
    shapes = '<table:shapes><draw:frame><draw:object xlink:href="./Object 1"/></draw:frame></table:shapes>'
    rows = row(cell("Month"), cell("Rent")) + row(cell("May"), cell("1,200")) + row(cell("June"), cell("900"))
    body = f'<table:table table:name="Rents">{shapes}{rows}</table:table>'
    data = open_document(body, "", "spreadsheet", **{"Object 1/content__xml": chart})
    assert read(data, "a.ods").text.endswith("Chart, Rent: May = 1,200; June = 900\n\n")


def test_objects_of_other_programs_are_named_and_documents_are_read() -> None:
    inner = open_document(f"<table:table table:name='Inner'>{row(cell('seven'))}</table:table>", kind="spreadsheet")
    del inner
    content = (
        f"<office:document-content {NAMES}><office:body><office:spreadsheet><table:table table:name='Inner'>"
        f"{row(cell('seven'))}</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    frames = (
        '<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>'
        '<draw:frame><draw:object-ole xlink:href="./Object 3"/></draw:frame>'
    )
    whole = open_document(p(f"See.{frames}"), **{"Object 1/content__xml": content, "Object 3": b"\1"})
    document = read(whole, "a.odt")
    assert document.text.startswith("See.\n\nEmbedded file: Object 1.ods\n\nInner\nseven\n")
    assert document.metadata["unread_parts"] == "Object 3: an object of another program"


def test_exponents_have_a_sign() -> None:
    styles = "".join(
        f'<style:style style:name="T{number}" style:family="text">'
        f'<style:text-properties style:text-position="{place}"/></style:style>'
        for number, place in ((1, "super 58%"), (2, "sub 58%"), (3, "0% 100%"))
    )
    span = '<text:span text:style-name="T{}">{}</text:span>'.format
    body = p(f"There are 10{span(1, 6.6)} of CO{span(2, 2)} in {span(3, 'air')}.")
    assert text(body, styles) == "There are 10^6.6 of CO2 in air.\n\n"


def test_controls_of_forms_show_their_values() -> None:
    forms = (
        '<office:forms><form:form><form:text form:id="c1" form:current-value="Silver Heron"/>'
        '<form:checkbox form:id="c2" form:label="paid" form:current-state="checked"/></form:form></office:forms>'
    )
    body = p('Boat: <draw:control draw:control="c1"/><draw:control draw:control="c2"/>')
    assert text(forms + body) == "Boat:\n\nSilver Heron\n\n[x] paid\n\n"


def test_covered_cells_keep_the_others_in_their_columns() -> None:
    covered = "<table:covered-table-cell><text:p>old</text:p></table:covered-table-cell>"
    wide = cell("Idunn", 'table:number-columns-spanned="2"')
    body = row(*map(cell, ("Day", "Morning", "Noon", "Night")))
    for filler in (covered, ""):
        shown = sheet(body + row(cell("Monday"), wide, filler, cell("Steinar")))
        assert "Night: Steinar" in shown
        assert "Noon: Steinar" not in shown
        assert "old" not in shown
    tall = row(cell("Tue", 'table:number-rows-spanned="2"'), cell("Petra")) + row(covered, cell("Oskar"), cell("Marit"))
    shown = sheet(body + tall)
    assert "Morning: Oskar" in shown
    assert "Noon: Marit" in shown


def test_headers_of_a_table_are_those_that_the_file_sets_apart() -> None:
    head = f"<table:table-header-rows>{row(cell('Gate'), cell('Weight'))}</table:table-header-rows>"
    assert text(f"<table:table>{head}{row(cell('7'), cell('8'))}</table:table>").endswith("Gate: 7; Weight: 8\n\n")


def test_a_table_of_headers_alone_is_rows() -> None:
    rows = row(cell("Pump"), cell("checked in March, seals renewed, to be looked at again before the frost"))
    rows += row(cell("Winch"), cell("painted, the rope is to be replaced when the new one has come from Larkhaven"))
    table = f"<table:table><table:table-header-rows>{rows}</table:table-header-rows></table:table>"
    assert "to be looked at again before the frost\n" in text(table)
    assert "Winch: painted, the rope is to be replaced when the new one has come from Larkhaven\n" in text(table)


def test_a_table_within_a_cell_is_text_of_the_cell() -> None:
    inner = f"<table:table>{row(cell('a'), cell('b'))}</table:table>"
    outer = row(cell("Pump"), f"<table:table-cell>{inner}</table:table-cell>")
    body = f"<table:table>{row(cell('Name'), cell('Parts'))}{outer}</table:table>"
    assert "Pump: a; b\n" in text(body)


def test_cells_are_what_they_show_or_their_value() -> None:
    def valued(kind: str, facts: str, shown: str = "") -> str:
        return cell(shown, f'office:value-type="{kind}" {facts}')

    shown = sheet(
        row(
            valued("percentage", 'office:value="0.075"', "7.5%"),
            valued("percentage", 'office:value="0.075"'),
            valued("currency", 'office:value="12" office:currency="NOK"'),
            valued("date", 'office:date-value="2024-05-03"', "3 May"),
            valued("date", 'office:date-value="2024-05-03"'),
            valued("float", 'office:value="26.5"', "26:30"),
            valued("boolean", 'office:boolean-value="true"'),
            cell("", 'table:formula="of:=SUM([.A1:.A3])"'),
        )
    )
    assert shown == "Rents\n7.5%; 7.5%; 12 NOK; 3 May; 2024-05-03; 26:30; TRUE; =SUM([.A1:.A3])\n\n"


def test_hidden_sheets_rows_and_columns_are_marked() -> None:
    hidden = (
        '<style:style style:name="ta1" style:family="table"><style:table-properties table:display="false"/>'
        "</style:style>"
    )
    rows = row(cell("Month"), cell("Rent"), cell("Note"))
    rows += row(cell("March"), cell("10"), cell("x"))
    rows += row(cell("April"), cell("12"), cell("y"), facts='table:visibility="collapse"')
    columns = '<table:table-column table:number-columns-repeated="2"/><table:table-column table:visibility="collapse"/>'
    shown = sheet(rows, hidden, columns)
    assert shown.startswith("Rents (hidden sheet)\nMonth; Rent; Note [hidden column]\n")
    assert "\n[hidden row] Month: April; Rent: 12" in shown
    assert "\nMonth: March; Rent: 10" in shown


def test_remarks_and_shapes_of_a_sheet_follow_its_rows() -> None:
    remark = "<office:annotation><dc:creator>Bo</dc:creator><text:p>Sure?</text:p></office:annotation>"
    box = f"<draw:frame><draw:text-box>{p('In crowns.')}</draw:text-box></draw:frame>"
    rows = row(cell("Month"), cell("Rent")) + row(
        f"<table:table-cell>{remark}<text:p>March</text:p></table:table-cell>",
        f"<table:table-cell>{box}<text:p>10</text:p></table:table-cell>",
    )
    assert (
        sheet(rows)
        == "Rents\nMonth; Rent\nMonth: March; Rent: 10\n\nIn crowns.\n\n[Comment by Bo on “A2: March”: Sure?]\n\n"
    )


def test_what_repeats_costs_nothing() -> None:
    empty = row(cell("", 'table:number-columns-repeated="16384"'), facts='table:number-rows-repeated="1048576"')
    far = row(cell("", 'table:number-columns-repeated="16000"'), cell("edge"))
    started = time.process_time()
    assert sheet(row(cell("Month"), cell("Rent")) + empty + far * 300 + empty).startswith("Rents\nMonth; Rent\n")
    same = row(cell("x"), cell("y"), facts='table:number-rows-repeated="5000"')
    document = read(open_document(f'<table:table table:name="A">{same}</table:table>', "", "spreadsheet"), "a.ods")
    assert document.metadata["unread_parts"] == "4,000 rows of A: they repeat the row above them"
    assert time.process_time() - started < 3


def test_merged_cells_of_any_size_are_harmless() -> None:
    huge = cell("x", 'table:number-columns-spanned="2000000000" table:number-rows-spanned="2000000000"')
    with contextlib.suppress(SourceUnreadable):
        assert "x" in sheet(row(huge) + row(cell("y")) * 3)
    with pytest.raises(SourceUnreadable) as raised:
        sheet(row(huge) + row(cell("y")) * 3000)
    assert raised.value.verdict == "too_large"


def slides(pages: str, styles: str = "") -> bytes:
    return open_document(pages, styles, "presentation")


def placed(kind: str, *lines: str, facts: str = "") -> str:
    words = "".join(map(p, lines))
    return f'<draw:frame presentation:class="{kind}" {facts}><draw:text-box>{words}</draw:text-box></draw:frame>'


def test_slides_are_sections_with_notes_and_remarks_and_hidden_ones_say_so() -> None:
    styles = LIST + (
        '<style:style style:name="dp1" style:family="drawing-page"><style:drawing-page-properties '
        'presentation:visibility="hidden"/></style:style>'
        '<style:style style:name="dp2" style:family="drawing-page"><style:drawing-page-properties '
        'presentation:display-footer="true"/></style:style>'
    )
    outline = items(item(p("grind")), item(p("burn")), facts='text:style-name="L2"')
    said = placed("notes", "Say it slowly.") + placed("page-number", "3")
    notes = f"<presentation:notes><draw:page-thumbnail/>{said}</presentation:notes>"
    remark = f"<office:annotation><dc:creator>Bo</dc:creator>{p('Sure?')}</office:annotation>"
    empty = placed("subtitle", "Click to add text", facts='presentation:placeholder="true"')
    box = f"<draw:custom-shape>{p('Box')}</draw:custom-shape>"
    pages = (
        '<presentation:footer-decl presentation:name="f1">Harbour office</presentation:footer-decl>'
        '<draw:page draw:style-name="dp2" presentation:use-footer-name="f1">'
        f'<draw:frame presentation:class="outline"><draw:text-box>{outline}</draw:text-box></draw:frame>'
        f"{placed('title', 'Mills')}{placed('page-number', '1')}{remark}"
        f"{empty}{notes}</draw:page>"
        f'<draw:page draw:style-name="dp1" presentation:use-footer-name="f1">{placed("title", "Prices")}</draw:page>'
        f'<draw:page draw:style-name="dp2" presentation:use-footer-name="f1">{box}</draw:page>'
    )
    document = read(slides(pages, styles), "a.odp")
    assert document.text == (
        "Mills\n\n- grind\n- burn\n\nHarbour office\n\nNotes: Say it slowly.\n\n[Comment by Bo: Sure?]\n\n"
        "Prices (hidden slide)\n\nBox\n\n"
    )
    assert [each.heading for each in document.sections] == ["Mills", "Prices (hidden slide)", "Slide 3"]
    assert (len(document.pages), document.title) == (3, None)


def test_the_title_of_a_title_slide_is_that_of_the_presentation() -> None:
    page = f"<draw:page>{placed('title', 'Mills')}{placed('subtitle', 'A survey')}</draw:page>"
    document = read(slides(page), "a.odp")
    assert (document.text, document.title) == ("Mills\n\nA survey\n\n", "Mills")


def test_a_flat_file_is_read_too() -> None:
    whole = (
        f"<office:document {NAMES}><office:meta><dc:title>On Mills</dc:title></office:meta><office:body><office:text>"
        f"{p('It burned.')}</office:text></office:body></office:document>"
    ).encode()
    row_ = format_of("a.fodt")
    assert row_ is not None
    assert media_type_of("a.fodt", whole) == row_.media_type
    document = read_flat(whole, "a.fodt")
    assert (document.text, document.title, document.media_type) == ("It burned.\n\n", "On Mills", row_.media_type)


def test_facts_are_those_of_the_file() -> None:
    meta = (
        f"<office:document-meta {NAMES}><office:meta><dc:title>On Mills</dc:title>"
        "<dc:date>2024-05-03T10:00:00</dc:date>"
        "<meta:initial-creator>Ada Byrne</meta:initial-creator><dc:creator>Bo</dc:creator></office:meta>"
        "</office:document-meta>"
    )
    document = read(open_document(p("x"), meta__xml=meta), "a.odt")
    assert (document.title, document.metadata["author"], document.metadata["published"]) == (
        "On Mills",
        "Ada Byrne",
        "2024-05-03",
    )


def test_a_password_is_told() -> None:
    manifest = (
        f'<manifest:manifest {NAMES}><manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data/>'
        "</manifest:file-entry></manifest:manifest>"
    )
    for parts in ({"content.xml": b"\x93\x01", "META-INF/manifest.xml": manifest}, {"encrypted-package": b"\x93"}):
        with pytest.raises(SourceUnreadable) as raised:
            read(archive(parts), "a.odt")
        assert raised.value.verdict == "encrypted"


@pytest.mark.parametrize(
    "body",
    [
        "<text:list><text:list-item>" * 120 + "<text:p>deep</text:p>" + "</text:list-item></text:list>" * 120,
        "<text:p>" + "<text:span>" * 3000 + "</text:span>" * 3000 + "</text:p>",
        "<text:section>" * 240 + "<text:p>deep</text:p>" + "</text:section>" * 240,
        '<text:h text:outline-level="99999999999999999999">x</text:h>',
        '<text:p><draw:frame><draw:object xlink:href="../../etc/passwd"/></draw:frame></text:p>',
        '<text:p><draw:frame><draw:object xlink:href="http://a.example/x"/></draw:frame></text:p>',
    ],
)
def test_odd_texts_do_no_harm(body: str) -> None:
    with contextlib.suppress(SourceUnreadable):
        read(open_document(body), "a.odt")


def test_entities_are_not_expanded() -> None:
    whole = archive(
        {
            "content.xml": '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;">]>'
            f"<office:document-content {NAMES}><office:body><office:text>{p('It &b; burned.')}</office:text>"
            "</office:body></office:document-content>"
        }
    )
    assert "aaaa" not in read(whole, "a.odt").text
