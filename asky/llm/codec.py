"""Conversion of messages, tool specifications, replies, tool results and errors to JSON and back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from asky.errors import AskyError, ContextOverflow, ProviderError
from asky.llm.port import Message, ModelUsage, Reply, ToolCall, ToolSpec
from asky.llm.tools import ToolResult
from asky.values import Failure

Encoded = Mapping[str, Any]


def digest(*parts: object) -> str:
    """Return the SHA-256 of JSON values, as hexadecimal digits; the order of keys does not matter."""
    text = json.dumps(parts, ensure_ascii=False, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def encode_message(message: Message) -> dict[str, Any]:
    """Return `message` as JSON, without empty fields."""
    encoded: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        encoded["calls"] = [[each.id, each.name, each.arguments] for each in message.tool_calls]
    if message.tool_call_id is not None:
        encoded["answers"] = message.tool_call_id
    if message.raw is not None:
        encoded["raw"] = dict(message.raw)
    return encoded


def decode_message(encoded: Encoded) -> Message:
    """Return the message that `encode_message` encoded."""
    calls = tuple(ToolCall(*each) for each in encoded.get("calls", ()))
    return Message(encoded["role"], encoded["content"], calls, encoded.get("answers"), encoded.get("raw"))


def encode_tool(spec: ToolSpec) -> dict[str, Any]:
    """Return `spec` as JSON."""
    return asdict(spec)


def decode_tool(encoded: Encoded) -> ToolSpec:
    """Return the specification that `encode_tool` encoded."""
    return ToolSpec(**encoded)


def encode_reply(reply: Reply) -> dict[str, Any]:
    """Return `reply` as JSON."""
    return {
        "message": encode_message(reply.message),
        "finish": reply.finish,
        "usage": asdict(reply.usage),
        "warnings": list(reply.warnings),
        **({} if reply.confidence is None else {"confidence": reply.confidence}),
    }


def decode_reply(encoded: Encoded) -> Reply:
    """Return the reply that `encode_reply` encoded."""
    usage = ModelUsage(**encoded["usage"])
    message, warnings = decode_message(encoded["message"]), tuple(encoded["warnings"])
    confidence = encoded.get("confidence", encoded.get("relevance"))  # its name at first
    return Reply(message, encoded["finish"], usage, warnings, confidence)


def encode_result(result: ToolResult) -> dict[str, Any]:
    """Return `result` as JSON."""
    failure = asdict(result.failure) if result.failure is not None else None
    return {"content": result.content, "summary": result.summary, "failure": failure}


def decode_result(encoded: Encoded) -> ToolResult:
    """Return the result that `encode_result` encoded."""
    failure = Failure(**encoded["failure"]) if encoded["failure"] is not None else None
    return ToolResult(encoded["content"], encoded["summary"], failure)


def encode_error(error: AskyError) -> dict[str, Any]:
    """Return the code, message, hint and limits of `error` as JSON."""
    return {
        "code": error.code,
        "message": error.message,
        "hint": error.hint,
        "retryable": error.retryable,
        "reason": getattr(error, "reason", None),
        "limit_tokens": getattr(error, "limit_tokens", None),
    }


def decode_error(encoded: Encoded) -> AskyError:
    """Return an error of the most general class with the code that `encode_error` encoded."""
    kind = next((each for each in _kinds(AskyError) if each.code == encoded["code"]), AskyError)
    error = kind(encoded["message"], hint=encoded["hint"])
    error.retryable = encoded["retryable"]
    if isinstance(error, ProviderError):
        error.reason = encoded["reason"]
    if isinstance(error, ContextOverflow):
        error.limit_tokens = encoded["limit_tokens"]
    return error


def _kinds(kind: type[AskyError]) -> Iterator[type[AskyError]]:
    yield kind
    for each in kind.__subclasses__():
        yield from _kinds(each)
