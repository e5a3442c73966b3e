"""The adapter over real connections: what is tried again, what is adapted, how long anything is waited for."""

from __future__ import annotations

import json
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest

from asky.config.schema import Timeouts
from asky.errors import AuthenticationFailed, ConfigError, ProviderError, TimedOut, Unreachable
from asky.llm.endpoint.endpoint import Endpoint as Configured
from asky.llm.endpoint.endpoint import Prices, TransientMemory
from asky.llm.endpoint.openai_compatible import OpenAICompatibleModel
from asky.llm.port import Message, ModelUsage
from asky.net.http import client_factory
from asky.net.retry import Retry, Waiting
from tests.support.adapters import KEY, QUESTION, SEARCH_SPEC, Heard, configured_model, hear, hear_once, open_model
from tests.support.endpoint import LLAMACPP, OPENROUTER, Answer, Call, Endpoint, Problem, Raw, Rules, Wire, sse

SCHEMA = {"type": "object", "properties": {"year": {"type": "integer"}}}


@dataclass
class Time:
    """A clock that only waiting moves, or each look at it by `step_s`."""

    now: float = 0.0
    step_s: float = 0.0
    waits: list[float] = field(default_factory=list)

    def read(self) -> float:
        self.now += self.step_s
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


def model_in(time: Time, base_url: str, timeouts: Timeouts, *, max_tries: int = 3) -> OpenAICompatibleModel:
    return OpenAICompatibleModel(
        Configured("mill", "test", base_url, "test-model", KEY, 32_000, timeouts=timeouts),
        client=client_factory(base_url),
        retry=Retry(max_tries=max_tries),
        waiting=Waiting(clock=time.read, sleep=time.sleep, jitter=lambda: 0.5),
    )


def hear_within(seconds: float, model: OpenAICompatibleModel) -> Heard:
    async def main() -> Heard:
        with anyio.fail_after(seconds):
            return await hear(model)

    return anyio.run(main)


# reaching it


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port where connections are accepted and nothing is ever said."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield server.getsockname()[1]


def test_a_connection_that_does_not_come_about_is_given_up_once_and_in_time(silent_port: int) -> None:
    timeouts = Timeouts(connect_s=2.0, first_token_s=60)  # its last tenth is enough to close the connection
    model = configured_model(f"https://127.0.0.1:{silent_port}/v1", timeouts=timeouts, retry=Retry(max_tries=3))
    heard = hear_within(60, model)
    assert isinstance(heard.error, Unreachable)
    assert f"127.0.0.1:{silent_port}" in heard.error.message


def test_an_endpoint_without_tls_is_not_reached_with_it() -> None:
    with Endpoint("x") as server:
        heard = hear_within(60, configured_model(server.base_url.replace("http:", "https:"), retry=Retry()))
        assert isinstance(heard.error, Unreachable)
        assert "TLS" in heard.error.message
        assert server.connections == 1


