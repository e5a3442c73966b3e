"""A report as a PDF: the contents of the page on sheets of A4, with links, bookmarks and page numbers.

Everything is set in fonts that MuPDF has built in, which cover nearly all scripts; other scripts than Latin, Greek and
Cyrillic have no bold or italic letters. Nothing is loaded and nothing can run: there are no images, files or scripts.
"""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from asky.errors import UsageError
from asky.report.gathering import ReportedAnswer
from asky.report.markup import Html, tag
from asky.report.page import report_content
from asky.text.scrub import one_line
from asky.text.urls import parse_address
from asky.version import __version__

if TYPE_CHECKING:
    import pymupdf

_MARGIN, _TOP, _BOTTOM = 56, 58, 62  # points
_MAX_PAGES = 5_000
_NUDGES = (0, 0.37, 1.73)
_MIN_TEXT = 160  # points of a page that has to be filled before a heading may go to the next
_BELOW_HEADING = 42  # points for two lines, which a heading needs below it
_OUTLINE_LEVELS = 2

# A cell that is higher than a page would never be placed, and what is wider than the page is cut off.
_MAX_COLUMNS = 10
_MAX_CELL_CHARS = 600
_MAX_ROW_WORDS_CHARS = 110  # the longest words of the cells of a row together, at the least width of its columns

_TABLE = re.compile(r"<table>(.*?)</table>", re.DOTALL)
_ROW = re.compile(r"<tr>(.*?)</tr>", re.DOTALL)
_CELL = re.compile(r"<t[hd](?: [^>]*)?>(.*?)</t[hd]>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_EXACT = "<summary>Exact location</summary>"  # what follows needs no heading of its own on paper
_LIST = re.compile(r"(</h[23]>)<dl>(.*?)</dl>", re.DOTALL)
_HEADING = re.compile(r"<(h[1-6]|summary)(?: [^>]*)?>(.*?)</\1>", re.DOTALL)
_DRAWING = re.compile(r"<svg .*?</svg>", re.DOTALL)
_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)")
# What a URI may contain in a PDF: a parenthesis or a backslash would end the string that it stands in.
_URI = "!#$%&'*+,/:;=?@[]~-._"

_MUPDF = threading.Lock()  # MuPDF has one context in a process


class _Overfull(Exception):
    """Something is higher than a page."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an element begins, or a part of a link stands: `page` counts from 0."""

    page: int
    rect: tuple[float, float, float, float]
    opens: bool
    id: str | None
    href: str | None
    heading: int
    text: str | None


def render_pdf(
    answers: Sequence[ReportedAnswer], *, title: str | None = None, tool: str = f"asky {__version__}"
) -> bytes:
    """Return one or more `answers`, in order, as a PDF; `title` and `tool` are those of `render_report`.

    The same arguments give the same bytes with the same version of PyMuPDF. Raises `UsageError` for more than 5,000
    pages. A text in Arabic or Indic letters is shown as it should be, but a search may not find its words.
    """
    import pymupdf  # 0.1 s: only for this format

    folded = "h2" if len(answers) == 1 and title is None else "h3"  # of several answers, questions are the bookmarks
    title, content = report_content(answers, title)
    with _MUPDF:
        pymupdf.TOOLS.mupdf_display_errors(False)
        pymupdf.TOOLS.mupdf_display_warnings(False)
        document, places = _laid_out(content, title, tool, folded)
        with document:
            _finish_pages(document, places)
            _outline(document, places, content)
            document.set_metadata(_facts(title, tool, answers))
            document.subset_fonts()
            return bytes(document.tobytes(garbage=4, deflate=True, no_new_id=True))


def _laid_out(content: Html, title: str, tool: str, folded: str) -> tuple[pymupdf.Document, list[_Place]]:
    try:
        return _lay_out(_body(content, title, tool, folded), title)
    except _Overfull:
        try:
            return _lay_out(_body(content, title, tool, folded, tables=False), title)
        except _Overfull:
            raise UsageError("a part of the report is higher than a page", hint="--format html has no pages") from None


