"""The web tools of a model: it searches, and reads the addresses that were offered to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from asky.concurrency import error_of, gather
from asky.errors import SourceRefused
from asky.evidence.passages import fence
from asky.llm.tools import Tool, ToolResult
from asky.research.adapters import AdapterListing
from asky.research.corpus.page_links import PageLinks, unique_pages
from asky.research.shortlist_collect import read_prompt
from asky.research.tool_specs import EXTRACT_LINKS, GET_LINK_SUMMARIES, MAX_URL_CHARS, WEB_SEARCH, WEB_SEARCH_READING
from asky.research.web.sources import chosen_lines
from asky.values import Failure

if TYPE_CHECKING:
    from asky.research.corpus.offered_targets import OfferedTargets
    from asky.research.page import WebPage
    from asky.research.vector_store import VectorStore
    from asky.research.web.run import WebRun
    from asky.research.web.summaries import Summaries
    from asky.search.port import Candidate, Recency

_SNIPPET = 300
_CONCURRENT = 4
_SUMMARY_S = 30.0  # then the model is asked to try again later


class WebTools:
    """Makes the web tools of a run, which read the `targets` of adapters too."""

    def __init__(
        self,
        web: WebRun,
        store: VectorStore,
        summaries: Summaries,
        *,
        reads_results: bool,
        targets: OfferedTargets | None = None,
    ) -> None:
        self._web = web
        self._targets = targets
        self._store = store
        self._summaries = summaries
        self._reads_results = reads_results

    @property
    def _links(self) -> PageLinks:
        return PageLinks(self._read, self._store, self._web.marker)  # kept here, it would refer to itself

    def all(self) -> list[Tool]:
        """Return all tools, in a fixed order."""
        search = WEB_SEARCH_READING if self._reads_results else WEB_SEARCH
        return [
            Tool(search, self.web_search),
            Tool(EXTRACT_LINKS, self._links.extract_links),
            Tool(GET_LINK_SUMMARIES, self.get_link_summaries),
        ]

    async def web_search(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Search the web; if results are read automatically, return the sources that were kept."""
        queries, recency = arguments["queries"], arguments.get("recency")
        if self._reads_results:
            return await self._search_and_read(queries, recency)
        found = await self._web.find(queries, recency=recency)
        if not found.candidates:
            return ToolResult(_nothing(queries, found.failures), "nothing found on the web")
        lines = [_candidate_line(number, each) for number, each in enumerate(found.candidates, start=1)]
        shown = fence("\n".join(lines), self._web.marker, "search results")
        note = _failure_text(found.failures)
        return ToolResult(
            f"{shown}\n\nThese are addresses, not sources: read them with extract_links, then retrieve.{note}",
            f"{len(lines)} results",
        )

    async def _search_and_read(self, queries: Sequence[str], recency: Recency | None) -> ToolResult:
        if read_prompt("; ".join(queries)).candidates:  # the shortlist would read addresses in a query
            raise SourceRefused("a query may not contain an address or an identifier", hint="search with plain words")
        chosen = await self._web.shortlist("; ".join(queries), recency=recency)
        if not chosen.selected and chosen.failures:
            raise error_of(chosen.failures[0])
        if not chosen.selected:
            return ToolResult(_nothing(queries, chosen.failures), "nothing found on the web")
        sources = await self._web.keep(chosen)
        shown = fence("\n".join(chosen_lines(sources, chosen.selected)), self._web.marker, "sources, best first")
        note = _failure_text(chosen.failures)
        return ToolResult(
            f"{shown}\n\nThese sources were read: retrieve passages of them with get_relevant_content.{note}",
            f"{len(sources)} sources read",
        )

    async def _read(self, url: str) -> WebPage | AdapterListing:
        """Read an address that was offered: a web page, or the target of an adapter, whose links may be read too."""
        if self._targets is None or not self._targets.handles(url):
            return await self._web.read_offered(url)
        found = await self._targets.read(url)
        links = found.links if isinstance(found, AdapterListing) else found.document.links
        self._web.offered.offer_links(link.url for link in links)
        return found

    async def get_link_summaries(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Summarize pages in a few sentences."""
        urls = unique_pages(arguments["urls"])

        async def summarise(url: str) -> str:
            page = await self._web.read_offered(url)
            text = await self._summaries.of(page, _SUMMARY_S)
            return f"{page.source.id}: {page.source.title[:120]}\n{text}"

        found = await gather(urls, summarise, limit=_CONCURRENT)
        parts = [
            self._links.unread(url, each) if isinstance(each, Failure) else fence(each, self._web.marker, "summary")
            for url, each in zip(urls, found, strict=True)
        ]
        count = sum(not isinstance(each, Failure) for each in found)
        note = "\n\nSummaries are not sources: cite passages." if count else ""
        return ToolResult("\n\n".join(parts) + note, f"{count} of {len(urls)} pages summarised")


def _candidate_line(number: int, each: Candidate) -> str:
    facts = " · ".join(
        fact for fact in (each.published, each.venue, "retracted" if each.is_retracted else None) if fact
    )
    head = f"{number}. {each.title[:200] or 'untitled'}" + (f" ({facts})" if facts else "")
    return f"{head}\n   {each.url[:MAX_URL_CHARS]}\n   {each.snippet[:_SNIPPET]}"


def _nothing(queries: Sequence[str], failures: Sequence[Failure]) -> str:
    return f"Nothing was found on the web for {'; '.join(queries)[:400]}.{_failure_text(failures)}"


def _failure_text(failures: Sequence[Failure]) -> str:
    if not failures:
        return ""
    return " Could not be asked: " + "; ".join(f"{each.subject} ({each.code})" for each in failures) + "."
