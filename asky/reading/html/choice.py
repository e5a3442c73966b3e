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
    found only a small part. `no_prose`: of words in long lines.

    Source: 299 pages of seven kinds (wcxb, development half), word F1: the extractor alone .736, with these rules and
    what `asky.reading.html.selection` takes back .791; with all limits chosen on four fifths of the sites and measured
    on the last .790, above the extractor by .055 [.035, .076]. Snippets of trafilatura's own 220 pages .925 (by .012
    [.001, .025] above it), 130 pages of readability .959 (.025 [.007, .044]). A small part without prose adds .008
    [.001, .018]; before anything was taken back, a page in one line .003 [.001, .006], the frame as content .015
    [.002, .030]. Not kept: taking a shorter text for one that has nothing in common with it (.008 [-.002, .019]; .002
    on sites left out); a small part of a page with much prose (.003 [-.001, .010] now that prose is taken back).
    """

    found: float = 0.7
    far_shorter: float = 0.25
    small: float = 0.3
    no_prose: float = 0.1


CHOICE_LIMITS = ChoiceLimits()


@dataclass(frozen=True, slots=True)
class TextCandidate:
    """A text with its words, in no order, and their number."""

    text: str
    size: int
    words: list[str]

    @classmethod
    def of(cls, text: str) -> TextCandidate:
        """Return the candidate for `text`."""
        words = _words(text)
        return cls(text, len(words), words)

    def prose(self) -> float:
        """Return the share of its words that are in long lines."""
        sizes = (len(_words(line)) for line in self.text.split("\n"))
        return sum(size for size in sizes if size >= _PROSE_WORDS) / max(1, self.size)

    def found_in(self, *others: TextCandidate) -> float:
        """Return the share of this candidate's words that the others together contain, counted; 0 of no words."""
        words, *held = (Counter(each.words) for each in (self, *others))
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
    content, or found only a small part, without any prose. The extractor's text is kept where the other is shorter,
    one line excepted; where it stands in scripts and not in the visible text of the `page`; and, even if it is small,
    where a page declares itself one thing, an article or a product.
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
    return main.prose() < limits.no_prose


def _words(text: str) -> list[str]:
    """Return the words of a text, in no order: ASCII lines first, which take a fifth of the time."""
    if text.isascii():
        return text.translate(_ASCII_WORDS).split()
    plain: list[str] = []
    others: list[str] = []
    for line in text.split("\n"):
        (plain if line.isascii() else others).append(line)
    return "\n".join(plain).translate(_ASCII_WORDS).split() + _WORD.findall("\n".join(others).lower())


class WordsInOrder:
    """The words of the parts of a text, in its order and in lower case."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._plain = text.translate(_ASCII_WORDS) if text.isascii() else None  # a fifth of the time

    def of(self, start: int, end: int) -> str:
        """Return the words between two offsets, with a space between them."""
        if self._plain is not None:
            return " ".join(self._plain[start:end].split())
        return " ".join(_WORD.findall(self._text[start:end].lower()))
