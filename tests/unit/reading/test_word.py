"""Word documents: what is seen, in the order in which it is seen, each text once."""

from __future__ import annotations

import pytest

from asky.reading.office.word.reader import read
from asky.values import Document
from tests.support.word_files import (
    box,
    deleted,
    drawing,
    field,
    heading_styles,
    ins,
    p,
    part,
    r,
    sdt,
    tbl,
    tc,
    tr,
    word_file,
)

MARK_DELETED = '<w:rPr><w:del w:id="9" w:author="Ada"/></w:rPr>'
HIDDEN, SHOWN = "<w:vanish/>", '<w:vanish w:val="false"/>'
NOTE = '<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:footnoteReference w:id="{}"/></w:r>'


def lines(body: str, *args: object, **named: object) -> list[str]:
    """The lines of the text that are not empty."""
    return [line for line in document(body, *args, **named).text.split("\n") if line]


def document(body: str, *args: object, **named: object) -> Document:
    return read(word_file(body, *args, **named), "a.docx")  # type: ignore[arg-type]


def styled(extra: str = "") -> dict[str, tuple[str, str | bytes]]:
    return {"styles.xml": ("styles", part("w:styles", heading_styles() + extra))}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (p("It is ", deleted("4,200"), ins("5,150"), " euros."), ["It is 5,150 euros."]),
        (p(ins("All of it is new.")), ["All of it is new."]),
        (p("First half ", properties=MARK_DELETED) + p("second half."), ["First half second half."]),
        (p("Joined ", properties=MARK_DELETED) + tbl(tr("a", "b")), ["Joined", "a; b"]),
        (p(deleted("All of it."), properties=MARK_DELETED) + p("Next."), ["Next."]),
        (tbl(tr("kept", "x"), tr("gone", "y", properties='<w:del w:id="3"/>')), ["kept; x"]),
        (tbl(tr("kept", tc("gone", '<w:cellDel w:id="3"/>'), "too")), ["kept; too"]),
        (tbl(tr("gone", "y", properties='<w:del w:id="3"/>')) + p("Next."), ["Next."]),
        (
            p(f"<w:moveFrom>{r('Moved.')}</w:moveFrom>", properties="<w:rPr><w:moveFrom/></w:rPr>")
            + p(f"<w:moveTo>{r('Moved.')}</w:moveTo>"),
            ["Moved."],
        ),
        (
            p("Text.", properties='<w:pPrChange><w:pPr><w:pStyle w:val="berschrift1"/></w:pPr></w:pPrChange>'),
            ["Text."],
        ),
        (p(ins(deleted("never"), r("kept"))), ["kept"]),
    ],
)
def test_all_changes_are_accepted(body: str, expected: list[str]) -> None:
    assert lines(body) == expected


def test_the_formatting_before_a_change_says_nothing() -> None:
    change = '<w:pPrChange><w:pPr><w:pStyle w:val="berschrift1"/></w:pPr></w:pPrChange>'
    assert document(p("Text.", properties=change), styled()).sections == ()
    assert lines(p(r("Seen.", f"<w:rPrChange><w:rPr>{HIDDEN}</w:rPr></w:rPrChange>"))) == ["Seen."]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (sdt(p("A block.")), ["A block."]),
        (p("It is ", sdt(r("14 May")), "."), ["It is 14 May."]),
        (sdt(sdt(p("Deep."))), ["Deep."]),
        (sdt(p("Click here."), "<w:showingPlcHdr/>") + p("Kept."), ["Kept."]),
        (sdt(p("Kept."), '<w:showingPlcHdr w:val="0"/>'), ["Kept."]),
        (tbl(tr("a", sdt(tc("b"))), sdt(tr("c", "d"))), ["a: b", "c: d"]),
        (
            p(sdt(r("Oslo"), '<w:dropDownList w:lastValue="2"><w:listItem w:displayText="Rome"/></w:dropDownList>')),
            ["Oslo"],
        ),
        (p(sdt(r("☒"), '<w14:checkbox><w14:checked w14:val="1"/></w14:checkbox>'), " Agreed"), ["☒ Agreed"]),
        (
            sdt(
                p("Contents") + p(field('TOC \\o "1-3"', "Scope 3")),
                '<w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj>',
            )
            + p("Scope"),
            ["Scope"],
        ),
        (
            sdt(p("Tidal report"), '<w:docPartObj><w:docPartGallery w:val="Cover Pages"/></w:docPartObj>'),
            ["Tidal report"],
        ),
        (f"<w:customXml>{p('In custom XML.')}</w:customXml>", ["In custom XML."]),
        (p(f"<w:smartTag>{r('Oslo')}</w:smartTag>", f"<w:dir>{r(' is a town.')}</w:dir>"), ["Oslo is a town."]),
    ],
)
def test_controls_and_wrappers_hold_ordinary_text(body: str, expected: list[str]) -> None:
    assert lines(body) == expected


