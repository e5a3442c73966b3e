"""The model, the tools and the budget of a run, with what is recorded answered from its journal."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import anyio

from asky.concurrency import in_thread
from asky.errors import AskyError, BudgetExceeded, StorageError
from asky.llm.arguments import canonical
from asky.llm.codec import (
    decode_error,
    decode_reply,
    decode_result,
    digest,
    encode_error,
    encode_message,
    encode_reply,
    encode_result,
    encode_tool,
)
from asky.llm.port import ModelUsage, Reply, TextDelta
from asky.llm.spending import note_spending, spending_of
from asky.llm.tools import Tool, ToolResult

if TYPE_CHECKING:
    from asky.llm.port import ChatModel, Message, ToolChoice, ToolSpec
    from asky.llm.spending import Budget
    from asky.runs.journal.journal import RunJournal


class JournaledModel:
    """The model of a run: recorded calls are answered from the journal, others are made by `inner` and recorded.

    `context_tokens` is the context size that the run began with, so that replayed prompts are shortened as before.
    """

    def __init__(self, inner: ChatModel, journal: RunJournal, budget: Budget, context_tokens: int) -> None:
        self.name = inner.name
        self.host = inner.host
        self.context_tokens = context_tokens
        self._inner = inner
        self._journal = journal
        self._budget = budget

    async def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        tool_choice: ToolChoice = "auto",
        schema: Mapping[str, Any] | None = None,
    ) -> AsyncGenerator[TextDelta | Reply, None]:
        """See `ChatModel.stream`. Also raises `StepMissing`."""
        journal, key = self._journal, call_key(self.name, messages, tools, tool_choice, schema)
        try:
            step = await journal.next_call(key)
        except anyio.get_cancelled_exc_class() as error:
            note_spending(error, ModelUsage())  # a replayed run that ended before this call
            raise
        journal.last_call, journal.estimate = "replayed" if step is not None else "made", None
        if step is not None:
            text = step["reply"]["message"]["content"] if "reply" in step else step["text"]
            if text:
                yield TextDelta(text)
            if "reply" in step:
                yield decode_reply(step["reply"])
            else:
                await self._replay_failure(step)
            return
        written: list[str] = []
        made = self._inner.stream(messages, tools, tool_choice=tool_choice, schema=schema)
        try:
            async with aclosing(made) as stream:
                async for item in stream:
                    if isinstance(item, TextDelta):
                        written.append(item.text)
                    else:
                        data = {"reply": encode_reply(item), "usage": asdict(item.usage)}
                        await journal.add("called", key, data, used=item.usage)
                    yield item
        except (AskyError, anyio.get_cancelled_exc_class()) as error:
            with anyio.CancelScope(shield=True):
                await self._record_failure(key, "".join(written), error)
            raise

    async def _record_failure(self, key: str, text: str, error: BaseException) -> None:
        """Record a call without a reply, and its usage: an estimate if none was reported."""
        journal, used = self._journal, spending_of(error)
        is_estimated = used is None and bool(text or not isinstance(error, AskyError))
        if is_estimated:
            used = journal.estimate = await in_thread(self._budget.record_partial, text)
            journal.last_call = "recorded"
        end = {"error": encode_error(error)} if isinstance(error, AskyError) else {"cut": True}
        usage = asdict(used) if used is not None else None
        is_counted = used is not None and (is_estimated or used.prompt_tokens + used.completion_tokens > 0)
        data = {"text": text, "usage": usage, "is_estimated": is_estimated, **end}
        await journal.add("called", key, data, used=used if is_counted else None)

    async def _replay_failure(self, step: Mapping[str, Any]) -> None:
        """Fail as the recorded call did, or stop as it was stopped."""
        used = ModelUsage(**step["usage"]) if step["usage"] is not None else None
        if step["is_estimated"]:
            self._journal.estimate = used
        if "error" in step:
            error = decode_error(step["error"])
            if used is not None and not step["is_estimated"]:
                note_spending(error, used)
            raise error
        try:
            await self._journal.stop_for(self._journal.recorded_stop or "time")
        except anyio.get_cancelled_exc_class() as error:
            if not step["is_estimated"]:
                note_spending(error, used or ModelUsage())
            raise


def journaled_tool(tool: Tool, journal: RunJournal) -> Tool:
    """Return `tool` with recorded calls answered from the journal, and other calls recorded."""

    async def run(arguments: Mapping[str, Any]) -> ToolResult:
        key = journal.tool_call_key(tool.spec.name, canonical(json.dumps(dict(arguments))))
        step = await journal.next_step("ran", key)
        if step is not None:
            if "error" in step:
                raise decode_error(step["error"])
            return decode_result(step["result"])
        try:
            result = await tool.run(arguments)
        except StorageError:
            raise  # ends the run
        except AskyError as error:
            await journal.add("ran", key, {"error": encode_error(error)})
            raise
        await journal.add("ran", key, {"result": encode_result(result)})
        return result

    return Tool(tool.spec, run)


@dataclass(slots=True)
class JournaledBudget:
    """The budget of a run: its decisions about recorded calls come from the journal."""

    inner: Budget
    journal: RunJournal
    _decisions: int = 0

    def check(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> None:
        """See `Budget.check`."""

        def exceeded() -> Mapping[str, Any] | None:
            try:
                self.inner.check(messages, tools)
            except BudgetExceeded as error:
                return {"message": error.message, "hint": error.hint}
            return None

        if (found := self.journal.decide(self._name(), exceeded)) is not None:
            raise BudgetExceeded(found["message"], hint=found["hint"])

    def nearly_spent(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> bool:
        """See `Budget.nearly_spent`."""
        return bool(self.journal.decide(self._name(), lambda: self.inner.nearly_spent(messages, tools) or None))

    def _name(self) -> str:
        self._decisions += 1
        return f"limit {self._decisions}"

    def record(self, usage: ModelUsage) -> None:
        """See `Budget.record`."""
        if self.journal.last_call == "made":
            self.inner.record(usage)
        elif self.journal.last_call == "replayed":
            self.inner.add(usage)

    def add(self, usage: ModelUsage) -> None:
        """See `Budget.add`."""
        self.inner.add(usage)

    def record_partial(self, text: str) -> ModelUsage:
        """See `Budget.record_partial`."""
        estimate = self.journal.estimate
        if estimate is None:
            return self.inner.record_partial(text)
        if self.journal.last_call == "replayed":
            self.inner.add(estimate)
        return estimate

    def add_time(self, seconds: float) -> None:
        """See `Budget.add_time`."""
        self.inner.add_time(seconds)

    def deadline_s(self) -> float | None:
        """See `Budget.deadline_s`; `None` for a replayed run, whose time does not count."""
        return self.inner.deadline_s() if self.journal.is_live else None


def call_key(
    model: str,
    messages: Sequence[Message],
    tools: Sequence[ToolSpec],
    tool_choice: ToolChoice,
    schema: Mapping[str, Any] | None,
) -> str:
    """Return the hash of a request to the model called `model`."""
    return digest(
        model, [encode_message(each) for each in messages], [encode_tool(each) for each in tools], tool_choice, schema
    )
