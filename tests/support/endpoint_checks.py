"""What an endpoint refuses: requests that no real one would take, and what a test's `Rules` forbid."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.support.endpoint_dialects import Dialect, overflow
from tests.support.endpoint_frames import signature
from tests.support.endpoint_script import Problem, Request

_ROLES = {"system", "developer", "user", "assistant", "tool"}
_PARAMETERS = {
    *("model", "messages", "stream", "stream_options", "tools", "tool_choice", "parallel_tool_calls"),
    *("response_format", "max_completion_tokens", "max_tokens", "temperature", "top_p", "stop", "seed", "n"),
    *("reasoning_effort", "verbosity", "service_tier", "store", "prompt_cache_key", "safety_identifier", "metadata"),
    *("user", "presence_penalty", "frequency_penalty", "logprobs", "top_logprobs", "logit_bias"),
}
_EFFORTS = {"none", "minimal", "low", "medium", "high", "xhigh", "max"}
_DUMMY_SIGNATURES = {"skip_thought_signature_validator", "context_engineering_is_the_way_to_go"}
_CHARS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Rules:
    """What this endpoint demands beyond a valid request.

    `refuses` maps parameters to what to send instead, or to `None`; it counts as long as the parameter is sent.
    `tools_need_effort`: tools are refused unless `reasoning_effort` is `none`. The first `loading` requests are
    answered with 503. `context_chars` is the longest prompt, four characters to a token.
    """

    api_key: str | None = None
    models: tuple[str, ...] = ("test-model",)
    context_chars: int | None = None
    refuses: Mapping[str, str | None] = field(default_factory=dict)
    tools_need_effort: bool = False
    loading: int = 0


class Fault(Exception):
    """The request is not valid: what the endpoint says, and the kind of problem it makes of that."""

    def __init__(self, message: str, kind: str = "bad_request") -> None:
        super().__init__(message)
        self.kind = kind


def prompt_chars(messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> int:
    """The length of a prompt: its texts, and its calls and tools as JSON."""
    parts = [*(message.get("tool_calls") for message in messages), tools]
    return sum(len(_text(message)) for message in messages) + sum(len(json.dumps(part)) for part in parts if part)


def prompt_tokens(messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> int:
    """The endpoint's own count."""
    return max(1, prompt_chars(messages, tools) // _CHARS_PER_TOKEN)


def cut_messages(request: Request, context_chars: int) -> list[dict[str, Any]]:
    """What a silent endpoint keeps of a prompt: system messages and the newest others, or the end of the last one."""
    messages = request.messages
    while (excess := prompt_chars(messages, request.tools) - context_chars) > 0:
        oldest = next((index for index, each in enumerate(messages[:-1]) if each["role"] != "system"), None)
        if oldest is None:
            messages[-1] = messages[-1] | {"content": _text(messages[-1])[excess:]}
            break
        del messages[oldest]
    return messages


def refusal(request: Request, dialect: Dialect, rules: Rules) -> Problem | None:
    """What the rules say against a valid request."""
    sent = request.headers.get("authorization", "").removeprefix("Bearer ")
    if rules.api_key is not None and request.headers.get("authorization") != f"Bearer {rules.api_key}":
        return Problem("auth", message=f"Incorrect API key provided: {sent}.")  # some echo it whole, so this one does
    model = request.json["model"]
    if model not in rules.models:
        return Problem("unknown_model", message=f"The model `{model}` does not exist or you do not have access to it.")
    for name, instead in rules.refuses.items():
        if name in request.json:
            hint = f" Use '{instead}' instead." if instead else ""
            message = f"Unsupported parameter: '{name}' is not supported with this model.{hint}"
            return Problem("unsupported_parameter", message=message, fields={"param": name})
    if rules.tools_need_effort and request.tools and request.json.get("reasoning_effort") != "none":
        message = (
            f"Function tools with reasoning_effort are not supported for {model} in /v1/chat/completions. Please use "
            "/v1/responses instead, or set reasoning_effort to 'none'."
        )
        return Problem("bad_request", message=message, fields={"param": "reasoning_effort"})
    too_long = rules.context_chars is not None and prompt_chars(request.messages, request.tools) > rules.context_chars
    if too_long and not dialect.silent_overflow:
        assert rules.context_chars is not None
        tokens = prompt_tokens(request.messages, request.tools)
        return overflow(dialect, tokens, rules.context_chars // _CHARS_PER_TOKEN)
    return None


def check(request: Request, dialect: Dialect) -> None:
    """Raise `Fault` for a chat request that the real endpoint would refuse."""
    _demand(request.headers.get("content-type", "").startswith("application/json"), "content-type is not JSON")
    body = request.json
    _demand(isinstance(body.get("model"), str) and bool(body["model"]), "you must provide a model parameter")
    _demand(isinstance(body.get("messages"), list) and bool(body["messages"]), "'messages' must be a list, not empty")
    _check_parameters(body, dialect)
    _check_tools(body, dialect)
    _check_messages(body["messages"], dialect)
    if dialect.tools_with_calls and any(message.get("tool_calls") for message in body["messages"]):
        _demand(bool(body.get("tools")), "requests which include `tool_use` blocks must define tools")


def _demand(condition: bool, fault: str) -> None:
    if not condition:
        raise Fault(fault)


def _check_parameters(body: Mapping[str, Any], dialect: Dialect) -> None:
    if dialect.strict_parameters:
        unknown = [name for name in body if name not in _PARAMETERS]
        _demand(not unknown, f"Unknown parameter: '{unknown[0] if unknown else ''}'.")
    _demand(isinstance(body.get("stream", False), bool), "'stream' must be a boolean")
    if "stream_options" in body:
        _demand(bool(body.get("stream")), "'stream_options' is only allowed when 'stream' is enabled")
    limits = [body[name] for name in ("max_tokens", "max_completion_tokens") if name in body]
    _demand(len(limits) < 2, "'max_tokens' and 'max_completion_tokens' cannot both be set")
    _demand(all(type(limit) is int and limit > 0 for limit in limits), "a token limit must be a positive integer")
    temperature = body.get("temperature", 0)
    in_range = isinstance(temperature, int | float) and 0 <= temperature <= dialect.max_temperature
    _demand(in_range, f"temperature must be between 0 and {dialect.max_temperature}")
    _demand(body.get("reasoning_effort", "none") in _EFFORTS, "reasoning_effort has no such value")
    if "response_format" in body:
        _check_format(body["response_format"], dialect)


def _check_format(form: Any, dialect: Dialect) -> None:
    _demand(isinstance(form, dict), "'response_format' must be an object")
    _demand(form.get("type") in ("text", "json_object", "json_schema"), "response_format.type has no such value")
    if form["type"] == "json_schema":
        spec = form.get("json_schema")
        _demand(isinstance(spec, dict) and isinstance(spec.get("schema"), dict), "json_schema.schema is missing")
        _demand(bool(re.fullmatch(r"[\w-]{1,64}", str(spec.get("name", "")))), "json_schema.name is not valid")
        if spec.get("strict") and dialect.strict_schemas:
            for schema in _objects(spec["schema"]):
                closed = schema.get("additionalProperties") is False
                _demand(closed, "Invalid schema for response_format: 'additionalProperties' must be false")
                complete = set(schema.get("required", ())) == set(schema.get("properties", ()))
                _demand(complete, "Invalid schema for response_format: 'required' must name every property")


def _objects(schema: Any) -> Iterator[Mapping[str, Any]]:
    """The object schemas within a schema."""
    if isinstance(schema, list):
        for each in schema:
            yield from _objects(each)
    elif isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for value in schema.values():
            yield from _objects(value)


def _check_tools(body: Mapping[str, Any], dialect: Dialect) -> None:
    tools = body.get("tools")
    _demand(tools is None or (isinstance(tools, list) and bool(tools)), "'tools' must be a list, not empty")
    for tool in tools or ():
        is_function = isinstance(tool, dict) and tool.get("type") == "function"
        _demand(is_function and isinstance(tool.get("function"), dict), "a tool must be a function")
        function = tool["function"]
        _demand(bool(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", str(function.get("name")))), "a tool's name is not valid")
        parameters = function.get("parameters")
        is_object = isinstance(parameters, dict) and parameters.get("type") == "object"
        _demand(is_object, "a tool's parameters must be an object schema")
    names = [tool["function"]["name"] for tool in tools or ()]
    _demand(len(names) == len(set(names)), "two tools have one name")
    if "tool_choice" in body:
        _demand(bool(tools), "'tool_choice' is only allowed when 'tools' are specified")
        choice = body["tool_choice"]
        named = isinstance(choice, dict) and choice.get("function", {}).get("name") in names
        _demand(
            choice in ("none", "auto", "required") or (named and not dialect.string_tool_choice),
            "'tool_choice' has no such value",
        )
    _demand("parallel_tool_calls" not in body or bool(tools), "'parallel_tool_calls' is only allowed with 'tools'")


def _check_messages(messages: Sequence[Any], dialect: Dialect) -> None:
    open_ids: set[str] = set()
    for number, message in enumerate(messages):
        where = f"messages.[{number}]"
        _demand(isinstance(message, dict) and message.get("role") in _ROLES, f"{where}.role has no such value")
        if message["role"] == "tool":
            _demand(bool(open_ids), f"{where}: role 'tool' must be a response to a preceding message with 'tool_calls'")
            _demand(message.get("tool_call_id") in open_ids, f"{where}.tool_call_id was not asked for")
            open_ids.remove(message["tool_call_id"])
        else:
            _demand(not open_ids, f"{where}: 'tool_calls' must be followed by tool messages responding to each id")
        _check_content(message, where)
        if message.get("tool_calls") is not None:
            _demand(message["role"] == "assistant", f"{where}: only an assistant calls tools")
            open_ids = _check_calls(message["tool_calls"], where, dialect)
    _demand(not open_ids, "'tool_calls' must be followed by tool messages responding to each id")


def _check_content(message: Mapping[str, Any], where: str) -> None:
    content = message.get("content")
    if content is None:
        _demand(bool(message.get("tool_calls")), f"{where}: invalid message content type: <nil>")
    elif isinstance(content, list):
        parts = all(isinstance(part, dict) and isinstance(part.get("type"), str) for part in content)
        _demand(parts and bool(content), f"{where}.content: a part is not valid")
    else:
        _demand(isinstance(content, str), f"{where}.content must be text")


def _check_calls(calls: Any, where: str, dialect: Dialect) -> set[str]:
    """The ids of the calls of one message."""
    _demand(isinstance(calls, list) and bool(calls), f"{where}.tool_calls must not be empty")
    ids = []
    for call in calls:
        _demand(isinstance(call, dict) and call.get("type") == "function", f"{where}: a call must be a function")
        _demand(isinstance(call.get("id"), str) and bool(call["id"]), f"{where}: a call has no id")
        function = call.get("function")
        _demand(isinstance(function, dict) and bool(function.get("name")), f"{where}: a call has no name")
        _demand(isinstance(function.get("arguments"), str), f"{where}: arguments must be a string")
        if dialect.bad_arguments_status is not None and not _is_object(function["arguments"]):
            kind = "server" if dialect.bad_arguments_status == 500 else "bad_request"
            raise Fault(f"{where}: Failed to parse tool call arguments as JSON", kind)
        ids.append(call["id"])
    _demand(len(ids) == len(set(ids)), f"{where}: two calls have one id")
    if dialect.signatures:
        _check_signature(calls[0], where)
    return set(ids)


def _check_signature(call: Mapping[str, Any], where: str) -> None:
    """The first call of a message carries the signature that it came with, or one that stands for none."""
    sent = call.get("extra_content", {}).get("google", {}).get("thought_signature")
    _demand(sent is not None, f"{where}: Function call `{call['function']['name']}` is missing a `thought_signature`")
    _demand(sent in _DUMMY_SIGNATURES or sent == signature(call["id"]), f"{where}: Corrupted thought signature.")


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else json.dumps(content)
