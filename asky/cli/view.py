"""Views of an answer: shown while it arrives, printed or written once it is complete."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from asky.app.answers import reference, without_marks
from asky.app.schemas.run import answer_object
from asky.app.unread_files import describe_files, describe_parts
from asky.cli.context import Stopped
from asky.cli.export_forms import form_of
from asky.cli.failures import describe, key_variables
from asky.cli.finding_views import noted_lines
from asky.cli.json_stream import JsonStream
from asky.cli.saving import save_bytes
from asky.cli.terminal.markdown_stream import markdown_stream, print_markdown
from asky.cli.terminal.terminal import Terminal
from asky.cli.verdicts import (
    confidence_lines,
    contradiction_lines,
    statement_lines,
    unsupported_lines,
    verdict_summary,
)
from asky.errors import AskyError
from asky.events import Envelope, Event, Listener, StageStarted, TextDiscarded, TextStreamed
from asky.values import Answer, UnreadFile

if TYPE_CHECKING:
    from asky.app.runs import RunHandle, RunService
    from asky.cli.context import CommandContext

Format = Literal["text", "json", "events"]

WHY = "asky why N"
_MAX_PARTS_TOLD = 10  # documents


class View(Protocol):
    """Shows an answer."""

    @property
    def listen(self) -> Listener:
        """The listener for the events of the run."""
        ...

    def show(self, answer: Answer) -> None:
        """Print the answer, or the part of it that has not been shown yet."""
        ...

    def fail(self, error: BaseException) -> None:
        """Report that the run ended without an answer, if this view reports errors."""
        ...

    def close(self) -> None:
        """Leave the terminal in a clean state, whatever happened."""
        ...


class PrintedView:
    """Prints the complete answer as plain text: for pipes, files, and `--no-stream` without a terminal.

    `why` is the command that shows the passage behind a citation; `None` if that has been said.
    """

    def __init__(self, terminal: Terminal, forward: Listener, *, why: str | None = WHY) -> None:
        self._terminal = terminal
        self._forward = forward
        self._why = why

    @property
    def listen(self) -> Listener:
        return self._forward

    def show(self, answer: Answer) -> None:
        print_answer(self._terminal, answer, why=self._why)

    def fail(self, error: BaseException) -> None:
        """Do nothing: the process reports the error on stderr."""

    def close(self) -> None:
        """Do nothing: nothing is open."""


class JsonView(PrintedView):
    """Prints the complete answer as one object."""

    def show(self, answer: Answer) -> None:
        self._terminal.json(answer_object(answer))


class EventsView(PrintedView):
    """Prints every event as a line of JSON, and the answer or the error as the last line."""

    def __init__(self, terminal: Terminal, forward: Listener, environ: Mapping[str, str]) -> None:
        super().__init__(terminal, forward)
        self._environ = environ
        self._key_variables = tuple(key_variables())
        self._lines = JsonStream(terminal.out, environ=environ, key_variables=self._key_variables, on_closed=_stop_run)

    def follow(self, envelope: Envelope) -> None:
        """Print an event of the run."""
        self._lines(envelope)

    def show(self, answer: Answer) -> None:
        self._lines.answer(answer_object(answer))
        self._require_reader()

    def fail(self, error: BaseException) -> None:
        self._lines.error(describe(error, environ=self._environ, key_variables=self._key_variables))
        self._require_reader()

    def _require_reader(self) -> None:
        if self._lines.closed:
            raise BrokenPipeError


class StreamedView(PrintedView):
    """Shows the answer on a terminal as it is written or, if `waits`, once it is complete and verified.

    Other listeners print on the same terminal; the current row is ended before they do.
    """

    def __init__(
        self, terminal: Terminal, forward: Listener, environ: Mapping[str, str], *, waits: bool, why: str | None = WHY
    ) -> None:
        super().__init__(terminal, forward, why=why)
        self._waits = waits
        self._streamed = ""
        self._stream = markdown_stream(terminal.out, environ=environ, colored=terminal.colored, links=terminal.links)

    @property
    def listen(self) -> Listener:
        return self._on_event

    def _on_event(self, event: Event) -> None:
        if isinstance(event, TextStreamed):
            if not self._waits:
                self._forward(event)  # erases the progress line
                self._stream.write(event.text)
                self._streamed += event.text
            return
        if isinstance(event, TextDiscarded):
            if self._streamed:
                self._stream.restart()
                self._streamed = ""
            return
        if isinstance(event, StageStarted):  # the answer has been written
            self._stream.finish()
        else:
            self._stream.interrupt()
        self._forward(event)

    def show(self, answer: Answer) -> None:
        """Print the rest of an answer that continues the streamed text, or all of one that was revised since."""
        self._stream.finish()
        shown, text = self._streamed.strip(), without_marks(answer.text)
        if shown and text.startswith(shown):
            self._write(text[len(shown) :].strip(), below=True)
        else:
            if shown:
                self._terminal.note("\nafter verification:\n")
                shown = ""
            self._write(answer.text)
        print_verdicts(self._terminal, answer, self._terminal.line, are_marked=not shown)
        print_sources(self._terminal, answer, why=self._why)

    def close(self) -> None:
        self._stream.interrupt()

    def _write(self, text: str, *, below: bool = False) -> None:
        if text:
            if below:
                self._terminal.line()
            self._stream.write(text)
            self._stream.finish()


def _stop_run() -> None:
    """Cancel the run as a user would: nobody is reading, and nothing more should be paid for."""
    os.kill(os.getpid(), signal.SIGTERM)  # background jobs of a shell ignore SIGINT


def open_view(ctx: CommandContext, format_: Format, *, waits: bool, why: str | None = WHY) -> View:
    """Return the view for `format_`; text is plain in a pipe and rendered on a terminal.

    `why` is the command that shows the passage behind a citation; `None` if that has been said.
    """
    terminal, forward = ctx.terminal, ctx.progress
    if format_ == "json":
        return JsonView(terminal, forward)
    if format_ == "events":
        return EventsView(terminal, forward, os.environ)
    if not terminal.is_smart:
        return PrintedView(terminal, forward, why=why)
    return StreamedView(terminal, forward, os.environ, waits=waits, why=why)


def print_answer(terminal: Terminal, answer: Answer, *, why: str | None = WHY) -> None:
    """Print the text, its verdicts, a line for each citation, and a note that the command `why` shows more."""
    if terminal.out.isatty():
        print_markdown(terminal, answer.text)
    else:
        terminal.cited_lines(answer.text)
    print_verdicts(terminal, answer, terminal.line if terminal.out.isatty() else terminal.note, are_marked=True)
    print_sources(terminal, answer, why=why)


def print_verdicts(terminal: Terminal, answer: Answer, write_line: Callable[[str], None], *, are_marked: bool) -> None:
    """Print how many statements have which verdict, unless all are supported; under `-v` print each.

    Statements that their passages do not support are named if they are not marked in the text.
    """
    if not terminal.verbose and all(claim.verdict == "supported" for claim in answer.claims):
        return
    claims = answer_object(answer)["claims"]
    if claims:
        write_line("\n" + verdict_summary(claims))
    for line in () if are_marked else unsupported_lines(claims):
        write_line(line)
    for line in statement_lines(claims) if terminal.verbose else ():
        terminal.note(line)


def print_sources(terminal: Terminal, answer: Answer, *, why: str | None = WHY) -> None:
    """Print what else there is to an answer whose text has already been shown.

    The findings that it could not weigh, its contradictions with both sides, its confidence, and a line for each
    citation.
    """
    made = answer_object(answer)
    confidence = [] if answer.stopped_by == "no_evidence" else confidence_lines(made)
    for number, line in enumerate(
        [*(noted_lines(made) if made["noted"] else ()), *contradiction_lines(made), *confidence]
    ):
        terminal.line("\n" * (not number) + line)
    if answer.citations:
        terminal.out.write("\n")
        hint = f"`{why}` shows the passage behind [N]; " if why is not None else ""
        terminal.sources(cited_sources(made), hint=f"\n{hint}run {answer.run}")


def cited_sources(answer: Mapping[str, Any]) -> list[tuple[int, str, str | None]]:
    """Return the number, the reference, and the URL or path of each citation of an `asky.answer/1` object."""
    return [(each["n"], reference(each), each["url"] or each["path"]) for each in answer["citations"]]


def note_parts(terminal: Terminal, unread: Iterable[UnreadFile]) -> None:
    """Tell on stderr which parts of documents were not read, of at most 10 documents."""
    for line in describe_parts(unread, most=_MAX_PARTS_TOLD):
        terminal.note(line)


def note_unread(terminal: Terminal, unread: Sequence[UnreadFile]) -> None:
    """Tell on stderr which documents were not read, and which parts of others."""
    if files := describe_files(unread):
        terminal.note(f"not read: {files}")
    note_parts(terminal, unread)


def write_answer(path: Path, answer: Mapping[str, Any], runs: RunService) -> None:
    """Write an answer, an `asky.answer/1` object, to `path` in the format of its suffix.

    Raises as `form_of` and `save_bytes` do.
    """
    save_bytes(path, runs.export_answer(answer, form_of(path), path.absolute().parent).data)


Start = Callable[..., AbstractAsyncContextManager["RunHandle"]]
"""Starts a run whose events go to the listener `listen`."""


def run_and_print(
    ctx: CommandContext, start: Start, output: Path | None, format_: Format = "text", *, waits: bool = False
) -> Answer:
    """Run `start`, print its answer in `format_`, write it to `output` if given, and return it.

    The partial answer of a stopped run is printed too. The view reports any other error; both are raised again.
    """
    view = open_view(ctx, format_, waits=waits)
    return print_result(ctx, view, output, lambda: run_to_end(ctx, view, start))


def run_to_end(ctx: CommandContext, view: View, start: Start) -> Answer:
    """Return the answer of the run that `start` starts.

    If it was stopped, raises `Stopped` with the partial answer and the command that resumes the run.
    """
    runs: list[RunHandle] = []

    async def main() -> Answer:
        async with start(listen=view.listen) as run:
            runs.append(run)
            if isinstance(view, EventsView):
                async for envelope in run.events():
                    view.follow(envelope)
            return await run.result()

    try:
        return ctx.run(main)
    except Stopped as stop:
        stop.value = runs[-1].answer if runs else None
        if runs and _is_unfinished(ctx.asky.runs, runs[-1].id):
            stop.message = f"stopped; `asky runs resume {runs[-1].id}` goes on"
        raise


def _is_unfinished(runs: RunService, run_id: str) -> bool:
    """Return whether a run is in the store and has not finished; none is there before its documents have been read."""
    try:
        return runs.find(run_id).status != "finished"
    except AskyError:
        return False


def print_result(
    ctx: CommandContext,
    view: View,
    output: Path | None,
    make: Callable[[], Answer],
    stored: Mapping[str, Any] | None = None,
) -> Answer:
    """Print the answer that `make` returns, as `run_and_print` does.

    With `stored`, print that object as JSON instead: the answer as it was stored, without fields added since.
    """
    with closing(view):
        try:
            answer = make()
        except BaseException as error:
            if isinstance(error, Stopped) and isinstance(error.value, Answer) and error.value.text:
                _save_and_show(ctx, view, output, error.value, None)
            else:
                view.fail(error)
            raise
        _save_and_show(ctx, view, output, answer, stored)
    return answer


def _save_and_show(
    ctx: CommandContext, view: View, output: Path | None, answer: Answer, stored: Mapping[str, Any] | None
) -> None:
    try:
        if output is not None:
            write_answer(output, answer_object(answer), ctx.asky.runs)
    finally:  # print the answer even if its file cannot be written
        if stored is not None:
            ctx.terminal.json(stored)
        else:
            view.show(answer)
