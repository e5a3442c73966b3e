"""What is there before the model is first asked: the sources, the tools, what was said before, and the question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from asky.chat.compaction import QUESTIONS_LOST, has_lost_questions
from asky.chat.conversation import earlier_questions, in_context, told_by_others
from asky.chat.earlier_pages import earlier_pages, told_pages
from asky.chat.prepared import Prepared, gone
from asky.chat.prompts import LEAN_PROMPT, conversation_system_prompt, research_system_prompt, with_material
from asky.chat.registry import ToolRegistry
from asky.chat.unread import Unread, kept_off, sentences, told_unread
from asky.concurrency import error_of, in_thread
from asky.errors import BudgetExceeded
from asky.evidence.passages import fence, shown_title
from asky.llm.port import Message
from asky.research.tools import ACQUISITION_TOOL_NAMES, MEMORY_TOOL_NAMES, ResearchRun, ResearchTools
from asky.storage.scope import Scope

if TYPE_CHECKING:
    from asky.chat.answering import Answerer, Mode, Question
    from asky.chat.recording import Record
    from asky.chat.run_state import RunState
    from asky.llm.port import ToolSpec
    from asky.llm.spending import Budget
    from asky.llm.tools import Tool
    from asky.research.shortlist_types import Shortlist
    from asky.research.web import WebRun
    from asky.research.web_summaries import Summaries
    from asky.storage.runs import StoredPassage
    from asky.storage.sessions import StoredMessage
    from asky.values import Failure, Source, SourceKind

_SOURCES_NAMED = 8  # in the prompt, to say what kind of sources there are
# What they return is from the web or is a passage, which is known by its source. Anything else may hold private words.
_PUBLIC_TOOLS = ACQUISITION_TOOL_NAMES | {"web_search", "get_relevant_content", "save_finding"}
_PRIVATE_KINDS: tuple[SourceKind, ...] = ("file", "note")


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
        self._searched = question.shown
        self._said: Sequence[StoredMessage] = ()
        self._passages: Sequence[StoredPassage] = ()
        self._pages: Sequence[Source] = ()
        self._unread: Sequence[Unread] = ()

    async def read_context(self) -> None:
        """Read what was said in the session before, and find out what to search for.

        A question that points back and says little by itself is searched for with the one it points to.
        """
        if self._run.session_id is not None:
            self._said = await in_thread(self._owner.sessions.messages, self._run.session_id)
            self._searched = in_context(self._question.shown, earlier_questions(self._said))
        if self._run.session_id is not None and self._said:
            self._passages = await in_thread(self._owner.runs.passages_of_session, self._run.session_id)

    async def open_web(self, state: RunState, record: Record, *, again: bool = False) -> None:
        """Open the web, where the question may use it, to go on from `state`; unless `again`, choose and read sources.

        What is opened again has what was read before, and the question as it was then.
        """
        access = self._question.web
        if access is None or self._owner.web is None:
            if not again:
                self._note_unread(kept_off(self._question.text))
            return
        asked = self._run.question
        is_private = await in_thread(self._look_back)
        if again:
            self._run.question = asked
        self.web = self._owner.web().open(self._run, access, is_private=is_private)
        state.attach(self.web, record, is_private=is_private)
        if again:
            return
        self.web.offered.offer(access.named)
        if self._owner.settings.history_tokens:  # or nothing of earlier turns goes to a model
            self._pages = await in_thread(earlier_pages, self._said, self._passages)
        self.web.offered.offer_links(each.url or "" for each in self._pages)  # read by a model's choice, so no more
        await self.web.note_policy()
        if not self.web.can_search and not access.named:
            await self._use_cached()
        elif access.shortlist or not self._owner.may_choose(self._question.mode):
            chosen = await self.web.shortlist(self._searched, named=access.named, queries=access.queries)
            await self._take(self.web, chosen)
        else:
            self.web.note_unread(access.named)

    def _note_unread(self, unread: Sequence[Unread]) -> None:
        self._unread = unread
        for sentence in sentences(unread):
            self._warn(sentence)

    def _look_back(self) -> bool:
        """Whether the model can see private documents, now or in what was said before.

        What the user asked before is the user's own, and may be searched for like the question. What other sessions
        have found may hold words of documents that this one has never seen.
        """
        owner, said = self._owner, self._said
        asked = earlier_questions(said)
        wanted = self._question.web.queries if self._question.web is not None else ()
        self._run.question = "\n".join([*asked, *wanted, self._run.question])
        self._run.private_notes += told_by_others(said, _PUBLIC_TOOLS)
        if self._run.memory == "all" or owner.corpus.count_sources(self._run.scope, _PRIVATE_KINDS):
            return True
        return bool(self._run.private_notes) or any(each.source.kind in _PRIVATE_KINDS for each in self._passages)

    async def _take(self, web: WebRun, chosen: Shortlist) -> None:
        """Keep what was chosen, and say what could not be asked. Raises where that leaves nothing to answer from."""
        kept = await web.keep(chosen)
        self._preloaded = any(each.page is not None for each in chosen.selected)
        for warning in chosen.warnings:
            self._warn(warning)
        self._note_unread(web.left_out(chosen))
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
        prepared = await self._prepare(summaries)
        prepared.unread = self._unread
        return prepared

    async def _prepare(self, summaries: Summaries | None) -> Prepared:
        owner = self._owner
        sources = await in_thread(owner.corpus.count_sources, self._run.scope)
        if not sources and self.web is None:
            own = ToolRegistry(self._own_tools() if owner.may_call(self._question.mode) else [])
            earlier = await self._earlier(own.specs())
            asked = with_material(self._question.shown, self._told_unread())
            return _conversation(conversation_system_prompt(own.specs()), asked, earlier, own)
        research = ResearchTools(self._run, owner.store(), owner.corpus, owner.runs)
        if not owner.may_call(self._question.mode):
            return await self._lean(research)
        tools = ToolRegistry([*self._web_tools(summaries), *research.all(), *self._own_tools()])
        tools = tools.without(withheld_tools(self._question.mode, preloaded=self._preloaded))
        earlier = await self._earlier(tools.specs())
        pages = told_pages(self._pages, self._run.marker) if owner.model.host is not None else ""
        found = [await self._named_sources(sources), pages, await self._recalled(research), self._told_unread()]
        system = research_system_prompt(tools.specs())
        asked = self._question.shown if owner.model.host is not None else self._searched  # which it searches for itself
        prepared = _conversation(system, with_material(asked, *found), earlier, tools)
        try:
            await in_thread(self._budget.check, prepared.messages, tools.specs())
        except BudgetExceeded:
            return prepared  # the loop says so, once
        if await in_thread(self._budget.nearly_spent, prepared.messages, tools.specs()):
            self._warn("the budget leaves room for one call: answering from one search")
            prepared = await self._lean(research)
            prepared.is_short = True
        return prepared

    def reopened(self, specs: Sequence[ToolSpec], summaries: Summaries | None) -> ToolRegistry:
        """The tools of these specifications once more, for a run that goes on."""
        if not specs:
            return ToolRegistry([])
        research = ResearchTools(self._run, self._owner.store(), self._owner.corpus, self._owner.runs)
        tools = {each.spec.name: each for each in (*self._web_tools(summaries), *research.all(), *self._own_tools())}
        return ToolRegistry([replace(tools.get(each.name, gone(each)), spec=each) for each in specs])

    def _web_tools(self, summaries: Summaries | None) -> list[Tool]:
        if self.web is None or summaries is None:
            return []
        from asky.research.web_tools import WebTools  # for questions to the web only

        access = self._question.web
        assert access is not None
        made = WebTools(self.web, self._owner.store(), summaries, reads_results=access.shortlist)
        tools = made.all()
        return tools if self.web.can_search else [each for each in tools if each.spec.name != "web_search"]

    def _own_tools(self) -> list[Tool]:
        """The user's own tools; the built-in model would not call them."""
        owner = self._owner
        if owner.custom_tools is None or owner.model.host is None:
            return []
        return owner.custom_tools.of(self._run, lambda data: owner.runs.record(self._run.run_id, "ran", data))

    async def _named_sources(self, count: int) -> str:
        """What can be searched: the number of sources, and the titles of the first, which others have written.

        It goes with the question, as it changes from one to the next. The built-in model takes all of that for one.
        """
        if self._owner.model.host is None or not count:
            return ""
        first = await in_thread(lambda: self._owner.corpus.sources(self._run.scope, limit=_SOURCES_NAMED))
        shown = fence("\n".join(shown_title(each) for each in first), self._run.marker, "titles")
        more = f", {count - len(first):,} of which are not named" if count > len(first) else ""
        return f"Sources that can be searched: {count:,}{more}:\n{shown}"

    def _told_unread(self) -> str:
        return told_unread(self._unread, self._run.marker) if self._owner.model.host is not None else ""

    async def _recalled(self, research: ResearchTools) -> str:
        if self._question.mode != "research" or self._owner.model.host is None:
            return ""
        found = await research.query_research_memory({"query": self._searched})
        return found.content if found.summary != "no findings" else ""

    async def _lean(self, research: ResearchTools) -> Prepared:
        """Search once for the model and let it answer from that."""
        earlier = await self._earlier(())  # first: what is found again keeps its key
        found = await research.get_relevant_content({"queries": [self._searched]})
        asked = with_material(self._question.shown, found.content, self._told_unread())
        return _conversation(LEAN_PROMPT, asked, earlier)

    async def _earlier(self, tools: Sequence[ToolSpec]) -> Sequence[Message]:
        """What was said in the session before, with the passages that it names: they can be cited again."""
        return await in_thread(self._read_earlier, [each.name for each in tools])

    def _read_earlier(self, tools: Sequence[str]) -> Sequence[Message]:
        said, messages = self._owner.earlier(self._said, tools)
        if has_lost_questions(said, messages):
            self._warn(QUESTIONS_LOST)
        passages = self._passages
        if messages and passages:
            from asky.chat import conversation  # for later questions of a session only

            documents = self._owner.store().tables.documents
            conversation.hold_keys(self._run.keys, passages, documents)
            shown = conversation.reopened(conversation.named_passages(messages, passages), documents)
            self._owner.runs.show(self._run.run_id, shown)
            self._run.shown |= {each.key: each for each in shown}
        return messages


def withheld_tools(mode: Mode, *, preloaded: bool) -> frozenset[str]:
    """Tools that would do again what was done, where sources are `preloaded`, or that the mode does not have."""
    names = frozenset() if mode == "research" else MEMORY_TOOL_NAMES
    return names | ACQUISITION_TOOL_NAMES if preloaded else names


def _conversation(system: str, user: str, earlier: Sequence[Message], tools: ToolRegistry | None = None) -> Prepared:
    return Prepared([Message("system", system), *earlier, Message("user", user)], tools or ToolRegistry([]))
