"""The options shared by `ask` and `chat`, and the question: words, a saved prompt, a file, or a pipe."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import click

from asky.app import prompts
from asky.app.prompts import decode_attachment, decode_prompt, names_prompt, read_prompt_file
from asky.app.requests import AskRequest, Attachment, DocumentName, Mode, RunLimits, WebOptions
from asky.cli.context import configured
from asky.cli.options import DocumentPath, complete_model, complete_session
from asky.config.prompts import FILE_PREFIX, MAX_QUESTION_CHARS
from asky.errors import UsageError
from asky.text.scrub import scrub

_MAX_INPUT_BYTES = 32 << 20
_PIPE_NOTICE_S = 2.0  # before a notice about a silent pipe

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class AskOptions:
    """The options of a question, as click names them."""

    research: bool
    lean: bool
    standard: bool
    docs: tuple[DocumentName, ...]
    collection: tuple[str, ...]
    no_docs: bool
    web: bool | None
    site: tuple[str, ...]
    since: str | None
    shortlist: Literal["auto", "on", "off"]
    offline: bool
    session: str | None
    resume: bool
    all_sessions: bool
    model: str | None
    system: str | None
    max_turns: int | None
    max_tokens: int | None
    max_cost: float | None
    max_time: float | None

    @property
    def mode(self) -> Mode | None:
        """The requested mode, or `None` to leave it to the session."""
        return "research" if self.research else "lean" if self.lean else "standard" if self.standard else None

    def ask(self, words: tuple[str, ...]) -> AskRequest:
        """Return the request for the question in `words`, with these options.

        Raises as `check` and `read_question` do.
        """
        self.check()
        found = read_question(words)
        return self.request(found.question, found.attachments)

    def request(self, question: str = "", attachments: Sequence[Attachment] = ()) -> AskRequest:
        """Return the request for `question` with these options."""
        return AskRequest(
            question=question,
            mode=self.mode,
            session=self.session,
            resume_last=self.resume,
            documents=self.docs,
            collections=self.collection,
            default_documents=not self.no_docs,
            attachments=tuple(attachments),
            web=WebOptions(allowed=self.web, sites=self.site, since=self.since, shortlist=self.shortlist),
            model=self.model,
            limits=RunLimits(self.max_turns, self.max_tokens, self.max_cost, self.max_time),
            recall="all" if self.all_sessions else "session",
            offline=self.offline,
            instructions=self._instructions(),
        )

    def _instructions(self) -> str:
        """Return the text of `--system` without invisible characters. Raises `UsageError` if it is too long."""
        text = scrub(self.system or "").strip()
        if len(text) > MAX_QUESTION_CHARS:
            message = f"the text of --system has {len(text):,} characters; the limit is {MAX_QUESTION_CHARS:,}"
            raise UsageError(message, hint="name long texts with -d")
        return text

    def check(self) -> None:
        """Raise `UsageError` if options contradict each other."""
        conflicts = {
            "-r and -L": self.research and self.lean,
            "-r and --standard": self.research and self.standard,
            "-L and --standard": self.lean and self.standard,
        }
        for names, is_conflict in conflicts.items():
            if is_conflict:
                raise UsageError(f"{names} cannot be combined", hint="use one of them")


_OPTIONS = (
    click.option(
        "-r", "--research", is_flag=True, help="Research mode: save findings for later questions in the session."
    ),
    click.option("-L", "--lean", is_flag=True, help="Lean mode: one search and one model call, no tools."),
    click.option("--standard", is_flag=True, help="Standard mode (default); overrides the session's mode."),
    click.option(
        "-d",
        "--docs",
        type=DocumentPath(),
        multiple=True,
        help="Answer from this file, folder or adapter's target (repeatable).",
    ),
    click.option("--collection", multiple=True, help="Answer from this `asky corpus` collection (repeatable)."),
    click.option("--no-docs", is_flag=True, help="Leave out the documents that are kept and those of the session."),
    click.option(
        "--web/--no-web",
        default=None,
        help="Allow or forbid the web. Default: allowed unless documents are named or text is piped in.",
    ),
    click.option(
        "--site", multiple=True, metavar="DOMAIN", help="Use only pages from DOMAIN; -DOMAIN excludes it (repeatable)."
    ),
    click.option("--since", metavar="WHEN", help="Ignore anything published earlier: 2024, 2024-05-01, 30d, 6m, 1y."),
    click.option(
        "--shortlist",
        type=click.Choice(["auto", "on", "off"]),
        default="auto",
        help="Select and read web sources before calling the model. Default: as configured.",
    ),
    click.option("--offline", is_flag=True, help="Never touch the network; use cached pages."),
    click.option("-s", "--session", help="Ask in this session; created on first use.", shell_complete=complete_session),
    click.option("-c", "--continue", "resume", is_flag=True, help="Continue the most recent session, or that of -s."),
    click.option("--all-sessions", is_flag=True, help="With -r: recall findings from all sessions, not just this one."),
    click.option(
        "-m", "--model", help="Model to answer with: an alias or PROVIDER:MODEL_ID.", shell_complete=complete_model
    ),
    click.option("--system", metavar="TEXT", help="Instructions for the model, in addition to asky's own."),
    click.option("--max-turns", type=click.IntRange(1, 200), help="Maximum number of model calls."),
    click.option("--max-tokens", type=click.IntRange(1), help="Maximum tokens, prompts and replies combined."),
    click.option("--max-cost", type=click.FloatRange(0, min_open=True), metavar="USD", help="Maximum cost of the run."),
    click.option(
        "--max-time", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="Maximum duration of the run."
    ),
)


def ask_options(command: F) -> F:
    """Add the options of `AskOptions`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class QuestionInput:
    """The question, and texts piped in alongside it."""

    question: str
    attachments: tuple[Attachment, ...] = ()


