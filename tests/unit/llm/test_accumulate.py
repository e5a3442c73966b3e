"""Replies are put together from chunks of every kind, and what the endpoint sent is kept."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.llm.endpoint.accumulate import AccumulatedReply, Accumulator
from asky.llm.endpoint.merging import SurrogateJoiner
from asky.llm.endpoint.tool_fragments import plain_arguments
from asky.llm.port import ToolCall


def chunk(delta: Any = None, finish: Any = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]} | more


def call(index: Any = None, id_: Any = None, name: Any = None, arguments: Any = None, **more: Any) -> dict[str, Any]:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    head = {key: value for key, value in (("index", index), ("id", id_)) if value is not None}
    return head | {"function": function} | more


def gather(*deltas: Mapping[str, Any], finish: Any = "stop") -> AccumulatedReply:
    parts = Accumulator()
    for delta in deltas:
        parts.add(chunk(delta))
    parts.add(chunk({}, finish))
    return parts.result()


def calls_of(*fragments: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    gathered = gather(*({"tool_calls": each} for each in fragments), finish="tool_calls")
    assert gathered.finish == "tool_calls"
    return [(each.id, each.name, each.arguments) for each in gathered.calls]


def test_text_is_given_out_as_it_comes() -> None:
    parts = Accumulator()
    deltas = [parts.add(chunk({"role": "assistant", "content": text})) for text in ("", "It ", "burned", ".")]
    assert deltas == ["", "It ", "burned", "."]
    parts.add(chunk({}, "stop"))
    assert parts.result() == AccumulatedReply({"role": "assistant", "content": "It burned."}, (), "stop", None)


@pytest.mark.parametrize(
    ("fragments", "expected"),
    [
        pytest.param(
            [[call(0, "a", "f", "")], [call(0, None, None, '{"x"')], [call(0, None, None, ":1}")]],
            [("a", "f", '{"x":1}')],
            id="by index",
        ),
        pytest.param(
            [[call(0, "a", "f", ""), call(1, "b", "g", "")], [call(1, arguments="{}"), call(0, arguments="[]")]],
            [("a", "f", "[]"), ("b", "g", "{}")],
            id="interleaved",
        ),
        pytest.param(
            [
                [call("0", "a", "f", ""), call("1", "b", "g", "")],
                [call("1", arguments="{}"), call("0", arguments="[]")],
            ],
            [("a", "f", "[]"), ("b", "g", "{}")],
            id="interleaved, with numbers as text",
        ),
        pytest.param(
            [[call(0, "a", "f", "{}")], [call(0, "b", "f", '{"x":')], [call(0, arguments="1}")]],
            [("a", "f", "{}"), ("b", "f", '{"x":1}')],
            id="index 0 again with a new id",
        ),
        pytest.param(
            [[call(0, "", "f", '{"x":1}')], [call(0, "", "f", '{"x":2}')]],
            [("call_1", "f", '{"x":1}'), ("call_2", "f", '{"x":2}')],
            id="index 0 again without ids",
        ),
        pytest.param(
            [[call(0, "", "f", ""), call(0, "", "f", "")]],
            [("call_1", "f", "{}"), ("call_2", "f", "{}")],
            id="two in one delta without anything to tell them apart",
        ),
        pytest.param(
            [[call(None, "a", "f", '{"x"')], [call(None, "b", "g", "{}")], [call(None, "a", None, ":1}")]],
            [("a", "f", '{"x":1}'), ("b", "g", "{}")],
            id="by id",
        ),
        pytest.param(
            [[call(None, "a", "f", "")], [call(arguments='{"x"')], [call(arguments=":1}")]],
            [("a", "f", '{"x":1}')],
            id="neither index nor id",
        ),
        pytest.param(
            [[call(0, "a", "f", '{"x"')], [call(0, "a", "f", ":{")], [call(0, "a", "f", "}}")]],
            [("a", "f", '{"x":{}}')],
            id="id and name repeated",
        ),
        pytest.param(
            [[call(0, "", "f", '{"x"')], [call(0, "", "f", ":{")], [call(0, "", "f", "}}")]],
            [("call_1", "f", '{"x":{}}')],
            id="name repeated, id empty",
        ),
        pytest.param([[call("0", "a", "f", {"x": 1})]], [("a", "f", '{"x": 1}')], id="arguments an object"),
        pytest.param([[call(0, "a", "f", json.dumps('{"x":1}'))]], [("a", "f", '{"x":1}')], id="encoded twice"),
        pytest.param([[call(0, "a", "f")]], [("a", "f", "{}")], id="no arguments"),
        pytest.param([[call(0, "a", "f", "null")]], [("a", "f", "{}")], id="null"),
        pytest.param(
            [[call(0, "a", "f", "{}"), call(1, "a", "g", "{}"), call(2, "call_2", "h", "{}")]],
            [("a", "f", "{}"), ("call_1", "g", "{}"), ("call_2", "h", "{}")],
            id="ids repeated",
        ),
    ],
)
def test_calls_are_put_together(fragments: list[list[dict[str, Any]]], expected: list[tuple[str, str, str]]) -> None:
    assert calls_of(*fragments) == expected


def test_an_index_of_any_length_is_no_more_than_none() -> None:
    assert calls_of([call("9" * 5000, "a", "f", "{}")], [call("8" * 5000, "b", "g", "{}")]) == [
        ("a", "f", "{}"),
        ("b", "g", "{}"),
    ]


def test_what_no_call_could_be_is_passed_over() -> None:
    gathered = gather({"tool_calls": [None, 5, "x"]}, {"tool_calls": None}, {"tool_calls": "f"})
    assert (gathered.calls, gathered.finish) == ((), "stop")


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("", "{}"),
        ("  ", "{}"),
        ("null", "{}"),
        ('""', "{}"),
        ('{"a": 1}', '{"a": 1}'),
        ('"{\\"a\\": 1}"', '{"a": 1}'),
        ('"words"', '"words"'),
        ('{"a":', '{"a":'),
        ("[1]", "[1]"),
    ],
)
def test_arguments_are_what_was_meant_and_never_repaired(text: str, plain: str) -> None:
    assert plain_arguments(text) == plain


def test_the_raw_message_keeps_unknown_keys_and_the_ids_of_the_endpoint() -> None:
    signed = {"extra_content": {"google": {"thought_signature": "abc"}}, "type": "function"}
    gathered = gather(
        {"role": "assistant", "content": None, "reasoning_content": "Let me "},
        {"role": "assistant", "reasoning_content": "see.", "annotations": []},
        {"reasoning_details": [{"type": "reasoning.text", "text": "a", "index": 0}]},
        {"reasoning_details": [{"type": "reasoning.text", "text": "b", "index": 0, "signature": "s"}]},
        {"reasoning_details": [{"type": "reasoning.encrypted", "data": "xyz", "id": "r1"}]},
        {"tool_calls": [call(0, "a", "f", '"{}"', **signed), call(1, "a", "g", {"x": 1}), call(2, "", "h")]},
    )
    assert gathered.raw == {
        "role": "assistant",
        "content": None,
        "reasoning_content": "Let me see.",
        "annotations": [],
        "reasoning_details": [
            {"type": "reasoning.text", "text": "ab", "index": 0, "signature": "s"},
            {"type": "reasoning.encrypted", "data": "xyz", "id": "r1"},
        ],
        "tool_calls": [
            {"id": "a", "function": {"name": "f", "arguments": '"{}"'}, **signed},
            {"id": "a", "function": {"name": "g", "arguments": {"x": 1}}},
            {"id": "call_2", "function": {"name": "h", "arguments": ""}},
        ],
    }
    assert [each.id for each in gathered.calls] == ["a", "call_1", "call_2"]


def test_a_whole_body_is_kept_as_it_is() -> None:
    parts = Accumulator()
    message = {
        "role": "assistant",
        "content": [{"type": "text", "text": "It "}, {"type": "text", "text": "burned."}],
        "odd": {"a": [1, None]},
    }
    assert parts.add_complete({"choices": [{"message": message, "finish_reason": None}], "usage": None}) == "It burned."
    assert parts.result() == AccumulatedReply(message, (), "stop", None)


@pytest.mark.parametrize(
    ("reason", "with_text", "with_call"),
    [
        ("stop", "stop", "tool_calls"),
        ("tool_calls", "stop", "tool_calls"),
        ("function_call", "stop", "tool_calls"),
        ("STOP", "stop", "tool_calls"),
        ("eos", "stop", "tool_calls"),
        ("length", "length", "length"),
        ("MAX_TOKENS", "length", "length"),
        ("end_turn", "stop", "tool_calls"),
        (" stop ", "stop", "tool_calls"),
        ("content_filter", "cut", "cut"),
        ("error", "cut", "cut"),
        ("abort", "cut", "cut"),
        ("malformed_function_call", "cut", "cut"),
        (None, "cut", "cut"),
        ("", "cut", "cut"),
    ],
)
def test_calls_decide_how_a_reply_ended_unless_it_was_cut(reason: Any, with_text: str, with_call: str) -> None:
    assert gather({"content": "Hi"}, finish=reason).finish == with_text
    assert gather({"tool_calls": [call(0, "a", "f", '{"x"')]}, finish=reason).finish == with_call


def test_the_end_mark_stands_for_a_reason() -> None:
    parts = Accumulator()
    parts.add(chunk({"tool_calls": [call(0, "a", "f", "{}")]}))
    assert not parts.is_complete
    parts.end()
    assert parts.result().finish == "tool_calls"


def test_usage_is_found_wherever_it_comes_and_the_last_counts() -> None:
    parts = Accumulator()
    parts.add(chunk({"content": "a"}, usage={"prompt_tokens": 1}))
    parts.add(chunk({"content": "b"}, "stop", usage=None))
    parts.add({"choices": [], "usage": {"prompt_tokens": 2}})
    assert parts.result().usage == {"prompt_tokens": 2}
    parts.add({"choices": [{"index": 0, "delta": {}, "usage": {"prompt_tokens": 3}}]})
    assert parts.result().usage == {"prompt_tokens": 3}


def test_only_the_first_choice_counts() -> None:
    parts = Accumulator()
    both = [{"index": 1, "delta": {"content": "No"}}, {"index": 0, "delta": {"content": "Yes"}}]
    assert parts.add({"choices": both}) == "Yes"
    assert parts.add({"choices": [{"delta": {"content": "!"}}]}) == "!"
    assert parts.add({"choices": [{"index": 1, "delta": {"content": "No"}, "finish_reason": "stop"}]}) == ""
    assert parts.result().finish == "cut"


def test_a_refusal_is_text_of_the_model_and_said() -> None:
    gathered = gather({"refusal": "I can"}, {"refusal": "not."})
    assert gathered.refused
    assert gathered.raw["refusal"] == "I cannot."


def test_a_reply_longer_than_allowed_ends_as_cut_by_length() -> None:
    parts = Accumulator(max_chars=10)
    full = []
    for delta in ({"content": "12345", "reasoning": "12345"}, {"tool_calls": [call(0, "a", "f", "{}")]}):
        parts.add(chunk(delta, "stop"))
        full.append(parts.is_full)
    assert full == [False, True]
    assert parts.result().finish == "length"


def test_what_a_chunk_holds_is_not_changed_by_what_follows() -> None:
    first = chunk({"reasoning_details": [{"type": "t", "text": "a"}], "odd": {"text": "a"}})
    before = json.dumps(first)
    parts = Accumulator()
    parts.add(first)
    parts.add(chunk({"reasoning_details": [{"type": "t", "text": "b"}], "odd": {"text": "b"}}))
    assert parts.result().raw["odd"] == {"text": "ab"}
    assert json.dumps(first) == before


@given(
    st.text(alphabet=st.sampled_from("aé🌊\ud83c\udf0a\ud83c"), max_size=20), st.lists(st.integers(0, 20), max_size=6)
)
def test_text_can_always_be_encoded_however_its_surrogates_are_cut(text: str, cuts: list[int]) -> None:
    bounds = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[a:b] for a, b in itertools.pairwise(bounds)]
    joiner = SurrogateJoiner()
    joined = "".join([joiner.feed(piece) for piece in pieces]) + joiner.end()
    joined.encode()
    assert gather(*({"content": piece} for piece in pieces)).raw["content"] in (joined, None)


KEYS = st.sampled_from(
    [
        "choices",
        "delta",
        "index",
        "id",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "content",
        "text",
        "type",
        "usage",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(st.dictionaries(KEYS, JSON, max_size=4) | JSON.map(lambda value: chunk({"tool_calls": [value]}))))
def test_no_chunk_makes_it_fail(chunks: list[dict[str, Any]]) -> None:
    parts = Accumulator()
    text = "".join(parts.add(each) for each in chunks)
    gathered = parts.result()
    assert isinstance(text, str)
    assert all(isinstance(each, ToolCall) for each in gathered.calls)
    assert len({each.id for each in gathered.calls}) == len(gathered.calls)
    json.dumps(gathered.raw).encode()
