"""Questions to chat: planned, and answered by a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from asky.chat.context_builder import AnswerParts, ContextBuilder
from asky.chat.plan import make_plan, offered_tools
from asky.runs.driver import no_budget

if TYPE_CHECKING:
    from asky.chat.plan import Plan, WebPlan
    from asky.llm.port import ChatModel, ToolSpec
    from asky.runs.context import Question
    from asky.runs.driver import PromptBuilder, PromptContext
    from asky.storage.sessions import StoredMessage


class Answerer(AnswerParts):
    """Answers questions with one model, from the sources in a question's scope, or without sources."""

    __slots__ = ()
    prompt_builder: ClassVar[Callable[[Any, PromptContext], PromptBuilder]] = ContextBuilder

    def plan(
        self,
        question: Question,
        unread: Sequence[str] = (),
        web: WebPlan | None = None,
        history: Sequence[StoredMessage] = (),
    ) -> Plan:
        """Return the plan for `question`, without sending or storing anything.

        It considers the sources in the corpus, those that are `unread` so far, the use of the `web`, and the `history`
        of the session.
        """
        return make_plan(
            self.model,
            question.shown,
            instructions=question.instructions,
            mode=question.mode,
            sources=self.corpus.count_sources(question.scope),
            unread=unread,
            tools=[*offered_tools(question.mode, web), *self._own_specs(question)],
            max_turns=self.settings.max_turns,
            passage_tokens=self.passage_tokens,
            prices=self.prices,
            may_call=self.may_call(question.mode),
            web=web,
            history_messages=lambda tools: self.history_messages(history, [each.name for each in tools])[1],
            counter=self.counter(),
        )

    def _own_specs(self, question: Question) -> list[ToolSpec]:
        lent = self.lent_tools(question)
        custom = self.custom_tools.specs() if self.custom_tools is not None and self.model.host is not None else []
        return [*(lent.specs() if lent is not None else ()), *custom]

    def for_replay(self, model: ChatModel) -> Answerer:
        """Return an answerer that replays runs with `model`, without a web, other tools or a budget."""
        return replace(self, model=model, budget=no_budget, web=None, custom_tools=None, targets=None, note_tools=None)
