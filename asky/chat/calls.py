"""Runs the tool calls of a model's replies, and sees where calling has come to lead nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from asky.chat.arguments import canonical, describe
from asky.chat.registry import ToolRegistry, refusal
from asky.concurrency import gather
from asky.errors import StorageError
from asky.events import Listener, ToolCalled, ToolReturned
from asky.llm.port import Message, ToolCall
from asky.llm.tools import ToolResult

if TYPE_CHECKING:
    from asky.chat.loop import LoopSettings

_REFUSED = frozenset({"bad_arguments", "unknown_tool"})


class CallRunner:
    """Runs calls with the tools of `registry`, within the limits of `settings`, which count over all replies."""

    def __init__(self, registry: ToolRegistry, settings: LoopSettings, listener: Listener) -> None:
        self._registry = registry
        self._settings = settings
        self._listener = listener
        self._times_made: dict[tuple[str, str], int] = {}
        self._refused_turns = 0
        self._broken: StorageError | None = None

    async def run(self, calls: Sequence[ToolCall]) -> tuple[list[Message], str | None]:
        """The results of the calls of one reply, in their order, and why no more should be made, if so.

        They run together. Raises what a tool raises apart from an `AskyError`, and `StorageError`.
        """
        results = await gather(list(enumerate(calls)), self._run_call, limit=self._settings.max_concurrent_calls)
        if self._broken is not None:
            raise self._broken
        answers = []
        codes = []
        for call, result in zip(calls, results, strict=True):
            assert isinstance(result, ToolResult)  # the registry lets no other AskyError through
            answers.append(Message("tool", result.content, tool_call_id=call.id))
            codes.append(result.failure.code if result.failure else None)
        return answers, self._futility(codes)

    async def _run_call(self, numbered: tuple[int, ToolCall]) -> ToolResult:
        index, call = numbered
        self._listener(ToolCalled(call.id, call.name, describe(call.arguments)))
        if index >= self._settings.max_calls_per_turn:
            most = self._settings.max_calls_per_turn
            result = refusal(call, "too_many_calls", f"at most {most} calls in one reply")
        elif self._count(call) >= self._settings.max_identical_calls:
            result = refusal(call, "repeated_call", "this call was made before; its result is above")
        else:
            try:
                result = await self._registry.call(call)
            except StorageError as error:
                self._broken = error
                raise
        self._listener(ToolReturned(call.id, call.name, result.summary, result.failure))
        return result

    def _count(self, call: ToolCall) -> int:
        """How often the call was made, this time included."""
        key = (call.name, canonical(call.arguments))
        self._times_made[key] = self._times_made.get(key, 0) + 1
        return self._times_made[key]

    def _futility(self, codes: Sequence[str | None]) -> str | None:
        """Why no more calls should be made, after a reply whose calls failed with these codes (`None`: did not)."""
        self._refused_turns = self._refused_turns + 1 if all(code in _REFUSED for code in codes) else 0
        if "repeated_call" in codes:
            return f"the model made the same call {self._settings.max_identical_calls} times"
        if self._refused_turns > self._settings.max_refused_turns:
            return f"the model made only bad tool calls in {self._refused_turns} replies"
        return None
