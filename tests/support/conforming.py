"""Replies that every client must read alike, in each dialect, and the official client's reading of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.support.endpoint import (
    DIALECTS,
    GEMINI,
    LLAMACPP,
    OLLAMA,
    OPENAI,
    OPENROUTER,
    VLLM,
    Answer,
    Call,
    Dialect,
    Sse,
    Usage,
    Wire,
)

if TYPE_CHECKING:
    from openai import OpenAI

    from tests.support.endpoint_script import CallStyle

QUESTION = [{"role": "system", "content": "Answer briefly."}, {"role": "user", "content": "When did the mill burn?"}]
SEARCH_FUNCTION: dict[str, Any] = {
    "name": "search",
    "description": "Passages about a query.",
    "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
}
SEARCH: dict[str, Any] = {"type": "function", "function": SEARCH_FUNCTION}
_TEXT = "The mill burned in 1887 — naïve, 日本語, 🏭 — [P7f3a]."
_USAGE = Usage(321, 45, cached=128)
_ONE = (Call("search", {"query": "the mill’s fire — 1887"}, "call_a"),)
_TWO = (*_ONE, Call("search", {"query": "water wheel", "n": 3}, "call_b"))


@dataclass(frozen=True, slots=True)
class Script:
    """One reply in one dialect."""

    dialect: Dialect
    answer: Answer

    @property
    def calls(self) -> list[tuple[str, str, str]]:
        """Id, name and arguments of the calls, as they should be read."""
        return [(call.id or "", call.name, call.arguments_text) for call in self.answer.calls]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a client made of a stream."""

    text: str
    calls: list[tuple[str, str, str]]
    finish: str | None
    usage: tuple[int, int, int] | None


def conforming() -> dict[str, Script]:
    """The scripts by name."""
    scripts: dict[str, Script] = {}
    for name, dialect in DIALECTS.items():
        # One reply in the delta style of the dialect, where the official client can read that; Gemini's has no index.
        style: CallStyle | None = "whole" if dialect is GEMINI else None
        scripts[f"{name}: text"] = Script(dialect, Answer(_TEXT, usage=_USAGE))
        scripts[f"{name}: one call"] = Script(dialect, Answer(calls=_ONE, usage=_USAGE, call_style=style))
        scripts[f"{name}: text and two calls"] = Script(
            dialect, Answer("Let me look.", calls=_TWO, usage=_USAGE, call_style=style)
        )
        scripts[f"{name}: thoughts"] = Script(dialect, Answer(_TEXT, reasoning="Let me see. It burned.", usage=_USAGE))
        scripts[f"{name}: in one JSON body"] = Script(dialect, Answer(_TEXT, calls=_TWO, usage=_USAGE, stream=False))
    scripts |= {
        "interleaved calls": Script(VLLM, Answer(calls=_TWO, usage=_USAGE, call_style="interleaved")),
        "deltas of one character": Script(OPENAI, Answer(_TEXT, calls=_ONE, usage=_USAGE, delta_chars=1)),
        "bytes one by one": Script(OPENAI, Answer(_TEXT, calls=_ONE, usage=_USAGE, wire=Wire(write_bytes=1))),
        "CRLF": Script(LLAMACPP, Answer(_TEXT, usage=_USAGE, sse=Sse(newline="\r\n"))),
        "CR": Script(LLAMACPP, Answer(_TEXT, usage=_USAGE, sse=Sse(newline="\r"))),
        "no space after the colon": Script(OPENAI, Answer(_TEXT, calls=_TWO, usage=_USAGE, sse=Sse(space=False))),
        "comments": Script(OPENROUTER, Answer(_TEXT, usage=_USAGE, sse=Sse(comments=("ping", "", "ping")))),
        "no [DONE]": Script(OPENAI, Answer(_TEXT, calls=_TWO, usage=_USAGE, sse=Sse(done=False))),
        "usage in the last chunk": Script(OLLAMA, Answer(_TEXT, usage=_USAGE, usage_place="last_chunk")),
    }
    return scripts


def ask_official_client(client: OpenAI, *, tools: Sequence[Any] = (SEARCH,)) -> Reading:
    """What the official client reads from a stream, by its own accumulation."""
    text: list[str] = []
    more: dict[str, Any] = {"tools": list(tools)} if tools else {}
    with client.chat.completions.stream(
        model="test-model",
        messages=QUESTION,  # type: ignore[arg-type]  # plain dictionaries, as they go out
        stream_options={"include_usage": True},
        **more,
    ) as stream:
        for event in stream:
            if event.type == "content.delta":
                text.append(event.delta)
        final = stream.get_final_completion()
    choice = final.choices[0]
    assert "".join(text) == (choice.message.content or "")
    calls = [(call.id, call.function.name, call.function.arguments) for call in choice.message.tool_calls or ()]
    usage = final.usage
    cached = usage.prompt_tokens_details.cached_tokens if usage and usage.prompt_tokens_details else 0
    tokens = (usage.prompt_tokens, usage.completion_tokens, cached or 0) if usage else None
    return Reading("".join(text), calls, choice.finish_reason, tokens)
