"""What is asked: words of the command line, a saved prompt, a file, or standard input."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Mapping
from dataclasses import dataclass

import click

from asky.config.prompts import FILE_PREFIX, MAX_QUESTION_CHARS
from asky.errors import UsageError

_MAX_INPUT_BYTES = 32 << 20
_PATIENCE_S = 2.0  # after which a pipe that says nothing is mentioned


@dataclass(frozen=True, slots=True)
class Asked:
    """The question and the text that came with it through a pipe."""

    question: str
    context: str | None


def read_question(words: tuple[str, ...]) -> Asked:
    """The question that the `words` are, or say where it is.

    A saved prompt is expanded only where its name was typed: a file or a pipe may hold what somebody else wrote. Raises
    `UsageError` where there is no question, it is too long, or it cannot be read.
    """
    text, piped = " ".join(words), None
    if text == "-":
        text = _question_in(_piped())
    elif names_prompt_file(text):
        text = read_in_file(text)
    else:
        text = _expanded(text)
        data = _piped()
        if text:
            piped = _context_in(data)
        else:
            text = _question_in(data)
    return Asked(clean_question(text), piped if piped and piped.strip() else None)


def clean_question(text: str) -> str:
    """`text` as it is asked: without what cannot be seen. Raises `UsageError` for an empty and for a too long one."""
    from asky.text.scrub import scrub  # 10 ms: not for --help

    text = scrub(text).strip()
    if not text:
        raise UsageError("the question is empty", hint='for example: asky -r -d docs "How does search work?"')
    if len(text) > MAX_QUESTION_CHARS:
        raise UsageError(
            f"the question has {len(text):,} characters; {MAX_QUESTION_CHARS:,} are the limit",
            hint="put long text into a file and name it with -d, or pipe it in beside a short question",
        )
    return text


def expand_prompt(text: str, prompts: Mapping[str, str], *, in_chat: bool = False) -> str:
    """`text`, which names one of the saved `prompts`, expanded; see `asky.chat.saved_prompts.expand`."""
    from asky.chat.saved_prompts import expand  # for a saved prompt, and nothing else

    return expand(text, prompts, read_file=read_in_file, in_chat=in_chat)


def names_prompt_file(text: str) -> bool:
    """Whether `text` says that the question is in a file."""
    return text.casefold().startswith(FILE_PREFIX)


def read_in_file(uri: str) -> str:
    """What is in the file; see `asky.chat.prompt_files.read_prompt_file`."""
    from asky.chat.prompt_files import read_prompt_file  # for a question that is in a file, and no other

    return read_prompt_file(uri, os.environ)


def _expanded(text: str) -> str:
    """`text` with the saved prompt that it begins with expanded."""
    if not text.startswith("/"):
        return text
    from asky.chat.saved_prompts import names_prompt  # for what may be a saved prompt, and nothing else
    from asky.cli.surroundings import configured

    return expand_prompt(text, configured().prompts) if names_prompt(text) else text


def _question_in(data: bytes) -> str:
    """The question that was piped in. Raises `UsageError` where it is not text in UTF-8."""
    from asky.chat.prompt_files import decode_prompt  # for a question that is piped in, and no other

    return decode_prompt(data, "standard input")


def _context_in(data: bytes) -> str:
    """The text that was piped in beside a question, in whatever charset. Raises `UsageError` for what is no text."""
    if not data:
        return ""
    from asky.reading.charset import decode, has_mark  # for what is piped in beside a question

    if b"\0" in data and not has_mark(data):
        raise UsageError("what is on standard input is not text", hint="save it to a file, and name the file with -d")
    return decode(data)


def _piped() -> bytes:
    """What was piped in; nothing on a terminal. Raises `UsageError` for more than 32 MiB."""
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        return b""
    if not select.select([sys.stdin], [], [], _PATIENCE_S)[0]:
        click.echo("asky: waiting for the end of standard input (for none, add: < /dev/null)", err=True)
    data = sys.stdin.buffer.read(_MAX_INPUT_BYTES + 1)
    if len(data) > _MAX_INPUT_BYTES:
        raise UsageError(f"more than {_MAX_INPUT_BYTES >> 20} MiB on standard input", hint="name files with -d")
    return data
