"""Drawings in a Word document: text boxes, charts, diagrams, and the descriptions of pictures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from asky.reading.office.archive import Relation
from asky.reading.office.blocks import picture
from asky.reading.office.charts import chart_lines
from asky.reading.office.diagrams import diagram_lines
from asky.reading.office.drawing import paragraph_text
from asky.reading.office.word.names import DGM, MC, WP, A, C, O, R, V, W, local
from asky.reading.office.word.state import WordState
from asky.reading.office.word.tree import WordBlock, WordParagraph, WordPiece

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

Boxed = Callable[["Element"], list[WordBlock]]

_CHARTS = (f"{C}chart", "{http://schemas.microsoft.com/office/drawing/2014/chartex}chart")
_BOX = f"{W}txbxContent"
_DIAGRAM = f"{DGM}relIds"
_PICTURE = "{http://schemas.openxmlformats.org/drawingml/2006/picture}pic"
_SHAPES = "http://schemas.microsoft.com/office/word/2010/wordprocessing"
_GROUPS = (f"{{{_SHAPES}Group}}wgp", f"{{{_SHAPES}Group}}grpSp", f"{{{_SHAPES}Canvas}}wpc")
KNOWN = frozenset((f"{W}t", f"{W}p", _BOX, _DIAGRAM, _PICTURE, *_CHARTS, *_GROUPS, f"{{{_SHAPES}Shape}}wsp"))
"""What is read of the alternatives of a drawing, or other content."""
_HIDDEN = re.compile(r"visibility\s*:\s*hidden", re.IGNORECASE)


def read_drawing(
    element: Element, state: WordState, relations: Mapping[str, Relation], boxed: Boxed
) -> list[WordBlock]:
    """Return what a drawing, an older picture or an object shows; `boxed` returns the blocks of a text box."""
    about = element.find(f".//{WP}docPr")
    if about is not None and about.get("hidden", "0").lower() in ("1", "true"):
        return []
    found = list(_shown(element, state, relations, boxed))
    if not found and about is not None and not _is_decorative(about):
        found = list(_described(about.get("descr") or about.get("title")))
    return found


def _shown(element: Element, state: WordState, relations: Mapping[str, Relation], boxed: Boxed) -> Iterator[WordBlock]:
    """Yield what the shapes below an element show; those of a group from above to below, then from left to right."""
    children = sorted(element, key=_place) if element.tag in _GROUPS else element
    for child in children:
        tag = child.tag
        if tag == _BOX:
            yield from boxed(child)
        elif tag in _CHARTS:
            lines = state.lines(chart_lines, relations.get(child.get(f"{R}id", "")))
            yield from (WordParagraph([WordPiece(line)], role="chart") for line in lines)
        elif tag == _DIAGRAM:
            lines = state.lines(diagram_lines, relations.get(child.get(f"{R}dm", "")))
            yield from (WordParagraph([WordPiece(line.strip().removeprefix("- "))], label="- ") for line in lines)
        elif tag == f"{MC}AlternateContent":
            yield from _alternative(child, state, relations, boxed)
        elif tag == _PICTURE:
            own = child.find("{*}nvPicPr/{*}cNvPr")
            is_alone = element.tag == f"{A}graphicData"  # then the drawing describes it
            if own is not None and not is_alone and not _is_decorative(own):
                yield from _described(own.get("descr"))
        elif tag == f"{A}p":
            if text := paragraph_text(child).strip():
                yield WordParagraph([WordPiece(text)])
        elif tag == f"{O}OLEObject":
            state.embed(relations.get(child.get(f"{R}id", "")), child.get("ProgID", ""))
        elif isinstance(tag, str) and not _HIDDEN.search(child.get("style", "")):
            yield from _of_shape(child)
            yield from _shown(child, state, relations, boxed)


def _of_shape(shape: Element) -> Iterator[WordBlock]:
    """Yield the letters of an older WordArt, and the description of an older picture."""
    if shape.tag == f"{V}textpath" and (text := shape.get("string", "").strip()):
        yield WordParagraph([WordPiece(text)])
    if shape.find(f"{V}imagedata") is not None:
        yield from _described(shape.get("alt"))


def _alternative(
    element: Element, state: WordState, relations: Mapping[str, Relation], boxed: Boxed
) -> Iterator[WordBlock]:
    for each in element:
        if local(each) == "Fallback" or any(node.tag in KNOWN for node in each.iter()):
            yield from _shown(each, state, relations, boxed)
            return


def _is_decorative(about: Element) -> bool:
    return any(local(each) == "decorative" and each.get("val", "1") not in ("0", "false") for each in about.iter())


def _described(text: str | None) -> Iterator[WordBlock]:
    if shown := picture(text or ""):
        yield WordParagraph([WordPiece(shown)], role="picture")


def _place(shape: Element) -> tuple[int, int]:
    offset = shape.find("{*}spPr/{*}xfrm/{*}off")
    if offset is None:
        offset = shape.find("{*}grpSpPr/{*}xfrm/{*}off")
    try:
        return (int(offset.get("y", "0")), int(offset.get("x", "0"))) if offset is not None else (0, 0)
    except ValueError:
        return 0, 0
