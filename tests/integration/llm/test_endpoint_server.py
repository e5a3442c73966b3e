"""The scripted endpoint: its answers are read by the official client, its refusals are those of real endpoints."""

from __future__ import annotations

import gc
import json
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai
import pytest

from tests.support.asky_command import ROOT
from tests.support.combining import each_once
from tests.support.conforming import QUESTION, SEARCH, Script, ask_official_client, conforming
from tests.support.endpoint import (
    ANTHROPIC,
    DIALECTS,
    GEMINI,
    KINDS,
    LLAMACPP,
    LMSTUDIO,
    OLLAMA,
    OPENAI,
    OPENROUTER,
    VLLM,
    Answer,
    Call,
    Dialect,
    Endpoint,
    Problem,
    Raw,
    Rules,
    Sse,
    Usage,
    Wire,
    obedient,
    overflow,
    sse,
)
from tests.support.site import Site
from tests.support.twins.web import TavilyTwin

_STREAMED = {name: script for name, script in conforming().items() if script.answer.stream is None}
_WHOLE = {name: script for name, script in conforming().items() if script.answer.stream is False}
_CALL = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"query": "mill"}'}}


@pytest.fixture
def client() -> Iterator[httpx2.Client]:
    with httpx2.Client(timeout=60, trust_env=False) as client:
        yield client


def _official(endpoint: Endpoint, http: httpx2.Client, key: str = "sk-test") -> openai.OpenAI:
    return openai.OpenAI(base_url=endpoint.base_url, api_key=key, max_retries=0, http_client=http)


def _post(
    client: httpx2.Client, endpoint: Endpoint, headers: dict[str, str] | None = None, **body: Any
) -> httpx2.Response:
    request = {"model": "test-model", "messages": QUESTION, "stream": True} | body
    kept = {name: value for name, value in request.items() if value is not None}
    return client.post(f"{endpoint.base_url}/chat/completions", json=kept, headers=headers)