CHECKED = '<w:ffData><w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox></w:ffData>'
ENTRIES = '<w:listEntry w:val="red"/><w:listEntry w:val="blue"/>'
CHOICE = f'<w:ffData><w:ddList><w:result w:val="1"/>{ENTRIES}</w:ddList></w:ffData>'
BEGIN = '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
SEPARATE = '<w:r><w:fldChar w:fldCharType="separate"/></w:r>'
END = '<w:r><w:fldChar w:fldCharType="end"/></w:r>'


def instruction(text: str) -> str:
    return f'<w:r><w:instrText xml:space="preserve"> {text} </w:instrText></w:r>'


RUBY_FIELD = instruction(r'EQ \* jc2 \* "Font:MS Mincho" \* hps10 \o\ad(\s\up 9(かんじ),漢字)')
CONTENTS = p(BEGIN, "<w:r><w:instrText> TOC </w:instrText></w:r>", SEPARATE, "Scope 1") + p("Tides 2", END)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (p("It is ", field("DATE", "2 May"), "."), ["It is 2 May."]),
        (p("See ", f'<w:fldSimple w:instr=" REF x ">{r("Figure 7")}</w:fldSimple>', "."), ["See Figure 7."]),
        (p("A", field(f"IF {field('MERGEFIELD x', 'inner')} = 1", "shown")), ["Ashown"]),
        (p(field("XE", '"index entry"'), "Text."), ["Text."]),
        (p("Agreed: ", field("FORMCHECKBOX", "", CHECKED)), ["Agreed: [x]"]),
        (p("Colour: ", field("FORMDROPDOWN", "", CHOICE)), ["Colour: blue"]),
        (p("Name: ", field("FORMTEXT", "Silver Heron")), ["Name: Silver Heron"]),
        (p("Seen ", BEGIN, "too."), ["Seen too."]),
        (p("Seen.", END) + p("Next."), ["Seen.", "Next."]),
        (p("Page ", field("PAGEREF x", "12"), " has it."), ["Page 12 has it."]),
        (CONTENTS + p("Scope"), ["Scope"]),
        (p(BEGIN, RUBY_FIELD, END, "を読む"), ["漢字(かんじ)を読む"]),
        (p("Half is ", BEGIN, instruction(r"EQ \f(1,2)"), END, "."), ["Half is 1/2."]),
        (p(BEGIN, instruction('TC "entry"'), END, "Text."), ["Text."]),
    ],
)  # fmt: skip
def test_of_a_field_its_result_is_read(body: str, expected: list[str]) -> None:
    assert lines(body) == expected


OLD = f"<w:pict><v:shape><v:textbox><w:txbxContent>{p('Old.')}</w:txbxContent></v:textbox></v:shape></w:pict>"
UNKNOWN = '<mc:Choice Requires="x"><x:y xmlns:x="urn:x"/></mc:Choice>'
FALLBACK = f"<w:r><mc:AlternateContent>{UNKNOWN}<mc:Fallback>{OLD}</mc:Fallback></mc:AlternateContent></w:r>"
MAP = drawing("<pic:pic/>", shown='descr="A map of the quay"')
WATERMARK = '<w:r><w:pict><v:shape><v:textpath string="DRAFT"/></v:shape></w:pict></w:r>'


