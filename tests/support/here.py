"""Runs the command line in the test's own process as if it had one of its own: several times as quick as starting one.

For what a command does and says. Tests of the process itself (its start, its end, signals, a terminal, a network that
is not there) use `tests.support.asky_command`.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from io import TextIOWrapper
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryFile

from asky.__main__ import run
from asky.cli.terminal.streams import harden_streams
from tests.support.asky_command import clean_environment


def run_here(
    *arguments: str, home: Path, environ: Mapping[str, str] | None = None, cwd: Path | None = None, stdin: str = ""
) -> CompletedProcess[str]:
    """What `run_asky` gives for the same arguments."""
    with _stream(stdin) as given, _stream() as out, _stream() as err:
        with _environment(clean_environment(home, environ)), _folder(cwd or home), _streams(given, out, err):
            harden_streams()
            code = run(arguments)
        return CompletedProcess(["asky", *arguments], code, _written(out), _written(err))


def _stream(text: str = "") -> TextIOWrapper:
    """A file that is read from its beginning, as a standard stream of a process is."""
    file = TemporaryFile()  # noqa: SIM115 - closed with the stream
    file.write(text.encode("utf-8", "surrogateescape"))
    file.seek(0)
    return TextIOWrapper(file, encoding="utf-8")


def _written(stream: TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.buffer.read().decode("utf-8", "surrogateescape")


@contextlib.contextmanager
def _environment(environ: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    try:
        os.environ.clear()
        os.environ.update(environ)
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextlib.contextmanager
def _folder(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@contextlib.contextmanager
def _streams(given: TextIOWrapper, out: TextIOWrapper, err: TextIOWrapper) -> Iterator[None]:
    before = sys.stdin, sys.stdout, sys.stderr
    sys.stdin, sys.stdout, sys.stderr = given, out, err
    try:
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
