from __future__ import annotations

import io
import json
import os
from typing import Any, get_args

import pytest

from asky.app.schemas.event import event_object
from asky.cli.failures import describe
from asky.cli.json_stream import JsonStream
from asky.errors import RateLimited
from asky.events import (
    Envelope,
    Event,
    FileRead,
    ModelCalled,
    StageFinished,
    StageStarted,
    TextStreamed,
    ToolCalled,
    ToolReturned,
    Warned,
)
from asky.values import Failure

KEY = "sk-0123456789abcdef"
ENVIRON = {"OPENAI_API_KEY": KEY}


RUN = "0123456789ab"
AT = "2026-01-02T03:04:05.000006Z"


def enveloped(event: Event, seq: int = 1) -> Envelope:
    return Envelope(RUN, seq, AT, event)


def printed(*events: Event) -> list[dict[str, Any]]:
    out = io.StringIO()
    stream = JsonStream(out, environ=ENVIRON)
    for seq, event in enumerate(events, 1):
        stream(enveloped(event, seq))
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_each_event_is_a_line_with_its_run_its_number_its_name_and_its_fields() -> None:
    head = {"schema": "asky.event/1", "run": RUN, "at": AT}
    checking = "checking each sentence against its sources"
    staged = {"event": "stage_started", "type": "stage_started", "stage": "verify", "total": 3, "message": checking}
    called = {"event": "model_called", "type": "model_called", "model": "m", "host": "host.test:8080", "turn": 2}
    called["message"] = "calling m"
    assert printed(StageStarted("verify", 3), ModelCalled("m", "host.test:8080", 2)) == [
        head | {"seq": 1} | staged,
        head | {"seq": 2} | called,
    ]


def test_a_line_is_the_object_of_its_event_with_a_type_besides() -> None:
    envelope = enveloped(ToolCalled("c1", "search", "tides"), 7)
    out = io.StringIO()
    JsonStream(out, environ={})(envelope)
    assert json.loads(out.getvalue()) == event_object(envelope) | {"type": "tool_called"}


def test_a_tool_that_failed_says_how() -> None:
    failure = Failure("search", "timed_out", "no answer", retryable=True)
    line = printed(ToolCalled("c1", "search", "tides"), ToolReturned("c1", "search", "failed", failure))[1]
    assert line["type"] == line["event"] == "tool_returned"
    assert line["failure"]["code"] == "timed_out"
    assert line["failure"]["retryable"] is True


def test_every_event_there_is_has_a_type_of_its_own() -> None:
    kinds = get_args(Event)
    values = {"str": "x", "int": 1, "float": 1.0, "tuple[str,": ("x",)}
    lines = printed(*(kind(*(values.get(str(each.type).split()[0]) for each in fields_of(kind))) for kind in kinds))
    assert len({line["type"] for line in lines}) == len(kinds)
    assert [line["type"] for line in lines] == [line["event"] for line in lines]
    assert {"stage_started", "file_read", "text_streamed", "text_discarded", "warned"} <= {
        line["type"] for line in lines
    }


def fields_of(kind: type) -> tuple[Any, ...]:
    return tuple(kind.__dataclass_fields__.values())  # type: ignore[attr-defined] # every event is a dataclass


def test_a_line_is_there_as_soon_as_the_event_is() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading) as reader, os.fdopen(writing, "w") as writer:
        JsonStream(writer, environ={})(enveloped(TextStreamed("Hel")))
        assert json.loads(reader.readline())["text"] == "Hel"


def test_lines_are_ascii_whatever_the_text_is() -> None:
    out = io.StringIO()
    JsonStream(out, environ={})(enveloped(TextStreamed("中\u2028\x1b[2J\ud800\nx")))
    assert out.getvalue().isascii()
    assert out.getvalue().count("\n") == 1
    assert "\x1b" not in out.getvalue()
    assert json.loads(out.getvalue())["text"] == "中\u2028\x1b[2J\ud800\nx"


def test_secrets_are_masked() -> None:
    failure = Failure("s", "c", f"refused {KEY}", hint=f"unset {KEY}")
    lines = printed(Warned(f"bad key {KEY}", KEY), ToolReturned("c1", "t", KEY, failure), TextStreamed(KEY))
    assert KEY not in json.dumps(lines)
    assert lines[0]["message"] == "bad key ***"


def test_of_files_only_those_are_named_that_cannot_be_used() -> None:
    lines = printed(
        FileRead("/home/me/a.md", "indexed"),
        FileRead("/home/me/b.md", "unchanged"),
        FileRead("/home/me/c.pdf", "encrypted", "it needs a password"),
    )
    assert [line["path"] for line in lines] == [None, None, "/home/me/c.pdf"]
    assert [line["verdict"] for line in lines] == ["indexed", "unchanged", "encrypted"]


def test_the_answer_and_an_error_are_the_objects_that_json_has() -> None:
    out = io.StringIO()
    stream = JsonStream(out, environ=ENVIRON)
    stream.answer({"schema": "asky.answer/1", "answer": "x"})
    stream.error(describe(RateLimited(f"quota of\n{KEY}", hint="pay"), environ=ENVIRON))
    answer, error = (json.loads(line) for line in out.getvalue().splitlines())
    assert answer == {"schema": "asky.event/1", "type": "answer", "answer": {"schema": "asky.answer/1", "answer": "x"}}
    assert error == {
        "schema": "asky.event/1",
        "type": "error",
        "error": {"schema": "asky.error/1", "code": "rate_limited", "message": "quota of ***", "hint": "pay"},
    }


def test_when_the_reader_has_gone_the_run_is_told_once_and_nothing_is_raised() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    told = []
    writer = os.fdopen(writing, "w")
    stream = JsonStream(writer, environ={}, on_closed=lambda: told.append(1))
    for _ in range(3):
        stream(enveloped(StageFinished("x", 1.0)))
    stream.answer({})
    assert stream.closed
    assert told == [1]
    with pytest.raises(BrokenPipeError):  # what Python has buffered, and tries again
        writer.close()


def test_a_stream_that_was_closed_is_like_a_reader_that_has_gone() -> None:
    out = io.StringIO()
    out.close()
    stream = JsonStream(out, environ={})
    stream(enveloped(TextStreamed("x")))
    assert stream.closed
