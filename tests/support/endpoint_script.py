"""What a scripted endpoint answers: the entries of a script, and the request that an entry is made for."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

CallStyle = Literal[
    "fragments",  # by index: id and name first, then pieces of the arguments (OpenAI)
    "interleaved",  # the same, with the pieces of all calls taking turns
    "whole",  # each call in one delta with its index (Ollama)
    "together",  # all calls in one delta, without an index (Gemini)
    "no_index",  # one delta for each call, without an index
    "no_index_fragments",  # pieces without an index: whatever has no id belongs to the call before it
    "index_zero",  # pieces, with the index 0 for every call: a new id begins a new call
    "repeated_name",  # id and name come again with every piece
    "object",  # one delta for each call, with the arguments as a JSON object
    "double_encoded",  # one delta for each call, with the arguments encoded as a string twice
]
UsagePlace = Literal["own_chunk", "last_chunk", "null", "absent"]
ReasoningPlace = Literal["reasoning_content", "reasoning", "think", "think_unopened"]
Shape = Literal[
    "openai", "string", "llamacpp", "vllm_old", "gemini_list", "detail", "detail_list", "openrouter", "text", "html"
]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of the model. Arguments that are a string go out as they are; without an id it gets a new one."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str | None = None

    @property
    def arguments_text(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


@dataclass(frozen=True, slots=True)
class Usage:
    prompt: int
    completion: int
    cached: int = 0


@dataclass(frozen=True, slots=True)
class Sse:
    """How a stream is written."""

    newline: str = "\n"
    space: bool = True  # after the colon
    comments: tuple[str, ...] = ()  # before the first event
    done: bool = True  # `data: [DONE]`
    final_newline: bool = True


@dataclass(frozen=True, slots=True)
class Wire:
    """What happens to the bytes of a body on their way.

    `cut_after` bytes the reply ends: `close` closes the connection without the end of the body, `reset` resets it,
    `end` ends the body as if it were whole. `silent_after` bytes (or `silent_before_headers`) nothing more comes until
    `Endpoint.release()`. `write_bytes` splits the body into pieces of that size, characters included. A `gated` body
    goes on by one piece with each `Endpoint.step()`. Before each piece `pause_s` seconds pass.
    """

    cut_after: int | None = None
    cut: Literal["close", "reset", "end"] = "close"
    silent_after: int | None = None
    silent_before_headers: bool = False
    write_bytes: int | None = None
    gated: bool = False
    pause_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Problem:
    """A failure in the words of a dialect.

    `kind` is a key of `endpoint_dialects.KINDS`; `status`, `shape` and `message` overrule what the dialect would say.
    `where`: as the status of the response; or inside HTTP 200 as its `body`, or as a `choice` of it.
    `fields` are added to the error object.
    """

    kind: str
    status: int | None = None
    message: str | None = None
    shape: Shape | None = None
    headers: tuple[tuple[str, str], ...] = ()
    where: Literal["status", "body", "choice"] = "status"
    fields: Mapping[str, Any] = field(default_factory=dict)
    wire: Wire = Wire()


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply of the model. `None` leaves a matter to the dialect.

    Text goes out in deltas of `delta_chars` characters, and so do the pieces of arguments. A character in the range
    U+DC80 to U+DCFF goes out as the single byte 0x80 to 0xFF, which is not UTF-8. `fails` ends the stream with an error
    in place of a finish reason. `stream=False` answers a request for a stream with one JSON body.
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    reasoning: str = ""
    reasoning_place: ReasoningPlace | None = None
    finish: str | None = None
    no_finish: bool = False
    usage: Usage | None = None
    usage_place: UsagePlace | None = None
    call_style: CallStyle | None = None
    delta_chars: int = 8
    fails: Problem | None = None
    stream: bool | None = None
    sse: Sse | None = None
    wire: Wire = Wire()


@dataclass(frozen=True, slots=True)
class Raw:
    """Any response, byte for byte."""

    body: bytes = b""
    status: int = 200
    content_type: str = "text/event-stream"
    headers: tuple[tuple[str, str], ...] = ()
    wire: Wire = Wire()


@dataclass(frozen=True, slots=True)
class Request:
    """An HTTP request that arrived: `connection` counts from 0, header names are in lower case.

    `json` is `{}` where the body is none.
    """

    connection: int
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    json: Mapping[str, Any]

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.json.get("messages") or [])

    @property
    def tools(self) -> list[dict[str, Any]]:
        return list(self.json.get("tools") or [])

    @property
    def tool_names(self) -> list[str]:
        return [tool["function"]["name"] for tool in self.tools]

    @property
    def prompt(self) -> bytes:
        """What an endpoint with a prefix cache compares: the tools, then one message a line, keys in the order sent."""
        lines = [json.dumps(self.tools), *(json.dumps(message) for message in self.messages)]
        return "\n".join(lines).encode()


Reply: TypeAlias = "str | Answer | Problem | Raw"
Entry: TypeAlias = "Reply | Callable[[Request], Reply]"


def sse(*events: Mapping[str, Any] | str) -> bytes:
    """A stream of these events, for a `Raw`: mappings as JSON, strings as they are (`[DONE]`)."""
    texts = (event if isinstance(event, str) else json.dumps(event) for event in events)
    return "".join(f"data: {text}\n\n" for text in texts).encode("utf-8", "surrogateescape")


def text_of(message: Mapping[str, Any]) -> str:
    """The text of a message whose content is a string, a list of parts or nothing."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""


def tool_results(request: Request) -> list[str]:
    """What the tools answered so far, in order."""
    return [text_of(message) for message in request.messages if message["role"] == "tool"]


def shown_keys(request: Request) -> list[str]:
    """The keys of the passages in the tool results, in the order of their first appearance."""
    found = re.findall(r"\bP[0-9a-f]{4,8}\b", "\n".join(tool_results(request)))
    return list(dict.fromkeys(found))


def last_user_text(request: Request) -> str:
    """The last message of the user, `""` without one."""
    texts = [text_of(message) for message in request.messages if message["role"] == "user"]
    return texts[-1] if texts else ""
