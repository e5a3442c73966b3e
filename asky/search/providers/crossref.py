"""Crossref: publishers' own metadata of their publications, retractions included; abstracts are often missing.

Requests with an e-mail address are served from a better pool. Source: api.crossref.org; the limits of December 2025.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from asky.errors import AskyError
from asky.search.identifiers import Identifier, arxiv_id_of, doi_field, named_by_doi
from asky.search.lookup import RETRACTING, FoundPaper, Notice, NoticeKind
from asky.search.papers import (
    clean_query,
    date_of,
    fetch_record,
    first_day,
    in_path,
    joined_filters,
    paper,
    plain_abstract,
    plain_title,
)
from asky.search.port import Candidate, SearchProvider, SearchRequest, SearchResults
from asky.search.reply import ServiceReply, bad_request, malformed
from asky.search.rows import (
    Adapter,
    collect,
    error_text,
    plain,
    results_wanted,
    rows_in,
    table,
    texts,
    whole_number,
    within,
)
from asky.search.service import Service

_FIELDS = "DOI,URL,title,subtitle,author,container-title,issued,abstract,is-referenced-by-count,updated-by,update-to"
_MAX_UPDATES = 100
_KINDS: Mapping[str, NoticeKind] = MappingProxyType(
    {
        "retraction": "retraction",
        "partial_retraction": "retraction",
        "withdrawal": "withdrawal",
        "removal": "withdrawal",
        "expression_of_concern": "concern",
        "correction": "correction",
        "corrigendum": "correction",
        "erratum": "correction",
        "err": "correction",
        "addendum": "correction",
        "clarification": "correction",
        "new_version": "newer_version",
        "new_edition": "newer_version",
    }
)
"""The types of updates. Source: Crossmark's twelve, and `err`, which Crossref accepts as well."""

_FORMS = (
    *("has-preprint", "is-preprint-of", "has-manuscript", "is-manuscript-of", "has-version", "is-version-of"),
    *("is-identical-to", "is-same-as", "is-variant-form-of", "is-original-form-of"),
)
"""The relations between forms of one work."""


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

    async def lookup(self, identifier: Identifier) -> FoundPaper | None:
        """See `PaperLookup`. Notices are those in the paper's record, and all works that update it."""
        doi = identifier.value
        sender = {"mailto": self.service.email}
        answer = await fetch_record(self.service, f"/works/{in_path(doi)}", sender, explain=self._explain)
        if answer is None:
            return None
        row = table(self.name, answer.get("message"))
        candidate = _read(row)
        if candidate is None or candidate.doi != doi:
            raise malformed(self.name, "its answer is not the paper that was looked up")
        updates = [(update, within(update, "DOI")) for update in _listed(row.get("updated-by"))]
        unchecked: list[str] = []
        try:
            updates += await self._updates_of(doi)
        except AskyError as error:
            unchecked.append(error.message)
        strange = [plain(within(update, "type"), 50) or "none" for update, _ in updates if _kind_of(update) is None]
        unchecked += [f"{self.name} lists an update of an unknown kind: {each}" for each in strange]
        return FoundPaper(
            candidate,
            (named_by_doi(doi),),
            _same_as(row.get("relation"), doi),
            self._notices(updates),
            _is_notice(row),
            tuple(unchecked),
        )

    async def _updates_of(self, doi: str) -> list[tuple[object, object]]:
        """Return the updates of a work in the records of the works that update it, with the DOIs of those.

        A comma ends a filter, but a part without a colon is read as the rest of the one before it. So a DOI with a
        comma is first looked for itself: if it is found, it was read as a whole. Source: `get-filters` of the service,
        in github.com/CrossRef/cayenne.
        """
        if "," in doi and doi not in [doi_field(within(row, "DOI")) for row in await self._filter(f"doi:{doi}")]:
            raise bad_request(self.name, "works that update a DOI with a comma cannot be looked up")
        found: list[tuple[object, object]] = []
        for row in await self._filter(f"updates:{doi}"):
            updates = [each for each in _listed(within(row, "update-to")) if doi_field(within(each, "DOI")) == doi]
            found += [(each, within(row, "DOI")) for each in updates or [None]]
        return found

    def _notices(self, updates: Iterable[tuple[object, object]]) -> tuple[Notice, ...]:
        """Return each notice with its earliest date: publisher and Retraction Watch may both have it."""
        found: dict[tuple[NoticeKind, str | None], Notice] = {}
        for update, by in updates:
            kind, doi, date = _kind_of(update), doi_field(by), _published(within(update, "updated", "date-parts"))
            known = found.get((kind, doi)) if kind else None
            if kind and (known is None or (date or "9999") < (known.date or "9999")):
                found[kind, doi] = Notice(kind, date, self.name, named_by_doi(doi) if doi else None)
        return tuple(found.values())

    async def _filter(self, wanted: str) -> list[Any]:
        params = {"filter": wanted, "rows": _MAX_UPDATES, "select": "DOI,update-to", "mailto": self.service.email}
        answer = await self.service.get_json("/works", params, explain=self._explain)
        return _listed(rows_in(self.name, answer, "message", "items"))

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
        is_retracted=any(_kind_of(update) in RETRACTING for update in _listed(row.get("updated-by"))),
        is_notice=_is_notice(row),
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


def _kind_of(update: object) -> NoticeKind | None:
    return _KINDS.get(str(within(update, "type")).lower().replace("-", "_").replace(" ", "_"))


def _is_notice(row: Mapping[str, Any]) -> bool:
    """Return whether this work is a notice on another one, which `update-to` names; a new version of one is not."""
    others = (
        each for each in _listed(row.get("update-to")) if doi_field(within(each, "DOI")) != doi_field(row.get("DOI"))
    )
    return any(_kind_of(each) not in (None, "newer_version") for each in others)


def _same_as(relations: object, doi: str) -> tuple[Identifier, ...]:
    """Return the other forms of the work in its relations."""
    related = [each for form in _FORMS for each in _listed(within(relations, form))]
    named = (_identifier_of(within(each, "id")) for each in related)
    return tuple(dict.fromkeys(each for each in named if each and each != named_by_doi(doi)))


def _identifier_of(value: object) -> Identifier | None:
    doi = doi_field(value)
    return named_by_doi(doi) if doi else arxiv_id_of(value)


def _listed(values: object) -> list[Any]:
    return values if isinstance(values, list) else []


def _first(values: object) -> Any:
    return values[0] if isinstance(values, list) and values else None
