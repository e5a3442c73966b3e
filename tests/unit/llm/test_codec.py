"""Values of a run as JSON and back."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date

import pytest

from asky.errors import (
    AskyError,
    ContextOverflow,
    ProviderError,
    RateLimited,
    SourceRefused,
    SourceUnreadable,
    TimedOut,
    Unreachable,
)
from asky.llm.codec import (
    decode_error,
    decode_message,
    decode_reply,
    decode_result,
    decode_tool,
    digest,
    encode_error,
    encode_message,
    encode_reply,
    encode_result,
    encode_tool,
)
from asky.llm.port import Message, ModelUsage, Reply, ToolCall, ToolSpec
from asky.llm.tools import ToolResult
from asky.research.source_policy import SourcePolicy
from asky.research.web.access import WebAccess, decode_access, encode_access
from asky.values import Failure


def there_and_back(packed: object) -> object:
    return json.loads(json.dumps(packed))


@pytest.mark.parametrize(
    "message",
    [
        Message("user", "Hello"),
        Message("assistant", "", (ToolCall("a", "search", '{"q": 1'), ToolCall("b", "search", "{}"))),
        Message("tool", "found", tool_call_id="a"),
        Message("assistant", "x", raw={"role": "assistant", "reasoning": ["…"]}),
    ],
)
def test_messages(message: Message) -> None:
    assert decode_message(there_and_back(encode_message(message))) == message  # type: ignore[arg-type] # it is one


def test_replies_results_and_specifications() -> None:
    reply = Reply(Message("assistant", "Two."), "stop", ModelUsage(1, 2, 0.1 + 0.2, True, 3), ("cut",), 0.0)
    encoded = encode_reply(replace(reply, confidence=None))
    assert "confidence" not in encoded  # as it was recorded before it existed
    assert decode_reply({**encoded, "relevance": 0.5}).confidence == 0.5  # its name at first
    assert decode_reply(there_and_back(encode_reply(reply))) == reply  # type: ignore[arg-type] # as above
    for result in (ToolResult("a", "b"), ToolResult("a", "b", Failure("s", "c", "m", "h", True))):
        assert decode_result(there_and_back(encode_result(result))) == result  # type: ignore[arg-type] # as above
    spec = ToolSpec("t", "d", {"type": "object", "properties": {}}, "only then")
    assert decode_tool(there_and_back(encode_tool(spec))) == spec  # type: ignore[arg-type] # as above


@pytest.mark.parametrize(
    "error",
    [
        RateLimited("slow down", hint="wait"),
        Unreachable("gone", retryable=False),
        TimedOut("late"),
        ProviderError("odd", reason="refused", retryable=True),
        ContextOverflow("long", limit_tokens=4096),
        SourceRefused("no", hint="why"),
        SourceUnreadable("bad", verdict="damaged"),
        AskyError("any"),
    ],
)
def test_errors_are_what_those_who_handle_them_look_at(error: AskyError) -> None:
    again = decode_error(there_and_back(encode_error(error)))  # type: ignore[arg-type] # as above
    assert type(again) is type(error)
    for name in ("code", "message", "hint", "retryable", "exit_code", "reason", "limit_tokens"):
        assert getattr(again, name, None) == getattr(error, name, None)


@pytest.mark.parametrize(
    "access",
    [
        None,
        WebAccess(3),
        WebAccess(3, ("https://a.example/",), shortlist=False),
        WebAccess(3, policy=SourcePolicy(("a.example",), ("b.example",), date(2024, 5, 1), "year", ("paper",))),
        WebAccess(3, policy=SourcePolicy(), file_names=("tides.md",)),
    ],
)
def test_what_a_question_may_do_on_the_web(access: WebAccess | None) -> None:
    assert decode_access(there_and_back(encode_access(access))) == access  # type: ignore[arg-type] # as above


def test_a_digest_is_the_same_for_the_same_values_only() -> None:
    assert digest({"a": 1, "b": [2]}) == digest({"b": [2], "a": 1})
    assert digest("a", "b") != digest("ab")
    assert digest("\ud800") != digest("?")
