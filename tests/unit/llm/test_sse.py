"""Server-sent events, however they are written and cut."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from asky.llm.endpoint.sse import SseDecoder


def decode(*pieces: bytes, max_event_bytes: int = 1 << 20) -> tuple[list[str], SseDecoder]:
    decoder = SseDecoder(max_event_bytes=max_event_bytes)
    events = [event for piece in pieces for event in decoder.feed(piece)]
    return events + decoder.end(), decoder


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"data: a\n\ndata: b\n\n", ["a", "b"]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]),
        (b"data: a\r\rdata: b\r\r", ["a", "b"]),
        (b"data:a\n\n", ["a"]),
        (b"data:  a\n\n", [" a"]),
        (b"data: a\ndata: b\ndata\n\n", ["a\nb\n"]),
        (b": OPENROUTER PROCESSING\n\ndata: a\n\n: more\n\n", ["a"]),
        (b"event: message\nid: 7\nretry: 10\ndata: a\n\n", ["a"]),
        (b"datum: a\n\ndatabase: b\n\n", []),
        (b"data: a\n\ndata: b", ["a", "b"]),
        (b"data: a\n\ndata: b\n", ["a", "b"]),
        (b"\xef\xbb\xbfdata: a\n\n", ["a"]),
        (b"\n\n\ndata: a\n\n\n\n", ["a"]),
        (b"", []),
    ],
)
def test_events_are_read_in_every_form_that_is_allowed(stream: bytes, events: list[str]) -> None:
    assert decode(stream)[0] == events


def test_an_event_is_given_out_with_its_blank_line_and_not_later() -> None:
    decoder = SseDecoder()
    assert decoder.feed(b"data: a\r\n\r") == ["a"]
    assert decoder.feed(b"\ndata: b\n") == []
    assert decoder.feed(b"\n") == ["b"]


def test_a_character_may_be_split_anywhere() -> None:
    stream = "data: naïve 漢字 🌊\n\n".encode()
    for cut in range(len(stream) + 1):
        assert decode(stream[:cut], stream[cut:])[0] == ["naïve 漢字 🌊"]


def test_bytes_that_are_not_utf_8_are_replaced_and_counted() -> None:
    events, decoder = decode(b"data: a\xffb\xe6\xbc\n\n", "data: �\n\n".encode())
    assert events == ["a�b�", "�"]
    assert decoder.replaced == 2


@pytest.mark.parametrize(
    "stream", [b"data: " + b"x" * 95, b"data: " + b"x" * 95 + b"\n\n", b": " + b"x" * 99, b"data: xxxxxxxxx\n" * 7]
)
def test_nothing_is_read_after_an_event_that_is_too_large(stream: bytes) -> None:
    events, decoder = decode(b"data: a\n\n", stream, b"\n\ndata: b\n\n", max_event_bytes=100)
    assert events == ["a"]
    assert decoder.overflowed


def test_an_event_as_large_as_is_allowed_is_read() -> None:
    events, decoder = decode(b"data: " + b"x" * 94 + b"\n\n", max_event_bytes=100)
    assert events == ["x" * 94]
    assert not decoder.overflowed


PIECES = st.sampled_from(
    [
        b"data",
        b":",
        b" ",
        b"\n",
        b"\r",
        b"\r\n",
        b"\xef\xbb\xbf",
        b"a",
        "é漢🌊".encode(),
        b"\xff",
        b"data: x\n\n",
        b"id",
    ]
)


@given(st.lists(PIECES, max_size=40).map(b"".join), st.lists(st.integers(0, 120), max_size=12))
@example(b"data: a\r\n\r\ndata: b\r", [8])
def test_the_events_do_not_depend_on_how_the_bytes_are_cut(stream: bytes, cuts: list[int]) -> None:
    bounds = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    pieces = [stream[a:b] for a, b in itertools.pairwise(bounds)]
    whole, one = decode(stream, max_event_bytes=60)
    cut, other = decode(*pieces, max_event_bytes=60)
    singly, third = decode(*(bytes([byte]) for byte in stream), max_event_bytes=60)
    assert whole == cut == singly
    assert one.replaced == other.replaced == third.replaced
    assert one.overflowed == other.overflowed == third.overflowed
