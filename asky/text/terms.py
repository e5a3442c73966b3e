"""Tokenization into words and content terms, used for all matching, ranking and checking."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from Stemmer import Stemmer

STOP_WORDS: frozenset[str] = frozenset(
    """
    a about above after again against all also although am among an and any are aren't as at be because been before
    being below between both but by can can't cannot could couldn't did didn't do does doesn't doing don't down during
    each either etc few for from further had hadn't has hasn't have haven't having he he'd he'll he's her here hers
    herself him himself his how however i i'd i'll i'm i've if in into is isn't it it'd it'll it's its itself just let's
    may me might more most must my myself neither no nor not of off on once one's only onto or other ought our ours
    ourselves out over own per same shall shan't she she'd she'll she's should shouldn't since so some such than that
    that's the their theirs them themselves then there there's these they they'd they'll they're they've this those
    though through thus to too under until up upon us very via was wasn't we we'd we'll we're we've were weren't what
    what's when where whether which while who who's whom whose why will with within without won't would wouldn't yet you
    you'd you'll you're you've your yours yourself yourselves
    whats whos wheres whens hows thats theres dont doesnt didnt cant couldnt isnt wasnt arent ive im
    """.split()  # noqa: SIM905 - a list literal of 200 quoted words is harder to read and to change
)
"""English words with little meaning of their own. Casefolded, as returned by `words`."""

_MONTHS = tuple(
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)
_ISO_MONTH = re.compile(r"\b(?:19|20)\d\d-(0[1-9]|1[0-2])\b")
_INSIDE_NAMES = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_")
_MAX_STEMMED_CHARS = 64  # the stemmer needs quadratic time on some endless "words"; no English word is longer
_STEM_CACHE_WORDS = 16_384

# Letters and digits of every script. `\w` leaves out the vowel signs of Indic and South-East Asian scripts and
# combining accents, which would split words of those scripts.
_LETTER = (
    r"[^\W_]|[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u0900-\u0963"
    r"\u0966-\u0df3\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ece\u102b-\u103e\u17b4-\u17d3]"
)
_WORD = re.compile(
    rf"(?<![^\W_])[a-z](?:\+\+|#)(?![^\W_])|(?:{_LETTER})+(?:(?:['-]|(?<=\d)[.,](?=\d))(?:{_LETTER})+)*(?:(?<=\d)%)?"
)
_UNIFORM = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u2010": "-", "\u00ad": None, "\u2060": None, "\ufeff": None})
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
# Han, kana, Thai, Lao, Myanmar, Khmer: written without spaces, so that a run of them is a phrase and not a word.
_UNSPACED = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+"
)


def words(text: str) -> list[str]:
    """Return the words of `text` in order, NFKC-normalised and casefolded; linear time.

    Inner hyphens and apostrophes stay (`state-of-the-art`, `don't`), as do the separators and the percent sign of
    numbers (`1,400`, `3.5%`) and the suffixes of `c++` and `c#`. Underscores, dots and all else separate words. A run
    of a script written without spaces is one word.
    """
    return _WORD.findall(unicodedata.normalize("NFKC", text).translate(_UNIFORM).casefold())


def word_runs(text: str, length: int) -> set[tuple[str, ...]]:
    """Return every run of `length` words of `text`, as split by `words`; empty for a shorter text."""
    found = words(text)
    return {tuple(found[start : start + length]) for start in range(len(found) - length + 1)}


def content_terms(text: str) -> list[str]:
    """Return the stems of the content words of `text`, in order, with duplicates; linear time.

    Stop words are dropped, hyphenated words are split, numbers lose their percent sign and thousands separators, and
    runs of scripts without spaces become overlapping pairs of characters.

    Source: Snowball's English stemmer (Porter 2).
    """
    return [stem(part) for word in words(text) if word not in STOP_WORDS for part in _parts(word)]


def terms_of(text: str) -> frozenset[str]:
    """Return the distinct content terms of `text`, with names such as `first_delay` and `retryAfter` split too.

    A date such as `2024-03` also has the name of its month.
    """
    found = set(content_terms(text))
    if _INSIDE_NAMES.search(text):
        found.update(content_terms(_INSIDE_NAMES.sub(" ", text)))
    found.update(stem(_MONTHS[int(month) - 1]) for month in _ISO_MONTH.findall(text))
    return frozenset(found)


def stem(word: str) -> str:
    """Return the stem of a word from `words`; numbers and overlong words are their own stems."""
    return _stem(word) if word[:1].isalpha() and len(word) <= _MAX_STEMMED_CHARS else word


def _parts(word: str) -> Iterator[str]:
    """Yield the separately matched pieces of one word."""
    if word.isascii() and word.isalpha():  # most words, and none of what follows applies to them
        yield word
        return
    for part in word.split("-"):
        if not part or part in STOP_WORDS:
            continue
        if part[0].isdigit():
            yield from _number_parts(part)
        elif _UNSPACED.search(part):
            yield from _pairs(part)
        else:
            yield part


def _number_parts(number: str) -> list[str]:
    number = number.removesuffix("%")
    if _THOUSANDS.fullmatch(number):
        return [number.replace(",", "")]
    return number.split(",")


def _pairs(word: str) -> Iterator[str]:
    position = 0
    for run in _UNSPACED.finditer(word):
        if run.start() > position:
            yield word[position : run.start()]
        characters = run.group()
        yield from (characters[i : i + 2] for i in range(max(1, len(characters) - 1)))
        position = run.end()
    if position < len(word):
        yield word[position:]


@lru_cache(maxsize=_STEM_CACHE_WORDS)
def _stem(word: str) -> str:
    stemmed: str = Stemmer("english").stemWord(word)  # a new one (0.3 us): it must not be shared between threads
    return stemmed
