"""HTML: the main text of a page, without menus and footers, with its headings, lists, tables and links."""

from __future__ import annotations

import logging
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from asky.errors import SourceUnreadable
from asky.reading.charset import decode
from asky.reading.html.choice import TextCandidate, is_framed_better
from asky.reading.html.head import describe, is_about_one_item, title_of
from asky.reading.html.hidden import apply_visibility
from asky.reading.html.interstitials import refuse_interstitial
from asky.reading.html.links import absolute_url, links_of
from asky.reading.html.outline import lay_open, prune
from asky.reading.html.plain import PlainText, write_tree
from asky.reading.html.powers import with_powers
from asky.reading.html.remarks import part_remarks
from asky.reading.html.render import render
from asky.reading.html.selection import FILE, WEB, select
from asky.reading.html.survey import Survey, survey_page
from asky.reading.html.tables import arrange_tables
from asky.reading.text_builder import TextBuilder
from asky.text.scrub import one_line, scrub_counted, strip_sequences
from asky.values import Document

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_MEDIA_TYPE = "text/html"
_DECLARATION_WITHIN = 1024
_DECLARED = re.compile(
    rb"""<(?:meta|\?xml)[^>]{0,200}?(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE
)
# The extractor reads about 1 MB a second: a manual on one page would use up its time, so it is read plainly.
_EXTRACTED_CHARS = 4 * 1024 * 1024
# The extractor takes the square of the cells of a row: 4 rows of 16,384 took it 6 s, of 1,000 cells each 0.1 s.
_EXTRACTED_CELLS = 2_000
_HEAD_TAGS = frozenset({"title", "meta", "link", "base", "script", "style", "noscript", "template"})
_MANY_HIDDEN = 1_000
_FRAMES = 8  # that are named
_FRAMES_CHARS = 500  # a page of frames that has more text of its own is read
_MUCH_LEFT_OUT = 0.5  # of the words that are kept: what a file loses beyond this is told


def read(data: bytes, name: str, url: str | None = None) -> Document:
    """Return the main text of a page, one block per line; a heading's section starts with its text.

    If the extractor finds nothing, fails, or would see only a part (nesting beyond 255, more than 4 Mi characters), the
    whole page's visible text is used instead; if it found too little, the page without its frame. Elements hidden by
    their attributes are never read, those hidden by the page's own sheets only if the whole page is;
    `metadata["hidden_characters"]` is set if there are many.

    `url` is the address of the page: links are made absolute with it, and an obstacle page (see `interstitials`) is
    refused. Without it, only absolute links are kept. Raises SourceUnreadable: empty if there is no visible text at
    all, and with `url` the verdicts of obstacles.
    """
    html, invisible = decode_html(data)
    html = with_powers(html)
    survey = survey_page(html)
    builder = _read_main(html, survey, is_file=url is None) if len(html) <= _EXTRACTED_CHARS else None
    if url:
        refuse_interstitial(survey, html, builder.text() if builder else survey.text, name)
    builder = builder or survey.builder
    builder.invisible += invisible
    if survey.frames and len(survey.text) < _FRAMES_CHARS:
        shown = ", ".join(one_line(each) for each in survey.frames[:_FRAMES])
        raise SourceUnreadable(f"{name}: a page of frames, its text is in {shown}", verdict="empty")
    if not builder.text().strip():
        raise SourceUnreadable(f"{name}: no visible text in the page", verdict="empty")
    hidden = str(survey.hidden_characters) if survey.hidden_characters >= _MANY_HIDDEN else None
    facts = describe(survey, url)
    document = builder.build(
        _MEDIA_TYPE, title=title_of(survey), metadata={**facts, "canonical_url": None, "hidden_characters": hidden}
    )
    base = absolute_url(survey.base, url) if survey.base else None
    links = links_of(survey.anchors, survey.text, document.text, base=base or url, page=url)
    # not among the others, which are shortened
    whole = {"author": one_line(facts["author"] or "", None), "canonical_url": facts["canonical_url"]}
    kept = {name: value for name, value in whole.items() if value}
    return replace(document, links=links, metadata={**document.metadata, **kept})


def decode_html(data: bytes) -> tuple[str, int]:
    """Return a page as scrubbed text, and the number of invisible characters removed."""
    declared = _DECLARED.search(data[:_DECLARATION_WITHIN])
    source = decode(data, declared[1].decode("ascii") if declared else None)
    if "\x1b" in source:  # a title would keep their remains; without ESC their 8-bit forms are a wrong encoding
        source = strip_sequences(source)
    # Most pages have no other control characters, and scrubbing them takes as long as parsing.
    return scrub_counted(source.replace("\r\n", "\n"))


def _read_main(html: str, survey: Survey, *, is_file: bool) -> TextBuilder | None:
    """Return the better of the two readings of a page; `None` if neither has any text."""
    readings = read_both(html, survey)
    builder = choose(readings, survey, is_file=is_file) if readings is not None else None
    return builder if builder is not None and builder.text().strip() else None


def choose(readings: tuple[TextBuilder, PlainText], survey: Survey, *, is_file: bool) -> TextBuilder:
    """Return the better of two readings: the page without its frame, or the part of it that the extractor found."""
    extracted, plain = readings
    main, framed = (TextCandidate.of(each.text()) for each in (extracted, plain.builder))
    if is_framed_better(main, framed, survey.text, is_single_item=is_about_one_item(survey)):
        return plain.builder
    selected = select(main.text, plain, FILE if is_file else WEB)
    if selected is None:
        return extracted
    if is_file and selected.left_out > _MUCH_LEFT_OUT * selected.words:
        selected.builder.skip("rest of the page", f"{selected.left_out:,} words beside the main text")
    return selected.builder


def read_both(html: str, survey: Survey) -> tuple[TextBuilder, PlainText] | None:
    """Return a page as the extractor sees it, and without its frame; `None` if it has no tree.

    Adds to the hidden characters of `survey`.
    """
    tree = parse_html(html)
    if tree is None:
        return None
    survey.hidden_characters += apply_visibility(tree, html, len(survey.text))
    lay_open(tree, html)
    part_remarks(tree)
    arrange_tables(tree)
    body = _extract(tree)
    main = TextBuilder()
    if body is not None:
        render(body, main)
    return main, write_tree(prune(tree))


def parse_html(text: str) -> HtmlElement | None:
    """Return the tree of a page; `None` if it cannot be parsed, or is nested too deeply to be kept whole."""
    from lxml import etree, html  # 25 ms: only if a page is read

    # From bytes: a string with an XML declaration is rejected.
    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    # One class for every tag: forms and inputs have their own by default, and lxml asks Python for each element.
    parser.set_element_class_lookup(etree.ElementDefaultClassLookup(element=html.HtmlElement))
    try:
        tree = html.document_fromstring(text.encode("utf-8"), parser=parser)
    except (etree.LxmlError, ValueError):
        return None
    # The tree parser drops everything after an element nested too deeply, and reports it only here.
    cut = any(entry.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for entry in parser.error_log)
    return None if cut else _with_body(tree)


def _with_body(tree: HtmlElement) -> HtmlElement:
    """Give a page that names no body one: the parser takes `main` and the like for parts of the head then."""
    from lxml import etree

    head = tree.find("head")
    if head is not None and tree.find("body") is None:
        body = etree.SubElement(tree, "body")
        for element in [each for each in head if each.tag not in _HEAD_TAGS]:
            body.append(element)
    return tree


def _extract(tree: HtmlElement) -> HtmlElement | None:
    if any(len(row) > _EXTRACTED_CELLS for row in tree.iter("tr")):
        return None
    from trafilatura import bare_extraction  # 0.13 s: only if a page is read

    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    try:
        # Source for the defaults (no comments, not `fast`): the highest word F1 of five settings over 300 pages, .739
        # against .736 with comments, .704 fast, .704 recall; pages/CPU-s 23, 22, 34, 37.
        # It works on a copy. As "python" it would write the text too, for 3 to 5 % of the time; the tree is the same.
        page = bare_extraction(tree, include_comments=False, include_formatting=False, output_format="xml")
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - whatever the extractor cannot digest, the plain reading still can
        return None
    return None if page is None else page.body
