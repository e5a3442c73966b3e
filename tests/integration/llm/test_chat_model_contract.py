"""The promises of the `ChatModel` port, kept by every model; and what the adapter makes of each oddity of endpoints."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import anyio
import httpx2
import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asky.config.schema import Timeouts
from asky.errors import AskyError, ContextOverflow, ProviderError, TimedOut, Unreachable
from asky.llm.endpoint.endpoint import Prices, TransientMemory
from asky.llm.extractive.model import ExtractiveModel
from asky.llm.port import ChatModel, Message, TextDelta, ToolCall
from asky.net.retry import Retry
from tests.support.adapters import (
    KEY,
    QUESTION,
    SEARCH_SPEC,
    Clock,
    Heard,
    configured_model,
    hear,
    hear_once,
    open_model,
)
from tests.support.combining import each_once
from tests.support.conforming import Script, ask_official_client, conforming
from tests.support.endpoint import (
    ANTHROPIC,
    DIALECTS,
    GEMINI,
    KINDS,
    LLAMACPP,
    OLLAMA,
    OPENAI,
    OPENROUTER,
    VLLM,
    Answer,
    Call,
    Dialect,
    Endpoint,
    Entry,
    Problem,
    Raw,
    Rules,
    Sse,
    Usage,
    Wire,
    last_user_text,
    sse,
)
from tests.support.examples import examples
from tests.support.model_contract import check_chat_model
from tests.support.models import ScriptedModel, calls, tool_call

_CONFORMING = conforming()
_ONE_CALL = Answer(calls=(Call("search", {"query": "mill"}, "c1"),))
_RETRY = Retry(max_tries=3)


def _heard(*script: Entry, dialect: Dialect = OPENAI, rules: Rules | None = None, **fields: Any) -> Heard:
    """One call over a fresh endpoint, whose client must not have done anything wrong."""
    with Endpoint(*script, dialect=dialect, rules=rules) as server:
        heard = hear_once(open_model(server, **fields))
        assert server.faults == []
    return heard


# the contract, by every model


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_the_adapter_is_a_chat_model_in_every_dialect(dialect: Dialect) -> None:
    search = Answer("Looking.", calls=(Call("get_relevant_content", {"queries": ["mill"]}),), reasoning="Hm.")
    with Endpoint(search, "It burned in 1911.", "It burned again.", dialect=dialect) as server:
        anyio.run(check_chat_model, open_model(server))
        assert server.faults == []


def test_the_scripted_model_and_the_extractive_model_are_chat_models() -> None:
    search = calls(tool_call("get_relevant_content", {"queries": ["mill"]}), text="Looking.")
    for model in (ScriptedModel(search, "It burned."), ExtractiveModel(read_passages=lambda _: ())):
        anyio.run(check_chat_model, model)


def test_the_adapter_and_the_scripted_model_play_one_script_alike() -> None:
    first = tool_call("search", {"query": "mill"}, call_id="c1")
    scripted = ScriptedModel(calls(first, text="Looking."), "It burned in 1911.")
    conversation: tuple[Message, ...] = QUESTION
    with Endpoint(replace(_ONE_CALL, text="Looking."), "It burned in 1911.") as server:
        models: list[ChatModel] = [scripted, open_model(server)]
        for _ in range(2):
            one, other = (hear_once(model, conversation) for model in models)
            assert (one.text, one.calls, one.finish) == (other.text, other.calls, other.finish)
            assert other.reply is not None
            conversation = (*conversation, other.reply.message, Message("tool", "none", tool_call_id="c1"))
        assert server.faults == []


@pytest.mark.parametrize("error", [ContextOverflow("too long"), Unreachable("gone")])
def test_errors_of_the_scripted_model_are_typed(error: AskyError) -> None:
    assert hear_once(ScriptedModel(error)).error is error


def test_leaving_early_closes_the_call() -> None:
    async def leave(model: ChatModel) -> None:
        async with aclosing(model.stream(QUESTION, ())) as stream:
            async for _ in stream:
                return

    scripted = ScriptedModel("A long answer that nobody waits for.")
    anyio.run(leave, scripted)
    assert scripted.closed_early == 1
    with Endpoint(Answer("A long answer.", wire=Wire(gated=True))) as server:
        server.step(2)
        anyio.run(leave, open_model(server))
        server.wait_for_abandoned()


def test_cancelling_closes_the_call() -> None:
    with Endpoint(Answer("Never.", wire=Wire(silent_before_headers=True))) as server:

        async def cancel() -> None:
            async with anyio.create_task_group() as group:
                group.start_soon(hear, open_model(server))
                await anyio.to_thread.run_sync(server.wait_for_requests, 1)
                group.cancel_scope.cancel()

        anyio.run(cancel)
        server.wait_for_abandoned()


def test_text_is_given_out_as_it_arrives() -> None:
    with Endpoint(Answer("onetwothree", delta_chars=3, wire=Wire(gated=True))) as server:

        async def read() -> list[str]:
            got: list[str] = []
            server.step(2)  # the role, the first piece
            async with aclosing(open_model(server).stream(QUESTION, ())) as stream:
                async for item in stream:
                    if isinstance(item, TextDelta):
                        got.append(item.text)
                        server.step(1 if len(got) < 4 else 9)
            return got

        assert anyio.run(read) == ["one", "two", "thr", "ee"]


# the same as the official client


@pytest.mark.parametrize("script", _CONFORMING.values(), ids=_CONFORMING)
def test_the_adapter_reads_what_the_official_client_reads(script: Script) -> None:
    with Endpoint(script.answer, dialect=script.dialect) as server, httpx2.Client(trust_env=False) as http:
        heard = hear_once(open_model(server))
        assert server.faults == []
        assert heard.reply is not None
        usage = heard.reply.usage
        assert (heard.text, heard.calls) == (script.answer.text, script.calls)
        assert heard.finish == ("tool_calls" if script.calls else "stop")
        assert (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens) == (321, 45, 128)
        assert not usage.estimated
        if script.answer.stream is None:
            client = openai.OpenAI(base_url=server.base_url, api_key=KEY, max_retries=0, http_client=http)
            official = ask_official_client(client)
            assert (heard.text, heard.calls) == (official.text, official.calls)
            assert (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens) == official.usage


_TWO = (Call("search", {"query": "a b"}, "c1"), Call("search", {"query": "a b"}, "c2"))


@pytest.mark.parametrize(
    "style", ["together", "no_index", "no_index_fragments", "index_zero", "repeated_name", "object", "double_encoded"]
)
@pytest.mark.parametrize("delta_chars", [1, 5, 100])
def test_calls_are_whole_in_every_style_of_delta(style: Any, delta_chars: int) -> None:
    heard = _heard(Answer("Hm.", calls=_TWO, call_style=style, delta_chars=delta_chars))
    assert [(id_, name, json.loads(arguments)) for id_, name, arguments in heard.calls] == [
        ("c1", "search", {"query": "a b"}),
        ("c2", "search", {"query": "a b"}),
    ]
    assert heard.finish == "tool_calls"


@pytest.mark.parametrize("style", ["fragments", "together", "whole"])
def test_ids_that_are_empty_or_repeated_become_different(style: Any) -> None:
    for id_ in ("", "c1"):
        heard = _heard(
            Answer(calls=(Call("search", {"query": "a"}, id_), Call("search", {"query": "b"}, id_)), call_style=style)
        )
        assert [json.loads(arguments)["query"] for _, _, arguments in heard.calls] == ["a", "b"]


@pytest.mark.parametrize("place", ["reasoning_content", "reasoning", "think", "think_unopened"])
@pytest.mark.parametrize("dialect", [OPENAI, OPENROUTER, OLLAMA])
def test_thoughts_are_not_part_of_the_answer(place: Any, dialect: Dialect) -> None:
    answer = Answer("It burned.", reasoning="Let me see.", reasoning_place=place, delta_chars=100)
    assert _heard(answer, dialect=dialect).text.strip() == "It burned."


@pytest.fixture(scope="module")
def lasting() -> Iterator[Endpoint]:
    """An endpoint for the many examples of a property."""
    with Endpoint("x") as server:
        yield server


@settings(max_examples=examples(60), deadline=None)
@given(
    text=st.text(st.characters(exclude_categories=["Cs"]), max_size=40).filter(lambda text: "<" not in text),
    arguments=st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=20), max_size=3), max_size=3),
    style=st.sampled_from(["fragments", "interleaved", "whole", "together", "no_index", "index_zero", "repeated_name"]),
    delta_chars=st.integers(1, 30),
    write_bytes=st.none() | st.integers(1, 50),
    newline=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_any_reply_arrives_as_it_was_meant(
    lasting: Endpoint,
    text: str,
    arguments: list[dict[str, str]],
    style: Any,
    delta_chars: int,
    write_bytes: int | None,
    newline: str,
) -> None:
    expected = [(f"c{number}", "search", json.dumps(each)) for number, each in enumerate(arguments)]
    answer = Answer(
        text,
        calls=tuple(Call(name, each, id_) for id_, name, each in expected),
        call_style=style,
        delta_chars=delta_chars,
        sse=Sse(newline=newline),
        wire=Wire(write_bytes=write_bytes),
    )
    lasting.play(answer)
    heard = hear_once(open_model(lasting))
    assert (heard.text, heard.calls) == (text, expected)
    assert heard.finish == ("tool_calls" if expected else "stop")


def test_calls_at_one_time_do_not_disturb_each_other() -> None:
    async def ask_many() -> list[str]:
        texts: list[str] = []

        async def ask(model: ChatModel, word: str) -> None:
            texts.append((await hear(model, (Message("user", word),))).text)

        async with open_model(server) as model, anyio.create_task_group() as group:
            for number in range(12):
                group.start_soon(ask, model, f"word {number} ")
        return texts

    with Endpoint(lambda request: last_user_text(request) * 50) as server:
        assert sorted(anyio.run(ask_many)) == sorted(f"word {number} " * 50 for number in range(12))


# conversations


_ARGUMENTS = ['{"query": "mill"}', '{"query', "", "null", '["a"]', "nonsense", '"{}"']


@pytest.mark.parametrize(("dialect", "arguments"), each_once(DIALECTS, _ARGUMENTS, rounds=2))
def test_a_conversation_goes_on_after_calls_whatever_their_arguments(dialect: str, arguments: str) -> None:
    first = Answer("Hm.", calls=(Call("search", arguments), Call("search", {"query": "x"})), reasoning="Thinking.")
    with Endpoint(first, "It burned.", dialect=DIALECTS[dialect]) as server:
        model = open_model(server)
        heard = hear_once(model)
        assert heard.reply is not None
        results = [Message("tool", "nothing", tool_call_id=call[0]) for call in heard.calls]
        conversation = (*QUESTION, heard.reply.message, *results)
        last = hear_once(model, conversation, (SEARCH_SPEC,), "none")
        assert (last.text, last.finish) == ("It burned.", "stop")
        assert server.faults == []
        before, after = server.requests
        assert after.prompt.startswith(before.prompt), "what a prefix cache has seen stays as it is"


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_a_conversation_begun_elsewhere_is_taken(dialect: Dialect) -> None:
    """Messages without what this endpoint sent: of another model, or of a session that was compacted."""
    conversation = (
        *QUESTION,
        Message("assistant", "", (ToolCall("x1", "search", '{"query": "mill"}'),)),
        Message("tool", "nothing", tool_call_id="x1"),
        Message("assistant", ""),
        Message("user", "And the barn?"),
    )
    with Endpoint("It stands.", dialect=dialect) as server:
        assert hear_once(open_model(server), conversation).text == "It stands."
        assert server.faults == []


def test_unknown_keys_of_an_assistant_message_come_back_unchanged() -> None:
    details = [{"type": "reasoning.encrypted", "data": "abc", "id": "r1"}]
    delta = {"role": "assistant", "content": "Hi", "reasoning_details": details, "odd": {"a": [1]}}
    stream = Raw(sse({"choices": [{"index": 0, "delta": delta, "finish_reason": "stop"}]}, "[DONE]"))
    with Endpoint(stream, "ok", dialect=OPENROUTER) as server:
        model = open_model(server)
        heard = hear_once(model)
        assert heard.reply is not None
        hear_once(model, (*QUESTION, heard.reply.message, Message("user", "And?")))
    assert server.requests[1].messages[2] == delta


# streams that end where they should not


@pytest.mark.extended
@pytest.mark.parametrize("how", ["end", "close", "reset"])
def test_a_stream_cut_at_any_byte_never_gives_a_call_that_was_not_whole(how: Any) -> None:
    answer = Answer("Hm.", calls=_TWO, usage=Usage(9, 9), delta_chars=100)
    with Endpoint(answer, dialect=VLLM) as server, httpx2.Client(trust_env=False) as http:
        body = {"model": "test-model", "messages": [{"role": "user", "content": "x"}], "stream": True}
        whole = http.post(f"{server.base_url}/chat/completions", json=body).content
        finished = whole.index(b'"finish_reason": "tool_calls"')
        expected = [("c1", "search", '{"query": "a b"}'), ("c2", "search", '{"query": "a b"}')]
        step = 1 if how == "end" else 7

        async def cut_everywhere() -> None:
            async with open_model(server) as model:
                for position in range(0, len(whole), step):
                    server.play(replace(answer, wire=Wire(cut_after=position, cut=how)))
                    heard = await hear(model)
                    assert heard.text in ("", "Hm.")
                    if heard.reply is not None and heard.finish == "tool_calls":
                        assert position > finished, f"cut at {position} of {len(whole)}"
                        assert heard.calls == expected
                    elif position > whole.index(b"\n\n", finished) + 1:
                        pytest.fail(f"a whole reply was not taken: cut at {position} of {len(whole)}")

        anyio.run(cut_everywhere)
        assert server.faults == []


def test_a_call_cut_before_any_text_is_tried_again() -> None:
    for how in ("close", "reset", "end"):
        cut = replace(_ONE_CALL, wire=Wire(cut_after=300, cut=how))
        clock = Clock()
        with Endpoint(cut, _ONE_CALL) as server:
            heard = hear_once(open_model(server, retry=_RETRY, clock=clock))
            assert heard.calls == [("c1", "search", '{"query": "mill"}')]
            assert (len(server.requests), len(clock.waits)) == (2, 1)


def test_text_that_was_given_out_is_never_given_out_again() -> None:
    for how in ("close", "reset", "end"):
        cut = Answer("Half an answer", wire=Wire(cut_after=700, cut=how))
        with Endpoint(cut, "Another answer") as server:
            heard = hear_once(open_model(server, retry=_RETRY))
            assert heard.finish == "cut"
            assert "Half an answer".startswith(heard.text)
            assert len(heard.text) > 3
            assert len(server.requests) == 1


def test_length_in_the_middle_of_a_call_is_no_call() -> None:
    cut = Answer(calls=(Call("search", '{"query": "mi', "c1"),), finish="length")
    assert _heard(cut).finish == "length"


# 40 replies that no client should have to read; none may raise anything but an `AskyError`


def _chunk(delta: Any = None, finish: Any = None, **more: Any) -> dict[str, Any]:
    return {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]} | more


def _raw(*events: Any) -> Raw:
    return Raw(sse(*events))


_STOP = _chunk({}, "stop")
_HALF_PAIR = b'data: {"choices":[{"delta":{"content":"a\\ud83d"},"finish_reason":"stop"}]}\n\n'
_NO_USAGE = {"prompt_tokens": "many", "completion_tokens": -5}
_HUGE = (Call("search", {"query": "x" * 300_000}, "c1"),)
_HI = _chunk({"content": "Hi"})

# script, text, finish or None for an error
_ODD: dict[str, tuple[Entry, str | None, str | None]] = {
    "nothing at all": (Raw(b""), None, None),
    "only [DONE]": (_raw("[DONE]"), "", "stop"),
    "only comments": (Raw(b": ping\n\n: ping\n\n"), None, None),
    "an empty answer": (Answer(""), "", "stop"),
    "no finish and no [DONE]": (_raw(_HI), "Hi", "cut"),
    "[DONE] without a finish": (_raw(_HI, "[DONE]"), "Hi", "stop"),
    "a finish without [DONE]": (_raw(_HI, _STOP), "Hi", "stop"),
    "no choices": (_raw({"id": "c", "choices": []}, _HI, _STOP), "Hi", "stop"),
    "choices null": (_raw({"choices": None}, _HI, _STOP), "Hi", "stop"),
    "delta null": (_raw(_chunk(None), _HI, _STOP), "Hi", "stop"),
    "content null": (_raw(_chunk({"content": None}), _HI, _STOP), "Hi", "stop"),
    "content in parts": (_raw(_chunk({"content": [{"type": "text", "text": "Hi"}]}), _STOP), "Hi", "stop"),
    "content a number": (_raw(_chunk({"content": 7}), _HI, _STOP), "Hi", "stop"),
    "two choices": (
        _raw({"choices": [{"index": 1, "delta": {"content": "No"}}, {"index": 0, "delta": {"content": "Hi"}}]}, _STOP),
        "Hi",
        "stop",
    ),
    "tool_calls null": (_raw(_chunk({"content": "Hi", "tool_calls": None}), _STOP), "Hi", "stop"),
    "tool_calls of nonsense": (_raw(_chunk({"content": "Hi", "tool_calls": [None, 5, {}]}), _STOP), "Hi", None),
    "an event that is no JSON": (_raw(_HI, "{nonsense", _STOP), "Hi", None),
    "events that are not objects": (_raw(_HI, "[1]", "5", "null", '"x"', _STOP), "Hi", None),
    "JSON too deep": (_raw(_HI, "[" * 100_000, _STOP), "Hi", None),
    "a number too long": (_raw(_HI, '{"a": ' + "9" * 5_000 + "}", _STOP), "Hi", None),
    "invalid UTF-8": (Answer("caf\udce9!"), "caf\N{REPLACEMENT CHARACTER}!", "stop"),
    "half a surrogate pair": (
        Raw(b'data: {"choices":[{"delta":{"content":"a\\ud83d"},"finish_reason":"stop"}]}\n\n'),
        None,
        "stop",
    ),
    "a NUL": (_raw(_chunk({"content": "a\0b"}), _STOP), "a\0b", "stop"),
    "CRLF": (Answer("Hi", sse=Sse(newline="\r\n")), "Hi", "stop"),
    "no space, no last newline": (Answer("Hi", sse=Sse(space=False, final_newline=False)), "Hi", "stop"),
    "a byte order mark": (Raw(b"\xef\xbb\xbf" + sse(_HI, _STOP)), "Hi", "stop"),
    "other event fields": (Raw(b"event: x\nid: 1\nretry: 5\n" + sse(_HI) + b"junk\n\n" + sse(_STOP)), "Hi", "stop"),
    "a web page": (Raw(b"<html>Sign in</html>", content_type="text/html"), None, None),
    "JSON that is something else": (Raw(b'{"hello": 1}', content_type="application/json"), None, None),
    "JSON cut short": (Raw(b'{"choices": [', content_type="application/json"), None, None),
    "a list": (Raw(b"[]", content_type="application/json"), None, None),
    "an error in a success": (Problem("rate", where="body"), None, None),
    "an error in a choice": (Problem("rate", where="choice"), None, None),
    "an error in the stream": (Answer("Hi", fails=Problem("server")), "Hi", None),
    "a filter": (Answer("Hi", finish="content_filter"), "Hi", "cut"),
    "a limit in capitals": (Answer("Hi", finish="MAX_TOKENS"), "Hi", "length"),
    "a finish of its own": (Answer("Hi", finish="end_turn"), "Hi", "stop"),
    "an empty finish": (_raw(_chunk({"content": "Hi"}, ""), "[DONE]"), "Hi", "stop"),
    "usage that is no usage": (
        _raw(_HI, _STOP | {"usage": _NO_USAGE}),
        "Hi",
        "stop",
    ),
    "an unknown tool": (Answer(calls=(Call("rm_rf", {}, "c1"),)), "", "tool_calls"),
    "huge arguments": (
        Answer(calls=_HUGE, delta_chars=50_000),
        "",
        "tool_calls",
    ),
    "tool_calls without a call": (Answer("Hi", finish="tool_calls"), "Hi", "stop"),
    "a redirect": (Raw(status=302, headers=(("Location", "http://127.0.0.1:9/x"),)), None, None),
    "an unknown status": (Raw(b"teapot", status=418, content_type="text/plain"), None, None),
    "no content": (Raw(status=204), None, None),
    "a compressed body that is none": (Raw(b"not gzip", headers=(("Content-Encoding", "gzip"),)), None, None),
}


@pytest.mark.parametrize("case", _ODD.values(), ids=_ODD)
def test_an_odd_reply_is_read_or_refused_by_name(case: tuple[Entry, str | None, str | None]) -> None:
    script, text, finish = case
    heard = _heard(script)
    if text is not None:
        assert heard.text == text
    if finish is not None:
        assert heard.finish == finish
    elif heard.reply is not None:
        assert heard.text
    else:
        assert "mill" in str(heard.error), "the error names the model"


def test_fifty_megabytes_end_at_a_limit() -> None:
    with Endpoint(Answer("x" * 50_000_000, delta_chars=100_000)) as server:
        heard = hear_once(open_model(server))
        assert heard.finish == "length"
        assert len(heard.text) < 20_000_000
        server.wait_for_abandoned()


@pytest.mark.parametrize("body", [b"x" * 30_000_000, b"data: " + b"x" * 30_000_000, b"{" + b" " * 30_000_000])
def test_thirty_megabytes_without_an_event_end_at_a_limit(body: bytes) -> None:
    assert _heard(Raw(body)).error is not None


# silence


_QUICK = Timeouts(connect_s=60, first_token_s=1.0, between_tokens_s=0.3, total_s=60)


@pytest.mark.parametrize("wire", [Wire(silent_before_headers=True), Wire(silent_after=0), Wire(silent_after=60)])
def test_silence_before_the_first_token_times_out(wire: Wire) -> None:
    with Endpoint(Answer("Hello.", wire=wire)) as server:
        heard = hear_once(open_model(server, timeouts=_QUICK))
        assert isinstance(heard.error, TimedOut)
        server.wait_for_abandoned()


def test_silence_after_some_text_ends_the_reply_or_times_out() -> None:
    with Endpoint(Answer("Hello, world.", wire=Wire(silent_after=700))) as server:
        heard = hear_once(open_model(server, timeouts=replace(_QUICK, first_token_s=60)))
        assert heard.text
        assert isinstance(heard.error, TimedOut) or heard.finish == "cut"
        server.wait_for_abandoned()


def test_comments_do_not_keep_a_silent_endpoint_alive() -> None:
    pings = Answer("Hi", sse=Sse(comments=("ping",) * 1000), wire=Wire(gated=True))
    with Endpoint(pings) as server:
        server.step(3)
        heard = hear_once(open_model(server, timeouts=_QUICK))
        assert isinstance(heard.error, TimedOut)


def test_the_deadline_of_the_caller_is_kept() -> None:
    with Endpoint(Answer("Hello.", wire=Wire(silent_after=0))) as server:

        async def ask(scope: anyio.CancelScope) -> None:
            with scope:
                await hear(open_model(server))

        async def call() -> bool:
            scope = anyio.CancelScope()
            async with anyio.create_task_group() as group:
                group.start_soon(ask, scope)
                await anyio.to_thread.run_sync(server.wait_for_requests, 1)
                scope.deadline = anyio.current_time()
            return scope.cancelled_caught

        assert anyio.run(call)
        server.wait_for_abandoned()


# failures


_EXITS = {
    "auth": 4,
    "forbidden": 4,
    "unknown_model": 3,
    "rate": 6,
    "quota": 6,
    "too_large_for_rate": 6,
    "credits": 6,
    "server": 8,
    "overloaded": 8,
    "bad_gateway": 8,
    "unavailable": 8,
    "not_supported": 8,
    "bad_request": 8,
    "overflow": 8,
}
_TRIED_AGAIN = {"rate", "server", "overloaded", "bad_gateway", "unavailable", "timeout"}


@pytest.mark.parametrize(("kind", "dialect"), each_once(_EXITS, DIALECTS))
def test_a_failure_has_its_exit_code_and_is_tried_again_only_where_that_can_help(kind: str, dialect: str) -> None:
    with Endpoint(Problem(kind), dialect=DIALECTS[dialect]) as server:
        heard = hear_once(open_model(server, retry=_RETRY))
        assert heard.error is not None
        assert heard.error.exit_code == _EXITS[kind]
        assert len(server.requests) == (3 if kind in _TRIED_AGAIN else 1)
        assert "mill" in heard.error.message
        assert heard.error.retryable is (kind in _TRIED_AGAIN)
        assert server.faults == []


@pytest.mark.parametrize("shape", ["detail", "detail_list", "text", "html", "string", "gemini_list", "vllm_old"])
@pytest.mark.parametrize("where", ["status", "choice"])
def test_the_words_of_an_endpoint_reach_the_user_in_every_shape(shape: Any, where: Any) -> None:
    heard = _heard(Problem("bad_request", message="The flux is too low.", shape=shape, where=where))
    assert "The flux is too low." in str(heard.error)


@pytest.mark.parametrize("dialect", [dialect for dialect in DIALECTS.values() if not dialect.silent_overflow])
def test_a_prompt_that_is_too_long_is_recognised_in_every_dialect(dialect: Dialect) -> None:
    heard = _heard("x", dialect=dialect, rules=Rules(context_chars=100), retry=_RETRY)
    assert isinstance(heard.error, ContextOverflow)
    assert heard.error.limit_tokens == 25


def test_a_prompt_that_was_cut_silently_is_noticed() -> None:
    long = (*QUESTION, Message("user", "The mill stood by the river. " * 2000))
    with Endpoint("ok", dialect=OLLAMA, rules=Rules(context_chars=16_000)) as server:
        model = open_model(server)
        cut, whole = hear_once(model, long), hear_once(model)
    assert cut.reply is not None
    assert whole.reply is not None
    assert len(cut.reply.warnings) == 1
    assert "cut" in cut.reply.warnings[0]
    assert whole.reply.warnings == ()


def test_the_key_is_in_no_error() -> None:
    for shape in ("openai", "string", "text", "html", "detail"):
        problem = Problem("server", message=f"Denied: Bearer {KEY}, http://u:{KEY}@host/?key={KEY}", shape=shape)
        heard = _heard(problem)
        assert heard.error is not None
        assert KEY not in repr(heard.error) + str(heard.error) + str(heard.error.hint)
    with Endpoint("x", rules=Rules(api_key="sk-other")) as server:
        model = open_model(server)
        heard = hear_once(model)
        assert heard.error is not None
        assert heard.error.exit_code == 4
        assert KEY not in repr(heard.error) + str(heard.error.hint) + repr(model) + repr(model.endpoint)


_IN_STREAM = [("rate", 6), ("quota", 6), ("auth", 4), ("overflow", 8), ("server", 8)]


@pytest.mark.parametrize(("kind", "code"), _IN_STREAM)
@pytest.mark.parametrize("dialect", [OPENAI, OPENROUTER, LLAMACPP, GEMINI])
def test_an_error_within_a_stream_is_what_it_would_be_outside_until_text_was_given_out(
    dialect: Dialect, kind: str, code: int
) -> None:
    early = _heard(Answer(fails=Problem(kind)), dialect=dialect)
    assert early.error is not None
    assert early.error.exit_code == code
    with Endpoint(Answer("Half an", fails=Problem(kind)), dialect=dialect) as server:
        late = hear_once(open_model(server, retry=_RETRY))
        assert late.text == "Half an"
        assert type(late.error) is ProviderError, "nothing is compacted or repeated after text"
        assert KINDS[kind][4] in str(late.error)
        assert len(server.requests) == 1


def test_an_error_within_a_stream_before_any_text_is_tried_again() -> None:
    with Endpoint(Answer(fails=Problem("server")), "ok", dialect=OPENROUTER) as server:
        assert hear_once(open_model(server, retry=_RETRY)).text == "ok"
        assert len(server.requests) == 2


def test_the_key_follows_no_redirect() -> None:
    with Endpoint("stolen") as thief, Endpoint("x") as server:
        for status in (301, 302, 303, 307, 308):
            server.play(Raw(status=status, headers=(("Location", f"{thief.base_url}/chat/completions?a={KEY}"),)))
            heard = hear_once(open_model(server, retry=_RETRY))
            assert isinstance(heard.error, ProviderError)
            assert KEY not in str(heard.error)
        assert thief.connections == 0
        assert len(server.requests) == 5


def test_an_endpoint_without_tls_is_unreachable_over_https() -> None:
    with Endpoint("x") as server:
        heard = hear_once(configured_model(server.base_url.replace("http:", "https:"), retry=_RETRY))
    assert isinstance(heard.error, Unreachable)


def test_an_endpoint_that_is_down_is_unreachable() -> None:
    with Endpoint("x") as server:
        url = server.base_url
    heard = hear_once(configured_model(url, retry=_RETRY))
    assert isinstance(heard.error, Unreachable)
    assert url in str(heard.error)
    assert heard.error.hint is not None
    assert "models list" in heard.error.hint


def test_a_model_that_loads_is_waited_for() -> None:
    clock = Clock()
    with Endpoint("ready", dialect=LLAMACPP, rules=Rules(loading=5)) as server:
        assert hear_once(open_model(server, retry=_RETRY, clock=clock)).text == "ready"
    assert len(clock.waits) == 5


@pytest.mark.parametrize(
    ("headers", "waits"),
    [
        ((("Retry-After", "7"),), [7]),
        ((("Retry-After", "1.5"),), [1.5]),
        ((("retry-after-ms", "250"), ("Retry-After", "9")), [0.25]),
        ((("Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT"),), [0]),
        ((("Retry-After", "soon"),), [0.25]),
        ((("Retry-After", "-5"),), [0.25]),
        ((("Retry-After", "86400000"),), []),
        ((("x-should-retry", "true"),), [0.25]),
    ],
)
def test_the_wait_that_an_endpoint_asks_for_is_kept(headers: Any, waits: list[float]) -> None:
    clock = Clock()
    with Endpoint(Problem("rate", headers=headers), "ok") as server:
        heard = hear_once(open_model(server, retry=_RETRY, clock=clock))
        assert clock.waits == waits
        assert heard.text == ("ok" if waits else "")


def test_a_wait_that_would_pass_the_deadline_is_not_begun() -> None:
    clock = Clock()
    with Endpoint(Problem("rate", headers=(("Retry-After", "30"),)), "ok") as server:

        async def call() -> Heard:
            with anyio.fail_after(20):
                return await hear(open_model(server, retry=_RETRY, clock=clock))

        assert anyio.run(call).error is not None
    assert clock.waits == []


# parameters


def test_parameters_that_are_refused_are_dropped_once_and_remembered() -> None:
    rules = Rules(refuses={"max_tokens": "max_completion_tokens", "temperature": None, "stream_options": None})
    memory = TransientMemory()
    for dialect in (OPENAI, OLLAMA, LLAMACPP, GEMINI, VLLM, OPENROUTER, ANTHROPIC):
        with Endpoint("ok", dialect=dialect, rules=rules) as server:
            fields: dict[str, Any] = {"parameters": {"temperature": 0.5}, "max_output_tokens": 500, "memory": memory}
            assert hear_once(open_model(server, **fields)).text == "ok"
            assert len(server.requests) == 4
            assert server.requests[-1].json["max_completion_tokens"] == 500
            assert hear_once(open_model(server, **fields)).text == "ok"
            assert len(server.requests) == 5
            assert server.faults == []


def test_tools_that_need_an_effort_get_it() -> None:
    memory = TransientMemory()
    with Endpoint("ok", rules=Rules(tools_need_effort=True)) as server:
        for _ in range(2):
            assert hear_once(open_model(server, memory=memory)).text == "ok"
        assert len(server.requests) == 3
        assert server.faults == []


def test_a_refusal_that_cannot_be_met_ends() -> None:
    with Endpoint("ok", rules=Rules(refuses={"messages": None})) as server:
        heard = hear_once(open_model(server, retry=_RETRY))
        assert isinstance(heard.error, ProviderError)
        assert len(server.requests) <= 5


# usage and cost


def test_cost_is_counted_from_the_prices() -> None:
    answer = Answer("ok", usage=Usage(1_000_000, 100_000, cached=400_000))
    prices = Prices(2.0, 10.0, 0.5)
    reply = _heard(answer, prices=prices).reply
    assert reply is not None
    assert reply.usage.cost_usd == pytest.approx(0.6 * 2 + 0.4 * 0.5 + 1.0)
    free, unknown = _heard(answer, prices=Prices(0, 0)).reply, _heard(answer).reply
    assert free is not None
    assert unknown is not None
    assert (free.usage.cost_usd, unknown.usage.cost_usd) == (0.0, None)


@pytest.mark.parametrize("place", ["absent", "null"])
def test_usage_that_is_missing_is_estimated(place: Any) -> None:
    reply = _heard(Answer("A few words of an answer.", usage_place=place), prices=Prices(1, 1)).reply
    assert reply is not None
    assert reply.usage.estimated
    assert reply.usage.prompt_tokens > 10
    assert reply.usage.completion_tokens > 3
    assert reply.usage.cost_usd


# the tool choice


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
@pytest.mark.parametrize("text", ["", "It burned."])
def test_no_call_is_made_where_none_may_be(dialect: Dialect, text: str) -> None:
    """Some endpoints do not know the choice `none`, and their models call all the same."""
    with Endpoint(replace(_ONE_CALL, text=text), dialect=dialect) as server:
        heard = hear_once(open_model(server), QUESTION, (SEARCH_SPEC,), "none")
        assert server.faults == []
        assert server.requests[0].json["tool_choice"] == "none"
        assert server.requests[0].tool_names == ["search"]
    assert heard.finish != "tool_calls"
    assert heard.text == text


def test_tools_are_not_sent_to_a_model_that_cannot_take_them() -> None:
    with Endpoint("ok") as server:
        hear_once(open_model(server, tools=False))
        assert "tools" not in server.requests[0].json
        assert "tool_choice" not in server.requests[0].json


# calls that arrive as text


_AS_TEXT = '<tool_call>{"name": "search", "arguments": {"query": "mill"}}</tool_call>'


def test_calls_written_as_text_are_run_only_where_the_endpoint_opts_in() -> None:
    assert _heard(_AS_TEXT).finish == "stop"
    heard = _heard(_AS_TEXT, text_tool_calls=True)
    assert [(name, json.loads(arguments)) for _, name, arguments in heard.calls] == [("search", {"query": "mill"})]
    assert "tool_call" not in heard.text


@pytest.mark.parametrize(
    "text",
    [
        _AS_TEXT.replace("search", "rm_rf"),
        _AS_TEXT[:-1],
        _AS_TEXT.removesuffix("</tool_call>"),
        f"<think>{_AS_TEXT}</think>It burned.",
        f"Call it so:\n```\n{_AS_TEXT}\n```\n",
    ],
)
def test_text_that_only_looks_like_a_call_is_none(text: str) -> None:
    assert _heard(text, text_tool_calls=True).finish == "stop"


def test_a_call_written_as_text_that_was_cut_is_never_run() -> None:
    with Endpoint(_AS_TEXT) as server:

        async def cut_everywhere() -> None:
            async with open_model(server, text_tool_calls=True) as model:
                for position in range(0, 4000, 23):
                    server.play(Answer(_AS_TEXT, delta_chars=7, wire=Wire(cut_after=position, cut="end")))
                    heard = await hear(model)
                    if heard.reply is not None and heard.finish == "tool_calls":
                        assert json.loads(heard.calls[0][2]) == {"query": "mill"}
                        assert position > 3000

        anyio.run(cut_everywhere)


# connections


def test_calls_within_one_session_share_a_connection() -> None:
    with Endpoint("one", "two") as server:

        async def ask_twice() -> None:
            async with open_model(server) as model:
                await hear(model)
                await hear(model)

        anyio.run(ask_twice)
        assert server.connections == 1


def test_no_proxy_of_the_environment_is_asked_for_an_endpoint_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert _heard("ok").text == "ok"
