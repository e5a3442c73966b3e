"""Reading the candidates of a shortlist within a time limit, and comparing them with the question."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio

from asky.concurrency import error_of, gather, in_thread
from asky.errors import AskyError, StorageError
from asky.events import Listener, StageAdvanced, Warned
from asky.research.page import ReadPage, WebPage
from asky.research.shortlist_types import EmbedTexts
from asky.research.source_policy import SourcePolicy
from asky.search.port import Candidate
from asky.values import Failure

if TYPE_CHECKING:
    from asky.research.vector_store_common import Vectors

STAGE = "sources"
PUBLISHED = "published"
"""The metadata key that holds the date of a page, in ISO 8601."""

OnPage = Callable[[Candidate, WebPage], Awaitable[None]]


@dataclass
class PageReader:
    """Reads pages concurrently. `pages` holds what was read, `unread` the reasons for the others, both by address."""

    read: ReadPage
    policy: SourcePolicy
    concurrency: int
    listener: Listener
    pages: dict[str, WebPage] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)

    async def read_all(
        self, candidates: Sequence[Candidate], *, within_s: float, page_s: float, on_page: OnPage | None = None
    ) -> None:
        """Read `candidates`, each within `page_s` and all together within `within_s` seconds.

        `on_page` is awaited for one page at a time, as pages arrive, while others are read; also after the time is up.
        Pages not read by then are cancelled, and `unread` says how long they had. Raises `StorageError`, which is not
        about any one page, and whatever `read` or `on_page` raise that is no `AskyError`.
        """
        arrived, arrivals = anyio.create_memory_object_stream[tuple[Candidate, WebPage]](math.inf)
        done = 0

        async def one(candidate: Candidate) -> None:
            nonlocal done
            page = await self._read_one(candidate, page_s)
            done += 1
            self.listener(StageAdvanced(STAGE, done, len(candidates)))
            if page is not None:
                arrived.send_nowait((candidate, page))

        async def reading() -> None:
            with arrived, anyio.move_on_after(within_s):
                _raise_first(await gather(candidates, one, limit=self.concurrency))

        async def looking() -> None:
            with arrivals:
                async for candidate, page in arrivals:
                    if on_page is not None:
                        await on_page(candidate, page)

        _raise_first(await gather([reading, looking], lambda job: job(), limit=2))
        for candidate in candidates:
            if candidate.url not in self.pages:
                self.unread.setdefault(candidate.url, _not_within(within_s))

    async def _read_one(self, candidate: Candidate, page_s: float) -> WebPage | None:
        with anyio.move_on_after(page_s):
            try:
                page = await self.read(address_of(candidate))
            except StorageError:
                raise
            except AskyError as error:
                self.unread[candidate.url] = error.message
                return None
            if refusal := self._refusal(candidate, page):
                self.unread[candidate.url] = refusal
                return None
            self.pages[candidate.url] = page
            return page
        self.unread[candidate.url] = _not_within(page_s)
        return None

    def _refusal(self, candidate: Candidate, page: WebPage) -> str | None:
        """Apply the policy again, now that the final address and the date of the page are known."""
        is_named = candidate.origin == "prompt"
        reason = self.policy.address_refusal(page.source.url or page.source.uri, is_named=is_named)
        if reason is None and not is_named:
            reason = self.policy.age_refusal(published_of(candidate, page))
        return reason


@dataclass
class Comparer:
    """Compares texts with the question `text` by embedding, one batch at a time.

    If the embedding model fails, a warning is added to `warnings` and nothing is compared from then on.
    """

    text: str
    embed: EmbedTexts
    listener: Listener
    warnings: list[str] = field(default_factory=list)
    is_able: bool = True
    _vector: Vectors | None = None
    _one: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(1))

    async def cosines(self, texts: Sequence[str]) -> list[float] | None:
        """Return the cosine similarity of each text with the question, or `None` without a model."""
        if not self.is_able or not self.text:
            return None
        wanted = list(texts) if self._vector is not None else [self.text, *texts]
        vectors = await self.compute(wanted)
        if vectors is None:
            return None
        if self._vector is None:
            self._vector, vectors = vectors[0], vectors[1:]
        return [float(cosine) for cosine in vectors @ self._vector]

    async def compute(self, texts: Sequence[str]) -> Vectors | None:
        """Return the vectors of the texts, or `None` without a model."""
        try:
            vectors = await in_thread(self.embed, texts, limiter=self._one)
        except AskyError as error:
            self.is_able = False
            message = f"{error.message}: sources are ranked by words alone"
            self.warnings.append(message)
            self.listener(Warned(message, error.hint))
            return None
        self.is_able = vectors is not None
        return vectors


def _raise_first(outcomes: Sequence[object]) -> None:
    """Raise the first exception of several finished tasks."""
    for each in outcomes:
        if isinstance(each, Failure):
            raise error_of(each)


def _not_within(seconds: float) -> str:
    """Return the reason for a page that did not arrive in time, or sent more than could be read in the time."""
    return f"not read within {seconds:g} s"


def address_of(candidate: Candidate) -> str:
    """Return the address to read: for a paper its open full text if known, rather than the publisher's page."""
    is_found_paper = candidate.kind == "paper" and candidate.origin != "prompt"
    return candidate.pdf_url if is_found_paper and candidate.pdf_url else candidate.url


def published_of(candidate: Candidate, page: WebPage | None) -> str | None:
    """Return the publication date as given by the page, else by search."""
    stated = page.document.metadata.get(PUBLISHED) if page else None
    return stated or candidate.published
