"""The dialects of chat-completions endpoints: how each streams, names its errors and treats a long prompt."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.endpoint_script import CallStyle, Problem, ReasoningPlace, Shape, Sse, UsagePlace


@dataclass(frozen=True, slots=True)
class Dialect:
    """The quirks of one kind of endpoint.

    `usage_unasked`: usage comes without `stream_options`. `null_usage`: chunks before it have a null in its place.
    `strict_parameters`: unknown ones are refused. `bad_arguments_status`: an earlier call whose arguments are no JSON
    object is refused with it. `tools_with_calls`: a conversation with tool calls is refused when no tools are named.
    `signatures`: a signature on each call must come back. `silent_overflow`: a prompt that is too long is cut without
    a word.
    """

    name: str
    base_path: str = "/v1"
    shape: Shape = "openai"
    call_style: CallStyle = "fragments"
    call_id: str = "call_{}"
    finish_calls: str = "tool_calls"
    usage_place: UsagePlace = "own_chunk"
    usage_unasked: bool = False
    reasoning_place: ReasoningPlace = "reasoning_content"
    first_content: str | None = ""
    role_in_every_chunk: bool = False
    null_usage: bool = False
    sse: Sse = field(default_factory=Sse)
    chunk_fields: Mapping[str, Any] = field(default_factory=dict)
    last_chunk_fields: Mapping[str, Any] = field(default_factory=dict)
    strict_parameters: bool = False
    strict_schemas: bool = False
    bad_arguments_status: int | None = None
    tools_with_calls: bool = False
    string_tool_choice: bool = False
    max_temperature: float = 2.0
    signatures: bool = False
    silent_overflow: bool = False


OPENAI = Dialect(
    "openai",
    chunk_fields={"service_tier": "default", "system_fingerprint": None},
    null_usage=True,
    strict_parameters=True,
    strict_schemas=True,
)
OLLAMA = Dialect(
    "ollama",
    shape="string",
    call_style="whole",
    reasoning_place="reasoning",
    role_in_every_chunk=True,
    chunk_fields={"system_fingerprint": "fp_ollama"},
    bad_arguments_status=400,
    silent_overflow=True,
)
LLAMACPP = Dialect(
    "llamacpp",
    shape="llamacpp",
    first_content=None,
    chunk_fields={"system_fingerprint": "b6789"},
    last_chunk_fields={"timings": {"prompt_n": 10, "predicted_n": 5}},
    bad_arguments_status=500,
)
GEMINI = Dialect(
    "gemini",
    base_path="/v1beta/openai",
    shape="gemini_list",
    call_style="together",
    call_id="function-call-{}",
    finish_calls="stop",
    usage_place="last_chunk",
    usage_unasked=True,
    role_in_every_chunk=True,
    strict_parameters=True,
    signatures=True,
)
VLLM = Dialect("vllm", shape="vllm_old", call_id="chatcmpl-tool-{}")
OPENROUTER = Dialect(
    "openrouter",
    base_path="/api/v1",
    shape="openrouter",
    usage_unasked=True,
    reasoning_place="reasoning",
    role_in_every_chunk=True,
    sse=Sse(comments=("OPENROUTER PROCESSING", "OPENROUTER PROCESSING")),
    chunk_fields={"provider": "Example"},
)
LMSTUDIO = Dialect("lmstudio", shape="string", call_id="{:09d}", string_tool_choice=True)
ANTHROPIC = Dialect(
    "anthropic", call_id="toolu_{}", bad_arguments_status=400, tools_with_calls=True, max_temperature=1.0
)

DIALECTS = {
    dialect.name: dialect for dialect in (OPENAI, OLLAMA, LLAMACPP, GEMINI, VLLM, OPENROUTER, LMSTUDIO, ANTHROPIC)
}

# kind: (status, type, code, param, message)
KINDS: dict[str, tuple[int, str, str | None, str | None, str]] = {
    "auth": (401, "invalid_request_error", "invalid_api_key", None, "Incorrect API key provided."),
    "forbidden": (403, "permission_error", None, None, "The key may not use this model."),
    "unknown_model": (404, "invalid_request_error", "model_not_found", "model", "The model does not exist."),
    "not_found": (404, "invalid_request_error", None, None, "Not found."),
    "rate": (429, "requests", "rate_limit_exceeded", None, "Rate limit reached for requests."),
    "quota": (
        429,
        "insufficient_quota",
        "insufficient_quota",
        None,
        "You exceeded your current quota, please check your plan and billing details.",
    ),
    "too_large_for_rate": (
        429,
        "tokens",
        "rate_limit_exceeded",
        None,
        "Request too large for the model on tokens per min (TPM): Limit 30000, Requested 41000. The input or output "
        "tokens must be reduced in order to run successfully.",
    ),
    "credits": (402, "payment_error", None, None, "Insufficient credits. Add more to go on."),
    "moderation": (403, "moderation_error", None, None, "The input was flagged."),
    "loading": (503, "unavailable_error", None, None, "Loading model"),
    "overloaded": (529, "overloaded_error", None, None, "Overloaded"),
    "unavailable": (503, "server_error", None, None, "The server is not available right now."),
    "server": (500, "server_error", None, None, "The server had an error while processing your request."),
    "bad_gateway": (502, "server_error", None, None, "Bad gateway"),
    "timeout": (408, "timeout", None, None, "The request took too long."),
    "not_supported": (501, "not_supported_error", None, None, "This server does not support that."),
    "bad_request": (400, "invalid_request_error", None, None, "The request is not valid."),
    "unsupported_parameter": (400, "invalid_request_error", "unsupported_parameter", None, "Unsupported parameter."),
    "unknown_parameter": (400, "invalid_request_error", "unknown_parameter", None, "Unknown parameter."),
    "unsupported_value": (400, "invalid_request_error", "unsupported_value", None, "Unsupported value."),
    "overflow": (400, "invalid_request_error", "context_length_exceeded", "messages", "The prompt is too long."),
}

_GEMINI_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}


def overflow(dialect: Dialect, tokens: int, limit: int) -> Problem:
    """How a dialect refuses a prompt of `tokens` where `limit` fit; one that cuts silently is given OpenAI's words."""
    said = f"This model's maximum context length is {limit} tokens. However, "
    if dialect.name == "llamacpp":
        message = f"request ({tokens} tokens) exceeds the available context size ({limit} tokens), try increasing it"
        return Problem(
            "overflow",
            message=message,
            fields={"type": "exceed_context_size_error", "n_prompt_tokens": tokens, "n_ctx": limit},
        )
    if dialect.name == "lmstudio":
        message = (
            f"Trying to keep the first {tokens} tokens when context the overflows. However, the model is loaded with "
            f"context length of only {limit} tokens, which is not enough."
        )
    elif dialect.name == "gemini":
        message = f"The input token count ({tokens}) exceeds the maximum number of tokens allowed ({limit})."
    elif dialect.name == "anthropic":
        message = f"prompt is too long: {tokens} tokens > {limit} maximum"
        return Problem("overflow", message=message, fields={"code": "invalid_request_error", "param": None})
    elif dialect.name == "vllm":
        message = f"{said}you requested {tokens} tokens in the messages. Please reduce the length of the messages."
    elif dialect.name == "openrouter":
        message = f"This endpoint's maximum context length is {limit} tokens. However, you requested about {tokens}."
    else:
        message = f"{said}your messages resulted in {tokens} tokens. Please reduce the length of the messages."
    return Problem("overflow", message=message)


