"""What asky knows of a model behind an endpoint: where it is, what it costs, how long it may take, what it refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars for a million tokens; cached input costs what input does where `cached_input` is `None`."""

    input: float
    output: float
    cached_input: float | None = None

    def cost_usd(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> float:
        """What a call costs; `cached_tokens` are among the prompt's."""
        cached = min(cached_tokens, prompt_tokens)
        cached_price = self.input if self.cached_input is None else self.cached_input
        total = (prompt_tokens - cached) * self.input + cached * cached_price + completion_tokens * self.output
        return total / 1e6


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Limits in seconds.

    `connect_s` for name, connection and TLS together; `first_token_s` from the request to the first token, the loading
    of a model included; `between_tokens_s` for a silence within a reply; `total_s` for a call with all its tries.
    """

    connect_s: float = 5.0
    first_token_s: float = 120.0
    between_tokens_s: float = 60.0
    total_s: float = 900.0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model behind an endpoint. The key is not in its `repr`.

    `base_url` is the address before `/chat/completions`. `parameters` are sent with every request. `tools` is false
    where the model cannot be offered any; `text_tool_calls` where calls that arrive as text are to be understood.
    `api_key_env` is the name of the variable that holds the key, for messages.
    """

    alias: str
    provider: str
    base_url: str
    model_id: str
    api_key: str | None = field(repr=False)
    context_tokens: int
    max_output_tokens: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    prices: Prices | None = None
    tools: bool = True
    text_tool_calls: bool = False
    timeouts: Timeouts = Timeouts()
    api_key_env: str | None = None

    @property
    def host(self) -> str:
        """`host` or `host:port`, as `base_url` has it, without user and password."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]


class EndpointMemory(Protocol):
    """What was learned about endpoints from their refusals."""

    def recall(self, base_url: str, model_id: str) -> Mapping[str, Any]:
        """Facts by name, empty where nothing is known. Names and values are those of `asky.llm.request`."""
        ...

    def remember(self, base_url: str, model_id: str, facts: Mapping[str, Any]) -> None:
        """Add `facts`, JSON values by name, in place of older ones of the same names."""
        ...


class PassingMemory:
    """An `EndpointMemory` that lasts as long as the process."""

    def __init__(self) -> None:
        self._facts: dict[tuple[str, str], dict[str, Any]] = {}

    def recall(self, base_url: str, model_id: str) -> Mapping[str, Any]:
        """See `EndpointMemory`."""
        return dict(self._facts.get((base_url, model_id), {}))

    def remember(self, base_url: str, model_id: str, facts: Mapping[str, Any]) -> None:
        """See `EndpointMemory`."""
        self._facts.setdefault((base_url, model_id), {}).update(facts)
