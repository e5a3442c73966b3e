"""Placeholders of slides, and the list styles that they take from their layout and their master."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from asky.reading.office.archive import Package

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
TITLES = ("title", "ctrTitle")
MARGINS = ("ftr", "dt", "hdr", "sldNum")
_SAME = {"ctrTitle": "title", "subTitle": "body", "obj": "body"}  # the placeholder of the master that stands for it


def placeholder(shape: Element) -> tuple[str, str]:
    """Return the type of the placeholder that a shape is, and its index; "" and "" for other shapes."""
    for part in shape:
        found = part.find(f"{P}nvPr/{P}ph")
        if found is not None:
            return found.get("type", "obj"), found.get("idx", "0")
        if part.find(f"{P}nvPr") is not None:
            break
    return "", ""


class SlideStyles:
    """The list styles of all placeholders of a presentation; layouts and masters are read when one is needed."""

    def __init__(self, package: Package, main: Element) -> None:
        self._package = package
        default = main.find(f"{P}defaultTextStyle")
        self._default = [default] if default is not None else []
        self._layouts: dict[str, dict[tuple[str, str], list[Element]]] = {}

    def of(self, slide: str, kind: str, index: str) -> list[Element]:
        """Return the list styles that a shape of a slide rests on, the nearest first; `kind` is "" for a text box."""
        if not kind:
            return self._default
        layout = next(iter(self._package.related(slide, "slideLayout")), "")
        if layout not in self._layouts:
            self._layouts[layout] = self._read(layout)
        known = self._layouts[layout]
        found = known.get(("#", index)) or known.get((_SAME.get(kind, kind), "")) or []
        style = "title" if kind in TITLES else "other" if kind in MARGINS else "body"
        return [*found, *known.get(("style", style), [])]

    def _read(self, layout: str) -> dict[tuple[str, str], list[Element]]:
        """Return the list styles of a layout's placeholders, by index and by type, and those of its master."""
        known: dict[tuple[str, str], list[Element]] = {}
        if not layout:
            return known
        master = next(iter(self._package.related(layout, "slideMaster")), "")
        root = self._package.xml(master) if master else None
        on_master: dict[str, list[Element]] = {}
        if root is not None:
            for style in root.iterfind(f"{P}txStyles/*"):
                if isinstance(style.tag, str):
                    known["style", style.tag.rpartition("}")[2].removesuffix("Style")] = [style]
            for kind, _, own in _list_styles(root):
                on_master.setdefault(_SAME.get(kind, kind), own)
        known.update(((kind, ""), own) for kind, own in on_master.items())
        root = self._package.xml(layout)
        for kind, index, own in _list_styles(root) if root is not None else ():
            known["#", index] = [*own, *on_master.get(_SAME.get(kind, kind), [])]
        return known


def _list_styles(root: Element) -> Iterator[tuple[str, str, list[Element]]]:
    """Yield the type, the index and the list style of the placeholders of a layout or a master."""
    for shape in root.iter(f"{P}sp"):
        kind, index = placeholder(shape)
        style = shape.find(f"{P}txBody/{_A}lstStyle")
        if kind:
            yield kind, index, [style] if style is not None and len(style) else []
