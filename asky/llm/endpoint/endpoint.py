"""Description of a model behind an endpoint: its address, prices, timeouts, and what it has refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlsplit

from asky.config.redaction import Redactor, is_placeholder
from asky.config.schema import Timeouts


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars per million tokens; cached input costs the same as input if `cached_input` is `None`."""

    input: float
    output: float
    cached_input: float | None = None

    def cost_usd(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> float:
        """Return the cost of a call; `cached_tokens` are included in the prompt's."""
        cached = min(cached_tokens, prompt_tokens)
        cached_price = self.input if self.cached_input is None else self.cached_input
        total = (prompt_tokens - cached) * self.input + cached * cached_price + completion_tokens * self.output
        return total / 1e6


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model behind an endpoint. Its `repr` contains no key.

    `base_url` is the address before `/chat/completions`. `parameters` are sent with every request. `tools` is false if
    the model does not support any; `text_tool_calls` is true if calls written as text are to be parsed.
    `timeouts.connect_s` is for name lookup, connection and TLS together, `first_token_s` includes loading the model,
    and `total_s` is for a call with all its attempts. `api_key_env` is the name of the variable that holds the key, for
    messages. `redactor` hides the key, unless it is a placeholder, and the `other_keys` of this process, in messages
    from the endpoint.
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
    timeouts: Timeouts = field(default_factory=Timeouts)
    api_key_env: str | None = None
    other_keys: tuple[str, ...] = field(default=(), repr=False)
    redactor: Redactor = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        own = () if self.api_key is None or is_placeholder(self.api_key) else (self.api_key,)
        object.__setattr__(self, "redactor", Redactor((*own, *self.other_keys)))

    @property
    def host(self) -> str:
        """Return `host` or `host:port`, as in `base_url`, without user and password."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]


class EndpointMemory(Protocol):
    """Facts learned about endpoints from their refusals."""

    def recall(self, base_url: str, model_id: str) -> Mapping[str, Any]:
        """Return facts by name, empty if nothing is known. Names and values are those of
        `asky.llm.endpoint.request`.
        """
        ...

    def remember(self, base_url: str, model_id: str, facts: Mapping[str, Any]) -> None:
        """Add `facts`, JSON values by name, replacing older ones of the same names."""
        ...


class TransientMemory:
    """An in-memory `EndpointMemory`, for the lifetime of the process."""

    def __init__(self) -> None:
        self._facts: dict[tuple[str, str], dict[str, Any]] = {}

    def recall(self, base_url: str, model_id: str) -> Mapping[str, Any]:
        """See `EndpointMemory`."""
        return dict(self._facts.get((base_url, model_id), {}))

    def remember(self, base_url: str, model_id: str, facts: Mapping[str, Any]) -> None:
        """See `EndpointMemory`."""
        self._facts.setdefault((base_url, model_id), {}).update(facts)