def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate")
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    make = f"openssl req -x509 -newkey rsa:2048 -nodes -keyout {key} -out {certificate} -days 2 -subj /CN=localhost"
    subprocess.run(make.split(), check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with closing(socket.create_server(("127.0.0.1", 0))) as server:

        def accept() -> None:
            connection, _ = server.accept()
            with closing(connection), pytest.raises(ssl.SSLError):
                context.wrap_socket(connection, server_side=True).close()

        thread = threading.Thread(target=accept)
        thread.start()
        heard = hear_within(60, configured_model(f"https://127.0.0.1:{server.getsockname()[1]}/v1", retry=Retry()))
        thread.join(60)
    assert isinstance(heard.error, Unreachable)
    assert "certificate" in heard.error.message


def test_a_name_that_does_not_exist_is_unreachable() -> None:
    heard = hear_within(60, configured_model("http://no-such-host.invalid:81/v1?key=secret", retry=Retry()))
    assert isinstance(heard.error, Unreachable)
    assert "no-such-host.invalid:81" in heard.error.message
    assert "secret" not in heard.error.message


def test_refused_connections_are_tried_again_within_the_time_for_connecting() -> None:
    time = Time()
    with socket.socket() as closed:  # nobody listens, and nobody else gets the port
        closed.bind(("127.0.0.1", 0))
        base_url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
        heard = hear_once(model_in(time, base_url, Timeouts(connect_s=5), max_tries=100))
    assert isinstance(heard.error, Unreachable)
    assert "refused" in heard.error.message
    assert 2 < sum(time.waits) < 5


def test_an_address_that_is_not_of_the_web_is_a_mistake_of_the_configuration() -> None:
    for url in ("", "localhost:8080", "ftp://x/v1", "http://"):
        with pytest.raises(ConfigError):
            configured_model(url)


# the key


def test_the_key_goes_nowhere_else() -> None:
    with Endpoint("caught") as other:
        location = other.base_url + "/chat/completions?key=secret"
        for status in (301, 302, 307, 308):
            with Endpoint(Raw(status=status, headers=(("Location", location),))) as server:
                heard = hear_once(open_model(server, retry=Retry()))
                assert isinstance(heard.error, ProviderError)
                assert "127.0.0.1" in heard.error.message
                assert "secret" not in heard.error.message
                assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
                assert len(server.requests) == 1
        assert other.connections == 0


@pytest.mark.parametrize("key", ["sk-secret\r\nX-Other: 1", "sk-sécret", "sk-secret\0"])
def test_a_key_that_no_header_can_hold_is_refused_before_anything_is_sent(key: str) -> None:
    with Endpoint("x") as server:
        heard = hear_once(open_model(server, api_key=key, api_key_env="MILL_KEY"))
        assert isinstance(heard.error, AuthenticationFailed)
        assert "MILL_KEY" in heard.error.message
        assert "cret" not in heard.error.message
        assert server.requests == []


def test_white_space_around_a_key_is_not_part_of_it() -> None:
    with Endpoint("ok", rules=Rules(api_key=KEY)) as server:
        assert hear_once(open_model(server, api_key=f" {KEY}\n")).text == "ok"


def test_without_a_key_none_is_sent() -> None:
    with Endpoint("ok") as server:
        hear_once(open_model(server, api_key=None))
        assert "authorization" not in server.requests[0].headers


# time


def test_a_model_that_loads_is_waited_for_as_long_as_a_first_token_may_take() -> None:
    time = Time()
    with Endpoint("x", dialect=LLAMACPP, rules=Rules(loading=1000)) as server:
        heard = hear_once(model_in(time, server.base_url, Timeouts(first_token_s=30)))
        assert isinstance(heard.error, ProviderError)
        assert "Loading" in heard.error.message
    assert 25 < sum(time.waits) < 30


def test_a_call_ends_when_its_time_is_over_however_alive_it_is() -> None:
    with Endpoint(Answer("tick " * 1000, delta_chars=1)) as server:
        heard = hear_once(model_in(Time(step_s=0.01), server.base_url, Timeouts(total_s=1.0)))
        assert isinstance(heard.error, TimedOut)
        assert "total_s" in (heard.error.hint or "")
        assert "tick" in heard.text


def test_each_silence_is_measured_anew() -> None:
    with Endpoint(Answer("tick " * 20, delta_chars=1)) as server:
        timeouts = Timeouts(first_token_s=1.0, between_tokens_s=1.0, total_s=900.0)
        assert hear_once(model_in(Time(step_s=0.05), server.base_url, timeouts)).finish == "stop"


def test_a_reply_that_has_ended_is_not_kept_by_a_stream_that_does_not_end() -> None:
    stream = sse({"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]}) + b": ping\n\n"
    with Endpoint(Raw(stream, wire=Wire(silent_after=len(stream) - 8))) as server:
        timeouts = Timeouts(first_token_s=20, between_tokens_s=2.0)
        heard = hear_within(60, open_model(server, timeouts=timeouts))
        assert (heard.text, heard.finish) == ("Hi", "stop")


# what breaks on the way


def test_an_error_after_some_text_is_raised_and_one_before_is_tried_again() -> None:
    for dialect in (LLAMACPP, OPENROUTER):
        with Endpoint(Answer("Half", fails=Problem("overloaded")), "Whole", dialect=dialect) as server:
            heard = hear_once(open_model(server, retry=Retry()))
            assert heard.text == "Half"
            assert type(heard.error) is ProviderError
            assert heard.error.retryable
            assert len(server.requests) == 1
            server.play(Answer("", fails=Problem("overloaded")), "Whole")
            assert hear_once(open_model(server, retry=Retry())).text == "Whole"


def test_what_came_of_a_reply_that_always_breaks_is_given_as_cut() -> None:
    cut = Answer(calls=(Call("search", {"query": "mill"}, "c1"),), wire=Wire(cut_after=700))
    with Endpoint(cut) as server:
        heard = hear_once(open_model(server, retry=Retry(max_tries=3)))
        assert heard.finish == "cut"
        assert len(server.requests) == 3


def test_an_error_that_always_ends_the_thinking_is_raised() -> None:
    with Endpoint(Answer("", reasoning="Let me see.", fails=Problem("overloaded"))) as server:
        heard = hear_once(open_model(server, retry=Retry(max_tries=3)))
        assert isinstance(heard.error, ProviderError)
        assert heard.error.retryable
        assert len(server.requests) == 3


def test_a_tool_that_may_not_be_called_is_not() -> None:
    with Endpoint(Answer("Hm.", calls=(Call("search", {"query": "mill"}),))) as server:
        heard = hear_once(open_model(server), QUESTION, (SEARCH_SPEC,), "none")
        assert (heard.text, heard.finish, heard.calls) == ("Hm.", "stop", [])
        assert heard.reply is not None
        assert "tool_calls" not in (heard.reply.message.raw or {})
        assert len(heard.reply.warnings) == 1


def test_unopened_thinking_is_shown_once_and_then_known() -> None:
    memory = TransientMemory()
    answer = Answer("It burned.", reasoning="I wonder.\n", reasoning_place="think_unopened", delta_chars=4)
    closed = Answer("\nIt burned.", reasoning="I wonder.\n", reasoning_place="think_unopened", delta_chars=4)
    with Endpoint(closed, answer, "No thoughts.") as server:
        texts = [hear_once(open_model(server, memory=memory)).text for _ in range(3)]
    assert texts == ["I wonder.\nIt burned.", "It burned.", "No thoughts."]


# adapting


def test_a_schema_is_asked_for_in_the_way_that_is_not_refused_and_that_is_kept() -> None:
    async def ask(model: OpenAICompatibleModel) -> None:
        async for _ in model.stream(QUESTION, (), schema=SCHEMA):
            pass

    memory = TransientMemory()
    with Endpoint('{"year": 1911}', rules=Rules(refuses={"response_format": None})) as server:
        for _ in range(2):
            anyio.run(ask, open_model(server, memory=memory))
        kinds = [request.json.get("response_format", {}).get("type") for request in server.requests]
        assert kinds == ["json_schema", "json_object", None, None]
        assert server.faults == []


def test_adapting_ends_and_what_did_not_help_is_not_kept() -> None:
    refuses = dict.fromkeys(("temperature", "top_p", "seed", "stop", "stream_options", "max_tokens"))
    memory = TransientMemory()
    fields: dict[str, Any] = {"parameters": {"temperature": 1, "top_p": 1, "seed": 1, "stop": ["x"]}, "memory": memory}
    with Endpoint("ok", rules=Rules(refuses=refuses)) as server:
        model = open_model(server, max_output_tokens=50, **fields)
        assert isinstance(hear_once(model).error, ProviderError)
        assert len(server.requests) == 5
        assert memory.recall(server.base_url, "test-model") == {}


def test_a_parameter_of_the_user_that_is_left_out_is_said_once() -> None:
    memory = TransientMemory()
    with Endpoint("ok", rules=Rules(refuses={"temperature": None})) as server:
        for _ in range(2):
            model = open_model(server, memory=memory, parameters={"temperature": 0.1})
            replies = [hear_once(model).reply for _ in range(2)]
            warnings = [reply.warnings for reply in replies if reply is not None]
            assert [len(each) for each in warnings] == [1, 0]
            assert "temperature" in warnings[0][0]


def test_a_conversation_can_move_to_an_endpoint_that_refuses_the_keys_of_another() -> None:
    def refuse_extras(request: Any) -> Any:
        odd = [key for message in request.messages for key in message if key not in ("role", "content")]
        message = f"Unknown parameter: 'messages[1].{odd[0]}'." if odd else ""
        return Problem("unknown_parameter", message=message, fields={"param": "messages[1].x"}) if odd else "ok"

    moved = (*QUESTION, Message("assistant", "Hi", raw={"role": "assistant", "content": "Hi", "x": 1}), QUESTION[1])
    with Endpoint(refuse_extras) as server:
        heard = hear_once(open_model(server), moved)
        assert heard.text == "ok"
        assert len(server.requests) == 2


# tools that may not be called


@pytest.mark.parametrize("text_tool_calls", [False, True])
def test_a_call_written_as_text_where_none_may_be_made_is_no_answer(text_tool_calls: bool) -> None:
    block = '<tool_call>\n{"name": "search", "arguments": {"query": "mill"}}\n</tool_call>'
    with Endpoint(block, dialect=LLAMACPP) as server:
        model = open_model(server, text_tool_calls=text_tool_calls)
        heard = hear_once(model, QUESTION, (SEARCH_SPEC,), "none")
    assert heard.text == ""
    assert heard.reply is not None
    assert heard.reply.finish == "stop"
    assert heard.reply.warnings == ("mill called a tool although none was allowed; the call was not run",)


def test_an_answer_where_no_tool_may_be_called_is_given_out_as_it_is() -> None:
    text = 'Write [P7f3a] {"name": "x"} and `<tool_call>` in <b>bold</b>.'
    with Endpoint(text, dialect=LLAMACPP) as server:
        assert hear_once(open_model(server), QUESTION, (SEARCH_SPEC,), "none").text == text


# what it cost


CUT_THINKING = Answer("", reasoning="Let me see. " * 20, reasoning_place="reasoning_content", wire=Wire(cut_after=2000))


def test_what_a_failed_try_used_is_part_of_what_the_call_used() -> None:
    prices = Prices(input=1.0, output=2.0)
    with Endpoint("Whole") as server:
        plain = hear_once(open_model(server, prices=prices)).reply
        server.play(CUT_THINKING, "Whole")
        heard = hear_once(open_model(server, retry=Retry(), prices=prices))
    assert plain is not None
    assert heard.reply is not None
    assert heard.text == "Whole"
    assert heard.reply.usage.estimated
    assert heard.reply.usage.prompt_tokens > 1.5 * plain.usage.prompt_tokens
    assert heard.reply.usage.completion_tokens > plain.usage.completion_tokens + 10
    assert (heard.reply.usage.cost_usd or 0) > (plain.usage.cost_usd or 0) > 0


def test_what_a_failed_call_used_is_told_with_its_error() -> None:
    failing = Answer(
        "", reasoning="Let me see. " * 20, reasoning_place="reasoning_content", fails=Problem("overloaded")
    )
    with Endpoint(failing) as server:
        spent = [hear_once(open_model(server, retry=Retry(max_tries=tries))).error for tries in (1, 3)]
    once, thrice = (error.spent for error in spent if error is not None)
    assert isinstance(once, ModelUsage)
    assert once.prompt_tokens > 0
    assert once.completion_tokens > 20
    assert (thrice.prompt_tokens, thrice.completion_tokens) == (3 * once.prompt_tokens, 3 * once.completion_tokens)


@pytest.mark.parametrize(
    ("wire", "has_thought"), [(Wire(silent_after=2000), True), (Wire(silent_before_headers=True), False)]
)
def test_a_call_that_ran_out_of_time_has_used_its_prompt_and_what_was_thought(wire: Wire, has_thought: bool) -> None:
    answer = Answer("Late", reasoning="Let me see. " * 50, reasoning_place="reasoning_content", wire=wire)
    with Endpoint(answer) as server:
        heard = hear_within(60, open_model(server, timeouts=Timeouts(first_token_s=2.0, between_tokens_s=1.0)))
    assert isinstance(heard.error, TimedOut)
    assert heard.error.spent.prompt_tokens > 0
    assert (heard.error.spent.completion_tokens > 5) is has_thought


@pytest.mark.parametrize("entry", [Problem("overloaded"), Problem("auth"), Raw(b"<html>hello</html>")])
def test_a_request_that_was_refused_has_used_nothing(entry: Any) -> None:
    with Endpoint(entry) as server:
        error = hear_once(open_model(server, retry=Retry())).error
    assert error is not None
    assert error.spent is None


# loading, sharing and remembering


def test_a_model_that_loads_is_not_asked_in_a_tight_loop() -> None:
    time = Time()
    body = b'{"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}'
    with Endpoint(Raw(body, 503, "application/json", (("Retry-After", "0"),))) as server:
        heard = hear_once(model_in(time, server.base_url, Timeouts(first_token_s=30)))
        assert isinstance(heard.error, ProviderError)
        assert len(server.requests) < 15
    assert min(time.waits) >= 0.5


def test_runs_that_share_a_model_share_its_connection_until_the_last_has_left() -> None:
    async def main(model: OpenAICompatibleModel) -> None:
        async with model:
            async with model:
                await hear(model)
            await hear(model)
        await hear(model)

    with Endpoint("ok") as server:
        anyio.run(main, open_model(server))
        assert [request.connection for request in server.requests] == [0, 0, 1]


def test_what_was_learned_is_kept_after_the_reply_and_off_the_event_loop() -> None:
    threads: list[int] = []

    class Noting(TransientMemory):
        def remember(self, base_url: str, model_id: str, facts: Mapping[str, Any]) -> None:
            threads.append(threading.get_ident())
            super().remember(base_url, model_id, facts)

    async def main(model: OpenAICompatibleModel) -> None:
        async for item in model.stream(QUESTION, ()):
            assert threads == [], item

    memory = Noting()
    with Endpoint("ok", rules=Rules(refuses={"temperature": None})) as server:
        anyio.run(main, open_model(server, memory=memory, parameters={"temperature": 0.5}))
        assert memory.recall(server.base_url, "test-model")
    assert threads
    assert threading.get_ident() not in threads


# hostile bodies


def nested(levels: int) -> str:
    return '{"a":' * levels + "1" + "}" * levels


@pytest.mark.parametrize("levels", [150, 400, 480, 700, 900])
@pytest.mark.parametrize("before", ["", "Half"])
def test_json_nested_too_deeply_is_no_reply(levels: int, before: str) -> None:
    text = json.dumps({"choices": [{"delta": {"content": before}}]})
    bodies = [
        f'{{"choices": [{{"delta": {{"odd": {nested(levels)}}}}}]}}',
        f'{{"choices": [{{"delta": {{"tool_calls": [{{"function": {{"arguments": {nested(levels)}}}}}]}}}}]}}',
        "[" * levels + "]" * levels,
    ]
    for body in bodies:
        with Endpoint(Raw(sse(text, body, "[DONE]"))) as server:
            heard = hear_once(open_model(server))
        assert heard.text == before
        assert isinstance(heard.error, ProviderError)
        assert "nested too deeply" in heard.error.message
        with Endpoint(Raw(body.encode(), content_type="application/json")) as server:
            assert isinstance(hear_once(open_model(server)).error, ProviderError)
