"""FTS5 expressions for a question: its words, and its pairs of words. They never cause a syntax error."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from unicodedata import normalize

from asky.text.terms import STOP_WORDS

MAX_WORDS = 64
"""The number of content words of a question that are searched.

Source: nDCG@10 over ten retrieval sets loses .005 with the 20 rarest words of a question and .018 with the 8 rarest.
"""

NEAR_TOKENS = 15
"""Maximum number of tokens between two words of a pair. Source: 4, 8, 15 and 30 lie within .001 of each other."""

_WORD = re.compile(r"\w+")
_SECOND_SENTENCE = re.compile(r"[.!?;]\s+\S|\S\s*\n\s*\S")
# "m2": its exponent stands apart in the index, as in "m^2". No question of SciFact has other first ten documents.
_SYMBOL = re.compile(r"([^\W\d_]|[kcdmnµμ]m|ft|mi|in|yd)([2-9])")
_SUPERSCRIPTS = re.compile(r"(?<=[\d·˙])[⁺⁻]?([⁰¹²³⁴-⁹]+)")
_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_LEFT_OVERS = frozenset({"s", "t", "d", "m", "re", "ve", "ll"})  # remainders of "what's", "don't", "we're"
_STOP_WORDS = STOP_WORDS | _LEFT_OVERS


def word_expression(question: str) -> str:
    """Return the FTS5 expression for chunks that contain any content word of `question`; "" if there is no word.

    A question of stop words alone keeps them: something must be searched. Each word counts once in a single sentence,
    where repetition is syntax, and as often as it occurs in a text, where it shows what the text is about. Exponents
    are found however they are written: `m^2`, `m2` and `m²`.

    Source: see `docs/decisions/0004-fusion.md`.
    """
    words = content_words(question)
    spelled = _SUPERSCRIPTS.sub(lambda match: f" {match[1].translate(_DIGITS)}", question)
    if spelled != question:
        words += content_words(spelled)
    powers = [" ".join(symbol.groups()) for word in words if (symbol := _SYMBOL.fullmatch(normalize("NFKC", word)))]
    return " OR ".join(map(_quoted, words + powers if is_text(question) else dict.fromkeys([*words, *powers])))


def is_text(question: str) -> bool:
    """Return whether `question` has several sentences or lines, as a description or an abstract has."""
    return _SECOND_SENTENCE.search(question) is not None


def pair_expression(question: str) -> str:
    """Return the FTS5 expression for chunks that contain two content words of `question` together; "" without a pair.

    Adjacent words of the question are searched as a phrase; consecutive content words, with any stop words between
    them, within `NEAR_TOKENS` of each other in either order. A phrase thus counts twice.
    """
    return " OR ".join(dict.fromkeys([*_phrases(question), *_neighbours(question)]))


def content_words(question: str) -> list[str]:
    """Return the words of `question`, lower case, in order, without stop words if others remain; up to `MAX_WORDS`."""
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
    """Return `text` as an FTS5 string, so that user input is never parsed as an operator."""
    return '"' + text + '"'  # only word characters and spaces: there is no quote to double
