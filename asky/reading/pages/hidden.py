"""Text on a page of a PDF that nobody sees: in ink that does not show, or white on white."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pymupdf

_LIGHT_COLOR = re.compile(r"color:#f[0-9a-f]f[0-9a-f]f[0-9a-f]")
_LIGHT = 0xF0  # of each colour: hardly to be told from white paper
_DOTS = 36  # an inch: enough to tell whether anything is behind the text
_MAX_LINES = 2_000  # whose ground is looked at
_COVERED = 0.5  # of a line, by an image


def may_hide(written: str) -> bool:
    """Return whether MuPDF's HTML of a page shows text without a colour or in a light one."""
    uncoloured = written.count('pt">') - written.count("<p ") - 1  # paragraphs and the page end so too
    return uncoloured > 0 or ("color:#f" in written and _LIGHT_COLOR.search(written) is not None)


def hidden_lines(page: pymupdf.Page, shown: pymupdf.DisplayList, blocks: Sequence[Mapping[str, Any]]) -> frozenset[int]:
    """Return the numbers of the lines that do not show.

    Invisible text over an image is the text of a scan, and where a page shows no other text, it stands for letters that
    are drawn: both are read. Light text shows on a dark ground.
    """
    invisible: set[int] = set()
    light: list[tuple[int, pymupdf.Rect]] = []
    seen = 0
    boxes: dict[int, pymupdf.Rect] = {}
    lines = (line for block in blocks for line in block.get("lines", ()))
    for number, line in enumerate(lines):
        spans = [span for span in line["spans"] if not span["text"].isspace()]
        if not spans:
            continue
        boxes[number] = line["bbox"]
        if all(span["alpha"] == 0 for span in spans):
            invisible.add(number)
        elif all(_is_light(span["color"]) for span in spans):
            light.append((number, line["bbox"]))
        else:
            seen += 1
    hidden = {number for number, _ in light[:_MAX_LINES]} - _on_dark(shown, light[:_MAX_LINES])
    if invisible and (seen or len(light) > len(hidden)):
        images = [each["bbox"] for each in page.get_image_info()]
        hidden |= {number for number in invisible if not any(_covers(image, boxes[number]) for image in images)}
    return frozenset(hidden)


def _is_light(color: int) -> bool:
    return min(color >> 16 & 255, color >> 8 & 255, color & 255) >= _LIGHT


def _covers(image: tuple[float, ...], line: tuple[float, ...]) -> bool:
    width = min(image[2], line[2]) - max(image[0], line[0])
    height = min(image[3], line[3]) - max(image[1], line[1])
    return width > 0 and height > 0 and width * height >= _COVERED * (line[2] - line[0]) * (line[3] - line[1])


def _on_dark(shown: pymupdf.DisplayList, lines: list[tuple[int, pymupdf.Rect]]) -> set[int]:
    """Return the lines with something darker than they are behind them."""
    import pymupdf

    if not lines:
        return set()
    scale = _DOTS / 72
    picture = shown.get_pixmap(matrix=pymupdf.Matrix(scale, scale), colorspace=pymupdf.csGRAY, alpha=0)
    samples, stride, left, top = picture.samples, picture.stride, picture.x, picture.y
    found = set()
    for number, (x0, y0, x1, y1) in lines:
        columns = slice(max(0, int(x0 * scale) - left), max(0, int(x1 * scale) + 1 - left))
        rows = range(max(0, int(y0 * scale) - top), min(picture.height, int(y1 * scale) + 1 - top))
        if any(min(samples[row * stride : (row + 1) * stride][columns], default=255) < _LIGHT for row in rows):
            found.add(number)
    return found