def _events(response: httpx2.Response) -> list[Any]:
    lines = [line.removeprefix("data: ") for line in response.text.split("\n") if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


# conforming replies, read by the official client


@pytest.mark.parametrize("script", _STREAMED.values(), ids=_STREAMED)
def test_the_official_client_reads_what_the_script_says(script: Script, client: httpx2.Client) -> None:
    with Endpoint(script.answer, dialect=script.dialect) as endpoint:
        reading = ask_official_client(_official(endpoint, client))
    assert endpoint.faults == []
    assert reading.text == script.answer.text
    assert reading.calls == script.calls
    assert reading.finish == (script.dialect.finish_calls if script.calls else "stop")
    assert reading.usage == (321, 45, 128)


@pytest.mark.parametrize("script", _WHOLE.values(), ids=_WHOLE)
def test_the_official_client_reads_a_reply_in_one_body(script: Script, client: httpx2.Client) -> None:
    with Endpoint(script.answer, dialect=script.dialect) as endpoint:
        reply = _official(endpoint, client).chat.completions.create(
            model="test-model",
            messages=QUESTION,  # type: ignore[arg-type]  # plain dictionaries, as they go out
        )
    message = reply.choices[0].message
    assert message.content == script.answer.text
    calls = [each for each in message.tool_calls or () if each.type == "function"]
    assert [(each.id, each.function.name, each.function.arguments) for each in calls] == script.calls
    assert reply.usage is not None
    assert reply.usage.total_tokens == 366


def test_the_official_client_lists_the_models(client: httpx2.Client) -> None:
    with Endpoint("x", rules=Rules(models=("small", "large"), api_key="sk-1")) as endpoint:
        listed = _official(endpoint, client, "sk-1").models.list()
    assert [model.id for model in listed] == ["small", "large"]


@pytest.mark.parametrize(
    ("rules", "key", "model", "error"),
    [
        (Rules(api_key="sk-right"), "sk-wrong", "test-model", openai.AuthenticationError),
        (Rules(models=("other",)), "sk", "test-model", openai.NotFoundError),
        (Rules(context_chars=10), "sk", "test-model", openai.BadRequestError),
        (Rules(loading=1), "sk", "test-model", openai.InternalServerError),
    ],
)
def test_the_official_client_recognises_the_refusals(
    rules: Rules, key: str, model: str, error: type[openai.APIStatusError], client: httpx2.Client
) -> None:
    with Endpoint("x", rules=rules) as endpoint:
        with pytest.raises(error):
            _official(endpoint, client, key).chat.completions.create(
                model=model,
                messages=QUESTION,  # type: ignore[arg-type]  # plain dictionaries, as they go out
            )
        assert endpoint.played == 0
    assert endpoint.faults == []


def test_the_official_client_recognises_a_quota(client: httpx2.Client) -> None:
    with Endpoint(Problem("quota")) as endpoint, pytest.raises(openai.RateLimitError) as caught:
        ask_official_client(_official(endpoint, client))
    assert caught.value.code == "insufficient_quota"


# how a stream is written


def test_usage_comes_only_when_asked_for_unless_the_dialect_always_sends_it(client: httpx2.Client) -> None:
    for dialect, always in ((OPENAI, False), (OLLAMA, False), (GEMINI, True), (OPENROUTER, True)):
        with Endpoint("Hello.", dialect=dialect) as endpoint:
            unasked = _events(_post(client, endpoint))
            asked = _events(_post(client, endpoint, stream_options={"include_usage": True}))
        assert any(event.get("usage") for event in unasked) is always
        assert any(event.get("usage") for event in asked)


@pytest.mark.parametrize(("place", "kinds"), [("null", {"null"}), ("absent", {"absent"})])
def test_usage_can_be_null_or_absent(place: Any, kinds: set[str], client: httpx2.Client) -> None:
    with Endpoint(Answer("Hi", usage_place=place)) as endpoint:
        events = _events(_post(client, endpoint, stream_options={"include_usage": True}))
    assert {
        "absent" if "usage" not in event else "null" if event["usage"] is None else "there" for event in events
    } == kinds


@pytest.mark.parametrize(
    ("style", "numbers", "count"),
    [
        ("fragments", [0, 0, 0, 1, 1, 1], 6),
        ("interleaved", [0, 1, 0, 1, 0, 1], 6),
        ("whole", [0, 1], 2),
        ("together", [None, None], 1),
        ("no_index", [None, None], 2),
        ("no_index_fragments", [None] * 6, 6),
        ("index_zero", [0] * 6, 6),
        ("repeated_name", [0, 0, 0, 1, 1, 1], 6),
    ],
)
def test_each_style_writes_its_call_deltas(
    style: Any, numbers: list[int | None], count: int, client: httpx2.Client
) -> None:
    calls = (Call("search", {"query": "a"}), Call("search", {"query": "b"}))
    with Endpoint(Answer(calls=calls, call_style=style)) as endpoint:
        deltas = [event["choices"][0]["delta"] for event in _events(_post(client, endpoint)) if event["choices"]]
    parts = [part for delta in deltas for part in delta.get("tool_calls", ())]
    assert [part.get("index") for part in parts] == numbers
    assert sum("tool_calls" in delta for delta in deltas) == count
    assert "".join(part["function"]["arguments"] for part in parts if part.get("index") in (0, None)).startswith('{"q')
    names = sum("name" in part["function"] for part in parts)
    assert names == (6 if style == "repeated_name" else 2)


def test_arguments_can_be_an_object_or_encoded_twice(client: httpx2.Client) -> None:
    call = Call("search", {"query": "a"})
    with Endpoint(
        Answer(calls=(call,), call_style="object"), Answer(calls=(call,), call_style="double_encoded")
    ) as each:
        first, second = (
            _events(_post(client, each))[1]["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"]
            for _ in range(2)
        )
    assert first == {"query": "a"}
    assert json.loads(json.loads(second)) == {"query": "a"}


def test_thoughts_come_where_the_dialect_or_the_script_puts_them(client: httpx2.Client) -> None:
    def contents(answer: Answer, dialect: Dialect, field: str) -> str:
        with Endpoint(answer, dialect=dialect) as endpoint:
            events = _events(_post(client, endpoint))
        return "".join(event["choices"][0]["delta"].get(field) or "" for event in events if event["choices"])

    answer = Answer("Yes.", reasoning="Hm.")
    assert contents(answer, OLLAMA, "reasoning") == "Hm."
    assert contents(answer, LLAMACPP, "reasoning_content") == "Hm."
    assert (
        contents(Answer("Yes.", reasoning="Hm.", reasoning_place="think"), VLLM, "content") == "<think>Hm.</think>Yes."
    )
    assert (
        contents(Answer("Yes.", reasoning="Hm.", reasoning_place="think_unopened"), VLLM, "content")
        == "Hm.</think>Yes."
    )


def test_framing_follows_the_script(client: httpx2.Client) -> None:
    form = Sse(newline="\r\n", space=False, comments=("ping",), done=True, final_newline=False)
    with Endpoint(Answer("Hi", sse=form)) as endpoint:
        body = _post(client, endpoint).content
    assert body.startswith(b": ping\r\n\r\ndata:{")
    assert body.endswith(b"\r\n\r\ndata:[DONE]")


def test_bytes_that_are_not_utf8_go_out_as_they_are(client: httpx2.Client) -> None:
    with Endpoint(Answer("caf\udce9")) as endpoint:
        assert b'"caf\xe9"' in _post(client, endpoint).content


def test_fifty_megabytes_are_streamed(client: httpx2.Client) -> None:
    with Endpoint(Answer("x" * 50_000_000, delta_chars=100_000)) as endpoint:
        assert len(_post(client, endpoint).content) > 50_000_000


def test_a_json_body_can_answer_a_request_for_a_stream(client: httpx2.Client) -> None:
    with Endpoint(Answer("Hi", stream=False)) as endpoint:
        response = _post(client, endpoint)
    assert response.headers["content-type"] == "application/json"
    assert response.json()["choices"][0]["message"]["content"] == "Hi"


# failures


@pytest.mark.parametrize(("kind", "dialect"), each_once(KINDS, DIALECTS))
def test_every_failure_has_its_status_and_words_in_every_dialect(
    kind: str, dialect: str, client: httpx2.Client
) -> None:
    with Endpoint(Problem(kind, message="It went “wrong”."), dialect=DIALECTS[dialect]) as endpoint:
        response = _post(client, endpoint)
    assert response.status_code == KINDS[kind][0]
    assert "It went “wrong”." in json.dumps(response.json(), ensure_ascii=False)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("openai", {"error": {"message": "m", "type": "server_error", "param": None, "code": None}}),
        ("string", {"error": "m"}),
        ("llamacpp", {"error": {"code": 500, "message": "m", "type": "server_error"}}),
        ("vllm_old", {"object": "error", "message": "m", "type": "BadRequestError", "param": None, "code": 500}),
        ("gemini_list", [{"error": {"code": 500, "message": "m", "status": "INTERNAL"}}]),
        ("detail", {"detail": "m"}),
        ("detail_list", {"detail": [{"loc": ["body", "messages"], "msg": "m", "type": "value_error"}]}),
        ("openrouter", {"error": {"code": 500, "message": "m", "metadata": {"provider_name": "Example"}}}),
    ],
)
def test_each_shape_of_an_error(shape: Any, expected: Any, client: httpx2.Client) -> None:
    with Endpoint(Problem("server", message="m", shape=shape)) as endpoint:
        assert _post(client, endpoint).json() == expected


