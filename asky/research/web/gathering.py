"""What the web and the documents of the user say on several topics: four at a time, in one run."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import anyio

from asky.concurrency import error_of, gather, in_thread
from asky.errors import AskyError, StorageError, TimedOut
from asky.events import StageAdvanced, StageFinished, StageStarted
from asky.research.excerpts.passages import join_hits, read_passages
from asky.research.index.embed_chunks import always
from asky.research.no_evidence import WEB_SEARCH
from asky.storage.scope import Scope
from asky.text.counting import counted
from asky.text.urls import host_of

if TYPE_CHECKING:
    from asky.events import Listener
    from asky.research.run import ResearchRun
    from asky.research.vector_store import VectorStore
    from asky.research.web.run import WebRun
    from asky.search.port import Candidate
    from asky.storage.corpus import CorpusStore
    from asky.storage.runs import RunStore
    from asky.values import Evidence, Source

STAGE = "topics looked up"
"""The name of the stage in events."""

WEB_PAGE = "web"
"""The name of the source of pages, for `Attempt`."""

_AT_ONCE = 4
_PAGES_AT_ONCE = 2
_WEB_RESULTS = 5
_PAGE_S = 10.0
_PAGE_CHARS = 50_000
_PAGE_PASSAGES = 3
_SNIPPET_TOKENS = 400  # of what a service says of one result
_MAX_RECORDED_CHARS = 300


class SearchTopic(Protocol):
    """What is looked up: the `label` is what is searched for, and `context` says more about it."""

    @property
    def label(self) -> str: ...
    @property
    def context(self) -> str: ...


T = TypeVar("T")
AnyTopic = TypeVar("AnyTopic", bound=SearchTopic)

FindLocal = Callable[[Sequence[str]], "Sequence[Sequence[Evidence]]"]
"""Finds passages for each query in the documents of the user, best first."""

ChoosePages = Callable[["Sequence[Sequence[Candidate]]"], Sequence[Sequence[str]]]
"""Chooses the addresses of the pages to read for each topic, from the results of the searches for all of them."""


def no_pages(results: Sequence[Sequence[Candidate]]) -> Sequence[Sequence[str]]:
    """Choose no page; see `ChoosePages`."""
    return [()] * len(results)


class Attempt(Protocol):
    """Awaits `make(False)` for the source of that name and address, and may await `make(True)` to try again.

    It may get the result elsewhere too. Raises as `make` does.
    """

    async def __call__(self, make: Callable[[bool], Awaitable[T]], source_name: str, url: str) -> T: ...


async def attempt_once(make: Callable[[bool], Awaitable[T]], source_name: str, url: str) -> T:  # noqa: ARG001
    """Await `make(False)`; see `Attempt`."""
    return await make(False)


@dataclass(frozen=True, slots=True)
class TopicFindings(Generic[AnyTopic]):
    """What was found on a topic; passages by origin, best first, each citable in the run.

    `failures` say what could not be looked up. `results` is all that search services returned, best first.
    """

    topic: AnyTopic
    results: tuple[Candidate, ...] = ()
    pages: tuple[Evidence, ...] = ()
    snippets: tuple[Evidence, ...] = ()
    local: tuple[Evidence, ...] = ()
    failures: tuple[AskyError, ...] = ()

    def passages(self) -> list[Evidence]:
        """Return all passages: of pages, of what services say, and of the user's documents."""
        return [*self.pages, *self.snippets, *self.local]

    def as_record(self) -> dict[str, Any]:
        """Return what the ledger of the run keeps of this topic."""
        return {
            "topic": self.topic.label,
            "context": self.topic.context,
            "web_results": [
                {"title": each.title, "url": each.url, "snippet": each.snippet[:_MAX_RECORDED_CHARS]}
                for each in self.results[:_WEB_RESULTS]
            ],
            "vault_results": [_recorded(each, "path", each.source.path) for each in self.local],
            "page_extracts": [_recorded(each, "url", each.source.url) for each in self.pages],
        }


def _recorded(passage: Evidence, name: str, where: str | None) -> Mapping[str, Any]:
    return {name: where, "key": passage.key, "content": passage.text[:_MAX_RECORDED_CHARS]}


@dataclass(frozen=True, slots=True)
class _Searched:
    """What the search for a topic returned, best first, or why it could not be searched for."""

    results: tuple[Candidate, ...] = ()
    failures: tuple[AskyError, ...] = ()


@dataclass(slots=True)
class _Page:
    """A page that several topics may want: read once."""

    done: anyio.Event = field(default_factory=anyio.Event)
    source: Source | None = None
    error: AskyError | None = None


