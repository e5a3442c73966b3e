"""A model that obeys, and scripts in files: what a person needs to try the endpoint by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.support.endpoint_script import (
    Answer,
    Call,
    Entry,
    Problem,
    Request,
    Sse,
    Usage,
    Wire,
    last_user_text,
    shown_keys,
    tool_results,
)


def obedient(request: Request) -> Answer:
    """A model that calls its first tool with the question, then cites the first two passages that it was shown."""
    question = last_user_text(request)
    keys = shown_keys(request)[:2]
    may_call = request.tools and request.json.get("tool_choice") != "none"
    if may_call and not tool_results(request):
        return Answer(calls=(Call(request.tool_names[0], _arguments(request.tools[0], question)),))
    if not keys:
        return Answer("I could not find an answer in the sources.")
    return Answer(f"The sources speak of this [{', '.join(keys)}].")


def _arguments(tool: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Arguments that fit the tool's schema as far as strings and lists of strings go."""
    parameters = tool["function"]["parameters"]
    required = parameters.get("required") or list(parameters.get("properties", {}))[:1]
    types = {name: parameters["properties"][name].get("type") for name in required}
    return {name: [text[:400]] if kind == "array" else text[:400] for name, kind in types.items()}


def entry_from_json(value: Any) -> Entry:
    """An entry of a script file: a string, `{"problem": KIND, ...}`, or the fields of an `Answer`."""
    if isinstance(value, str):
        return value
    fields = dict(value)
    if "wire" in fields:
        fields["wire"] = Wire(**fields["wire"])
    if "problem" in fields:
        headers = tuple(dict(fields.pop("headers", {})).items())
        return Problem(fields.pop("problem"), headers=headers, **fields)
    fields["calls"] = tuple(Call(**call) for call in fields.get("calls", ()))
    for name, kind in (("usage", Usage), ("sse", Sse)):
        if name in fields:
            fields[name] = kind(**fields[name])
    return Answer(**fields)
