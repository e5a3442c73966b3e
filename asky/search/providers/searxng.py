"""SearXNG: the user's own instance of a metasearch engine."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from asky.errors import AskyError, ProviderError, RateLimited
from asky.search.dates import iso_date
from asky.search.identifiers import doi_of
from asky.search.port import Candidate, SearchProvider, SearchRequest, SearchResults
from asky.search.reply import ServiceReply, bad_request, unavailable
from asky.search.rows import (
    MAX_TITLE_CHARS,
    Adapter,
    collect,
    error_text,
    language_of,
    plain,
    prepare,
    table,
    texts,
    web_url,
    within,
)
from asky.search.service import Service

_OPERATORS = "!:<?"
"""First characters of words that SearXNG takes as commands: an engine or a redirection, a language, a time limit."""


def make(service: Service) -> SearchProvider:
    """Return the adapter of SearXNG. A key of the form `USER:PASSWORD` is for basic authentication."""
    return Searxng(service)


class Searxng(Adapter):
    """See `SearchProvider`. The number of results cannot be chosen: a page has about twenty."""

    async def search(self, request: SearchRequest) -> SearchResults:
        """See `SearchProvider`."""
        query, notes = prepare(self.service, SearchRequest(_without_operators(request.query)))
        language = language_of(request)
        params = self.service.parameters_with(
            {
                "q": query,
                "format": "json",
                "time_range": request.recency,
                "language": "-".join(filter(None, language)) if language else None,
            }
        )
        answer = await self.service.get_json("/search", params, headers=self._headers(), explain=self._explain)
        found = table(self.name, answer)
        silent = _engines(found.get("unresponsive_engines"))
        if silent and not found.get("results"):
            raise unavailable(self.name, f"none of its search engines answered: {silent}")
        if silent:
            notes = (*notes, f"search engines that did not answer: {silent}")
        return collect(self.name, request, found.get("results"), _read, notes=notes)

    def _headers(self) -> dict[str, str]:
        key = self.service.api_key
        if key is None:
            return {}
        return {"Authorization": f"Basic {b64encode(key.encode()).decode()}" if ":" in key else f"Bearer {key}"}

    def _explain(self, reply: ServiceReply) -> AskyError | None:
        if reply.status == 403:
            return ProviderError(
                f"{self.name} does not answer in JSON (status 403)",
                hint="add json to search.formats in its settings.yml, and restart it",
                reason="bad_request",
                retryable=False,
            )
        if reply.status == 429:
            hint = "its limiter allows few requests in JSON: turn server.limiter off for an instance of your own"
            return RateLimited(f"{self.name} received too many requests", hint=hint)
        if reply.status == 400:
            return bad_request(self.name, error_text(within(reply.json_or_none(), "error")))
        return None


def _without_operators(query: str) -> str:
    return " ".join(word.lstrip(_OPERATORS) for word in query.split())


def _engines(value: object) -> str:
    """Return the engines that did not answer, with reasons."""
    if not isinstance(value, list):
        return ""
    engines = (texts(each if isinstance(each, list) else [each]) for each in value)
    return ", ".join(f"{engine[0]} ({engine[1]})" if len(engine) > 1 else engine[0] for engine in engines if engine)


def _read(row: Mapping[str, Any]) -> Candidate | None:
    url = web_url(row.get("url"))
    if url is None:
        return None
    doi = doi_of(plain(row.get("doi")))
    return Candidate(
        url,
        title=plain(row.get("title"), MAX_TITLE_CHARS),
        snippet=plain(row.get("content")),
        published=iso_date(row.get("publishedDate")) or iso_date(row.get("pubdate")),
        kind="paper" if doi else "web",
        doi=doi,
        authors=texts(row.get("authors") or row.get("author")),
        venue=plain(row.get("journal"), MAX_TITLE_CHARS) or None,
        pdf_url=web_url(row.get("pdf_url")),
    )
