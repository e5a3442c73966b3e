"""Markdown: stored unchanged, with the offsets of its headings.

A line scanner for the part of CommonMark that determines headings: ATX and setext headings, and constructs that only
look like them (fenced and indented code, HTML blocks and comments, front matter, lists, quotes). Headings inside lists
and quotes divide the item and not the document; they are no sections. Source: CommonMark 0.31.2, sections 4.1 to 4.6.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from asky.reading.charset import decode
from asky.reading.front_matter import BETWEEN, PROPERTIES, front_matter
from asky.reading.limits import MAX_NOTE_LINKS
from asky.reading.text_builder import Heading, invisible_metadata, nest
from asky.text.plain import plain
from asky.text.scrub import one_line, scrub_counted, scrub_marked
from asky.text.wikilinks import find_links, find_tags, visible
from asky.values import Document, Section

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$")
_ATX_CLOSE = re.compile(r"(?:^|[ \t])#+[ \t]*$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}(?!.*`)|~{3,})")
_BREAK = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_CONTAINER = re.compile(r" {0,3}(?:>|[-+*](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$))")
_NO_COLUMN = 4  # headings are indented by less
_INDENTED = re.compile(r" {4}| {0,3}\t")
_BLOCK_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt"
    "|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu"
    "|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr"
    "|track|ul"
)
# HTML blocks: the start of each kind, and its end (`None`: a blank line).
_HTML_BLOCKS: tuple[tuple[re.Pattern[str], re.Pattern[str] | None], ...] = (
    (
        re.compile(r" {0,3}<(?:script|pre|style|textarea)(?:\s|>|$)", re.IGNORECASE),
        re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE),
    ),
    (re.compile(r" {0,3}<!--"), re.compile(r"-->")),
    (re.compile(r" {0,3}<\?"), re.compile(r"\?>")),
    (re.compile(r" {0,3}<![A-Za-z]"), re.compile(r">")),
    (re.compile(r" {0,3}<!\[CDATA\["), re.compile(r"\]\]>")),
    (re.compile(rf" {{0,3}}</?(?:{_BLOCK_TAGS})(?:\s|/?>|$)", re.IGNORECASE), None),
)
_LONE_TAG = re.compile(r" {0,3}</?[A-Za-z][A-Za-z0-9-]*(?:\s[^<>]*)?>[ \t]*$")

_HEADING_CHARS = 2000


def read(data: bytes, name: str) -> Document:  # noqa: ARG001 - every reader has this signature
    """Return the text of a Markdown file, only scrubbed, with a section for each heading of the document.

    The title is the front matter's, else the first heading of level 1. The front matter is metadata, and a section of
    level 0: see `asky.reading.front_matter`. `#tags` of the text are added to its tags.
    """
    source = decode(data)
    text, marked = scrub_marked(source)
    front = front_matter(marked)
    shown = visible(marked, front.end)
    headings = list(find_headings(marked, front.end))
    title = front.title or next((heading.text for heading in headings if heading.level == 1), None)
    properties = (Section(PROPERTIES, 0, 0, front.end),) if text[: front.end].strip("-. \t\n") else ()
    return Document(
        text=text,
        media_type="text/markdown",
        title=(one_line(title) or None) if title else None,
        sections=properties + nest(headings, len(text)),
        note_links=tuple(islice(find_links(marked, front.end, shown=shown), MAX_NOTE_LINKS)),
        metadata={
            **_tagged(front.metadata, find_tags(marked, front.end, shown=shown)),
            **invisible_metadata(scrub_counted(source)[1]),
        },
    )


def _tagged(metadata: Mapping[str, str], tags: list[str]) -> dict[str, str]:
    """Return the metadata with `tags` after those of the front matter, each once whatever its case."""
    known = dict.fromkeys(metadata["tags"].split(BETWEEN)) if "tags" in metadata else {}
    folded = {each.casefold() for each in known}
    known.update(dict.fromkeys(each for each in tags if each.casefold() not in folded))
    return {**metadata, "tags": BETWEEN.join(known)} if known else dict(metadata)


def find_headings(text: str, start: int = 0) -> Iterator[Heading]:
    """Yield the headings of Markdown from offset `start` on, in order, without their markup."""
    scanner = _Scanner(text)
    for line in _LINE.finditer(text, start):
        heading = scanner.feed(line[0].rstrip("\n"), line.start())
        if heading is not None:
            yield heading


class _Scanner:
    """Tracks, line by line, the current block of the document."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._fence = ""
        self._html_end: re.Pattern[str] | None = None
        self._in_html = False
        self._paragraph: int | None = None  # start of the open paragraph
        self._item: int | None = None  # in a list item or quote: the column from which lines belong to it

    def feed(self, line: str, start: int) -> Heading | None:
        if self._fence:
            if _closes(line, self._fence):
                self._fence = ""
        elif self._in_html:
            self._in_html = not (self._html_end.search(line) if self._html_end else not line.strip())
        elif not line.strip():
            self._end_paragraph()
        else:
            return self._feed_block(line, start)
        return None

    def _feed_block(self, line: str, start: int) -> Heading | None:
        if self._paragraph is not None and (underline := _SETEXT.match(line)):
            heading = Heading(
                self._paragraph,
                1 if underline[1][0] == "=" else 2,
                _plain(self._text[self._paragraph : min(start, self._paragraph + _HEADING_CHARS)]),
            )
            self._end_paragraph()
            return heading
        if _INDENTED.match(line):
            return None
        inside = self._item is not None and len(line) - len(line.lstrip(" ")) >= self._item
        if not inside and (atx := _ATX.match(line)):
            self._end_paragraph()
            return Heading(start, len(atx[1]), _plain(_ATX_CLOSE.sub("", atx[2] or "")))
        if not (self._open_fence(line) or self._open_html(line) or self._open_container(line)):
            self._continue_paragraph(start)
        return None

    def _end_paragraph(self, item: int | None = None) -> None:
        self._paragraph = None
        self._item = item

    def _continue_paragraph(self, start: int) -> None:
        # Text below an item's first line continues the item; it cannot become a setext heading.
        if self._paragraph is None and self._item is None:
            self._paragraph = start

    def _open_fence(self, line: str) -> bool:
        fence = _FENCE.match(line)
        if fence is None:
            return False
        self._fence = fence[1]
        self._end_paragraph()
        return True

    def _open_html(self, line: str) -> bool:
        if "<" not in line:
            return False
        for opens, ends in _HTML_BLOCKS:
            if opens.match(line):
                self._html_end = ends
                self._in_html = not (ends and ends.search(line))
                self._end_paragraph()
                return True
        if self._paragraph is None and self._item is None and _LONE_TAG.match(line):
            self._html_end, self._in_html = None, True
            return True
        return False

    def _open_container(self, line: str) -> bool:
        if _BREAK.match(line):
            self._end_paragraph()
            return True
        if container := _CONTAINER.match(line):
            self._end_paragraph(_NO_COLUMN if container[0].endswith(">") else len(container[0].rstrip()) + 1)
            return True
        return False


def _closes(line: str, fence: str) -> bool:
    indent = len(line) - len(line.lstrip(" "))
    mark = line.strip()
    return indent <= 3 and len(mark) >= len(fence) and mark == fence[0] * len(mark)


def _plain(heading: str) -> str:
    return plain(heading[:_HEADING_CHARS])