def _body(content: Html, title: str, tool: str, folded: str, *, tables: bool = True) -> str:
    """Return the contents as HTML for MuPDF, which has no folded parts and draws nothing within text.

    `folded` is the element that titles of folded parts become.
    """
    html = _DRAWING.sub("", content).replace(_EXACT, "")
    html = html.replace("<summary>", f'<{folded} class="folded">').replace("</summary>", f"</{folded}>")
    html = _LIST.sub(lambda found: f"{found[1]}{_as_table(found[2])}", html)
    html = _TABLE.sub(lambda found: found[0] if tables and _fits(found[1]) else _as_rows(found[0]), html)
    made = tag("p", f"Made by {tool}. ", tag("code", "asky why N --run ID"), " opens passage [N].", class_="made")
    return f"<html><head>{tag('title', title)}</head><body>{html}{made}</body></html>"


def _fits(table: str) -> bool:
    """Return whether a table can be set as one: narrow enough, and each cell much lower than a page."""
    for row in _ROW.findall(table):
        texts = [_TAG.sub("", cell) for cell in _CELL.findall(row)]
        words = sum(max(map(len, text.split()), default=0) for text in texts)
        is_wide = len(texts) > _MAX_COLUMNS or words > _MAX_ROW_WORDS_CHARS
        if is_wide or any(len(text) > _MAX_CELL_CHARS for text in texts):
            return False
    return True


def _as_table(definitions: str) -> str:
    """Return the items of a list of definitions as a table."""
    for written, meant in (("<dt>", "<tr><td>"), ("</dt><dd>", "</td><td>"), ("</dd>", "</td></tr>")):
        definitions = definitions.replace(written, meant)
    return f"<table>{definitions}</table>"


def _as_rows(table: str) -> str:
    """Return a table that is set as a paragraph for each row."""
    return table.replace("<table>", '<table class="rows">', 1)


def _lay_out(html: str, title: str) -> tuple[pymupdf.Document, list[_Place]]:
    """Return the pages without links, and what stands where.

    Raises `_Overfull` for what is higher than a page, and `UsageError` for too many pages.
    """
    import pymupdf

    sheet = pymupdf.paper_rect("a4")
    area = pymupdf.Rect(_MARGIN, _TOP, sheet.width - _MARGIN, sheet.height - _BOTTOM)
    style = Path(__file__).with_name("pdf.css").read_text(encoding="utf-8")
    story = pymupdf.Story(html, user_css=style)
    out = io.BytesIO()
    writer = pymupdf.DocumentWriter(out)
    places: list[_Place] = []
    more, page = True, 0
    while more:
        if page == _MAX_PAGES:
            raise UsageError(f"the report has more than {_MAX_PAGES:,} pages", hint="--format html has no pages")
        more = _place(story, area)
        found = _places(story, page)
        if more and (top := _stranded(found, area)) is not None:
            more = _place(story, pymupdf.Rect(area.x0, area.y0, area.x1, top - 1))
            found = _places(story, page)
        places += found
        device = writer.begin_page(sheet)
        story.draw(device)
        if page:
            _running_title(title, style, area, device)
        writer.end_page()
        page += 1
    writer.close()
    return pymupdf.open("pdf", out.getvalue()), places


def _place(story: pymupdf.Story, area: pymupdf.Rect) -> bool:
    """Set the next page, again if it has not been drawn; return whether there is more. Raises `_Overfull`.

    MuPDF 1.28 breaks no page whose end is exactly where an element begins; an end a little higher helps.
    """
    import pymupdf

    for less in _NUDGES:
        bottom = area.y1 - less
        more, filled = story.place(pymupdf.Rect(area.x0, area.y0, area.x1, bottom))
        if filled[3] < bottom + _TOP:  # the padding of open elements may lie below the end
            return bool(more)
    raise _Overfull


def _places(story: pymupdf.Story, page: int) -> list[_Place]:
    found: list[_Place] = []

    def keep(position: Any) -> None:
        opens = bool(position.open_close & 1)
        rect, heading = position.rect, position.heading
        found.append(_Place(page, tuple(rect), opens, position.id, position.href, heading, position.text))

    story.element_positions(keep)
    return found


def _stranded(found: Iterable[_Place], area: pymupdf.Rect) -> float | None:
    """Return where the headings begin that stand at the end of a page with no text below them, if there are any."""
    top = None
    for each in found:
        if (
            each.opens
            and each.heading
            and each.rect[3] > area.y1 - _BELOW_HEADING
            and each.rect[1] > area.y0 + _MIN_TEXT
        ):
            top = each.rect[1] if top is None else min(top, each.rect[1])
    return top


