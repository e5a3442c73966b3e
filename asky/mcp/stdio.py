"""The protocol on standard input and output, which nothing else can write to."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, BinaryIO, Literal

import anyio
import anyio.to_thread
from mcp.server.stdio import stdio_server

if TYPE_CHECKING:
    from mcp.server import Server

    from asky.app.serving.runs import RunKeeper

MAX_LINE = 4 * 1024 * 1024
"""The longest message, in bytes, as over HTTP; a longer one is answered as not readable."""
_STDIN, _STDOUT, _STDERR = 0, 1, 2
# An escape in a string of JSON. Group 1 is half of a surrogate pair: the SDK drops a request with one, unanswered.
_ESCAPE = re.compile(r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)")


async def serve_stdio(server: Server[RunKeeper]) -> None:
    """Serve one host until it closes standard input.

    What anything else prints goes to stderr, and programs that are started read nothing. Reading is given up at once
    when the server is stopped; its thread is left behind.
    """
    reading, writing = _take(_STDIN, "rb"), _take(_STDOUT, "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, _STDIN)
    os.dup2(_STDERR, _STDOUT)
    async with stdio_server(_Lines(reading), _Output(writing)) as (incoming, outgoing):  # type: ignore[arg-type] # as far as it uses them
        await server.run(incoming, outgoing, server.create_initialization_options())


def _take(descriptor: int, mode: Literal["rb", "wb"]) -> BinaryIO:
    """Return a private copy of a standard stream, which programs that are started do not inherit."""
    return os.fdopen(os.dup(descriptor), mode)


class _Lines:
    """The lines of a stream as texts; `""` stands for one that is too long. Lone surrogates become U+FFFD."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await self._read():
            if len(line) <= MAX_LINE:
                yield _ESCAPE.sub(_without_half_pairs, line.decode("utf-8", "replace"))
                continue
            while line and not line.endswith(b"\n"):
                line = await self._read()
            yield ""

    async def _read(self) -> bytes:
        return await anyio.to_thread.run_sync(self._file.readline, MAX_LINE + 1, abandon_on_cancel=True)


def _without_half_pairs(escape: re.Match[str]) -> str:
    return r"\ufffd" if escape[1] else escape[0]


class _Output:
    """Writes texts; a host that has gone is no error, as its end of standard input follows."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    async def write(self, text: str) -> None:
        await anyio.to_thread.run_sync(self._file.write, text.encode("utf-8", "replace"))

    async def flush(self) -> None:
        await anyio.to_thread.run_sync(self._file.flush)
