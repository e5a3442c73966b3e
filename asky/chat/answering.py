"""One question through the evidence path: gather and write in the loop, then number, verify, mend and keep.

Everything that was shown, cited and checked is in the run's ledger before the answer is printed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import anyio

from asky.chat.begun import begin
from asky.chat.notes import Notes, no_notes
from asky.chat.work import Work
from asky.concurrency import in_thread
from asky.llm.port import connected
from asky.llm.spending import Budget, NoBudget
from asky.llm.tokens import TokenCounter
from asky.values import Answer

if TYPE_CHECKING:
    from asky.chat.begun import Begun
    from asky.chat.custom_tools import CustomTools
    from asky.chat.plan import Plan, WebPlan
    from asky.chat.web_access import Web, WebAccess
    from asky.config.schema import Research
    from asky.events import Listener
    from asky.llm.endpoint import Prices
    from asky.llm.port import ChatModel, Message, ToolSpec
    from asky.research.memory import Reach
    from asky.research.vector_store import VectorStore
    from asky.storage.corpus import CorpusStore
    from asky.storage.runs import Run, RunStore
    from asky.storage.scope import Scope
    from asky.storage.sessions import Session, SessionStore, StoredMessage
    from asky.storage.steps import Step

Mode = Literal["research", "standard", "lean"]


def no_budget(run_id: str) -> Budget:  # noqa: ARG001 - every run has the same: none
    """For a model that costs nothing."""
    return NoBudget()


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, of what. `text` is what the user wrote, `shown` what the model sees of it: without local paths.

    `memory` says whose findings are recalled: those of the session, or of all.
    """

    text: str
    shown: str
    mode: Mode
    scope: Scope
    rejected: tuple[tuple[str, str], ...] = ()
    web: WebAccess | None = None
    memory: Reach = "session"


@dataclass(frozen=True, slots=True)
class Answerer:
    """Answers questions with one model over the corpus, or without any source where the question's scope holds none.

    `store` opens the search when something is to be searched, `web` the web for a question that may use it. `settings`
    limits turns and passages; `budget` makes the budget of a run, by its id, as it begins, `counter` what counts the
    tokens of its prompts, and `prices` serve its plan.
    `warned` is what the user was warned of, in this process and so far, and `notes` takes what the user says to a run
    that is under way. Where `offers_tools` is false the model cannot be offered any, and gets passages instead. `given`
    is what the command line said, which a run that is taken up again keeps to.
    """

    model: ChatModel
    store: Callable[[], VectorStore]
    corpus: CorpusStore
    runs: RunStore
    sessions: SessionStore
    settings: Research
    listener: Listener
    warned: Sequence[str] = ()
    budget: Callable[[str], Budget] = no_budget
    offers_tools: bool = True
    prices: Prices | None = None
    web: Callable[[], Web] | None = None
    custom_tools: CustomTools | None = None
    counter: Callable[[], TokenCounter] = TokenCounter
    notes: Notes = no_notes
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def passage_tokens(self) -> int:
        """Tokens of passages that one tool call may return: what the settings say, or two fifths of a small context."""
        return min(self.settings.passage_tokens, self.model.context_tokens * 2 // 5)

    def may_call(self, mode: Mode) -> bool:
        """Whether the model can be offered tools; the built-in one always is: it does its own searching."""
        may = self.offers_tools and self.settings.max_turns > 1 and mode != "lean"
        return may or self.model.host is None

    def may_choose(self, mode: Mode) -> bool:
        """Whether the model could find sources on the web by itself."""
        return self.may_call(mode) and self.model.host is not None

    def plan(
        self,
        question: Question,
        unread: Sequence[str] = (),
        web: WebPlan | None = None,
        said: Sequence[StoredMessage] = (),
    ) -> Plan:
        """What `question` would do, by the sources in the corpus now, `unread` ones, the `web` and what was `said`.

        Nothing is sent or kept.
        """
        from asky.chat.plan import make_plan, offered_tools  # for a dry run only

        return make_plan(
            self.model,
            question.shown,
            mode=question.mode,
            sources=self.corpus.count_sources(question.scope),
            unread=unread,
            tools=[*offered_tools(question.mode, web), *self._own_specs()],
            max_turns=self.settings.max_turns,
            passage_tokens=self.passage_tokens,
            prices=self.prices,
            may_call=self.may_call(question.mode),
            web=web,
            earlier=lambda tools: self.earlier(said, [each.name for each in tools])[1],
            counter=self.counter(),
        )

    def earlier(
        self, said: Sequence[StoredMessage], tools: Collection[str]
    ) -> tuple[Sequence[Message], Sequence[Message]]:
        """What was `said` in a session, as a model with these `tools` would get all of it, and what of that it gets.

        The built-in model gets nothing: it answers each question from its own passages.
        """
        if not said or self.model.host is None or not self.settings.history_tokens:
            return (), ()
        from asky.chat.conversation import earlier_messages, fit_earlier  # for later questions of a session only

        messages = earlier_messages(said, tools)
        room = self.model.context_tokens * 2 // 5
        most = min(self.settings.history_tokens, room)
        return messages, fit_earlier(messages, most, self.counter(), most_for_questions=room)

    def _own_specs(self) -> list[ToolSpec]:
        return self.custom_tools.specs() if self.custom_tools is not None and self.model.host is not None else []

    async def answer(self, question: Question, session: Session, *, keep: Callable[[Answer], None]) -> None:
        """Answer `question` and hand the stored answer to `keep`.

        The answer is streamed to the listener as `TextStreamed`, its citations numbered; what is kept has been checked
        as well, and may have been mended by the model since. A cancelled run hands over what there was of its answer,
        stored and marked as such, before the cancellation goes on. Raises what the model raises; the run is then kept
        as failed, with its ledger and what had been written. What came from outside is recorded as it comes, so that
        the run can be taken up again, or played again.
        """
        begun = begin(self, question, session.name)
        with anyio.CancelScope(shield=True):  # a run that has begun is to end
            run = await in_thread(self._start, begun, session.id)
        await self.work(begun, session, run, keep)

    def _start(self, begun: Begun, session_id: str) -> Run:
        question, runs = begun.question, self.runs
        with ExitStack() as failing:
            with runs.steps.together():
                run = runs.start(question=question.text, mode=question.mode, model=begun.model, session_id=session_id)
                failing.callback(runs.let_go, run.id)
                runs.steps.add(run.id, "begun", "", begun.pack())
            failing.pop_all()
        return run

    async def work(
        self,
        begun: Begun,
        session: Session,
        run: Run,
        keep: Callable[[Answer], None],
        steps: Sequence[Step] = (),
        *,
        is_live: bool = True,
    ) -> None:
        """Do a run that has `begun`, from the `steps` that it has; unless it `is_live`, these are all there is.

        See `answer`. However it ends, its process holds it no longer.
        """
        try:
            await self._work(Work(begun.settle(self), begun, session, run, keep, steps, is_live=is_live))
        finally:
            self.runs.let_go(run.id)

    async def _work(self, work: Work) -> None:
        with anyio.CancelScope() as scope:
            work.on_cancelled(scope.cancel)
            try:
                async with connected(self.model):
                    await work.gather_and_write()
            except anyio.get_cancelled_exc_class():
                with anyio.CancelScope(shield=True):
                    await in_thread(work.finish_cancelled)
                raise
            except Exception as error:  # whatever it is, the run is kept as failed before it is raised on
                with anyio.CancelScope(shield=True):
                    await in_thread(work.finish_failed, error)
                raise
