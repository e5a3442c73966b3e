"""Metadata of a book, from the package document of its EPUB.

Source: EPUB 3.3, section 5.5; Open Packaging Format 2.0.1, section 2.2, for the attributes of EPUB 2.
"""

from __future__ import annotations

import html
import io
import posixpath
import re
import zipfile
from typing import TYPE_CHECKING
from urllib.parse import unquote

from asky.reading.limits import MIB
from asky.text.scrub import one_line

if TYPE_CHECKING:
    from lxml.etree import _Element

_CONTAINER = "META-INF/container.xml"
_MAX_BYTES = 4 * MIB  # of one of the two files; they take a few kilobytes
_DC = "{http://purl.org/dc/elements/1.1/}"
_OPF = "{http://www.idpf.org/2007/opf}"
_AUTHOR_ROLES = ("aut", "")
_MAX_VALUES = 50
_VALUE_CHARS = 500
_DATE = re.compile(r"(\d{4})(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?)?(?![\d-])")
_TAG = re.compile(r"<[^<>]{0,200}>")


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
            container = etree.fromstring(_member(archive, _CONTAINER), parser)
            paths = (each.get("full-path") for each in container.iter("{*}rootfile"))
            path = posixpath.normpath(unquote(next((each for each in paths if each), "")))
            root: _Element = etree.fromstring(_member(archive, path), parser)
            return root
    except (etree.LxmlError, zipfile.BadZipFile, KeyError, ValueError, OSError, NotImplementedError, EOFError):
        return None


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
