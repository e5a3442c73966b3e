"""Word documents that are damaged, hostile or only odd: a text or a reason, and never much time."""

from __future__ import annotations

import contextlib
import time

import pytest

from asky.errors import SourceUnreadable
from asky.reading.linked import word as linked
from asky.reading.office.word.reader import read
from tests.support.word_files import DECLARED, box, drawing, field, p, part, r, sdt, tbl, tc, tr, word_file

DEEP = 3_000
CPU_S = 6.0
"""Far more than any of these needs, and less than a third of what a reader has."""


def nested(count: int, begin: str, end: str) -> str:
    return begin * count + p("Innermost.") + end * count


@pytest.mark.parametrize("count", [20, 60, DEEP])
@pytest.mark.parametrize(
    ("begin", "end"),
    [
        ("<w:tbl><w:tr><w:tc>", "<w:p/></w:tc></w:tr></w:tbl>"),
        ("<w:sdt><w:sdtContent>", "</w:sdtContent></w:sdt>"),
        ("<w:p><w:r><w:pict><v:textbox><w:txbxContent>", "</w:txbxContent></v:textbox></w:pict></w:r></w:p>"),
        ("<mc:AlternateContent><mc:Choice>", "</mc:Choice></mc:AlternateContent>"),
        ("<w:customXml>", "</w:customXml>"),
    ],
)
def test_deep_nesting_is_read_or_refused(begin: str, end: str, count: int) -> None:
    data = word_file(nested(count, begin, end))
    if count == 20:
        assert read(data, "a.docx").text == "Innermost.\n\n"
        return
    for reader in (read, linked.read):
        with contextlib.suppress(SourceUnreadable):
            assert "Innermost." in reader(data, "a.docx").text


@pytest.mark.parametrize(
    "body",
    [
        tbl(tr(tc("a", '<w:gridSpan w:val="2000000000"/>'), "b"), tr("c", "d")),
        tbl(tr(tc("a", '<w:gridSpan w:val="-7"/>'), tc("b", '<w:gridSpan w:val="x"/>')), tr("c", "d")),
        tbl(tr("a", "b", properties='<w:gridBefore w:val="2000000000"/>'), tr("c", "d")),
        tbl(*(tr(tc("a", f'<w:gridSpan w:val="{n}"/>'), "b") for n in range(1, 3_000))),
        tbl(*(tr(tc("a", '<w:vMerge w:val="restart"/>'), *["b"] * 60) for _ in range(300))),
        p(*(field("IF x", "a") for _ in range(5_000))),
        p(*['<w:r><w:fldChar w:fldCharType="begin"/></w:r>'] * 20_000, "Text."),
        "".join(f'<w:commentRangeStart w:id="{n}"/>' for n in range(3_000)) + p(*["ab "] * 20_000),
        p("x", properties='<w:outlineLvl w:val="999999999999999999999"/>'),
        p("x", properties='<w:numPr><w:ilvl w:val="99999"/><w:numId w:val="1"/></w:numPr>'),
        p("<w:r>" + "<w:tab/>" * 50_000 + "</w:r>", "end"),
        p('<w:r><w:sym w:font="Symbol" w:char="FFFFFFFFFF"/><w:sym w:char="D800"/></w:r>', "x"),
        p(*(box(p("a")) for _ in range(2_000))),
    ],
    ids=[
        "wide", "odd spans", "before", "many edges", "merged", "fields", "begins", "ranges", "level", "item", "tabs",
        "signs", "boxes",
    ],
)  # fmt: skip
def test_large_and_odd_numbers_cost_little(body: str) -> None:
    before = time.process_time()
    for reader in (read, linked.read):
        assert len(reader(word_file(body), "a.docx").text) < 3_000_000
    assert time.process_time() - before < CPU_S


@pytest.mark.parametrize("start", ["2000000000", "-5", "x"])
@pytest.mark.parametrize("form", ["upperRoman", "lowerLetter", "cardinalText", "0,0"])
def test_a_list_may_start_anywhere(start: str, form: str) -> None:
    level = (
        f'<w:lvl w:ilvl="0"><w:start w:val="{start}"/><w:numFmt w:val="{form}"/><w:lvlText w:val="%1%1%1."/></w:lvl>'
    )
    numbering = (
        f'<w:abstractNum w:abstractNumId="1">{level}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>'
    )
    item = p("x", properties='<w:numPr><w:numId w:val="1"/></w:numPr>')
    text = read(word_file(item, {"numbering.xml": ("numbering", part("w:numbering", numbering))}), "a.docx").text
    assert text.strip().endswith("x")
    assert len(text) < 300


def test_a_note_that_marks_itself_is_read_once() -> None:
    mark = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    notes = part("w:footnotes", f'<w:footnote w:id="2">{p("Round.", mark)}</w:footnote>')
    text = read(word_file(p("Text.", mark, mark), {"footnotes.xml": ("footnotes", notes)}), "a.docx").text
    assert text == "Text.\n\nFootnote 1: Round.\n\n"


