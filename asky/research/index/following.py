"""Following titles and links: documents that a question names, and those that the best passages lead to.

"Where was the director of Ed Wood born?" names one document; the passage of it that is found names another, which no
word of the question leads to. So documents whose titles stand in the question are raised, then those whose titles stand
in the best passages, or that these have links to.

Source: `docs/concepts/retrieval.md`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from asky.research.index.titles import Named, TitleTable
from asky.storage.scope import Scope
from asky.text.titles import (
    Words,
    fold,
    forms_of,
    has_capitals_of,
    heads_in,
    runs_in,
    tells,
    title_words,
    titles_in,
)
from asky.text.urls import canonical_url
from asky.values import Span

if TYPE_CHECKING:
    from asky.research.vector_store_common import Ids, Scores
    from asky.storage.chunks import ChunkTable

RAISE = 0.5
"""The share of a passage's score by which the documents are raised that it leads to.

Source: nDCG@10 of hotpot200, musique200 and anthropic_docs_rag without: .833, .586, .881; .3 .913, .609, .894; .5 .926,
.614, .912; .7 .928, .620, .887; chosen on two of them, it brings .092, .029 and .006 on the third.
"""

PASSAGES = 5
"""The number of the best passages whose titles and links are followed. Source: 3, 5 and 10 lie within .002."""

MAX_MENTIONS = 20
"""The number of names in a text above which it is a list, such as an index of all notes, and leads nowhere."""

_NOTE_SUFFIX = re.compile(r"\.(?:md|markdown|txt)\Z", re.IGNORECASE)

_Mentions: TypeAlias = Mapping[Words, tuple[int, ...]]
"""Names that stand in a text, or that it has links to, each with the documents of that name."""


@dataclass(frozen=True, slots=True)
class Citing:
    """A passage that may lead to other documents, with its score."""

    document_id: int
    span: Span
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Raised:
    """By how much a document is raised, and the document whose passage leads to it; `None` for the question."""

    amount: float
    linked_from: int | None = None


def follow(
    titles: TitleTable, chunks: ChunkTable, question: str, scope: Scope, ids: Ids, documents: Ids, scores: Scores
) -> dict[int, Raised]:
    """Return the documents that `question`, or one of the best passages for it, leads to, by id.

    `ids`, `documents` and `scores` are those of n candidates, each of a chunk: int64[n], int64[n], float32[n]. It takes
    eight statements to SQLite at most, and one for each title that is found, which counts how common it is.
    """
    import numpy as np  # see `asky.research.vector_store_common`

    if not len(ids):
        return {}
    follower = Follower(titles, scope)
    named = follower.named_in(question, float(scores.max()))
    raised = [
        float(score) + (named[each].amount if each in named else 0.0)
        for score, each in zip(scores, documents.tolist(), strict=True)
    ]
    best = np.argsort(-np.array(raised), kind="stable")[:PASSAGES].tolist()
    texts = chunks.fetch(ids[best].tolist())
    citing = [
        Citing(chunk.document_id, chunk.span, chunk.text, raised[at])
        for at in best
        if (chunk := texts.get(int(ids[at]))) is not None
    ]
    return _joined(named, follower.linked_from(citing, is_named=bool(named)))


class Follower:
    """Follows titles and links within a scope."""

    def __init__(self, titles: TitleTable, scope: Scope) -> None:
        self._titles = titles
        self._scope = scope
        self._common: dict[Words, float] = {}

    def named_in(self, question: str, best: float) -> dict[int, Raised]:
        """Return the documents whose titles stand in the question, by id; `best` is the best score of a passage."""
        (mentions,) = self._mentions([title_words(question)], [()])
        return self._raised([(mentions, best, None)])

    def linked_from(self, passages: Sequence[Citing], *, is_named: bool) -> dict[int, Raised]:
        """Return the documents that any of `passages` leads to, by id, each raised by the passage that does most.

        Unless the question names a document, which `is_named` says, names of one word are not followed: a page
        called "Embeddings" is not meant wherever a passage has the word.
        """
        places = [(each.document_id, each.span) for each in passages]
        found = self._mentions([title_words(each.text) for each in passages], self._titles.links_in(places))
        pages = [self._pages_at(each) for each in self._titles.addresses_in(places)]
        return self._raised(
            (_telling({**mentions, **linked}, is_named), each.score, each.document_id)
            for each, mentions, linked in zip(passages, found, pages, strict=True)
        )

    def _mentions(self, texts: Sequence[Words], links: Sequence[Iterable[str]]) -> list[_Mentions]:
        """Return the names in each text, and those of the notes that it has links to."""
        targets = [[form for link in each for form in forms_of(_note_name(link))] for each in links]
        longest = self._titles.longest(chain.from_iterable(map(heads_in, texts)))
        places = [runs_in(words, longest) for words in texts]
        runs = {run for each in places for begun in each for _, run in begun}
        bearers = self._titles.bearers(map(fold, chain(runs, *targets)), self._scope) if runs or any(targets) else {}
        known = {run: documents for run in runs if (documents := _meant(run, bearers.get(fold(run), ())))}
        return [
            {run: known[run] for run in titles_in(each, known)}
            | {
                form: tuple(dict.fromkeys(it.document_id for it in bearers[fold(form)]))
                for form in linked
                if fold(form) in bearers
            }
            for each, linked in zip(places, targets, strict=True)
        ]

    def _pages_at(self, addresses: Sequence[str]) -> _Mentions:
        canonical = list(filter(None, map(_page_address, addresses)))
        pages = self._titles.pages_at(canonical, self._scope) if canonical else []
        return {each.words: (each.document_id,) for each in pages}

    def _raised(self, citing: Iterable[tuple[_Mentions, float, int | None]]) -> dict[int, Raised]:
        """Return the documents mentioned, by id, each with the most that any mention raises it by."""
        found: dict[int, Raised] = {}
        for mentions, score, origin in citing:
            for words, documents in mentions.items() if len(mentions) <= MAX_MENTIONS else ():
                if origin in documents or score <= 0:
                    continue
                amount = RAISE * score / (1 + math.log(len(documents))) / self._commonness(words)
                for each in documents:
                    if each not in found or found[each].amount < amount:
                        found[each] = Raised(amount, origin)
        return found

    def _commonness(self, words: Words) -> float:
        """Return the divisor of a name that stands in many passages."""
        if words not in self._common:
            self._common[words] = 1 + math.log(max(1, self._titles.mentions(words)))
        return self._common[words]


def _joined(named: Mapping[int, Raised], linked: Mapping[int, Raised]) -> dict[int, Raised]:
    """Return by how much each document is raised in all; what the question names counts as linked from nowhere."""
    return {
        each: Raised(named[each].amount + linked[each].amount if each in linked else named[each].amount)
        if each in named
        else linked[each]
        for each in {**named, **linked}
    }


def _meant(written: Words, bearers: Iterable[Named]) -> tuple[int, ...]:
    """Return the documents that are meant where a text has the words `written`."""
    meant = (each for each in bearers if tells(each.words) and has_capitals_of(each.words, written))
    return tuple(dict.fromkeys(each.document_id for each in meant))


def _telling(mentions: _Mentions, is_named: bool) -> _Mentions:
    return mentions if is_named else {words: found for words, found in mentions.items() if len(words) > 1}


def _note_name(target: str) -> str:
    """Return the name of the note that a link leads to, without its folders and the suffix of a note."""
    return _NOTE_SUFFIX.sub("", target.rpartition("/")[2])


def _page_address(address: str) -> str | None:
    try:
        return canonical_url(address)
    except ValueError:  # the target of an adapter
        return None
