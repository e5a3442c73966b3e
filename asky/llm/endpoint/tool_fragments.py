"""Assembles tool calls from streamed fragments."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from asky.llm.endpoint.merging import Growing, finalize, merge
from asky.llm.endpoint.nesting import load_json
from asky.llm.port import ToolCall

_MAX_CHECKS = 200
"""Maximum number of times that the arguments of a reply are parsed again: a hostile endpoint could cost hours."""


class ToolFragments:
    """Calls in the order in which they began, each a merged fragment.

    A fragment belongs to the call with its `index`, else to that with its id, else to the last one; it begins a new
    call if its id is new, or if the call so far is complete. Names and ids come once; only arguments grow.
    """

    def __init__(self) -> None:
        self._calls: list[dict[str, Any]] = []
        self._checks = 0

    def __bool__(self) -> bool:
        return bool(self._calls)

    def add(self, fragments: Sequence[Any]) -> int:
        """Add the fragments of one delta; return how many characters of arguments they held."""
        in_this_delta: list[dict[str, Any]] = []
        size = 0
        for fragment in fragments:
            if not isinstance(fragment, Mapping):
                continue
            call = self._find(fragment, in_this_delta)
            if call is None:
                call = {"id": "", "function": {}}
                self._calls.append(call)
            in_this_delta.append(call)
            function = _function(fragment)
            known = {"id": call["id"] or _text(fragment.get("id")), "function": function}
            merge(call, {**fragment, **known})
            size += len(_arguments(function))
        return size

    def raw(self) -> list[dict[str, Any]]:
        """Return the calls as the endpoint sent them, merged; an empty id is filled in."""
        return [
            {
                **{key: value for key, value in finalize(call).items() if key != "index"},
                "id": call["id"] or view.id,
                "function": {"arguments": "", **finalize(call["function"]), "name": view.name},
            }
            for call, view in zip(self._calls, self.calls(), strict=True)
        ]

    def calls(self) -> tuple[ToolCall, ...]:
        """Return the calls with unique ids, and with arguments as the intended JSON text."""
        ids = _unique_ids([call["id"] for call in self._calls])
        functions = (call["function"] for call in self._calls)
        return tuple(
            ToolCall(id_, _text(each.get("name")), plain_arguments(_arguments(each)))
            for id_, each in zip(ids, functions, strict=True)
        )

    def _find(self, fragment: Mapping[str, Any], in_this_delta: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
        """Return the open call that a fragment continues; `None` if it begins one."""
        index, id_, name = fragment.get("index"), _text(fragment.get("id")), _text(_function(fragment).get("name"))
        has_index = isinstance(index, int | str)  # some endpoints send digits as text
        call: dict[str, Any] | None = None
        for each in self._calls:
            if each.get("index") == index if has_index else not id_ or each["id"] == id_:
                call = each
        if call is None or (id_ and call["id"] and id_ != call["id"]):
            return None
        is_in_this_delta = any(call is each for each in in_this_delta)
        if has_index and id_ and not is_in_this_delta:
            return call  # id and name are repeated with every piece
        known = _text(call["function"].get("name"))
        begins = name and known and (name != known or is_in_this_delta or self._is_complete(call["function"]))
        return None if begins else call

    def _is_complete(self, function: Mapping[str, Any]) -> bool:
        """Return whether the arguments are a whole JSON object, to which nothing can be added."""
        arguments = function.get("arguments")
        last = arguments.pieces[-1] if isinstance(arguments, Growing) else ""
        if not isinstance(arguments, Mapping) and (not last.rstrip().endswith("}") or self._checks >= _MAX_CHECKS):
            return False
        self._checks += 1
        return parse_object(_arguments(function)) is not None


def plain_arguments(text: str) -> str:
    """Return arguments as JSON text: nothing and `null` become `{}`, and an object inside a JSON string is unwrapped.

    Anything else is returned unchanged, whether it is JSON or not.
    """
    if text.strip() in ("", "null", '""'):
        return "{}"
    inner = _read(text) if text.lstrip().startswith('"') else None
    return inner if isinstance(inner, str) and parse_object(inner) is not None else text


def parse_object(text: str) -> dict[str, Any] | None:
    """Parse `text` as a JSON object; return `None` for anything else."""
    value = _read(text) if text.lstrip().startswith("{") else None
    return value if isinstance(value, dict) else None


def _read(text: str) -> Any:
    try:
        return load_json(text)
    except ValueError:
        return None


def _function(fragment: Mapping[str, Any]) -> Mapping[str, Any]:
    function = fragment.get("function")
    return function if isinstance(function, Mapping) else {}


def _arguments(function: Mapping[str, Any]) -> str:
    value = finalize(function.get("arguments"))
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _unique_ids(ids: Sequence[str]) -> Iterator[str]:
    """Yield each id once; an empty or repeated one gets an unused number."""
    taken = {""}
    numbers = (name for n in itertools.count(1) if (name := f"call_{n}") not in ids)
    for id_ in ids:
        chosen = next(numbers) if id_ in taken else id_
        taken.add(chosen)
        yield chosen
