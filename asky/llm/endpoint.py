"""What asky knows of a model behind an endpoint: where it is, what it costs, how long it may take, what it refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlsplit

from asky.config.redaction import Redactor, is_placeholder
from asky.config.schema import Timeouts


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
class Endpoint:
    """A model behind an endpoint. No key is in its `repr`.

    `base_url` is the address before `/chat/completions`. `parameters` are sent with every request. `tools` is false
    where the model cannot be offered any; `text_tool_calls` where calls that arrive as text are to be understood.
    `timeouts.connect_s` is for name, connection and TLS together, `first_token_s` includes the loading of a model, and
    `total_s` is for a call with all its tries. `api_key_env` is the name of the variable that holds the key, for
    messages. `redactor` hides the key, unless it is a placeholder, and the `other_keys` of this process, in what the
    endpoint says.
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
