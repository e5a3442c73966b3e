"""From ranked chunks to the passages that a model is shown: whole, each under a key, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from asky.evidence.keys import KeyRing
from asky.storage.documents import DocumentStore
from asky.values import Evidence, Hit, Location, Source, Span

MAX_PASSAGE_CHARACTERS = 2400
"""Neighbours join up to this length, about three chunks: a citation of more would not point at anything."""


@dataclass(slots=True)
class _Passage:
    """Neighbouring hits of one document on the way to a passage; `location` is that of the first in the text."""

    source: Source
    document_id: int
    span: Span
    location: Location
    score: float

    def takes(self, hit: Hit) -> bool:
        """Whether `hit` touches the passage on the same page, and the two together are not too long to be one."""
        if (self.document_id, self.location.page) != (hit.document_id, hit.location.page):
            return False
        touches = hit.span.start <= self.span.end and self.span.start <= hit.span.end
        return touches and len(_around(self.span, hit.span)) <= MAX_PASSAGE_CHARACTERS

    def take(self, hit: Hit) -> None:
        if hit.span.start < self.span.start:
            self.location = hit.location
        self.span = _around(self.span, hit.span)


def join_hits(
    hits: Iterable[Hit], documents: DocumentStore, keys: KeyRing, *, budget: int, cost: Callable[[str], int], limit: int
) -> list[Evidence]:
    """Passages in the order of their best hit; hits that touch in the text become one, up to `MAX_PASSAGE_CHARACTERS`.

    At most `limit` passages whose texts together cost at most `budget`, where `cost` counts a text's tokens: the first
    always fits, the first that would exceed the budget ends the list.
    """
    passages: list[_Passage] = []
    for hit in hits:
        joined = next((each for each in passages if each.takes(hit)), None)
        if joined is not None:
            joined.take(hit)
        elif len(passages) < limit:
            passages.append(_Passage(hit.source, hit.document_id, hit.span, hit.location, hit.score))
    evidence: list[Evidence] = []
    spent = 0
    for passage in passages:
        shown = _evidence(passage, documents, keys)
        spent += cost(shown.text)
        if evidence and spent > budget:
            break
        if shown.text:
            evidence.append(shown)
    return evidence


def interleave(rankings: Sequence[Sequence[Hit]]) -> list[Hit]:
    """One ranking of several: the first of each, then the second of each, and so on; each chunk once."""
    seen: set[int] = set()
    merged: list[Hit] = []
    for place in range(max((len(each) for each in rankings), default=0)):
        for ranking in rankings:
            if place < len(ranking) and ranking[place].chunk_id not in seen:
                seen.add(ranking[place].chunk_id)
                merged.append(ranking[place])
    return merged


def _around(one: Span, other: Span) -> Span:
    return Span(min(one.start, other.start), max(one.end, other.end))


def _evidence(passage: _Passage, documents: DocumentStore, keys: KeyRing) -> Evidence:
    """The passage without the white space around it, under its key."""
    text = documents.text(passage.document_id, passage.span)
    start = passage.span.start + len(text) - len(text.lstrip())
    text = text.strip()
    span = Span(start, start + len(text))
    sha256, _ = documents.digest(passage.document_id)
    key = keys.key_for(sha256, span)
    return Evidence(key, passage.source, passage.document_id, sha256, span, text, passage.location, passage.score)
