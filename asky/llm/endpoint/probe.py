"""Probes the abilities of an endpoint with one or two tiny calls."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import anyio

from asky.concurrency import in_thread
from asky.errors import AskyError, TimedOut, Unreachable
from asky.llm.endpoint.endpoint import Endpoint
from asky.llm.endpoint.http_call import request_headers
from asky.llm.endpoint.openai_compatible import Observation, OpenAICompatibleModel
from asky.llm.endpoint.request import ModelRequest, build_request
from asky.llm.endpoint.text_calls import find_text_calls
from asky.llm.port import Message, ToolSpec

if TYPE_CHECKING:
    import httpx2

_MAX_TOKENS = 64
_FACTS_S = 5.0
_MAX_FACT_BYTES = 4 << 20
_CLOCK = ToolSpec(
    "current_time",
    "The current time in a time zone.",
    {
        "type": "object",
        "properties": {"zone": {"type": "string", "description": "such as UTC"}},
        "required": ["zone"],
        "additionalProperties": False,
    },
)
_QUESTION = (
    Message("system", "You answer questions about the time with the tool current_time."),
    Message("user", "What time is it in UTC? Call the tool."),
)
_CONTEXT_KEYS = ("context_length", "max_model_len", "context_window", "max_context_length", "loaded_context_length")


@dataclass(frozen=True, slots=True)
class Abilities:
    """The result of a probe; `None` stands for unknown.

    `error` ended the probe. `streams`: replies come in pieces. `tool_calls`: how a tool was called when the question
    asked for it; `text` calls are parsed only if configured. `honours_tool_choice`: no tool was called when none was
    allowed. `context_tokens`: as reported by the endpoint. `request` is the JSON object of the first call, for a
    cross-check.
    """

    reachable: bool
    request: Mapping[str, Any]
    error: AskyError | None = None
    streams: bool | None = None
    reports_usage: bool | None = None
    tool_calls: Literal["native", "text", "none"] | None = None
    honours_tool_choice: bool | None = None
    context_tokens: int | None = None
    first_token_ms: float | None = None
    warnings: tuple[str, ...] = ()


async def probe(model: OpenAICompatibleModel) -> Abilities:
    """Make a streamed call with one tool, and a second one that may not call it if the first did.

    Each reply has at most 64 tokens. The context size is also requested from the endpoint, for five seconds at most.
    Raises nothing of its own: an `AskyError` is in `Abilities.error`.
    """
    limit = min(_MAX_TOKENS, model.endpoint.max_output_tokens or _MAX_TOKENS)
    small = model.with_endpoint(replace(model.endpoint, max_output_tokens=limit))
    model_request = ModelRequest(_QUESTION, (_CLOCK,))
    endpoint = small.endpoint
    facts = await in_thread(small.memory.recall, endpoint.base_url, endpoint.model_id)
    found = Abilities(False, build_request(endpoint, model_request, facts))
    async with small:
        try:
            seen = await small.observe(model_request)
            found = _with_first_call(found, endpoint, seen)
            if seen.called:
                second = await small.observe(replace(model_request, tool_choice="none"))
                streams = seen.pieces > 1 or _streams(second)
                found = replace(found, honours_tool_choice=not second.called, streams=streams)
        except AskyError as error:
            reachable = found.reachable or not isinstance(error, Unreachable | TimedOut)
            found = replace(found, reachable=reachable, error=error)
        if found.reachable:
            async with small.open_client() as client:
                found = replace(found, context_tokens=await _find_context(client, endpoint))
    return found


def _with_first_call(found: Abilities, endpoint: Endpoint, seen: Observation) -> Abilities:
    reply = seen.reply
    how: Literal["native", "text", "none"] = "none"
    warnings = list(reply.warnings)
    if reply.message.tool_calls:
        how = "text" if reply.message.raw is None else "native"
    elif find_text_calls(reply.message.content, {_CLOCK.name: _CLOCK.parameters}).calls:
        how = "text"
        warnings.append("tool calls are sent as text; set text_tool_calls to recognise them")
    elif reply.finish == "length":
        warnings.append(f"the reply was cut at {_MAX_TOKENS} tokens before a tool was called")
    return replace(
        found,
        reachable=True,
        streams=_streams(seen),
        reports_usage=not reply.usage.estimated,
        tool_calls=how if endpoint.tools else None,
        first_token_ms=None if seen.first_token_s is None else seen.first_token_s * 1000,
        warnings=tuple(warnings),
    )


def _streams(seen: Observation) -> bool:
    """Return whether a reply came in pieces; a tool call may come in one, as some endpoints never split those."""
    return seen.is_stream and (seen.pieces > 1 or seen.called)


async def _find_context(client: httpx2.AsyncClient, endpoint: Endpoint) -> int | None:
    """Return the context size in the list of models; a llama.cpp server reports its configured size more precisely."""
    base = endpoint.base_url.rstrip("/")
    with anyio.move_on_after(_FACTS_S):
        listing = await _get_json(client, endpoint, f"{base}/models")
        entries = listing.get("data") if isinstance(listing, Mapping) else None
        for entry in _entries_of(endpoint.model_id, entries):
            named = next((size for key in _CONTEXT_KEYS if (size := _size(entry.get(key)))), None)
            if named is not None:
                return named
            if isinstance(entry.get("meta"), Mapping):
                props = await _get_json(client, endpoint, f"{base.removesuffix('/v1')}/props")
                settings = props.get("default_generation_settings") if isinstance(props, Mapping) else None
                return _size(settings.get("n_ctx")) if isinstance(settings, Mapping) else None
    return None


async def _get_json(client: httpx2.AsyncClient, endpoint: Endpoint, url: str) -> Any:
    """Return the JSON at `url`, `None` if there is none."""
    import httpx2  # loaded by the client

    body = bytearray()
    try:
        async with client.stream("GET", url, headers=request_headers(endpoint)) as response:
            async for piece in response.aiter_bytes():
                body += piece
                if response.status_code != 200 or len(body) > _MAX_FACT_BYTES:
                    return None
        return json.loads(body)
    except (httpx2.HTTPError, ValueError, RecursionError):
        return None


def _entries_of(model_id: str, entries: Any) -> Iterator[Mapping[str, Any]]:
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, Mapping) and entry.get("id") == model_id:
            yield entry


def _size(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
