"""Serper: the results of Google."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from asky.errors import AskyError
from asky.search.dates import iso_date
from asky.search.port import Candidate, SearchProvider, SearchRequest, SearchResults
from asky.search.reply import Reply, bad_request, quota_used_up
from asky.search.rows import (
    MAX_TITLE_CHARS,
    collect,
    language_of,
    plain,
    prepare,
    results_wanted,
    said,
    table,
    web_url,
)
from asky.search.service import Service

_PERIODS = {"day": "qdr:d", "week": "qdr:w", "month": "qdr:m", "year": "qdr:y"}


def make(service: Service) -> SearchProvider:
    """Serper behind `service`."""
    return Serper(service)


class Serper:
    """See `SearchProvider`."""

    def __init__(self, service: Service) -> None:
        self.name = service.name
        self.host = service.host
        self._service = service

    async def search(self, request: SearchRequest) -> SearchResults:
        """See `SearchProvider`."""
        query, notes = prepare(self._service, request)
        language, region = language_of(request) or (None, None)
        content = self._service.parameters_with(
            {
                "q": query,
                "num": results_wanted(self._service, request),
                "tbs": _PERIODS[request.recency] if request.recency else None,
                "hl": language,
                "gl": region.lower() if region else None,
            }
        )
        headers = {"X-API-KEY": self._service.api_key or ""}
        answer = await self._service.post_json("/search", content, headers=headers, explain=self._explain)
        return collect(self.name, request, table(self.name, answer).get("organic"), self._read, notes=notes)

    def _read(self, row: Mapping[str, Any]) -> Candidate | None:
        url = web_url(row.get("link"))
        if url is None:
            return None
        return Candidate(
            url,
            title=plain(row.get("title"), MAX_TITLE_CHARS),
            snippet=plain(row.get("snippet")),
            published=iso_date(row.get("date"), self._service.today()),
        )

    def _explain(self, reply: Reply) -> AskyError | None:
        """An empty account has the status of a bad request."""
        if reply.status != 400:
            return None
        body = reply.json_or_none()
        message = said(body.get("message"), body.get("error")) if isinstance(body, Mapping) else ""
        return quota_used_up(self.name) if "credit" in message.lower() else bad_request(self.name, message)
