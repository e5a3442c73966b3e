"""The quotable sentences of passages: headings, table rows, code and reference entries are excluded."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from asky.text.sentences import sentence_spans
from asky.text.terms import content_terms, words
from asky.values import Span


class PassageText(Protocol):
    """A passage as shown to the model: its key, the title of its source and its text."""

    @property
    def key(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def text(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a passage. `passages[passage].text[span]` is its text, without the marker of a list item.

    `position` counts the sentences of its passage from 0. `terms` are its distinct content terms. `quotable` is false
    for a sentence that only gives context; `complete` is false if no full stop ends it.
    """

    passage: int
    position: int
    span: Span
    text: str
    terms: frozenset[str]
    quotable: bool
    complete: bool

    @property
    def quote(self) -> str:
        """Return `text` with each run of white space as one space, without reference numbers.

        A source's own `[3]` would read as a citation of the answer.
        """
        return " ".join(_REFERENCE_NUMBER.sub("", self.text).split())


_MIN_WORDS = 4
_MAX_WORDS = 90
_MAX_CHARS = 1_000
_TAIL_CHARS = 80
_MIN_LETTERS = 0.5
_MAX_SYMBOLS = 0.08
_LIST_MARKER = re.compile(r"(?:[-*+•◦▪‣·●○■□–—]|\(?\d{1,3}[.)]|\(?[A-Za-z]\)|\([ivx]{1,5}\))\s+")
_CODE = re.compile(r"^(```|~~~)[^\n]*\n.*?(?:^\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_REFERENCE_ENTRY = re.compile(r"^(?:\[\^?\d{1,3}\]|[^\n]*\b(?:doi:|ISBN\b|arXiv:))[^\n]*$", re.MULTILINE)
_ENDED = re.compile(r"""[.!?…。！？｡।॥؟۔።]["'”’)\]}»›」』）】》*_`]*(?:\s*\[[\d,;\s–-]{1,20}\])*$""")
_NOT_PROSE = re.compile(
    r"^#{1,6}\s|^\||\|.*\||\t.*\t|^[$>]|^!\[|^={3,}|\n\s*[=-]{3,}\s*$|https?://\S+\s*$|[:：]$"
    r"|^\*\*[^*]+\*\*$|^__[^_]+__$"  # a heading in bold
    r"|^(?:For more (?:information|details)|See also|Learn more|To learn more|Read more)\b"
)
_REFERENCE_NUMBER = re.compile(r"\s?\[\^?\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*\]")
_KEY_LIKE = re.compile(r"\[\s*P[0-9a-fA-F]{4,8}\b")  # would read as a citation key
_SYMBOLS = frozenset("{}<>=;|\\$#~^@")


def read_sentences(passages: Sequence[PassageText]) -> list[Sentence]:
    """Return the sentences of all passages in order. Only the first occurrence of a sentence is quotable."""
    seen: set[str] = set()
    found: list[Sentence] = []
    for index, passage in enumerate(passages):
        title = frozenset(content_terms(passage.title))
        asides = [[match.span() for match in pattern.finditer(passage.text)] for pattern in (_CODE, _REFERENCE_ENTRY)]
        for position, span in enumerate(sentence_spans(passage.text)):
            aside = any(_touches(spans, span) for spans in asides)
            sentence = _sentence(index, position, span, passage.text, title=title, aside=aside)
            if sentence.quote in seen:
                continue
            seen.add(sentence.quote)
            found.append(sentence)
    return found


def _sentence(passage: int, position: int, span: Span, text: str, *, title: frozenset[str], aside: bool) -> Sentence:
    whole = text[span.start : span.end]
    marker = _LIST_MARKER.match(whole)
    start = span.start + (marker.end() if marker and marker.end() < len(whole) else 0)
    body = text[start : span.end]
    terms = frozenset(content_terms(body))
    adds_content = not terms <= title  # a repetition of the title is a heading
    complete = _ENDED.search(body[-_TAIL_CHARS:]) is not None
    return Sentence(
        passage, position, Span(start, span.end), body, terms, adds_content and not aside and _is_prose(body), complete
    )


def _touches(spans: Sequence[tuple[int, int]], span: Span) -> bool:
    """Return whether `span` overlaps one of `spans`, which are in order and disjoint."""
    last = bisect_left(spans, (span.end,)) - 1
    return last >= 0 and spans[last][1] > span.start


def _is_prose(text: str) -> bool:
    if len(text) > _MAX_CHARS:
        return False
    if _NOT_PROSE.search(text) or _KEY_LIKE.search(text):
        return False
    word_count = len(words(text))
    # Scripts without spaces have few words and many terms.
    if max(word_count, len(content_terms(text))) < _MIN_WORDS or word_count > _MAX_WORDS:
        return False
    visible = [character for character in text if not character.isspace()]
    letters = sum(unicodedata.category(character)[0] in "LM" for character in visible)
    symbols = sum(character in _SYMBOLS for character in visible)
    return letters >= _MIN_LETTERS * len(visible) and symbols <= _MAX_SYMBOLS * len(visible)
