"""Requests in the chat-completions dialect, as small as possible, and what to leave out after a refusal.

Facts that an `EndpointMemory` keeps:

    refuses.NAME        True: the parameter NAME is left out
    max_tokens_name     name of the reply limit: "max_tokens" (the default) or "max_completion_tokens"
    response_format     "json_object" or "prompt" in place of a JSON schema
    reasoning_effort    "none": added because tools are refused without it
    signed_calls        True: a call without a signature of the endpoint is sent with a placeholder
    plain_messages      True: keys of assistant messages that asky does not know are not sent back
    starts_thinking     True: replies begin inside thinking without an opening tag
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from asky.llm.endpoint.endpoint import Endpoint
from asky.llm.endpoint.refusal import Refusal, refused_parameter
from asky.llm.endpoint.tool_fragments import parse_object, plain_arguments
from asky.llm.port import Message, ToolCall, ToolChoice, ToolSpec

Facts = Mapping[str, Any]

_ESSENTIAL = frozenset({"model", "messages", "tools"})
_NO_SIGNATURE = {"google": {"thought_signature": "skip_thought_signature_validator"}}
"""Placeholder for the signature of a call that another model made. Source: the Gemini API's page on thought
signatures.
"""
_SIGNING_PATH = "/v1beta/openai"
"""The path of the endpoint known to require signatures, so that it need not refuse a request first."""
_LIMIT_NAMES = ("max_tokens", "max_completion_tokens")
_EFFORT = "reasoning_effort"
_FORMAT = "response_format"
_TOO_MUCH = re.compile(r"too large|at most|exceed|greater than|less than|must be", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """The content of one call, independent of the endpoint."""

    messages: Sequence[Message]
    tools: Sequence[ToolSpec]
    tool_choice: ToolChoice = "auto"
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Adaptation:
    """Facts learned from a refusal, and a warning if the user loses something by them."""

    facts: Facts
    warning: str | None = None


def build_request(endpoint: Endpoint, model_request: ModelRequest, facts: Facts) -> dict[str, Any]:
    """Build the JSON object of a request. What stays the same from turn to turn comes first."""
    request: dict[str, Any] = {"model": endpoint.model_id, "stream": True, "stream_options": {"include_usage": True}}
    request |= endpoint.parameters
    if endpoint.max_output_tokens is not None:
        request[facts.get("max_tokens_name", _LIMIT_NAMES[0])] = endpoint.max_output_tokens
    if model_request.tools and endpoint.tools:
        request["tools"] = [_tool(spec) for spec in model_request.tools]
        if _EFFORT in facts:
            request[_EFFORT] = facts[_EFFORT]
    rung = facts.get(_FORMAT, "json_schema")
    request["messages"] = _messages(model_request, facts, rung)
    if facts.get("signed_calls") or endpoint.base_url.rstrip("/").endswith(_SIGNING_PATH):
        _sign(request["messages"])
    if "tools" in request and model_request.tool_choice != "auto":
        request["tool_choice"] = model_request.tool_choice
    if model_request.schema is not None and rung != "prompt":
        request[_FORMAT] = _schema_format(model_request.schema) if rung == "json_schema" else {"type": rung}
    if "refuses.stream" in facts:
        del request["stream_options"]
    return {name: value for name, value in request.items() if f"refuses.{name}" not in facts}


def adapt(endpoint: Endpoint, request: Mapping[str, Any], refusal: Refusal, facts: Facts) -> Adaptation | None:
    """Return how to adapt the request after `refusal`; `None` if no part of it can be blamed.

    The result always changes the request, so that adapting ends.
    """
    who = endpoint.alias
    if "tools" in request and request.get(_EFFORT) != "none" and _wants_effort(refusal):
        lost = f"{who} refuses tools while it reasons; it answers with {_EFFORT} none"
        return Adaptation({_EFFORT: "none"}, lost if _EFFORT in endpoint.parameters else None)
    if re.search(r"missing .*thought_signature", refusal.message) and not facts.get("signed_calls"):
        return Adaptation({"signed_calls": True})
    if _refuses_message_key(refusal, request) and not facts.get("plain_messages"):
        return Adaptation({"plain_messages": True})
    name = refused_parameter(refusal, [name for name in request if name not in _ESSENTIAL])
    if name is None and _FORMAT in request and _speaks_of_schemas(refusal):
        name = _FORMAT
    if name is None or (name in _LIMIT_NAMES and _TOO_MUCH.search(refusal.message)):
        return None
    if name == _FORMAT:
        lower = "json_object" if request[_FORMAT]["type"] == "json_schema" else "prompt"
        return Adaptation({_FORMAT: lower})
    if name in _LIMIT_NAMES and name not in endpoint.parameters and "max_tokens_name" not in facts:
        return Adaptation({"max_tokens_name": _LIMIT_NAMES[1 - _LIMIT_NAMES.index(name)]})
    is_users = name in endpoint.parameters or name in _LIMIT_NAMES
    return Adaptation({f"refuses.{name}": True}, _dropped(who, name) if is_users else None)


def dropped_parameters(endpoint: Endpoint, facts: Facts) -> list[str]:
    """Return warnings for user settings that `facts` leave out."""
    return [_dropped(endpoint.alias, name) for name in endpoint.parameters if f"refuses.{name}" in facts]


def _dropped(who: str, name: str) -> str:
    return f"{who} refuses the parameter {name}; it is left out"


def _wants_effort(refusal: Refusal) -> bool:
    return re.search(rf"tools?\b.*{_EFFORT}|{_EFFORT}.*\btools?\b", refusal.message, re.I | re.S) is not None


def _speaks_of_schemas(refusal: Refusal) -> bool:
    return (
        re.search(r"json_schema|json schema|structured output|json[ _]mode|json_object", refusal.message, re.I)
        is not None
    )


def _refuses_message_key(refusal: Refusal, request: Mapping[str, Any]) -> bool:
    """Return whether the refused key of an assistant message came from an endpoint, perhaps another one."""
    extra = {key for message in request["messages"] for key in message if key not in _PLAIN_KEYS}
    if refusal.param and re.match(r"messages\b", refusal.param):
        return any(re.search(rf"\b{re.escape(key)}\b", refusal.param) for key in extra)
    return refused_parameter(refusal, extra) is not None


_PLAIN_KEYS = frozenset({"role", "content", "tool_calls", "tool_call_id"})


def _tool(spec: ToolSpec) -> dict[str, Any]:
    function = {"name": spec.name, "description": spec.description, "parameters": dict(spec.parameters)}
    return {"type": "function", "function": function}


def _messages(model_request: ModelRequest, facts: Facts, rung: str) -> list[dict[str, Any]]:
    messages = [_message(message, bool(facts.get("plain_messages"))) for message in model_request.messages]
    if model_request.schema is None or rung == "json_schema":
        return messages
    schema = json.dumps(model_request.schema)
    instruction = f"Answer with one JSON value and nothing else. It must fit this JSON Schema:\n{schema}"
    if messages and messages[-1]["role"] == "user":
        messages[-1]["content"] += f"\n\n{instruction}"
    else:
        messages.append({"role": "user", "content": instruction})
    return messages


def _sign(messages: list[dict[str, Any]]) -> None:
    """Add the placeholder signature to the first call of each message, if it has no other."""
    for message in messages:
        if message.get("tool_calls"):
            message["tool_calls"][0].setdefault("extra_content", _NO_SIGNATURE)


def _message(message: Message, plain: bool) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.content}
    if message.role != "assistant":
        return {"role": message.role, "content": message.content}
    received = message.raw if message.raw is not None and not plain else None
    sent: dict[str, Any] = {"content": message.content} if received is None else dict(received)
    sent["role"] = "assistant"
    sent.pop("tool_calls", None)
    if message.tool_calls:
        sent["tool_calls"] = _calls(message, plain)
    if not sent.get("content"):
        sent["content"] = None if message.tool_calls else ""
    return sent


def _calls(message: Message, plain: bool) -> list[dict[str, Any]]:
    """Return the calls as received, with invalid parts fixed: duplicate ids, arguments that are no object."""
    received = message.raw.get("tool_calls") if message.raw is not None and not plain else None
    if not isinstance(received, list) or len(received) != len(message.tool_calls):
        received = [{}] * len(message.tool_calls)
    return [_call(raw, call) for raw, call in zip(received, message.tool_calls, strict=True)]


def _call(raw: Mapping[str, Any], call: ToolCall) -> dict[str, Any]:
    function = dict(raw.get("function") or {})
    arguments = function.get("arguments")
    if not isinstance(arguments, str) or parse_object(arguments) is None:
        plain = plain_arguments(call.arguments)
        arguments = plain if parse_object(plain) is not None else "{}"
    function |= {"name": call.name, "arguments": arguments}
    return {**raw, "id": call.id, "type": raw.get("type") or "function", "function": function}


def _schema_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    form: dict[str, Any] = {"name": "reply", "schema": dict(schema)}
    if _is_strict(schema):
        form["strict"] = True
    return {"type": "json_schema", "json_schema": form}


def _is_strict(schema: Any) -> bool:
    """Return whether every object in the schema is closed and requires all its properties, as strict mode demands."""
    if isinstance(schema, Mapping):
        if schema.get("type") == "object" or "properties" in schema:
            is_closed = schema.get("additionalProperties") is False
            if not is_closed or set(schema.get("required", ())) != set(schema.get("properties", ())):
                return False
        return all(_is_strict(each) for each in schema.values())
    return not isinstance(schema, list) or all(_is_strict(each) for each in schema)
