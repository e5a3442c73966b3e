"""The `ChatModel` port: messages and tool specifications in, text deltas and one reply out.

The types follow the chat-completions dialect that most endpoints speak, in the smallest form that the loop needs. The
endpoint's message is kept verbatim in `Message.raw`, because some endpoints refuse the next turn without it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Literal, Protocol

Role = Literal["system", "user", "assistant", "tool"]
Finish = Literal["stop", "tool_calls", "length", "cut"]
ToolChoice = Literal["auto", "none"]

ABSTENTION = "I could not find an answer in the sources."
"""The first line of a reply that abstains because the sources hold no answer; drivers recognise it."""


def is_abstention(text: str) -> bool:
    """Return whether a reply begins with an abstention."""
    return text.lstrip().startswith(ABSTENTION)


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model sees it.

    `parameters` is a JSON Schema object; `system_prompt_guideline` is a line for the system prompt of runs that have
    the tool.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    system_prompt_guideline: str | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model requested. `arguments` is the received JSON text: unchecked, perhaps not JSON at all."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation. A `tool` message answers the call `tool_call_id`."""

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    raw: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """Tokens of one call.

    `cached_tokens` of the prompt were read from the endpoint's cache. `cost_usd` is `None` without a known price;
    `estimated` is set if the endpoint reported no tokens.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = None
    estimated: bool = False
    cached_tokens: int = 0


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class Reply:
    """The complete assistant message of one call.

    `finish` is `tool_calls` exactly if `message.tool_calls` is not empty and complete; `length` if the model's limit
    cut the reply; `cut` if the stream ended prematurely. A reply cut inside a tool call contains the partial call,
    which is never run. `warnings` are for the user: a prompt that the endpoint cut silently, a parameter that it
    refused. `confidence` is how likely the cited passages hold the answer, in [0, 1], if that is known and
    calibrated.
    """

    message: Message
    finish: Finish
    usage: ModelUsage
    warnings: tuple[str, ...] = ()
    confidence: float | None = None


class ChatModel(Protocol):
    """A model that continues a conversation."""

    @property
    def name(self) -> str:
        """Return the name shown to users and stored in the ledger."""
        ...

    @property
    def host(self) -> str | None:
        """Return the host that a call contacts, or `None` for a model inside this process."""
        ...

    @property
    def context_tokens(self) -> int:
        """Return the largest prompt plus answer, in the model's own tokens."""
        ...

    def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        tool_choice: ToolChoice = "auto",
        schema: Mapping[str, Any] | None = None,
    ) -> AsyncGenerator[TextDelta | Reply, None]:
        """Yield any number of `TextDelta`, then exactly one `Reply`.

        With the tool choice `none` the tools are still listed, because a conversation that used them must list them and
        a prompt that keeps its beginning stays cached, but none may be called. `schema` (a JSON Schema) asks for a
        reply that is one JSON value of that shape; the model may still send something else.

        The concatenated deltas equal `Reply.message.content`. Raises an `AskyError` if the call fails: `NotConfigured`,
        `AuthenticationFailed`, `Unreachable`, `RateLimited`, `TimedOut`, `ContextOverflow`, `ProviderError`. Nothing
        waits beyond the deadline of the surrounding cancel scope. Closing the generator early closes the call.
        """
        ...


def connected(model: ChatModel) -> AbstractAsyncContextManager[object]:
    """Return a context in which the calls of `model` share a connection, if it keeps any."""
    return model if isinstance(model, AbstractAsyncContextManager) else nullcontext()
