"""Serper: the results of Google."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from asky.errors import AskyError
from asky.search.dates import iso_date
from asky.search.port import Candidate, SearchProvider, SearchRequest, SearchResults
from asky.search.reply import ServiceReply, bad_request, quota_used_up
from asky.search.rows import (
    Adapter,
    collect,
    error_text,
    language_of,
    page,
    plain,
    prepare,
    results_wanted,
    table,
    within,
)
from asky.search.service import Service

_PERIODS = {"day": "qdr:d", "week": "qdr:w", "month": "qdr:m", "year": "qdr:y"}


def make(service: Service) -> SearchProvider:
    """Return the adapter of Serper."""
    return Serper(service)


class Serper(Adapter):
    """See `SearchProvider`."""

    async def search(self, request: SearchRequest) -> SearchResults:
        """See `SearchProvider`."""
        query, notes = prepare(self.service, request)
        language, region = language_of(request) or (None, None)
        content = self.service.parameters_with(
            {
                "q": query,
                "num": results_wanted(self.service, request),
                "tbs": _PERIODS[request.recency] if request.recency else None,
                "hl": language,
                "gl": region.lower() if region else None,
            }
        )
        headers = {"X-API-KEY": self.service.api_key or ""}
        answer = await self.service.post_json("/search", content, headers=headers, explain=self._explain)
        return collect(self.name, request, table(self.name, answer).get("organic"), self._read, notes=notes)

    def _read(self, row: Mapping[str, Any]) -> Candidate | None:
        return page(
            row.get("link"),
            row.get("title"),
            snippet=plain(row.get("snippet")),
            published=iso_date(row.get("date"), self.service.today()),
        )

    def _explain(self, reply: ServiceReply) -> AskyError | None:
        """Explain a reply. An empty account has the status of a bad request."""
        if reply.status != 400:
            return None
        body = reply.json_or_none()
        message = error_text(within(body, "message"), within(body, "error"))
        return quota_used_up(self.name) if "credit" in message.lower() else bad_request(self.name, message)