def shape(content: str, y: int) -> str:
    return (
        f'<wps:wsp><wps:spPr><a:xfrm><a:off x="0" y="{y}"/></a:xfrm></wps:spPr>'
        f"<wps:txbx><w:txbxContent>{p(content)}</w:txbxContent></wps:txbx></wps:wsp>"
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (p("Before ", box(p("In the box.")), "after."), ["Before after.", "In the box."]),
        (p(f"<w:r>{OLD}</w:r>"), ["Old."]),
        (p(drawing(f"<wpg:wgp>{shape('Below.', 90)}{shape('Above.', 10)}</wpg:wgp>")), ["Above.", "Below."]),
        (p(drawing(f"<wpc:wpc>{shape('On a canvas.', 9)}</wpc:wpc>")), ["On a canvas."]),
        (p(FALLBACK), ["Old."]),
        (p(WATERMARK), ["DRAFT"]),
        (p(box(p("Outer.", box(p("Inner."))))), ["Outer.", "Inner."]),
        (p(box(tbl(tr("a", "b"), tr("c", "d")))), ["a: b", "c: d"]),
        (tbl(tr("a", tc(p("b", box(p("boxed")))))), ["a; b boxed"]),
        (p(MAP, "Text."), ["Text.", "[Picture: A map of the quay]"]),
        (p(drawing("<pic:pic/>", shown='descr="A map"')) + p("A map"), ["A map"]),
        (p(drawing("<pic:pic/>", shown='descr="quay.png"'), "Text."), ["Text."]),
        (p(drawing("<pic:pic/>", shown='descr="A map" hidden="1"'), "Text."), ["Text."]),
        (p('<w:r><w:pict><v:shape alt="Old map"><v:imagedata/></v:shape></w:pict></w:r>'), ["[Picture: Old map]"]),
    ],
)  # fmt: skip
def test_drawings_are_read_at_their_anchor_once(body: str, expected: list[str]) -> None:
    assert lines(body) == expected


def test_a_decorative_picture_is_not_mentioned() -> None:
    ornament = '<a:ext><x:decorative xmlns:x="urn:x" val="1"/></a:ext>'
    about = f'<wp:docPr id="1" name="x" descr="A flourish">{ornament}</wp:docPr>'
    inner = f"{about}<a:graphicData><pic:pic/></a:graphicData>"
    assert lines(p(f"<w:r><w:drawing><wp:inline>{inner}</wp:inline></w:drawing></w:r>", "Text.")) == ["Text."]


def test_charts_and_diagrams_are_lines() -> None:
    points = '<c:pt idx="0"><c:v>{}</c:v></c:pt>'
    series = (
        f"<c:ser><c:tx><c:strRef><c:strCache>{points.format('Rent')}</c:strCache></c:strRef></c:tx>"
        f"<c:cat><c:strRef><c:strCache>{points.format('2024')}</c:strCache></c:strRef></c:cat>"
        f"<c:val><c:numRef><c:numCache>{points.format('17')}</c:numCache></c:numRef></c:val></c:ser>"
    )
    chart = part("c:chartSpace", f"<c:chart><c:plotArea><c:barChart>{series}</c:barChart></c:plotArea></c:chart>")
    point = '<dgm:pt modelId="{}"><dgm:t><a:p><a:r><a:t>{}</a:t></a:r></a:p></dgm:t></dgm:pt>'
    points_of = f'<dgm:ptLst><dgm:pt modelId="0" type="doc"/>{point.format(1, "Survey")}</dgm:ptLst>'
    diagram = part("dgm:dataModel", f'{points_of}<dgm:cxnLst><dgm:cxn srcId="0" destId="1"/></dgm:cxnLst>')
    body = p(drawing('<c:chart r:id="chart1"/>')) + p(drawing('<dgm:relIds r:dm="data1"/>'))
    parts: dict[str, tuple[str, str | bytes]] = {
        "charts/chart1.xml": ("chart", chart),
        "diagrams/data1.xml": ("diagramData", diagram),
    }
    first, second = lines(body, parts)
    assert all(word in first for word in ("Rent", "2024 = 17"))
    assert second == "- Survey"


def test_footnotes_follow_their_paragraph_and_endnotes_the_text() -> None:
    notes = "".join(
        f'<w:{kind} w:id="{id_}" {extra}>{p(text)}</w:{kind}>'
        for kind, id_, text, extra in (
            ("footnote", 0, "A line.", 'w:type="separator"'),
            ("footnote", 2, "It weighs 38 tonnes.", ""),
            ("footnote", 3, "In 1998.", ""),
            ("footnote", 4, "Never marked.", ""),
        )
    )
    ends = f'<w:endnote w:id="2">{p("See the log.")}</w:endnote>'
    star = '<w:r><w:footnoteReference w:id="3" w:customMarkFollows="1"/><w:t>*</w:t></w:r>'
    end = '<w:r><w:endnoteReference w:id="2"/></w:r>'
    body = p("The gate was measured.", NOTE.format(2), " It opens", star, ".", end) + p("Next.")
    parts: dict[str, tuple[str, str | bytes]] = {
        "footnotes.xml": ("footnotes", part("w:footnotes", notes)),
        "endnotes.xml": ("endnotes", part("w:endnotes", ends)),
    }
    assert lines(body, parts) == [
        "The gate was measured. It opens.",
        "Footnote 1: It weighs 38 tonnes.",
        "Footnote *: In 1998.",
        "Next.",
        "Endnote i: See the log.",
    ]


