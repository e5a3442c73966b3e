from __future__ import annotations

import os
import socket
import time
import tracemalloc
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.chat.prompt_files import read_prompt_file
from asky.chat.saved_prompts import expand
from asky.config.prompts import MAX_QUESTION_CHARS
from asky.errors import UsageError

PROMPTS = {
    "summary": "Summarise {{input}} in {{sentences}} sentences.",
    "plain": "What changed?",
    "letter": "Dear {{name}},\n\n{{ input }}\n\nYours, {{name}}",
    "stored": "file:///somewhere",
}


def no_file(uri: str) -> str:
    raise AssertionError(uri)


def expanded(text: str, *, in_chat: bool = False) -> str:
    return expand(text, PROMPTS, read_file=no_file, in_chat=in_chat)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/summary sentences=3 the tides", "Summarise the tides in 3 sentences."),
        ("/summary the tides sentences='two or three'", "Summarise the tides in two or three sentences."),
        ('/summary what\'s "up" sentences="a \\"few\\""', 'Summarise what\'s "up" in a "few" sentences.'),
        ("/summary other=1 x=y sentences=3", "Summarise other=1 x=y in 3 sentences."),
        ("/summary sentences= the tides", "Summarise the tides in  sentences."),
        ("/plain", "What changed?"),
        ("/plain in May?", "What changed?\n\nin May?"),
        ("/letter name=Ada line one\n\n  line two", "Dear Ada,\n\nline one\n\n  line two\n\nYours, Ada"),
        ("/letter\nname=Ada hello", "Dear Ada,\n\nhello\n\nYours, Ada"),
    ],
)
def test_a_prompt_takes_the_place_of_its_name(text: str, expected: str) -> None:
    assert expanded(text) == expected


def test_what_is_filled_in_is_not_expanded_again() -> None:
    assert (
        expanded("/letter name={{input}} /summary {{name}}")
        == "Dear {{input}},\n\n/summary {{name}}\n\nYours, {{input}}"
    )
    chain = {"a": "/b", "b": "no"}
    assert expand("/a", chain, read_file=no_file) == "/b"


