"""Replies of a model, obtained within its context and the budget; each is requested once more if it broke off."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import anyio

from asky.concurrency import in_thread
from asky.errors import AskyError, BudgetExceeded, ContextOverflow, ProviderError, TimedOut
from asky.events import Listener, ModelCalled, TextDiscarded, Warned, ignore
from asky.llm.port import ChatModel, Finish, Message, ModelUsage, Reply, TextDelta, ToolChoice, ToolSpec
from asky.llm.spending import Budget, NoBudget, count_failed
from asky.llm.tokens import TokenCounter
from asky.research.writing.context_window import ContextWindow
from asky.research.writing.notes import noted_text
from asky.research.writing.transcript import Transcript
from asky.values import StoppedBy

EMPTY_REPLY = "Your last reply was empty. Answer the question now from the passages shown above, with their keys."
"""Sent once after a reply with neither text nor a tool call."""


_UNFINISHED: Mapping[Finish, str] = MappingProxyType(
    {"length": "it was cut at the model's limit", "cut": "the model's stream was cut off"}
)


def discard(text: str) -> None:
    """Ignore `text`: for callers that do not stream."""


@dataclass(frozen=True, slots=True)
class WrittenReply:
    """The text that a model wrote, `""` if none; a warning then says why.

    `is_complete` is true if the model ended the answer itself. If it was cut, `stopped_by` is `length` or `cut`, else
    the limit that ended the gathering or the writing, if any.
    """

    text: str
    is_complete: bool
    stopped_by: StoppedBy | None = None


class ReplyWriter:
    """Requests the next messages of `transcript` from `model`; the `tools` are declared in each call.

    `on_text` receives the text of every reply as it arrives. A `TextDiscarded` event says that this text was not the
    answer. `transcript.sent` is shortened before a call that would not fit into the model's context as `counter` counts
    it, and once after an endpoint has refused a prompt as too long; see `asky.research.writing.compaction`.
    """

    def __init__(
        self,
        model: ChatModel,
        transcript: Transcript,
        tools: Sequence[ToolSpec] = (),
        *,
        emit: Listener = ignore,
        on_text: Callable[[str], None] = discard,
        budget: Budget | None = None,
        counter: TokenCounter | None = None,
    ) -> None:
        self.transcript = transcript
        self.tools = tuple(tools)
        self.budget = budget or NoBudget()
        self.stopped_by: StoppedBy | None = None
        self.has_retried = False
        self._model = model
        self._emit = emit
        self._on_text = on_text
        self.warn = partial(_warn, transcript, emit)
        self._window = ContextWindow(transcript, self.tools, counter or TokenCounter(), model.context_tokens, self.warn)
        self._overflowed = False

    async def is_affordable(self) -> bool:
        """Shorten the prompt to fit the model's context, and return whether the budget allows the next call."""
        await in_thread(self._window.fit)
        try:
            await in_thread(self.budget.check, self.transcript.sent, self.tools)
        except BudgetExceeded as error:
            self.stopped_by = "budget"
            self.warn(error.message)
            return False
        return True

    async def ask(self, choice: ToolChoice, on_overflow: Callable[[], None] = lambda: None) -> Reply | None:
        """Return the model's next reply, or `None` if the same call should be tried again now.

        `on_overflow` is called if the prompt was too long and has been shortened. Raises what `ChatModel.stream`
        raises, and `ProviderError` if a stream ends without a reply.
        """
        try:
            return await self._call(choice)
        except ContextOverflow as error:
            if self._overflowed or not await in_thread(self._window.fit_after_refusal, error.limit_tokens):
                raise
            self._overflowed = True
            on_overflow()
        except AskyError as error:
            # Before any text the endpoint's adapter has retried by itself; after some, the reader must be informed. A
            # call that timed out would take as long again.
            is_final = not error.retryable or isinstance(error, TimedOut)
            if is_final or self.has_retried or not self.transcript.partial:
                raise
            self.has_retried = True
            self.warn(f"{error.message}; asking again")
            self.transcript.broken_off = self.transcript.partial_text
            self.discard(self.transcript.partial_text)
        return None

    def accept(self, reply: Reply) -> WrittenReply | None:
        """Return the final reply, or `None` if the model is to be called again, which happens once."""
        if _is_answer(reply) and (self.has_retried or reply.finish != "cut"):
            return self._finish(reply)
        if self.has_retried:
            self.discard(reply.message.content)
            self.warn("the model's reply was empty or incomplete twice")
            return WrittenReply("", is_complete=False, stopped_by=self.stopped_by)
        self._retry(reply)
        return None

    def prompt(self, text: str) -> None:
        """Add a prompt of asky's own; where roles must alternate it may only follow tool results and notes."""
        last = self.transcript.messages[-1]
        if last.role == "tool" or noted_text(last) is not None:
            self.transcript.note(Message("user", text))

    def discard(self, text: str) -> None:
        """Report that `text` was not the answer."""
        if text:
            self._emit(TextDiscarded(text))

    def _retry(self, reply: Reply) -> None:
        self.has_retried = True
        self.discard(reply.message.content)
        if reply.finish == "cut":
            self.warn("the model's reply was cut off; asking again")
            return
        if reply.message.tool_calls:
            self.warn("the model's reply ended within a tool call; asking again")
            return
        self.warn("the model's reply was empty; asking again")
        self.prompt(EMPTY_REPLY)

    async def _call(self, choice: ToolChoice) -> Reply:
        self._emit(ModelCalled(self._model.name, self._model.host, self.transcript.turns + 1))
        self.transcript.partial.clear()
        reply: Reply | None = None
        messages = tuple(self.transcript.sent)
        try:
            async with aclosing(self._model.stream(messages, self.tools, tool_choice=choice)) as stream:
                async for item in stream:
                    if isinstance(item, TextDelta):
                        self.transcript.partial.append(item.text)
                        self._on_text(item.text)
                    else:
                        reply = item
        except (AskyError, anyio.get_cancelled_exc_class()) as error:
            with anyio.CancelScope(shield=True):
                await self._count_failed(error)
            raise
        if reply is None:
            raise ProviderError(f"{self._model.name} ended its stream without a reply")
        self.transcript.partial.clear()
        self.transcript.broken_off = ""
        self._window.learn(messages, reply.usage)
        await self._count(reply.usage)
        for warning in reply.warnings:
            if warning not in self.transcript.warnings:
                self.warn(warning)
        return reply

    async def _count(self, usage: ModelUsage) -> None:
        self.transcript.calls.append(usage)
        await in_thread(self.budget.record, usage)

    async def _count_failed(self, error: BaseException) -> None:
        used = await in_thread(count_failed, self.budget, error, self.transcript.partial_text)
        if used is not None:
            self.transcript.calls.append(used)

    def _finish(self, reply: Reply) -> WrittenReply:
        message = reply.message
        if message.tool_calls:  # calls that were not run would make the next turn invalid
            message = Message("assistant", message.content)
        self.transcript.add(message)
        self.transcript.confidence = reply.confidence
        if reply.finish == "length" or reply.finish == "cut":
            self.warn(f"the answer is not complete: {_UNFINISHED[reply.finish]}")
            return WrittenReply(message.content, is_complete=False, stopped_by=reply.finish)
        return WrittenReply(message.content, is_complete=True, stopped_by=self.stopped_by)


def _is_answer(reply: Reply) -> bool:
    """Return whether the reply is a complete text: one that precedes a cut-off tool call is not an answer."""
    cut_inside_a_call = reply.finish in ("cut", "length") and bool(reply.message.tool_calls)
    return bool(reply.message.content.strip()) and not cut_inside_a_call


def _warn(transcript: Transcript, emit: Listener, message: str) -> None:
    """Warn the user, and record the warning in the transcript."""
    transcript.warnings.append(message)
    emit(Warned(message))
