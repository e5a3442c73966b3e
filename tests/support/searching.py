"""Searching in tests: a service that needs no network, and what every search service does."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from asky.config.schema import Search
from asky.errors import AskyError
from asky.net.breaker import Breaker
from asky.net.pace import Pace
from asky.net.retry import Waiting
from asky.search.catalog import SearchContext
from asky.search.port import Candidate, SearchProvider, SearchRequest, SearchResults, ServiceRank

_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?\Z")


class FakeSearch:
    """A `SearchProvider` that finds what it is told, and remembers what it was asked.

    `pages` is what it finds for any query, or for each query by itself; what it is not told of finds nothing. `error`
    is raised in place of all that.
    """

    def __init__(
        self,
        pages: Sequence[Candidate | str] | Mapping[str, Sequence[Candidate | str]] = (),
        *,
        name: str = "fake",
        host: str = "search.invalid",
        error: AskyError | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.host = host
        self.requests: list[SearchRequest] = []
        self._pages, self._error, self._notes = pages, error, notes

    async def search(self, request: SearchRequest) -> SearchResults:
        """See `SearchProvider`."""
        self.requests.append(request)
        if self._error is not None:
            raise self._error
        pages = self._pages.get(request.query, ()) if isinstance(self._pages, Mapping) else self._pages
        candidates = [page if isinstance(page, Candidate) else Candidate(page, title=page) for page in pages]
        by_url = {candidate.url: candidate for candidate in reversed(candidates)}
        kept = [each for each in candidates if by_url.pop(each.url, None) is not None][: request.max_results]
        ranked = (
            replace(each, found=(ServiceRank(self.name, rank, request.query),))
            for rank, each in enumerate(kept, start=1)
        )
        return SearchResults(tuple(ranked), self._notes)


async def check_search_provider(provider: SearchProvider, request: SearchRequest) -> SearchResults:
    """Assert the port's promises on a search that finds something; returns what it found."""
    assert provider.name
    assert provider.host
    assert "://" not in provider.host
    assert "@" not in provider.host
    results = await provider.search(request)
    assert results.candidates, "this search finds something"
    assert len(results.candidates) <= request.max_results
    urls = [candidate.url for candidate in results.candidates]
    assert len(set(urls)) == len(urls), "no address twice"
    for rank, candidate in enumerate(results.candidates, start=1):
        assert candidate.found == (ServiceRank(provider.name, rank, request.query),)
        assert candidate.origin == "search"
        assert candidate.parent is None
        check_candidate(candidate)
    again = await provider.search(replace(request, max_results=1))
    assert len(again.candidates) == 1, "a second search goes as the first one did"
    return results


def check_candidate(candidate: Candidate) -> None:
    """Assert that a candidate is plain text throughout, with an address and an ISO date."""
    parts = urlsplit(candidate.url)
    assert parts.scheme in ("http", "https")
    assert parts.hostname
    for text in (candidate.title, candidate.snippet, *candidate.authors, candidate.venue or ""):
        assert text == " ".join(text.split()), "one line"
        assert not re.search(
            r"</?(b|i|em|span|strong|mark)\b|&(amp|lt|gt|quot|#\d+);|[\x00-\x1f\x7f-\x9f\u202a-\u202e]", text
        )
    assert candidate.published is None or _DATE.match(candidate.published)
    assert candidate.doi is None or candidate.doi.startswith("10.")
    assert candidate.citations is None or candidate.citations >= 0


class FakeTime:
    """Time that passes only when somebody sleeps; `slept` has how long, each time."""

    def __init__(self, wall_s: float = 1_795_305_600.0) -> None:  # 2026-11-22
        self.now_s = 0.0
        self.slept: list[float] = []
        self._wall_s = wall_s

    @property
    def waiting(self) -> Waiting:
        return Waiting(lambda: self.now_s, lambda: self._wall_s + self.now_s, self._sleep, lambda: 1.0)

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now_s += seconds


def search_context(
    environ: Mapping[str, str] | None = None, *, folder: Path | None = None, waiting: Waiting | None = None
) -> SearchContext:
    """What services share, with pace and breaker in `folder`, or in this process alone."""
    waiting = waiting or FakeTime().waiting
    return SearchContext(environ or {}, Pace(folder, waiting), Breaker(folder, waiting), waiting)


def search_settings(name: str, base_url: str | None, *, email: str | None = None, **service: Any) -> Search:
    """A configuration in which the service `name` is at `base_url` and asked without a gap."""
    place = {} if base_url is None else {"base_url": base_url}
    tables: dict[str, Any] = {name: type(getattr(Search(), name))(**{"gap_s": 0.0, **place, **service})}
    return Search(email=email, **tables)