def test_notes_are_numbered_as_the_file_says_and_those_of_deleted_marks_left_out() -> None:
    notes = "".join(f'<w:footnote w:id="{n}">{p(f"Note {n} here.")}</w:footnote>' for n in (1, 2, 3))
    settings = '<w:footnotePr><w:numFmt w:val="upperRoman"/><w:numStart w:val="4"/></w:footnotePr>'
    gone = f"<w:del>{NOTE.format(2)}</w:del>"
    parts: dict[str, tuple[str, str | bytes]] = {
        "footnotes.xml": ("footnotes", part("w:footnotes", notes)),
        "settings.xml": ("settings", part("w:settings", settings)),
    }
    assert lines(p("A.", NOTE.format(1), gone, NOTE.format(3)), parts) == [
        "A.",
        "Footnote IV: Note 1 here.",
        "Footnote V: Note 3 here.",
    ]


PAGE, PAGES = field("PAGE", "3"), field("NUMPAGES", "9")


def margin(kind: str, content: str) -> tuple[str, str | bytes]:
    return kind, part("w:hdr" if kind == "header" else "w:ftr", content)


def refer(kind: str, place: str, id_: str) -> str:
    return f'<w:{kind}Reference w:type="{place}" r:id="{id_}"/>'


def test_heads_and_feet_of_pages_stand_once_before_and_after_the_text() -> None:
    sections = (
        f"<w:sectPr>{refer('header', 'default', 'h1')}{refer('header', 'first', 'h2')}"
        f"{refer('header', 'even', 'h3')}{refer('footer', 'default', 'f1')}{{}}</w:sectPr>"
    )
    parts = {
        "h1.xml": margin("header", p("Document QM-2291")),
        "h2.xml": margin("header", p("Document QM-2291") + p("First page only")),
        "h3.xml": margin("header", p("Even pages")),
        "f1.xml": margin("footer", p("Larkhaven Port Trust	Page ", PAGE, " of ", PAGES)),
    }
    body = p("Text.", properties=sections.format("<w:titlePg/>")) + p("More.")
    assert lines(body, parts) == [
        "Document QM-2291",
        "First page only",
        "Text.",
        "More.",
        "Larkhaven Port Trust",
    ]
    assert "First page only" not in document(p("Text.") + sections.format(""), parts).text
    mirrored = parts | {"settings.xml": ("settings", part("w:settings", "<w:evenAndOddHeaders/>"))}
    assert "Even pages" in document(p("Text.") + sections.format(""), mirrored).text


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (p("Page ", PAGE, " of ", PAGES), []),
        (p("Seite ", PAGE, " / ", PAGES), []),
        (p("- ", PAGE, " -"), []),
        (p(PAGE, " | P a g e"), []),
        (p("第 ", PAGE, " 页"), []),
        (p("QM-2291 – page ", PAGE), ["QM-2291"]),
        (p("Page ", PAGE, " | Confidential"), ["Confidential"]),
        (p("Report\t\tp. ", PAGE), ["Report"]),
        (p("Report no. 3"), ["Report no. 3"]),
        (p("<w:r><w:pgNum/></w:r>"), []),
        (tbl(tr("Document QM-2291", tc(p("Page ", PAGE)))), ["Document QM-2291"]),
    ],
)
def test_numbers_of_pages_are_left_out(content: str, expected: list[str]) -> None:
    section = f"<w:sectPr>{refer('header', 'default', 'h1')}</w:sectPr>"
    assert lines(p("Text.") + section, {"h1.xml": margin("header", content)})[:-1] == expected


