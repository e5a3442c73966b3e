"""Tool arguments: strict JSON, validated against the schema of the tool; see `asky.config.tool_parameters`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from asky.config.tool_parameters import TYPES

MAX_ARGUMENT_CHARS = 100_000
"""Longer argument texts are refused unparsed: no built-in tool needs a tenth of it."""

_SHOWN_PROBLEMS = 3


class BadArguments(ValueError):
    """Arguments that break the schema; the message is for the model that sent them."""


def parse_arguments(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Parse the JSON `text` into arguments; white space alone means none.

    `schema` has passed `check_schema` and is of type `object`. Raises `BadArguments` if the text is not strict JSON
    (NaN, Infinity and lone surrogates are not), is longer than `MAX_ARGUMENT_CHARS`, or breaks the schema.
    """
    value = _parse_json(text) if text.strip() else {}
    problems = [f"{where or 'arguments'}: {what}" for where, what in _problems(value, schema, "")]
    if problems:
        more = len(problems) - _SHOWN_PROBLEMS
        raise BadArguments("; ".join(problems[:_SHOWN_PROBLEMS]) + (f"; and {more} more" if more > 0 else ""))
    arguments: dict[str, Any] = value
    return arguments


def canonical(text: str) -> str:
    """Return `text` in the canonical form of equal arguments; text that is not strict JSON is returned unchanged."""
    try:
        return json.dumps(_parse_json(text) if text.strip() else {}, sort_keys=True, separators=(",", ":"))
    except BadArguments:
        return text


def _parse_json(text: str) -> Any:
    if len(text) > MAX_ARGUMENT_CHARS:
        raise BadArguments(f"longer than {MAX_ARGUMENT_CHARS} characters")
    try:
        value = json.loads(text)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")  # the parser accepts more than JSON
    except json.JSONDecodeError as error:
        raise BadArguments(f"not JSON ({error.msg} at character {error.pos})") from None
    except (RecursionError, ValueError):  # nested too deep, NaN, a number of 5,000 digits, a lone surrogate
        raise BadArguments("not JSON that can be read") from None
    return value


def _problems(value: Any, schema: Mapping[str, Any], where: str) -> Iterator[tuple[str, str]]:
    kind: str = schema["type"]
    if not isinstance(value, TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
        yield where, f"must be of type {kind}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield where, "must be one of " + ", ".join(json.dumps(choice) for choice in schema["enum"])
    yield from ((where, problem) for problem in _LIMITS[kind](value, schema))
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            yield from _problems(item, schema["items"], f"{where}[{index}]")
    if isinstance(value, dict):
        yield from _problems_of_object(value, schema, where)


def _problems_of_object(value: dict[str, Any], schema: Mapping[str, Any], where: str) -> Iterator[tuple[str, str]]:
    properties: Mapping[str, Mapping[str, Any]] = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield _inside(where, name), "is required"
    for name, item in value.items():
        if name in properties:
            yield from _problems(item, properties[name], _inside(where, name))
        elif schema.get("additionalProperties") is False:
            known = ", ".join(properties) or "none"
            yield where, f"{name[:40]!r} is not a parameter (known: {known})"


def _inside(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _number_limits(value: float, schema: Mapping[str, Any]) -> Iterator[str]:
    if "minimum" in schema and value < schema["minimum"]:
        yield f"must be at least {schema['minimum']}"
    if "maximum" in schema and value > schema["maximum"]:
        yield f"must be at most {schema['maximum']}"


def _size_limits(unit: str, low: str, high: str) -> Callable[[Any, Mapping[str, Any]], Iterator[str]]:
    def limits(value: Any, schema: Mapping[str, Any]) -> Iterator[str]:
        if len(value) < schema.get(low, 0):
            yield f"must have at least {schema[low]} {unit}"
        if high in schema and len(value) > schema[high]:
            yield f"must have at most {schema[high]} {unit}"

    return limits


def _no_limits(_value: Any, _schema: Mapping[str, Any]) -> Iterator[str]:
    return iter(())


_LIMITS: Mapping[str, Callable[[Any, Mapping[str, Any]], Iterator[str]]] = {
    "string": _size_limits("characters", "minLength", "maxLength"),
    "integer": _number_limits,
    "number": _number_limits,
    "boolean": _no_limits,
    "array": _size_limits("items", "minItems", "maxItems"),
    "object": _no_limits,
}


def describe(text: str, max_chars: int = 80) -> str:
    """Return the strings in the arguments `text`, in order, in one line for people; `""` if there are none."""
    try:
        value = _parse_json(text) if text.strip() else {}
    except BadArguments:
        return "unreadable arguments"
    line = ", ".join(" ".join(string.split()) for string in _strings(value))
    return line if len(line) <= max_chars else line[: max_chars - 1].rstrip() + "…"


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)
