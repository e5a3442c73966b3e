"""The tool-calling loop: call the model, run the tools it requests, and end with an answer.

Gathering stops at the turn limit, when the budget is nearly spent, when the model repeats a call, and when all its
calls are refused. The model is then asked to answer from what it has, with the tool choice `none`. The tools are still
declared, so that the beginning of the prompt stays cached.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from asky.concurrency import gather, in_thread
from asky.events import Listener, ToolCalled, ToolReturned, ignore
from asky.llm.arguments import canonical, describe
from asky.llm.port import ChatModel, Message, ModelUsage, ToolCall
from asky.llm.spending import Budget
from asky.llm.tokens import TokenCounter
from asky.llm.tools import ToolRegistry, ToolResult, refusal
from asky.research.writing.notes import Notes, no_notes, note_message
from asky.research.writing.reply_writer import ReplyWriter, WrittenReply, discard
from asky.research.writing.transcript import Transcript
from asky.values import StoppedBy

ANSWER_NOW = (
    "No more tools can be called in this turn. Answer the question now from the passages shown above, with their keys; "
    "say what is missing."
)
"""The prompt sent when the loop stops gathering."""

_REFUSED = frozenset({"bad_arguments", "unknown_tool"})


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """Limits of one run of the loop.

    `max_turns` counts replies; the last one may not call tools, and is requested once more only if it is empty or
    incomplete. The `max_identical_calls`-th call with the same name and equal arguments is not run. At most
    `max_refused_turns` consecutive replies may consist of invalid calls only. Calls beyond `max_calls_per_turn` in one
    reply are refused, and at most `max_concurrent_calls` run at a time.
    """

    max_turns: int
    max_identical_calls: int = 3
    max_refused_turns: int = 2
    max_calls_per_turn: int = 16
    max_concurrent_calls: int = 4


@dataclass(frozen=True, slots=True)
class LoopResult:
    """The result of the loop.

    `reply_text` is `""` if there is no answer; a warning then gives the reason. `is_complete` is true if the model
    ended the answer itself. `stopped_by` is `length` or `cut` if that ended the answer, else `max_turns` or `budget` if
    that limit, not the model, ended the gathering. `warnings` have already been emitted as events.
    """

    messages: tuple[Message, ...]
    reply_text: str
    is_complete: bool
    usage: ModelUsage
    turns: int
    stopped_by: StoppedBy | None
    warnings: tuple[str, ...]


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
) -> LoopResult:
    """Call `model` with the tools of `registry` until it answers the last message of `transcript`.

    `on_text` receives the text of every reply as it arrives. A `TextDiscarded` event says that this text was not the
    answer: it preceded a tool call, or its reply broke off and is requested again. Tool calls of one reply run
    concurrently; their results are added in the order of the calls, and messages are stored as the model sent them.
    `transcript.sent` is shortened before a call that would not fit into the model's context as `counter` counts it, and
    once after an endpoint has refused a prompt as too long; see `asky.research.writing.compaction`. New `notes` of the
    user are added before each call.

    Raises what `ChatModel.stream` raises, `ProviderError` if a stream ends without a reply, `StorageError`, and
    exceptions of tools other than `AskyError`. After an exception or a cancellation, `transcript` holds the messages so
    far.
    """
    writer = ReplyWriter(
        model, transcript, registry.specs(), emit=listener, on_text=on_text, budget=budget, counter=counter
    )
    return await _Loop(writer, registry, settings, listener, notes).run()


@dataclass(slots=True)
class _Loop:
    writer: ReplyWriter
    registry: ToolRegistry
    settings: LoopSettings
    listener: Listener
    notes: Notes
    is_gathering: bool = field(init=False)
    calls: CallRunner = field(init=False)

    async def run(self) -> LoopResult:
        writer, transcript = self.writer, self.writer.transcript
        self.calls = CallRunner(self.registry, self.settings, self.listener)
        self.is_gathering = bool(writer.tools)
        while True:
            for note in self.notes():
                transcript.note(note_message(note))
            if not await writer.is_affordable():
                return self._result(WrittenReply("", is_complete=False, stopped_by=writer.stopped_by))
            await self._stop_gathering_at_a_limit()
            reply = await writer.ask("auto" if self.is_gathering else "none", self._stop_where_it_is_full)
            if reply is None:
                continue
            if reply.finish == "tool_calls" and self.is_gathering:
                writer.discard(reply.message.content)
                await self._run_calls(reply.message)
            elif (written := writer.accept(reply)) is not None:
                return self._result(written)

    async def _stop_gathering_at_a_limit(self) -> None:
        if not self.is_gathering:
            return
        transcript = self.writer.transcript
        if transcript.turns + 1 >= self.settings.max_turns:
            self._stop_gathering(f"stopped after {self.settings.max_turns} turns", "max_turns")
        elif await in_thread(self.writer.budget.nearly_spent, transcript.sent, self.writer.tools):
            self._stop_gathering("stopped gathering: the budget is nearly spent", "budget")

    def _stop_where_it_is_full(self) -> None:
        if self.is_gathering:  # further results would not fit
            self._stop_gathering("stopped gathering: the model's context is full")

    def _stop_gathering(self, why: str, stopped_by: StoppedBy | None = None) -> None:
        """Allow no more calls, and request the answer."""
        self.is_gathering = False
        self.writer.stopped_by = stopped_by
        self.writer.warn(why)
        self.writer.prompt(ANSWER_NOW)

    async def _run_calls(self, message: Message) -> None:
        answers, reason = await self.calls.run(message.tool_calls)
        self.writer.transcript.add(message, *answers)
        self.writer.has_retried = False
        if reason is not None:
            self._stop_gathering(reason)

    def _result(self, written: WrittenReply) -> LoopResult:
        transcript = self.writer.transcript
        return LoopResult(
            tuple(transcript.messages),
            written.text,
            written.is_complete,
            transcript.usage,
            transcript.turns,
            written.stopped_by,
            tuple(transcript.warnings),
        )


class CallRunner:
    """Runs calls with the tools of `registry`; identical and refused calls are counted over all replies."""

    def __init__(self, registry: ToolRegistry, settings: LoopSettings, listener: Listener) -> None:
        self._registry = registry
        self._settings = settings
        self._listener = listener
        self._call_counts: dict[tuple[str, str], int] = {}
        self._refused_turns = 0

    async def run(self, calls: Sequence[ToolCall]) -> tuple[list[Message], str | None]:
        """Run the calls of one reply concurrently; return their results in order, and the reason to stop, if any.

        Raises `StorageError`, and exceptions of tools other than `AskyError`.
        """
        results = await gather(list(enumerate(calls)), self._run_call, limit=self._settings.max_concurrent_calls)
        answers = []
        codes = []
        for call, result in zip(calls, results, strict=True):
            assert isinstance(result, ToolResult)  # the registry returns every other AskyError as a result
            answers.append(Message("tool", result.content, tool_call_id=call.id))
            codes.append(result.failure.code if result.failure else None)
        return answers, self._reason_to_stop(codes)

    async def _run_call(self, numbered: tuple[int, ToolCall]) -> ToolResult:
        index, call = numbered
        self._listener(ToolCalled(call.id, call.name, describe(call.arguments)))
        if index >= self._settings.max_calls_per_turn:
            most = self._settings.max_calls_per_turn
            result = refusal(call, "too_many_calls", f"at most {most} calls in one reply")
        elif self._count(call) >= self._settings.max_identical_calls:
            result = refusal(call, "repeated_call", "this call was made before; its result is above")
        else:
            result = await self._registry.call(call)
        self._listener(ToolReturned(call.id, call.name, result.summary, result.failure))
        return result

    def _count(self, call: ToolCall) -> int:
        """Count the call, and return how often it was made."""
        key = (call.name, canonical(call.arguments))
        self._call_counts[key] = self._call_counts.get(key, 0) + 1
        return self._call_counts[key]

    def _reason_to_stop(self, codes: Sequence[str | None]) -> str | None:
        """Return the reason to stop gathering after a reply whose calls had these error codes, `None` for success."""
        self._refused_turns = self._refused_turns + 1 if all(code in _REFUSED for code in codes) else 0
        if "repeated_call" in codes:
            return f"the model made the same call {self._settings.max_identical_calls} times"
        if self._refused_turns > self._settings.max_refused_turns:
            return f"the model made only bad tool calls in {self._refused_turns} replies"
        return None
