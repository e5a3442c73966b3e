"""The table of contents of a book: the navigation document of EPUB 3, or the NCX of EPUB 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from asky.reading.books.archive import BookArchive, resolved
from asky.reading.books.package import Spine
from asky.reading.books.source import parse_chapter
from asky.reading.limits import MIB

if TYPE_CHECKING:
    from lxml.etree import _Element

_MAX_BYTES = 4 * MIB
_MAX_ENTRIES = 20_000
_MAX_LEVEL = 32
_TYPE = "{http://www.idpf.org/2007/ops}type"


class Entry(NamedTuple):
    """A line of the contents: its level from 1, its words, and the file and the place in it that it leads to."""

    level: int
    title: str
    path: str
    fragment: str


def contents(archive: BookArchive, spine: Spine) -> list[Entry]:
    """Return the entries of a book's contents in order; a damaged table has none."""
    for path, entries in ((spine.nav, _entries_of_nav), (spine.ncx, _entries_of_ncx)):
        if not path or path not in archive:
            continue
        try:
            root = parse_chapter(archive.read(path)[0][:_MAX_BYTES].decode("utf-8", "replace"))
        except ValueError:
            continue
        found = entries(root, path) if root is not None else []
        if found:
            return found
    return []


def _entries_of_nav(root: _Element, path: str) -> list[Entry]:
    found: list[Entry] = []
    table = next((each for each in root.iter("nav") if "toc" in kinds(each)), None)
    place = ("", "")
    for link in reversed(list(table.iter("a", "span"))) if table is not None else ():
        if link.tag == "a":
            place = resolved(path, link.get("href") or "?")
        elif link.getparent().tag != "li":  # within a link; a name without one is that of what follows
            continue
        level = sum(1 for _ in link.iterancestors("ol"))
        _add(found, level, " ".join("".join(link.itertext()).split()), place)
    return found[::-1]


def _entries_of_ncx(root: _Element, path: str) -> list[Entry]:
    found: list[Entry] = []
    # The parser of pages gives names in lower case, that of XML as they are written.
    for point in root.iter("navPoint", "navpoint"):
        level = 1 + sum(1 for _ in point.iterancestors("navPoint", "navpoint"))
        label = next(point.iterchildren("navLabel", "navlabel"), None)
        content = next(point.iterchildren("content"), None)
        if label is not None and content is not None:
            title = " ".join("".join(label.itertext()).split())
            _add(found, level, title, resolved(path, content.get("src") or "?"))
    return found


def _add(found: list[Entry], level: int, title: str, place: tuple[str, str]) -> None:
    if title and place[0] and len(found) < _MAX_ENTRIES:
        found.append(Entry(max(1, min(level, _MAX_LEVEL)), title, *place))


def kinds(element: _Element) -> frozenset[str]:
    """Return what an element of a book is called by `epub:type` and `role`: footnote, noteref, toc, pagebreak."""
    if not element.attrib:
        return frozenset()
    said = f"{element.get(_TYPE) or element.get('epub:type') or ''} {element.get('role') or ''}"
    return frozenset(word.removeprefix("doc-") for word in said.lower().split())
