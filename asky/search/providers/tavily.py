"""Tavily, asked for addresses and snippets alone: no `search_depth`, no raw content.

An advanced search costs two credits where a basic one costs one, and text that Tavily has read would pass by asky's own
rules for pages: their limits, their robots.txt, their hash in the store. `search.tavily.parameters` asks for either.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from asky.errors import AskyError
from asky.search.dates import iso_date
from asky.search.port import Candidate, SearchProvider, SearchRequest, SearchResults
from asky.search.reply import ServiceReply, bad_request, quota_used_up
from asky.search.rows import Adapter, collect, error_text, page, plain, prepare, results_wanted, table, within
from asky.search.service import Service

_QUOTA_STATUSES = (432, 433)


def make(service: Service) -> SearchProvider:
    """Return the adapter of Tavily."""
    return Tavily(service)


class Tavily(Adapter):
    """See `SearchProvider`. It cannot filter by language."""

    async def search(self, request: SearchRequest) -> SearchResults:
        """See `SearchProvider`."""
        query, notes = prepare(self.service, request)
        content = self.service.parameters_with(
            {"query": query, "max_results": results_wanted(self.service, request), "time_range": request.recency}
        )
        headers = {"Authorization": f"Bearer {self.service.api_key}"}
        answer = await self.service.post_json("/search", content, headers=headers, explain=self._explain)
        return collect(self.name, request, table(self.name, answer).get("results"), _read, notes=notes)

    def _explain(self, reply: ServiceReply) -> AskyError | None:
        if reply.status in _QUOTA_STATUSES:
            return quota_used_up(self.name)
        if reply.status in (400, 422):
            return bad_request(self.name, _message(reply.json_or_none()))
        return None


def _message(body: object) -> str:
    """Return the message of an error: `detail` is a table with `error`, a text, or a list of problems."""
    detail = within(body, "detail")
    if isinstance(detail, list):
        detail = detail[0] if detail else None
    if isinstance(detail, Mapping):
        return error_text(detail.get("error"), detail.get("msg"))
    return error_text(detail)


def _read(row: Mapping[str, Any]) -> Candidate | None:
    return page(
        row.get("url"),
        row.get("title"),
        snippet=plain(row.get("content")),
        published=iso_date(row.get("published_date")),
    )