def read_question(words: tuple[str, ...]) -> QuestionInput:
    """Return the question in `words`, or read it from the prompt, file or pipe that they name.

    A saved prompt is expanded only if its name was typed: a file or a pipe may contain text by somebody else. Raises
    `UsageError` if there is no question, or it is too long or unreadable.
    """
    text, piped = " ".join(words), None
    if text == "-":
        text = _decode_question(_piped())
    elif names_prompt_file(text):
        text = read_question_file(text)
    else:
        text = _expanded(text)
        data = _piped()
        if text:
            piped = _decode_context(data)
        else:
            text = _decode_question(data)
    attachments = (Attachment(text=piped),) if piped and piped.strip() else ()
    return QuestionInput(clean_question(text), attachments)


def clean_question(text: str) -> str:
    """Return `text` without invisible characters. Raises `UsageError` if it is empty or too long."""
    text = scrub(text).strip()
    if not text:
        raise UsageError("the question is empty", hint='for example: asky -r -d docs "How does search work?"')
    if len(text) > MAX_QUESTION_CHARS:
        raise UsageError(
            f"the question has {len(text):,} characters; the limit is {MAX_QUESTION_CHARS:,}",
            hint="put long text into a file and name it with -d, or pipe it in with a short question",
        )
    return text


def expand_prompt(text: str, saved: Mapping[str, str], *, in_chat: bool = False) -> str:
    """Return `text`, which names one of the `saved` prompts, expanded; see `asky.app.prompts.expand_prompt`."""
    return prompts.expand_prompt(text, saved, os.environ, in_chat=in_chat)


def names_prompt_file(text: str) -> bool:
    """Return whether `text` names a file with the question."""
    return text.casefold().startswith(FILE_PREFIX)


def read_question_file(uri: str) -> str:
    """Return the question in a file; see `asky.app.prompts.read_prompt_file`."""
    return read_prompt_file(uri, os.environ)


def _expanded(text: str) -> str:
    """Return `text`, expanded if it begins with the name of a saved prompt."""
    if not text.startswith("/"):
        return text

    return expand_prompt(text, configured().prompts) if names_prompt(text) else text


def _decode_question(data: bytes) -> str:
    """Return the piped question. Raises `UsageError` if it is not UTF-8 text."""
    return decode_prompt(data, "standard input")


def _decode_context(data: bytes) -> str:
    """Return the text piped in alongside a question. Raises `UsageError` if it is not text."""
    if not data:
        return ""

    return decode_attachment(data)


def _piped() -> bytes:
    """Return the piped bytes; none on a terminal. Raises `UsageError` for more than 32 MiB."""
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        return b""
    if not select.select([sys.stdin], [], [], _PIPE_NOTICE_S)[0]:
        click.echo("asky: waiting for the end of standard input (if there is none, add: < /dev/null)", err=True)
    data = sys.stdin.buffer.read(_MAX_INPUT_BYTES + 1)
    if len(data) > _MAX_INPUT_BYTES:
        raise UsageError(f"more than {_MAX_INPUT_BYTES >> 20} MiB on standard input", hint="name files with -d")
    return data
