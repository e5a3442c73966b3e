"""OpenAlex: papers of all fields, with citation counts, open copies and retractions.

Priced by the request: the daily allowance without a key is a tenth of that with a free key. Source: docs.openalex.org.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from asky.errors import AskyError, ProviderError
from asky.search.dates import iso_date
from asky.search.identifiers import Identifier, arxiv_id_of, ids_of
from asky.search.lookup import FoundPaper, Notice
from asky.search.papers import (
    clean_query,
    fetch_record,
    first_day,
    in_path,
    joined_filters,
    paper,
    plain_abstract,
    plain_title,
)
from asky.search.port import Candidate, SearchProvider, SearchRequest, SearchResults
from asky.search.reply import ServiceReply, bad_request, malformed, quota_used_up
from asky.search.rows import (
    Adapter,
    collect,
    error_text,
    plain,
    results_wanted,
    rows_in,
    texts,
    web_url,
    whole_number,
    within,
)
from asky.search.service import Service

_FIELDS = (
    "id,doi,display_name,publication_year,publication_date,authorships,primary_location,best_oa_location,"
    "cited_by_count,is_retracted,abstract_inverted_index,type,ids"
)
_PREFIXES = {"doi": "doi:", "arxiv": "doi:10.48550/arxiv.", "pmid": "pmid:"}
_NOTICES = frozenset({"retraction", "erratum"})
_WORK = re.compile(r"/works/(W\d{1,15})(?:[?#]|$)")
_MAX_POSITION = 20_000
_SPENT = re.compile(r"\b(?:budget|credits?|daily|quota|usage)\b", re.IGNORECASE)


def make(service: Service) -> SearchProvider:
    """Return the adapter of OpenAlex."""
    return _OpenAlex(service)


class _OpenAlex(Adapter):
    async def search(self, request: SearchRequest) -> SearchResults:
        query, notes = clean_query(self.service, request)
        day = first_day(self.service, request)
        answer = await self.service.get_json(
            "/works",
            self.service.parameters_with(
                {
                    "search": query,
                    "per_page": results_wanted(self.service, request),
                    "select": _FIELDS,
                    "filter": joined_filters(self.service, f"from_publication_date:{day}" if day else None),
                    "api_key": self.service.api_key,
                }
            ),
            explain=self._explain,
        )
        return collect(self.name, request, rows_in(self.name, answer, "results"), _read, notes=notes)

    async def lookup(self, identifier: Identifier) -> FoundPaper | None:
        """See `PaperLookup`. It marks retracted papers, and lists no notices."""
        try:
            row = await self._fetch(_PREFIXES[identifier.kind] + identifier.value)
        except _Merged as merged:
            row = await self._fetch(merged.work)
        if row is None:
            return None
        candidate = _read(row)
        if candidate is None:
            raise malformed(self.name, "its answer is not a paper")
        ids = ids_of(candidate, " ".join(texts([within(row, "ids", name) for name in ("pmid", "pmcid")])))
        notices = (Notice("retraction", None, self.name),) if _is_retracted(row) else ()
        return FoundPaper(candidate, ids, notices=notices, is_notice=_is_notice(row))

    async def _fetch(self, work: str) -> Mapping[str, Any] | None:
        if "," in work or "&" in work:  # it takes such an id for several, or for a wrong key
            raise bad_request(self.name, "it takes no identifier with a comma or an ampersand")
        params = {"select": _FIELDS, "api_key": self.service.api_key}
        return await fetch_record(self.service, f"/works/{in_path(work)}", params, explain=self._explain_lookup)

    def _explain_lookup(self, reply: ServiceReply) -> AskyError | None:
        """Explain a reply. A redirect names the work that this one was merged into."""
        merged = _WORK.search(reply.headers.get("location", "")) if 300 <= reply.status < 400 else None
        return _Merged(self.name, merged[1]) if merged else self._explain(reply)

    def _explain(self, reply: ServiceReply) -> AskyError | None:
        why = error_text(within(reply.json_or_none(), "message"))
        if reply.status == 429 and _SPENT.search(why):
            hint = "wait until tomorrow" if self.service.api_key else f"set {self.service.key_variable} to a free key"
            return quota_used_up(self.name, hint=f"{hint}, or search with another service")
        return bad_request(self.name, why) if reply.status == 400 else None


class _Merged(ProviderError):
    """A valid answer: the record has become part of that of `work`."""

    def __init__(self, name: str, work: str) -> None:
        super().__init__(f"{name} has merged this work into {work}", reason="malformed", retryable=False)
        self.work = work


def rebuild_abstract(index: object) -> str:
    """Return the text of an inverted index, a table from each word to its positions; gaps are skipped.

    `""` for anything but such a table.
    """
    if not isinstance(index, Mapping):
        return ""
    placed = {
        place: word
        for word, places in index.items()
        if isinstance(places, list)
        for place in places
        if isinstance(place, int) and 0 <= place < _MAX_POSITION
    }
    return plain_abstract(" ".join(placed[place] for place in sorted(placed)))


def _read(row: Mapping[str, Any]) -> Candidate | None:
    authorships = row.get("authorships")
    landing_page = within(row, "primary_location", "landing_page_url")
    names = [_name_of(each) for each in authorships] if isinstance(authorships, list) else None
    return paper(
        title=plain_title(row.get("display_name")),
        doi=row.get("doi"),
        arxiv=arxiv_id_of(landing_page),
        page=web_url(landing_page) or row.get("id"),
        abstract=rebuild_abstract(row.get("abstract_inverted_index")),
        authors=texts(names),
        venue=plain(within(row, "primary_location", "source", "display_name")),
        published=iso_date(row.get("publication_date")) or iso_date(row.get("publication_year")),
        pdf_url=within(row, "best_oa_location", "pdf_url"),
        citations=whole_number(row.get("cited_by_count")),
        is_retracted=_is_retracted(row),
        is_notice=_is_notice(row),
    )


def _is_notice(row: Mapping[str, Any]) -> bool:
    return row.get("type") in _NOTICES


def _is_retracted(row: Mapping[str, Any]) -> bool:
    return row.get("is_retracted") is True and not _is_notice(row)


def _name_of(authorship: object) -> Any:
    return within(authorship, "author", "display_name") or within(authorship, "raw_author_name")
