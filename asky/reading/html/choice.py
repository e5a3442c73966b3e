"""Choice between two readings of a page: the extractor's main text, or the page without its frame."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

_WORD = re.compile(r"\w+")
_ASCII_WORDS = "".join(c.lower() if _WORD.match(c) else " " for c in map(chr, range(128)))
_PROSE_WORDS = 20  # a line with this many words is not a list entry


@dataclass(frozen=True, slots=True)
class ChoiceLimits:
    """The limits of the choice, as shares of words.

    `found`: a text is found in another. `far_shorter`: never take a text as short as that. `small`: the extractor
    found only a small part. `much_prose` and `no_prose`: of words in long lines.

    Source: 299 pages of seven kinds (wcxb, development half), word F1: the extractor alone .743, with these rules .781;
    with all limits chosen on four fifths of the sites and measured on the last .779, above the extractor by .036
    [.015, .057]. Snippets of trafilatura's own 220 pages .921 (the extractor alone .921), 130 pages of readability .947
    (.943). What each rule adds on wcxb: a page in one line .003 [.001, .006], the frame as content .015 [.002, .030],
    much prose .007 [.001, .015], no prose .007 [.001, .015]. Not kept: taking a shorter text for one that has nothing
    in common with it (.008 [-.002, .019]; .002 on sites left out).
    """

    found: float = 0.7
    far_shorter: float = 0.25
    small: float = 0.3
    much_prose: float = 0.55
    no_prose: float = 0.1


CHOICE_LIMITS = ChoiceLimits()


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

    def found_in(self, *others: TextCandidate) -> float:
        """Return the share of this candidate's words that the others together contain, counted; 0 of no words."""
        words, *held = (Counter(_words(each.text)) for each in (self, *others))
        return (words & sum(held, Counter[str]())).total() / max(1, self.size)


def is_framed_better(
    main: TextCandidate,
    framed: TextCandidate,
    page: str,
    *,
    is_single_item: bool,
    limits: ChoiceLimits = CHOICE_LIMITS,
) -> bool:
    """Return whether `framed`, the page without its frame, is better than the extractor's `main`.

    It is if the extractor gave up and wrote the whole page in one line, took the frame (menus, cookie banners) for the
    content, or found only a small part of a page with much prose, or one without any prose. The extractor's text is
    kept where the other is shorter, one line excepted; where it stands in scripts and not in the visible text of the
    `page`; and, even if it is small, where a page declares itself one thing, an article or a product.
    """
    if main.size == 0 or framed.size < limits.far_shorter * main.size:
        return main.size == 0
    is_one_line = "\n" not in main.text and "\n" in framed.text and framed.found_in(main) >= limits.found
    if is_one_line or main.found_in(framed) < limits.found:
        if main.found_in(TextCandidate.of(page), framed) < limits.found:
            return False
        if is_one_line or framed.size >= main.size:
            return True
    if is_single_item or main.size >= limits.small * framed.size:
        return False
    return framed.prose() >= limits.much_prose or main.prose() < limits.no_prose


def _words(text: str) -> list[str]:
    """Return the words of a text, in no order: ASCII lines first, which take a fifth of the time."""
    plain: list[str] = []
    others: list[str] = []
    for line in text.split("\n"):
        (plain if line.isascii() else others).append(line)
    return "\n".join(plain).translate(_ASCII_WORDS).split() + _WORD.findall("\n".join(others).lower())
