"""The official client as a second opinion: it sends what asky sent, and repeats nothing of what it was told."""

from __future__ import annotations

import dataclasses
import socket

import pytest

from asky.config.schema import Timeouts
from asky.llm.endpoint.endpoint import Endpoint as Settings
from asky.llm.endpoint.official import ask_official_client
from tests.support.endpoint import Answer, Call, Endpoint, Entry, Problem, Raw, Rules, Wire

CANARY = "sk-canary-0123456789abcdef"
TOOL = {
    "type": "function",
    "function": {"name": "look", "description": "Look.", "parameters": {"type": "object", "properties": {}}},
}
REQUEST = {
    "model": "test-model",
    "stream": True,
    "stream_options": {"include_usage": True},
    "temperature": 0.5,
    "seed": 3,
    "tools": [TOOL],
    "messages": [{"role": "user", "content": "Look."}],
}


def settings(base_url: str, timeouts: Timeouts | None = None) -> Settings:
    return Settings("mine", "lab", base_url, "test-model", CANARY, 4096, timeouts=timeouts or Timeouts())


@pytest.mark.parametrize("entry", ["Hello.", Answer(calls=(Call("look"),))])
def test_a_reply_means_that_nothing_failed_and_the_request_was_the_same(entry: Entry) -> None:
    with Endpoint(entry, rules=Rules(api_key=CANARY)) as endpoint:
        assert ask_official_client(settings(endpoint.base_url), REQUEST) is None
    (sent,) = endpoint.requests
    assert sent.json == REQUEST


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (Problem("server", message=f"broken {CANARY}"), "HTTP 5"),
        (Problem("rate", headers=(("Retry-After", "1"),)), "HTTP 429"),
        (Raw(b"", 307, "text/plain", (("Location", "http://127.0.0.1:1/v1/chat/completions"),)), "HTTP 307"),
        (Raw(b"<html>hello</html>", content_type="text/html"), "an empty reply"),
        (Raw(b'data: {"error": {"message": "no"}}\n\n'), "an error in place of the reply"),
        (Raw(b"data: nonsense\n\n"), "JSONDecodeError"),
        (Answer("Hello.", wire=Wire(cut_after=40, cut="reset")), "the connection failed"),
    ],
)
def test_a_failure_is_told_by_its_kind_and_tried_once(entry: Entry, said: str) -> None:
    with Endpoint(entry) as endpoint:
        failure = ask_official_client(settings(endpoint.base_url), REQUEST)
    assert failure is not None
    assert said in failure
    assert CANARY not in failure
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(("provider", "is_told"), [("lab", False), ("openai", True)])
def test_only_openai_is_told_the_account_of_the_user(
    provider: str, is_told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-mine")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-mine")
    with Endpoint("Hello.") as endpoint:
        target = dataclasses.replace(settings(endpoint.base_url), provider=provider)
        assert ask_official_client(target, REQUEST) is None
    (sent,) = endpoint.requests
    assert ("openai-organization" in sent.headers, "openai-project" in sent.headers) == (is_told, is_told)


def test_silence_ends_with_the_time_for_a_call() -> None:
    with Endpoint(Answer("Hello.", wire=Wire(silent_before_headers=True))) as endpoint:
        limits = dataclasses.replace(Timeouts(), total_s=0.2)
        assert ask_official_client(settings(endpoint.base_url, limits), REQUEST) == "it took too long"


def test_a_closed_port_is_a_failed_connection() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))  # and never listens
        target = settings(f"http://127.0.0.1:{listener.getsockname()[1]}/v1")
        assert ask_official_client(target, REQUEST) == "the connection failed"
