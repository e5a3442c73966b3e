"""The values of a run as JSON and back, for its record."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import date
from typing import TYPE_CHECKING, Any

from asky.chat.web_access import WebAccess
from asky.errors import AskyError, ContextOverflow, ProviderError
from asky.llm.port import Message, ModelUsage, Reply, ToolCall, ToolSpec
from asky.llm.tools import ToolResult
from asky.values import Evidence, Failure, Location, Source, Span

if TYPE_CHECKING:
    from asky.storage.documents import DocumentStore

Packed = Mapping[str, Any]


def digest(*parts: object) -> str:
    """A hash of JSON values that is the same whenever they are."""
    text = json.dumps(parts, ensure_ascii=False, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def pack_message(message: Message) -> dict[str, Any]:
    """`message` without what it leaves out."""
    packed: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        packed["calls"] = [[each.id, each.name, each.arguments] for each in message.tool_calls]
    if message.tool_call_id is not None:
        packed["answers"] = message.tool_call_id
    if message.raw is not None:
        packed["raw"] = dict(message.raw)
    return packed


def unpack_message(packed: Packed) -> Message:
    calls = tuple(ToolCall(*each) for each in packed.get("calls", ()))
    return Message(packed["role"], packed["content"], calls, packed.get("answers"), packed.get("raw"))


def pack_spec(spec: ToolSpec) -> dict[str, Any]:
    return asdict(spec)


def unpack_spec(packed: Packed) -> ToolSpec:
    return ToolSpec(**packed)


def pack_reply(reply: Reply) -> dict[str, Any]:
    return {
        "message": pack_message(reply.message),
        "finish": reply.finish,
        "usage": asdict(reply.usage),
        "warnings": list(reply.warnings),
    }


def unpack_reply(packed: Packed) -> Reply:
    usage = ModelUsage(**packed["usage"])
    return Reply(unpack_message(packed["message"]), packed["finish"], usage, tuple(packed["warnings"]))


def pack_result(result: ToolResult) -> dict[str, Any]:
    failure = asdict(result.failure) if result.failure is not None else None
    return {"content": result.content, "summary": result.summary, "failure": failure}


def unpack_result(packed: Packed) -> ToolResult:
    failure = Failure(**packed["failure"]) if packed["failure"] is not None else None
    return ToolResult(packed["content"], packed["summary"], failure)


def pack_error(error: AskyError) -> dict[str, Any]:
    return {
        "code": error.code,
        "message": error.message,
        "hint": error.hint,
        "retryable": error.retryable,
        "reason": getattr(error, "reason", None),
        "limit_tokens": getattr(error, "limit_tokens", None),
    }


def unpack_error(packed: Packed) -> AskyError:
    """An error of the most general class with that code."""
    kind = next((each for each in _kinds(AskyError) if each.code == packed["code"]), AskyError)
    error = kind(packed["message"], hint=packed["hint"])
    error.retryable = packed["retryable"]
    if isinstance(error, ProviderError):
        error.reason = packed["reason"]
    if isinstance(error, ContextOverflow):
        error.limit_tokens = packed["limit_tokens"]
    return error


def _kinds(kind: type[AskyError]) -> Iterator[type[AskyError]]:
    yield kind
    for each in kind.__subclasses__():
        yield from _kinds(each)


def pack_evidence(evidence: Evidence) -> dict[str, Any]:
    """`evidence` without its text, which the store keeps as long as its run."""
    return {
        "key": evidence.key,
        "source": asdict(evidence.source),
        "document_id": evidence.document_id,
        "sha256": evidence.sha256,
        "span": [evidence.span.start, evidence.span.end],
        "location": asdict(evidence.location),
        "score": evidence.score,
    }


def unpack_evidence(packed: Sequence[Packed], documents: DocumentStore) -> list[Evidence]:
    """The passages, with their texts from the store."""
    found = []
    for each in packed:
        span = Span(*each["span"])
        source, location = _source(each["source"]), Location(**each["location"])
        text = documents.text(each["document_id"], span)
        found.append(
            Evidence(each["key"], source, each["document_id"], each["sha256"], span, text, location, each["score"])
        )
    return found


def _source(packed: Packed) -> Source:
    fields: dict[str, Any] = {name: tuple(each) if isinstance(each, list) else each for name, each in packed.items()}
    return Source(**fields)


def pack_access(access: WebAccess | None) -> dict[str, Any] | None:
    if access is None:
        return None
    policy = None
    if access.policy is not None:
        since = access.policy.since
        policy = asdict(access.policy) | {"since": since.isoformat() if since is not None else None}
    return {
        "collection_id": access.collection_id,
        "named": list(access.named),
        "shortlist": access.shortlist,
        "policy": policy,
        "queries": list(access.queries),
    }


def unpack_access(packed: Packed | None) -> WebAccess | None:
    if packed is None:
        return None
    return WebAccess(
        packed["collection_id"],
        tuple(packed["named"]),
        packed["shortlist"],
        _unpack_policy(packed["policy"]),
        tuple(packed["queries"]),
    )


def _unpack_policy(packed: Packed | None) -> Any:
    if packed is None:
        return None
    from asky.research.source_policy import SourcePolicy  # for questions to the web only

    since = date.fromisoformat(packed["since"]) if packed["since"] is not None else None
    lists = {name: tuple(packed[name]) for name in ("allow_domains", "deny_domains", "kinds")}
    return SourcePolicy(**lists, since=since, recency=packed["recency"])
