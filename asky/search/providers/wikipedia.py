"""Wikipedia: articles, through the search of the configured wiki, whose address determines the language.

Its errors have status 200. Text is under CC BY-SA. Source: www.mediawiki.org/wiki/API:Search.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from asky.errors import AskyError, RateLimited
from asky.search.papers import clean_query
from asky.search.port import Candidate, SearchProvider, SearchRequest, SearchResults
from asky.search.reply import ServiceReply, bad_request, unavailable
from asky.search.rows import Adapter, collect, error_text, plain, results_wanted, rows_in, within
from asky.search.service import Service

_TRANSIENT = ("maxlag", "readonly", "internal_api_error", "cirrussearch-backend-error", "search-error")


def make(service: Service) -> SearchProvider:
    """Return the adapter of Wikipedia."""
    return _Wikipedia(service)


class _Wikipedia(Adapter):
    async def search(self, request: SearchRequest) -> SearchResults:
        query, notes = clean_query(self.service, request)
        answer = await self.service.get_json(
            "/w/api.php",
            self.service.parameters_with(
                {
                    "action": "query",
                    "list": "search",
                    "srsearch": query,
                    "srlimit": results_wanted(self.service, request),
                    "srprop": "snippet",
                    "format": "json",
                    "formatversion": 2,
                }
            ),
            explain=self._explain,
        )
        return collect(self.name, request, rows_in(self.name, answer, "query", "search"), self._read, notes=notes)

    def _explain(self, reply: ServiceReply) -> AskyError | None:
        code = error_text(within(reply.json_or_none(), "error", "code"))
        if not code or reply.status != 200:
            return None
        if code == "ratelimited":
            return RateLimited(f"{self.name} received too many requests", hint="wait, or search with another service")
        if code.startswith(_TRANSIENT):
            return unavailable(self.name, f"it failed ({code})")
        return bad_request(self.name, code)

    def _read(self, row: Mapping[str, Any]) -> Candidate | None:
        title = plain(row.get("title"))
        if not title:
            return None
        page = quote(title.replace(" ", "_"), safe="/:,;@!*()'~")
        return Candidate(url=f"{self.service.base_url}/wiki/{page}", title=title, snippet=plain(row.get("snippet")))
