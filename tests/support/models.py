"""A chat model that plays a script."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.lowlevel

from asky.errors import AskyError
from asky.llm.port import Finish, Message, ModelUsage, Reply, TextDelta, ToolCall, ToolChoice, ToolSpec


@dataclass(frozen=True, slots=True)
class Turn:
    """One scripted reply. `hangs` stops after the text until the caller is cancelled."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    finish: Finish | None = None
    usage: ModelUsage = field(default_factory=lambda: ModelUsage(100, 10, 0.01))
    raw: Mapping[str, Any] | None = None
    hangs: bool = False


def tool_call(name: str, arguments: object = None, *, call_id: str = "c1") -> ToolCall:
    """A call; `arguments` that are a string are sent as they are."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments if arguments is not None else {})
    return ToolCall(call_id, name, text)


def calls(*tool_calls: ToolCall, text: str = "", raw: Mapping[str, Any] | None = None) -> Turn:
    """A reply that calls tools."""
    return Turn(text, tool_calls, raw=raw)


class ScriptedModel:
    """Plays `script` one entry a call: a string is a text reply, an error is raised. The last entry repeats for ever.

    `sent` records the messages and tools of each call, `choices` and `schemas` the rest.
    """

    name = "scripted"
    host = "model.test"
    context_tokens = 100_000

    def __init__(self, *script: str | Turn | AskyError) -> None:
        self._script = script
        self.sent: list[tuple[tuple[Message, ...], tuple[ToolSpec, ...]]] = []
        self.choices: list[ToolChoice] = []
        self.schemas: list[Mapping[str, Any] | None] = []
        self.closed_early = 0

    async def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        tool_choice: ToolChoice = "auto",
        schema: Mapping[str, Any] | None = None,
    ) -> AsyncGenerator[TextDelta | Reply, None]:
        entry = self._script[min(len(self.sent), len(self._script) - 1)]
        self.sent.append((tuple(messages), tuple(tools)))
        self.choices.append(tool_choice)
        self.schemas.append(schema)
        if isinstance(entry, AskyError):
            raise entry
        turn = Turn(entry) if isinstance(entry, str) else entry
        finished = False
        try:
            for start in range(0, len(turn.text), 7):
                yield TextDelta(turn.text[start : start + 7])
                await anyio.lowlevel.checkpoint()
            if turn.hangs:
                await anyio.sleep_forever()
            finished = True
            yield Reply(
                Message("assistant", turn.text, turn.calls, raw=turn.raw),
                turn.finish or ("tool_calls" if turn.calls else "stop"),
                turn.usage,
            )
        finally:
            self.closed_early += not finished
