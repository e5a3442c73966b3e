"""The `ChatModel` port: messages and tool specifications in, text deltas and one reply out.

The shapes follow the chat-completions dialect that most endpoints speak, in the smallest form that the loop needs. What
an endpoint sent is kept verbatim in `Message.raw`, because some endpoints refuse the next turn without it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

Role = Literal["system", "user", "assistant", "tool"]
Finish = Literal["stop", "tool_calls", "length", "cut"]

ABSTENTION = "I could not find an answer in the sources."
"""The first line of a reply that does not answer because the sources do not; drivers recognise it."""


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
    """A call that a model asked for. `arguments` is the JSON text as it came: unchecked, perhaps not JSON at all."""

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
    """Tokens of one call; `cost_usd` is `None` without a known price; `estimated` where the endpoint reported none."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = None
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class Reply:
    """The complete assistant message of one call.

    `finish` is `tool_calls` exactly when `message.tool_calls` is not empty and complete; `length` when the model's
    limit cut the reply; `cut` when the stream ended without saying so. A reply that was cut inside a tool call holds
    what came of it, which is never run.
    """

    message: Message
    finish: Finish
    usage: ModelUsage


class ChatModel(Protocol):
    """Something that continues a conversation."""

    @property
    def name(self) -> str:
        """The name shown to users and kept in the ledger."""
        ...

    @property
    def host(self) -> str | None:
        """The host that a call reaches, or `None` for a model inside this process."""
        ...

    @property
    def context_tokens(self) -> int:
        """The largest prompt plus answer, in the model's own tokens."""
        ...

    def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> AsyncGenerator[TextDelta | Reply, None]:
        """Yield any number of `TextDelta`, then exactly one `Reply`.

        The concatenated deltas equal `Reply.message.content`. Raises an `AskyError` (`Unreachable`,
        `AuthenticationFailed`, `RateLimited`, `TimedOut`, `ProviderError`) when the call fails; closing the
        generator early closes the call.
        """
        ...
