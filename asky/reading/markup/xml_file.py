"""XML of any kind: texts as paragraphs, data as one line for each value under its path."""

from __future__ import annotations

import re
from dataclasses import replace
from html.entities import html5
from typing import TYPE_CHECKING

from asky.errors import SourceUnreadable
from asky.reading import plain_text
from asky.reading.html import page
from asky.reading.markup import feed
from asky.reading.markup.xml_data import data_lines, plist_lines
from asky.reading.markup.xml_prose import is_prose, write_prose
from asky.reading.text_builder import UNREAD_PARTS, TextBuilder
from asky.reading.timed.cues import cues_of_tree
from asky.reading.timed.subtitles import written
from asky.values import Document

if TYPE_CHECKING:
    from lxml.etree import _Element

_ENTITY = re.compile(rb"&([A-Za-z][A-Za-z0-9._-]{0,60});")
_XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})
_FEEDS = ("rss", "RDF", "feed")


def read(data: bytes, name: str, url: str | None = None) -> Document:
    """Return the text of an XML file in the order of the document, by what its root says it is.

    A feed is read as one, a page as one, subtitles too. A text (DocBook, TEI, DITA, JATS, FictionBook and what else has
    words between its elements) is its paragraphs and headings, anything else `path.to[3].name: value`. Document type
    declarations are not followed, and entities not expanded. What is not valid is read as plain text, and says so.
    Raises SourceUnreadable: unsupported for a drawing.
    """
    root = _root(data)
    if root is None:
        document = plain_text.read(data, name)
        note = "structure: not valid XML, read as plain text"
        return replace(document, media_type="application/xml", metadata={**document.metadata, UNREAD_PARTS: note})
    kind = str(root.tag).rpartition("}")[2]
    if kind in _FEEDS:
        return feed.read(data, name, url)
    if kind == "html":
        return page.read(data, name, url)
    if kind == "svg":
        raise SourceUnreadable(f"{name}: a drawing", verdict="unsupported")
    if kind == "tt":
        return written(cues_of_tree(root))
    builder = TextBuilder()
    if kind == "plist":
        lines = plist_lines(data)
    elif is_prose(root):
        return write_prose(root, builder)
    else:
        lines = data_lines(root, builder)
    for line in lines:
        builder.add(line)
    return builder.build("application/xml")


def _root(data: bytes) -> _Element | None:
    from lxml import etree  # 25 ms: only if there is XML to read

    parser = etree.XMLParser(
        resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        return etree.fromstring(_ENTITY.sub(_spelled, data.strip()), parser)
    except (etree.LxmlError, ValueError):
        return None


def _spelled(entity: re.Match[bytes]) -> bytes:
    """Return a named character as its number; other entities stay as they are written, whatever the file declares."""
    name = entity[1].decode("ascii")
    if name in _XML_ENTITIES:
        return entity[0]
    characters = html5.get(f"{name};")
    if characters is None:
        return b"&amp;" + entity[1] + b";"
    return "".join(f"&#{ord(each)};" for each in characters).encode("ascii")
