"""PubMed: biomedical papers, with abstracts, through the E-utilities of the NCBI.

Two requests per search: one finds ids, one fetches their records, which contain everything in a summary and the
abstract. Three requests a second, ten with a key. Source: www.ncbi.nlm.nih.gov/books/NBK25499; the DTD of PubMed's
records.
"""

from __future__ import annotations

from asky.errors import AskyError, RateLimited
from asky.search.identifiers import Identifier
from asky.search.lookup import FoundPaper
from asky.search.papers import first_day, search_words
from asky.search.port import SearchProvider, SearchRequest, SearchResults
from asky.search.providers.pubmed_records import read_records
from asky.search.reply import ServiceReply, UnknownIdentifier, bad_request, malformed, unavailable
from asky.search.rows import Adapter, collect, error_text, plain, prepare, results_wanted, rows_in, texts, within
from asky.search.service import Service

_TOOL = "asky"
_MAX_WORDS = 30
_LAST_DAY = "3000/12/31"  # both ends must be given, and papers are dated ahead
_TRANSIENT = ("backend", "temporar", "timeout", "timed out", "try again", "unavailable")


def make(service: Service) -> SearchProvider:
    """Return the adapter of PubMed."""
    return _PubMed(service)


class _PubMed(Adapter):
    async def search(self, request: SearchRequest) -> SearchResults:
        query, notes = prepare(self.service, request)
        words, more_notes = search_words(query, _MAX_WORDS)
        if not words:
            raise bad_request(self.name, "the query has no word to search for")
        answer = await self._find(" ".join(words), request)
        ids = texts(rows_in(self.name, answer, "esearchresult", "idlist"))
        papers = read_records(await self._fetch(ids), self.name) if ids else {}
        rows = [{"paper": papers[pmid].candidate if pmid in papers else None} for pmid in ids]
        return collect(
            self.name,
            request,
            rows,
            lambda row: row["paper"],
            notes=(*notes, *more_notes, *_notes_of(within(answer, "esearchresult"))),
        )

    async def lookup(self, identifier: Identifier) -> FoundPaper | None:
        """See `PaperLookup`."""
        try:
            text = await self._fetch((identifier.value,))
        except UnknownIdentifier:
            return None
        papers = read_records(text, self.name)
        if papers and identifier.value not in papers:
            raise malformed(self.name, "its answer is not the paper that was looked up")
        return papers.get(identifier.value)

    async def _find(self, term: str, request: SearchRequest) -> object:
        day = first_day(self.service, request)
        params = self.service.parameters_with(
            {
                "db": "pubmed",
                "term": term,
                "retmax": results_wanted(self.service, request),
                "retmode": "json",
                "sort": "relevance",
                "datetype": "pdat" if day else None,
                "mindate": f"{day:%Y/%m/%d}" if day else None,
                "maxdate": _LAST_DAY if day else None,
                **self._introduction(),
            }
        )
        return await self.service.get_json("/esearch.fcgi", params, explain=self._explain)

    async def _fetch(self, ids: tuple[str, ...]) -> str:
        params = {"db": "pubmed", "id": ",".join(ids), "rettype": "abstract", "retmode": "xml", **self._introduction()}
        headers = {"Accept": "application/xml, text/xml"}
        reply = await self.service.request("GET", "/efetch.fcgi", params, headers=headers, explain=self._explain)
        return reply.text()

    def _introduction(self) -> dict[str, str | None]:
        return {"tool": _TOOL, "email": self.service.email, "api_key": self.service.api_key}

    def _explain(self, reply: ServiceReply) -> AskyError | None:
        """Explain a reply. Errors have any status, even 200; the rate-limit error echoes the key or our address."""
        if reply.status == 400 and b"ID list is empty" in reply.body:  # it has dropped an id that it cannot have
            return UnknownIdentifier(f"{self.name} does not know this identifier")
        body = reply.json_or_none() if reply.status in (200, 400, 429) else None
        why = error_text(within(body, "error"), within(body, "esearchresult", "ERROR"))
        if not why:
            return None
        if "rate limit" in why.lower():
            return RateLimited(f"{self.name} received too many requests", hint="wait, or search with another service")
        if "api key" in why.lower() or "api-key" in why.lower():
            return self.service.key_refused()
        if any(word in why.lower() for word in _TRANSIENT):
            return unavailable(self.name, why)
        return bad_request(self.name, why)


def _notes_of(result: object) -> tuple[str, ...]:
    """Return notes on how PubMed rewrote the query: it also silently drops words that it does not know."""
    translation = plain(within(result, "querytranslation"), 300)
    unknown = (*texts(within(result, "errorlist", "phrasesnotfound")), *_ignored(within(result, "warninglist")))
    notes = [f"searched for {translation}"] if translation else []
    return (*notes, f"left out: {', '.join(unknown)}") if unknown else tuple(notes)


def _ignored(warnings: object) -> tuple[str, ...]:
    return (*texts(within(warnings, "phrasesignored")), *texts(within(warnings, "quotedphrasesnotfound")))
