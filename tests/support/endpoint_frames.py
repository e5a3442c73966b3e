"""An `Answer` as bytes: the events of its stream in a dialect, or one JSON body."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tests.support.endpoint_dialects import Dialect, error_object
from tests.support.endpoint_script import Answer, Call, CallStyle, Sse, Usage

_CREATED = 1_790_000_000


def complete(answer: Answer, dialect: Dialect, usage: Usage, *, model: str, call_ids: Iterator[str]) -> bytes:
    """The reply as one JSON body."""
    calls = _named(answer.calls, call_ids)
    place = answer.reasoning_place or dialect.reasoning_place
    content = _content(answer, place)
    message: dict[str, Any] = {"role": "assistant", "content": None if calls and not content else content}
    if answer.reasoning and place in ("reasoning", "reasoning_content"):
        message[place] = answer.reasoning
    if calls:
        message["tool_calls"] = [_whole(call, None, _arguments(call, answer.call_style), dialect) for call in calls]
    finish = None if answer.no_finish else _finish(answer, dialect)
    body: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": _CREATED,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }
    if answer.usage_place != "absent":
        body["usage"] = None if answer.usage_place == "null" else usage_object(usage)
    return _encode(body)


def events(
    answer: Answer, dialect: Dialect, usage: Usage, *, model: str, call_ids: Iterator[str], wants_usage: bool
) -> Iterator[bytes]:
    """The events of the stream, each complete with its blank line."""
    style = answer.sse or dialect.sse
    for comment in style.comments:
        yield f": {comment}{style.newline * 2}".encode()
    texts = _texts(answer, dialect, usage, model, call_ids, wants_usage)
    done = ("[DONE]",) if style.done and answer.fails is None else ()
    before: str | None = None
    for text in itertools.chain(texts, done):
        if before is not None:
            yield _frame(before, style)
        before = text
    if before is not None:
        yield _frame(before, style, ends=style.final_newline)


def usage_object(usage: Usage) -> dict[str, Any]:
    """The `usage` of a reply."""
    return {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "total_tokens": usage.prompt + usage.completion,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


def _frame(text: str, style: Sse, *, ends: bool = True) -> bytes:
    end = style.newline * 2 if ends else ""
    return f"data:{' ' if style.space else ''}{text}{end}".encode("utf-8", "surrogateescape")


def _texts(
    answer: Answer, dialect: Dialect, usage: Usage, model: str, call_ids: Iterator[str], wants_usage: bool
) -> Iterator[str]:
    place = answer.usage_place or dialect.usage_place
    if answer.usage_place is None and not (wants_usage or dialect.usage_unasked):
        place = "absent"

    def chunk(choices: Sequence[Mapping[str, Any]], **more: Any) -> str:
        head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": _CREATED, "model": model}
        nothing = {"usage": None} if place == "null" or (place == "own_chunk" and dialect.null_usage) else {}
        return _dump(head | dict(dialect.chunk_fields) | {"choices": choices} | nothing | more)

    for delta in _deltas(answer, dialect, call_ids):
        yield chunk([{"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}])
    if answer.fails is not None:
        shape = answer.fails.shape or dialect.shape
        if shape == "openrouter":
            choices = [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}]
            yield chunk(choices, **error_object(answer.fails, shape))
        else:
            yield _dump(error_object(answer.fails, shape))
        return
    last: dict[str, Any] = {} if place == "own_chunk" else dict(dialect.last_chunk_fields)
    if place == "last_chunk":
        last["usage"] = usage_object(usage)
    if not answer.no_finish or last:
        finish = None if answer.no_finish else _finish(answer, dialect)
        yield chunk([{"index": 0, "delta": {}, "logprobs": None, "finish_reason": finish}], **last)
    if place == "own_chunk":
        yield chunk([], usage=usage_object(usage), **dialect.last_chunk_fields)


def _deltas(answer: Answer, dialect: Dialect, call_ids: Iterator[str]) -> Iterator[dict[str, Any]]:
    role = {"role": "assistant"} if dialect.role_in_every_chunk else {}
    place = answer.reasoning_place or dialect.reasoning_place
    if not role:
        yield {"role": "assistant", "content": dialect.first_content}
    if place in ("reasoning", "reasoning_content"):
        for piece in pieces(answer.reasoning, answer.delta_chars):
            details = [{"type": "reasoning.text", "text": piece, "index": 0}]
            extra = {"reasoning_details": details} if dialect.name == "openrouter" else {}
            yield role | {"content": None, place: piece} | extra
    for piece in pieces(_content(answer, place), answer.delta_chars):
        yield role | {"content": piece}
    calls = _named(answer.calls, call_ids)
    for delta in _call_deltas(calls, answer.call_style or dialect.call_style, answer.delta_chars, dialect):
        yield role | {"tool_calls": delta}


def _content(answer: Answer, place: str) -> str:
    """The content, with the thoughts that a dialect puts into it."""
    if not answer.reasoning or place in ("reasoning", "reasoning_content"):
        return answer.text
    opening = "<think>" if place == "think" else ""
    return f"{opening}{answer.reasoning}</think>{answer.text}"


def pieces(text: str, size: int) -> Iterator[str]:
    """`text` in pieces of `size` characters."""
    return (text[start : start + size] for start in range(0, len(text), size))


def _named(calls: Iterable[Call], call_ids: Iterator[str]) -> list[Call]:
    return [call if call.id is not None else Call(call.name, call.arguments, next(call_ids)) for call in calls]


def _call_deltas(
    calls: Sequence[Call], style: CallStyle, size: int, dialect: Dialect
) -> Iterator[list[dict[str, Any]]]:
    if style == "together":
        if calls:
            yield [_whole(call, None, call.arguments_text, dialect) for call in calls]
        return
    by_call = [_call_parts(index, call, style, size, dialect) for index, call in enumerate(calls)]
    if style == "interleaved":
        for turn in itertools.zip_longest(*by_call):
            yield from ([part] for part in turn if part is not None)
    else:
        yield from ([part] for parts in by_call for part in parts)


def _call_parts(index: int, call: Call, style: CallStyle, size: int, dialect: Dialect) -> Iterator[dict[str, Any]]:
    shown = None if style in ("no_index", "no_index_fragments") else 0 if style == "index_zero" else index
    if style in ("whole", "no_index", "object", "double_encoded"):
        yield _whole(call, shown, _arguments(call, style), dialect)
        return
    yield _whole(call, shown, "", dialect)
    number = {} if shown is None else {"index": shown}
    again = {"id": call.id, "type": "function"} if style == "repeated_name" else {}
    name = {"name": call.name} if style == "repeated_name" else {}
    for piece in pieces(call.arguments_text, size):
        yield number | again | {"function": name | {"arguments": piece}}


def _arguments(call: Call, style: CallStyle | None) -> Any:
    if style == "object":
        return json.loads(call.arguments_text)
    return json.dumps(call.arguments_text) if style == "double_encoded" else call.arguments_text


def _whole(call: Call, index: int | None, arguments: Any, dialect: Dialect) -> dict[str, Any]:
    number = {} if index is None else {"index": index}
    signed = {"extra_content": {"google": {"thought_signature": signature(call.id)}}} if dialect.signatures else {}
    function = {"name": call.name, "arguments": arguments}
    return number | {"id": call.id, "type": "function", "function": function} | signed


def signature(call_id: str | None) -> str:
    """The signature that goes out with a call and must come back with it."""
    return f"signed:{call_id}"


def _finish(answer: Answer, dialect: Dialect) -> str:
    return answer.finish if answer.finish is not None else dialect.finish_calls if answer.calls else "stop"


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _encode(value: Any) -> bytes:
    return _dump(value).encode("utf-8", "surrogateescape")
