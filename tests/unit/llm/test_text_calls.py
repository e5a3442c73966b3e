"""Tool calls written as text: the two forms, and nothing that only looks like one."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.config.redaction import Redactor
from asky.llm.endpoint.answer_text import AnswerText
from asky.llm.endpoint.text_calls import find_text_calls
from tests.support.timing import check_linear

OFFERED = {
    "search": {"type": "object", "properties": {"query": {"type": "string"}, "k": {"type": "integer"}}},
    "open-page": {"type": "object", "properties": {}},
}
ONE = '{"name": "search", "arguments": {"query": "mill"}}'


def found(text: str) -> list[tuple[str, object]]:
    return [(call.name, json.loads(call.arguments)) for call in find_text_calls(text, OFFERED).calls]


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>{ONE}</tool_call>",
        f"<tool_call>\n{ONE}\n</tool_call>\n",
        ONE,
        f"```json\n{ONE}\n```",
        f"```\n{ONE}\n```",
        '{"name": "search", "parameters": {"query": "mill"}}',
    ],
)
def test_both_forms_are_understood(text: str) -> None:
    assert found(text) == [("search", {"query": "mill"})]
    assert not find_text_calls(text, OFFERED).text.strip()


def test_several_calls_come_in_order_and_the_text_around_them_stays() -> None:
    text = f'Looking.\n<tool_call>{ONE}</tool_call>\n<tool_call>{{"name": "open-page", "arguments": {{}}}}</tool_call>'
    result = find_text_calls(text, OFFERED)
    assert [call.name for call in result.calls] == ["search", "open-page"]
    assert len({call.id for call in result.calls}) == 2
    assert result.text == "Looking.\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Nothing here.",
        f"<tool_call>{ONE}",
        f"<tool_call>{ONE[:-1]}</tool_call>",
        f"<tool_call>{ONE.replace('search', 'rm_rf')}</tool_call>",
        '<tool_call>{"name": "search", "arguments": "mill"}</tool_call>',
        '<tool_call>{"name": "search"}</tool_call>',
        "<tool_call>search mill</tool_call>",
        f"Write it so:\n```\n<tool_call>{ONE}</tool_call>\n```\nand it runs.",
        f"Write it so:\n~~~~\n<tool_call>{ONE}</tool_call>\n~~~~",
        f"```\n<tool_call>{ONE}</tool_call>",
        f"Write `<tool_call>{ONE}</tool_call>` and it runs.",
        f"The answer is {ONE}.",
        f"Some words.\n```json\n{ONE}\n```",
        f"<tool_call>{ONE}</tool_call>\nThat is how.",
        "[" * 5000,
        "<tool_call>" + "[" * 100_000 + "</tool_call>",
    ],
)
def test_what_only_looks_like_a_call_stays_text(text: str) -> None:
    result = find_text_calls(text, OFFERED)
    assert (result.text, result.calls) == (text, ())


BITS = st.sampled_from(
    [f"<tool_call>{ONE}</tool_call>", "<tool_call>", "</tool_call>", "</tool", "```\n", "a ", "<", "{", ONE]
)


@given(st.lists(BITS, max_size=6), st.booleans())
def test_the_deltas_of_a_streamed_text_do_not_depend_on_its_pieces(bits: list[str], may_call: bool) -> None:
    text = "".join(bits)
    results = []
    for pieces in ([text], bits, list(text)):
        answer = AnswerText(Redactor(()), offered=OFFERED)
        given_out = "".join([answer.feed(piece) for piece in pieces])
        rest, calls = answer.end(may_call=may_call)
        assert given_out + rest == answer.content
        results.append((answer.content, [call.arguments for call in calls]))
    assert results[0] == results[1] == results[2]
    if not may_call:
        assert results[0] == (text, [])


def test_an_answer_streams_while_it_cannot_be_a_call() -> None:
    answer = AnswerText(Redactor(()), offered=OFFERED)
    assert answer.feed("It burned") == "It burned"
    assert answer.feed(" <tool_") == " "
    assert answer.feed("box>") == "<tool_box>"
    assert answer.feed("<tool_call>{") == ""


@pytest.mark.parametrize("beginning", ["<tool_call>", "{", " "])
def test_holding_a_long_text_back_takes_time_in_proportion(beginning: str) -> None:
    def hold(pieces: int) -> None:
        answer = AnswerText(Redactor(()), offered=OFFERED)
        given_out = answer.feed(beginning) + "".join([answer.feed(" " * 20) for _ in range(pieces)])
        rest, _ = answer.end(may_call=False)
        assert given_out + rest == beginning + " " * 20 * pieces

    check_linear(hold, 3_000)


CALL = '<tool_call>{"name": "search", "arguments": {"query": "q"}}</tool_call>'


@pytest.mark.parametrize(
    ("beginning", "unit", "ending"),
    [
        ("", "<tool_call>", ""),
        ("<tool_call>", "     ", "</tool_call>"),
        ("", f"`x` {CALL} ", ""),
        ("", CALL, ""),
    ],
)
def test_looking_for_calls_takes_time_in_proportion(beginning: str, unit: str, ending: str) -> None:
    check_linear(lambda times: find_text_calls(beginning + unit * times + ending, OFFERED), 1_000)


def test_a_call_nested_too_deeply_stays_text() -> None:
    text = '<tool_call>{"name": "search", "arguments": {"query": ' + "[" * 150 + "]" * 150 + "}}</tool_call>"
    assert find_text_calls(text, OFFERED).text == text