BEFORE = '<w:gridBefore w:val="1"/>'
GRID = '<w:gridSpan w:val="{}"/>'
START, GOES_ON = '<w:vMerge w:val="restart"/>', "<w:vMerge/>"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (tbl(tr("Route", "Adult", "Child"), tr(tc("West", GRID.format(3))), tr("Skerry", "12.40", "6.20")),
         ["Route; Adult; Child", "West", "Route: Skerry; Adult: 12.40; Child: 6.20"]),
        (tbl(tr("Route", "Adult"), tr("a", "1", properties=BEFORE)), ["Route; Adult", "a; 1"]),
        (tbl(tr("Alone in a frame.")), ["Alone in a frame."]),
        (tbl(tr("a", tc(p("first") + p("second")))), ["a; first second"]),
        (tbl(tr(tc("Hidden", ""), properties="<w:hidden/>"), tr("b", "c")), ["b; c"]),
        (tbl(tr(tc("old", '<w:hMerge w:val="restart"/>'), tc("<w:p/>", "<w:hMerge/>"), "x")), ["old; x"]),
        (tbl(tr(tc(tbl(tr("Fare", "Price"), tr("Adult", "9"))), "x")), ["Fare; Price", "Fare: Adult; Price: 9", "x"]),
        (tbl(tr("Part", "Sizes"), tr("Valve of the northern gate", tc(tbl(tr("a", "b")) + "<w:p/>"))),
         ["Part: Sizes", "Valve of the northern gate: a; b"]),
        (tbl(tr("a", "b")) + p("After."), ["a; b", "After."]),
        (tbl(tr(tc(p("Tides", properties='<w:outlineLvl w:val="0"/>') + p("They rise.")), "Side.")),
         ["Tides", "They rise.", "Side."]),
    ],
)  # fmt: skip
def test_tables_are_read_cell_by_cell(body: str, expected: list[str]) -> None:
    assert lines(body) == expected


def test_a_text_over_several_rows_stands_once() -> None:
    text = document(tbl(tr("Port", "Boat"), tr(tc("Holm", START), "Tern"), tr(tc("<w:p/>", GOES_ON), "Heron"))).text
    assert "Port: Holm; Boat: Tern\n" in text
    assert "Heron" in text


def test_hidden_text_is_left_out() -> None:
    hiding = (
        '<w:style w:type="character" w:styleId="Secret"><w:rPr><w:vanish/></w:rPr></w:style>'
        '<w:style w:type="paragraph" w:styleId="Note"><w:rPr><w:vanish/></w:rPr></w:style>'
        '<w:style w:type="paragraph" w:styleId="Below"><w:basedOn w:val="Note"/></w:style>'
    )
    body = (
        p("Seen. ", r("Hidden.", HIDDEN))
        + p(r("Shown again.", SHOWN), style="Note", properties=f"<w:rPr>{SHOWN}</w:rPr>")
        + p("By style.", style="Note")
        + p("By what it is based on.", style="Below")
        + p("Last.", r(" Secret.", '<w:rStyle w:val="Secret"/>'))
        + p("One line ", properties=f"<w:rPr>{HIDDEN}</w:rPr>")
        + p("with this.")
    )
    assert lines(body, styled(hiding)) == ["Seen.", "Shown again.", "Last.", "One line with this."]


def test_a_style_that_hides_within_one_that_hides_shows() -> None:
    hiding = (
        '<w:style w:type="character" w:styleId="Secret"><w:rPr><w:vanish/></w:rPr></w:style>'
        '<w:style w:type="paragraph" w:styleId="Note"><w:rPr><w:vanish/></w:rPr></w:style>'
    )
    assert lines(p(r("Both.", '<w:rStyle w:val="Secret"/>'), style="Note"), styled(hiding)) == ["Both."]


def test_comments_stand_at_the_end_with_their_replies() -> None:
    comments = (
        f'<w:comment w:id="1" w:author="Ada"><w:p w14:paraId="A1">{r("Is this true?")}</w:p></w:comment>'
        f'<w:comment w:id="2" w:author="Ben"><w:p w14:paraId="B1">{r("Yes.")}</w:p></w:comment>'
        f'<w:comment w:id="3" w:author="Eve"><w:p w14:paraId="C1">{r("Never anchored.")}</w:p></w:comment>'
    )
    extended = '<w15:commentEx w15:paraId="A1"/><w15:commentEx w15:paraId="B1" w15:paraIdParent="A1"/>'
    parts: dict[str, tuple[str, str | bytes]] = {
        "comments.xml": ("comments", part("w:comments", comments)),
        "commentsExtended.xml": ("commentsExtended", part("w15:commentsEx", extended)),
    }
    around = '<w:commentRange{0} w:id="1"/>'
    marked = '<w:r><w:commentReference w:id="1"/></w:r>'
    body = p(around.format("Start"), "The quay", around.format("End"), marked, " is long.")
    assert lines(body, parts) == [
        "The quay is long.",
        "[Comment by Ada on “The quay”: Is this true?]",
        "[Comment by Ben on “The quay”: Yes.]",
    ]


