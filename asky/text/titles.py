"""Titles of documents, as words, and the places in a text where one may stand.

A title stands in a text with its capitals, so that a note called "Notes" is not meant wherever notes are mentioned.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
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
    return {head for _, *heads in _starts(words) for head in heads}


def runs_in(words: Words, longest: Mapping[str, int]) -> list[list[tuple[int, Words]]]:
    """Return the runs of `words` that may be titles with their positions, in a list for each position, longest first.

    `longest` has the number of words of the longest title with a head.
    """
    found = []
    for at, one, two in _starts(words):
        most = min(longest.get(two, 0), MAX_WORDS, len(words) - at)
        lengths = [*range(most, 1, -1), *([1] if one in longest else [])]
        if lengths:
            found.append([(at, words[at : at + length]) for length in lengths])
    return found


def titles_in(runs: Iterable[Iterable[tuple[int, Words]]], known: Container[Words]) -> Iterator[Words]:
    """Yield those of the runs of a text that are in `known`, in order; of several that overlap the first, longest."""
    end = 0
    for at, run in (each for begun in runs if (each := next((it for it in begun if it[1] in known), None))):
        if at >= end:
            end = at + len(run)
            yield run


def has_capitals_of(title: Words, written: Words) -> bool:
    """Return whether each word of `title` with a capital has one in `written`, which has the same words otherwise."""
    return all(_is_capital(there) or not _is_capital(word) for word, there in zip(title, written, strict=True))


def _starts(words: Words) -> Iterator[tuple[int, str, str]]:
    """Yield the positions at which a title may begin, at most `MAX_STARTS`, each with its first word and first two.

    No title begins with a word in small letters. The two are folded; at the end of the text they are one.
    """
    for at in islice((at for at, word in enumerate(words) if not word.islower()), MAX_STARTS):
        yield at, words[at].casefold(), head_of(words[at : at + 2])


def _is_capital(word: str) -> bool:
    """Return whether a word has a capital, or letters of a script without any."""
    return word.lower() != word or (word.upper() == word and any(each.isalpha() for each in word))
