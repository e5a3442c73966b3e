"""A `ChatModel` for any endpoint that speaks the chat-completions dialect.

All retries are decided here: an attempt is repeated only before text was yielded, and a request is adapted if the
endpoint refused a part of it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

import anyio

from asky.concurrency import in_thread
from asky.errors import AskyError, ConfigError, NotConfigured, ProviderError, Unreachable
from asky.llm.endpoint.endpoint import Endpoint, EndpointMemory, TransientMemory
from asky.llm.endpoint.errors import EndpointFailure
from asky.llm.endpoint.http_call import Deadlines, HttpCall, HttpCallFailed
from asky.llm.endpoint.reply_reader import ReplyReader
from asky.llm.endpoint.request import Adaptation, ModelRequest, adapt, build_request, dropped_parameters
from asky.llm.endpoint.truncation import PromptWatch
from asky.llm.port import Message, ModelUsage, Reply, TextDelta, ToolChoice, ToolSpec
from asky.llm.spending import add_usage, note_spending
from asky.net.retry import Pauses, Retry, Waiting

if TYPE_CHECKING:
    import httpx2

_MAX_ADAPTATIONS = 4
_LOADING_S = 0.5
"""Minimum wait for a model that loads, whatever the endpoint asks for: such waits can be repeated many times."""


@dataclass(frozen=True, slots=True)
class Observation:
    """A reply, with measurements of how it arrived.

    `first_token_s` is the time from the last attempt's request to the first generated output, `None` if there was none;
    `pieces` counts the chunks with output. `is_stream` is false for one whole body. `called` says whether a tool was
    called, allowed or not.
    """

    reply: Reply
    first_token_s: float | None
    is_stream: bool
    pieces: int
    called: bool


class OpenAICompatibleModel:
    """See `ChatModel`.

    `client` opens a client, which each call closes again. Inside `async with model:` the calls share one, and with it a
    connection; runs may do so concurrently, and the last to leave closes it. `memory` keeps what endpoints refused: it
    is written in a thread, after the reply. The known usage of all attempts of a call is in the usage of its reply, or
    attached to the error or cancellation that ends it (`asky.llm.spending`). Raises `ConfigError` for an address that
    is not http or https.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        client: Callable[[], httpx2.AsyncClient],
        memory: EndpointMemory | None = None,
        retry: Retry | None = None,
        waiting: Waiting | None = None,
    ) -> None:
        if not endpoint.base_url.lower().startswith(("http://", "https://")) or not endpoint.host:
            raise ConfigError(
                f"base_url of the provider {endpoint.provider} is not a web address",
                hint="it should look like http://localhost:8080/v1",
            )
        self.endpoint = endpoint
        self._open_client = client
        self.memory: EndpointMemory = TransientMemory() if memory is None else memory
        self._waiting = waiting or Waiting()
        self._retry = retry or Retry()
        self._shared: httpx2.AsyncClient | None = None
        self._entries = 0
        self._has_warned = False
        self.watch = PromptWatch()

    @property
    def name(self) -> str:
        """Return the alias."""
        return self.endpoint.alias

    @property
    def host(self) -> str:
        """Return the host, with its port if given."""
        return self.endpoint.host

    @property
    def context_tokens(self) -> int:
        """Return the configured context size."""
        return self.endpoint.context_tokens

    async def __aenter__(self) -> OpenAICompatibleModel:
        if self._shared is None:
            self._shared = self._open_client()
        self._entries += 1
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._entries -= 1
        if self._entries:
            return
        shared, self._shared = self._shared, None
        if shared is not None:
            await shared.aclose()

    async def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        tool_choice: ToolChoice = "auto",
        schema: Mapping[str, Any] | None = None,
    ) -> AsyncGenerator[TextDelta | Reply, None]:
        """See `ChatModel.stream`."""
        call = _Call(self, ModelRequest(messages, tools, tool_choice, schema))
        async with aclosing(call.items()) as items:
            async for item in items:
                yield item

    async def observe(self, model_request: ModelRequest) -> Observation:
        """Make one call and return its reply with measurements. Raises what `stream` does."""
        reply: Reply | None = None
        call = _Call(self, model_request)
        async with aclosing(call.items()) as items:
            async for item in items:
                reply = item if isinstance(item, Reply) else reply
        assert reply is not None  # a call ends with a reply or an error
        reader = call.reader
        return Observation(reply, call.exchange.first_token_s, reader.is_stream, reader.pieces, reader.has_called)

    def with_endpoint(self, endpoint: Endpoint) -> OpenAICompatibleModel:
        """Return a copy for another description of the endpoint."""
        return OpenAICompatibleModel(
            endpoint, client=self._open_client, memory=self.memory, retry=self._retry, waiting=self._waiting
        )

    @asynccontextmanager
    async def open_client(self) -> AsyncGenerator[httpx2.AsyncClient, None]:
        """Yield the shared client, or a temporary one."""
        if self._shared is not None:
            yield self._shared
            return
        async with self._open_client() as client:
            yield client

    def take_warnings(self, facts: Mapping[str, Any]) -> list[str]:
        """Return warnings for settings that this endpoint is known to refuse, once for each model."""
        if self._has_warned:
            return []
        self._has_warned = True
        return dropped_parameters(self.endpoint, facts)


