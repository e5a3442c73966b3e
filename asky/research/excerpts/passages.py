"""Passages to show to a model, from ranked chunks or from a text that it reads: whole, and within a budget."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

from asky.errors import UsageError
from asky.evidence.keys import KeyRing
from asky.research.excerpts.locations import Places
from asky.storage.documents import DocumentStore
from asky.text.sentences import iter_sentences
from asky.values import Evidence, Hit, Location, Source, Span

MAX_PASSAGE_CHARACTERS = 2400
"""The longest passage, about three chunks: a citation of more would not point at anything."""

Fitting: TypeAlias = Callable[[Sequence[str], int], int]
"""Takes texts and a budget in tokens, and returns how many of the first texts have no more tokens together."""

_SPACE = re.compile(r"\s+")


@dataclass(slots=True)
class _Passage:
    """Adjacent hits of one document being joined to a passage; `location` is that of the first in the text."""

    source: Source
    document_id: int
    span: Span
    location: Location
    score: float
    linked_from: str | None

    def takes(self, hit: Hit) -> bool:
        """Return whether `hit` touches the passage on the same page, and both together are not too long."""
        if (self.document_id, self.location.page) != (hit.document_id, hit.location.page):
            return False
        touches = hit.span.start <= self.span.end and self.span.start <= hit.span.end
        return touches and len(_around(self.span, hit.span)) <= MAX_PASSAGE_CHARACTERS

    def take(self, hit: Hit) -> None:
        if hit.span.start < self.span.start:
            self.location = hit.location
        self.span = _around(self.span, hit.span)
        self.linked_from = self.linked_from or hit.linked_from


def join_hits(hits: Iterable[Hit], documents: DocumentStore, keys: KeyRing, *, limit: int) -> list[Evidence]:
    """Return at most `limit` passages in the order of their best hit.

    Adjacent hits are joined, up to `MAX_PASSAGE_CHARACTERS`.
    """
    passages: list[_Passage] = []
    for hit in hits:
        joined = next((each for each in passages if each.takes(hit)), None)
        if joined is not None:
            joined.take(hit)
        elif len(passages) < limit:
            passages.append(_Passage(hit.source, hit.document_id, hit.span, hit.location, hit.score, hit.linked_from))
    places = Places(documents)
    found = (_evidence(passage, documents, keys, places) for passage in passages)
    return [each for each in found if each.text]


def interleave(rankings: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Merge several rankings round robin: the first of each, then the second of each, and so on; each chunk once."""
    seen: set[int] = set()
    merged: list[Hit] = []
    for place in range(max((len(each) for each in rankings), default=0)):
        for ranking in rankings:
            if place < len(ranking) and ranking[place].chunk_id not in seen:
                seen.add(ranking[place].chunk_id)
                merged.append(ranking[place])
    return merged


def read_passages(
    source: Source,
    document_id: int,
    start: int,
    documents: DocumentStore,
    keys: KeyRing,
    *,
    budget: int,
    fitting: Fitting,
    limit: int,
) -> tuple[list[Evidence], int | None]:
    """Return the passages of a source's text from the character `start` on, and the offset after them, or `None`.

    See `first_passages` and `cut_passages`; a passage also ends with its page, as it is cited with one page. Raises
    `UsageError` if only white space is left to read.
    """
    sha256, length = documents.digest(document_id)
    start = min(start, length)
    # More than prose of the budget's length has, at four to five characters per token; and more than one passage.
    end = min(length, start + 8 * budget + MAX_PASSAGE_CHARACTERS)
    text = documents.text(document_id, Span(start, end))
    if end == length and not text.strip():
        raise UsageError(f"the text of {source.id} has {length} characters, and nothing to read from {start} on")
    _, pages = documents.structure(document_id)
    places = Places(documents)
    edges = [edge - start for page in pages for edge in (page.start, page.end)]
    spans = first_passages(text, edges, budget=budget, fitting=fitting, limit=limit)
    if end < length and len(spans) > 1 and not text[spans[-1].end :].strip():
        spans.pop()  # it ends with the text read so far, not with a sentence
    evidence = []
    for each in spans:
        span = Span(start + each.start, start + each.end)
        location = places.at(document_id, span.start)
        shown = text[each.start : each.end]
        key, inside = keys.key_for(sha256, span), places.sections_in(document_id, span)
        evidence.append(Evidence(key, source, document_id, sha256, span, shown, location, sections=inside))
    rest = spans[-1].end if spans else len(text)
    return evidence, start + rest if end < length or text[rest:].strip() else None


