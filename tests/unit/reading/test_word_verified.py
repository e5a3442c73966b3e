"""What `asky verify` judges of a Word document: every sentence that is seen, and none that is not."""

from __future__ import annotations

import pytest

from asky.evidence.references.statements import read_statements
from asky.reading.linked import word
from asky.reading.office.word.reader import read
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

SEEN = """
    plain insertion moved joined control inline cell row custom smart simple complex link inner box old group nested
    footnote endnote header footer legal bullet clause frame layout column merged chunk alternate shown
"""
HIDDEN = """
    deleted away hidden styled placeholder instruction comment reply fallback contents glossary unmarked dropped
    unlinked picture
"""
PLACES, UNSEEN = tuple(SEEN.split()), tuple(HIDDEN.split())


def says(place: str) -> str:
    return f"The {place} valve was tested by the northern crew."


def number(place: int) -> str:
    return f'<w:numPr><w:ilvl w:val="{place}"/><w:numId w:val="1"/></w:numPr>'


def note(kind: str, id_: int) -> str:
    return f'<w:r><w:{kind}Reference w:id="{id_}"/></w:r>'


def whole() -> bytes:
    """A document with each kind of place, and a sentence of its own in each."""
    begin, rest = says("plain").split(" valve")
    around = f'<w:commentRangeStart w:id="1"/>{r(begin)}<w:commentRangeEnd w:id="1"/>{r(f" valve{rest}")}'
    first, second = says("joined").split(" was ")
    gone_row = tr(says("dropped"), "x", properties='<w:del w:id="5"/>')
    old = f"<w:txbxContent>{p(says('old'))}</w:txbxContent>"
    grouped = f"<w:txbxContent>{p(says('group'))}</w:txbxContent>"
    body = (
        p(around, '<w:r><w:commentReference w:id="1"/></w:r>', deleted(says("deleted")))
        + p(says("shown").removesuffix(" crew."), ins(" crew."))
        + p(ins(says("insertion")))
        + p(f"<w:moveFrom>{r(says('away'))}</w:moveFrom>")
        + p(f"<w:moveTo>{r(says('moved'))}</w:moveTo>")
        + p(f"{first} ", properties='<w:rPr><w:del w:id="9"/></w:rPr>')
        + p(f"was {second}")
        + sdt(p(says("control")))
        + p("The ", sdt(r("inline")), " valve was tested by the northern crew.")
        + sdt(p(says("placeholder")), "<w:showingPlcHdr/>")
        + f"<w:customXml>{p(says('custom'))}</w:customXml>"
        + p(f"<w:smartTag>{r(says('smart'))}</w:smartTag>")
        + p(f'<w:fldSimple w:instr="REF x">{r(says("simple"))}</w:fldSimple>')
        + p(field(f"QUOTE {says('instruction')}", says("complex")))
        + p("The ", f'<w:hyperlink r:id="web">{r("link")}</w:hyperlink>', " valve was tested by the northern crew.")
        + p(f'<w:hyperlink w:anchor="x">{r(says("inner"))}</w:hyperlink>')
        + p(box(p(says("box"))), f"<w:r><w:pict><v:shape><v:textbox>{old}</v:textbox></v:shape></w:pict></w:r>")
        + p(drawing(f"<wpg:wgp><wps:wsp><wps:txbx>{grouped}</wps:txbx></wps:wsp></wpg:wgp>"))
        + p(f"<w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:t>{says('alternate')}</w:t></mc:Choice>"
            f"<mc:Fallback><w:t>{says('fallback')}</w:t></mc:Fallback></mc:AlternateContent></w:r>")
        + p(r(says("hidden"), "<w:vanish/>")) + p(says("styled"), style="Secret")
        + p("The keeper keeps a book.", note("footnote", 2)) + p("The log is kept too.", note("endnote", 2))
        + p(says("legal"), properties=number(0)) + p(says("clause"), properties=number(1))
        + p(says("bullet"), properties='<w:numPr><w:ilvl w:val="0"/><w:numId w:val="2"/></w:numPr>')
        + tbl(tr(says("frame")))
        + tbl(tr(tc(tbl(tr(says("nested")), tr("More.")) + p(says("layout")))))
        + tbl(tr("Kind", "Finding"), tr("One", sdt(tc(says("cell")))), sdt(tr("Two", says("row"))),
              tr(tc(says("merged"), '<w:gridSpan w:val="2"/>')), tr("Three", says("column")), gone_row)
        + sdt(p(says("contents")), '<w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj>')
        + p(drawing("<pic:pic/>", shown=f'descr="{says("picture")}"'))
        + '<w:altChunk r:id="chunk"/>'
        + '<w:sectPr><w:headerReference w:type="default" r:id="h1"/><w:headerReference w:type="first" r:id="h2"/>'
        '<w:footerReference w:type="default" r:id="f1"/></w:sectPr>'
    )  # fmt: skip
    secret = '<w:style w:type="paragraph" w:styleId="Secret"><w:rPr><w:vanish/></w:rPr></w:style>'
    level = '<w:lvl w:ilvl="{}"><w:start w:val="3"/><w:numFmt w:val="decimal"/><w:lvlText w:val="{}"/></w:lvl>'
    bullet = '<w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="•"/></w:lvl>'
    numbering = (
        f'<w:abstractNum w:abstractNumId="1">{level.format(0, "%1.")}{level.format(1, "%1.%2 (b)")}</w:abstractNum>'
        f'<w:abstractNum w:abstractNumId="2">{bullet}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="2"/></w:num>'
    )
    comments = "".join(
        f'<w:comment w:id="{id_}" w:author="Ada">{p(says(place))}</w:comment>'
        for id_, place in ((1, "comment"), (2, "reply"))
    )
    footnotes = "".join(
        f'<w:footnote w:id="{id_}">{p(says(place))}</w:footnote>' for id_, place in ((2, "footnote"), (3, "unmarked"))
    )
    parts: dict[str, tuple[str, str | bytes]] = {
        "styles.xml": ("styles", part("w:styles", heading_styles() + secret)),
        "numbering.xml": ("numbering", part("w:numbering", numbering)),
        "comments.xml": ("comments", part("w:comments", comments)),
        "footnotes.xml": ("footnotes", part("w:footnotes", footnotes)),
        "endnotes.xml": ("endnotes", part("w:endnotes", f'<w:endnote w:id="2">{p(says("endnote"))}</w:endnote>')),
        "h1.xml": ("header", part("w:hdr", p(says("header")))),
        "h2.xml": ("header", part("w:hdr", p(says("unlinked")))),
        "f1.xml": ("footer", part("w:ftr", p(says("footer")))),
        "chunk.html": ("aFChunk", f"<p>{says('chunk')}</p>"),
        "glossary/document.xml": ("glossaryDocument", part("w:glossaryDocument", p(says("glossary")))),
    }
    return word_file(body, parts, external={"web": ("hyperlink", "https://example.org/log")})


