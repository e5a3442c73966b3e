"""Semantic Scholar: papers of all fields, with citation counts and open copies.

One request a second with a key, over all programs of its owner; without one, a pool shared with everybody, in which
refusals are normal. Source: api.semanticscholar.org/api-docs/graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from asky.errors import AskyError
from asky.search.dates import iso_date
from asky.search.identifiers import Identifier, arxiv_id_of, ids_of
from asky.search.lookup import FoundPaper
from asky.search.papers import clean_query, fetch_record, first_day, in_path, paper, plain_abstract, plain_title
from asky.search.port import Candidate, SearchProvider, SearchRequest, SearchResults
from asky.search.reply import ServiceReply, bad_request, malformed
from asky.search.rows import Adapter, collect, error_text, plain, results_wanted, texts, whole_number, within
from asky.search.service import Service

_FIELDS = "title,abstract,url,venue,year,publicationDate,authors,externalIds,citationCount,openAccessPdf"


def make(service: Service) -> SearchProvider:
    """Return the adapter of Semantic Scholar."""
    return _SemanticScholar(service)


class _SemanticScholar(Adapter):
    async def search(self, request: SearchRequest) -> SearchResults:
        # A hyphenated word is matched literally, and mostly not found.
        query, notes = clean_query(self.service, replace(request, query=request.query.replace("-", " ")))
        day = first_day(self.service, request)
        answer = await self.service.get_json(
            "/paper/search",
            self.service.parameters_with(
                {
                    "query": query,
                    "fields": _FIELDS,
                    "limit": results_wanted(self.service, request),
                    "publicationDateOrYear": f"{day}:" if day else None,
                }
            ),
            headers=self._key(),
            explain=self._explain,
        )
        if within(answer, "data") is None and within(answer, "total") != 0:  # it omits `data` if there are no results
            raise malformed(self.name, "its answer has no list of results")
        return collect(self.name, request, within(answer, "data"), _read, notes=notes)

    async def lookup(self, identifier: Identifier) -> FoundPaper | None:
        """See `PaperLookup`. It has no notices."""
        path = f"/paper/{identifier.kind.upper()}:{in_path(identifier.value.removeprefix('PMC'))}"
        row = await fetch_record(self.service, path, {"fields": _FIELDS}, headers=self._key(), explain=self._explain)
        if row is None:
            return None
        candidate = _read(row)
        if candidate is None:
            raise malformed(self.name, "its answer is not a paper")
        pmid, pmcid = (within(row, "externalIds", name) for name in ("PubMed", "PubMedCentral"))
        return FoundPaper(candidate, ids_of(candidate, f"PMID:{pmid} PMC{pmcid}"))

    def _key(self) -> dict[str, str] | None:
        return {"x-api-key": self.service.api_key} if self.service.api_key else None

    def _explain(self, reply: ServiceReply) -> AskyError | None:
        return (
            bad_request(self.name, error_text(within(reply.json_or_none(), "error"))) if reply.status == 400 else None
        )


def _read(row: Mapping[str, Any]) -> Candidate | None:
    arxiv = within(row, "externalIds", "ArXiv")
    authors = row.get("authors")
    return paper(
        title=plain_title(row.get("title")),
        doi=within(row, "externalIds", "DOI"),
        arxiv=arxiv_id_of(f"arXiv:{arxiv}") if arxiv else None,
        page=row.get("url"),
        abstract=plain_abstract(row.get("abstract")),
        authors=texts([within(author, "name") for author in authors] if isinstance(authors, list) else None),
        venue=plain(row.get("venue")),
        published=iso_date(row.get("publicationDate")) or iso_date(row.get("year")),
        pdf_url=within(row, "openAccessPdf", "url"),
        citations=whole_number(row.get("citationCount")),
    )
