"""What the search queries of a model may carry out of a run that can read private documents.

Queries that such documents suggest are sent, and shown to the user; this keeps back what is plainly a part of them:
quotations, also in pieces one after the other, and the names, numbers and codes that the user did not write. A code may
be anything in another spelling, so none passes, wherever it came from. Words in lower case pass: this is no seal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from asky.errors import SourceRefused
from asky.text.terms import word_runs, words

_REPEATED_WORDS = 9  # a longer run of words is a quotation. Source: threats to research tools name eight as harmless
_LONGEST_WORD = 24  # letters; a longer one is no word but something encoded
_YEAR = re.compile(r"(?:19|20)\d\d")
_PARTS = re.compile(r"[-']")
_HINT = "search with a few plain words; the names, numbers and codes of private documents stay here"


class OutgoingQueries:
    """The queries of one run, which go on from those in `sent` and are added there."""

    def __init__(self, sent: list[str]) -> None:
        self._sent = sent

    def require(self, queries: Sequence[str], asked: str, private: Iterable[str], public: Iterable[str]) -> None:
        """Take note of `queries` that are to be sent. Raises `SourceRefused` where one may not be.

        `asked` is what the user has written so far; `private` and `public` are the passages that the model has seen.
        """
        own = _parts(asked)
        hidden = list(private)
        known = set().union(*(word_runs(text, _REPEATED_WORDS) for text in hidden))
        if known & word_runs(" ".join([*self._sent, *queries]), _REPEATED_WORDS):
            raise SourceRefused("the query repeats a private document", hint=_HINT)
        names = set().union(*(_names(text) for text in hidden)) - own
        names -= set().union(*(_parts(text) for text in public)) if names else set()
        for query in queries:
            for part in _parts(query) - own:
                if part in names or _is_code(part):
                    raise SourceRefused(f"the query may give away a private document: “{part[:40]}”", hint=_HINT)
        self._sent += queries


def _parts(text: str) -> set[str]:
    """The words of `text` with those that are joined by hyphens taken apart."""
    return {part for word in words(text) for part in _PARTS.split(word) if part}


def _names(text: str) -> set[str]:
    """The words of `text` that begin with a capital wherever they stand."""
    written = {part for part in re.split(r"[\W_]+", text) if part}
    small = {part for part in written if part[:1].islower()}
    return {part.casefold() for part in written if part[:1].isupper()} - small


def _is_code(part: str) -> bool:
    has_digit = any(character.isdigit() for character in part)
    is_alone = len(part) == 1 and part.isascii() and part not in "ai"
    return is_alone or len(part) > _LONGEST_WORD or (has_digit and not _YEAR.fullmatch(part))
