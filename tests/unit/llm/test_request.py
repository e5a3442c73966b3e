"""Requests are small and valid, and a part that was refused is left out or replaced, never twice."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.llm.endpoint.endpoint import Endpoint, TransientMemory
from asky.llm.endpoint.refusal import parse_refusal
from asky.llm.endpoint.request import Adaptation, ModelRequest, adapt, build_request, dropped_parameters
from asky.llm.port import Message, ToolCall, ToolSpec

TOOL = ToolSpec("search", "Search.", {"type": "object", "properties": {}}, "A guideline for the prompt.")
HELLO = (Message("user", "Hello"),)
OPEN_SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
CLOSED_SCHEMA = OPEN_SCHEMA | {"required": ["a"], "additionalProperties": False}


def endpoint(**fields: Any) -> Endpoint:
    return Endpoint("gpt", "acme", "http://acme.test/v1", "acme-1", None, 8000, **fields)


def build(messages: Any = HELLO, tools: Any = (), facts: Any = None, fields: Any = None, **ask: Any) -> dict[str, Any]:
    return build_request(endpoint(**(fields or {})), ModelRequest(messages, tools, **ask), facts or {})


def refuse(
    message: str, request: dict[str, Any], facts: Any = None, param: Any = None, **fields: Any
) -> Adaptation | None:
    refusal = parse_refusal(json.dumps({"error": {"message": message, "param": param}}))
    return adapt(endpoint(**fields), request, refusal, facts or {})


def test_a_request_holds_no_more_than_it_needs() -> None:
    assert build() == {
        "model": "acme-1",
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [{"role": "user", "content": "Hello"}],
    }


def test_tools_the_limit_and_parameters_are_sent_where_there_are_any() -> None:
    fields = {"max_output_tokens": 500, "parameters": {"temperature": 0.2}}
    request = build(tools=(TOOL,), tool_choice="none", fields=fields)
    assert request["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "search",
                "description": "Search.",
                "parameters": {"type": "object", "properties": {}},
            },
        }
    ]
    assert (request["tool_choice"], request["max_tokens"], request["temperature"]) == ("none", 500, 0.2)
    assert "tool_choice" not in build(tools=(TOOL,))
    assert "tool_choice" not in build(tool_choice="none")
    without = build(tools=(TOOL,), tool_choice="none", fields={"tools": False})
    assert not {"tools", "tool_choice"} & set(without)


def test_the_beginning_of_a_request_stays_the_same_from_turn_to_turn() -> None:
    first = json.dumps(build(tools=(TOOL,)))
    second = json.dumps(
        build((*HELLO, Message("assistant", "Hi"), Message("user", "And?")), (TOOL,), tool_choice="none")
    )
    assert second.startswith(first.removesuffix("]}"))


def test_what_an_endpoint_sent_goes_back_to_it_unchanged() -> None:
    raw = {
        "role": "assistant",
        "content": None,
        "reasoning_content": "Hm.",
        "tool_calls": [
            {
                "id": "a",
                "type": "function",
                "function": {"name": "search", "arguments": '{"q":1}', "odd": 1},
                "extra_content": {"google": {"thought_signature": "s"}},
            }
        ],
    }
    before = json.dumps(raw)
    message = Message("assistant", "", (ToolCall("a", "search", '{"q":1}'),), raw=raw)
    assert build((*HELLO, message))["messages"][1] == raw
    assert json.dumps(raw) == before


@pytest.mark.parametrize(
    ("received", "meant", "sent"),
    [
        ({"q": 1}, '{"q": 1}', '{"q": 1}'),
        ('"{}"', "{}", "{}"),
        ("", "{}", "{}"),
        (None, "{}", "{}"),
        ('{"q', '{"q', "{}"),
        ("[1]", "[1]", "{}"),
        ('{"q" : 1 }', '{"q" : 1 }', '{"q" : 1 }'),
    ],
)
def test_what_no_endpoint_takes_back_is_made_valid(received: Any, meant: str, sent: str) -> None:
    raw_calls = [{"id": "a", "function": {"name": "search", "arguments": received}}] * 2
    calls = (ToolCall("a", "search", meant), ToolCall("call_2", "search", meant))
    message = Message("assistant", "", calls, raw={"role": "assistant", "content": "", "tool_calls": raw_calls})
    back = build((*HELLO, message))["messages"][1]
    assert back["content"] is None
    assert [call["id"] for call in back["tool_calls"]] == ["a", "call_2"]
    assert [call["function"]["arguments"] for call in back["tool_calls"]] == [sent, sent]
    assert all(call["type"] == "function" for call in back["tool_calls"])


def test_content_is_never_null_without_calls() -> None:
    for raw in (None, {"role": "assistant", "content": None}, {"role": "assistant"}):
        assert build((*HELLO, Message("assistant", "", raw=raw)))["messages"][1] == {"role": "assistant", "content": ""}


def test_a_message_of_another_model_is_sent_plain_where_its_keys_are_refused() -> None:
    message = Message("assistant", "Hi", raw={"role": "assistant", "content": "Hi", "reasoning": "Hm"})
    request = build((*HELLO, message))
    for text, param in (("Unknown parameter", "messages[1].reasoning"), ("property 'reasoning' is unsupported", None)):
        adaptation = refuse(text, request, param=param)
        assert adaptation is not None
        assert adaptation.facts == {"plain_messages": True}
        assert "reasoning" not in build((*HELLO, message), facts=adaptation.facts)["messages"][1]


def test_the_name_of_the_limit_is_swapped_and_then_the_limit_is_left_out() -> None:
    fields = {"max_output_tokens": 500}
    first = refuse("'max_tokens' is not supported", build(fields=fields), **fields)
    assert first == Adaptation({"max_tokens_name": "max_completion_tokens"})
    request = build(fields=fields, facts=first.facts)
    assert request["max_completion_tokens"] == 500
    assert "max_tokens" not in request
    second = refuse("Unknown name 'max_completion_tokens'", request, first.facts, **fields)
    assert second is not None
    assert second.warning is not None
    assert not {"max_tokens", "max_completion_tokens"} & set(
        build(fields=fields, facts={**first.facts, **second.facts})
    )


def test_a_limit_that_is_too_large_is_for_the_user_to_correct() -> None:
    fields = {"max_output_tokens": 99_000}
    assert (
        refuse("max_tokens is too large: 99000. At most 4096", build(fields=fields), param="max_tokens", **fields)
        is None
    )


def test_what_the_user_set_is_left_out_with_a_warning_and_what_asky_set_without() -> None:
    fields = {"parameters": {"temperature": 0.2}}
    request = build(tools=(TOOL,), tool_choice="none", fields=fields)
    dropped = refuse("temperature is not supported", request, **fields)
    assert dropped is not None
    assert "temperature" in (dropped.warning or "")
    assert "temperature" not in build(fields=fields, facts=dropped.facts)
    assert dropped_parameters(endpoint(**fields), dropped.facts) == [dropped.warning]
    for name in ("stream_options", "tool_choice", "stream"):
        quiet = refuse(f"Unrecognized request argument supplied: {name}", request, **fields)
        assert quiet == Adaptation({f"refuses.{name}": True})
        assert name not in build(tools=(TOOL,), tool_choice="none", facts=quiet.facts)
    assert "stream_options" not in build(facts={"refuses.stream": True})


def test_a_schema_goes_down_the_ladder() -> None:
    facts: dict[str, Any] = {}
    seen = []
    for _ in range(3):
        request = build(schema=OPEN_SCHEMA, facts=facts)
        seen.append((request.get("response_format", {}).get("type"), "Schema" in request["messages"][-1]["content"]))
        adaptation = refuse("'response_format' is not supported", request, facts)
        facts |= adaptation.facts if adaptation else {}
    assert seen == [("json_schema", False), ("json_object", True), (None, True)]
    assert refuse("'response_format' is not supported", build(schema=OPEN_SCHEMA, facts=facts), facts) is None
    assert refuse("structured outputs are not possible", build(schema=OPEN_SCHEMA)) is not None


def test_a_schema_is_strict_where_it_can_be() -> None:
    assert "strict" not in build(schema=OPEN_SCHEMA)["response_format"]["json_schema"]
    assert build(schema=CLOSED_SCHEMA)["response_format"]["json_schema"]["strict"] is True
    nested = {"type": "array", "items": OPEN_SCHEMA}
    assert "strict" not in build(schema=nested)["response_format"]["json_schema"]


def test_the_wish_for_a_schema_follows_the_last_message_of_the_user_or_is_one() -> None:
    facts = {"response_format": "prompt"}
    asked = build(schema=OPEN_SCHEMA, facts=facts)["messages"]
    assert asked[0]["content"].startswith("Hello\n\n")
    tool_result = (
        *HELLO,
        Message("assistant", "", (ToolCall("a", "f", "{}"),)),
        Message("tool", "x", tool_call_id="a"),
    )
    assert build(tool_result, schema=OPEN_SCHEMA, facts=facts)["messages"][-1]["role"] == "user"
    assert HELLO[0].content == "Hello"


def test_reasoning_is_turned_off_where_tools_are_refused_with_it() -> None:
    said = "Function tools with reasoning_effort are not supported for acme-1. Please use /v1/responses instead."
    request = build(tools=(TOOL,))
    assert refuse(said, request, param="reasoning_effort") == Adaptation({"reasoning_effort": "none"})
    fields = {"parameters": {"reasoning_effort": "high"}}
    adaptation = refuse(said, build(tools=(TOOL,), fields=fields), **fields)
    assert adaptation is not None
    assert adaptation.warning is not None
    assert build(tools=(TOOL,), facts=adaptation.facts, fields=fields)["reasoning_effort"] == "none"
    assert build(facts=adaptation.facts, fields=fields)["reasoning_effort"] == "high"


def test_calls_of_another_model_are_signed_where_signatures_are_wanted() -> None:
    message = Message("assistant", "", (ToolCall("a", "f", "{}"),))
    result = Message("tool", "x", tool_call_id="a")
    adaptation = refuse("Function call `f` is missing a `thought_signature`", build((*HELLO, message, result)))
    assert adaptation is not None
    call = build((*HELLO, message, result), facts=adaptation.facts)["messages"][1]["tool_calls"][0]
    assert call["extra_content"]["google"]["thought_signature"]


NAMES = st.sampled_from(
    ["max_tokens", "max_completion_tokens", "temperature", "stream_options", "tool_choice", "stream"]
)


@given(
    st.lists(
        NAMES | st.sampled_from(["response_format", "messages", "model", "tools", "reasoning_effort"]), max_size=30
    )
)
def test_each_adaptation_changes_the_request(refused: list[str]) -> None:
    fields = {"max_output_tokens": 5, "parameters": {"temperature": 1, "reasoning_effort": "low"}}
    facts: dict[str, Any] = {}
    ask: dict[str, Any] = {"tools": (TOOL,), "tool_choice": "none", "schema": OPEN_SCHEMA, "fields": fields}
    for name in refused:
        before = build(facts=facts, **ask)
        adaptation = refuse(f"Unsupported parameter: '{name}'", before, facts, **fields)
        if name not in before or name in ("messages", "model", "tools"):
            assert adaptation is None
        else:
            assert adaptation is not None
            facts |= adaptation.facts
            assert build(facts=facts, **ask) != before
    assert json.loads(json.dumps(facts)) == facts


def test_what_was_learned_of_one_endpoint_is_not_believed_of_another() -> None:
    memory = TransientMemory()
    memory.remember("http://a/v1", "m", {"x": 1})
    memory.remember("http://a/v1", "m", {"y": 2})
    assert memory.recall("http://a/v1", "m") == {"x": 1, "y": 2}
    assert memory.recall("http://b/v1", "m") == memory.recall("http://a/v1", "n") == {}
