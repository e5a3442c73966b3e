"""The tree of a chapter, from its XHTML."""

from __future__ import annotations

import re
from html.entities import html5
from typing import TYPE_CHECKING

from asky.reading.html.page import parse_html
from asky.reading.html.powers import with_powers

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9._-]{0,60});")
_XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})
# A mark of a note is a raised link; what is raised in a link would be taken for an exponent.
_RAISED_IN_LINK = re.compile(r"(<a\s[^<>]{1,500}>)\s*<sup(?:\s[^<>]{0,200})?>([^<>]{1,10})</sup\s*>\s*</a\s*>", re.I)


def parse_chapter(source: str) -> HtmlElement | None:
    """Return the tree of a chapter with tags as HTML names them; `None` if it is nested too deeply to be kept whole.

    Document type declarations are not followed; entities that the book defines stay as they are written. What is not
    valid XML is read as a browser reads a page.
    """
    from lxml import etree, html  # 25 ms: only if a book is read

    written = with_powers(_RAISED_IN_LINK.sub(r"<sup>\1\2</a></sup>", source))
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    parser.set_element_class_lookup(etree.ElementDefaultClassLookup(element=html.HtmlElement))
    try:
        root = etree.fromstring(_ENTITY.sub(_spelled, written).strip().encode("utf-8"), parser)
    except (etree.LxmlError, ValueError):
        return parse_html(written)
    for element in root.iter("{*}*"):
        element.tag = element.tag.rpartition("}")[2]
    return root


def _spelled(entity: re.Match[str]) -> str:
    """Return a named character; other entities stay as they are written, whatever the file declares."""
    if entity[1] in _XML_ENTITIES:
        return entity[0]
    characters = html5.get(f"{entity[1]};")
    return f"&amp;{entity[1]};" if characters is None else "".join(f"&#{ord(each)};" for each in characters)