def _running_title(title: str, style: str, area: pymupdf.Rect, device: Any) -> None:
    """Draw the title above the text of a page."""
    import pymupdf

    line = pymupdf.Story(tag("p", one_line(title, 90), class_="running"), user_css=style)
    line.place(pymupdf.Rect(area.x0, _TOP / 2 - 4, area.x1, _TOP - 6))
    line.draw(device)


def _finish_pages(document: pymupdf.Document, places: Sequence[_Place]) -> None:
    """Number the pages, and make each link active: to a place in this document, or to an address on the web."""
    import pymupdf

    targets: dict[str, _Place] = {}
    links: dict[int, list[tuple[Any, str]]] = {}
    for each in places:
        if each.opens and each.id:
            targets.setdefault(each.id, each)
    for number, rect, href in _joined(places):
        links.setdefault(number, []).append((pymupdf.Rect(rect), href))
    for number, page in enumerate(document):
        for rect, href in links.get(number, ()):
            if (link := _target(href, targets)) is not None:
                page.insert_link({"from": rect, **link})
        text = f"{number + 1} / {len(document)}"
        middle = (page.rect.width - pymupdf.get_text_length(text, fontsize=8)) / 2
        page.insert_text((middle, page.rect.height - _BOTTOM / 2), text, fontsize=8, color=(0.36, 0.39, 0.43))


def _target(href: str, targets: Mapping[str, _Place]) -> dict[str, Any] | None:
    """Return where a link leads; `None` if no element has the id that it names."""
    import pymupdf

    if not href.startswith("#"):
        return {"kind": pymupdf.LINK_URI, "uri": _uri(href)}
    if (found := targets.get(href[1:])) is None:
        return None
    return {"kind": pymupdf.LINK_GOTO, "page": found.page, "to": pymupdf.Point(found.rect[0], found.rect[1])}


def _joined(places: Iterable[_Place]) -> Iterable[tuple[int, tuple[float, float, float, float], str]]:
    """Return the parts of links by page, those beside each other on a line as one."""
    joined: list[tuple[int, tuple[float, float, float, float], str]] = []
    for each in places:
        if not each.opens or not each.href:
            continue
        x0, y0, x1, y1 = each.rect
        if joined:
            page, (left, top, right, bottom), href = joined[-1]
            if (page, href) == (each.page, each.href) and abs(top - y0) < 3 and left - 1 <= x0 <= right + 3:
                rect = (left, min(top, y0), max(right, x1), max(bottom, y1))
                joined[-1] = (page, rect, href)
                continue
        joined.append((each.page, each.rect, each.href))
    return joined


def _uri(href: str) -> str:
    """Return an address in the characters that a PDF may hold unescaped."""
    if not href.isascii():
        with suppress(ValueError):  # a mail address
            href = str(parse_address(href))
    return quote(href, safe=_URI)


def _outline(document: pymupdf.Document, places: Iterable[_Place], content: Html) -> None:
    """Make bookmarks of the headings of the two highest levels.

    MuPDF joins the lines of a heading without a space, so its text is taken from the `content`.
    """
    texts = (one_line(unescape(_TAG.sub("", inner)), None) for _, inner in _HEADING.findall(content))
    written = {_squeezed(text): text for text in texts}
    rows: list[list[Any]] = []
    for each in places:
        shown = each.text or ""
        shown = written.get(_squeezed(shown), shown)
        if each.opens and 1 <= each.heading <= _OUTLINE_LEVELS and (text := one_line(shown)):
            level = min(each.heading, rows[-1][0] + 1 if rows else 1)
            rows.append([level, text, each.page + 1])
    document.set_toc(rows)


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _facts(title: str, tool: str, answers: Sequence[ReportedAnswer]) -> dict[str, str]:
    """Return the properties of the document; its date is that of the first answer, so that the bytes do not change."""
    found = _TIME.match(next((each.asked_at for each in answers if each.asked_at), ""))
    date = f"D:{''.join(found.groups())}Z" if found else ""
    return {"title": title, "producer": tool, "creator": tool, "creationDate": date, "modDate": date}
