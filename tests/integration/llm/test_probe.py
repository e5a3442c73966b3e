"""What `probe` finds out, on endpoints that differ."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import anyio
import pytest

from asky.errors import AuthenticationFailed, Unreachable
from asky.llm.endpoint.probe import Abilities, probe
from tests.support.adapters import KEY, configured_model, open_model
from tests.support.endpoint import (
    DIALECTS,
    OLLAMA,
    OPENAI,
    Answer,
    Call,
    Dialect,
    Endpoint,
    Problem,
    Request,
    Rules,
    Usage,
)

CALL = Answer(calls=(Call("current_time", {"zone": "UTC"}),))
AS_TEXT = '<tool_call>{"name": "current_time", "arguments": {"zone": "UTC"}}</tool_call>'


def obey(request: Request) -> Any:
    return "It is noon, more or less." if request.json.get("tool_choice") == "none" else CALL


def look(server: Endpoint, **fields: Any) -> Abilities:
    async def main() -> Abilities:
        with anyio.fail_after(120):
            return await probe(open_model(server, **fields))

    return anyio.run(main)


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_an_endpoint_that_can_do_everything_is_found_to(dialect: Dialect) -> None:
    with Endpoint(obey, dialect=dialect) as server:
        found = look(server)
        assert (found.reachable, found.error, found.streams, found.reports_usage) == (True, None, True, True)
        assert (found.tool_calls, found.honours_tool_choice) == ("native", True)
        assert found.first_token_ms is not None
        assert 0 < found.first_token_ms < 10_000
        assert len(server.requests) == 2
        for request in server.requests:
            assert request.json.get("max_tokens", request.json.get("max_completion_tokens")) == 64


def test_an_endpoint_that_can_do_little_is_found_to() -> None:
    with Endpoint(Answer("It is noon.", stream=False, usage_place="absent")) as server:
        found = look(server, max_output_tokens=20)
        assert (found.streams, found.reports_usage, found.tool_calls) == (False, False, "none")
        assert found.honours_tool_choice is None
        assert [request.json["max_tokens"] for request in server.requests] == [20]


def test_a_tool_choice_that_is_ignored_is_noticed() -> None:
    with Endpoint(CALL, dialect=OLLAMA) as server:
        found = look(server)
        assert (found.tool_calls, found.honours_tool_choice, found.streams) == ("native", False, True)


@pytest.mark.parametrize("understood", [True, False])
def test_calls_that_come_as_text_are_told_from_others(understood: bool) -> None:
    with Endpoint(AS_TEXT) as server:
        found = look(server, text_tool_calls=understood)
        assert found.tool_calls == "text"
        assert any("text_tool_calls" in warning for warning in found.warnings) is not understood


def test_without_tools_none_are_offered() -> None:
    with Endpoint("It is noon, more or less.") as server:
        assert look(server, tools=False).tool_calls is None
        assert "tools" not in server.requests[0].json


def test_what_an_endpoint_refuses_is_an_error_of_the_probe() -> None:
    with Endpoint(obey, rules=Rules(api_key="sk-other")) as server:
        found = look(server)
        assert isinstance(found.error, AuthenticationFailed)
        assert found.reachable
        assert found.streams is None
        assert KEY not in str(found)
        assert found.request["model"] == "test-model"
    assert isinstance(look(server).error, Unreachable)
    assert not look(server).reachable


def test_a_second_call_that_fails_leaves_what_the_first_has_shown() -> None:
    with Endpoint(CALL, Problem("server")) as server:
        found = look(server)
        assert found.error is not None
        assert (found.reachable, found.tool_calls, found.honours_tool_choice) == (True, "native", None)


def test_a_reply_that_thinking_used_up_is_explained() -> None:
    cut = Answer("", reasoning="Let me see. " * 9, finish="length", usage=Usage(9, 64))
    with Endpoint(cut, dialect=OPENAI) as server:
        found = look(server)
        assert found.tool_calls == "none"
        assert any("64" in warning for warning in found.warnings)


@contextmanager
def pages(answers: dict[str, Any]) -> Iterator[str]:
    """A server that answers each path with its JSON, or with its bytes, and any other with 404."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer = answers.get(self.path)
            body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(404 if answer is None else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.do_GET()

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


REPLY = {"choices": [{"message": {"role": "assistant", "content": "Noon."}, "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    ("models", "props", "size"),
    [
        ({"data": [{"id": "other", "context_length": 1}, {"id": "test-model", "context_length": 8192}]}, None, 8192),
        ({"data": [{"id": "test-model", "max_model_len": 4096}]}, None, 4096),
        (
            {"data": [{"id": "test-model", "meta": {"n_ctx_train": 32768}}]},
            {"default_generation_settings": {"n_ctx": 2048}},
            2048,
        ),
        ({"data": [{"id": "test-model", "meta": {"n_ctx_train": 32768}}]}, None, None),
        ({"data": [{"id": "test-model", "meta": {}}]}, {"default_generation_settings": 5}, None),
        ({"data": [{"id": "test-model", "context_length": "many"}]}, None, None),
        ({"data": [None, 5]}, None, None),
        ({"data": {"id": "test-model"}}, None, None),
        (b"[" * 100_000, None, None),
        (b"\xff", None, None),
        (None, None, None),
    ],
)
def test_the_context_is_what_the_endpoint_says_of_the_model(models: Any, props: Any, size: int | None) -> None:
    with pages({"/v1/models": models, "/props": props, "/v1/chat/completions": REPLY}) as url:
        found = anyio.run(probe, configured_model(url))
    assert (found.error, found.context_tokens) == (None, size)
