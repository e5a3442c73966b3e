"""EPUB: the chapters of a book in reading order."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from asky.errors import SourceUnreadable
from asky.reading.books.archive import BookArchive, open_archive, resolved
from asky.reading.books.content import show
from asky.reading.books.contents import Entry, contents
from asky.reading.books.notes import name_notes
from asky.reading.books.package import Chapter, Spine, package_metadata, spine_of
from asky.reading.books.places import chapter_headings
from asky.reading.books.source import parse_chapter
from asky.reading.books.styles import SpanStyles, styles_of, with_shifts
from asky.reading.books.writing import ChapterText, write_chapter
from asky.reading.html.page import decode_html
from asky.reading.html.survey import survey_page
from asky.reading.html.tables import arrange_tables
from asky.reading.limits import MIB
from asky.reading.text_builder import TextBuilder
from asky.text.scrub import one_line
from asky.values import Document, Section

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_TREE_CHARS = 4 * MIB  # a larger chapter is read without its structure, as a large page is
_SHEET_BYTES = MIB
_MAX_SHEETS = 50  # of a chapter
# A title page stands within this; Project Gutenberg puts a licence of 1,000 characters before it.
_TITLE_PAGE_CHARS = 3_000
_NAME = re.compile(r"[^\W\d_]{3,}")  # in any order and without initials: "Crane, Thomas" is Thomas Crane
TITLE_LINES = "Title and authors"
"""The heading of the section, of level 0, with what the text lacks of its own title page."""


def read(data: bytes, name: str) -> Document:
    """Return the text of a book: a line per paragraph, a blank line after it, a section per entry of the contents.

    A chapter is read as a whole, in the order of the book's spine; its headings that the contents leave out are
    sections too. Books have no pages: those of a reader depend on its screen. If the first pages do not name the book
    and its authors, the text begins with a line for each, from the package, so that an answer can cite them. The
    metadata is the package's. Raises SourceUnreadable: too_large (a zip bomb), encrypted (DRM), unsupported (another
    kind of zip), empty, failed.
    """
    with open_archive(data, name) as archive:
        spine = spine_of(archive)
        if spine is None or not spine.chapters:
            raise SourceUnreadable(f"{name}: not a readable EPUB (its package names no chapters)")
        metadata: dict[str, str | None] = {**package_metadata(data)}
        builder = TextBuilder()
        entries = contents(archive, spine)
        chapters = list(_Chapters(archive, builder).texts(spine, entries))
    title = metadata.pop("title", None)
    texts = [chapter.text for chapter in chapters]
    if not any(texts):
        raise SourceUnreadable(f"{name}: no visible text in the book", verdict="empty")
    lines = _title_lines(title, metadata.get("author"), "\n".join(texts)[:_TITLE_PAGE_CHARS])
    builder.add(lines)
    starts = []
    for chapter in chapters:
        builder.add("\n\n" if chapter.text and len(builder) else "")
        starts.append(len(builder))
        builder.add(chapter.text)
        builder.invisible += chapter.invisible
    paths = [chapter.path for chapter in spine.chapters]
    for heading in chapter_headings(paths, chapters, entries):
        builder.mark_heading(heading.text, heading.level, starts[heading.chapter] + heading.start)
    book = builder.build("application/epub+zip", title=title, metadata=metadata)
    own = (Section(TITLE_LINES, 0, 0, len(lines)),) if lines else ()
    return replace(book, sections=own + book.sections)


class _Chapters:
    """Reads the chapters of a book; what cannot be read is named to `builder`."""

    def __init__(self, archive: BookArchive, builder: TextBuilder) -> None:
        self._archive, self._builder = archive, builder
        self._sheets: dict[str, str] = {}
        self._styles: dict[str, SpanStyles] = {}

    def texts(self, spine: Spine, entries: Sequence[Entry]) -> Iterator[ChapterText]:
        """Yield the text of each chapter of the spine."""
        wanted: dict[str, set[str]] = defaultdict(set)
        for entry in entries:
            wanted[entry.path].add(entry.fragment)
        for chapter in spine.chapters:
            yield self._text(chapter, wanted[chapter.path] - {""})

    def _text(self, chapter: Chapter, wanted: set[str]) -> ChapterText:
        path = chapter.path
        if not chapter.kind:
            self._builder.skip(path, "a part of the book without text")
            return ChapterText()
        try:
            data, is_whole = self._archive.read(path)
        except KeyError:
            self._builder.skip(path, "missing in the book")
            return ChapterText()
        except ValueError:
            self._builder.skip(path, "too large")
            return ChapterText()
        if not is_whole:
            self._builder.skip(path, "damaged, read as far as it goes")
        source, invisible = decode_html(data)
        root = parse_chapter(source) if len(source) <= _TREE_CHARS else None
        if root is None:
            return ChapterText(survey_page(source).text, invisible=invisible)
        css = self._css(root, path)
        if css not in self._styles:
            self._styles[css] = styles_of(css)
        styles = self._styles[css]
        shifted = with_shifts(source, styles)
        if shifted is not source and shifted != source:
            root = parse_chapter(shifted)
            if root is None:
                return ChapterText(survey_page(source).text, invisible=invisible)
        name_notes(root, path)
        if root.tag == "svg":
            root = _framed(root)
        show(root, css, styles.blocks, lambda part, reason: self._builder.skip(resolved(path, part)[0] or part, reason))
        arrange_tables(root)
        written = write_chapter(root, wanted)
        written.invisible += invisible
        return written

    def _css(self, root: HtmlElement, path: str) -> str:
        """Return the sheets of a chapter, in their order."""
        found = []
        for element in [each for each, _ in zip(root.iter("link", "style"), range(_MAX_SHEETS), strict=False)]:
            media = (element.get("media") or "all").lower()
            if not any(word in media for word in ("all", "screen")) or "(" in media:
                continue
            if element.tag == "style":
                found.append(element.text or "")
            elif (element.get("rel") or "").lower().split() == ["stylesheet"]:
                found.append(self._sheet(resolved(path, element.get("href") or "?")[0]))
        return "\n".join(found)[:_SHEET_BYTES]

    def _sheet(self, path: str) -> str:
        if path not in self._sheets:
            try:
                self._sheets[path] = self._archive.read(path)[0][:_SHEET_BYTES].decode("utf-8", "replace")
            except (KeyError, ValueError):
                self._sheets[path] = ""
        return self._sheets[path]


def _framed(drawing: HtmlElement) -> HtmlElement:
    """Return a drawing that is a chapter as the content of a page."""
    page: HtmlElement = drawing.makeelement("body")
    page.append(drawing)
    return page


def _title_lines(title: str | None, author: str | None, beginning: str) -> str:
    """Return the title, and the authors after "by", one below the other; empty if `beginning` names both."""
    names = author.split("; ") if author else []
    is_titled = not title or _letters(title) in _letters(beginning)
    first_page = beginning.casefold()
    is_signed = not names or all(word in first_page for word in _NAME.findall(names[0].casefold()))
    if is_titled and is_signed:
        return ""
    parts = [one_line(title)] if title else []
    return "\n".join([*parts, *([f"by {one_line(', '.join(names))}"] if names else [])])


def _letters(text: str) -> str:
    """Return the letters and digits of `text`, casefolded."""
    return re.sub(r"[\W_]+", "", text).casefold()
