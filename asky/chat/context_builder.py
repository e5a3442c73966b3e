"""The first prompt of a run: its sources, tools and session history, and the question."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

from asky.chat.earlier_pages import earlier_pages, pages_note
from asky.chat.summarising import summariser
from asky.concurrency import error_of, in_thread
from asky.errors import BudgetExceeded
from asky.evidence.passages import describe_source, fence
from asky.llm.port import Message
from asky.llm.tools import Tool, ToolRegistry
from asky.research.no_evidence import WEB_SEARCH, outage
from asky.research.tool_specs import ACQUISITION_TOOL_NAMES, EXTRACT_TARGETS, MEMORY_TOOL_NAMES
from asky.research.web.unread import Unread, sentences, unread_note, unread_offline
from asky.research.writing.compaction import QUESTIONS_OMITTED, omits_questions
from asky.research.writing.history import (
    cited_last,
    contextual_query,
    earlier_messages,
    earlier_questions,
    fit_earlier,
    hold_keys,
    mentioned_passages,
    shown_again,
    tool_results,
)
from asky.research.writing.prompts import (
    LEAN_PROMPT,
    Prompt,
    conversation_system_prompt,
    decode_prompt,
    encode_prompt,
    removed_tool,
    research_system_prompt,
    with_instructions,
    with_material,
    with_notes,
)
from asky.runs.driver import BaseRunWorker
from asky.runs.journal.journal import journaled_tool
from asky.storage.scope import Scope
from asky.values import PRIVATE_KINDS

if TYPE_CHECKING:
    from asky.chat.custom_tools import CustomTools
    from asky.llm.endpoint.endpoint import Prices
    from asky.llm.port import ModelUsage, ToolSpec
    from asky.research.corpus.offered_targets import OfferedTargets
    from asky.research.run import ResearchRun
    from asky.research.shortlist_types import Shortlist
    from asky.research.tools import ResearchTools
    from asky.research.web.access import Web
    from asky.research.web.run import WebRun
    from asky.research.web.summaries import Summaries
    from asky.runs.access import Access
    from asky.runs.context import Question
    from asky.runs.driver import PromptContext
    from asky.storage.runs import StoredPassage
    from asky.storage.sessions import StoredMessage
    from asky.values import Failure, Source


_SOURCES_NAMED = 8  # listed in the prompt as examples
# Their results come from the web, or are passages with a known source. Results of other tools may hold private text.
_PUBLIC_TOOLS = ACQUISITION_TOOL_NAMES | {"web_search", "get_relevant_content", "save_finding"}


class LentTools(Protocol):
    """The tools of another product that questions of a conversation may use."""

    def specs(self) -> Sequence[ToolSpec]:
        """Return the specifications of the tools."""
        ...

    def for_run(self, context: PromptContext) -> Sequence[Tool]:
        """Return the tools for one run."""
        ...


@dataclass(frozen=True, slots=True)
class AnswerParts(BaseRunWorker):
    """What chat adds to a run.

    `prices` are those for the plan, and `web` opens the web for a question that may use it. `targets` returns the
    targets of adapters that the model of a run may read; `None` if no adapter is configured. `note_tools` makes the
    tools over the vault, for questions whose `task` has `note_tools`; `None` if there is no vault.
    """

    prices: Prices | None = None
    web: Callable[[Access], Web] | None = None
    custom_tools: CustomTools | None = None
    targets: Callable[[ResearchRun], OfferedTargets | None] | None = None
    note_tools: Callable[[], LentTools] | None = None

    def lent_tools(self, question: Question) -> LentTools | None:
        """Return the tools of other products that the model is offered for `question`."""
        if self.note_tools is None or not question.task.get("note_tools") or not self.may_choose(question.mode):
            return None
        return self.note_tools()

    def may_call(self, mode: str) -> bool:
        """Return whether the model is offered tools; the built-in model always is."""
        may = self.offers_tools and self.settings.max_turns > 1 and mode != "lean"
        return may or self.model.host is None

    def may_choose(self, mode: str) -> bool:
        """Return whether the model can search the web by itself."""
        return self.may_call(mode) and self.model.host is not None

    def history_messages(
        self, history: Sequence[StoredMessage], tools: Collection[str]
    ) -> tuple[Sequence[Message], Sequence[Message]]:
        """Return the messages of a session, whole and shortened to the limit, for a model with these `tools`.

        Both are empty for the built-in model, which answers each question from new passages, and if the setting
        `history_tokens` is 0.
        """
        if not history or self.model.host is None or not self.settings.history_tokens:
            return (), ()
        messages = earlier_messages(history, tools)
        room = self.model.context_tokens * 2 // 5
        most = min(self.settings.history_tokens, room)
        return messages, fit_earlier(messages, most, self.counter(), max_question_tokens=room)


class ContextBuilder:
    """Builds the first prompt of a run, and opens the web for it."""

    def __init__(self, parts: AnswerParts, context: PromptContext) -> None:
        question, journal = context.question, context.journal
        self._parts = parts
        self._context = context
        self._lent = parts.lent_tools(question)
        self._question = question
        self._journal = journal
        self._state = journal.state
        self._run = journal.state.research
        self._budget = context.budget
        self._access = context.run.access
        self._approve = context.run.approve
        self._warn = context.warn
        self._warnings = context.warnings
        self._count = context.count
        self._web: WebRun | None = None
        self._targets: OfferedTargets | None = None
        self._preloaded = question.web is None
        self._searched = question.shown
        self._history: Sequence[StoredMessage] = ()
        self._passages: Sequence[StoredPassage] = ()
        self._pages: Sequence[Source] = ()
        self._unread: Sequence[Unread] = ()
        self._chosen: dict[str, str] = {}  # the line of each source of the shortlist by its id, best first

    @asynccontextmanager
    async def prompt(self) -> AsyncIterator[Prompt]:
        """Yield the first messages and the tools, which stay usable inside the context.

        A prompt recorded in the journal is not built again.
        """
        journal = self._journal
        step = await journal.next_step("prepared")
        if journal.is_live:
            await self._read_context()
            await self._open_web(is_resumed=step is not None)
            if self._parts.targets is not None and self._parts.model.host is not None:
                self._targets = await in_thread(self._parts.targets, self._run)
        if step is None:
            sources = await in_thread(self._parts.corpus.count_sources, self._question.scope)
            self._state.has_sources = sources > 0 or self._web is not None or self._lent is not None
        async with self._summaries() as summaries:
            if step is None:
                made = await self._prepare(summaries)
                made.unread = self._unread
                await journal.add("prepared", "", encode_prompt(made, self._warnings))
            else:
                made = decode_prompt(step)
                self._warn_of(step["warnings"], made.unread)
                if journal.is_live:
                    made.tools = self._restored_tools(made.tools.specs(), summaries)
            made.tools = made.tools.wrapped(partial(journaled_tool, journal=journal))
            yield made

    @asynccontextmanager
    async def _summaries(self) -> AsyncIterator[Summaries | None]:
        """Yield the page summaries of the run, which are written concurrently; `None` without the web."""
        if self._parts.web is None or self._web is None:
            yield None
            return
        from asky.runs.journal.web import REPLAYED, JournaledSummaries

        def count(usage: ModelUsage) -> None:
            if usage is not REPLAYED:
                self._count(usage)

        model = JournaledSummaries(self._parts.model, self._journal)
        write = summariser(model, self._budget, self._run.marker, count)
        async with self._parts.web(self._access).summaries(write) as summaries:
            yield summaries

    async def _read_context(self) -> None:
        """Read the history of the session, and determine what to search for.

        A follow-up question that says little by itself is searched for together with the question it refers to.
        """
        if self._run.session_id is not None:
            self._history = await in_thread(self._parts.sessions.messages, self._run.session_id)
            self._searched = contextual_query(self._question.shown, earlier_questions(self._history))
        if self._run.session_id is not None and self._history:
            self._passages = await in_thread(self._parts.runs.passages_of_session, self._run.session_id)
            self._run.recent = cited_last(self._history, self._passages)

    async def _open_web(self, *, is_resumed: bool) -> None:
        """Open the web if the question may use it; unless `is_resumed`, also choose and read sources.

        A resumed run keeps the pages it has read, and the question text recorded in its state.
        """
        access = self._question.web
        if access is None or self._parts.web is None:
            if not is_resumed:
                self._note_unread(unread_offline(self._question.text))
            return
        asked = self._run.question
        is_private = await in_thread(self._sees_private_text)
        if is_resumed:
            self._run.question = asked
        self._web = self._parts.web(self._access).open(self._run, access, is_private=is_private)
        from asky.runs.journal.web import attach_web  # only for questions that use the web

        attach_web(self._state, self._web, self._journal, self._approve, is_private=is_private)
        if is_resumed:
            return
        self._web.offered.offer(access.named)
        if self._parts.settings.history_tokens:  # otherwise no model sees earlier turns
            self._pages = await in_thread(earlier_pages, self._history, self._passages)
        self._web.offered.offer_links(each.url or "" for each in self._pages)  # as links: a model had chosen them
        await self._web.note_policy()
        if not self._web.can_search and not access.named:
            await self._use_cached()
        elif access.shortlist or not self._parts.may_choose(self._question.mode):
            chosen = await self._web.shortlist(self._searched, named=access.named, queries=access.queries)
            await self._keep_shortlist(self._web, chosen)
        else:
            self._web.note_unread(access.named)

    def _note_unread(self, unread: Sequence[Unread]) -> None:
        self._unread = unread
        self._warn_of(list(sentences(unread)), unread)

    def _warn_of(self, warnings: Sequence[str], unread: Sequence[Unread]) -> None:
        """Warn the user; an answer of the built-in model lists the `unread` addresses itself."""
        listed = set(sentences(unread)) if self._parts.model.host is None else set()
        for each in warnings:
            self._warn(each, is_repeat=each in listed)

    def _sees_private_text(self) -> bool:
        """Return whether the model can see private text, from the sources or from the history; update the run.

        Earlier questions are the user's own words, which queries may repeat, so they are added to the run's question.
        Findings of other sessions may quote documents that this session has never seen, so they count as private.
        """
        parts, history = self._parts, self._history
        asked = earlier_questions(history)
        wanted = self._question.web.queries if self._question.web is not None else ()
        self._run.question = "\n".join([*asked, *wanted, self._run.question])
        self._run.private_notes += tool_results(history, _PUBLIC_TOOLS)
        if self._run.memory == "all" or parts.corpus.count_sources(self._run.scope, PRIVATE_KINDS):
            return True
        return bool(self._run.private_notes) or any(each.source.kind in PRIVATE_KINDS for each in self._passages)

    async def _keep_shortlist(self, web: WebRun, chosen: Shortlist) -> None:
        """Add the chosen pages to the sources, and warn about failures. Raises if there is nothing to answer from."""
        kept = await web.keep(chosen)
        self._chosen = {each.id: line for each, line in zip(kept, web.lines(kept, chosen), strict=True)}
        self._preloaded = any(each.page is not None for each in chosen.selected)
        for warning in chosen.warnings:
            self._warn(warning)
        self._note_unread(web.left_out(chosen))
        if not kept and chosen.failures:
            await self._fall_back(chosen.failures)

    async def _fall_back(self, failures: Sequence[Failure]) -> None:
        """Use other sources or cached pages; with neither, a model in conversation answers without any.

        Raises the first failure if that is not possible.
        """
        if await in_thread(self._parts.corpus.count_sources, self._run.scope):
            return
        if await self._use_cached():
            self._warn("no search service answered: using pages that were read before")
        elif self._parts.model.host is None or self._question.mode == "research":
            raise error_of(failures[0])
        elif failures[0].subject == WEB_SEARCH:  # no service answered: go on as without any
            self._web = None
            if outage(await in_thread(self._parts.runs.ledger, self._run.run_id)) is None:  # else that was told
                self._warn(f"the web could not be searched: {failures[0].message}")

    async def _use_cached(self) -> bool:
        """Add all cached pages to the scope, and return whether there are any."""
        cached = await in_thread(self._parts.web(self._access).cached) if self._parts.web is not None else None
        if cached is not None:
            self._run.scope = Scope((*(self._run.scope.collections or ()), cached))
            self._preloaded = True
        return cached is not None

    async def _prepare(self, summaries: Summaries | None) -> Prompt:
        """Return the first messages and the tools; `summaries` is not `None` if the web is open."""
        parts = self._parts
        sources = await in_thread(parts.corpus.count_sources, self._run.scope)
        if not sources and self._web is None and self._lent is None:
            own = ToolRegistry(self._custom_tools() if parts.may_call(self._question.mode) else [])
            earlier = await self._history_messages(own.specs())
            asked = with_notes(self._question.shown, self._unread_note())
            return self._conversation(conversation_system_prompt(own.specs()), asked, earlier, own)
        research = self._research_tools()
        if not parts.may_call(self._question.mode):
            return await self._lean(research)
        over_sources = research.all() if sources or self._web is not None else []
        tools = ToolRegistry([*self._web_tools(summaries), *over_sources, *self._other_tools()])
        tools = tools.without(withheld_tools(self._question.mode, preloaded=self._preloaded))
        if self._targets is not None and EXTRACT_TARGETS.name not in {each.name for each in tools.specs()}:
            tools = tools.with_tool(self._targets.tool(parts.store()))
        earlier = await self._history_messages(tools.specs())
        pages = pages_note(self._pages, self._run.marker) if parts.model.host is not None else ""
        found = [await self._named_sources(sources), pages, await self._recalled(research), self._unread_note()]
        system = research_system_prompt(tools.specs())
        # the built-in model searches for the text of the question itself
        asked = self._question.shown if parts.model.host is not None else self._searched
        prepared = self._conversation(system, with_notes(asked, *found), earlier, tools)
        try:
            await in_thread(self._budget.check, prepared.messages, tools.specs())
        except BudgetExceeded:
            return prepared  # the tool loop reports it
        if await in_thread(self._budget.nearly_spent, prepared.messages, tools.specs()):
            self._warn("the budget leaves room for one call: answering from one search")
            prepared = await self._lean(research)
            prepared.is_single_call = True
        return prepared

    def _restored_tools(self, specs: Sequence[ToolSpec], summaries: Summaries | None) -> ToolRegistry:
        """Return the tools of these specifications for a resumed run; removed ones fail when called."""
        if not specs:
            return ToolRegistry([])
        research = self._research_tools()
        tools = {each.spec.name: each for each in (*self._web_tools(summaries), *research.all(), *self._other_tools())}
        if self._targets is not None and any(each.description == EXTRACT_TARGETS.description for each in specs):
            tools[EXTRACT_TARGETS.name] = self._targets.tool(self._parts.store())
        return ToolRegistry([replace(tools.get(each.name, removed_tool(each)), spec=each) for each in specs])

    def _research_tools(self) -> ResearchTools:
        from asky.research.tools import ResearchTools  # 20 ms: for a question with sources

        return ResearchTools(self._run, self._parts.store(), self._parts.corpus, self._parts.runs)

    def _web_tools(self, summaries: Summaries | None) -> list[Tool]:
        if self._web is None or summaries is None:
            return []

        from asky.research.web.tools import WebTools  # as in `_research_tools`: for a question that uses the web

        access = self._question.web
        assert access is not None
        made = WebTools(
            self._web, self._parts.store(), summaries, reads_results=access.shortlist, targets=self._targets
        )
        tools = made.all()
        return tools if self._web.can_search else [each for each in tools if each.spec.name != "web_search"]

    def _other_tools(self) -> list[Tool]:
        """Return the tools of other products, then the user's custom tools."""
        lent = self._lent.for_run(self._context) if self._lent is not None else ()
        return [*lent, *self._custom_tools()]

    def _custom_tools(self) -> list[Tool]:
        """Return the user's custom tools; none for the built-in model, which would not call them."""
        parts = self._parts
        if parts.custom_tools is None or parts.model.host is None:
            return []
        return parts.custom_tools.for_run(self._run, lambda data: parts.runs.record(self._run.run_id, "ran", data))

    async def _named_sources(self, count: int) -> str:
        """Return the note with the number of sources and a line on each of the first, fenced as untrusted text.

        Those of the shortlist come first, best first, with the reasons.

        It is part of the user message: it changes from question to question, and the system prompt stays cached. Empty
        for the built-in model, which would take it for the question.
        """
        if self._parts.model.host is None or not count:
            return ""
        first = await in_thread(lambda: self._parts.corpus.sources(self._run.scope, limit=_SOURCES_NAMED))
        others = [self._source_line(each) for each in first if each.id not in self._chosen]
        lines = [*self._chosen.values(), *others][:_SOURCES_NAMED]
        shown = fence("\n".join(lines), self._run.marker, "sources, best first" if self._chosen else "sources")
        more = f", {count - len(lines):,} of which are not named" if count > len(lines) else ""
        return f"Sources that can be searched: {count:,}{more}:\n{shown}"

    def _source_line(self, source: Source) -> str:
        return describe_source(source, target=self._targets.shown(source) if self._targets is not None else None)

    def _unread_note(self) -> str:
        return unread_note(self._unread, self._run.marker) if self._parts.model.host is not None else ""

    async def _recalled(self, research: ResearchTools) -> str:
        if self._question.mode != "research" or self._parts.model.host is None:
            return ""
        found = await research.query_research_memory({"query": self._searched})
        return found.content if found.summary != "no findings" else ""

    async def _lean(self, research: ResearchTools) -> Prompt:
        """Return a prompt with the passages of one search and no tools."""
        earlier = await self._history_messages(())  # first, so that passages found again keep their keys
        found = await research.get_relevant_content({"queries": [self._searched]})
        asked = with_material(self._question.shown, found.content, self._unread_note())
        return self._conversation(LEAN_PROMPT, asked, earlier)

    def _conversation(
        self, system: str, user: str, earlier: Sequence[Message], tools: ToolRegistry | None = None
    ) -> Prompt:
        first = Message("system", with_instructions(system, self._question.instructions))
        return Prompt([first, *earlier, Message("user", user)], tools or ToolRegistry([]))

    async def _history_messages(self, tools: Sequence[ToolSpec]) -> Sequence[Message]:
        """Return the messages of the session, and make the passages they mention citable again."""
        return await in_thread(self._read_history_messages, [each.name for each in tools])

    def _read_history_messages(self, tools: Sequence[str]) -> Sequence[Message]:
        history, messages = self._parts.history_messages(self._history, tools)
        if omits_questions(history, messages):
            self._warn(QUESTIONS_OMITTED)
        passages = self._passages
        if messages and passages:
            documents = self._parts.store().tables.documents
            hold_keys(self._run.keys, passages, documents)
            shown = shown_again(mentioned_passages(messages, passages), documents)
            self._parts.runs.show(self._run.run_id, shown)
            self._run.shown |= {each.key: each for each in shown}
        return messages


def withheld_tools(mode: str, *, preloaded: bool) -> frozenset[str]:
    """Return the names of the tools that `mode` excludes; with `preloaded` sources also those that acquire pages."""
    names = frozenset() if mode == "research" else MEMORY_TOOL_NAMES
    return names | ACQUISITION_TOOL_NAMES if preloaded else names
