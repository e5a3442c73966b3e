"""A reply that is one JSON value: requested with a schema, parsed leniently, checked strictly, corrected once.

Endpoints that support schemas send the value alone. Others add words or a code fence around it, so the value is
searched for; the caller's `validate` decides whether it is acceptable.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Generic, NoReturn, TypeVar

import anyio

from asky.concurrency import in_thread
from asky.errors import AskyError, ProviderError
from asky.llm.port import ChatModel, Message, ModelUsage, Reply
from asky.llm.spending import Budget, NoBudget, count_failed

T = TypeVar("T")

_MAX_CHARACTERS = 1_000_000
_MAX_BEGINNINGS = 1_000
_SHOWN_REFUSAL = 200
_OPENING: Mapping[str, str] = {"object": "{", "array": "["}
_CORRECTION = "Your reply cannot be used: {problem}\nReply with the corrected JSON value and nothing else."


@dataclass(frozen=True, slots=True)
class Structured(Generic[T]):
    """A validated value, and the usage of each call for it: two if the first reply had to be corrected."""

    value: T
    calls: tuple[ModelUsage, ...]


async def ask_for_json(
    model: ChatModel,
    messages: Sequence[Message],
    schema: Mapping[str, Any],
    *,
    validate: Callable[[Any], T],
    budget: Budget | None = None,
) -> Structured[T]:
    """Ask `model` to answer `messages` with a JSON value of `schema`; return the result of `validate`.

    `validate` raises `ValueError`, worded for the model, for a value that is not acceptable; the model is then shown
    the message and asked once more, as it is after a reply without a JSON value. `messages` should ask for JSON and
    describe its shape, for endpoints that do not support schemas.

    Raises `ProviderError` if the model refuses, if its reply is cut off, and if the second reply is no better than the
    first; `BudgetExceeded` if `budget` allows no call; and what `ChatModel.stream` raises. `budget` records every call,
    including one that failed or was cancelled.
    """
    budget = budget or NoBudget()
    conversation = list(messages)
    calls: list[ModelUsage] = []
    problem = ""
    for _ in range(2):
        reply = await _reply(model, conversation, schema, budget)
        calls.append(reply.usage)
        _refuse_what_is_no_answer(model, reply)
        try:
            return Structured(validate(find_json(reply.message.content, schema)), tuple(calls))
        except ValueError as error:
            problem = str(error)
        raw = None if reply.message.tool_calls else reply.message.raw  # calls would require answers
        answer = Message("assistant", reply.message.content, raw=raw)
        conversation += [answer, Message("user", _CORRECTION.format(problem=problem))]
    raise ProviderError(
        f"{model.name} returned no usable JSON in two replies: {problem}", hint="choose another model with -m"
    )


def find_json(text: str, schema: Mapping[str, Any]) -> Any:
    """Return the first complete JSON value in `text`, whatever surrounds it.

    For a schema of an object or array only those are searched for, so that `[1]` before an object is not taken for the
    value; for any other type, the text must be the value, in a code fence or not. Raises `ValueError` without one.
    """
    if len(text) > _MAX_CHARACTERS:
        raise ValueError(f"the reply has {len(text):,} characters")
    opening = _OPENING.get(str(schema.get("type")))
    if opening is None:
        return _read_plain_value(_without_fence(text))
    decoder = json.JSONDecoder(parse_constant=_reject)
    at = text.find(opening)
    for _ in range(_MAX_BEGINNINGS):
        if at < 0:
            break
        try:
            return decoder.raw_decode(text, at)[0]
        except (ValueError, RecursionError):
            at = text.find(opening, at + 1)
    raise ValueError(f"the reply holds no JSON {schema.get('type')}")


async def _reply(model: ChatModel, messages: Sequence[Message], schema: Mapping[str, Any], budget: Budget) -> Reply:
    """Return the reply to one call that `budget` allows and counts."""
    messages = tuple(messages)
    await in_thread(budget.check, messages, ())
    text: list[str] = []
    try:
        async with aclosing(model.stream(messages, (), schema=schema)) as stream:
            async for item in stream:
                if isinstance(item, Reply):
                    break
                text.append(item.text)
            else:
                raise ProviderError(f"{model.name} ended its stream without a reply")
    except (AskyError, anyio.get_cancelled_exc_class()) as error:
        with anyio.CancelScope(shield=True):
            await in_thread(count_failed, budget, error, "".join(text))
        raise
    await in_thread(budget.record, item.usage)
    return item


def _refuse_what_is_no_answer(model: ChatModel, reply: Reply) -> None:
    """Raise `ProviderError` for a reply that a retry would not improve."""
    if reply.finish == "length":
        raise ProviderError(
            f"{model.name} reached its output limit before its JSON was complete",
            hint="raise max_output_tokens of the model, or ask for less at once",
        )
    if reply.finish == "cut":
        raise ProviderError(f"the stream of {model.name} ended before its JSON was complete", retryable=True)
    refusal = (reply.message.raw or {}).get("refusal")
    if isinstance(refusal, str) and refusal.strip():
        raise ProviderError(f"{model.name} refused: {' '.join(refusal.split())[:_SHOWN_REFUSAL]}")


def _without_fence(text: str) -> str:
    text = text.strip()
    if text.startswith("```") and text.endswith("```") and "\n" in text:
        return text[text.index("\n") : -3].strip()
    return text


def _read_plain_value(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_reject)
    except (ValueError, RecursionError):
        raise ValueError("the reply is not a JSON value") from None


def _reject(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
