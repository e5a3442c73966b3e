"""Choice between two readings of a page: the extractor's main text, or the page without its frame."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

_WORD = re.compile(r"\w+")
_ASCII_WORDS = "".join(c.lower() if _WORD.match(c) else " " for c in map(chr, range(128)))
_PROSE_WORDS = 20  # a line with this many words is not a list entry
# Source: 299 pages of seven kinds (wcxb, development half), word F1: the extractor alone .742, with the first rule
# .770, with all three .785, alike on both halves (.783, .787); 130 pages of readability .943, .940, .945; snippets of
# 220 pages of trafilatura's own set, F .921 each. Articles keep their .930; services, lists and forums gain most.
_FOUND_SHARE = 0.7
_MIN_WORDS = 40
_PROSE_RATIO, _PROSE_SHARE = 0.3, 0.55
_LIST_RATIO, _LIST_PROSE_SHARE, _LIST_LINK_SHARE = 0.25, 0.1, 1 / 3


@dataclass(frozen=True, slots=True)
class TextCandidate:
    """A text with its word count."""

    text: str
    size: int

    @classmethod
    def of(cls, text: str) -> TextCandidate:
        """Return the candidate for `text`."""
        return cls(text, len(_words(text)))

    def prose(self) -> float:
        """Return the share of its words that are in long lines."""
        sizes = (len(_words(line)) for line in self.text.split("\n"))
        return sum(size for size in sizes if size >= _PROSE_WORDS) / max(1, self.size)

    def is_found_in(self, *others: TextCandidate) -> bool:
        """Return whether the others together contain most of this candidate's words; empty ones contain nothing."""
        # Two readings of a page have most lines in common, and lines are counted faster than words.
        lines, *held = (Counter(each.text.split("\n")) for each in (self, *others))
        found = len(_words("\n".join((lines & sum(held, Counter[str]())).elements())))
        if found < _FOUND_SHARE * self.size:
            words, *held = (Counter(_words(each.text)) for each in (self, *others))
            found = (words & sum(held, Counter[str]())).total()
        return found >= _FOUND_SHARE * max(1, self.size)


def is_framed_better(
    main: TextCandidate, framed: TextCandidate, page: str, *, is_single_item: bool, link_share: float
) -> bool:
    """Return whether `framed`, the page without its frame, is better than the extractor's `main`.

    It is if the extractor took the frame (menus, cookie banners) for the content, or found only a small part of a page
    that has much prose or is a list of links. For a page that declares itself one thing, an article or a product, and
    for text found in scripts and not in the visible text of the `page`, the extractor's reading is kept.
    """
    if not main.is_found_in(framed):
        if not main.is_found_in(TextCandidate.of(page), framed):
            return main.size == 0
        if framed.size >= _MIN_WORDS:
            return True
    if is_single_item:
        return False
    if main.size < _PROSE_RATIO * framed.size and framed.prose() >= _PROSE_SHARE:
        return True
    is_small_list = main.size < _LIST_RATIO * framed.size and link_share >= _LIST_LINK_SHARE
    return is_small_list and main.prose() < _LIST_PROSE_SHARE


def _words(text: str) -> list[str]:
    """Return the words of a text, in no order: ASCII lines first, which take a fifth of the time."""
    plain: list[str] = []
    others: list[str] = []
    for line in text.split("\n"):
        (plain if line.isascii() else others).append(line)
    return "\n".join(plain).translate(_ASCII_WORDS).split() + _WORD.findall("\n".join(others).lower())