def judged() -> list[str]:
    return [each.text for each in read_statements(word.read(whole(), "a.docx").text).statements]


def test_each_sentence_that_is_seen_is_judged_once_and_none_that_is_not() -> None:
    found = judged()
    counts = {place: sum(says(place) in each for each in found) for place in (*PLACES, *UNSEEN)}
    assert counts == dict.fromkeys(PLACES, 1) | dict.fromkeys(UNSEEN, 0)


def test_nothing_but_these_sentences_is_judged() -> None:
    left = [each for each in judged() if "valve was tested" not in each]
    assert left == ["The keeper keeps a book.", "The log is kept too.", "More."]
    for each in judged():
        assert each.count("valve was tested") <= 1
        assert not each.startswith(("3", "- ", "(b)"))


def test_the_stored_text_has_each_sentence_once_too() -> None:
    text = read(whole(), "a.docx").text
    hidden = [place for place in UNSEEN if place not in ("comment", "picture")]
    assert {place: text.count(says(place)) for place in (*PLACES, *hidden)} == (
        dict.fromkeys(PLACES, 1) | dict.fromkeys(hidden, 0)
    )
    assert f"[Comment by Ada on “The plain”: {says('comment')}]" in text
    assert f"[Picture: {says('picture')}]" in text


@pytest.mark.parametrize(
    ("content", "is_source"),
    [
        ("moon.pdf", True),
        ("Moon, 1843", True),
        ("Smith, J. (2020). The moon and its tides. Journal of Seas 3, 12.", True),
        ("See the survey of the harbour board.", True),
        ("https://example.org/log", True),
        ("The harbour", True),
        ("The left gate weighs 38 tonnes.", False),
        ("It was installed in 2019 by the harbour board.", False),
    ],
)
def test_a_note_is_a_source_or_says_something(content: str, *, is_source: bool) -> None:
    notes = part("w:footnotes", f'<w:footnote w:id="2">{p(content)}</w:footnote>')
    data = word_file(p("The gates were measured.", note("footnote", 2)), {"footnotes.xml": ("footnotes", notes)})
    text = word.read(data, "a.docx").text
    assert text == (
        f"The gates were measured.[^footnote2]\n\n[^footnote2]: {content}\n"
        if is_source
        else f"The gates were measured.\n\n{content}\n"
    )