def test_comments_that_reply_to_each_other_are_read_once() -> None:
    comments = "".join(
        f'<w:comment w:id="{n}"><w:p w14:paraId="A{n}">{r(f"Said {n}.")}</w:p></w:comment>' for n in (1, 2)
    )
    extended = "".join(f'<w15:commentEx w15:paraId="A{n}" w15:paraIdParent="A{3 - n}"/>' for n in (1, 2))
    marks = "".join(f'<w:r><w:commentReference w:id="{n}"/></w:r>' for n in (1, 2, 9))
    parts: dict[str, tuple[str, str | bytes]] = {
        "comments.xml": ("comments", part("w:comments", comments)),
        "commentsExtended.xml": ("commentsExtended", part("w15:commentsEx", extended)),
    }
    text = read(word_file(p("Text.", marks), parts), "a.docx").text
    assert (text.count("Said 1."), text.count("Said 2.")) == (1, 1)


def test_parts_that_are_missing_or_elsewhere_do_no_harm() -> None:
    references = (
        '<w:sectPr><w:headerReference r:id="none"/><w:headerReference w:type="default" r:id="far"/>'
        '<w:footerReference w:type="default" r:id="gone"/></w:sectPr>'
    )
    body = (
        p("Text.", '<w:r><w:footnoteReference w:id="7"/></w:r>', '<w:r><w:commentReference w:id="7"/></w:r>')
        + p("Item.", style="Nowhere", properties='<w:numPr><w:numId w:val="3"/></w:numPr>')
        + p('<w:hyperlink r:id="none"><w:r><w:t>Link.</w:t></w:r></w:hyperlink>')
        + references
    )
    whole = {
        "word/_rels/document.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="far" Type="x/header" Target="https://example.org/h.xml" TargetMode="External"/>'
        '<Relationship Id="gone" Type="x/footer" Target="nothing.xml"/></Relationships>'
    }  # fmt: skip
    assert read(word_file(body, whole=whole), "a.docx").text == "Text.\n\n- Item.\n\nLink.\n\n"


def test_a_damaged_part_is_named_and_the_others_are_read() -> None:
    body = p("Text.", '<w:r><w:footnoteReference w:id="2"/></w:r>', drawing('<c:chart r:id="chart1"/>'))
    parts: dict[str, tuple[str, str | bytes]] = {
        "footnotes.xml": ("footnotes", "<w:footnotes"),
        "styles.xml": ("styles", "no XML"),
        "charts/chart1.xml": ("chart", "<c:chartSpace>"),
    }
    found = read(word_file(body, parts), "a.docx")
    assert found.text == "Text.\n\n"
    assert found.metadata["unread_parts"] == "styles.xml: damaged; footnotes.xml: damaged; chart1.xml: damaged"


@pytest.mark.parametrize("target", ["/word/header9.xml", "HEADER9.XML", "../word/./header9.xml"])
def test_parts_are_found_however_they_are_named(target: str) -> None:
    relations = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="h" Type="x/header" Target="{target}"/></Relationships>'
    )
    whole = {"word/_rels/document.xml.rels": relations, "word/header9.xml": part("w:hdr", p("QM-2291"))}
    body = p("Text.") + '<w:sectPr><w:headerReference w:type="default" r:id="h"/></w:sectPr>'
    assert read(word_file(body, whole=whole), "a.docx").text == "QM-2291\n\nText.\n\n"


def test_a_package_without_relations_is_read() -> None:
    assert read(word_file(p("Text."), whole={"_rels/.rels": "<x/>"}), "a.docx").text == "Text.\n\n"


def test_entities_are_not_expanded_and_other_files_not_opened() -> None:
    body = (
        '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">'
        f'<!ENTITY c SYSTEM "file:///etc/passwd">]><w:document {DECLARED}><w:body>'
        "<w:p><w:r><w:t>Text &b;&c;.</w:t></w:r></w:p></w:body></w:document>"
    )
    with contextlib.suppress(SourceUnreadable):
        text = read(word_file(body), "a.docx").text
        assert "aaaa" not in text
        assert "root" not in text


@pytest.mark.parametrize(
    ("data", "verdict"),
    [
        (word_file('<?xml version="1.0"?><p:presentation xmlns:p="urn:p"/>'), "unsupported"),
        (word_file('<?xml version="1.0"?><w:document>'), "failed"),
        (b"PK\x03\x04 no archive", "failed"),
    ],
)
def test_another_content_is_refused(data: bytes, verdict: str) -> None:
    for reader in (read, linked.read):
        with pytest.raises(SourceUnreadable) as raised:
            reader(data, "a.docx")
        assert raised.value.verdict == verdict


def test_a_document_without_text_is_empty() -> None:
    assert read(word_file(sdt("<w:p/>")), "a.docx").text == ""
    with pytest.raises(SourceUnreadable) as raised:
        linked.read(word_file("<w:p/>"), "a.docx")
    assert raised.value.verdict == "empty"