def test_an_error_can_be_a_web_page_with_headers(client: httpx2.Client) -> None:
    problem = Problem("bad_gateway", shape="html", headers=(("Retry-After", "1.5"), ("x-should-retry", "true")))
    with Endpoint(problem) as endpoint:
        response = _post(client, endpoint)
    assert response.status_code == 502
    assert "<h1>Bad gateway</h1>" in response.text
    assert response.headers["retry-after"] == "1.5"


def test_an_error_can_come_inside_a_success(client: httpx2.Client) -> None:
    with Endpoint(Problem("rate", where="body"), Problem("rate", where="choice"), dialect=OPENROUTER) as endpoint:
        top, inside = _post(client, endpoint), _post(client, endpoint)
    assert (top.status_code, inside.status_code) == (200, 200)
    assert top.json()["error"]["code"] == 429
    assert inside.json()["choices"][0]["error"]["code"] == 429


@pytest.mark.parametrize(
    "shape", ["openai", "string", "llamacpp", "vllm_old", "gemini_list", "detail", "detail_list", "text", "html"]
)
def test_an_error_of_every_shape_can_come_as_a_choice(shape: Any, client: httpx2.Client) -> None:
    with Endpoint(Problem("rate", message="Too fast.", shape=shape, where="choice")) as endpoint:
        response = _post(client, endpoint)
    (choice,) = response.json()["choices"]
    assert response.status_code == 200
    assert "Too fast." in json.dumps(choice["error"])
    assert choice["finish_reason"] == "error"