START = '<w:vMerge w:val="restart"/>'
RANGES, NO_HEAD = "| Sea | Range |\n|---|---|", "|  |  |\n|---|---|"


@pytest.mark.parametrize(
    ("body", "markdown"),
    [
        (p("Scope", style="berschrift2"), "## Scope"),
        (p("See ", field('HYPERLINK "https://example.org/a b"', "the log"), "."), "See [the log](<https://example.org/a%20b>)."),
        (p("It rises", r("3", '<w:vertAlign w:val="superscript"/>'), "."), "It rises<sup>3</sup>."),
        (p("10", r("6", '<w:vertAlign w:val="superscript"/>'), " grains"), "10^6 grains"),
        (p("the 2", r("nd", '<w:vertAlign w:val="superscript"/>'), " gate"), "the 2nd gate"),
        (tbl(tr("Sea", "Range"), tr("North | Sea", tc(p("3 m") + p("or 4")))), f"{RANGES}\n| North / Sea | 3 m or 4 |"),
        (tbl(tr("Sea", "Range"), tr(tc("North", START), "3 m"), tr(tc("<w:p/>", "<w:vMerge/>"), "4 m")),
         f"{RANGES}\n| North | 3 m |\n| North | 4 m |"),
        (tbl(tr("Rent", "5 euros"), tr("Deposit", "9 euros")), f"{NO_HEAD}\n| Rent | 5 euros |\n| Deposit | 9 euros |"),
    ],
)  # fmt: skip
def test_a_document_becomes_markdown(body: str, markdown: str) -> None:
    data = word_file(body, {"styles.xml": ("styles", part("w:styles", heading_styles()))})
    assert word.read(data, "a.docx").text == f"{markdown}\n"


def test_two_rows_of_names_are_one_and_a_form_has_none() -> None:
    wide = '<w:gridSpan w:val="2"/>'
    head = tr(tc(p("Day"), '<w:vMerge w:val="restart"/>'), tc(p("North"), wide), tc(p("South"), wide))
    below = tr(tc(p(""), "<w:vMerge/>"), "Leaves", "Arrives", "Leaves", "Arrives")
    table = tbl(
        head, below, tr("Monday", "08:10", "09:05", "10:20", "11:15"), tr("Sunday", "9:40", "10:35", "12", "13")
    )
    lines = word.read(word_file(table), "a.docx").text.splitlines()
    assert lines[0] == "| Day | North, Leaves | North, Arrives | South, Leaves | South, Arrives |"
    form = tbl(tr("Surname", "Oar", "Name", "Ben"), tr("Phone", "01234 567", "Length", "9 m"))
    assert word.read(word_file(form), "a.docx").text.splitlines()[0] == "|  |  |  |  |"
