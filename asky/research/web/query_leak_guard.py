"""A guard for search queries that a model writes in a run that can read private documents.

Queries inspired by such documents are sent, and shown to the user; the guard blocks those that plainly contain parts of
them: quotations, also when split over consecutive queries, and names, numbers and codes that the user did not write. A
code may be anything in another encoding, so none passes, whatever its origin. Lower-case words pass: the guard is not
leak-proof. Queries that the user approves are sent, and count as the user's own words from then on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from asky.errors import SourceRefused
from asky.text.terms import word_runs, words

_REPEATED_WORDS = 9  # a longer run of words is a quotation. Source: threats to research tools name eight as harmless
_MAX_WORD_CHARS = 24  # letters; anything longer is encoded data, not a word
_YEAR = re.compile(r"(?:19|20)\d\d")
_PARTS = re.compile(r"[-']")
_HINT = "search with a few plain words; the names, numbers and codes of private documents stay here"


class QueryLeakGuard:
    """Checks the queries of one run: those that may be sent continue the queries in `sent`, and are appended to it."""

    def __init__(self, sent: list[str]) -> None:
        self._sent = sent
        self._approved: list[str] = []

    def approve(self, queries: Sequence[str]) -> None:
        """Record `queries`, which the user allowed to be sent, whatever they contain."""
        self._approved += queries
        self._sent += queries

    def require(
        self, queries: Sequence[str], written_by_user: str, private: Iterable[str], public: Iterable[str]
    ) -> None:
        """Check and record `queries` before they are sent. Raises `SourceRefused` if one may not be sent.

        `written_by_user` is what the user has written so far; `private` and `public` are the passages that the model
        has seen.
        """
        own = _parts(" ".join([written_by_user, *self._approved]))
        hidden = list(private)
        known = set().union(*(word_runs(text, _REPEATED_WORDS) for text in hidden))
        runs = word_runs(" ".join([*self._sent, *queries]), _REPEATED_WORDS)
        if known & (runs - word_runs(" ".join(self._sent), _REPEATED_WORDS)):  # what was sent cannot be taken back
            raise SourceRefused("the query repeats a private document", hint=_HINT)
        names = set().union(*(_names(text) for text in hidden)) - own
        names -= set().union(*(_parts(text) for text in public)) if names else set()
        for query in queries:
            for part in _parts(query) - own:
                if part in names or _is_code(part):
                    raise SourceRefused(f"the query may reveal a private document: “{part[:40]}”", hint=_HINT)
        self._sent += queries


def _parts(text: str) -> set[str]:
    """Return the words of `text`, with hyphenated ones split."""
    return {part for word in words(text) for part in _PARTS.split(word) if part}


def _names(text: str) -> set[str]:
    """Return the capitalized words of `text`, in any position."""
    written = {part for part in re.split(r"[\W_]+", text) if part}
    small = {part for part in written if part[:1].islower()}
    return {part.casefold() for part in written if part[:1].isupper()} - small


def _is_code(part: str) -> bool:
    has_digit = any(character.isdigit() for character in part)
    is_alone = len(part) == 1 and part.isascii() and part not in "ai"
    return is_alone or len(part) > _MAX_WORD_CHARS or (has_digit and not _YEAR.fullmatch(part))
