"""Headings and other lines that introduce text: what they state, and the citations below them.

A heading, a line in bold and a line that ends in a colon state something only if they contain a quantity or a date: "##
The fire of 1911", "**Revenue: 40 %**". A number that enumerates ("Step 2", "1.3 Method") or refers to the answer itself
("in 80 words:") states nothing, and a small one usually counts what follows ("Three causes:").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from asky.evidence.verification.quantities import Quantity, quantities

States = Literal["fact", "count"]

_BOLD_LEVEL, _COLON_LEVEL = 7, 8
_MAX_COUNTED = 20
_HEADING = re.compile(r"(#{1,6})(?:\s|$)")
_UNDERLINED = re.compile(r"\n[ \t]*(=+|-+)[ \t]*$")
_ALL_BOLD = re.compile(r"\*\*[^*\n]+\*\*:?|__[^_\n]+__:?")
_CLOSING = " \t\n*_`\"'”’)]"
_NUMBERING = re.compile(
    r"^\W*\d{1,3}(?:\.\d{1,3})*(?:[.):](?=\s)|(?<=\.\d)(?=\s)|\s[–—-](?=\s))"
    r"|\b(?:step|phase|part|chapter|section|stage|option|figure|fig\.|table|page|question|version|level|day|week|item|"
    r"appendix|volume|rule|tip|reason|case|example|scenario|point|no\.|number|round|act|scene|lesson|module|unit|method|passage|source|document|q|#)\s?\d{1,3}(?:\.\d{1,3})*\b"
    r"|\b\d{1,4}[ -](?:words?|sentences?|paragraphs?|lines?|bullets?|points?|passages?|sources?|documents?)\b",
    re.IGNORECASE,
)


def heading_level(source: str) -> int:
    """Return 1 to 6 for a heading, 7 for a line in bold, 8 for one that ends in a colon, 0 for anything else."""
    heading = _HEADING.match(source)
    if heading is not None:
        return len(heading[1])
    underlined = _UNDERLINED.search(source) if "\n" in source else None
    if underlined is not None:
        return 1 if underlined[1][0] == "=" else 2
    if source[:2] in ("**", "__") and _ALL_BOLD.fullmatch(source):
        return _BOLD_LEVEL
    return _COLON_LEVEL if source.rstrip(_CLOSING).endswith((":", "：")) else 0


def is_bold(level: int) -> bool:
    """Return whether this is the level of a line in bold."""
    return level == _BOLD_LEVEL


def is_proper(level: int) -> bool:
    """Return whether this is the level of a Markdown heading."""
    return 0 < level < _BOLD_LEVEL


def without_underline(source: str) -> str:
    """Return a heading without its underline."""
    return _UNDERLINED.sub("", source).rstrip()


def without_number_signs(source: str) -> str:
    """Return a heading without its number signs."""
    heading = source.lstrip("#").strip() if _HEADING.match(source) else source
    without = heading.rstrip("#")
    return without.rstrip() if without[-1:].isspace() else heading


def what_heading_states(text: str) -> States | None:
    """Return `"fact"` if the text has a quantity or a date, `"count"` if only small bare numbers, else `None`."""
    found = [quantity for quantity in quantities(_NUMBERING.sub(" ", text)) if quantity.certain]
    if not found:
        return None
    return "count" if all(map(_counts, found)) else "fact"


def citations_below(levels: Sequence[int], citations: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return for each unit the citations below it, down to the next unit of its level or higher, ascending.

    `levels` are those of `heading_level`; nothing is below a unit of level 0. Linear time, apart from the output.
    """
    below: list[dict[int, None]] = [{} for _ in range(_COLON_LEVEL + 1)]  # since the last heading of each level
    found: list[tuple[int, ...]] = []
    for level, own in zip(reversed(levels), reversed(citations), strict=True):
        found.append(tuple(sorted(below[level])) if level else ())
        for each in below[level:] if level else ():
            each.clear()
        for each in below[1 : level or None] if own else ():
            each |= dict.fromkeys(own)
    return found[::-1]


def _counts(quantity: Quantity) -> bool:
    if quantity.month is not None or quantity.unit is not None:
        return False
    return all(value.isdigit() and int(value) <= _MAX_COUNTED for value in quantity.values if len(value) < 10)
