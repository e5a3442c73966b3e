"""Assembles a reply from the chunks of a stream, or from one whole body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from asky.llm.endpoint.merging import finalize, merge
from asky.llm.endpoint.tool_fragments import ToolFragments
from asky.llm.port import Finish, ToolCall

_LENGTH = frozenset(
    {"length", "max_tokens", "max_output_tokens", "max_completion_tokens", "model_length", "token_limit"}
)
_GOOD = frozenset(
    {"stop", "tool_calls", "tool_call", "function_call", "tool_use", "eos", "eos_token", "end", "end_turn"}
    | {"end_of_turn", "stop_sequence", "stop_token", "stop_string", "complete", "completed", "finished", "done"}
)
"""Finish reasons of the dialects for a reply that ended normally; any unknown word counts as a failure."""
_FILTER = frozenset({"content_filter", "safety", "recitation", "blocklist", "prohibited_content", "spii", "sensitive"})


@dataclass(frozen=True, slots=True)
class AccumulatedReply:
    """The result of a stream.

    `raw` is the assistant message as the endpoint sent it, merged; `calls` its tool calls in normal form; `usage` as
    reported by the endpoint, unchecked. `refused` is set if the model declined, `filtered` if a filter stopped it.
    """

    raw: Mapping[str, Any]
    calls: tuple[ToolCall, ...]
    finish: Finish
    usage: Mapping[str, Any] | None
    refused: bool = False
    filtered: bool = False


class Accumulator:
    """Takes parsed chunks (`add`) or one parsed body (`add_complete`); only the first choice counts.

    `is_full` is set once texts and arguments together are longer than `max_chars`; `pieces` counts the chunks with
    generated output, text or not; `reason` is the last finish reason; `generated` are the pieces of text and thinking,
    for an estimate of their tokens.
    """

    def __init__(self, *, max_chars: int = 1 << 20) -> None:
        self.is_full = False
        self.pieces = 0
        self.reason = ""
        self._max_chars = max_chars
        self._chars = 0
        self._message: dict[str, Any] = {"role": "assistant"}
        self._fragments = ToolFragments()
        self.generated: list[str] = []
        self._usage: Mapping[str, Any] | None = None
        self._done = False

    def add(self, chunk: Mapping[str, Any]) -> str:
        """Return the text that the chunk adds to the answer, often `""`."""
        choice = first_choice(chunk)
        self._take_usage(chunk.get("usage"))
        if choice is None:
            return ""
        self._take_usage(choice.get("usage"))
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self.reason = reason.strip().lower()
        delta = choice.get("delta")
        if not isinstance(delta, Mapping):
            delta = choice.get("message")
        return self._add_delta(delta) if isinstance(delta, Mapping) else ""

    def add_complete(self, body: Mapping[str, Any]) -> str:
        """Return the text of a non-streaming body; nothing more will come."""
        self._done = True
        return self.add(body)

    def end(self) -> None:
        """Handle `[DONE]`."""
        self._done = True

    @property
    def is_started(self) -> bool:
        """Return whether the model has generated anything."""
        return self.pieces > 0

    @property
    def has_calls(self) -> bool:
        """Return whether a tool call has started."""
        return bool(self._fragments)

    @property
    def is_complete(self) -> bool:
        """Return whether the endpoint has ended the reply."""
        return self._done or bool(self.reason)

    def result(self) -> AccumulatedReply:
        """Return the result so far."""
        raw = finalize(self._message)
        raw.setdefault("content", None)
        if self._fragments:
            raw["tool_calls"] = self._fragments.raw()
        calls = self._fragments.calls()
        filtered = self.reason in _FILTER
        return AccumulatedReply(raw, calls, self._finish(bool(calls)), self._usage, bool(raw.get("refusal")), filtered)

    def _finish(self, has_calls: bool) -> Finish:
        """Return the finish reason. Calls decide, not the endpoint's word: some say `stop` when they call."""
        if self.is_full or self.reason in _LENGTH:
            return "length"
        if not self.is_complete or (self.reason and self.reason not in _GOOD):
            return "cut"
        return "tool_calls" if has_calls else "stop"

    def _take_usage(self, usage: Any) -> None:
        if isinstance(usage, Mapping) and usage:
            self._usage = usage

    def _add_delta(self, delta: Mapping[str, Any]) -> str:
        fragments = delta.get("tool_calls")
        merge(self._message, {key: value for key, value in delta.items() if key not in ("role", "tool_calls")})
        if isinstance(fragments, list):
            self._count(self._fragments.add(fragments))
        text = _visible_text(delta)
        self.generated += [text, _thinking_text(delta)]
        self._count(sum(len(value) for value in delta.values() if isinstance(value, str)) or len(text))
        self.pieces += _is_generated(delta)
        return text

    def _count(self, chars: int) -> None:
        self._chars += chars
        self.is_full = self._chars > self._max_chars


def first_choice(chunk: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the choice with index 0, or without an index; `None` if there is none."""
    choices = chunk.get("choices")
    if not isinstance(choices, list):
        return None
    return next((each for each in choices if isinstance(each, Mapping) and each.get("index") in (0, None)), None)


def _visible_text(delta: Mapping[str, Any]) -> str:
    content = delta.get("content")
    refusal = delta.get("refusal")
    return text_of(content) + (refusal if isinstance(refusal, str) else "")


def _thinking_text(delta: Mapping[str, Any]) -> str:
    """Return the thinking text; if sent under two names it is the same twice."""
    found = (delta.get(key) for key in ("reasoning_content", "reasoning"))
    return next((text for text in found if isinstance(text, str) and text), "")


def text_of(content: Any) -> str:
    """Return the text of a content that is a string or a list of parts; non-text parts have none."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "".join(part if isinstance(part, str) else _text_of_part(part) for part in content)


def _text_of_part(part: Any) -> str:
    if not isinstance(part, Mapping) or part.get("type", "text") not in ("text", "output_text"):
        return ""
    text = part.get("text")
    return text if isinstance(text, str) else ""


def _is_generated(delta: Mapping[str, Any]) -> bool:
    return any(value for key, value in delta.items() if key != "role")