def test_a_body_can_be_sent_slowly(client: httpx2.Client) -> None:
    with Endpoint(Answer("Hi", delta_chars=1, wire=Wire(pause_s=0.02))) as endpoint:
        started = time.monotonic()
        count = len(_events(_post(client, endpoint)))
        assert time.monotonic() - started >= 0.02 * count


def test_a_stream_can_end_with_an_error(client: httpx2.Client) -> None:
    answer = Answer("Half an ans", fails=Problem("unavailable"))
    for dialect in DIALECTS.values():
        with Endpoint(answer, dialect=dialect) as endpoint:
            response = _post(client, endpoint)
        last = _events(response)[-1]
        assert "The server is not available" in json.dumps(last)
        assert "[DONE]" not in response.text


def test_a_redirect_and_any_other_bytes(client: httpx2.Client) -> None:
    with Endpoint(
        Raw(status=302, headers=(("Location", "http://127.0.0.1:9/"),), content_type="text/plain"),
        Raw(sse({"choices": []}, "not json", "[DONE]")),
    ) as endpoint:
        assert _post(client, endpoint).headers["location"] == "http://127.0.0.1:9/"
        assert _post(client, endpoint).text == 'data: {"choices": []}\n\ndata: not json\n\ndata: [DONE]\n\n'


# rules


def test_a_parameter_is_refused_as_long_as_it_is_sent(client: httpx2.Client) -> None:
    with Endpoint("ok", rules=Rules(refuses={"max_tokens": "max_completion_tokens"})) as endpoint:
        for _ in range(2):
            refused = _post(client, endpoint, max_tokens=5)
            assert refused.status_code == 400
            assert refused.json()["error"]["param"] == "max_tokens"
            assert "Use 'max_completion_tokens' instead" in refused.text
        assert _post(client, endpoint, max_completion_tokens=5).status_code == 200
    assert (len(endpoint.requests), endpoint.played, endpoint.faults) == (3, 1, [])


def test_tools_can_need_an_effort(client: httpx2.Client) -> None:
    with Endpoint("ok", rules=Rules(tools_need_effort=True)) as endpoint:
        assert _post(client, endpoint, tools=[SEARCH]).status_code == 400
        assert _post(client, endpoint, tools=[SEARCH], reasoning_effort="none").status_code == 200
        assert _post(client, endpoint).status_code == 200


