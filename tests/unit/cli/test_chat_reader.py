"""Lines of a pipe and of a plain terminal, also such as are too long to be a question."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from asky.cli.chat.reader import PipeReader, PlainReader, Reader
from asky.errors import UsageError

MIB = 1 << 20


def piped(data: bytes) -> Reader:
    return PipeReader(io.TextIOWrapper(io.BytesIO(data)))


def typed(data: bytes) -> Reader:
    return PlainReader(io.TextIOWrapper(io.BytesIO(data)), io.StringIO())


@pytest.mark.parametrize("opened", [piped, typed])
@pytest.mark.parametrize("over", [1, MIB - 1, MIB, MIB + 1, 3 * MIB])
def test_a_line_that_is_too_long_is_refused_once_with_all_of_it(opened: Callable[[bytes], Reader], over: int) -> None:
    reader = opened(b"x" * (MIB + over) + b"\nnext\n")
    with pytest.raises(UsageError, match="longer than 1 MiB"):
        reader.read()
    assert reader.read() == "next"
    with pytest.raises(EOFError):
        reader.read()


@pytest.mark.parametrize("opened", [piped, typed])
def test_the_longest_line_is_read_with_and_without_an_end(opened: Callable[[bytes], Reader]) -> None:
    reader = opened(b"x" * MIB + b"\n" + b"y" * MIB)
    assert [len(reader.read()), len(reader.read())] == [MIB, MIB]
    with pytest.raises(EOFError):
        reader.read()


@pytest.mark.parametrize("opened", [piped, typed])
def test_a_line_that_is_too_long_may_be_the_last_one_and_have_no_end(opened: Callable[[bytes], Reader]) -> None:
    reader = opened(b"x" * (2 * MIB + 1))
    with pytest.raises(UsageError):
        reader.read()
    with pytest.raises(EOFError):
        reader.read()
