"""arXiv: preprints in physics, mathematics, computer science and related fields.

Metadata are free to use, papers are not. One request in three seconds, over all programs of its user. A refusal can
last for minutes, and Semantic Scholar and OpenAlex know the same papers. Source: info.arxiv.org/help/api.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from asky.errors import AskyError
from asky.search.dates import iso_date
from asky.search.identifiers import Identifier, arxiv_id_of, doi_field, ids_of
from asky.search.lookup import FoundPaper, Notice, NoticeKind
from asky.search.papers import arxiv_url, first_day, search_words
from asky.search.port import Candidate, SearchProvider, SearchRequest, SearchResults
from asky.search.reply import ServiceReply, bad_request, malformed, unavailable
from asky.search.rows import MAX_TITLE_CHARS, Adapter, collect, prepare, results_wanted
from asky.search.service import Service
from asky.search.xml_reply import parse_xml, text_in

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_ATOM = "{http://www.w3.org/2005/Atom}"
_ARXIV = "{http://arxiv.org/schemas/atom}"
_OPENSEARCH = "{http://a9.com/-/spec/opensearch/1.1/}"
_MAX_WORDS = 10
_EMPTY_PAGES = 2
_PAPER = r"(?:paper|article|submission|manuscript|preprint) (?:has been|is|was) withdrawn\b"
_WITHDRAWN = re.compile(
    rf"\b{_PAPER}|^\W*(?:(?:this )?(?:paper|article|submission|manuscript) )?withdrawn\b(?! from)", re.IGNORECASE
)
_WITHDRAWN_ABSTRACT = re.compile(rf"\W*this {_PAPER}", re.IGNORECASE)


def make(service: Service) -> SearchProvider:
    """Return the adapter of arXiv."""
    return _Arxiv(service)


class _Arxiv(Adapter):
    async def search(self, request: SearchRequest) -> SearchResults:
        query, notes = prepare(self.service, request)
        words, more_notes = search_words(query, _MAX_WORDS)
        if not words:
            raise bad_request(self.name, "the query has no word to search for")
        params = self.service.parameters_with(
            {
                "search_query": build_query(words, first_day(self.service, request), self.service.today()),
                "start": 0,
                "max_results": results_wanted(self.service, request),
                "sortBy": "relevance",
                "sortOrder": "descending",
            }
        )
        rows = [{"entry": entry} for entry in await self._entries(params)]
        return collect(self.name, request, rows, lambda row: _read(row["entry"]), notes=(*notes, *more_notes))

    async def lookup(self, identifier: Identifier) -> FoundPaper | None:
        """See `PaperLookup`. An older version takes two requests, as only the newest entry tells of its withdrawal."""
        newest = await self._find(identifier.value)
        if newest is None:
            return None
        entry, candidate, last = newest
        kind: NoticeKind | None = "withdrawal" if _is_withdrawn(entry) else None
        if identifier.version not in (None, last.version):
            older = await self._find(f"{identifier.value}v{identifier.version}")
            if older is None:
                return None
            candidate = replace(older[1], is_retracted=kind is not None)
            kind = kind or "newer_version"
        updated = iso_date(text_in(entry, f"{_ATOM}updated"))
        return FoundPaper(
            candidate,
            ids_of(replace(candidate, url=arxiv_url(last))),
            notices=(Notice(kind, updated, self.name, last),) if kind else (),
        )

    async def _find(self, name: str) -> tuple[Element, Candidate, Identifier] | None:
        """Return the entry of an id, its paper, and the id with the version; `None` for an unknown id."""
        for entry in await self._entries({"id_list": name, "max_results": 1}):
            candidate = _read(entry)
            found = arxiv_id_of(candidate.url) if candidate else None
            if candidate is None or found is None:
                continue
            if found.version is None or name not in (found.value, f"{found.value}v{found.version}"):
                raise malformed(self.name, "its answer is not the paper that was looked up")
            return entry, candidate, found
        return None

    async def _entries(self, params: dict[str, object]) -> list[Element]:
        for _ in range(_EMPTY_PAGES):
            feed = parse_xml(await self._fetch(params), self.name)
            entries: list[Element] = feed.findall(f"{_ATOM}entry")
            if entries or not _promises_more(feed):
                return entries
        raise unavailable(self.name, "it returned empty pages although there are results")

    async def _fetch(self, params: dict[str, object]) -> str:
        headers = {"Accept": "application/atom+xml"}
        reply = await self.service.request("GET", "/query", params, headers=headers, explain=self._explain)
        return reply.text()

    def _explain(self, reply: ServiceReply) -> AskyError | None:
        """Explain a reply. An error is a feed with one entry under a special address, with status 400 or 200."""
        if reply.status not in (200, 400) or b"/api/errors" not in reply.body:
            return None
        entry = parse_xml(reply.text(), self.name).find(f"{_ATOM}entry")
        if "/api/errors" not in text_in(entry, f"{_ATOM}id"):
            return None
        return bad_request(self.name, text_in(entry, f"{_ATOM}summary", 200))


def build_query(words: list[str], first: date | None, today: date) -> str:
    """Return the query for papers with all of `words`, submitted from `first` on.

    Each word gets its field and all are joined: a space alone would mean OR. A word with a hyphen is a phrase.
    """
    parts = [f"all:{word}" if word.isalnum() else f'all:"{_phrase(word)}"' for word in words]
    if first is not None:
        parts.append(f"submittedDate:[{first:%Y%m%d}0000 TO {today:%Y%m%d}2359]")
    return " AND ".join(parts)


def _phrase(word: str) -> str:
    return " ".join("".join(c if c.isalnum() else " " for c in word).split())


def _promises_more(feed: Element) -> bool:
    """Return whether the feed claims results but is empty, as happens."""
    total = text_in(feed, f"{_OPENSEARCH}totalResults")
    return total.isdecimal() and int(total) > 0


def _read(entry: Element) -> Candidate | None:
    """Return a paper; `None` for an entry without title or authors, which is the result for an unknown id."""
    arxiv = arxiv_id_of(text_in(entry, f"{_ATOM}id"))
    title = text_in(entry, f"{_ATOM}title", MAX_TITLE_CHARS)
    authors = tuple(filter(None, (text_in(name) for name in entry.findall(f"{_ATOM}author/{_ATOM}name"))))
    if arxiv is None or not title or not authors:
        return None
    is_withdrawn = _is_withdrawn(entry)
    return Candidate(
        url=arxiv_url(arxiv),
        title=title,
        snippet=text_in(entry, f"{_ATOM}summary"),
        published=iso_date(text_in(entry, f"{_ATOM}published")),
        kind="paper",
        doi=doi_field(text_in(entry, f"{_ARXIV}doi")) or f"10.48550/arxiv.{arxiv.value}",
        authors=authors,
        venue=text_in(entry, f"{_ARXIV}journal_ref", MAX_TITLE_CHARS) or "arXiv",
        pdf_url=None if is_withdrawn else arxiv_url(arxiv, "pdf"),
        is_retracted=is_withdrawn,
    )


def _is_withdrawn(entry: Element) -> bool:
    """Return whether the comment says so, or the abstract, which then is often all that is left."""
    comment, abstract = text_in(entry, f"{_ARXIV}comment"), text_in(entry, f"{_ATOM}summary")
    return _WITHDRAWN.search(comment) is not None or _WITHDRAWN_ABSTRACT.match(abstract) is not None
