"""Exa."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from asky.errors import AskyError
from asky.search.dates import first_day_of, iso_date
from asky.search.port import Candidate, SearchProvider, SearchRequest, SearchResults
from asky.search.reply import Reply, bad_request
from asky.search.rows import (
    MAX_TITLE_CHARS,
    collect,
    passages,
    plain,
    prepare,
    results_wanted,
    said,
    table,
    texts,
    web_url,
)
from asky.search.service import Service


def make(service: Service) -> SearchProvider:
    """Exa behind `service`."""
    return Exa(service)


class Exa:
    """See `SearchProvider`. It does not choose by language."""

    def __init__(self, service: Service) -> None:
        self.name = service.name
        self.host = service.host
        self._service = service

    async def search(self, request: SearchRequest) -> SearchResults:
        """See `SearchProvider`."""
        query, notes = prepare(self._service, request)
        asked = self._service.parameters_with(
            {
                "query": query,
                "numResults": results_wanted(self._service, request),
                "startPublishedDate": self._earliest(request),
            }
        )
        content = {"contents": {"highlights": True}, **asked}
        headers = {"x-api-key": self._service.api_key or ""}
        answer = await self._service.post_json("/search", content, headers=headers, explain=self._explain)
        return collect(self.name, request, table(self.name, answer).get("results"), _read, notes=notes)

    def _earliest(self, request: SearchRequest) -> str | None:
        if request.recency is None:
            return None
        return f"{first_day_of(request.recency, self._service.today())}T00:00:00.000Z"

    def _explain(self, reply: Reply) -> AskyError | None:
        if reply.status not in (400, 409, 422):
            return None
        body = reply.json_or_none()
        return bad_request(self.name, said(body.get("error"), body.get("tag")) if isinstance(body, Mapping) else "")


def _read(row: Mapping[str, Any]) -> Candidate | None:
    url = web_url(row.get("url"))
    if url is None:
        return None
    return Candidate(
        url,
        title=plain(row.get("title"), MAX_TITLE_CHARS),
        snippet=passages(row.get("highlights")) or plain(row.get("summary")) or plain(row.get("text")),
        published=iso_date(row.get("publishedDate")),
        authors=texts(row.get("author")),
    )
