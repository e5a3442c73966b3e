"""The tool-calling loop: ask the model, run the tools it calls, and end with an answer.

Every way in which a model can keep a loop alive ends in one last reply in which it may call no tool, with the request
to answer from what there is: the turn limit, a budget that is nearly spent, the same call again and again, calls that
are all refused. The tools are still named then: the beginning of the prompt stays the same, and stays cached.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field

import anyio

from asky.chat.calls import CallRunner
from asky.chat.notes import Notes, no_notes, note_message, noted_text
from asky.chat.prompts import ANSWER_NOW, EMPTY_REPLY
from asky.chat.registry import ToolRegistry
from asky.chat.room import PromptRoom
from asky.chat.transcript import Transcript
from asky.concurrency import in_thread
from asky.errors import AskyError, BudgetExceeded, ContextOverflow, ProviderError, TimedOut
from asky.events import Listener, ModelCalled, TextDiscarded, Warned, ignore
from asky.llm.port import ChatModel, Message, ModelUsage, Reply, TextDelta, ToolChoice, ToolSpec
from asky.llm.spending import Budget, NoBudget, count_failed
from asky.llm.tokens import TokenCounter
from asky.values import StoppedBy


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """Limits of one run of the loop.

    `max_turns` counts replies; the last one may call no tools, and only an empty or broken one is asked for once more.
    Of `max_identical_calls` calls with one name and equal arguments the last is not run. `max_refused_turns` replies in
    a row may consist of bad calls only. Calls of one reply beyond `max_calls_per_turn` are refused.
    """

    max_turns: int
    max_identical_calls: int = 3
    max_refused_turns: int = 2
    max_calls_per_turn: int = 16
    max_concurrent_calls: int = 4


@dataclass(frozen=True, slots=True)
class LoopResult:
    """How a run of the loop ended.

    `reply_text` is `""` when no answer came; a warning then says why. `complete` tells an answer that the model ended
    itself from one that was cut. `stopped_by` is `max_turns` or `budget` when that
    limit, and not the model, ended the gathering. `warnings` have been emitted as events already.
    """

    messages: tuple[Message, ...]
    reply_text: str
    complete: bool
    usage: ModelUsage
    turns: int
    stopped_by: StoppedBy | None
    warnings: tuple[str, ...]


def discard(text: str) -> None:
    """An `on_text` for callers that do not stream."""


async def run_loop(
    model: ChatModel,
    transcript: Transcript,
    registry: ToolRegistry,
    *,
    settings: LoopSettings,
    listener: Listener = ignore,
    on_text: Callable[[str], None] = discard,
    budget: Budget | None = None,
    counter: TokenCounter | None = None,
    notes: Notes = no_notes,
    gathering: bool = True,
) -> LoopResult:
    """Let `model` work with the tools of `registry` until it answers the last message of `transcript`.

    `on_text` gets the text of every reply as it arrives. Text before a tool call is the model thinking aloud, and text
    of a reply that broke off is asked for again: a `TextDiscarded` event says that what came was not the answer. Tool
    calls of one reply run together; their results are added in the order of the calls, and messages are kept as the
    model sent them. Before a call that would not fit into the model's context as `counter` counts it, and once after an
    endpoint has said that one did not, `transcript.sent` is made shorter; see `asky.chat.compaction`. Where `gathering`
    is false the tools are named and none may be called. Before each call the model is told the `notes` that have come.

    Raises what `ChatModel.stream` raises, `ProviderError` when a stream ends without a reply, and what a tool raises
    apart from an `AskyError`. Cancellation passes through. In each case `transcript` holds what there is.
    """
    spending, counting = budget or NoBudget(), counter or TokenCounter()
    loop = _Loop(model, transcript, registry, settings, listener, on_text, spending, counting, notes, gathering)
    return await loop.run()


@dataclass(slots=True)
class _Loop:
    model: ChatModel
    transcript: Transcript
    registry: ToolRegistry
    settings: LoopSettings
    listener: Listener
    on_text: Callable[[str], None]
    budget: Budget
    counter: TokenCounter
    notes: Notes
    gathering: bool
    tools: tuple[ToolSpec, ...] = field(init=False)
    room: PromptRoom = field(init=False)
    calls: CallRunner = field(init=False)
    overflowed: bool = False
    stopped_by: StoppedBy | None = None
    asked_again: bool = False

    async def run(self) -> LoopResult:
        self.tools = self.registry.specs()
        self.room = PromptRoom(self.transcript, self.tools, self.counter, self.model.context_tokens, self._warn)
        self.calls = CallRunner(self.registry, self.settings, self.listener)
        self.gathering = self.gathering and bool(self.tools)
        while True:
            for note in self.notes():
                self.transcript.note(note_message(note))
            await in_thread(self.room.make)
            try:
                await in_thread(self.budget.check, self.transcript.sent, self.tools)
            except BudgetExceeded as error:
                self.stopped_by = "budget"
                self._warn(error.message)
                return self._result("")
            await self._stop_gathering_at_a_limit()
            reply = await self._ask()
            if reply is None:
                continue
            if reply.finish == "tool_calls" and self.gathering:
                self._discard(reply.message.content)
                await self._run_calls(reply.message)
            elif _is_answer(reply) and (self.asked_again or reply.finish != "cut"):
                return self._finish(reply)
            elif self.asked_again:
                self._discard(reply.message.content)
                self._warn("the model's reply was empty or broken twice")
                return self._result("")
            else:
                self._ask_again(reply)

    async def _stop_gathering_at_a_limit(self) -> None:
        if not self.gathering:
            return
        if self.transcript.turns + 1 >= self.settings.max_turns:
            self._stop_gathering(f"stopped after {self.settings.max_turns} turns", "max_turns")
        elif await in_thread(self.budget.nearly_spent, self.transcript.sent, self.tools):
            self._stop_gathering("stopped gathering: the budget is nearly spent", "budget")

    def _stop_gathering(self, why: str, stopped_by: StoppedBy | None = None) -> None:
        """Allow no more calls; a message that asks for the answer follows tool results only, where roles alternate."""
        self.gathering = False
        self.stopped_by = stopped_by
        self._warn(why)
        self._prompt(ANSWER_NOW)

    def _ask_again(self, reply: Reply) -> None:
        self.asked_again = True
        self._discard(reply.message.content)
        if reply.finish == "cut":
            self._warn("the model's reply was cut off; asking again")
            return
        if reply.message.tool_calls:
            self._warn("the model's reply ended within a tool call; asking again")
            return
        self._warn("the model's reply was empty; asking again")
        self._prompt(EMPTY_REPLY)

    def _prompt(self, text: str) -> None:
        if self.transcript.messages[-1].role == "tool" or noted_text(self.transcript.messages[-1]) is not None:
            self.transcript.note(Message("user", text))

    async def _ask(self) -> Reply | None:
        """The model's next reply, or `None` where the same call is worth a second try and can be made now."""
        try:
            return await self._call()
        except ContextOverflow as error:
            if self.overflowed or not await in_thread(self.room.make_after, error.limit_tokens):
                raise
            self.overflowed = True
            if self.gathering:  # what it would find has no room
                self._stop_gathering("stopped gathering: the model's context is full")
        except AskyError as error:
            # Before any text the endpoint's adapter has tried again by itself; after some, the reader must be told. A
            # call that was too slow would take as long again.
            hopeless = not error.retryable or isinstance(error, TimedOut)
            if hopeless or self.asked_again or not self.transcript.partial:
                raise
            self.asked_again = True
            self._warn(f"{error.message}; asking again")
            self.transcript.broken_off = self.transcript.partial_text
            self._discard(self.transcript.partial_text)
        return None

    async def _call(self) -> Reply:
        self.listener(ModelCalled(self.model.name, self.model.host, self.transcript.turns + 1))
        self.transcript.partial.clear()
        reply: Reply | None = None
        choice: ToolChoice = "auto" if self.gathering else "none"
        messages = tuple(self.transcript.sent)
        try:
            async with aclosing(self.model.stream(messages, self.tools, tool_choice=choice)) as stream:
                async for item in stream:
                    if isinstance(item, TextDelta):
                        self.transcript.partial.append(item.text)
                        self.on_text(item.text)
                    else:
                        reply = item
        except (AskyError, anyio.get_cancelled_exc_class()) as error:
            with anyio.CancelScope(shield=True):
                await self._count_failed(error)
            raise
        if reply is None:
            raise ProviderError(f"{self.model.name} ended its stream without a reply")
        self.transcript.partial.clear()
        self.transcript.broken_off = ""
        self.room.learn(messages, reply.usage)
        await self._count(reply.usage)
        for warning in reply.warnings:
            if warning not in self.transcript.warnings:
                self._warn(warning)
        return reply

    async def _count(self, usage: ModelUsage) -> None:
        self.transcript.calls.append(usage)
        await in_thread(self.budget.record, usage)

    async def _count_failed(self, error: BaseException) -> None:
        used = await in_thread(count_failed, self.budget, error, self.transcript.partial_text)
        if used is not None:
            self.transcript.calls.append(used)

    def _discard(self, text: str) -> None:
        """Tell the reader that `text` was not the answer."""
        if text:
            self.listener(TextDiscarded(text))

    async def _run_calls(self, message: Message) -> None:
        answers, futility = await self.calls.run(message.tool_calls)
        self.transcript.add(message, *answers)
        self.asked_again = False
        if futility is not None:
            self._stop_gathering(futility)

    def _finish(self, reply: Reply) -> LoopResult:
        message = reply.message
        if message.tool_calls:  # calls that were not run: kept, they would make the next turn invalid
            message = Message("assistant", message.content)
        self.transcript.add(message)
        if reply.finish == "length":
            self._warn("the answer is not complete: it was cut at the model's limit")
        elif reply.finish == "cut":
            self._warn("the answer is not complete: the model's stream was cut off")
        return self._result(message.content, complete=reply.finish not in ("length", "cut"))

    def _warn(self, message: str) -> None:
        self.transcript.warnings.append(message)
        self.listener(Warned(message))

    def _result(self, text: str, *, complete: bool = False) -> LoopResult:
        transcript = self.transcript
        return LoopResult(
            tuple(transcript.messages),
            text,
            complete,
            transcript.usage,
            transcript.turns,
            self.stopped_by,
            tuple(transcript.warnings),
        )


def _is_answer(reply: Reply) -> bool:
    """Text that stands on its own: what precedes a call that was cut off is no answer."""
    cut_inside_a_call = reply.finish in ("cut", "length") and bool(reply.message.tool_calls)
    return bool(reply.message.content.strip()) and not cut_inside_a_call
