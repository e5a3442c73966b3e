"""Which reading of a page to keep: the extractor's main text, or the page without its frame."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import chain

_WORD = re.compile(r"\w+")
_PROSE_WORDS = 20  # a line of so many words is no entry of a list
# Source: 299 pages of seven kinds (wcxb, development half), word F1: the extractor alone .742, with the first rule
# .770, with all three .785, alike on both halves (.783, .787); 130 pages of readability .943, .940, .945; snippets of
# 220 pages of trafilatura's own set, F .921 each. Articles keep their .930; services, lists and forums gain most.
_FOUND_SHARE = 0.7
_MIN_WORDS = 40
_PROSE_RATIO, _PROSE_SHARE = 0.3, 0.55
_LIST_RATIO, _LIST_PROSE_SHARE, _LIST_LINK_SHARE = 0.25, 0.1, 1 / 3


@dataclass(frozen=True, slots=True)
class Reading:
    """A text with what choosing needs to know of it."""

    text: str
    words: Counter[str]
    size: int
    prose: float

    @classmethod
    def of(cls, text: str) -> Reading:
        """The reading of `text`; `prose` is the share of its words that stand in long lines."""
        lines = [_WORD.findall(line.lower()) for line in text.split("\n")]
        words = Counter(chain.from_iterable(lines))
        size = words.total()
        prose = sum(len(line) for line in lines if len(line) >= _PROSE_WORDS) / max(1, size)
        return cls(text, words, size, prose)

    def share_in(self, *others: Reading) -> float:
        """How much of the words of this reading the others hold together; of an empty one, nothing."""
        held = sum((other.words for other in others), Counter[str]())
        return (self.words & held).total() / max(1, self.size)


def is_framed_better(main: Reading, framed: Reading, page: str, *, is_one_thing: bool, link_share: float) -> bool:
    """Whether `framed`, the page without its frame, is the better reading than the extractor's `main`.

    It is where the extractor took the frame (menus, banners about cookies) for the content, or where it found a small
    part of a page that has much prose, or that is a list of links. A page that calls itself one thing, an article or a
    product, and what an extractor finds in scripts and not in the visible text of the `page`, is left to the extractor.
    """
    if main.share_in(framed) < _FOUND_SHARE:
        if main.share_in(Reading.of(page), framed) < _FOUND_SHARE:
            return main.size == 0
        if framed.size >= _MIN_WORDS:
            return True
    if is_one_thing:
        return False
    if main.size < _PROSE_RATIO * framed.size and framed.prose >= _PROSE_SHARE:
        return True
    return main.size < _LIST_RATIO * framed.size and main.prose < _LIST_PROSE_SHARE and link_share >= _LIST_LINK_SHARE
