"""Crossref: publishers' own metadata of their publications, retractions included; abstracts are often missing.

Requests with an e-mail address are served from a better pool. Source: api.crossref.org; the limits of December 2025.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from asky.errors import AskyError
from asky.search.papers import clean_query, date_of, first_day, joined_filters, paper, plain_abstract, plain_title
from asky.search.port import Candidate, SearchProvider, SearchRequest, SearchResults
from asky.search.reply import ServiceReply, bad_request
from asky.search.rows import Adapter, collect, error_text, plain, results_wanted, rows_in, texts, whole_number, within
from asky.search.service import Service

_FIELDS = "DOI,URL,title,subtitle,author,container-title,issued,abstract,is-referenced-by-count,updated-by"
_RETRACTING = frozenset({"retraction", "withdrawal", "removal", "partial_retraction"})


def make(service: Service) -> SearchProvider:
    """Return the adapter of Crossref."""
    return _Crossref(service)


class _Crossref(Adapter):
    async def search(self, request: SearchRequest) -> SearchResults:
        query, notes = clean_query(self.service, request)
        day = first_day(self.service, request)
        answer = await self.service.get_json(
            "/works",
            self.service.parameters_with(
                {
                    "query.bibliographic": query,
                    "rows": results_wanted(self.service, request),
                    "select": _FIELDS,
                    "filter": joined_filters(self.service, f"from-pub-date:{day}" if day else None),
                    "mailto": self.service.email,
                }
            ),
            explain=self._explain,
        )
        return collect(self.name, request, rows_in(self.name, answer, "message", "items"), _read, notes=notes)

    def _explain(self, reply: ServiceReply) -> AskyError | None:
        if reply.status != 400:
            return None
        faults = within(reply.json_or_none(), "message")
        return bad_request(self.name, error_text(within(_first(faults), "message")))


def _read(row: Mapping[str, Any]) -> Candidate | None:
    authors = row.get("author")
    return paper(
        title=_title(row),
        doi=row.get("DOI"),
        page=row.get("URL"),
        abstract=plain_abstract(row.get("abstract")),
        authors=texts([_name_of(author) for author in authors] if isinstance(authors, list) else None),
        venue=next(iter(texts(row.get("container-title"))), ""),
        published=_published(within(row, "issued", "date-parts")),
        citations=whole_number(row.get("is-referenced-by-count")),
        is_retracted=_is_retracted(row.get("updated-by")),
    )


def _title(row: Mapping[str, Any]) -> str:
    """Return title and subtitle, which Crossref stores in two lists."""
    parts = (_first(row.get("title")), _first(row.get("subtitle")))
    title, subtitle = (plain_title(part) for part in parts)
    return f"{title}: {subtitle}" if title and subtitle and subtitle.lower() not in title.lower() else title


def _published(parts: object) -> str | None:
    """Parse `[[2023, 1, 3]]`, with fewer numbers for a partial date, and `[[null]]` for none."""
    first = _first(parts)
    numbers = first[:3] if isinstance(first, list) else []
    return date_of(*numbers) if numbers and numbers[0] is not None else None


def _name_of(author: object) -> str:
    given, family = plain(within(author, "given")), plain(within(author, "family"))
    return f"{given} {family}".strip() or plain(within(author, "name"))


def _is_retracted(updates: object) -> bool:
    """Return whether a notice withdraws this work; `update-to` would say that this work is itself a notice."""
    if not isinstance(updates, list):
        return False
    return any(str(within(update, "type")).lower() in _RETRACTING for update in updates)


def _first(values: object) -> Any:
    return values[0] if isinstance(values, list) and values else None
