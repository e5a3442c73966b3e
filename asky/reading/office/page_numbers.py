"""Heads and feet of pages without the numbers of pages, which say nothing about a document."""

from __future__ import annotations

import re
from collections.abc import Iterator

PAGE_SIGN = "\ufdd0"
"""Stands for the number of a page in a line; no text of a file contains it."""

_WORD = re.compile(
    r"pages?|seiten?|sid[ae]n?|sivu|p[áa]ginas?|pág|strona|strana|of|von|de|av|af|di|z|sur|van", re.IGNORECASE
)
_WORDS = re.compile(r"\w+")


def without_pages(line: str) -> str:
    """Return what a line says, its parts between tabs, without those that only tell the number of a page."""
    return "\t".join(_parts(line))


def _parts(line: str) -> Iterator[str]:
    for part in line.split("\t"):
        if PAGE_SIGN in part:
            rest = " ".join(part.replace(PAGE_SIGN, " ").split()).strip(" -–—|/·•,")
            if not all(map(_WORD.fullmatch, _WORDS.findall(rest))):
                yield rest
        elif part.strip():
            yield part.strip()
