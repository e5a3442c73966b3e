"""A guard for search queries that a model writes in a run that can read private documents.

Queries inspired by such documents are sent, and shown to the user; the guard blocks those that plainly contain parts of
them: quotations, also when split over consecutive queries, and names, numbers and codes that the user did not write. A
code may be anything in another encoding, so none passes, whatever its origin. All text is folded before it is compared
(`asky.text.letters.fold`), and a name is also recognised in the plural, joined to other letters and in pieces.
Lower-case words pass: the guard is not leak-proof. Queries that the user approves are sent, and count as the user's own
words from then on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from pathlib import PurePath
from typing import TYPE_CHECKING

from asky.errors import SourceRefused
from asky.text.letters import fold, without_accents
from asky.text.terms import STOP_WORDS, word_runs, words

if TYPE_CHECKING:
    from asky.values import Evidence

_REPEATED_WORDS = 9  # a longer run of words is a quotation. Source: threats to research tools name eight as harmless
_MIN_SINGULAR = 4  # letters; shorter ones are too often words of their own
_MIN_JOINED = 3  # letters of each name in a word that consists of names
_MIN_IN_PIECES = 5  # letters of a name that two or more words may spell
_MIN_INSIDE = 6  # letters of a name that is recognised within a longer word
_MAX_WORD_CHARS = 24  # letters; anything longer is encoded data, not a word
_YEAR = re.compile(r"(?:19|20)\d\d")
_PARTS = re.compile(r"[-']")
_LETTERS = re.compile(r"[^\W_](?:[^\W_]|[\u0300-\u036f])*")
_STRUCK = "…"
_HINT = "search with a few plain words; the names, numbers and codes of private documents stay here"


class QueryHeldBack(SourceRefused):
    """A query was not sent: it could reveal a private document, and the user has not approved it."""


class QueryLeakGuard:
    """Checks the queries of one run: those that may be sent continue the queries in `sent`, and are appended to it."""

    def __init__(self, sent: list[str]) -> None:
        self._sent = sent
        self._approved: list[str] = []

    def approve(self, queries: Sequence[str]) -> None:
        """Record `queries`, which the user allowed to be sent, whatever they contain."""
        self._approved += queries
        self._sent += queries

    def has_sent(self, queries: Sequence[str]) -> bool:
        """Return whether all `queries` were sent or approved before, in this form."""
        return set(queries) <= set(self._sent)

    def require(
        self,
        queries: Sequence[str],
        written_by_user: str,
        private: Iterable[str],
        public: Iterable[str],
        file_names: Iterable[str] = (),
    ) -> None:
        """Check and record `queries` before they are sent. Raises `QueryHeldBack` if one may not be sent.

        `written_by_user` is what the user has written so far; `private` and `public` are the passages that the model
        has seen, and `file_names` the names of private files.
        """
        hidden = list(private)
        known = set().union(*map(_runs, hidden))
        if known & (_runs(" ".join([*self._sent, *queries])) - _runs(" ".join(self._sent))):  # the sent is known
            raise QueryHeldBack("the query repeats a private document", hint=_HINT)
        own = set(_parts(" ".join([written_by_user, *self._approved])))
        names = set().union(*map(_names, hidden))
        stems = [each for each in map(_stem, file_names) if len(each) > 1 and not own.issuperset(each)]
        if names or stems:
            told = set().union(*map(_parts, public))
            names = _without(names, own | told)
            stems = [each for each in stems if not told.issuperset(each)]
        for query in queries:
            parts = _parts(query)
            if revealed := next(_revealed(parts, own, names), None) or _named_file(parts, stems):
                raise QueryHeldBack(f"the query may reveal a private document: “{revealed[:40]}”", hint=_HINT)
        self._sent += queries


def text_and_titles(passage: Evidence) -> str:
    """Return the text of a passage with its heading, and with the authors and the title of its source.

    A title that is the name of the file is left out: its words are plain ones, and count together.
    """
    source, section = passage.source, passage.location.section or ""
    title = source.title if source.title != PurePath(source.path or "").name else ""
    return "\n".join([passage.text, title, section, *source.authors])


def without_names(text: str, private: Iterable[str], file_names: Iterable[str], known: Iterable[str]) -> str:
    """Return `text` with “…” for each name, and each word of letters and digits, that only `private` passages hold.

    So is a name of a private file whose words stand in a row. Words of `known` texts stay. As in queries, a name is
    also recognised in the plural, and a long one inside a longer word; letters and digits alone are no code here.
    """
    files = list(file_names)
    hidden, own = [*private, *files], set().union(*map(_parts, known))
    names = _without(set().union(*map(_names, hidden)), own)
    names |= {part for each in hidden for part in _parts(each) if _is_mixed(part)} - own
    singular, long = set().union(*map(_singulars, names)), [each for each in names if len(each) >= _MIN_INSIDE]
    kept = {
        each
        for each in {fold(each) for each in _LETTERS.findall(text)} - own
        if not _singulars(each) & singular and not any(name in each for name in long)
    }
    text = _LETTERS.sub(lambda found: found[0] if fold(found[0]) in own or fold(found[0]) in kept else _STRUCK, text)
    for stem in sorted({each for each in map(_stem, files) if len(each) > 1 and not own.issuperset(each)}):
        text = re.sub(r"[\W_]+".join(map(re.escape, stem)), _STRUCK, text, flags=re.IGNORECASE)
    return text


def _is_mixed(part: str) -> bool:
    return part.isalnum() and not part.isalpha() and not part.isdigit()


def _runs(text: str) -> set[tuple[str, ...]]:
    return word_runs(fold(text), _REPEATED_WORDS)


def _parts(text: str) -> list[str]:
    """Return the words of `text` in order, folded, with hyphenated ones split."""
    return [part for word in words(fold(text)) for part in _PARTS.split(word) if part]


def _stem(file_name: str) -> tuple[str, ...]:
    """Return the words of the name of a file without its suffix."""
    return tuple(_parts(PurePath(file_name).stem.replace("_", " ")))


def _named_file(parts: Sequence[str], stems: Iterable[tuple[str, ...]]) -> str | None:
    """Return the first of `stems` whose words are all in `parts`, in a row; `None` if there is none."""
    text = f" {' '.join(parts)} "
    return next((stem for stem in map(" ".join, stems) if f" {stem} " in text), None)


def _names(text: str) -> set[str]:
    """Return the capitalized words of `text`, in any position, folded."""
    written = {part for part in re.split(r"[\W_]+", without_accents(text)) if part}
    small = {fold(part) for part in written if part[:1].islower()}
    return {fold(part) for part in written if part[:1].isupper()} - small


def _revealed(parts: Sequence[str], own: Set[str], names: Set[str]) -> Iterator[str]:
    """Yield what the words of a query reveal: codes that are not the user's `own`, and `names`, in pieces too."""
    singular = set().union(*map(_singulars, names))
    harmless = own | STOP_WORDS
    for part in parts:
        if part not in own and (_singulars(part) & singular or _holds_name(part, own, names) or _is_code(part)):
            yield part
    for start, part in enumerate(parts):
        spelled, pieces = part, {part}
        for piece in parts[start + 1 :]:
            spelled += piece
            pieces.add(piece)
            if len(spelled) > _MAX_WORD_CHARS:
                break
            if len(spelled) >= _MIN_IN_PIECES and spelled in names and not pieces <= harmless:
                yield spelled


