"""Collecting of one cycle: searches, pages that no cycle has read, and passages of the user's own sources."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

import anyio

from asky.agent.entries import STOP_REQUESTED
from asky.agent.models import USER_STOP
from asky.agent.obstacles import error_type
from asky.agent.reading_order import SearchRanking, order_pages, page_key
from asky.concurrency import in_thread
from asky.errors import AskyError, SourceError, TimedOut
from asky.events import Noted
from asky.research.page import WebPage
from asky.research.tools import ResearchTools
from asky.research.web.gathering import Gatherer
from asky.research.web.query_leak_guard import QueryHeldBack
from asky.runs.journal.web import attach_web
from asky.search.federation import FederatedResults
from asky.text.urls import host_of
from asky.values import PRIVATE_KINDS

if TYPE_CHECKING:
    from asky.agent.findings import Findings
    from asky.agent.parts import ResearchParts
    from asky.agent.task import AgentTask
    from asky.research.web.gathering import TopicFindings
    from asky.research.web.run import WebRun
    from asky.runs.driver import PromptContext
    from asky.search.port import Candidate
    from asky.values import Evidence

T = TypeVar("T")

_PAGES_A_QUERY = 2
_MAX_LINKS = 200  # of one page, for the count of citations
_POLL_S = 0.5
_LONGEST_PAGE_S = 600.0  # with all attempts; `_try` has the limit of each


@dataclass(frozen=True, slots=True)
class Lookup:
    """One query of a cycle, for the sub-question with the number `about`."""

    label: str
    about: int
    context: str = ""


class Collector:
    """Looks up what the cycles of one run ask for. `time_left_s` returns the seconds that they may still take.

    A source that fails is recorded, and the others go on.
    """

    def __init__(
        self,
        worker: ResearchParts,
        context: PromptContext,
        task: AgentTask,
        findings: Findings,
        time_left_s: Callable[[], float],
    ) -> None:
        self._worker = worker
        self._context = context
        self._journal = context.journal
        self._research = context.journal.state.research
        self._task = task
        self._findings = findings
        self._time_left_s = time_left_s
        self._obstacles = worker.obstacles(context.run.id)
        self._lookups: Sequence[Lookup] = ()
        self._rankings: list[SearchRanking] = []
        self._web: WebRun | None = None
        self._gatherer: Gatherer | None = None
        self._tried: dict[str, None] = {}
        self._links: dict[str, list[str]] = {}
        self._failures: list[dict[str, Any]] = []
        self._asked: dict[str, dict[str, int]] = {}
        self._found_by: dict[str, list[str]] = {}
        self._is_stopping = False
        self._attempts: set[anyio.CancelScope] = set()

    async def collect(self, lookups: Sequence[Lookup]) -> dict[str, Any]:
        """Look all queries up, and return what was found as JSON: passages, addresses, failures and links.

        A request to stop ends what goes on, and nothing new is begun: what has no vector is searched by words.
        """
        self._failures, self._tried, self._links, self._asked = [], {}, {}, {}
        self._lookups, self._rankings = lookups, []
        found = await self._gather(lookups) if lookups and not await self.is_stopping() else []
        known = [page_key(each.url) for topic in found for each in topic.results]
        passages = _merged(
            _record(passage, topic.topic.about, origin)
            for topic in found
            for origin, listed in (("page", topic.pages), ("snippet", topic.snippets), ("local", topic.local))
            for passage in listed
        )
        held_back = {topic.topic.label: error.message for topic in found for error in topic.failures if _is_held(error)}
        for message in held_back.values():
            self._context.run.emit(Noted(message))
        local = [each["address"] for each in passages if each["origin"] not in ("page", "snippet")]
        return {
            "passages": passages,
            "known": list(dict.fromkeys([*known, *local])),
            "tried": list(dict.fromkeys([*self._tried, *local])),
            "failures": self._failures,
            "held_back": list(held_back),
            "links": self._links,
            "rankings": [each._asdict() for each in self._rankings],
        }

    async def is_stopping(self) -> bool:
        """Return whether the user has asked the run to stop."""
        if not self._is_stopping and self._journal.is_live:
            self._is_stopping = await in_thread(self._worker.runs.has_entry, self._research.run_id, STOP_REQUESTED)
        return self._is_stopping

    @property
    def fetches(self) -> int:
        """How many pages were tried so far, this cycle included."""
        tried = self._findings.tried_addresses | self._tried
        return sum(each.startswith("http") for each in tried)

    def note_use(self, cycle: int) -> None:
        """Add what each service has given in this cycle to the records that outlive the run."""
        findings = self._findings
        used = dict.fromkeys(each.address for each in findings.passages_of(cycle))
        before = findings.cycles[-1].facts if findings.cycles else 0
        facts = [each.sources for each in findings.facts()[before:]]
        for name, counts in self._asked.items():
            self._worker.records.note_use(
                findings.domain,
                name,
                **counts,
                used=sum(name in self._found_by.get(address, ()) for address in used),
                new_facts=sum(any(name in self._found_by.get(each, ()) for each in sources) for sources in facts),
            )

    async def _gather(self, lookups: Sequence[Lookup]) -> list[TopicFindings[Lookup]]:
        """Look the queries up, while the request to stop is looked for."""
        gatherer, found, raised = await self._open_gatherer(), list["TopicFindings[Lookup]"](), list[Exception]()
        ended = anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(self._watch, ended)
            try:
                found += await gatherer.gather(lookups)
            except Exception as error:  # noqa: BLE001 - raised below: a task group would wrap it
                raised.append(error)
            ended.set()
        if raised:
            raise raised[0]
        return found

    async def _watch(self, ended: anyio.Event) -> None:
        while not await self.is_stopping():  # another process may ask for it, in the store
            with anyio.move_on_after(_POLL_S):
                await ended.wait()
            if ended.is_set():
                return
        for each in self._attempts:
            each.cancel()

    async def _open_gatherer(self) -> Gatherer:
        if self._gatherer is None:
            worker, question = self._worker, self._context.question
            self._web = await self._open_web()
            self._gatherer = Gatherer(
                self._research,
                worker.store(),
                worker.corpus,
                worker.runs,
                web=self._web,
                web_collection=question.web.collection_id if question.web is not None else None,
                find_local=self._find_local,
                choose_pages=self._choose_pages,
                attempt=self._attempt,
                page_s=_LONGEST_PAGE_S,
                may_embed=self._may_embed,
                emit=self._context.run.emit,
            )
        return self._gatherer

    async def _open_web(self) -> WebRun | None:
        access, worker = self._context.question.web, self._worker
        if access is None:
            return None
        web = worker.web(self._context.run.access).open(self._research, access, is_private=self._task.is_private)
        attach_web(self._journal.state, web, self._journal, self._context.run.approve, is_private=self._task.is_private)
        await web.note_policy()
        return web if web.can_search else None

    def _find_local(self, queries: Sequence[str]) -> list[list[Evidence]]:
        """Return, for each query, the best passages of the user's sources without what was found before."""
        scope, worker = self._task.local_scope, self._worker
        if scope is None:
            return [[] for _ in queries]
        tools = ResearchTools(self._research, worker.store(), worker.corpus, worker.runs)
        known = tuple(self._research.shown.values())
        return [tools.find([query], scope, known=known, may_embed=self._may_embed) for query in queries]

    def _may_embed(self) -> bool:
        """Return whether there is time to embed: after a request to stop, what is embedded so far is enough."""
        return not self._is_stopping

    def _choose_pages(self, results: Sequence[Sequence[Candidate]]) -> list[list[str]]:
        """Return the pages to read for each query of this cycle, at most two a query on average.

        They are the best unread ones that the run's queries have found for the sub-questions of this cycle, see
        `order_pages`. A page that several queries of this cycle have found is read for each, and counts once.
        """
        chosen: list[list[str]] = [[] for _ in results]
        pairs = zip(self._lookups, results, strict=True)
        self._rankings = [SearchRanking(each.about, [found.url for found in listed]) for each, listed in pairs]
        for url, about in order_pages(
            [*self._findings.rankings, *self._rankings], {each.about for each in self._lookups}
        ):
            address = page_key(url)
            if address in self._findings.tried_addresses or address in self._tried:
                continue
            if not self._may_fetch() or len(self._tried) == _PAGES_A_QUERY * len(results):
                break
            self._tried[address] = None
            for at in self._queries_for(url, about):
                chosen[at].append(url)
        return chosen

    def _queries_for(self, url: str, about: int) -> list[int]:
        """Return the places of the queries of this cycle that found a page, else of the first for `about`."""
        found = [at for at, each in enumerate(self._rankings) if url in each.addresses]
        return found or [next(at for at, each in enumerate(self._lookups) if each.about == about)]

    def _may_fetch(self) -> bool:
        return self.fetches < self._task.max_fetches

    async def _attempt(self, make: Callable[[bool], Awaitable[T]], source_name: str, url: str) -> T:
        """Try a search or a page until the time for cycles is over, or the user stops the run; see `Attempt`."""
        if self._is_stopping:
            raise self._out_of_time()
        with anyio.CancelScope(deadline=anyio.current_time() + self._time_left_s()) as scope:
            self._attempts.add(scope)
            try:
                found = await self._try(make, source_name, url)
            finally:
                self._attempts.discard(scope)
            self._note_found(found, url)
            return found
        raise self._out_of_time()

    def _out_of_time(self) -> TimedOut:
        return TimedOut(USER_STOP if self._is_stopping else "the time for gathering is over")

    async def _try(self, make: Callable[[bool], Awaitable[T]], source_name: str, url: str) -> T:
        """Try as often as the handler of obstacles says. Raises the last error."""
        handler, tries = self._obstacles, 0
        while True:
            tries += 1
            limit_s = handler.timeout_s(self._worker.page_s, tries - 1)
            try:
                with anyio.move_on_after(limit_s):
                    return await make(tries > 1)
                raise TimedOut(f"{_host_or(source_name, url)} took longer than {limit_s:g} s")
            except QueryHeldBack:  # by the user: no source has failed
                raise
            except AskyError as error:
                action = await handler.handle(error, source_name, url, tries=tries)
                if action == "fallback" and self._web is not None:
                    with suppress(SourceError):
                        return cast("T", await self._web.read_open_copy(url))
                if action != "retry":
                    self._note_failure(url, source_name, error_type(error), error.message, error.hint)
                    raise

    def _note_found(self, found: object, url: str) -> None:
        """Note the links of a page, and which service found what."""
        if isinstance(found, WebPage):
            self._links[page_key(url)] = [each.url for each in found.document.links[:_MAX_LINKS]]
        elif isinstance(found, FederatedResults):
            for search in found.searches:
                counts = self._asked.setdefault(search.provider, {"queries": 0, "results": 0, "failures": 0})
                counts["queries"] += 1
                counts["results"] += search.results or 0
                counts["failures"] += search.results is None
            for failed in found.failures:
                self._note_failure("", failed.subject, failed.code, failed.message, failed.hint)
            for each in found.candidates:
                self._found_by[page_key(each.url)] = [rank.provider for rank in each.found]

    def _note_failure(self, url: str, source_name: str, error_type: str, message: str, hint: str | None) -> None:
        failed = {"url": url, "source_name": source_name, "error_type": error_type, "error_message": message}
        self._failures.append(failed | {"hint": hint})


def _is_held(error: AskyError) -> bool:
    return isinstance(error, QueryHeldBack)


def _record(passage: Evidence, about: int, origin: str) -> dict[str, Any]:
    """Return a passage as the record of the run keeps it, see `asky.agent.findings.FoundPassage`."""
    source = passage.source
    if origin == "local":
        origin = {"paper": "library", "note": "vault"}.get(source.kind, "documents")
    return {
        "key": passage.key,
        "address": page_key(source.url) if source.url else source.uri,
        "title": source.title,
        "origin": origin,
        "is_private": source.kind in PRIVATE_KINDS,
        "is_paper": source.kind == "paper",
        "about": [about],
    }


def _merged(passages: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return each passage once, with all the sub-questions that it was found for."""
    found: dict[str, dict[str, Any]] = {}
    for each in passages:
        known = found.setdefault(each["key"], each)
        known["about"] = list(dict.fromkeys([*known["about"], *each["about"]]))
    return list(found.values())


def _host_or(source_name: str, url: str) -> str:
    """Return the host of an address, or without one the name of the source."""
    with suppress(ValueError):
        return host_of(url) or source_name
    return source_name
