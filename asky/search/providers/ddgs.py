"""The package ddgs, which scrapes search engines: DuckDuckGo, unless the user's parameters name another `backend`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from asky.concurrency import in_thread
from asky.errors import AskyError, NotConfigured, ProviderError, TimedOut
from asky.installation import install_hint
from asky.search.port import Candidate, SearchProvider, SearchRequest, SearchResults
from asky.search.reply import unavailable
from asky.search.rows import MAX_TITLE_CHARS, collect, language_of, plain, prepare, results_wanted, web_url
from asky.search.service import Service

Scrape = Callable[..., Sequence[Mapping[str, Any]]]
"""The method `text` of the package's client: `scrape(query, *, region, timelimit, max_results, backend, ...)`."""

_MAX_S = 10.0
_BACKEND = "duckduckgo"


def make(service: Service) -> SearchProvider:
    """Return the adapter of the package, loaded on first use. Raises `NotConfigured` if it is not installed."""
    if find_spec("ddgs") is None:
        raise _missing()
    return Ddgs(service, _load)


class Ddgs:
    """See `SearchProvider`. "Nothing found" and "blocked" look the same here, and both raise an error that says so.

    `load` takes a time limit in seconds and returns the search function. Raises `NotConfigured` without the package.
    """

    def __init__(self, service: Service, load: Callable[[int], Scrape]) -> None:
        self.name = service.name
        backend = service.parameters.get("backend", _BACKEND)
        self.host = service.host if backend == _BACKEND else f"engines that ddgs calls {backend}"
        self._service = service
        self._load = load

    async def search(self, request: SearchRequest) -> SearchResults:
        """See `SearchProvider`."""
        query, notes = prepare(self._service, request)
        language, region = language_of(request) or (None, None)
        arguments = self._service.parameters_with(
            {
                "timelimit": request.recency[0] if request.recency else None,
                "region": f"{region.lower()}-{language}" if region and language else None,
                "max_results": results_wanted(self._service, request),
            }
        )
        scrape = self._load(round(min(_MAX_S, self._service.timeout_s)) or 1)

        async def once() -> list[Mapping[str, Any]]:
            return await in_thread(self._scrape, scrape, query, {"backend": _BACKEND, **arguments})

        return collect(self.name, request, await self._service.ask(once), _read, notes=notes)

    def _scrape(self, scrape: Scrape, query: str, arguments: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        try:
            rows = list(scrape(query, **arguments))
        except AskyError:
            raise
        except Exception as error:  # noqa: BLE001 - the package's own errors, which cannot be named without it
            raise self._meaning(error) from None
        if not rows:
            raise self._nothing()
        return rows

    def _meaning(self, error: Exception) -> AskyError:
        kind = type(error).__name__
        if "Timeout" in kind:
            return TimedOut(f"{self.name}: the search engines did not answer in time")
        if "No results" in str(error) or "Ratelimit" in kind:
            return self._nothing()
        if isinstance(error, TypeError):
            hint = "check search.ddgs.parameters, or update the package"
            return ProviderError(f"{self.name} does not accept these parameters", hint=hint, reason="bad_request")
        return unavailable(self.name, f"the package failed ({kind})")

    def _nothing(self) -> ProviderError:
        return ProviderError(
            f"{self.name} found nothing or was blocked: it cannot tell which",
            hint="rephrase the query, wait, or use another service",
            reason="blocked",
            retryable=False,
        )


def _load(timeout_s: int) -> Scrape:
    try:
        client = import_module("ddgs").DDGS  # an optional package: only if it is used
    except ImportError:
        raise _missing() from None
    scrape: Scrape = client(timeout=timeout_s).text
    return scrape


def _missing() -> NotConfigured:
    return NotConfigured(
        "the search service ddgs needs the package ddgs, which is not installed",
        hint=install_hint("installs it", extra="ddgs"),
    )


def _read(row: Mapping[str, Any]) -> Candidate | None:
    url = web_url(row.get("href"))
    if url is None:
        return None
    return Candidate(url, title=plain(row.get("title"), MAX_TITLE_CHARS), snippet=plain(row.get("body")))
