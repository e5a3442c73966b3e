"""What the full-text index is asked for a question: its words, and its pairs of words. Never a syntax error."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from asky.text.terms import STOP_WORDS

MAX_WORDS = 64
"""Content words of a question that are searched.

Source: nDCG@10 over ten retrieval sets loses .005 with the 20 rarest words of a question and .018 with the 8 rarest.
"""

NEAR_TOKENS = 15
"""Tokens that may lie between two words of a pair. Source: 4, 8, 15 and 30 lie within .001 of each other."""

_WORD = re.compile(r"\w+")
_LEFT_OVERS = frozenset({"s", "t", "d", "m", "re", "ve", "ll"})  # of "what's", "don't", "we're"
_STOP_WORDS = STOP_WORDS | _LEFT_OVERS


def word_expression(question: str) -> str:
    """The FTS5 expression for chunks that hold any content word of `question`; "" if there is no word.

    A question of stop words alone keeps them: something must be searched.
    """
    return " OR ".join(_quoted(word) for word in dict.fromkeys(content_words(question)))


def pair_expression(question: str) -> str:
    """The FTS5 expression for chunks that hold two content words of `question` together; "" if there is no pair.

    Words that stand side by side in the question are looked for as a phrase; consecutive content words, with whatever
    stop words between them, within `NEAR_TOKENS` of each other in either order. A phrase thus counts twice.
    """
    return " OR ".join(dict.fromkeys([*_phrases(question), *_neighbours(question)]))


def content_words(question: str) -> list[str]:
    """The words of `question`, lower case, in order, without stop words if others are left; at most `MAX_WORDS`."""
    words = _WORD.findall(question.lower())
    return ([word for word in words if word not in _STOP_WORDS] or words)[:MAX_WORDS]


def _phrases(question: str) -> Iterator[str]:
    for left, right in pairwise(_WORD.findall(question.lower())[: 2 * MAX_WORDS]):
        if left not in _STOP_WORDS and right not in _STOP_WORDS:
            yield _quoted(f"{left} {right}")


def _neighbours(question: str) -> Iterator[str]:
    for left, right in pairwise(content_words(question)):
        if left != right:
            yield f"NEAR({_quoted(left)} {_quoted(right)}, {NEAR_TOKENS})"


def _quoted(text: str) -> str:
    """`text` as an FTS5 string: whatever a user types is searched for and never read as an operator."""
    return '"' + text + '"'  # of word characters and spaces only: there is no quote to double