def error_object(problem: Problem, shape: Shape) -> Any:
    """The JSON of a failure, as an object, a list or a string, whatever the shape makes of it."""
    usual, type_, code, param, words = KINDS[problem.kind]
    status = problem.status or usual
    message = problem.message or words
    if shape == "string":
        return {"error": message}
    if shape == "llamacpp":
        return {"error": {"code": status, "message": message, "type": type_} | dict(problem.fields)}
    if shape == "openrouter":
        return {"error": {"code": status, "message": message, "metadata": {"provider_name": "Example"}}}
    if shape == "vllm_old":
        return {"object": "error", "message": message, "type": "BadRequestError", "param": None, "code": status}
    if shape == "gemini_list":
        return [{"error": {"code": status, "message": message, "status": _GEMINI_STATUS.get(status, "UNKNOWN")}}]
    if shape == "detail":
        return {"detail": message}
    if shape == "detail_list":
        return {"detail": [{"loc": ["body", param or "messages"], "msg": message, "type": "value_error"}]}
    return {"error": {"message": message, "type": type_, "param": param, "code": code} | dict(problem.fields)}


def error_body(problem: Problem, dialect: Dialect) -> tuple[str, bytes]:
    """The content type and the body of a failure."""
    shape = problem.shape or dialect.shape
    message = problem.message or KINDS[problem.kind][4]
    if shape == "text":
        return "text/plain", message.encode()
    if shape == "html":
        page = f"<!DOCTYPE html><html><head><title>{message}</title></head><body><h1>{message}</h1></body></html>"
        return "text/html; charset=utf-8", page.encode()
    return "application/json", json.dumps(error_object(problem, shape)).encode()