def test_a_model_that_is_loading_is_ready_after_some_requests(client: httpx2.Client) -> None:
    with Endpoint("ok", dialect=LLAMACPP, rules=Rules(loading=2)) as endpoint:
        assert [_post(client, endpoint).status_code for _ in range(3)] == [503, 503, 200]


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_a_prompt_beyond_the_context_is_refused_in_the_words_of_the_dialect_or_cut(
    dialect: Dialect, client: httpx2.Client
) -> None:
    long = [QUESTION[0], {"role": "user", "content": "x" * 4000}, {"role": "assistant", "content": "y"}, QUESTION[1]]
    seen: list[int] = []

    def count(request: Any) -> str:
        seen.append(len(request.messages))
        return "ok"

    with Endpoint(count, dialect=dialect, rules=Rules(context_chars=800)) as endpoint:
        response = _post(client, endpoint, messages=long, stream_options={"include_usage": True})
    if dialect.silent_overflow:
        usage = next(event["usage"] for event in _events(response) if event.get("usage"))
        assert usage["prompt_tokens"] <= 200
        assert seen == [3]
    else:
        problem = overflow(dialect, 1009, 200)
        assert response.status_code == 400
        assert problem.message is not None
        assert problem.message in response.text
    assert endpoint.faults == []


def test_a_key_is_demanded_and_a_wrong_one_is_echoed(client: httpx2.Client) -> None:
    with Endpoint("ok", rules=Rules(api_key="sk-right")) as endpoint:
        wrong = _post(client, endpoint, headers={"Authorization": "Bearer sk-wrong"})
        assert (wrong.status_code, "sk-wrong" in wrong.text) == (401, True)
        assert _post(client, endpoint).status_code == 401
        assert _post(client, endpoint, headers={"Authorization": "Bearer sk-right"}).status_code == 200


# requests that no endpoint takes


_ANSWERED = [QUESTION[1], {"role": "assistant", "content": None, "tool_calls": [_CALL]}]
_RESULT = {"role": "tool", "tool_call_id": "c1", "content": "nothing"}


def _call(**more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": "", "tool_calls": [_CALL | more]}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"model": None}, "model"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "role"),
        ({"messages": [{"role": "assistant", "content": None}]}, "<nil>"),
        ({"messages": [{"role": "user", "content": 5}]}, "content"),
        ({"messages": [_RESULT]}, "preceding message"),
        ({"messages": _ANSWERED}, "must be followed"),
        ({"messages": [*_ANSWERED, QUESTION[1]]}, "must be followed"),
        ({"messages": [*_ANSWERED, _RESULT | {"tool_call_id": "c2"}]}, "not asked for"),
        ({"messages": [*_ANSWERED, _RESULT, _RESULT]}, "preceding message"),
        ({"messages": [_call(id=""), _RESULT]}, "no id"),
        ({"messages": [_call(function={"name": "search", "arguments": {}}), _RESULT]}, "must be a string"),
        ({"messages": [{"role": "assistant", "content": "", "tool_calls": [_CALL, _CALL]}, _RESULT]}, "one id"),
        ({"messages": [{"role": "assistant", "content": "", "tool_calls": []}]}, "must not be empty"),
        ({"tools": []}, "tools"),
        ({"tools": [{"type": "function", "function": {"name": "a b", "parameters": {"type": "object"}}}]}, "name"),
        ({"tools": [SEARCH, SEARCH]}, "one name"),
        ({"tools": [{"type": "function", "function": {"name": "a", "parameters": {}}}]}, "object schema"),
        ({"tool_choice": "none"}, "tool_choice"),
        ({"tools": [SEARCH], "tool_choice": "maybe"}, "tool_choice"),
        ({"parallel_tool_calls": False}, "parallel_tool_calls"),
        ({"stream": False, "stream_options": {"include_usage": True}}, "stream_options"),
        ({"max_tokens": 5, "max_completion_tokens": 5}, "cannot both"),
        ({"max_tokens": 0}, "positive"),
        ({"temperature": 3}, "temperature"),
        ({"surprise": 1}, "Unknown parameter"),
        ({"reasoning_effort": "huge"}, "reasoning_effort"),
        ({"response_format": {"type": "yaml"}}, "response_format"),
        ({"response_format": {"type": "json_schema", "json_schema": {"name": "a"}}}, "schema is missing"),
    ],
)
def test_an_invalid_request_is_refused_and_noted(body: dict[str, Any], words: str, client: httpx2.Client) -> None:
    with Endpoint("ok") as endpoint:
        response = _post(client, endpoint, **body)
        assert response.status_code == 400
        assert words in response.json()["error"]["message"]
        assert len(endpoint.faults) == 1
        assert (len(endpoint.requests), endpoint.played) == (1, 0)


