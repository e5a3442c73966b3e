"""The package document of an EPUB: the book's metadata, and its chapters in the order of reading.

Source: EPUB 3.3, section 5; Open Packaging Format 2.0.1, sections 2.2 to 2.4, for EPUB 2.
"""

from __future__ import annotations

import html
import io
import posixpath
import re
import zipfile
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from asky.reading.books.archive import CONTAINER, BookArchive, resolved
from asky.reading.limits import MIB
from asky.text.scrub import one_line

if TYPE_CHECKING:
    from lxml.etree import _Element

_MAX_BYTES = 4 * MIB  # of one of the two files; they take a few kilobytes
_DC = "{http://purl.org/dc/elements/1.1/}"
_OPF = "{http://www.idpf.org/2007/opf}"
_AUTHOR_ROLES = ("aut", "")
_MAX_VALUES = 50
_VALUE_CHARS = 500
_DATE = re.compile(r"(\d{4})(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?)?(?![\d-])")
_TAG = re.compile(r"<[^<>]{0,200}>")
_TEXT_TYPES = frozenset(
    {"application/xhtml+xml", "text/html", "image/svg+xml", "application/x-dtbook+xml", "text/x-oeb1-document"}
)
_MAX_FALLBACKS = 20  # one after the other
_MAX_CHAPTERS = 5_000


@dataclass(frozen=True, slots=True)
class Chapter:
    """A file of the spine by its path in the archive; `kind` is its media type, "" if no text can be shown for it."""

    path: str
    kind: str


@dataclass(frozen=True, slots=True)
class Spine:
    """The chapters of a book in the order of reading, and the paths of its tables of contents, "" if it has none."""

    chapters: tuple[Chapter, ...]
    nav: str = ""
    ncx: str = ""


def spine_of(archive: BookArchive) -> Spine | None:
    """Return the spine of a book; `None` if its package cannot be read at all.

    A chapter of a type that is not shown is replaced by its fallback, if it has one.
    """
    from lxml import etree  # 20 ms: only if a book is read

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=True)
    try:
        path = _package_path(etree.fromstring(archive.read(CONTAINER)[0], parser))
        root = etree.fromstring(archive.read(path)[0][:_MAX_BYTES], parser)
    except (etree.LxmlError, KeyError, ValueError):
        return None
    if root is None:
        return None
    items = {each.get("id", ""): each for each in root.iter("{*}item")}
    places = [each for each, _ in zip(root.iter("{*}itemref"), range(_MAX_CHAPTERS), strict=False)]
    chapters = [chapter for each in places if (chapter := _chapter(items.get(each.get("idref", "")), items, path))]
    nav = next((each for each in items.values() if "nav" in (each.get("properties") or "").split()), None)
    stated = next((each.get("toc", "") for each in root.iter("{*}spine")), "")
    ncx = items.get(stated) if stated in items else next(filter(_is_ncx, items.values()), None)
    return Spine(tuple(chapters), *(_path(each, path) for each in (nav, ncx)))


def _chapter(item: _Element | None, items: dict[str, _Element], base: str) -> Chapter | None:
    if item is None:
        return None
    shown: _Element | None = item
    for _ in range(_MAX_FALLBACKS):
        if shown is None or _kind(shown) in _TEXT_TYPES:
            break
        shown = items.get(shown.get("fallback", ""))
    if shown is None or _kind(shown) not in _TEXT_TYPES:
        return Chapter(_path(item, base), "")
    return Chapter(_path(shown, base), _kind(shown))


def _kind(item: _Element) -> str:
    return (item.get("media-type") or "").partition(";")[0].strip().lower()


def _is_ncx(item: _Element) -> bool:
    return _kind(item) == "application/x-dtbncx+xml"


def _path(item: _Element | None, base: str) -> str:
    return resolved(base, item.get("href") or "")[0] if item is not None else ""


def package_metadata(data: bytes) -> dict[str, str]:
    """Return `title`, `author`, `published` (ISO 8601), `publisher`, `language`, `subject` and `description` of a book.

    Those that it names; several names are joined with "; ". Authors are the creators whose role is that of an author,
    or else all creators. A package that cannot be read has none: the text can be read without it.
    """
    root = _package(data)
    if root is None:
        return {}
    roles = {each.get("refines", "")[1:]: _text(each) for each in _metas(root, "role")}
    types = {each.get("refines", "")[1:]: _text(each) for each in _metas(root, "title-type")}
    titles = _elements(root, "title")
    creators = _elements(root, "creator")
    authors = [each for each in creators if _role(each, roles) in _AUTHOR_ROLES] or creators
    dates = [each for each in _elements(root, "date") if each.get(f"{_OPF}event") in (None, "publication")]
    published = next((date[0] for each in dates if (date := _DATE.match(_text(each)))), "")
    main = next((each for each in titles if types.get(each.get("id", "")) == "main"), titles[0] if titles else None)
    description = " ".join(_text(each) for each in _elements(root, "description")[:1])
    found = {
        "title": _text(main) if main is not None else "",
        "author": _joined(authors),
        "published": published,
        "publisher": _joined(_elements(root, "publisher")),
        "language": _joined(_elements(root, "language")[:1]),
        "subject": _joined(_elements(root, "subject")),
        "description": one_line(html.unescape(_TAG.sub(" ", description)), _VALUE_CHARS),
    }
    return {name: value for name, value in found.items() if value}


def _package(data: bytes) -> _Element | None:
    from lxml import etree  # 20 ms: only if a book is read

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            path = _package_path(etree.fromstring(_member(archive, CONTAINER), parser))
            root: _Element = etree.fromstring(_member(archive, path), parser)
            return root
    except (etree.LxmlError, zipfile.BadZipFile, zlib.error, KeyError, ValueError, OSError, RuntimeError, EOFError):
        return None


def _package_path(container: _Element) -> str:
    paths = (each.get("full-path") for each in container.iter("{*}rootfile"))
    return posixpath.normpath(unquote(next((each for each in paths if each), "")))


def _member(archive: zipfile.ZipFile, path: str) -> bytes:
    with archive.open(path) as file:
        content = file.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise ValueError(f"{path} is too large")
    return content


def _elements(root: _Element, name: str) -> list[_Element]:
    return [each for each, _ in zip(root.iter(f"{_DC}{name}"), range(_MAX_VALUES), strict=False) if _text(each)]


def _metas(root: _Element, name: str) -> list[_Element]:
    return [each for each in root.iter("{*}meta") if each.get("property") == name]


def _role(creator: _Element, roles: dict[str, str]) -> str:
    return creator.get(f"{_OPF}role") or roles.get(creator.get("id", ""), "")


def _text(element: _Element) -> str:
    return one_line("".join(element.itertext()), _VALUE_CHARS)


def _joined(elements: list[_Element]) -> str:
    names = dict.fromkeys(_text(each) for each in elements)
    return "; ".join(name.replace(";", ",") if len(names) > 1 else name for name in names)