@pytest.mark.parametrize(
    "text",
    [
        "/etc/hosts what is this",
        "/etc what is this",
        "/ what is this",
        "//summary x",
        "/Etc what is this",
        "/summary? x",
        "what does /summary do",
        " /summary x",
        "/a/b",
    ],
)
def test_a_question_that_only_looks_like_one_is_left_alone(text: str) -> None:
    assert expanded(text) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("/summary the tides", "{{sentences}}"),
        ("/summary sentences=2", "{{input}}"),
        ("/letter hello", "{{name}}"),
        ("/summary sentences=1 sentences=2 x", "twice"),
        ('/summary sentences="1 x', "is not closed"),
        ("/sumary the tides", "no saved prompt /sumary"),
    ],
)
def test_a_prompt_that_cannot_be_filled_is_an_error_that_names_what_is_missing(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        expanded(text)
    assert message in caught.value.message
    assert caught.value.hint is not None or "twice" in message or "is not closed" in message


@pytest.mark.parametrize("text", ["/sumary the tides", "/Summary x", "/SUMMARY", "/Sumary x"])
def test_a_slip_is_told_the_nearest_name(text: str) -> None:
    for in_chat in (False, True):
        with pytest.raises(UsageError) as caught:
            expanded(text, in_chat=in_chat)
        assert f"prompt {text.split()[0]}" in caught.value.message or in_chat
        assert "/summary" in (caught.value.hint or "")


def test_in_a_chat_every_plain_name_must_be_configured() -> None:
    with pytest.raises(UsageError) as caught:
        expanded("/etc what is this", in_chat=True)
    assert "there is no /etc" in caught.value.message
    assert expanded("/etc/hosts what is this", in_chat=True) == "/etc/hosts what is this"
    with pytest.raises(UsageError, match="there is no /x"):
        expand("/x", {}, read_file=no_file, in_chat=True)


def test_an_expansion_is_bounded_in_length_and_in_memory() -> None:
    prompts = {"many": "{{input}}" * 2000, "fits": "{{input}}"}
    tracemalloc.start()
    try:
        for text in ("/many " + "x" * 19_000, "/fits " + "x" * 10_000_000):
            with pytest.raises(UsageError, match="the limit is 20,000"):
                expand(text, prompts, read_file=no_file)
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()
    assert len(expand("/fits " + "x" * MAX_QUESTION_CHARS, prompts, read_file=no_file)) == MAX_QUESTION_CHARS


def test_a_prompt_may_be_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "a prompt.txt"
    file.write_text("\ufeffCompare {{input}}.\n", "utf-8")
    prompts = {"compare": f"file://{tmp_path}/a%20prompt.txt"}
    text = expand("/compare them", prompts, read_file=lambda uri: read_prompt_file(uri, {}))
    assert text == "Compare them."


@given(st.text(max_size=200), st.text(max_size=200))
def test_no_text_makes_anything_but_a_question_or_an_error(name: str, rest: str) -> None:
    for text in (f"/{name} {rest}", f"/summary {rest}", f"/letter name={rest}"):
        with suppress(UsageError):
            assert len(expanded(text)) <= max(len(text), MAX_QUESTION_CHARS)


@given(st.from_regex(r"[^\s\"'=]{1,30}", fullmatch=True), st.from_regex(r"[a-z][^=]{0,60}", fullmatch=True))
def test_values_arrive_as_they_were_written(value: str, rest: str) -> None:
    text = expand(f"/p name={value} {rest}", {"p": "[{{name}}] [{{input}}]"}, read_file=no_file)
    assert text == f"[{value}] [{rest.strip()}]" or not rest.strip()


# files


def refused(path: Path) -> str:
    started = time.monotonic()
    tracemalloc.start()
    try:
        with pytest.raises(UsageError) as caught:
            read_prompt_file(f"file://{path}", {})
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
    assert time.monotonic() - started < 60
    assert "\n" not in caught.value.message
    return caught.value.message


def test_what_is_no_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        assert "is a pipe" in refused(tmp_path / "pipe")
        assert "is a socket" in refused(tmp_path / "socket")
    assert "is a folder" in refused(tmp_path)
    for device in ("/dev/zero", "/dev/null", "/dev/tty"):
        assert "is a device" in refused(Path(device))
    (tmp_path / "link").symlink_to("/dev/zero")
    assert "is a device" in refused(tmp_path / "link")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert "cannot read" in refused(tmp_path / "loop")
    assert "No such file" in refused(tmp_path / "missing")


def test_a_file_that_is_no_question_is_refused(tmp_path: Path) -> None:
    large = tmp_path / "large.txt"
    with large.open("wb") as file:
        file.truncate(100 << 20)
    assert "104,857,600 bytes" in refused(large)
    (tmp_path / "binary").write_bytes(b"\x7fELF\x00\x01")
    assert "is not a text file" in refused(tmp_path / "binary")
    (tmp_path / "latin1.txt").write_bytes("où".encode("latin-1"))
    assert "is not UTF-8: byte 2" in refused(tmp_path / "latin1.txt")
    (tmp_path / "split.txt").write_bytes("é".encode()[:1])
    assert "is not UTF-8: byte 1" in refused(tmp_path / "split.txt")


def test_a_file_of_the_longest_question_is_read_whole(tmp_path: Path) -> None:
    longest = "\U0001f40b" * MAX_QUESTION_CHARS
    (tmp_path / "longest.txt").write_text("\ufeff" + longest, "utf-8")
    assert read_prompt_file(f"file://{tmp_path}/longest.txt", {}) == longest
    (tmp_path / "longest.txt").write_text("\ufeff" + longest + "x", "utf-8")
    assert "20,000 characters" in refused(tmp_path / "longest.txt")


def test_a_path_may_begin_at_the_home_folder(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("hello")
    assert read_prompt_file("file://~/p.txt", {"HOME": str(tmp_path)}) == "hello"
