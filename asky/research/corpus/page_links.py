"""Reading pages for a model, with their links: web pages, and the sources of adapters."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from asky.concurrency import gather, in_thread
from asky.evidence.passages import fence
from asky.llm.tools import ToolResult
from asky.research.adapters import AdapterListing
from asky.research.tool_specs import MAX_URL_CHARS
from asky.text.urls import canonical_url
from asky.values import Failure, Link

if TYPE_CHECKING:
    from asky.research.page import WebPage
    from asky.research.vector_store import VectorStore

_LINKS_SHOWN = 20
_CONCURRENT = 4

ReadOffered = Callable[[str], Awaitable["WebPage | AdapterListing"]]
"""Reads an address that was offered to the model. Raises `SourceRefused` for any other."""


class PageLinks:
    """Reads addresses with `read`, which makes pages sources of the session; `marker` is that of the run's fences."""

    def __init__(self, read: ReadOffered, store: VectorStore, marker: str) -> None:
        self._read = read
        self._store = store
        self._marker = marker

    async def extract_links(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Read pages into the sources of the session, and list their links."""
        urls, query = unique_pages(arguments["urls"]), arguments.get("query")
        read = await gather(urls, self._read, limit=_CONCURRENT)
        parts: list[str] = []
        for url, page in zip(urls, read, strict=True):
            if isinstance(page, Failure):
                parts.append(self.unread(url, page))
                continue
            links = await in_thread(self._links, page, query)
            parts.append(self._listed(url, links) if isinstance(page, AdapterListing) else self._shown(page, links))
        count = sum(not isinstance(page, Failure) for page in read)
        if not count:
            failures = [page for page in read if isinstance(page, Failure)]
            return ToolResult("\n".join(parts), failures[0].message, failures[0])
        return ToolResult("\n\n".join(parts), f"{count} of {len(urls)} pages read")

    def unread(self, url: str, why: Failure) -> str:
        """Format an unread address, fenced: the address and a redirect target are untrusted text."""
        return fence(f"{url[:200]}: could not be read: {why.message}", self._marker, "page not read")

    def _links(self, page: WebPage | AdapterListing, query: str | None) -> Sequence[Link]:
        links = page.document.links if not isinstance(page, AdapterListing) else _as_links(page)
        if query is None:
            return links[:_LINKS_SHOWN]
        return [link for link, _ in self._store.search_relevant_links(query, links, limit=_LINKS_SHOWN)]

    def _shown(self, page: WebPage, links: Sequence[Link]) -> str:
        head = f"{page.source.id}: {page.source.title[:120]} ({len(page.document.text):,} characters)"
        if page.is_cut:
            head += "; the page is longer than what was read of it"
        shown = self._fenced(head, links)
        return f"{shown}\nIts passages can be retrieved with get_relevant_content."

    def _listed(self, url: str, links: Sequence[Link]) -> str:
        return self._fenced(f"{url[:200]}: a list without a text of its own", links)

    def _fenced(self, head: str, links: Sequence[Link]) -> str:
        lines = [f"- {link.text[:100]}: {link.url[:MAX_URL_CHARS]}" for link in links]
        return fence("\n".join([head, *lines]), self._marker, "page and links")


def unique_pages(urls: Sequence[str]) -> list[str]:
    """Return each page once, in canonical form: data hidden in another spelling would reach the site."""
    return list(dict.fromkeys(_page(url) for url in urls))


def _page(url: str) -> str:
    try:
        return canonical_url(url)
    except ValueError:
        return url  # the target of an adapter, or refused, and reported as written


def _as_links(listing: AdapterListing) -> Sequence[Link]:
    return [Link(each.url, each.text, 0) for each in listing.links]
