"""Heads and feet of pages without the numbers of pages: "Page 3 of 10" says nothing about a document."""

from __future__ import annotations

import re

PAGE_SIGN = "\ufdd0"
"""Stands for the number of a page in a line; no text of a file contains it."""

# The words for "page" that programs offer beside a page's number; Word also writes one with gaps, "P a g e".
_WORDS = (
    "page pages pag pág página pagina paginas p pg pp seite seiten s side sidan sida sivu strona str oldal strana"
    " sayfa halaman trang blad blz лист стр страница сторінка σελίδα דף עמוד صفحة หน้า"
)
_WORD = "|".join(" ?".join(word) for word in sorted(_WORDS.split(), key=len, reverse=True))
_GAP = r"[^\S\t\n]"
_NUMBERS = re.compile(
    rf"(?:(?<!\w)(?:{_WORD})\.?:?{_GAP}{{0,3}}|第{_GAP}?)?{PAGE_SIGN}"
    rf"(?:[^\t\n{PAGE_SIGN}]{{0,9}}{PAGE_SIGN}){{0,3}}"
    rf"(?:{_GAP}?[页頁쪽]|{_GAP}?ページ|{_GAP}{{0,3}}\|{_GAP}{{0,3}}(?:{_WORD})(?!\w))?",
    re.IGNORECASE,
)
_EDGES = " \u00a0-–—|/·•,;()[]"


def without_page_numbers(text: str) -> str:
    """Return a line of a head or foot without the numbers of pages, and "" if it has nothing else."""
    if PAGE_SIGN not in text:
        return text
    parts = []
    for part in text.split("\t"):
        if PAGE_SIGN in part:
            part = _NUMBERS.sub("", part).replace(PAGE_SIGN, "").strip(_EDGES)
        if any(map(str.isalnum, part)):
            parts.append(part)
    return "\t".join(parts)