def first_passages(text: str, edges: Iterable[int] = (), *, budget: int, fitting: Fitting, limit: int) -> list[Span]:
    """Return the first of the text's consecutive passages, at most `limit`, that together fit the budget.

    All passages are shortened if the first one does not fit, down to single characters; there is always a first, unless
    the text is white space. See `cut_passages`.
    """

    def texts(spans: Sequence[Span]) -> list[str]:
        return [text[each.start : each.end] for each in spans]

    max_chars = MAX_PASSAGE_CHARACTERS
    passages = cut_passages(text, edges, max_chars=max_chars)
    while max_chars > 1 and passages and not fitting(texts(passages[:1]), budget):
        max_chars //= 2
        passages = cut_passages(text, edges, max_chars=max_chars)
    passages = passages[:limit]
    return passages[: max(1, fitting(texts(passages), budget))]


def cut_passages(text: str, edges: Iterable[int] = (), *, max_chars: int = MAX_PASSAGE_CHARACTERS) -> list[Span]:
    """Split the whole text into consecutive passages of at most `max_chars` characters, in order; linear time.

    Only white space lies before, between and after them. None crosses an edge: an offset at which a page begins or
    ends. A passage is as long as the limit allows, but ends with a paragraph if one ends in its second half, else with
    a sentence; a sentence longer than a passage is cut between words, else between characters.
    """
    inner = sorted({each for each in edges if 0 < each < len(text)})
    return [
        passage
        for start, end in pairwise([0, *inner, len(text)])
        for passage in _cut_page(text[start:end], start, max_chars)
    ]


def _cut_page(page: str, offset: int, max_chars: int) -> Iterator[Span]:
    sentences = [each.end for each in iter_sentences(page)]
    paragraphs = [each.start() for each in _SPACE.finditer(page) if each.group().count("\n") > 1]
    start, last = len(page) - len(page.lstrip()), len(page.rstrip())
    while start < last:
        end = last if last - start <= max_chars else _passage_end(page, start, start + max_chars, sentences, paragraphs)
        yield Span(offset + start, offset + end)
        space = _SPACE.match(page, end)
        start = space.end() if space else end


def _passage_end(page: str, start: int, limit: int, sentences: Sequence[int], paragraphs: Sequence[int]) -> int:
    """Return the best place in `(start, limit]` for a passage to end; the text continues after `limit`."""
    if (paragraph := _last(paragraphs, limit)) > start + (limit - start) // 2:
        return paragraph
    if (sentence := _last(sentences, limit)) > start:
        return sentence
    end = limit
    while end > start and not page[end].isspace():
        end -= 1
    return start + len(page[start:end].rstrip()) if end > start else limit


def _last(ends: Sequence[int], limit: int) -> int:
    """Return the last of `ends`, which are in order, that is not beyond `limit`; -1 if there is none."""
    place = bisect_right(ends, limit)
    return ends[place - 1] if place else -1


def _around(one: Span, other: Span) -> Span:
    return Span(min(one.start, other.start), max(one.end, other.end))


def _evidence(passage: _Passage, documents: DocumentStore, keys: KeyRing, places: Places) -> Evidence:
    """Return the passage without surrounding white space, under its key; its line is that of its first character.

    A hit has no line and no columns, and does not say that its text is a snippet or an abstract.
    """
    text = documents.text(passage.document_id, passage.span)
    start = passage.span.start + len(text) - len(text.lstrip())
    text = text.strip()
    span = Span(start, start + len(text))
    sha256, _ = documents.digest(passage.document_id)
    key = keys.key_for(sha256, span)
    place, found = places.at(passage.document_id, span.start), passage.location
    location = replace(found, section=found.section or place.section, line=place.line, columns=place.columns)
    return Evidence(
        key,
        passage.source,
        passage.document_id,
        sha256,
        span,
        text,
        location,
        passage.score,
        passage.linked_from,
        places.sections_in(passage.document_id, span),
    )
