"""The seams of a run to what is outside, each with its record in between: the model, the tools, the budget."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import anyio

from asky.chat.arguments import canonical
from asky.chat.packing import (
    digest,
    pack_error,
    pack_message,
    pack_reply,
    pack_result,
    pack_spec,
    unpack_error,
    unpack_reply,
    unpack_result,
)
from asky.chat.recording import SET_ASIDE
from asky.concurrency import in_thread
from asky.errors import AskyError, BudgetExceeded, StorageError
from asky.llm.port import ModelUsage, Reply, TextDelta
from asky.llm.spending import note_spending, spending_of
from asky.llm.tools import Tool, ToolResult

if TYPE_CHECKING:
    from asky.chat.recording import Record
    from asky.llm.port import ChatModel, Message, ToolChoice, ToolSpec
    from asky.llm.spending import Budget

PLAYED = ModelUsage()
"""What a summary that is played has used: nothing more than was counted when it was made."""


class RecordedModel:
    """The calls of a run's loop: those on record are played, the others made of `inner` and recorded.

    `context_tokens` are those that the run began with, so that its prompts are shortened where they were.
    """

    def __init__(self, inner: ChatModel, record: Record, budget: Budget, context_tokens: int) -> None:
        self.name = inner.name
        self.host = inner.host
        self.context_tokens = context_tokens
        self._inner = inner
        self._record = record
        self._budget = budget

    async def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        tool_choice: ToolChoice = "auto",
        schema: Mapping[str, Any] | None = None,
    ) -> AsyncGenerator[TextDelta | Reply, None]:
        """See `ChatModel.stream`. Raises `Missing` besides."""
        record, key = self._record, _key(self.name, messages, tools, tool_choice, schema)
        try:
            step = await record.take_call(key)
        except anyio.get_cancelled_exc_class() as error:
            note_spending(error, ModelUsage())  # a run that is played again ended before this call
            raise
        record.counts, record.estimate = "again" if step is not None else "anew", None
        if step is not None:
            text = step["reply"]["message"]["content"] if "reply" in step else step["text"]
            if text:
                yield TextDelta(text)
            if "reply" in step:
                yield unpack_reply(step["reply"])
            else:
                await self._fail_again(step)
            return
        written: list[str] = []
        made = self._inner.stream(messages, tools, tool_choice=tool_choice, schema=schema)
        try:
            async with aclosing(made) as stream:
                async for item in stream:
                    if isinstance(item, TextDelta):
                        written.append(item.text)
                    else:
                        data = {"reply": pack_reply(item), "usage": asdict(item.usage)}
                        await record.add("called", key, data, used=item.usage)
                    yield item
        except (AskyError, anyio.get_cancelled_exc_class()) as error:
            with anyio.CancelScope(shield=True):
                await self._note_failed(key, "".join(written), error)
            raise

    async def _note_failed(self, key: str, text: str, error: BaseException) -> None:
        """Record a call that came to no reply, and what it used: an estimate where nobody has said it."""
        record, used = self._record, spending_of(error)
        is_estimated = used is None and bool(text or not isinstance(error, AskyError))
        if is_estimated:
            used = record.estimate = await in_thread(self._budget.record_partial, text)
            record.counts = "already"
        end = {"error": pack_error(error)} if isinstance(error, AskyError) else {"cut": True}
        usage = asdict(used) if used is not None else None
        is_counted = used is not None and (is_estimated or used.prompt_tokens + used.completion_tokens > 0)
        data = {"text": text, "usage": usage, "is_estimated": is_estimated, **end}
        await record.add("called", key, data, used=used if is_counted else None)

    async def _fail_again(self, step: Mapping[str, Any]) -> None:
        """Fail as the call did."""
        used = ModelUsage(**step["usage"]) if step["usage"] is not None else None
        if step["is_estimated"]:
            self._record.estimate = used
        if "error" in step:
            error = unpack_error(step["error"])
            if used is not None and not step["is_estimated"]:
                note_spending(error, used)
            raise error
        try:
            await self._record.stop(self._record.stops_by or "time")
        except anyio.get_cancelled_exc_class() as error:
            if not step["is_estimated"]:
                note_spending(error, used or ModelUsage())
            raise


class RecordedSummaries:
    """The calls of `inner` that summarise pages, beside the loop. One that is on record uses nothing more: `PLAYED`."""

    def __init__(self, inner: ChatModel, record: Record) -> None:
        self.name = inner.name
        self.host = inner.host
        self.context_tokens = inner.context_tokens
        self._inner = inner
        self._record = record

    async def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        tool_choice: ToolChoice = "auto",
        schema: Mapping[str, Any] | None = None,
    ) -> AsyncGenerator[TextDelta | Reply, None]:
        """See `ChatModel.stream`."""
        key = _key(self.name, messages, tools, tool_choice, schema)
        step = await self._record.take("summarised", key)
        if step is not None:
            yield replace(unpack_reply(step["reply"]), usage=PLAYED)
            return
        made = self._inner.stream(messages, tools, tool_choice=tool_choice, schema=schema)
        try:
            async with aclosing(made) as stream:
                async for item in stream:
                    if isinstance(item, Reply):
                        data = {"reply": pack_reply(item), "usage": asdict(item.usage)}
                        await self._record.add("summarised", key, data, used=item.usage)
                    yield item
        except AskyError as error:
            if (used := spending_of(error)) is not None:
                await self._record.add(SET_ASIDE, "", {"usage": asdict(used)}, used=used)
            raise


def recorded_tool(tool: Tool, record: Record) -> Tool:
    """`tool`, whose calls on record are not made again."""

    async def run(arguments: Mapping[str, Any]) -> ToolResult:
        key = record.number(tool.spec.name, canonical(json.dumps(dict(arguments))))
        step = await record.take("ran", key)
        if step is not None:
            if "error" in step:
                raise unpack_error(step["error"])
            return unpack_result(step["result"])
        try:
            result = await tool.run(arguments)
        except StorageError:
            raise  # it ends the run
        except AskyError as error:
            await record.add("ran", key, {"error": pack_error(error)})
            raise
        await record.add("ran", key, {"result": pack_result(result)})
        return result

    return Tool(tool.spec, run)


@dataclass(slots=True)
class RecordedBudget:
    """The budget of a run's loop. What it decided where calls were made is not decided anew where they are played."""

    inner: Budget
    played: Record
    _decisions: int = 0

    def check(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> None:
        """See `Budget.check`."""
        name = self._name()
        if self.played.is_playing:
            if (found := self.played.met(name)) is not None:
                raise BudgetExceeded(found["message"], hint=found["hint"])
            return
        try:
            self.inner.check(messages, tools)
        except BudgetExceeded as error:
            self.played.meet(name, {"message": error.message, "hint": error.hint})
            raise
        self.played.meet(name, None)

    def nearly_spent(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> bool:
        """See `Budget.nearly_spent`."""
        name = self._name()
        if self.played.is_playing:
            return bool(self.played.met(name))
        is_near = self.inner.nearly_spent(messages, tools)
        self.played.meet(name, is_near or None)
        return is_near

    def _name(self) -> str:
        self._decisions += 1
        return f"limit {self._decisions}"

    def record(self, usage: ModelUsage) -> None:
        """See `Budget.record`."""
        if self.played.counts == "anew":
            self.inner.record(usage)
        elif self.played.counts == "again":
            self.inner.add(usage)

    def add(self, usage: ModelUsage) -> None:
        """See `Budget.add`."""
        self.inner.add(usage)

    def record_partial(self, text: str) -> ModelUsage:
        """See `Budget.record_partial`."""
        estimate = self.played.estimate
        if estimate is None:
            return self.inner.record_partial(text)
        if self.played.counts == "again":
            self.inner.add(estimate)
        return estimate

    def add_time(self, seconds: float) -> None:
        """See `Budget.add_time`."""
        self.inner.add_time(seconds)

    def deadline_s(self) -> float | None:
        """See `Budget.deadline_s`; where nothing is asked of anybody, time does not count."""
        return self.inner.deadline_s() if self.played.is_live else None


def _key(
    model: str,
    messages: Sequence[Message],
    tools: Sequence[ToolSpec],
    tool_choice: ToolChoice,
    schema: Mapping[str, Any] | None,
) -> str:
    return digest(
        model, [pack_message(each) for each in messages], [pack_spec(each) for each in tools], tool_choice, schema
    )