def test_a_comment_in_deleted_text_is_read_with_the_words_that_are_seen() -> None:
    comment = f'<w:comment w:id="1" w:author="Ada"><w:p>{r("Is the hall free?")}</w:p></w:comment>'
    parts: dict[str, tuple[str, str | bytes]] = {"comments.xml": ("comments", part("w:comments", comment))}
    deleted = (
        '<w:del w:id="7"><w:commentRangeEnd w:id="1"/><w:r><w:commentReference w:id="1"/></w:r>'
        "<w:r><w:delText>8 April</w:delText></w:r></w:del>"
    )
    body = p('<w:commentRangeStart w:id="1"/>', "We meet on ", deleted, "15 April.")
    assert lines(body, parts) == ["We meet on 15 April.", "[Comment by Ada on “We meet on”: Is the hall free?]"]


RUBY = f"<w:r><w:ruby><w:rt>{r('かんじ')}</w:rt><w:rubyBase>{r('漢字')}</w:rubyBase></w:ruby></w:r>"
PARTS = "".join(f"<m:{name}><m:r><m:t>{text}</m:t></m:r></m:{name}>" for name, text in (("num", "a"), ("den", "b")))
FRACTION = f"<m:oMath><m:f>{PARTS}</m:f></m:oMath>"


def test_a_cell_that_nothing_covers_is_read_whatever_it_says_of_the_row_above() -> None:
    gone = tr(tc("gone", START), "x", properties='<w:del w:id="1"/>')
    assert lines(tbl(gone, tr(tc("kept", GOES_ON), "y"))) == ["kept; y"]


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        (["<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t></w:r>"], "a\tb"),
        (["<w:r><w:t>a</w:t><w:noBreakHyphen/><w:t>b</w:t></w:r>"], "a-b"),
        (["<w:r><w:t>har</w:t><w:softHyphen/><w:t>bour</w:t></w:r>"], "harbour"),
        (["<w:r><w:t>a</w:t><w:br/><w:t>b</w:t></w:r>"], "a\nb"),
        (["The ", "<w:r><w:t>\n   long\n   quay\n  </w:t></w:r>"], "The long quay"),
        (['<w:r><w:sym w:font="Wingdings" w:char="F0FC"/></w:r>', " done"], "✓ done"),
        (["5 ", '<w:r><w:sym w:font="Symbol" w:char="F0B3"/></w:r>', " 3"], "5 ≥ 3"),
        ([r("\uf061", '<w:rFonts w:ascii="Symbol"/>'), " decay"], "α decay"),
        ([RUBY], "漢字(かんじ)"),
        ([r("שלום", "<w:rtl/>")], "שלום"),
        (["10", r("6.6", '<w:position w:val="8"/><w:sz w:val="16"/>'), " grains"], "10^6.6 grains"),
        (["Speed ", FRACTION], "Speed a/b"),
        (["<m:oMath><m:r><m:t>a</m:t></m:r><w:del><m:r><m:t>b</m:t></m:r></w:del></m:oMath>"], "a"),
    ],
)  # fmt: skip
def test_signs_within_a_paragraph(runs: list[str], expected: str) -> None:
    assert document(p(*runs)).text.strip() == expected


def test_a_letter_that_begins_a_paragraph_large_belongs_to_its_word() -> None:
    drop = p("T", properties='<w:framePr w:dropCap="drop" w:lines="3"/>')
    assert lines(drop + p("he quay is long.")) == ["The quay is long."]


def based(name: str, on: str, extra: str = "") -> str:
    return f'<w:style w:type="paragraph" w:styleId="{name}"><w:basedOn w:val="{on}"/>{extra}</w:style>'


