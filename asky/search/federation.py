"""Asking several services together, and making one list of what they find."""

from __future__ import annotations

import itertools
import math
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias, TypeVar

from asky.concurrency import error_of, failure, gather
from asky.errors import AskyError, NotConfigured, ProviderError, StorageError
from asky.net.breaker import Resting
from asky.search.identifiers import work_keys
from asky.search.port import Candidate, SearchProvider, SearchRequest, SearchResults
from asky.text.urls import canonical_url
from asky.values import Failure

_K = 60
"""Source: Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion", SIGIR 2009."""

_AT_ONCE = 8

Value = TypeVar("Value")
_Search: TypeAlias = tuple[SearchProvider, SearchRequest]

Ask = Callable[[SearchProvider, SearchRequest], Awaitable[SearchResults]]
"""Searches once with one service. Raises what that raises."""


async def ask_service(provider: SearchProvider, request: SearchRequest) -> SearchResults:
    """The plain way to search: sends the request."""
    return await provider.search(request)


@dataclass(frozen=True, slots=True)
class Asked:
    """One search of one service: `results` is how many it found, `None` where it failed; `notes` are for people.

    `host` is empty where nothing was sent: the service had failed too often before, or had answered already.
    """

    provider: str
    host: str
    query: str
    results: int | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FederatedResults:
    """What several services found: best first, no source twice.

    `failures` are about services by name, none twice; a service that failed for one query may have answered another.
    `asked` is every search, query by query, in the order of the services.
    """

    candidates: tuple[Candidate, ...]
    failures: tuple[Failure, ...]
    asked: tuple[Asked, ...]


class Federation:
    """Several search services as one."""

    def __init__(self, providers: Sequence[SearchProvider]) -> None:
        self.providers = tuple(providers)

    async def search(self, requests: Sequence[SearchRequest], ask: Ask = ask_service) -> FederatedResults:
        """`ask` every service every request, a few at a time, and merge what they find by `merge`.

        A service that fails is among the `failures` while the others serve. Raises `NotConfigured` where there are no
        services; and where every search failed the error of it, or one that names each service: an error of the class
        that all have in common, else `ProviderError`. A `StorageError` of `ask` ends it.
        """
        if not self.providers:
            raise NotConfigured(
                "no search service is set up",
                hint="set search.searxng.base_url, or the key of one of brave, tavily, exa, serper in its variable",
            )
        searches = [(provider, request) for request in requests for provider in self.providers]
        outcomes = await gather(searches, partial(_search, ask), limit=_AT_ONCE)
        if broken := next((each for each in outcomes if isinstance(each, Failure)), None):
            raise error_of(broken)
        found = [outcome.candidates for outcome in outcomes if isinstance(outcome, SearchResults)]
        errors = [
            (provider.name, outcome)
            for (provider, _), outcome in zip(searches, outcomes, strict=True)
            if isinstance(outcome, AskyError)
        ]
        if errors and not found:
            raise _summary(errors)
        asked = (_asked(search, outcome) for search, outcome in zip(searches, outcomes, strict=True))
        failures = dict.fromkeys(failure(error, name) for name, error in errors)
        return FederatedResults(merge(found), tuple(failures), tuple(asked))


def merge(lists: Sequence[Sequence[Candidate]]) -> tuple[Candidate, ...]:
    """One list of the candidates of several ranked lists, by reciprocal-rank fusion.

    Candidates are one where their canonical addresses are equal or they name the same work. Of those, the one that
    ranks best in its list says what it is, the earlier list first, and the others add what it leaves open; `found` has
    all of them in the order of the lists. Order: the sum over the lists of 1 / (60 + rank), falling; equal sums by best
    rank, then by the first list that has it.
    """
    groups: dict[int, list[_Entry]] = {}
    group_of: dict[str, int] = {}
    numbers = itertools.count()
    for place, candidates in enumerate(lists):
        for rank, candidate in enumerate(candidates, start=1):
            keys = (f"url:{canonical_url(candidate.url)}", *work_keys(candidate))
            known = sorted({group_of[key] for key in keys if key in group_of})
            group = known[0] if known else next(numbers)
            members = groups.setdefault(group, [])
            for other in known[1:]:  # this candidate shows that two groups are one
                members += groups.pop(other)
                group_of.update({key: group for key, of in group_of.items() if of == other})
            members.append(_Entry(rank, place, candidate))
            group_of.update(dict.fromkeys(keys, group))
    ranked = sorted((sorted(members, key=_by_rank) for members in groups.values()), key=_by_score)
    return tuple(_united(entries) for entries in ranked)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A candidate at a rank of the list at `place`."""

    rank: int
    place: int
    candidate: Candidate


def _by_rank(entry: _Entry) -> tuple[int, int]:
    return entry.rank, entry.place


def _by_score(entries: Sequence[_Entry]) -> tuple[float, int, int]:
    """Falling score first. A list that has a source under two addresses counts once, with the better rank."""
    best = {entry.place: entry.rank for entry in reversed(entries)}
    score = math.fsum(1 / (_K + rank) for rank in best.values())
    return -score, entries[0].rank, entries[0].place


def _united(entries: Sequence[_Entry]) -> Candidate:
    """The first candidate, with what the others add to it."""
    first, *others = (entry.candidate for entry in entries)
    everybody = (first, *others)
    if not others:
        return first
    by_place = sorted(entries, key=lambda entry: (entry.place, entry.rank))
    counts = [each.citations for each in everybody if each.citations is not None]
    return replace(
        first,
        title=_first(each.title for each in everybody) or "",
        snippet=_first(each.snippet for each in everybody) or "",
        published=_first(each.published for each in everybody),
        kind="paper" if any(each.kind == "paper" for each in everybody) else first.kind,
        found=tuple(dict.fromkeys(found for entry in by_place for found in entry.candidate.found)),
        doi=_first(each.doi for each in everybody),
        authors=_first(each.authors for each in everybody) or (),
        venue=_first(each.venue for each in everybody),
        pdf_url=_first(each.pdf_url for each in everybody),
        citations=max(counts, default=None),
        is_retracted=any(each.is_retracted for each in everybody),
    )


def _first(values: Iterable[Value | None]) -> Value | None:
    """The first that says anything."""
    return next((value for value in values if value), None)


async def _search(ask: Ask, search: _Search) -> SearchResults | AskyError:
    provider, request = search
    try:
        return await ask(provider, request)
    except StorageError:
        raise  # no failure of the service: what it found could not be recorded
    except AskyError as error:
        return error


def _asked(search: _Search, outcome: SearchResults | AskyError | Failure) -> Asked:
    provider, request = search
    if isinstance(outcome, SearchResults):
        host = provider.host if outcome.was_sent else ""
        return Asked(provider.name, host, request.query, len(outcome.candidates), outcome.notes)
    return Asked(provider.name, "" if isinstance(outcome, Resting) else provider.host, request.query, None)


def _summary(errors: Sequence[tuple[str, AskyError]]) -> AskyError:
    """One error that says that all searches failed: the error itself where it is the only one."""
    distinct = list({(name, error.message): error for name, error in errors}.values())
    if len(distinct) == 1:
        return distinct[0]
    messages = "; ".join(error.message for error in distinct)
    kinds = {type(error) for error in distinct}
    kind = kinds.pop() if len(kinds) == 1 else ProviderError
    hint = _first(error.hint for error in distinct)
    return kind(
        f"no search service answered: {messages}", hint=hint, retryable=any(error.retryable for error in distinct)
    )
