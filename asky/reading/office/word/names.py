"""The names of the elements of WordprocessingML, and how its values are written (ECMA-376, part 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_USUAL = "http://schemas.openxmlformats.org"
W = f"{{{_USUAL}/wordprocessingml/2006/main}}"
R = f"{{{_USUAL}/officeDocument/2006/relationships}}"
M = f"{{{_USUAL}/officeDocument/2006/math}}"
A = f"{{{_USUAL}/drawingml/2006/main}}"
WP = f"{{{_USUAL}/drawingml/2006/wordprocessingDrawing}}"
C = f"{{{_USUAL}/drawingml/2006/chart}}"
DGM = f"{{{_USUAL}/drawingml/2006/diagram}}"
MC = f"{{{_USUAL}/markup-compatibility/2006}}"
V = "{urn:schemas-microsoft-com:vml}"
O = "{urn:schemas-microsoft-com:office:office}"  # noqa: E741 - the prefix that every file has for it
W14 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
W15 = "{http://schemas.microsoft.com/office/word/2012/wordml}"

_VAL = f"{W}val"
_OFF = ("0", "false", "off")
_MAX_NUMBER = 1_000_000


def local(element: Element) -> str:
    """Return the name of an element without its namespace; "" for comments and the like."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def value(parent: Element | None, name: str) -> str | None:
    """Return the `w:val` of a child by its name without the prefix; `None` without such a child or value."""
    child = parent.find(W + name) if parent is not None else None
    return child.get(_VAL) if child is not None else None


def switch(parent: Element | None, name: str) -> bool | None:
    """Return whether a property that is on or off is on; `None` if it is not stated."""
    child = parent.find(W + name) if parent is not None else None
    return is_on(child) if child is not None else None


def is_on(element: Element) -> bool:
    """Return whether an element that switches something says "on", as it does without a value."""
    return (element.get(_VAL) or "").lower() not in _OFF


def number(text: str | None, default: int = 0) -> int:
    """Return a whole number of at most a million, whatever a file says; `default` if it says none."""
    try:
        return max(-_MAX_NUMBER, min(int(text or ""), _MAX_NUMBER))
    except ValueError:
        return default


_WRAPPERS = frozenset(f"{W}{name}" for name in ("customXml", "ins", "moveTo", "smartTag"))


def elements(parent: Element | None, tag: str, content: Callable[[Element], Element | None]) -> Iterator[Element]:
    """Yield the children with a tag, also those in wrappers; `content` returns what a content control shows, if any."""
    for child in parent if parent is not None else ():
        if child.tag == tag:
            yield child
        elif child.tag == f"{W}sdt":
            yield from elements(content(child), tag, content)
        elif child.tag == f"{MC}AlternateContent":
            yield from elements(child.find(f"{MC}Choice"), tag, content)
        elif child.tag in _WRAPPERS:
            yield from elements(child, tag, content)
