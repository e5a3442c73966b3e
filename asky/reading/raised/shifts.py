"""The raised and lowered text of a PDF's lines, by the size and the base line of its spans."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from asky.reading.raised.exponents import Shift

_SMALLER = 0.92  # of the size before; TeX has .7, Word .65, browsers .83
_RAISED = 0.15  # of the size before, above its base line; TeX .36, Word and browsers .33
_LOWERED = 0.08  # TeX .15, Word .14, browsers .2
_MAY_BE_SHIFTED = re.compile(r"<sup>|\d(?:</\w+>)*<span [^>]*>\d")


def may_be_shifted(written: str) -> bool:
    """Return whether MuPDF's HTML of a page shows raised text, or a digit in another font behind a digit."""
    return _MAY_BE_SHIFTED.search(written) is not None


def shifts_in(blocks: Sequence[Mapping[str, Any]]) -> dict[int, tuple[str, tuple[Shift, ...]]]:
    """Return the text and the shifts of each line that has some, by its number, from MuPDF's blocks with spans.

    A run is raised or lowered if it is smaller than the text before it, and off its base line.
    """
    found: dict[int, tuple[str, tuple[Shift, ...]]] = {}
    lines = (line for block in blocks for line in block.get("lines", ()))
    for number, line in enumerate(lines):
        spans = line["spans"]
        if len(spans) > 1 and (shifts := tuple(_runs(spans))):
            found[number] = ("".join(span["text"] for span in spans), shifts)
    return found


def _runs(spans: Sequence[Mapping[str, Any]]) -> Iterator[Shift]:
    base = size = 0.0
    position = 0
    run: Shift | None = None
    for span in spans:
        end = position + len(span["text"])
        rise = base - span["origin"][1]
        raised: bool | None = None
        if size and span["size"] <= _SMALLER * size and not _LOWERED * -size <= rise <= _RAISED * size:
            raised = rise > 0
        if run is not None and raised is run.raised:
            run = run._replace(end=end)
        else:
            if run is not None:
                yield run
            run = None if raised is None else Shift(position, end, raised)
        if raised is None and not span["text"].isspace():
            base, size = span["origin"][1], span["size"]
        position = end
    if run is not None:
        yield run