def _singulars(word: str) -> set[str]:
    """Return `word`, and what it may be the plural of."""
    endings = [each for each in ("s", "es") if word.endswith(each) and len(word) - len(each) >= _MIN_SINGULAR]
    return {word, *(word.removesuffix(each) for each in endings)}


def _without(names: Set[str], known: Set[str]) -> set[str]:
    """Return the names that are not `known`, in the singular or the plural."""
    singular = set().union(*map(_singulars, known))
    return {each for each in names if not _singulars(each) & singular}


def _holds_name(word: str, own: Set[str], names: Set[str]) -> bool:
    """Return whether a long name is part of `word`, or `word` consists of names and perhaps words of `own`."""
    if any(len(each) >= _MIN_INSIDE and each in word for each in names):
        return True
    ends = {0: False}  # where a part may end, and whether a name comes before that
    for end in range(_MIN_JOINED, len(word) + 1):
        for start, has_name in [*ends.items()]:
            part = word[start:end]
            if len(part) >= _MIN_JOINED and part not in STOP_WORDS and part in names | own:
                ends[end] = ends.get(end, False) or has_name or part in names
    return ends.get(len(word), False)


def _is_code(part: str) -> bool:
    has_digit = any(character.isdigit() for character in part)
    is_alone = len(part) == 1 and part.isascii() and part not in "ai"
    return is_alone or len(part) > _MAX_WORD_CHARS or (has_digit and not _YEAR.fullmatch(part))
