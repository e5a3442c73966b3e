"""A web for shortlists: pages by address, and a search service that finds what it is told to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from asky.errors import AskyError, SourceUnreadable
from asky.research.page import WebPage
from asky.search.port import Candidate, ServiceRank
from asky.values import Document, Failure, Link, Source, source_id

Behaviour = Callable[[str], Awaitable[None]]


async def at_once(url: str) -> None:
    """A page that is there when it is asked for."""


def page(
    url: str, text: str, *, title: str | None = None, links: Sequence[Link] = (), published: str | None = None
) -> WebPage:
    """What reading `url` gives."""
    metadata = {"published": published} if published else {}
    document = Document(text, "text/html", title, links=tuple(links), metadata=metadata)
    return WebPage(Source(source_id(url), "web", url, title or url, url=url), 1, document, was_cached=False)


@dataclass(frozen=True, slots=True)
class Results:
    """What a search found."""

    candidates: tuple[Candidate, ...] = ()
    failures: tuple[Failure, ...] = ()


@dataclass
class FakeWeb:
    """Finds `found`, in order, for every query, and reads `pages`; any other address is missing.

    `before` is awaited before a page is given. `queries` and `read_urls` list what was asked for, in order; `most` is
    how many pages were being read at the same time.
    """

    pages: Mapping[str, WebPage] = field(default_factory=dict)
    found: Sequence[Candidate] = ()
    failures: Sequence[Failure] = ()
    error: AskyError | None = None
    before: Behaviour = at_once
    queries: list[str] = field(default_factory=list)
    read_urls: list[str] = field(default_factory=list)
    most: int = 0
    _now: int = 0

    async def search(self, queries: Sequence[str]) -> Results:
        self.queries.extend(queries)
        if self.error is not None:
            raise self.error
        ranked = (
            replace(each, found=each.found or (ServiceRank("fake", rank, queries[0]),))
            for rank, each in enumerate(self.found, start=1)
        )
        return Results(tuple(ranked), tuple(self.failures))

    async def read(self, url: str) -> WebPage:
        self.read_urls.append(url)
        self._now += 1
        self.most = max(self.most, self._now)
        try:
            await self.before(url)
        finally:
            self._now -= 1
        if url not in self.pages:
            raise SourceUnreadable(f"{url} is not there", verdict="missing")
        return self.pages[url]
