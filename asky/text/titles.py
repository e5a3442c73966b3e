"""Titles of documents, as words, and the places in a text where one may stand.

A title stands in a text with its capitals, so that a note called "Notes" is not meant wherever notes are mentioned.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import islice

from asky.text.terms import STOP_WORDS

MAX_WORDS = 10
"""The number of words of a title that is looked for in texts; a longer one is found by links alone."""

MAX_STARTS = 400
"""The number of words of one text at which a title is looked for: a passage has 200 at most, unless it is Chinese."""

_MAX_CHARS = 300
_IDEOGRAPHS = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_IDEOGRAPHS}]|[^\W{_IDEOGRAPHS}]+")
_ADDED = re.compile(r"\s*[(（][^()（）]*[)）]\s*\Z")

Words = tuple[str, ...]


def title_words(text: str) -> Words:
    """Return the words of `text` as they are written, in NFC; each Chinese or Japanese character is one."""
    return tuple(_WORD.findall(unicodedata.normalize("NFC", text)))


def fold(words: Sequence[str]) -> str:
    """Return words joined by spaces, without regard to case."""
    return " ".join(words).casefold()


def head_of(words: Sequence[str]) -> str:
    """Return the first two words of a title, folded, or its only one: what tells whether a title may begin there."""
    return fold(words[:2])


def forms_of(title: str) -> list[Words]:
    """Return the words of `title`, and those without what is added in brackets: "Ed Wood (film)" is also "Ed Wood".

    Titles of more than 300 characters have none.
    """
    if len(title) > _MAX_CHARS:
        return []
    return [words for words in dict.fromkeys(map(title_words, (title, _ADDED.sub("", title)))) if words]


def tells(words: Words) -> bool:
    """Return whether a title says something where it stands in a text: it has ten words at most, one with a capital.

    Letters of scripts without capitals count as such. Words such as "The" and "It" alone say nothing.
    """
    if len(words) > MAX_WORDS or not any(_is_capital(word) for word in words):
        return False
    return any(word.casefold() not in STOP_WORDS for word in words)


def heads_in(words: Words) -> set[str]:
    """Return the heads of all titles that may stand in `words`; see `head_of`."""
    return {head_of(words[at : at + length]) for at in _starts(words) for length in (1, 2)}


def runs_in(words: Words, longest: Mapping[str, int]) -> set[Words]:
    """Return the runs of `words` that may be titles; `longest` has the most words of a title with a head."""
    return {run for at in _starts(words) for run in _runs(words, at, longest)}


def titles_in(words: Words, longest: Mapping[str, int], known: Container[Words]) -> Iterator[Words]:
    """Yield the runs of `words` that are in `known`, in order; of several that overlap, the first, then the longest."""
    end = 0
    for at in _starts(words):
        if at >= end and (found := next((run for run in _runs(words, at, longest) if run in known), None)):
            end = at + len(found)
            yield found


def has_capitals_of(title: Words, written: Words) -> bool:
    """Return whether each word of `title` with a capital has one in `written`, which has the same words otherwise."""
    return all(_is_capital(there) or not _is_capital(word) for word, there in zip(title, written, strict=True))


def _starts(words: Words) -> Iterator[int]:
    """Yield the positions of `words` at which a title may begin, at most `MAX_STARTS`: no word in small letters."""
    return islice((at for at, word in enumerate(words) if not word.islower()), MAX_STARTS)


def _runs(words: Words, at: int, longest: Mapping[str, int]) -> Iterator[Words]:
    """Yield the runs from a position that may be titles, the longest first."""
    most = min(longest.get(head_of(words[at : at + 2]), 0), MAX_WORDS, len(words) - at)
    for length in range(most, 1, -1):
        yield words[at : at + length]
    if longest.get(head_of(words[at : at + 1])):
        yield words[at : at + 1]


def _is_capital(word: str) -> bool:
    """Return whether a word has a capital, or letters of a script without any."""
    return word.lower() != word or (word.upper() == word and any(each.isalpha() for each in word))
