"""PubMed: biomedical papers, with abstracts, through the E-utilities of the NCBI.

Two requests a search: one finds ids, one fetches their records, which hold all that a summary would and the abstract.
Three requests a second, ten with a key. Source: www.ncbi.nlm.nih.gov/books/NBK25499; the DTD of PubMed's records.
"""

from __future__ import annotations

from asky.errors import AskyError, RateLimited
from asky.search.papers import first_day, search_words
from asky.search.port import SearchProvider, SearchRequest, SearchResults
from asky.search.pubmed_records import read_records
from asky.search.reply import Reply, bad_request, unavailable
from asky.search.rows import Adapter, collect, plain, prepare, results_wanted, rows_in, said, texts, within
from asky.search.service import Service

_TOOL = "asky"
_MOST_WORDS = 30
_LAST_DAY = "3000/12/31"  # both ends must be given, and papers are dated ahead
_PASSING = ("backend", "temporar", "timeout", "timed out", "try again", "unavailable")


def make(service: Service) -> SearchProvider:
    """The adapter of PubMed."""
    return _PubMed(service)


class _PubMed(Adapter):
    async def search(self, request: SearchRequest) -> SearchResults:
        query, notes = prepare(self.service, request)
        words, more_notes = search_words(query, _MOST_WORDS)
        if not words:
            raise bad_request(self.name, "the query has no word to search for")
        answer = await self._find(" ".join(words), request)
        ids = texts(rows_in(self.name, answer, "esearchresult", "idlist"))
        papers = read_records(await self._fetch(ids), self.name) if ids else {}
        rows = [{"paper": papers.get(pmid)} for pmid in ids]
        return collect(
            self.name,
            request,
            rows,
            lambda row: row["paper"],
            notes=(*notes, *more_notes, *_notes_of(within(answer, "esearchresult"))),
        )

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

    def _explain(self, reply: Reply) -> AskyError | None:
        """Errors come under any status, 200 included; the one for asking too often repeats the key or our address."""
        body = reply.json_or_none() if reply.status in (200, 400, 429) else None
        why = said(within(body, "error"), within(body, "esearchresult", "ERROR"))
        if not why:
            return None
        if "rate limit" in why.lower():
            return RateLimited(f"{self.name} was asked too often", hint="wait, or search with another service")
        if "api key" in why.lower() or "api-key" in why.lower():
            return self.service.key_refused()
        if any(word in why.lower() for word in _PASSING):
            return unavailable(self.name, why)
        return bad_request(self.name, why)


def _notes_of(result: object) -> tuple[str, ...]:
    """What PubMed made of the query: it rewrites it, and leaves out what it does not know, without asking."""
    translation = plain(within(result, "querytranslation"), 300)
    unknown = (*texts(within(result, "errorlist", "phrasesnotfound")), *_ignored(within(result, "warninglist")))
    notes = [f"searched for {translation}"] if translation else []
    return (*notes, f"left out: {', '.join(unknown)}") if unknown else tuple(notes)


def _ignored(warnings: object) -> tuple[str, ...]:
    return (*texts(within(warnings, "phrasesignored")), *texts(within(warnings, "quotedphrasesnotfound")))
