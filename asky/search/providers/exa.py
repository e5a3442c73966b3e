"""Exa."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from asky.errors import AskyError
from asky.search.dates import first_day_of, iso_date
from asky.search.port import Candidate, SearchProvider, SearchRequest, SearchResults
from asky.search.reply import ServiceReply, bad_request
from asky.search.rows import (
    Adapter,
    collect,
    error_text,
    page,
    passages,
    plain,
    prepare,
    results_wanted,
    table,
    texts,
    within,
)
from asky.search.service import Service


def make(service: Service) -> SearchProvider:
    """Return the adapter of Exa."""
    return Exa(service)


class Exa(Adapter):
    """See `SearchProvider`. It cannot filter by language."""

    async def search(self, request: SearchRequest) -> SearchResults:
        """See `SearchProvider`."""
        query, notes = prepare(self.service, request)
        arguments = self.service.parameters_with(
            {
                "query": query,
                "numResults": results_wanted(self.service, request),
                "startPublishedDate": self._earliest(request),
            }
        )
        content = {"contents": {"highlights": True}, **arguments}
        headers = {"x-api-key": self.service.api_key or ""}
        answer = await self.service.post_json("/search", content, headers=headers, explain=self._explain)
        return collect(self.name, request, table(self.name, answer).get("results"), _read, notes=notes)

    def _earliest(self, request: SearchRequest) -> str | None:
        if request.recency is None:
            return None
        return f"{first_day_of(request.recency, self.service.today())}T00:00:00.000Z"

    def _explain(self, reply: ServiceReply) -> AskyError | None:
        if reply.status not in (400, 409, 422):
            return None
        body = reply.json_or_none()
        return bad_request(self.name, error_text(within(body, "error"), within(body, "tag")))


def _read(row: Mapping[str, Any]) -> Candidate | None:
    return page(
        row.get("url"),
        row.get("title"),
        snippet=passages(row.get("highlights")) or plain(row.get("summary")) or plain(row.get("text")),
        published=iso_date(row.get("publishedDate")),
        authors=texts(row.get("author")),
    )
