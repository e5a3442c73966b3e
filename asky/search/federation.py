"""Search over several services, with merged results."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias, TypeVar

from asky.concurrency import failure, gather
from asky.errors import AskyError, NotConfigured, ProviderError, StorageError
from asky.net.breaker import CircuitOpen
from asky.search.identifiers import work_keys
from asky.search.port import Candidate, SearchProvider, SearchRequest, SearchResults
from asky.text.urls import canonical_url
from asky.values import Failure

_K = 60
"""Source: Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion", SIGIR 2009."""

_AT_ONCE = 8

Value = TypeVar("Value")
_Search: TypeAlias = tuple[SearchProvider, SearchRequest]

AskService = Callable[[SearchProvider, SearchRequest], Awaitable[SearchResults]]
"""Searches once with one service. Raises what that raises."""


async def ask_service(provider: SearchProvider, request: SearchRequest) -> SearchResults:
    """Send the request to the service: the plain `AskService`."""
    return await provider.search(request)


@dataclass(frozen=True, slots=True)
class ServiceSearch:
    """One search of one service: `results` counts the results, `None` if it failed; `notes` are for people.

    `host` is empty if nothing was sent: the service had failed too often before, or had answered already.
    """

    provider: str
    host: str
    query: str
    results: int | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FederatedResults:
    """The merged results of several services: best first, no duplicate sources.

    `failures` are about services by name, none twice; a service that failed for one query may have answered another.
    `searches` is every search, query by query, in the order of the services.
    """

    candidates: tuple[Candidate, ...]
    failures: tuple[Failure, ...]
    searches: tuple[ServiceSearch, ...]


class Federation:
    """Several search services as one."""

    def __init__(self, providers: Sequence[SearchProvider]) -> None:
        self.providers = tuple(providers)

    async def search(self, requests: Sequence[SearchRequest], ask: AskService = ask_service) -> FederatedResults:
        """Send every request to every service through `ask`, a few at a time, and `merge` the results.

        A service that fails is listed in `failures` while the others continue. Raises `NotConfigured` if there are no
        services; and if every search failed, its error, or one that names each service: an error of the class that all
        have in common, else `ProviderError`. A `StorageError` of `ask` ends the search.
        """
        if not self.providers:
            raise NotConfigured(
                "no search service is set up",
                hint="set search.searxng.base_url, or the API key of brave, tavily, exa or serper",
            )
        searches = [(provider, request) for request in requests for provider in self.providers]
        outcomes = await gather(searches, partial(_search, ask), limit=_AT_ONCE)
        found = [outcome.candidates for outcome in outcomes if isinstance(outcome, SearchResults)]
        errors = [
            (provider.name, outcome)
            for (provider, _), outcome in zip(searches, outcomes, strict=True)
            if isinstance(outcome, AskyError)
        ]
        if errors and not found:
            raise summary(errors, "no search service answered")
        made = (_service_search(search, outcome) for search, outcome in zip(searches, outcomes, strict=True))
        failures = dict.fromkeys(failure(error, name) for name, error in errors)
        return FederatedResults(merge(found), tuple(failures), tuple(made))


def merge(lists: Sequence[Sequence[Candidate]]) -> tuple[Candidate, ...]:
    """Merge several ranked lists of candidates by reciprocal-rank fusion.

    Candidates are one if their canonical addresses are equal or they name the same work. The one that ranks best in its
    list, the earlier list first, provides the fields, and the others fill in missing ones; `found` has all of them in
    the order of the lists. Order: the sum over the lists of 1 / (60 + rank), descending; equal sums by best rank, then
    by the first list that has it.
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
    """Return a sort key by descending score. A list counts once per source, with its best rank."""
    best = {entry.place: entry.rank for entry in reversed(entries)}
    score = math.fsum(1 / (_K + rank) for rank in best.values())
    return -score, entries[0].rank, entries[0].place


def _united(entries: Sequence[_Entry]) -> Candidate:
    """Return the first candidate, with missing fields filled in from the others, and how all were found."""
    if len(entries) == 1:
        return entries[0].candidate
    by_place = sorted(entries, key=lambda entry: (entry.place, entry.rank))
    ranks = tuple(dict.fromkeys(found for entry in by_place for found in entry.candidate.found))
    return replace(united([entry.candidate for entry in entries]), found=ranks)


def united(candidates: Sequence[Candidate]) -> Candidate:
    """Return the first candidate, with missing fields filled in from the others; at least one is given."""
    first = candidates[0]
    counts = [each.citations for each in candidates if each.citations is not None]
    return replace(
        first,
        title=_first(each.title for each in candidates) or "",
        snippet=_first(each.snippet for each in candidates) or "",
        published=_first(each.published for each in candidates),
        kind="paper" if any(each.kind == "paper" for each in candidates) else first.kind,
        doi=_first(each.doi for each in candidates),
        authors=_first(each.authors for each in candidates) or (),
        venue=_first(each.venue for each in candidates),
        pdf_url=_first(each.pdf_url for each in candidates),
        citations=max(counts, default=None),
        is_retracted=any(each.is_retracted for each in candidates),
    )


def _first(values: Iterable[Value | None]) -> Value | None:
    """Return the first value that is set."""
    return next((value for value in values if value), None)


async def _search(ask: AskService, search: _Search) -> SearchResults | AskyError:
    provider, request = search
    try:
        return await ask(provider, request)
    except StorageError:
        raise  # no failure of the service: its results could not be recorded
    except AskyError as error:
        return error


def _service_search(search: _Search, outcome: SearchResults | AskyError | Failure) -> ServiceSearch:
    provider, request = search
    if isinstance(outcome, SearchResults):
        host = provider.host if outcome.was_sent else ""
        return ServiceSearch(provider.name, host, request.query, len(outcome.candidates), outcome.notes)
    return ServiceSearch(provider.name, "" if isinstance(outcome, CircuitOpen) else provider.host, request.query, None)


def _grouped(messages: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the messages, those that say the same of several services as one: "a, b: does not answer"."""
    by_reason: dict[str, dict[str, str]] = {}
    for name, message in messages:
        reason = re.sub(rf"^{re.escape(name)}(?: at [^\s:]+(?::\d+)?)? ", "", message)
        by_reason.setdefault(reason, {})[name] = message
    for reason, told in by_reason.items():
        yield next(iter(told.values())) if len(told) == 1 else f"{', '.join(told)}: {reason}"


def summary(errors: Sequence[tuple[str, AskyError]], what: str) -> AskyError:
    """Return one error for those of several services, by name: the error itself if it is the only one.

    Its message is `what` and each service's reason. It is of the class that all errors have, else a `ProviderError`.
    """
    distinct = list({(name, error.message): error for name, error in errors}.values())
    if len(distinct) == 1:
        return distinct[0]
    messages = "; ".join(_grouped((name, error.message) for name, error in errors))
    kinds = {type(error) for error in distinct}
    kind = kinds.pop() if len(kinds) == 1 else ProviderError
    hint = _first(error.hint for error in distinct)
    return kind(f"{what}: {messages}", hint=hint, retryable=any(error.retryable for error in distinct))
