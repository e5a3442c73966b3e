"""Formulas in a Word document, with all changes accepted."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

from asky.reading.office.math import math_text
from asky.reading.office.word.names import W

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_GONE = (f"{W}del", f"{W}moveFrom")


def formula_text(element: Element) -> str:
    """Return a formula as text on one line, without what is deleted of it."""
    if next(element.iter(*_GONE), None) is None:
        return math_text(element)
    kept = deepcopy(element)
    for each in list(kept.iter(*_GONE)):
        parent = each.getparent()
        if parent is not None:
            parent.remove(each)
    return math_text(kept)