@pytest.mark.parametrize(
    ("style", "extra", "level"),
    [
        ("berschrift2", "", 2),
        ("Heading3", "", 3),
        ("Titre1", "", 1),
        ("Mine", based("Mine", "berschrift3"), 3),
        ("Flat", based("Flat", "berschrift1", '<w:pPr><w:outlineLvl w:val="9"/></w:pPr>'), 0),
        ("X", '<w:style w:type="paragraph" w:styleId="X"><w:name w:val="Título 2"/></w:style>', 2),
        ("Loop", based("Loop", "Loop"), 0),
        ("Titel", "", 1),
    ],
)  # fmt: skip
def test_headings_are_told_by_what_their_style_says(style: str, extra: str, level: int) -> None:
    found = document(p("Scope", style=style) + p("Text."), styled(extra)).sections
    assert [each.level for each in found] == ([level] if level else [])


def test_a_paragraph_may_be_a_heading_by_itself() -> None:
    found = document(p("Scope", properties='<w:outlineLvl w:val="1"/>') + p("Text."))
    assert [(each.heading, each.level) for each in found.sections] == [("Scope", 2)]


def test_the_title_is_that_of_the_file_or_else_the_paragraph_with_its_style() -> None:
    core = '<x:coreProperties xmlns:x="urn:c" xmlns:d="urn:d"><d:title>On Mills</d:title></x:coreProperties>'
    body = p("Mills of Clare", style="Titel") + p("Text.")
    assert document(body, styled()).title == "Mills of Clare"
    relations = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="a" Type="x/officeDocument" Target="word/document.xml"/>'
        '<Relationship Id="b" Type="x/core-properties" Target="docProps/core.xml"/></Relationships>'
    )
    whole = {"_rels/.rels": relations, "docProps/core.xml": core}
    assert document(body, styled(), whole=whole).title == "On Mills"
    assert document(p("Text.")).title is None


def test_a_file_that_is_a_part_of_the_text_is_read_in_its_place() -> None:
    body = p("Before.") + '<w:altChunk r:id="chunk"/>' + p("After.")
    html = "<html><body><h2>Inserted</h2><p>The rent is 9 francs.</p></body></html>"
    found = document(body, {"chunk.html": ("aFChunk", html)})
    written = [line for line in found.text.split("\n") if line]
    assert written == ["Before.", "Inserted", "The rent is 9 francs.", "After."]
    assert [each.heading for each in found.sections] == ["Inserted"]
    (section,) = found.sections
    assert found.text[section.start :].startswith("Inserted")


@pytest.mark.parametrize("content", ["<html><body><p>Inserted.</p></body></html>", word_file(p("Inserted."))])
def test_such_a_file_is_told_by_its_content(content: str | bytes) -> None:
    assert lines('<w:altChunk r:id="chunk"/>', {"chunk.dat": ("aFChunk", content)}) == ["Inserted."]


def test_embedded_files_are_read_and_others_named() -> None:
    inner = word_file(p("The deposit is 40 crowns."))
    objects = "".join(
        f'<w:r><w:object><o:OLEObject ProgID="{program}" r:id="{id_}"/></w:object></w:r>'
        for program, id_ in (("Word.Document.12", "inner"), ("Equation.3", "ole"))
    )
    parts: dict[str, tuple[str, str | bytes]] = {
        "embeddings/inner.docx": ("package", inner),
        "embeddings/ole.bin": ("oleObject", b"\xd0\xcf\x11\xe0 nothing that is known"),
    }
    found = document(p("Text.", objects), parts)
    assert "Embedded file: inner.docx\n\nThe deposit is 40 crowns." in found.text
    assert found.metadata["unread_parts"] == "Equation.3: an object of another program"


def test_what_is_in_another_file_is_named() -> None:
    external = {"far": ("oleObject", "file:///C:/Budget.xlsx"), "chunk": ("aFChunk", "https://example.org/x.html")}
    body = p('<w:r><w:object><o:OLEObject r:id="far"/></w:object></w:r>', "Text.") + '<w:altChunk r:id="chunk"/>'
    found = document(body, external=external)
    assert found.text == "Text.\n\n"
    assert found.metadata["unread_parts"] == "Budget.xlsx: a linked file; x.html: a linked file"


def test_strict_files_and_those_whose_main_part_has_another_name_are_read() -> None:
    strict = (
        '<?xml version="1.0"?><w:document xmlns:w="http://purl.oclc.org/ooxml/wordprocessingml/main"><w:body>'
        "<w:p><w:r><w:t>Strict.</w:t></w:r></w:p></w:body></w:document>"
    )
    assert lines(strict) == ["Strict."]
    assert lines(p("Elsewhere."), main="word/document2.xml") == ["Elsewhere."]