def test_a_strict_schema_must_be_closed_and_complete(client: httpx2.Client) -> None:
    def form(**schema: Any) -> dict[str, Any]:
        whole = {"type": "object", "properties": {"a": {"type": "string"}}} | schema
        return {"type": "json_schema", "json_schema": {"name": "x", "strict": True, "schema": whole}}

    with Endpoint("ok") as endpoint:
        assert "additionalProperties" in _post(client, endpoint, response_format=form(required=["a"])).text
        assert "required" in _post(client, endpoint, response_format=form(additionalProperties=False)).text
        good = form(required=["a"], additionalProperties=False)
        assert _post(client, endpoint, response_format=good).status_code == 200


def test_a_conversation_with_calls_is_taken(client: httpx2.Client) -> None:
    for dialect in (OPENAI, OLLAMA, LLAMACPP, VLLM, OPENROUTER, LMSTUDIO, ANTHROPIC):
        with Endpoint("ok", dialect=dialect) as endpoint:
            assert _post(client, endpoint, messages=[*_ANSWERED, _RESULT], tools=[SEARCH]).status_code == 200


def test_dialects_refuse_what_theirs_do(client: httpx2.Client) -> None:
    broken = [_call(function={"name": "search", "arguments": '{"query'}), _RESULT]
    named = {"type": "function", "function": {"name": "search"}}
    cases: list[tuple[Dialect, dict[str, Any], int]] = [
        (OLLAMA, {"messages": broken}, 400),
        (LLAMACPP, {"messages": broken}, 500),
        (OPENAI, {"messages": broken}, 200),
        (ANTHROPIC, {"messages": [*_ANSWERED, _RESULT]}, 400),
        (ANTHROPIC, {"temperature": 1.5}, 400),
        (LMSTUDIO, {"tools": [SEARCH], "tool_choice": named}, 400),
        (OPENAI, {"tools": [SEARCH], "tool_choice": named}, 200),
        (OLLAMA, {"surprise": 1}, 200),
    ]
    for dialect, body, status in cases:
        with Endpoint("ok", dialect=dialect) as endpoint:
            assert _post(client, endpoint, **body).status_code == status, (dialect.name, body)


def test_gemini_wants_its_signature_back(client: httpx2.Client) -> None:
    with Endpoint(Answer(calls=(Call("search", {"query": "a"}),)), "ok", dialect=GEMINI) as endpoint:
        call = _events(_post(client, endpoint, tools=[SEARCH]))[0]["choices"][0]["delta"]["tool_calls"][0]
        result = _RESULT | {"tool_call_id": call["id"]}
        bare = {name: value for name, value in call.items() if name != "extra_content"}
        without = [QUESTION[1], {"role": "assistant", "content": None, "tool_calls": [bare]}, result]
        refused = _post(client, endpoint, messages=without, tools=[SEARCH])
        assert refused.status_code == 400
        assert "thought_signature" in refused.json()[0]["error"]["message"]
        echoed = [QUESTION[1], {"role": "assistant", "content": None, "tool_calls": [call]}, result]
        assert _post(client, endpoint, messages=echoed, tools=[SEARCH]).status_code == 200


def test_other_paths_and_bodies_that_are_no_json_are_faults(client: httpx2.Client) -> None:
    with Endpoint("ok") as endpoint:
        assert client.post(f"{endpoint.base_url}/responses", json={}).status_code == 404
        assert client.get(f"{endpoint.base_url}/chat/completions").status_code == 404
        headers = {"Content-Type": "application/json"}
        assert client.post(f"{endpoint.base_url}/chat/completions", content=b"{", headers=headers).status_code == 400
        assert len(endpoint.faults) == 3