class _Call:
    """One call with all its attempts; `exchange` and `reader` are those of the last one."""

    exchange: HttpCall
    reader: ReplyReader

    def __init__(self, model: OpenAICompatibleModel, model_request: ModelRequest) -> None:
        self._model = model
        self._endpoint = model.endpoint
        self._model_request = model_request
        self._waiting = model._waiting
        self._pauses = Pauses(model._retry, model._waiting)
        self._started_at = self._waiting.clock()
        self._facts: dict[str, Any] = {}
        self._learned: dict[str, Any] = {}
        self._warnings: list[str] = []
        self._tries = 0
        self._loading = 0
        self._adaptations = 0
        self._spent: ModelUsage | None = None  # by the failed attempts
        self._is_trying = False

    async def items(self) -> AsyncGenerator[TextDelta | Reply, None]:
        try:
            recall = self._model.memory.recall
            self._facts = dict(await in_thread(recall, self._endpoint.base_url, self._endpoint.model_id))
            self._warnings = self._model.take_warnings(self._facts)
            async with self._model.open_client() as client, aclosing(self._items(client)) as items:
                async for item in items:
                    yield item
            await self._remember()
        except (AskyError, anyio.get_cancelled_exc_class()) as error:
            self._end_try()
            if self._spent is not None or not isinstance(error, AskyError):
                note_spending(error, self._spent or ModelUsage())
            raise

    async def _items(self, client: httpx2.AsyncClient) -> AsyncGenerator[TextDelta | Reply, None]:
        while True:
            timeouts = self._endpoint.timeouts
            first_at, end_at = self._waiting.clock() + timeouts.first_token_s, self._started_at + timeouts.total_s
            self.exchange = exchange = HttpCall(
                self._endpoint,
                client,
                self._waiting,
                Deadlines(first_at, end_at),
                keeps_connection=self._model._shared is not None,
            )
            self.reader = reader = ReplyReader(self._endpoint, self._model_request, self._facts)
            self._is_trying = True
            request = build_request(self._endpoint, self._model_request, self._facts)
            try:
                async with aclosing(exchange.run(request, reader)) as items:
                    async for item in items:
                        yield self._finished(item, reader) if isinstance(item, Reply) else item
            except HttpCallFailed as error:
                failure, broke_off = error.failure, error.broke_off
            except AskyError:
                self._end_try()
                raise
            else:
                return
            if broke_off and reader.is_started and not self._has_tries_left():
                for item in reader.conclude():
                    yield self._finished(item, reader) if isinstance(item, Reply) else item
                return
            self._end_try()
            if exchange.has_yielded:
                raise failure.error
            if self._adapts(request, failure):
                continue
            await self._wait(failure)

    def _end_try(self) -> None:
        """Record, once, the usage of an attempt that leads to no reply."""
        if self._is_trying and self.exchange.may_have_cost:
            self._spent = add_usage(self._spent, self.reader.usage())
        self._is_trying = False

    def _has_tries_left(self) -> bool:
        return self._tries + 1 < self._model._retry.max_tries

    def _adapts(self, request: Mapping[str, Any], failure: EndpointFailure) -> bool:
        """Return whether the request can be made in another way, and record that."""
        if failure.refusal is None or failure.may_retry or self._adaptations >= _MAX_ADAPTATIONS:
            return False
        if type(failure.error) not in (ProviderError, NotConfigured):
            return False
        adaptation = adapt(self._endpoint, request, failure.refusal, self._facts)
        if adaptation is None:
            return False
        self._adaptations += 1
        self._learn(adaptation)
        return True

    def _learn(self, adaptation: Adaptation) -> None:
        self._facts.update(adaptation.facts)
        self._learned.update(adaptation.facts)
        if adaptation.warning is not None:
            self._warnings.append(adaptation.warning)

    async def _wait(self, failure: EndpointFailure) -> None:
        """Wait before the next attempt. Raises the error if none can help, or none would be in time."""
        timeouts = self._endpoint.timeouts
        until = self._started_at + timeouts.total_s
        if failure.is_loading:
            until = min(until, self._started_at + timeouts.first_token_s)
            self._loading += 1
            delay_s = self._pauses.backoff_s(self._loading)
        elif failure.may_retry and self._has_tries_left():
            self._tries += 1
            delay_s = self._pauses.backoff_s(self._tries)
        else:
            raise failure.error
        if isinstance(failure.error, Unreachable):
            until = min(until, self._started_at + timeouts.connect_s)
        named_s = failure.named_wait_s
        if failure.is_loading:
            delay_s = max(delay_s, named_s or 0.0, _LOADING_S)
        elif named_s is not None:
            delay_s = named_s
        await self._pauses.wait(failure.error, delay_s, until=until)

    def _finished(self, reply: Reply, reader: ReplyReader) -> Reply:
        """Return the reply with the warnings and the usage of the whole call."""
        if reader.starts_thinking and not self._facts.get("starts_thinking"):
            self._learned["starts_thinking"] = True
        if (cut := self._model.watch.judge(self._endpoint.alias, self._model_request, reply.usage)) is not None:
            self._warnings.append(cut)
        return replace(reply, warnings=(*self._warnings, *reply.warnings), usage=add_usage(self._spent, reply.usage))

    async def _remember(self) -> None:
        """Store what was learned, now that it has led to a reply."""
        if self._learned:
            remember = self._model.memory.remember
            await in_thread(remember, self._endpoint.base_url, self._endpoint.model_id, self._learned)
