"""The sentences of passages that may be quoted: headings, table rows, code and reference entries are left aside."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from asky.text.sentences import sentence_spans
from asky.text.terms import content_terms, words
from asky.values import Span


class PassageText(Protocol):
    """A passage as it was shown: its key, the title of its source and its text."""

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
    for what gives context only; `complete` is false where no stop ends it.
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
        """How the sentence is shown: `text` with each run of white space as one space, without reference numbers.

        A source's own `[3]` would read as a citation of the answer.
        """
        return " ".join(_REFERENCE_NUMBER.sub("", self.text).split())


_MIN_WORDS = 4
_MAX_WORDS = 90
_MIN_LETTERS = 0.5
_MAX_SYMBOLS = 0.06
_LIST_MARKER = re.compile(r"(?:[-*+•◦▪‣·●○■□–—]|\(?\d{1,3}[.)]|\(?[A-Za-z]\)|\([ivx]{1,5}\))\s+")
_FENCE = re.compile(r"^(```|~~~)[^\n]*\n.*?(?:^\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_ENDED = re.compile(r"""[.!?…。！？｡।॥؟۔።]["'”’)\]}»›」』）】》*_`]*(?:\s*\[[\d,;\s–-]{1,20}\])*$""")
_NOT_PROSE = re.compile(
    r"^#{1,6}\s|^\||\|.*\||\t.*\t|^[$>]|^!\[|^\[\^?\d{1,3}\]|^={3,}|\n\s*[=-]{3,}\s*$|\bdoi:|\bISBN\b|https?://\S+\s*$"
)
_REFERENCE_NUMBER = re.compile(r"\s?\[\^?\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*\]")
_KEY_LIKE = re.compile(r"\[\s*P[0-9a-fA-F]{4,8}\b")  # would read as a citation of ours
_SYMBOLS = frozenset("{}[]<>=;|\\_$#~^@`")


def read_sentences(passages: Sequence[PassageText]) -> list[Sentence]:
    """The sentences of all passages in order. What an earlier passage already holds is not quotable a second time."""
    seen: set[str] = set()
    found: list[Sentence] = []
    for index, passage in enumerate(passages):
        fences = [match.span() for match in _FENCE.finditer(passage.text)]
        for position, span in enumerate(sentence_spans(passage.text)):
            code = any(start < span.end and span.start < end for start, end in fences)
            sentence = _sentence(index, position, span, passage.text, code)
            if sentence.quote in seen:
                continue
            seen.add(sentence.quote)
            found.append(sentence)
    return found


def _sentence(passage: int, position: int, span: Span, text: str, code: bool) -> Sentence:
    whole = text[span.start : span.end]
    marker = _LIST_MARKER.match(whole)
    start = span.start + (marker.end() if marker and marker.end() < len(whole) else 0)
    body = text[start : span.end]
    complete = _ENDED.search(body) is not None
    return Sentence(
        passage,
        position,
        Span(start, span.end),
        body,
        frozenset(content_terms(body)),
        not code and _is_prose(body),
        complete,
    )


def _is_prose(text: str) -> bool:
    if _NOT_PROSE.search(text) or _KEY_LIKE.search(text):
        return False
    terms = content_terms(text)
    count = max(len(words(text)), len(terms))  # scripts without spaces have few words and many terms
    if count < _MIN_WORDS or len(words(text)) > _MAX_WORDS or not terms:
        return False
    visible = [character for character in text if not character.isspace()]
    letters = sum(unicodedata.category(character)[0] in "LM" for character in visible)
    symbols = sum(character in _SYMBOLS for character in visible)
    return letters >= _MIN_LETTERS * len(visible) and symbols <= _MAX_SYMBOLS * len(visible)