# connections


def test_requests_connections_and_prompts_are_recorded(client: httpx2.Client) -> None:
    with Endpoint("one", "two") as endpoint:
        for _ in range(2):
            _post(client, endpoint, tools=[SEARCH])
        longer = [*QUESTION, {"role": "assistant", "content": "one"}, QUESTION[1]]
        assert '"con' in _post(client, endpoint, tools=[SEARCH], messages=longer).text
        httpx2.post(f"{endpoint.base_url}/chat/completions", json={"model": "test-model", "messages": QUESTION})
    first, again, third, other = endpoint.requests
    assert (first.connection, again.connection, other.connection) == (0, 0, 1)
    assert endpoint.connections == 2
    assert json.loads(first.body)["messages"] == QUESTION
    assert first.prompt == again.prompt
    assert third.prompt.startswith(first.prompt)
    assert not third.prompt.startswith(other.prompt)
    assert first.tool_names == ["search"]


def test_the_last_entry_repeats_and_another_script_can_begin(client: httpx2.Client) -> None:
    def content() -> str:
        return str(_post(client, endpoint, stream=False).json()["choices"][0]["message"]["content"])

    with Endpoint("one", "two") as endpoint:
        assert [content() for _ in range(3)] == ["one", "two", "two"]
        endpoint.play("three")
        assert content() == "three"


def _cut(client: httpx2.Client, endpoint: Endpoint) -> tuple[bytes, bool]:
    """The bytes that came, and whether the client saw that the body was cut."""
    got = bytearray()
    url = f"{endpoint.base_url}/chat/completions"
    try:
        with client.stream("POST", url, json={"model": "test-model", "messages": QUESTION, "stream": True}) as response:
            for piece in response.iter_raw():
                got += piece
    except httpx2.TransportError:
        return bytes(got), True
    return bytes(got), False


@pytest.mark.parametrize(("how", "noticed"), [("close", True), ("reset", True), ("end", False)])
def test_a_stream_is_cut_at_the_byte(how: Any, noticed: bool, client: httpx2.Client) -> None:
    with Endpoint(Answer("Hello.")) as endpoint:
        whole, cut = _cut(client, endpoint)
        assert not cut
        for position in (0, 1, 7, len(whole) - 1):
            endpoint.play(Answer("Hello.", wire=Wire(cut_after=position, cut=how)))
            got, cut = _cut(client, endpoint)
            assert cut is noticed
            assert got == whole[:position] or (how == "reset" and whole.startswith(got))


@pytest.mark.parametrize("position", [0, 40])
def test_a_silent_body_goes_on_when_it_is_released(position: int, client: httpx2.Client) -> None:
    with Endpoint(Answer("Hello.", wire=Wire(silent_after=position))) as endpoint:
        url = f"{endpoint.base_url}/chat/completions"
        body = {"model": "test-model", "messages": QUESTION, "stream": True}
        with client.stream("POST", url, json=body) as left:
            assert left.status_code == 200
            endpoint.wait_for_bytes(position)
        endpoint.wait_for_abandoned()
        assert endpoint.sent_bytes == position
        with client.stream("POST", url, json=body) as stayed:
            endpoint.release()
            assert stayed.read().endswith(b"[DONE]\n\n")


def test_silence_can_come_before_the_headers(client: httpx2.Client) -> None:
    with Endpoint(Answer("Hello.", wire=Wire(silent_before_headers=True))) as endpoint:
        client.timeout = httpx2.Timeout(60, read=1.0)
        with pytest.raises(httpx2.ReadTimeout):
            _post(client, endpoint)
        endpoint.wait_for_abandoned()
        endpoint.release()
        client.timeout = httpx2.Timeout(60)
        assert _post(client, endpoint).text.endswith("[DONE]\n\n")