class Gatherer:
    """Looks topics up in one run. `web` is `None` if nothing may be sent or no service is set up.

    `find_local` searches the user's documents, and `choose_pages` says which results are read, once all searches are
    done; by default none. `attempt` is how a search or a page is tried. Once `may_embed` returns false, what has no
    vector is searched by words. Passages become citable in `research` before they are returned.
    """

    def __init__(
        self,
        research: ResearchRun,
        store: VectorStore,
        corpus: CorpusStore,
        runs: RunStore,
        *,
        web: WebRun | None,
        web_collection: int | None,
        find_local: FindLocal,
        choose_pages: ChoosePages = no_pages,
        attempt: Attempt = attempt_once,
        page_s: float = _PAGE_S,
        may_embed: Callable[[], bool] = always,
        emit: Listener,
    ) -> None:
        self._research = research
        self._store = store
        self._corpus = corpus
        self._runs = runs
        self._web = web
        self._web_collection = web_collection
        self._find_local = find_local
        self._choose_pages = choose_pages
        self._attempt = attempt
        self._page_s = page_s
        self._may_embed = may_embed
        self._embedding = anyio.CapacityLimiter(1)  # one page at a time: topics that want it embed it once
        self._emit = emit
        self._pages: dict[str, _Page] = {}

    async def gather(self, topics: Sequence[AnyTopic]) -> list[TopicFindings[AnyTopic]]:
        """Return what was found on each topic, in their order, with what could not be looked up.

        Raises `StorageError`, which is about no one topic.
        """
        started, done = time.monotonic(), 0
        self._emit(StageStarted(STAGE, len(topics)))
        queries = [_query(each) for each in topics]
        local = dict(zip(queries, await in_thread(self._find_local, queries), strict=True))

        searches = await gather(topics, self._search, limit=_AT_ONCE, subject=lambda topic: topic.label)
        searched = [each if isinstance(each, _Searched) else _Searched(failures=(error_of(each),)) for each in searches]
        chosen = self._choose_pages([each.results for each in searched])

        async def look_up(at: int) -> TopicFindings[AnyTopic]:
            nonlocal done
            found = await self._look_up(topics[at], searched[at], chosen[at], local[queries[at]])
            done += 1
            self._emit(StageAdvanced(STAGE, done, len(topics)))
            return found

        outcomes = await gather(range(len(topics)), look_up, limit=_AT_ONCE, subject=lambda at: topics[at].label)
        found = [
            each
            if isinstance(each, TopicFindings)
            else TopicFindings(topic, before.results, failures=(*before.failures, error_of(each)))
            for topic, before, each in zip(topics, searched, outcomes, strict=True)
        ]
        total = sum(len(each.passages()) for each in found)
        self._emit(StageFinished(STAGE, time.monotonic() - started, counted(total, "passage")))
        return found

    async def _look_up(
        self, topic: AnyTopic, searched: _Searched, urls: Sequence[str], local: Sequence[Evidence]
    ) -> TopicFindings[AnyTopic]:
        results, failures = searched.results, list(searched.failures)
        sources = await self._read(urls, failures)
        pages = await in_thread(self._passages_of_pages, topic, sources, limiter=self._embedding)
        snippets = await self._snippets(results[:_WEB_RESULTS], {each.source.url for each in pages})
        await in_thread(self._runs.show, self._research.run_id, [*pages, *snippets, *local])
        self._research.shown |= {each.key: each for each in (*pages, *snippets, *local)}
        return TopicFindings(topic, tuple(results), tuple(pages), tuple(snippets), tuple(local), tuple(failures))

    async def _search(self, topic: SearchTopic) -> _Searched:
        if self._web is None:
            return _Searched()
        web = self._web
        try:
            found = await self._attempt(lambda _: web.find([topic.label]), WEB_SEARCH, "")
        except StorageError:
            raise
        except AskyError as error:
            error.message = f"“{topic.label}” could not be searched on the web: {error.message}"
            return _Searched(failures=(error,))
        return _Searched(found.candidates)

    async def _read(self, urls: Sequence[str], failures: list[AskyError]) -> list[Source]:
        """Return the sources of the pages that can be read, read together."""
        outcomes = await gather(urls, self._read_once, limit=_PAGES_AT_ONCE)
        pages = [each for each in outcomes if isinstance(each, _Page)]
        failures += [each.error for each in pages if each.error is not None and each.error not in failures]
        return [each.source for each in pages if each.source is not None]

    async def _read_once(self, url: str) -> _Page:
        """Return the page at `url`, which is read by the first topic that wants it."""
        assert self._web is not None
        web = self._web
        if url in self._pages:
            await self._pages[url].done.wait()
            return self._pages[url]
        page = self._pages[url] = _Page()
        try:
            with anyio.fail_after(self._page_s):
                page.source = (
                    await self._attempt(lambda again: web.read_found(url, again=again), WEB_PAGE, url)
                ).source
        except TimeoutError:
            page.error = TimedOut(f"{host_of(url)} was not read: it took longer than {self._page_s:.3g} s")
        except StorageError:
            raise
        except AskyError as error:
            error.message = f"{host_of(url)} was not read: {error.message}"
            page.error = error
        finally:
            page.done.set()
        return page

    def _passages_of_pages(self, topic: SearchTopic, sources: Sequence[Source]) -> list[Evidence]:
        """Return the passages of each page that are nearest to the topic."""
        found: list[Evidence] = []
        for source in sources:
            scope = Scope((self._web_collection,) if self._web_collection is not None else None, (source.id,))
            hits = self._store.search_content_chunks(
                _query(topic), scope, limit=2 * _PAGE_PASSAGES, may_embed=self._may_embed
            )
            near = [each for each in hits if each.span.end <= _PAGE_CHARS]
            found += join_hits(near, self._store.tables.documents, self._research.keys, limit=_PAGE_PASSAGES)
        return found

    async def _snippets(self, results: Sequence[Candidate], read: set[str | None]) -> list[Evidence]:
        """Return what services say of the results whose pages are not `read`."""
        if self._web is None:
            return []
        sources = await self._web.keep_snippets([each for each in results if each.url not in read])
        return await in_thread(lambda: [passage for each in sources for passage in self._whole(each)])

    def _whole(self, source: Source) -> list[Evidence]:
        document_id = self._corpus.current_document(source.id)
        if document_id is None:  # the session was deleted since
            return []
        return read_passages(
            source,
            document_id,
            0,
            self._store.tables.documents,
            self._research.keys,
            budget=_SNIPPET_TOKENS,
            fitting=lambda texts, _: len(texts),
            limit=1,
        )[0]


def _query(topic: SearchTopic) -> str:
    return f"{topic.label}. {topic.context}" if topic.context else topic.label
