"""Twins of the scholarly services that answer in JSON. Papers are invented, shapes and odd parts are the real ones'."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from urllib.parse import unquote

from tests.support.twins.base import Reply, Request, Twin


@dataclass(frozen=True, slots=True)
class Paper:
    """What the services know of a paper, each in its own shape. `pdf` is an open copy; `day` may be a year alone.

    `updated_by`, `update_to` and `relation` are Crossref's, as they come; `types` and `references` are PubMed's, the
    latter with type, source and PMID; `note` is arXiv's comment on the newest of `versions`; `work_type` is OpenAlex's.
    `marked_by` are the services that know of `is_retracted`.
    """

    title: str
    doi: str | None = None
    arxiv: str | None = None
    pmid: str | None = None
    abstract: str | None = None
    authors: tuple[tuple[str, str], ...] = (("Ada", "Bly"),)
    venue: str = "Journal of Invented Soils"
    day: str = "2023-01-03"
    citations: int = 3
    pdf: str | None = None
    is_retracted: bool = False
    marked_by: tuple[str, ...] = ("crossref", "openalex", "pubmed")
    updated_by: tuple[Mapping[str, Any], ...] = ()
    update_to: tuple[Mapping[str, Any], ...] = ()
    relation: Mapping[str, Any] | None = None
    pmcid: str | None = None
    types: tuple[str, ...] = ("Journal Article",)
    references: tuple[tuple[str, str, str | None], ...] = ()
    note: str = "9 pages"
    versions: int = 2
    work_type: str = "article"

    def is_marked_by(self, name: str) -> bool:
        return self.is_retracted and name in self.marked_by

    @property
    def year(self) -> int:
        return int(self.day[:4])


PAPERS = (
    Paper(
        "Carbon in soil & peat",
        doi="10.5555/Soil.1",
        pmid="41000001",
        abstract="Soil keeps carbon, and p < 0.05.",
        authors=(("Ada", "Bly"), ("Émile", "Du Châtel")),
        pdf="https://repository.example/soil.pdf",
    ),
    Paper("A model of peat", arxiv="2301.01234", abstract="Peat is modelled.", venue="", citations=0),
    Paper("Withdrawn claims", doi="10.5555/bad", pmid="41000003", is_retracted=True, day="2021"),
)
"""What twins find unless they are told otherwise."""


class PaperTwin(Twin):
    """A twin whose rows are `Paper`s."""

    def papers(self) -> Sequence[Paper]:
        return PAPERS if self.rows is None else self.rows

    def sparse_rows(self) -> list[Any]:
        """Rows without what is optional, and such as are none."""
        raise NotImplementedError


def _number(request: Request, name: str, default: int) -> int:
    text = request.param(name) or str(default)
    return int(text) if text.lstrip("-").isdigit() else -1


class SemanticScholarTwin(PaperTwin):
    """Semantic Scholar: words with hyphens are not found, `data` is absent where nothing is."""

    base_path = "/graph/v1"
    fields = (
        "paperId title abstract url venue year publicationDate authors externalIds citationCount openAccessPdf "
        "isOpenAccess tldr journal publicationTypes"
    )

    def refusal(self, request: Request) -> Reply | None:
        if not request.path.startswith("/graph/v1/paper/"):
            return Reply({"error": "Not found"}, status=404)
        sent = request.headers.get("x-api-key")
        if sent is not None and sent != self.key:
            return Reply({"message": "Forbidden"}, status=403)
        unknown = set((request.param("fields") or "title").split(",")) - set(self.fields.split())
        if unknown:
            return Reply({"error": f"Unrecognized or unsupported fields: [{', '.join(sorted(unknown))}]"}, status=400)
        if request.path != "/graph/v1/paper/search":
            return None
        if not (request.param("query") or "").strip():
            return Reply({"error": "Missing required parameter: 'query'"}, status=400)
        limit, offset = _number(request, "limit", 100), _number(request, "offset", 0)
        if not 1 <= limit <= 100 or offset < 0 or offset + limit > 1000:
            return Reply({"error": "Requested data for this limit and/or offset is not available"}, status=400)
        days = request.param("publicationDateOrYear")
        if days is not None and not re.fullmatch(r"(\d{4}(-\d\d){0,2})?(:(\d{4}(-\d\d){0,2})?)?", days):
            return Reply({"error": "Unacceptable query params: [publicationDateOrYear]"}, status=400)
        return None

    def answer(self, request: Request) -> Reply:
        if request.path != "/graph/v1/paper/search":
            wanted = unquote(request.path.removeprefix("/graph/v1/paper/"))
            paper = next((each for each in self.papers() if wanted.lower() in self._names(each)), None)
            return Reply({"error": "Paper not found"}, 404) if paper is None else Reply(self._row(paper))
        if "-" in (request.param("query") or ""):
            return self.empty(request)
        rows = [self._row(paper) for paper in self.papers()][: _number(request, "limit", 100)]
        return Reply({"total": 12, "offset": 0, "next": len(rows), "data": rows})

    def empty(self, _: Request) -> Reply:
        return Reply({"total": 0, "offset": 0})

    def sparse(self, _: Request) -> Reply:
        rows = [
            {"paperId": "0a", "title": "Bare", "url": "https://www.semanticscholar.org/paper/0a"},
            {
                "paperId": "0b",
                "title": "Nulls",
                "url": "https://www.semanticscholar.org/paper/0b",
                "abstract": None,
                "venue": None,
                "year": None,
                "publicationDate": None,
                "authors": None,
                "externalIds": None,
                "citationCount": None,
                "openAccessPdf": None,
            },
            {"paperId": "0c", "title": None, "url": "https://www.semanticscholar.org/paper/0c"},
            None,
        ]
        return Reply({"total": "4", "offset": 0, "data": rows})

    def failure(self, kind: str, request: Request) -> Reply:
        if kind == "bad_key":
            return Reply({"message": "Forbidden"}, status=403)
        if kind == "echo":
            return Reply({"error": f"Bad key {request.headers.get('x-api-key')}"}, status=400)
        message = "Too Many Requests. Please wait and try again or apply for a key for higher rate limits."
        return Reply({"message": message, "code": "429"}, status=429)

    def _names(self, paper: Paper) -> set[str]:
        pmc = (paper.pmcid or "").removeprefix("PMC")
        ids = {"doi": paper.doi, "arxiv": paper.arxiv, "pmid": paper.pmid, "pmcid": pmc}
        return {f"{name}:{value}".lower() for name, value in ids.items() if value}

    def _row(self, paper: Paper) -> dict[str, Any]:
        pmc = (paper.pmcid or "").removeprefix("PMC")
        ids = {"DOI": paper.doi, "ArXiv": paper.arxiv, "PubMed": paper.pmid, "PubMedCentral": pmc, "CorpusId": 1}
        return {
            "paperId": "0f3c" * 10,
            "externalIds": {name: value for name, value in ids.items() if value},
            "url": f"https://www.semanticscholar.org/paper/{'0f3c' * 10}",
            "title": paper.title,
            "abstract": paper.abstract,
            "venue": paper.venue,
            "year": paper.year,
            "publicationDate": paper.day if len(paper.day) > 4 else None,
            "authors": [{"authorId": "1", "name": " ".join(name)} for name in paper.authors],
            "citationCount": paper.citations,
            "openAccessPdf": {"url": paper.pdf or "", "status": "GREEN" if paper.pdf else "CLOSED", "license": None},
        }


class OpenAlexTwin(PaperTwin):
    """OpenAlex: abstracts as an index, addresses of DOIs, and a price for every search."""

    fields = (
        "id doi title display_name publication_year publication_date type authorships primary_location "
        "best_oa_location open_access cited_by_count is_retracted abstract_inverted_index ids"
    )

    def refusal(self, request: Request) -> Reply | None:
        if request.path != "/works" and not request.path.startswith("/works/"):
            return Reply({"error": "Not Found", "message": "The requested URL was not found"}, status=404)
        if re.search("[,&]", unquote(request.path)):
            return Reply({"error": "Invalid query parameters error.", "message": "illegal ID"}, status=403)
        sent = request.param("api_key")
        if sent is not None and sent != self.key:
            return Reply({"error": "Forbidden", "message": f"Invalid API key {sent}"}, status=403)
        if not 1 <= _number(request, "per_page", 25) <= 100:
            return Reply({"error": "Invalid query parameters error.", "message": "per-page parameter"}, status=400)
        unknown = set((request.param("select") or "id").split(",")) - set(self.fields.split())
        if unknown:
            message = f"{sorted(unknown)[0]} is not a valid select field"
            return Reply({"error": "Invalid query parameters error.", "message": message}, status=400)
        wanted = request.param("filter")
        if wanted is not None and not re.fullmatch(r"([a-z_.]+:[^,]+)(,[a-z_.]+:[^,]+)*", wanted):
            return Reply({"error": "Invalid query parameters error.", "message": "filter"}, status=400)
        return None

    def answer(self, request: Request) -> Reply:
        if request.path != "/works":
            wanted = unquote(request.path.removeprefix("/works/")).lower()
            paper = next((each for each in self.papers() if wanted in self._names(each)), None)
            missing = {"error": "Not Found", "message": "The requested work was not found"}
            return Reply(missing, 404) if paper is None else Reply(self._row(paper))
        rows = [self._row(paper) for paper in self.papers()][: _number(request, "per_page", 25)]
        return Reply({"meta": {"count": 12, "page": 1, "per_page": 25, "cost_usd": 0.001}, "results": rows})

    def empty(self, _: Request) -> Reply:
        return Reply({"meta": {"count": 0, "page": 1, "per_page": 25, "cost_usd": 0.001}, "results": []})

    def sparse(self, _: Request) -> Reply:
        rows = [
            {"id": "https://openalex.org/W1", "doi": None, "display_name": "Bare", "abstract_inverted_index": None},
            {
                "id": "https://openalex.org/W2",
                "display_name": "Odd",
                "abstract_inverted_index": {"gap": [9], "a": [0], "odd": "x", "far": [10**9]},
                "publication_year": "2020",
                "authorships": [{"author": None, "raw_author_name": "Raw Name"}, {}],
                "best_oa_location": None,
                "primary_location": {"source": None, "landing_page_url": None},
                "cited_by_count": "7",
                "is_retracted": None,
            },
            {"id": "https://openalex.org/W3", "display_name": None},
            7,
        ]
        return Reply({"meta": {}, "results": rows})

    def failure(self, kind: str, request: Request) -> Reply:
        key = request.param("api_key")
        if kind in ("bad_key", "echo"):
            return Reply({"error": "Forbidden", "message": f"Invalid API key {key}"}, status=403 if key else 400)
        budget = "Insufficient budget. This request costs $0.001 but you only have $0 remaining."
        message = budget if kind == "quota" else "Too many requests: at most 100 per second"
        return Reply({"error": "Rate limit exceeded", "message": message}, status=429)

    def _names(self, paper: Paper) -> set[str]:
        arxiv = f"10.48550/arxiv.{paper.arxiv}" if paper.arxiv else None
        names = (f"doi:{paper.doi}", f"doi:{arxiv}", f"pmid:{paper.pmid}", "W1")
        return {name.lower() for name in names if not name.endswith("None")}

    def _row(self, paper: Paper) -> dict[str, Any]:
        index: dict[str, list[int]] = {}
        for place, word in enumerate((paper.abstract or "").split()):
            index.setdefault(word, []).append(place)
        landing_page = f"http://arxiv.org/abs/{paper.arxiv}" if paper.arxiv else f"https://doi.org/{paper.doi}"
        return {
            "id": "https://openalex.org/W1",
            "doi": f"https://doi.org/{paper.doi.lower()}" if paper.doi else None,
            "display_name": paper.title.replace("soil", "<i>soil</i>"),
            "publication_year": paper.year,
            "publication_date": paper.day if len(paper.day) > 4 else f"{paper.day}-01-01",
            "authorships": [{"author": {"display_name": " ".join(name), "orcid": None}} for name in paper.authors],
            "primary_location": {"source": {"display_name": paper.venue}, "landing_page_url": landing_page},
            "best_oa_location": {"pdf_url": paper.pdf, "landing_page_url": landing_page, "version": "submittedVersion"},
            "cited_by_count": paper.citations,
            "is_retracted": paper.is_marked_by("openalex"),
            "type": paper.work_type,
            "ids": {"openalex": "https://openalex.org/W1", "pmid": f"https://pubmed.ncbi.nlm.nih.gov/{paper.pmid}"}
            if paper.pmid
            else {"openalex": "https://openalex.org/W1"},
            "abstract_inverted_index": dict(sorted(index.items())) or None,
        }


class CrossrefTwin(PaperTwin):
    """Crossref: titles in lists, dates in parts, abstracts in JATS."""

    base_path = "/v1"
    fields = (
        "DOI URL title subtitle author container-title issued abstract is-referenced-by-count type update-to "
        "updated-by score relation"
    )
    filters = frozenset({"from-pub-date", "has-abstract", "type", "doi", "updates"})

    def refusal(self, request: Request) -> Reply | None:
        if request.path != "/v1/works" and not request.path.startswith("/v1/works/"):
            return Reply("Resource not found.", status=404, content_type="text/plain")
        unknown = set((request.param("select") or "DOI").split(",")) - set(self.fields.split())
        if unknown or not 0 <= _number(request, "rows", 20) <= 1000:
            problem = {"type": "parameter-not-allowed", "value": "x", "message": "Element is not selectable."}
            return Reply({"status": "failed", "message-type": "validation-failure", "message": [problem]}, status=400)
        strange = [name for name, _ in self._filters(request) if name not in self.filters]
        if strange:
            problem = {"type": "filter-not-available", "value": strange[0], "message": "Filter is not available."}
            return Reply({"status": "failed", "message-type": "validation-failure", "message": [problem]}, status=400)
        return None

    def answer(self, request: Request) -> Reply:
        with_doi = [paper for paper in self.papers() if paper.doi]
        if request.path != "/v1/works":
            wanted = unquote(request.path.removeprefix("/v1/works/")).lower()
            paper = next((each for each in with_doi if (each.doi or "").lower() == wanted), None)
            if paper is None:
                return Reply("Resource not found.", status=404, content_type="text/plain")
            work = {"status": "ok", "message-type": "work", "message-version": "1.0.0", "message": self._row(paper)}
            return Reply(work)
        for name, value in self._filters(request):
            if name == "doi":
                with_doi = [paper for paper in with_doi if (paper.doi or "").lower() == value.lower()]
            if name == "updates":
                with_doi = [paper for paper in with_doi if value.lower() in _updated(paper.update_to)]
        return self._list([self._row(paper) for paper in with_doi][: _number(request, "rows", 20)])

    def empty(self, _: Request) -> Reply:
        return self._list([])

    def sparse(self, _: Request) -> Reply:
        rows = [
            {"DOI": "10.5555/bare", "title": ["Bare"], "issued": {"date-parts": [[None]]}},
            {"DOI": "10.5555/untitled", "title": []},
            {
                "DOI": "10.5555/odd",
                "title": ["Odd\n   title"],
                "subtitle": ["of <i>its</i> kind"],
                "author": [{"name": "A Group", "sequence": "first"}, {"family": "Only"}],
                "container-title": [],
                "issued": {"date-parts": [[2020, 13]]},
                "abstract": "&lt;p&gt;Escaped &lt;i&gt;markup&lt;/i&gt;&lt;/p&gt;",
            },
            {"title": ["No DOI"]},
        ]
        return self._list(rows)

    def failure(self, kind: str, request: Request) -> Reply:
        if kind == "echo":
            return Reply(f"Bad request from {request.param('mailto')}", status=400, content_type="text/plain")
        return Reply("Too Many Requests", status=429, content_type="text/plain")

    def _filters(self, request: Request) -> list[tuple[str, str]]:
        """The filters, as the service reads them: a part without a colon belongs to the one before it."""
        parts: list[str] = []
        for part in (request.param("filter") or "").split(","):
            if ":" in part or not parts:
                parts.append(part)
            else:
                parts[-1] += f",{part}"
        return [(name, value) for name, _, value in (part.partition(":") for part in parts if part)]

    def _list(self, items: list[Any]) -> Reply:
        message = {"total-results": len(items), "items-per-page": 20, "items": items, "query": {"start-index": 0}}
        return Reply({"status": "ok", "message-type": "work-list", "message-version": "1.0.0", "message": message})

    def _row(self, paper: Paper) -> dict[str, Any]:
        numbers = [int(part) for part in paper.day.split("-")]
        row = {
            "DOI": paper.doi,
            "URL": f"https://doi.org/{paper.doi}",
            "title": [paper.title.replace("&", "&amp;")],
            "author": [{"given": given, "family": family, "sequence": "first"} for given, family in paper.authors],
            "container-title": [paper.venue],
            "issued": {"date-parts": [numbers]},
            "is-referenced-by-count": paper.citations,
        }
        if paper.abstract:
            text = paper.abstract.replace("<", "&lt;").replace("carbon", "<jats:italic>carbon</jats:italic>")
            row["abstract"] = f"<jats:title>Abstract</jats:title><jats:p>{text}</jats:p>"
        updates = list(paper.updated_by)
        if paper.is_marked_by("crossref"):
            updates.append({"type": "retraction", "label": "Retraction", "DOI": "10.5555/notice"})
        parts = {"updated-by": updates, "update-to": list(paper.update_to), "relation": paper.relation}
        return {**row, **{name: value for name, value in parts.items() if value}}


def _updated(updates: Iterable[Mapping[str, Any]]) -> set[str]:
    """The DOIs of the works that these updates are to."""
    return {str(each["DOI"]).lower() for each in updates}


class UnpaywallTwin(PaperTwin):
    """Unpaywall: one paper at a time, and only for those who say who they are."""

    base_path = "/v2"

    def refusal(self, request: Request) -> Reply | None:
        email = request.param("email") or ""
        if "@" not in email or email.endswith(("@example.com", "@domain.com")):
            message = "Please use your own email address in API calls. See http://unpaywall.org/products/api"
            return Reply({"HTTP_status_code": 422, "error": True, "message": message}, status=422)
        return None

    def answer(self, request: Request) -> Reply:
        doi = unquote(request.path.removeprefix("/v2/"))
        paper = next((paper for paper in self.papers() if (paper.doi or "").lower() == doi), None)
        if paper is None:
            message = f"'{doi}' isn't in Unpaywall."
            return Reply({"HTTP_status_code": 404, "error": True, "message": message}, status=404)
        best = {
            "url": paper.pdf,
            "url_for_pdf": paper.pdf,
            "url_for_landing_page": "https://repository.example/1",
            "host_type": "repository",
            "version": "acceptedVersion",
            "license": None,
            "evidence": "deprecated",
        }
        return Reply({"doi": doi, "is_oa": paper.pdf is not None, "best_oa_location": best if paper.pdf else None})

    def empty(self, request: Request) -> Reply:
        return Reply({"doi": request.path, "is_oa": False, "oa_status": "closed", "best_oa_location": None})

    def sparse(self, _: Request) -> Reply:
        best = {"url": "https://publisher.example/1", "url_for_pdf": None, "version": None, "host_type": "publisher"}
        return Reply({"is_oa": True, "best_oa_location": best})

    def failure(self, kind: str, request: Request) -> Reply:
        if kind == "echo":
            message = f"Please use your own email address, not {request.param('email')}"
            return Reply({"HTTP_status_code": 422, "error": True, "message": message}, status=422)
        return Reply({"error": "too many requests"}, status=429)


@dataclass(frozen=True, slots=True)
class Article:
    """An article of Wikipedia."""

    title: str
    snippet: str
    day: date = date(2026, 1, 1)


ARTICLES = (
    Article("Soil carbon", '<span class="searchmatch">Soil</span> carbon is &quot;solid&quot; carbon &amp; more'),
    Article("C++/Étude?", "An <b>odd</b> title"),
)


class WikipediaTwin(Twin):
    """Wikipedia: errors come with the status 200, and clients without a name are turned away."""

    def refusal(self, request: Request) -> Reply | None:
        if not re.match(r"asky/\S+", request.headers.get("user-agent", "")):
            return Reply("Please set a user-agent and respect our robot policy", 403, "text/plain")
        if request.path != "/w/api.php" or request.param("format") != "json":
            return Reply("<!DOCTYPE html><html></html>", status=200, content_type="text/html; charset=utf-8")
        query = request.param("srsearch") or ""
        if not query:
            return self._error("missingparam", 'The "srsearch" parameter must be set.')
        if len(query) > 300:
            return self._error("cirrussearch-query-too-long", "Search request is longer than the maximum allowed.")
        if not 1 <= _number(request, "srlimit", 10) <= 500:
            return self._error("badinteger", 'Invalid value for integer parameter "srlimit".')
        return None

    def answer(self, request: Request) -> Reply:
        rows = [
            {"ns": 0, "title": article.title, "pageid": 1, "size": 1, "snippet": article.snippet}
            for article in (ARTICLES if self.rows is None else self.rows)
        ]
        found = rows[: _number(request, "srlimit", 10)]
        return Reply({"batchcomplete": True, "query": {"searchinfo": {"totalhits": 42}, "search": found}})

    def empty(self, _: Request) -> Reply:
        return Reply({"batchcomplete": True, "query": {"searchinfo": {"totalhits": 0}, "search": []}})

    def sparse(self, _: Request) -> Reply:
        rows = [{"title": "Bare"}, {"pageid": 7}, {"title": "Null", "snippet": None}]
        return Reply({"batchcomplete": True, "query": {"search": rows}})

    def failure(self, kind: str, request: Request) -> Reply:
        if kind == "echo":
            return self._error("internal_api_error_DBQueryError", request.headers.get("user-agent", ""))
        return self._error("ratelimited", "You've exceeded your rate limit.")

    def _error(self, code: str, info: str) -> Reply:
        docref = "See https://en.wikipedia.org/w/api.php for API usage."
        return Reply({"error": {"code": code, "info": info, "docref": docref}, "servedby": "mw1"})