def test_a_gated_body_goes_piece_by_piece(client: httpx2.Client) -> None:
    with Endpoint(Answer("abcdef", delta_chars=2, wire=Wire(gated=True))) as endpoint:
        url = f"{endpoint.base_url}/chat/completions"
        body = {"model": "test-model", "messages": QUESTION, "stream": True}
        with client.stream("POST", url, json=body) as response:
            pieces = response.iter_raw()
            endpoint.step(2)
            assert b'"role"' in next(pieces)
            assert b'"ab"' in next(pieces)
            endpoint.step()
            assert b'"cd"' in next(pieces)
        endpoint.wait_for_abandoned()
        assert endpoint.abandoned == 1


def test_a_client_that_leaves_is_noticed_and_one_that_stays_is_not(client: httpx2.Client) -> None:
    with Endpoint("Hello.") as endpoint:
        _post(client, endpoint)
        _post(client, endpoint)
    assert endpoint.abandoned == 0


# models that read


def _passage_reply(client: httpx2.Client, endpoint: Endpoint, content: str) -> str:
    messages = [*_ANSWERED, _RESULT | {"content": content}]
    return str(_post(client, endpoint, messages=messages, tools=[SEARCH], stream=False).json())


def test_an_obedient_model_calls_the_first_tool_and_cites_what_it_was_shown(client: httpx2.Client) -> None:
    with Endpoint(obedient) as endpoint:
        asked = _post(client, endpoint, tools=[SEARCH], stream=False).json()["choices"][0]["message"]
        assert asked["tool_calls"][0]["function"]["arguments"] == '{"query": "When did the mill burn?"}'
        shown = "<passage ab12 P7f3a title=x>\nfire\n</passage ab12>\n<passage ab12 P09c2>"
        assert "[P7f3a, P09c2]" in _passage_reply(client, endpoint, shown)
        assert "could not find" in _passage_reply(client, endpoint, "Nothing found.")


def test_a_function_of_the_script_that_fails_is_a_fault(client: httpx2.Client) -> None:
    def broken(request: Any) -> str:
        return str(request.messages[99])

    with Endpoint(broken) as endpoint:
        assert _post(client, endpoint).status_code == 500
        assert "IndexError" in endpoint.faults[0]


def test_usage_is_counted_from_the_request_unless_the_script_says_it(client: httpx2.Client) -> None:
    with Endpoint("four tokens here", Answer("x", usage=Usage(7, 3))) as endpoint:
        counted = _post(client, endpoint, stream=False).json()["usage"]
        said = _post(client, endpoint, stream=False).json()["usage"]
    characters = sum(len(message["content"]) for message in QUESTION)
    assert (counted["prompt_tokens"], counted["completion_tokens"]) == (characters // 4, 4)
    assert (said["prompt_tokens"], said["completion_tokens"]) == (7, 3)


def test_it_can_be_run_by_hand(tmp_path: Any, client: httpx2.Client) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps(["Hi.", {"text": "B", "calls": [{"name": "search"}]}, {"problem": "rate"}]))
    command = [sys.executable, "-m", "tests.support.endpoint", "--script", str(script), "gemini"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert url.endswith("/v1beta/openai")
        body = {"model": "test-model", "messages": QUESTION}
        replies = [client.post(f"{url}/chat/completions", json=body) for _ in range(3)]
        assert [reply.status_code for reply in replies] == [200, 200, 429]
        assert replies[1].json()["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "search"
        process.communicate()
    assert process.returncode == 0


@pytest.mark.extended
@pytest.mark.parametrize("serve", [lambda: Endpoint("never"), TavilyTwin, Site], ids=["endpoint", "twin", "site"])
def test_a_client_that_comes_as_a_server_ends_leaves_no_socket_open(serve: Callable[[], Any]) -> None:
    gc.collect()
    with warnings.catch_warnings(record=True) as left_open:
        warnings.simplefilter("always", ResourceWarning)
        for _ in range(20):
            with serve() as server:
                url = urlsplit(server.url() if isinstance(server, Site) else server.base_url)
                client = socket.create_connection(("127.0.0.1", url.port or 0))
            client.close()
        gc.collect()
    assert [str(each.message) for each in left_open] == []
