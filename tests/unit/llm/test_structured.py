from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import Any

import anyio
import pytest

from asky.errors import AskyError, BudgetExceeded, ProviderError, RateLimited
from asky.llm.budget import BudgetLimits, RunBudget
from asky.llm.port import Message, ModelUsage, Reply, TextDelta
from asky.llm.structured import Structured, ask_for_json, find_json
from asky.llm.tokens import TokenCounter
from tests.support.models import ScriptedModel, Turn

OBJECT = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
ARRAY = {"type": "array", "items": {"type": "integer"}}
ASKED = [Message("user", 'Give a title as JSON: {"title": ...}')]


def title(value: Any) -> str:
    if not isinstance(value.get("title"), str):
        raise ValueError("title: is required")  # noqa: TRY004 - what a validator is asked to raise
    return str(value["title"])


def ask(model: ScriptedModel, schema: Mapping[str, Any] = OBJECT, budget: RunBudget | None = None) -> Structured[str]:
    async def main() -> Structured[str]:
        return await ask_for_json(model, ASKED, schema, validate=title, budget=budget)

    return anyio.run(main)


@pytest.mark.parametrize(
    "reply",
    [
        '{"title": "Tides"}',
        'Sure! As [1] says:\n```json\n{"title": "Tides"}\n```\nAnything {else}?',
        'Use {x} like this: {"title": "Tides"} {"title": "second"}',
        '\ufeff  {"title":\n"Tides"}',
    ],
)
def test_the_value_is_found_whatever_stands_around_it(reply: str) -> None:
    model = ScriptedModel(reply)
    assert ask(model).value == "Tides"
    assert model.schemas == [OBJECT]
    assert len(model.sent) == 1


def test_a_value_that_does_not_pass_is_revised_once_with_the_problem_said() -> None:
    model = ScriptedModel('{"name": "Tides"}', '{"title": "Tides"}')
    answer = ask(model)
    assert answer == Structured("Tides", (ModelUsage(100, 10, 0.01),) * 2)
    messages = model.sent[1][0]
    assert [message.role for message in messages] == ["user", "assistant", "user"]
    assert messages[1].content == '{"name": "Tides"}'
    assert "title: is required" in messages[2].content


def test_a_reply_without_json_is_asked_for_again() -> None:
    assert ask(ScriptedModel("I would rather not say.", '{"title": "Tides"}')).value == "Tides"
    assert ask(ScriptedModel('{"title": NaN}', '{"title": "Tides"}')).value == "Tides"
    assert ask(ScriptedModel("", '{"title": "Tides"}')).value == "Tides"


def test_two_bad_replies_are_an_error_that_names_model_and_problem() -> None:
    model = ScriptedModel('{"name": 1}')
    with pytest.raises(ProviderError, match="scripted returned no usable JSON in two replies: title: is required"):
        ask(model)
    assert len(model.sent) == 2


def test_a_reply_that_was_cut_is_reported_and_not_revised() -> None:
    for finish, what in (("length", "output limit"), ("cut", "ended before")):
        model = ScriptedModel(Turn('{"title": "Ti', finish=finish))  # type: ignore[arg-type] # of a loop
        with pytest.raises(ProviderError, match=what):
            ask(model)
        assert len(model.sent) == 1


def test_a_refusal_is_reported_in_the_models_words() -> None:
    model = ScriptedModel(Turn("", raw={"role": "assistant", "content": None, "refusal": "I cannot\nhelp."}))
    with pytest.raises(ProviderError, match=r"scripted refused: I cannot help\."):
        ask(model)


def test_errors_of_the_endpoint_pass_through() -> None:
    with pytest.raises(RateLimited):
        ask(ScriptedModel(RateLimited("slow down")))


def test_every_call_is_counted_and_none_is_made_beyond_the_budget() -> None:
    budget = RunBudget(
        BudgetLimits(max_tokens=100), prices=None, counter=TokenCounter(), spent_today=TokenSpent, clock=lambda: 0.0
    )
    model = ScriptedModel('{"name": 1}', '{"title": "Tides"}')
    with pytest.raises(BudgetExceeded):
        ask(model, budget=budget)
    assert budget.tokens == 110
    assert len(model.sent) == 1


def test_a_call_that_failed_after_some_text_counts_by_estimate_and_one_that_was_refused_does_not() -> None:
    for model, used in ((HalfModel(), True), (ScriptedModel(RateLimited("slow down")), False)):
        budget = RunBudget(
            BudgetLimits(max_tokens=100), prices=None, counter=TokenCounter(), spent_today=TokenSpent, clock=lambda: 0.0
        )
        with pytest.raises(AskyError):
            ask(model, budget=budget)
        assert (budget.tokens > 20) is used


class HalfModel(ScriptedModel):
    """A model that fails within its text, and does not say what it used."""

    async def stream(
        self,
        *arguments: Any,  # noqa: ARG002 - those of a model
        **more: Any,  # noqa: ARG002 - those of a model
    ) -> AsyncGenerator[TextDelta | Reply, None]:
        yield TextDelta('{"title": "The tides of the northern se')
        raise ProviderError("it broke")


class TokenSpent:
    tokens = 0
    cost_usd = 0.0


def test_arrays_and_plain_values() -> None:
    assert find_json("the list: [1, 2] and [3]", ARRAY) == [1, 2]
    assert find_json(" 42 ", {"type": "integer"}) == 42
    assert find_json('```json\n"x"\n```', {"type": "string"}) == "x"
    for text, schema in (("forty-two", {"type": "integer"}), ("{1: 2}", OBJECT), ("[" * 5_000, ARRAY), ("", OBJECT)):
        with pytest.raises(ValueError, match="reply"):
            find_json(text, schema)


def test_a_reply_without_end_is_not_searched() -> None:
    with pytest.raises(ValueError, match="characters"):
        find_json("{" * 2_000_000, OBJECT)
    with pytest.raises(ValueError, match="no JSON object"):
        find_json('{"a":' * 190_000, OBJECT)
