"""Summaries of pages, made in the background of a run and finished before it ends."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import anyio

from asky.concurrency import in_thread
from asky.errors import AskyError
from asky.text.sentences import iter_sentences

if TYPE_CHECKING:
    from types import TracebackType

    from anyio.abc import TaskGroup

    from asky.research.page import WebPage
    from asky.research.vector_store import VectorStore
    from asky.storage.pages import PageTable

_SENTENCES = 3
_LOOKED_AT = 60  # sentences per page: later ones are detail, and each costs as much as a passage to embed
_MIN_CHARS = 30  # characters; a shorter line is a label or a date

Summarise = Callable[["WebPage"], Awaitable[str]]


class Summaries:
    """The summaries of one run; use it as an asynchronous context manager around the run.

    `summarise` may call a model; without it, or if it raises an `AskyError`, sentences of the page are quoted.
    """

    def __init__(self, pages: PageTable, store: VectorStore, summarise: Summarise | None) -> None:
        self._pages = pages
        self._store = store
        self._summarise = summarise
        self._group: TaskGroup = anyio.create_task_group()
        self._done: dict[str, anyio.Event] = {}
        self._texts: dict[str, str] = {}

    async def __aenter__(self) -> Summaries:
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is not None:
            self._group.cancel_scope.cancel()
        await self._group.__aexit__(None, None, None)  # without the exception, the group does not wrap it

    def begin(self, page: WebPage) -> None:
        """Summarise `page` in the background, once."""
        if page.source.id not in self._done:
            self._done[page.source.id] = anyio.Event()
            self._group.start_soon(self._make, page)

    async def of(self, page: WebPage, timeout_s: float) -> str:
        """Return the summary of `page` once it is ready; after `timeout_s` seconds, a note that it is pending."""
        self.begin(page)
        with anyio.move_on_after(timeout_s):
            await self._done[page.source.id].wait()
        return self._texts.get(page.source.id, "still being written: ask again")

    async def _make(self, page: WebPage) -> None:
        id_ = page.source.id
        try:
            kept = await in_thread(self._pages.summary, id_, page.document_id)
            self._texts[id_] = kept if kept is not None else await self._written(page)
        except AskyError as error:  # a summary is optional: a missing one never ends a run
            self._texts[id_] = f"no summary: {error.message}"
        finally:
            self._done[id_].set()

    async def _written(self, page: WebPage) -> str:
        if self._summarise is not None:
            try:
                text = await self._summarise(page)
            except AskyError:
                pass  # out of budget, or failed: quotations will do
            else:
                await in_thread(self._pages.keep_summary, page.source.id, page.document_id, text)
                return text
        return await in_thread(quoted_summary, page.document.text, self._store)


def quoted_summary(text: str, store: VectorStore) -> str:
    """Return the sentences of `text` nearest to their common centroid, in text order; the first ones without a model.

    Source: centroid summarisation, D. Radev et al., "Centroid-based summarization of multiple documents", 2004.
    """
    found = (text[span.start : span.end].strip() for span in iter_sentences(text))
    sentences = [" ".join(each.split()) for each in found if len(each) >= _MIN_CHARS][:_LOOKED_AT]
    vectors = store.embed_texts(sentences) if len(sentences) > _SENTENCES else None
    if vectors is None:
        return " ".join(sentences[:_SENTENCES])
    nearness = vectors @ vectors.mean(axis=0)
    best = sorted(nearness.argsort(kind="stable")[::-1][:_SENTENCES].tolist())
    return " ".join(sentences[each] for each in best)
