"""The adapter for chat-completions endpoints, opened over a scripted one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import anyio

from asky.config.schema import Timeouts
from asky.errors import AskyError
from asky.llm.endpoint.endpoint import Endpoint as Configured
from asky.llm.endpoint.endpoint import EndpointMemory
from asky.llm.endpoint.openai_compatible import OpenAICompatibleModel
from asky.llm.port import ChatModel, Message, Reply, TextDelta, ToolChoice, ToolSpec
from asky.net.http import client_factory
from asky.net.retry import Retry, Waiting
from tests.support.conforming import SEARCH_FUNCTION
from tests.support.endpoint import Endpoint

KEY = "sk-secret-0123456789"
SEARCH_SPEC = ToolSpec(**SEARCH_FUNCTION)
QUESTION = (Message("system", "Answer briefly."), Message("user", "When did the mill burn?"))


@dataclass
class Clock:
    """Time in which nobody waits; `waits` are those that were asked for."""

    waits: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        await anyio.lowlevel.checkpoint()


def open_model(
    server: Endpoint,
    *,
    retry: Retry | None = None,
    clock: Clock | None = None,
    memory: EndpointMemory | None = None,
    timeouts: Timeouts | None = None,
    **fields: Any,
) -> OpenAICompatibleModel:
    """The adapter for `server`; without `retry` a call is tried once."""
    return configured_model(server.base_url, retry=retry, clock=clock, memory=memory, timeouts=timeouts, **fields)


def configured_model(
    base_url: str,
    *,
    retry: Retry | None = None,
    clock: Clock | None = None,
    memory: EndpointMemory | None = None,
    timeouts: Timeouts | None = None,
    **fields: Any,
) -> OpenAICompatibleModel:
    """The adapter for any URL."""
    endpoint = Configured(
        alias="mill",
        provider="test",
        base_url=base_url,
        model_id=fields.pop("model_id", "test-model"),
        api_key=fields.pop("api_key", KEY),
        context_tokens=fields.pop("context_tokens", 32_000),
        timeouts=timeouts or Timeouts(first_token_s=20, between_tokens_s=20, total_s=60),
        **fields,
    )
    return OpenAICompatibleModel(
        endpoint,
        client=client_factory(base_url),
        memory=memory,
        retry=retry or Retry(max_tries=1),
        waiting=Waiting(sleep=(clock or Clock()).sleep, jitter=lambda: 0.5),
    )


@dataclass(frozen=True)
class Heard:
    """What came of one call: the deltas, the reply if one came, the error if that ended it."""

    text: str
    reply: Reply | None
    error: AskyError | None

    @property
    def calls(self) -> list[tuple[str, str, str]]:
        assert self.reply is not None, self.error
        return [(call.id, call.name, call.arguments) for call in self.reply.message.tool_calls]

    @property
    def finish(self) -> str:
        assert self.reply is not None, self.error
        return self.reply.finish


async def hear(
    model: ChatModel,
    messages: Sequence[Message] = QUESTION,
    tools: Sequence[ToolSpec] = (SEARCH_SPEC,),
    tool_choice: ToolChoice = "auto",
) -> Heard:
    """One call to its end, with the promises of the port checked. Any error but an `AskyError` passes through."""
    text: list[str] = []
    reply: Reply | None = None
    try:
        async with aclosing(model.stream(messages, tools, tool_choice=tool_choice)) as stream:
            async for item in stream:
                assert reply is None, "nothing may follow the reply"
                if isinstance(item, TextDelta):
                    text.append(item.text)
                else:
                    reply = item
    except AskyError as error:
        assert reply is None, "an error may not follow the reply"
        return Heard("".join(text), None, error)
    assert reply is not None, "a stream ends with a reply"
    assert reply.message.role == "assistant"
    assert reply.message.content == "".join(text), "the deltas add up to the content"
    assert (reply.finish != "tool_calls") or reply.message.tool_calls, "a tool_calls reply has calls"
    assert (reply.finish != "stop") or not reply.message.tool_calls, "a stop reply has none"
    ids = [call.id for call in reply.message.tool_calls]
    assert all(ids)
    assert len(ids) == len(set(ids)), "each call has an id of its own"
    kept = [reply.message.content, *ids, *(call.name + call.arguments for call in reply.message.tool_calls)]
    json.dumps([kept, reply.message.raw, reply.warnings], ensure_ascii=False).encode()  # it can be stored and printed
    return Heard("".join(text), reply, None)


def hear_once(model: ChatModel, *arguments: Any) -> Heard:
    """`hear` from sync code."""
    return anyio.run(hear, model, *arguments)
