"""What becomes of a key that an endpoint, or a proxy before it, repeats."""

from __future__ import annotations

import json

import anyio
import pytest

from asky.config.redaction import HIDDEN
from asky.llm.endpoint.probe import probe
from tests.support.adapters import KEY, Heard, hear_once, open_model
from tests.support.endpoint import DIALECTS, OPENAI, Answer, Call, Dialect, Endpoint, Entry, Problem

OTHER = "other-key-0123456789"
SAID = f"Your key is {KEY}, not {OTHER}; ask me."
SHOWN = f"Your key is {HIDDEN}, not {HIDDEN}; ask me."


def heard(*script: Entry, dialect: Dialect = OPENAI) -> Heard:
    with Endpoint(*script, dialect=dialect) as server:
        found = hear_once(open_model(server, other_keys=(OTHER,)))
    assert KEY not in repr(found)
    assert OTHER not in repr(found)
    return found


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("delta_chars", [1, 3, 8, 1000])
def test_keys_are_hidden_in_the_text_of_an_answer(delta_chars: int, stream: bool) -> None:
    found = heard(Answer(SAID, delta_chars=delta_chars, stream=stream))
    assert found.text == SHOWN
    assert found.reply is not None
    assert found.reply.message.raw == {"role": "assistant", "content": SHOWN}


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_keys_are_hidden_in_the_arguments_of_a_call_and_in_what_goes_back(dialect: Dialect) -> None:
    found = heard(Answer(calls=(Call("search", {"query": f"is {KEY} mine"}),)), dialect=dialect)
    assert [json.loads(arguments) for _, _, arguments in found.calls] == [{"query": f"is {HIDDEN} mine"}]


def test_keys_are_hidden_in_a_call_that_is_written_as_text() -> None:
    call = json.dumps({"name": "search", "arguments": {"query": KEY}})
    with Endpoint(Answer(f"<tool_call>{call}</tool_call>", delta_chars=5)) as server:
        found = hear_once(open_model(server, text_tool_calls=True))
    assert [json.loads(arguments) for _, _, arguments in found.calls] == [{"query": HIDDEN}]


def test_keys_are_hidden_in_thinking_that_goes_back() -> None:
    found = heard(Answer("Yes.", reasoning=f"the key is {KEY}", reasoning_place="reasoning_content"))
    assert found.reply is not None
    assert (found.reply.message.raw or {})["reasoning_content"] == f"the key is {HIDDEN}"


@pytest.mark.parametrize("where", ["status", "body", "choice"])
def test_keys_are_hidden_in_errors_also_where_a_long_message_is_cut(where: str) -> None:
    for said in (SAID, "x" * 290 + KEY, " " * 3990 + KEY + OTHER):
        found = heard(Problem("bad_request", message=said, where=where))  # type: ignore[arg-type]  # one of them
        assert found.error is not None
        shown = f"{found.error.message} {found.error.hint}"
        assert KEY[:6] not in shown
        assert OTHER[:6] not in shown


def test_a_key_in_an_error_after_text_is_hidden_and_the_text_before_it_is_kept() -> None:
    found = heard(Answer("Half an sk", fails=Problem("server", message=SAID)))
    assert found.error is not None
    assert HIDDEN in found.error.message
    assert "Half an sk".startswith(found.text)


def test_a_text_that_ends_as_a_key_begins_is_whole() -> None:
    assert heard(f"The letters {KEY[:-1]}").text == f"The letters {KEY[:-1]}"


def test_a_trial_hides_keys_too() -> None:
    with Endpoint(Problem("bad_request", message=SAID)) as server:
        found = anyio.run(probe, open_model(server, other_keys=(OTHER,)))
    assert found.error is not None
    assert SHOWN in found.error.message
