"""What is there before the model is first asked: the sources, the tools and the first two messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from asky.chat.prompts import CONVERSATION_PROMPT, LEAN_PROMPT, research_system_prompt, with_material
from asky.chat.registry import ToolRegistry
from asky.concurrency import error_of, in_thread
from asky.errors import BudgetExceeded
from asky.evidence.passages import shown_title
from asky.llm.port import Message
from asky.research.tools import ACQUISITION_TOOL_NAMES, MEMORY_TOOL_NAMES, ResearchRun, ResearchTools
from asky.storage.scope import Scope

if TYPE_CHECKING:
    from asky.chat.answering import Answerer, Mode, Question
    from asky.llm.spending import Budget
    from asky.llm.tools import Tool
    from asky.research.shortlist_types import Shortlist
    from asky.research.web import WebRun
    from asky.research.web_summaries import Summaries, Summarise
    from asky.values import Failure, Source

_SOURCES_NAMED = 8  # in the prompt, to say what kind of sources there are
_PRIVATE_KINDS = ("file", "note")


@dataclass(frozen=True, slots=True)
class WebAccess:
    """That a question may use the web.

    What is read becomes a source of `collection_id`. `named` are the addresses that the user wrote. `shortlist` says
    that the sources are chosen and read before a model sees any of them.
    """

    collection_id: int
    named: tuple[str, ...] = ()
    shortlist: bool = True


class Web(Protocol):
    """The parts by which a run reaches the web; `asky.wiring` has them."""

    def open(self, run: ResearchRun, access: WebAccess, *, is_private: bool) -> WebRun:
        """The web for one run; `is_private` says that the run can read private documents."""
        ...

    def summaries(self, summarise: Summarise | None) -> Summaries:
        """Summaries of pages for one run, made by `summarise` where there is one."""
        ...

    def cached(self) -> int | None:
        """The collection of all pages that were read before; `None` where there are none."""
        ...


@dataclass(slots=True)
class Prepared:
    """`messages` begin the conversation. `is_short` says that the budget allows one call only."""

    messages: list[Message]
    tools: ToolRegistry
    is_short: bool = False


class Preparation:
    """Gets a question ready. `warn` tells the user something that belongs to the answer."""

    def __init__(
        self, owner: Answerer, question: Question, run: ResearchRun, budget: Budget, warn: Callable[[str], None]
    ) -> None:
        self._owner = owner
        self._question = question
        self._run = run
        self._budget = budget
        self._warn = warn
        self.web: WebRun | None = None
        self._preloaded = question.web is None

    async def open_web(self) -> None:
        """Choose and read the sources on the web, where the question may use it."""
        access = self._question.web
        if access is None or self._owner.web is None:
            return
        private = await in_thread(self._owner.corpus.count_sources, self._run.scope, _PRIVATE_KINDS)
        self.web = self._owner.web().open(self._run, access, is_private=private > 0)
        self.web.offered.offer(access.named)
        if not self.web.can_search and not access.named:
            await self._use_cached()
        elif access.shortlist or not self._owner.may_choose(self._question.mode):
            chosen = await self.web.shortlist(self._question.shown, named=access.named)
            await self._take(self.web, chosen)

    async def _take(self, web: WebRun, chosen: Shortlist) -> None:
        """Keep what was chosen, and say what could not be asked. Raises where that leaves nothing to answer from."""
        kept = await web.keep(chosen)
        self._preloaded = any(each.page is not None for each in chosen.selected)
        for warning in chosen.warnings:
            self._warn(warning)
        if not kept and chosen.failures:
            await self._fall_back(chosen.failures)

    async def _fall_back(self, failures: Sequence[Failure]) -> None:
        """Answer from other sources, or from pages that were read before; there being neither is the failure itself."""
        if await in_thread(self._owner.corpus.count_sources, self._run.scope):
            return
        if not await self._use_cached():
            raise error_of(failures[0])
        self._warn("no search service answered: using pages that were read before")

    async def _use_cached(self) -> bool:
        """Answer from all pages that were read before, if there are any."""
        cached = await in_thread(self._owner.web().cached) if self._owner.web is not None else None
        if cached is not None:
            self._run.scope = Scope((*(self._run.scope.collections or ()), cached))
            self._preloaded = True
        return cached is not None

    async def prepare(self, summaries: Summaries | None) -> Prepared:
        """The first messages and the tools. `summaries` is there where the web is."""
        owner = self._owner
        sources = await in_thread(owner.corpus.count_sources, self._run.scope)
        if not sources and self.web is None:
            return _conversation(CONVERSATION_PROMPT, self._question.shown)
        research = ResearchTools(self._run, owner.store(), owner.corpus, owner.runs)
        if not owner.may_call(self._question.mode):
            return await self._lean(research)
        tools = ToolRegistry([*self._web_tools(summaries), *research.all()])
        tools = tools.without(withheld_tools(self._question.mode, preloaded=self._preloaded))
        recalled = await self._recalled(research)
        first = await in_thread(lambda: owner.corpus.sources(self._run.scope, limit=_SOURCES_NAMED))
        system = research_system_prompt(tools.specs(), sources_summary=_summary(first, sources))
        prepared = _conversation(system, with_material(self._question.shown, recalled), tools)
        try:
            await in_thread(self._budget.check, prepared.messages, tools.specs())
        except BudgetExceeded:
            return prepared  # the loop says so, once
        if await in_thread(self._budget.nearly_spent, prepared.messages, tools.specs()):
            self._warn("the budget leaves room for one call: answering from one search")
            prepared = await self._lean(research)
            prepared.is_short = True
        return prepared

    def _web_tools(self, summaries: Summaries | None) -> list[Tool]:
        if self.web is None or summaries is None:
            return []
        from asky.research.web_tools import WebTools  # for questions to the web only

        access = self._question.web
        assert access is not None
        made = WebTools(self.web, self._owner.store(), summaries, reads_results=access.shortlist)
        tools = made.all()
        return tools if self.web.can_search else [each for each in tools if each.spec.name != "web_search"]

    async def _recalled(self, research: ResearchTools) -> str:
        if self._question.mode != "research" or self._owner.model.host is None:
            return ""
        found = await research.query_research_memory({"query": self._question.shown})
        return found.content if found.summary != "no findings" else ""

    async def _lean(self, research: ResearchTools) -> Prepared:
        """Search once for the model and let it answer from that."""
        found = await research.get_relevant_content({"queries": [self._question.shown]})
        return _conversation(LEAN_PROMPT, with_material(self._question.shown, found.content))


def withheld_tools(mode: Mode, *, preloaded: bool) -> frozenset[str]:
    """Tools that would do again what was done, where sources are `preloaded`, or that the mode does not have."""
    names = frozenset() if mode == "research" else MEMORY_TOOL_NAMES
    return names | ACQUISITION_TOOL_NAMES if preloaded else names


def _conversation(system: str, user: str, tools: ToolRegistry | None = None) -> Prepared:
    return Prepared([Message("system", system), Message("user", user)], tools or ToolRegistry([]))


def _summary(first: Sequence[Source], count: int) -> str:
    """What can be searched, in a line: the number of sources, and the titles of the first."""
    if not count:
        return "none yet"
    titles = [shown_title(each) for each in first]
    more = f" and {count - len(titles):,} more" if count > len(titles) else ""
    return f"{count:,} ({'; '.join(titles)}{more})"
