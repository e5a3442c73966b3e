"""What is read of the chapters of a book: all that a reader sees of them, in its order, under its name."""

from __future__ import annotations

import struct
import time

import pytest

from asky.reading.books.epub import read
from asky.values import Document
from tests.support.files import archive, check_document, epub

HTML = (
    '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><head><title>t</title>'
    "{head}</head><body>{body}</body></html>"
)
MATH = 'xmlns="http://www.w3.org/1998/Math/MathML"'
SVG = 'xmlns="http://www.w3.org/2000/svg"'
CONTAINER = (
    '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)


def book(body: str, *, head: str = "", css: str = "") -> Document:
    """The book whose one chapter has this body."""
    others: dict[str, bytes | str] = {"c0.xhtml": HTML.format(head=head, body=body), "s.css": css}
    document = read(epub([("One", "")], others=others), "a.epub")
    check_document(document)
    return document


def text(body: str, *, head: str = "", css: str = "") -> str:
    return book(body, head=head, css=css).text.removeprefix("A Book\nby A. Writer\n\n")


def package(items: str, spine: str, version: str = "3.0") -> str:
    return (
        f'<package xmlns="http://www.idpf.org/2007/opf" version="{version}"><metadata '
        'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The Lamp</dc:title></metadata>'
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>"
    )


def test_tables_are_rows_and_lists_keep_their_numbers() -> None:
    body = """<table><caption>Fares</caption><thead><tr><th rowspan="2">Route</th><th colspan="2">Westbound</th></tr>
        <tr><th>Adult</th><th>Child</th></tr></thead><tbody><tr><td>Skerry</td><td><p>12.40</p></td><td>6.20</td></tr>
        <tr><td>Holm</td><td>8.10</td><td>4.00</td></tr></tbody></table>
        <ol start="3" type="I"><li>Third<ol style="list-style-type: lower-alpha"><li>in a</li><li>in b<ul><li>dot</li>
        </ul></li></ol></li><li>Fourth</li></ol>"""
    assert text(body) == (
        "Fares\nRoute | Westbound, Adult | Westbound, Child\n--- | --- | ---\nSkerry | 12.40 | 6.20\n"
        "Holm | 8.10 | 4.00\n\nIII. Third\n  a. in a\n  b. in b\n    - dot\nIV. Fourth"
    )


def test_a_footnote_stays_in_its_place_under_its_name_and_its_mark_is_left_out() -> None:
    body = """<p>The wall<a epub:type="noteref" href="#f1">1</a> is old, the quay<a epub:type="noteref" href="#f2">2</a>
        new.</p><p>More.</p><aside epub:type="footnote" id="f1" hidden="hidden"><p>1. Built in 1800.</p></aside>
        <aside epub:type="footnote" id="f2"><p><a href="#x">2</a> Built in 1990.</p></aside><p>End.</p>"""
    assert text(body) == (
        "The wall is old, the quay new.\n\nMore.\n\nFootnote 1: Built in 1800.\n\nFootnote 2: Built in 1990.\n\nEnd."
    )


@pytest.mark.parametrize(
    ("mark", "note"),
    [
        ('<a href="#fn1" class="footnote-ref" id="ref1">1</a>', '<a href="#ref1" class="footnote-back">↩︎</a>'),
        ('<a href="#fn1" id="ref1"><sup>1</sup></a>', '<a href="#ref1">↩</a>'),
        ('<sup id="ref1"><a href="#fn1">[1]</a></sup>', '<a href="#ref1">^</a>'),
        ('<a href="#fn1" id="ref1" epub:type="noteref">1</a>', '<a href="#ref1" role="doc-backlink">↩︎</a>'),
    ],
)
def test_notes_of_other_programs_are_those_that_lead_back(mark: str, note: str) -> None:
    body = f'<p>It is so.{mark} And on.</p><div><hr/><ol><li id="fn1"><p>By hand.{note}</p></li></ol></div>'
    assert text(body) == "It is so. And on.\n\nFootnote 1: By hand."


def test_endnotes_stay_at_the_end_and_words_and_numbers_of_chapters_are_no_marks() -> None:
    body = """<p>A<a epub:type="noteref" href="#n1">*</a>, see <a href="#c">3</a> and <a epub:type="noteref"
        href="#f">this</a>.</p><p id="c">Then.</p><aside epub:type="footnote" id="f">That.</aside>
        <section epub:type="endnotes"><h2>Notes</h2><p id="n1" epub:type="endnote"><a href="#p">Line 3.</a> Of 1911.</p>
        </section>"""
    assert text(body) == "A, see 3 and this.\n\nThen.\n\nFootnote: That.\n\nNotes\n\nLine 3. Of 1911."


def test_formulas_and_drawings_are_read_as_words() -> None:
    body = f"""<p>Area <math {MATH}><mfrac><mi>a</mi><mi>b</mi></mfrac></math> and:</p>
        <math {MATH} display="block"><msup><mi>x</mi><mn>2</mn></msup></math>
        <svg {SVG}><title>The harbour</title><text x="1" y="2">North pier</text><text><tspan x="1" y="3">South</tspan>
        <tspan x="1" y="4">pier</tspan></text><g display="none"><text>secret</text></g></svg>
        <p>End <svg {SVG}><title>A lamp</title><path d="M0 0"/></svg></p>"""
    assert text(body) == "Area a/b and:\n\nx^2\n\nNorth pier\n\nSouth pier\n\nEnd [Picture: A lamp]"


def test_pictures_are_their_alternative_text_once() -> None:
    body = """<h2><img src="h.png" alt="CHAPTER I"/></h2><p><img src="t.png" alt="T"/>he lamp.</p>
        <figure><img src="p.png" alt="A pump"/><figcaption>Figure 1</figcaption></figure>
        <figure><img src="p.png" alt="The crane"/><figcaption>The crane</figcaption></figure>
        <p><img src="c.png" alt="cover"/><img src="x.png" alt="img_003.png"/><img src="d.png" alt=""/></p>"""
    assert text(body) == "CHAPTER I\n\nThe lamp.\n\n[Picture: A pump]\nFigure 1\n\nThe crane"


def test_readings_follow_their_characters_in_brackets() -> None:
    body = "<p><ruby>漢<rt>かん</rt>字<rt>じ</rt></ruby>を<ruby>東京<rp>(</rp><rt>とうきょう</rt><rp>)</rp></ruby></p>"
    assert text(body) == "漢字(かんじ)を東京(とうきょう)"


def test_what_sheets_hide_raise_or_put_on_a_line_is_read_so() -> None:
    css = ".gone{display:none} .up{vertical-align:super} span.lo{vertical-align:sub} @media x{.ln{display:block}}"
    body = """<p>10<span class="up">6</span> l of CO<span class="lo">2</span>, 5 m<span
        style="vertical-align: super">2</span></p><p class="gone">Hidden.</p>
        <p><span class="ln">First line</span><span class="ln">second line</span></p>"""
    head = '<link rel="stylesheet" href="s.css"/>'
    assert text(body, head=head, css=css) == "10^6 l of CO2, 5 m^2\n\nFirst line\nsecond line"


def test_contents_printed_page_numbers_and_films_are_left_out_and_films_named() -> None:
    body = """<nav epub:type="toc"><h2>Contents</h2><ol><li><a href="c0.xhtml">One</a></li></ol></nav>
        <nav><p>See the map.</p></nav><p>One<span epub:type="pagebreak" id="p2">2</span> two</p>
        <video src="v.mp4"><p>No video.</p></video><p><button>Show</button></p>"""
    document = book(body)
    assert document.text.endswith("See the map.\n\nOne two\n\nShow")
    assert document.metadata["unread_parts"] == "v.mp4: a film"


def test_what_looks_like_the_frame_of_a_web_page_is_content() -> None:
    body = '<header><p>Head.</p></header><div class="comments sidebar"><p>Said.</p></div><footer><p>Foot.</p></footer>'
    assert text(body) == "Head.\n\nSaid.\n\nFoot."


def test_places_of_the_contents_and_other_headings_are_sections() -> None:
    ncx = """<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://www.daisy.org/z3986/2005/ncx-2005-1.dtd">
        <ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap><navPoint><navLabel><text>Part One</text></navLabel>
        <content src="Text/a%201.html"/><navPoint><navLabel><text>First</text></navLabel>
        <content src="Text/a%201.html#c1"/></navPoint><navPoint><navLabel><text>Second</text></navLabel>
        <content src="Text/a%201.html#c2"/></navPoint></navPoint></navMap></ncx>"""
    chapter = """<html xmlns="http://www.w3.org/1999/xhtml"><head/><body><p>Motto.</p><h1>Part One</h1>
        <p><a id="c1"/></p><h2>First</h2><p>one</p><h3>Detail</h3><p>two</p><p id="c2">three</p></body></html>"""
    items = (
        '<item id="n" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
        '<item id="a" href="Text/a%201.html" media-type="application/xhtml+xml"/>'
    )
    files = {"OEBPS/book.opf": package(items, '<itemref idref="a"/>', "2.0"), "OEBPS/toc.ncx": ncx}
    data = archive({"META-INF/container.xml": CONTAINER, **files, "OEBPS/Text/a 1.html": chapter})
    document = read(data, "a.epub")
    check_document(document)
    found = [(s.level, s.heading, document.text[s.start :].split("\n", 1)[0]) for s in document.sections[1:]]
    assert found == [
        (1, "Part One", "Motto."),
        (2, "First", "First"),
        (3, "Detail", "Detail"),
        (2, "Second", "three"),
    ]


def test_the_order_is_that_of_the_spine_and_what_cannot_be_read_is_named() -> None:
    items = "".join(
        f'<item id="{name}" href="{name}.{kind}" media-type="{media}" {more}/>'
        for name, kind, media, more in (
            ("a", "xhtml", "application/xhtml+xml", ""),
            ("b", "xhtml", "application/xhtml+xml", ""),
            ("gone", "xhtml", "application/xhtml+xml", ""),
            ("data", "json", "application/json", 'fallback="b"'),
            ("bare", "json", "application/json", ""),
            ("map", "svg", "image/svg+xml", ""),
        )
    )
    spine = "".join(f'<itemref idref="{name}"/>' for name in ("data", "a", "gone", "bare", "map"))
    files = {
        "OEBPS/a.xhtml": HTML.format(head="", body="<p>Last.</p>"),
        "OEBPS/b.xhtml": HTML.format(head="", body="<p>First.</p>"),
        "OEBPS/map.svg": f"<svg {SVG}><text>North</text></svg>",
    }
    document = read(
        archive({"META-INF/container.xml": CONTAINER, "OEBPS/book.opf": package(items, spine), **files}), "a"
    )
    assert document.text == "The Lamp\n\nFirst.\n\nLast.\n\nNorth"
    assert document.metadata["unread_parts"] == (
        "OEBPS/gone.xhtml: missing in the book; OEBPS/bare.json: a part of the book without text"
    )


def test_a_damaged_chapter_is_read_as_far_as_it_goes_and_named() -> None:
    data = bytearray(epub([("One", "<p>kept one</p>"), ("Two", "<p>kept two</p>")]))
    at = data.index(b"c0.xhtml") - 30
    for start in (at, data.index(b"PK\x01\x02", data.rindex(b"c0.xhtml") - 60)):
        place = start + (14 if start == at else 16)
        struct.pack_into("<I", data, place, 1)
    document = read(bytes(data), "a.epub")
    assert "kept one" in document.text
    assert "kept two" in document.text
    assert document.metadata["unread_parts"] == "c0.xhtml: damaged, read as far as it goes"


@pytest.mark.parametrize("encoding", ["iso-8859-1", "utf-16"])
def test_a_chapter_is_decoded_as_it_declares(encoding: str) -> None:
    source = f'<?xml version="1.0" encoding="{encoding}"?>' + HTML.format(head="", body="<p>Nøkkelen på øya</p>")
    data = epub([("One", "")], others={"c0.xhtml": source.encode(encoding)})
    assert read(data, "a.epub").text.endswith("Nøkkelen på øya")


def test_what_is_not_valid_is_read_as_a_page_and_own_entities_stay() -> None:
    assert text("<p>Broken <b>markup & no end<p>More") == "Broken markup & no end\n\nMore"
    assert text("<p>caf&eacute;&nbsp;&mdash; &own;</p>") == "café — &own;"
    assert text("<p>One<br>two</p>") == "One\ntwo"


def test_right_to_left_text_keeps_its_order() -> None:
    note = '<aside epub:type="footnote" id="f">נמדד.</aside>'
    body = f'<p dir="rtl">עומק הנמל הוא 8.5 מטרים<a epub:type="noteref" href="#f">1</a>.</p>{note}'
    assert text(body) == "עומק הנמל הוא 8.5 מטרים.\n\nFootnote 1: נמדד."


@pytest.mark.parametrize(
    "body",
    [
        "<div>" * 3000 + "deep" + "</div>" * 3000,
        "<p>" + '<a epub:type="noteref" href="#f">1</a>' * 20_000 + '</p><div id="f">deep</div>',
        "<div>deep" + "".join(f'<a href="#x" id="r{n}"><sup>1</sup></a>' for n in range(20_000)) + '<b id="x"/></div>',
        "<figure>" + '<img alt="deep"/>' * 10_000 + "</figure>",
        "<h2>" + '<img alt="deep"/>' * 10_000 + "</h2>",
        "<ruby>" * 200 + "deep" + "</ruby>" * 200,
    ],
    ids=["nested", "marks", "raised", "figure", "heading", "ruby"],
)
def test_hostile_chapters_are_read_in_time(body: str) -> None:
    started = time.process_time()
    assert "deep" in text(body)
    assert time.process_time() - started < 6


def test_entities_of_a_chapter_that_multiply_are_not_expanded() -> None:
    laughs = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    source = f'<!DOCTYPE html [<!ENTITY e0 "ha"><!ENTITY f SYSTEM "file:///etc/hostname">{laughs}]>' + HTML.format(
        head="", body="<p>kept &e9; &f;</p>"
    )
    assert read(epub([("One", "")], others={"c0.xhtml": source}), "a.epub").text.endswith("kept &e9; &f;")
