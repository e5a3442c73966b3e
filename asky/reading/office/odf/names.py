"""The namespaces of OpenDocument, and values of attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_OASIS = "{urn:oasis:names:tc:opendocument:xmlns:"
OFFICE = f"{_OASIS}office:1.0}}"
TEXT = f"{_OASIS}text:1.0}}"
TABLE = f"{_OASIS}table:1.0}}"
DRAW = f"{_OASIS}drawing:1.0}}"
STYLE = f"{_OASIS}style:1.0}}"
SLIDE = f"{_OASIS}presentation:1.0}}"
CHART = f"{_OASIS}chart:1.0}}"
FORM = f"{_OASIS}form:1.0}}"
SVG = f"{_OASIS}svg-compatible:1.0}}"
FO = f"{_OASIS}xsl-fo-compatible:1.0}}"
META = f"{_OASIS}meta:1.0}}"
MANIFEST = f"{_OASIS}manifest:1.0}}"
DC = "{http://purl.org/dc/elements/1.1/}"
XLINK = "{http://www.w3.org/1999/xlink}"
XML = "{http://www.w3.org/XML/1998/namespace}"
MATH = "{http://www.w3.org/1998/Math/MathML}math"


def count(element: Element, name: str, default: int = 1, most: int = 2**31) -> int:
    """Return a whole number that an attribute states, at most `most`; `default` if it states none."""
    stated = element.get(name)
    if stated is None:
        return default
    return min(int(stated), most) if stated.isdecimal() and len(stated) < 12 else default


def local(element: Element) -> str:
    """Return the name of an element without its namespace; "" for a comment."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
