"""Tool calls put together from the fragments that endpoints stream."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from asky.llm.merging import merge, settle
from asky.llm.nesting import load_json
from asky.llm.port import ToolCall

_MOST_DIGITS = 10
_MOST_CHECKS = 200
"""How often the arguments of a call are read anew; a hostile endpoint could make that cost hours."""


@dataclass(slots=True)
class _OpenCall:
    index: int | None
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    raw: dict[str, Any] = field(default_factory=dict)
    checks: int = 0

    @property
    def text(self) -> str:
        return "".join(self.arguments)

    def is_complete(self) -> bool:
        """Whether the arguments are a whole JSON object, to which nothing can be added."""
        last = self.arguments[-1].rstrip() if self.arguments else ""
        if not last.endswith("}") or self.checks >= _MOST_CHECKS:
            return False
        self.checks += 1
        return parse_object(self.text) is not None


class ToolFragments:
    """Calls in the order in which they began.

    A fragment belongs to the call of its `index`, without one to that of its id, and else to the last one; it begins a
    call where its id is new, or where what came before is whole already. Names and ids come once; only arguments grow.
    """

    def __init__(self) -> None:
        self._calls: list[_OpenCall] = []

    def __bool__(self) -> bool:
        return bool(self._calls)

    def add(self, fragments: Sequence[Any]) -> int:
        """Take the fragments of one delta, and return how many characters of arguments they held."""
        in_this_delta: list[_OpenCall] = []
        size = 0
        for fragment in fragments:
            if not isinstance(fragment, Mapping):
                continue
            function = fragment.get("function")
            function = function if isinstance(function, Mapping) else {}
            name = _text(function.get("name"))
            arguments = _arguments_text(function.get("arguments"))
            index = _as_index(fragment.get("index"))
            call = self._find(index, _text(fragment.get("id")), name, in_this_delta)
            if call is None:
                call = _OpenCall(index)
                self._calls.append(call)
            in_this_delta.append(call)
            _extend(call, fragment, function, name, arguments)
            size += len(arguments)
        return size

    def raw(self) -> list[dict[str, Any]]:
        """The calls as the endpoint sent them, merged; an empty id is filled in."""
        calls = []
        for call, view in zip(self._calls, self.calls(), strict=True):
            received = settle(call.raw)
            function = {"name": call.name, "arguments": call.text, **received.pop("function", {})}
            calls.append({**received, "id": call.id or view.id, "function": function})
        return calls

    def calls(self) -> tuple[ToolCall, ...]:
        """The calls with ids of their own each, and with arguments as the JSON text that was meant."""
        ids = _unique_ids([call.id for call in self._calls])
        return tuple(
            ToolCall(id_, call.name, plain_arguments(call.text)) for id_, call in zip(ids, self._calls, strict=True)
        )

    def _find(self, index: int | None, id_: str, name: str, in_this_delta: Sequence[_OpenCall]) -> _OpenCall | None:
        """The open call that a fragment continues; `None` where it begins one."""
        if index is not None:
            found = (call for call in reversed(self._calls) if call.index == index)
        else:
            found = (call for call in reversed(self._calls) if not id_ or call.id == id_)
        call = next(found, None)
        if call is None or (id_ and call.id and id_ != call.id):
            return None
        if index is not None and id_ and not any(call is each for each in in_this_delta):
            return call  # id and name come again with every piece
        begins = name != call.name or call.is_complete() or any(call is each for each in in_this_delta)
        return None if name and call.name and begins else call


def plain_arguments(text: str) -> str:
    """Arguments as JSON text: nothing and `null` are `{}`, and an object inside a JSON string is taken out of it.

    Anything else is returned as it came, whether it is JSON or not.
    """
    if text.strip() in ("", "null", '""'):
        return "{}"
    if text.lstrip().startswith('"'):
        inner = _read_arguments(text)
        if isinstance(inner, str) and parse_object(inner) is not None:
            return inner
    return text


def parse_object(text: str) -> dict[str, Any] | None:
    """The JSON object that `text` is, or `None`."""
    value = _read_arguments(text) if text.lstrip().startswith("{") else None
    return value if isinstance(value, dict) else None


def _read_arguments(text: str) -> Any:
    try:
        return load_json(text)
    except ValueError:
        return None


def _extend(
    call: _OpenCall, fragment: Mapping[str, Any], function: Mapping[str, Any], name: str, arguments: str
) -> None:
    call.id = call.id or _text(fragment.get("id"))
    call.name = call.name or name
    if arguments:
        call.arguments.append(arguments)
    known = {"index", "id", "function"}
    merge(call.raw, {key: value for key, value in fragment.items() if key not in known})
    extra = {key: value for key, value in function.items() if key not in ("name", "arguments")}
    merged = call.raw.setdefault("function", {})
    merge(merged, extra)
    if isinstance(function.get("arguments"), Mapping):
        merged["arguments"] = function["arguments"]


def _arguments_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _as_index(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, str) and value.isdecimal() and len(value) < _MOST_DIGITS else None


def _unique_ids(ids: Sequence[str]) -> Iterator[str]:
    """Each id once; an empty or repeated one gets a number that no other has."""
    taken = set(ids)
    given: set[str] = set()
    for number, id_ in enumerate(ids, 1):
        chosen = id_
        if not id_ or id_ in given:
            chosen = next(name for n in range(number, number + len(ids) + 1) if (name := f"call_{n}") not in taken)
            taken.add(chosen)
        given.add(chosen)
        yield chosen
