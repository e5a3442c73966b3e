"""What the reader of an answer sees while it comes, and what is printed when it is complete."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from asky.cli.answers import WHY, print_answer, print_sources
from asky.cli.terminal import Terminal, is_smart, one_line
from asky.events import Event, Listener, StageStarted, TextDiscarded, TextStreamed
from asky.evidence.answer import answer_json
from asky.evidence.marks import MARKED, WARNING_SIGN, without_marks
from asky.values import Answer, Claim

Format = Literal["text", "json", "events"]

_LONGEST_DOUBT = 160


class View(Protocol):
    """Where an answer goes."""

    def __call__(self, event: Event) -> None:
        """Hear an event of the run."""
        ...

    def give(self, answer: Answer) -> None:
        """Print what the answer is, or what is still missing of it."""
        ...

    def fail(self, error: BaseException) -> None:
        """Say that the run ended without an answer, where this is the place to say it."""
        ...

    def close(self) -> None:
        """Leave the terminal in order, whatever happened."""
        ...


class PrintedView:
    """The answer in plain text when it is complete: for pipes, files and `--no-stream` without a terminal.

    `why` is the command that shows what a citation rests on.
    """

    def __init__(self, terminal: Terminal, others: Listener, *, why: str = WHY) -> None:
        self._terminal = terminal
        self._others = others
        self._why = why

    def __call__(self, event: Event) -> None:
        self._others(event)

    def give(self, answer: Answer) -> None:
        print_answer(self._terminal, answer, why=self._why)

    def fail(self, error: BaseException) -> None:
        """The process says it on stderr."""

    def close(self) -> None:
        """Nothing is open."""


class JsonView(PrintedView):
    """The answer as one object when it is complete."""

    def give(self, answer: Answer) -> None:
        self._terminal.json(answer_json(answer))


class EventsView(PrintedView):
    """Every event as a line of JSON, and the answer or the error as the last one."""

    def __init__(self, terminal: Terminal, others: Listener, environ: Mapping[str, str]) -> None:
        from asky.cli.json_stream import JsonStream  # for this format only
        from asky.cli.surroundings import key_variables

        super().__init__(terminal, others)
        self._environ = environ
        self._key_variables = tuple(key_variables())
        self._lines = JsonStream(terminal.out, environ=environ, key_variables=self._key_variables, on_closed=_stop_run)

    def __call__(self, event: Event) -> None:
        self._others(event)
        self._lines(event)

    def give(self, answer: Answer) -> None:
        self._lines.answer(answer_json(answer))
        self._require_reader()

    def fail(self, error: BaseException) -> None:
        from asky.cli.failures import describe

        self._lines.error(describe(error, environ=self._environ, key_variables=self._key_variables))
        self._require_reader()

    def _require_reader(self) -> None:
        if self._lines.closed:
            raise BrokenPipeError


class StreamedView(PrintedView):
    """The answer on a terminal as it is written; with `waits` at once, when it is complete and checked.

    Other listeners print on the same terminal: the row under way is ended before they do.
    """

    def __init__(
        self, terminal: Terminal, others: Listener, environ: Mapping[str, str], *, waits: bool, why: str = WHY
    ) -> None:
        from asky.cli.markdown_stream import markdown_stream  # for a terminal only

        super().__init__(terminal, others, why=why)
        self._waits = waits
        self._shown = ""
        self._stream = markdown_stream(terminal.out, environ=environ, colored=terminal.colored)

    def __call__(self, event: Event) -> None:
        if isinstance(event, TextStreamed):
            if not self._waits:
                self._others(event)  # takes its line off the terminal
                self._stream.write(event.text)
                self._shown += event.text
            return
        if isinstance(event, TextDiscarded):
            if self._shown:
                self._stream.restart()
                self._shown = ""
            return
        if isinstance(event, StageStarted):  # gathering and writing are over
            self._stream.finish()
        else:
            self._stream.interrupt()
        self._others(event)

    def give(self, answer: Answer) -> None:
        """Print the rest of an answer that goes on from what was shown, and all of one that was mended since."""
        self._stream.finish()
        shown, text = self._shown.strip(), without_marks(answer.text)
        if shown and text.startswith(shown):
            self._write(text[len(shown) :].strip(), below=True)
            self._name_doubts(answer.claims)
        else:
            if shown:
                self._terminal.note("\nafter the check:\n")
            self._write(answer.text)
        print_sources(self._terminal, answer, why=self._why)

    def close(self) -> None:
        self._stream.interrupt()

    def _write(self, text: str, *, below: bool = False) -> None:
        if text:
            if below:
                self._terminal.line()
            self._stream.write(text)
            self._stream.finish()

    def _name_doubts(self, claims: Sequence[Claim]) -> None:
        """Say which sentences are in doubt; in an answer that was not streamed they carry a mark."""
        doubtful = Counter((claim.verdict, one_line(claim.text)) for claim in claims if claim.verdict in MARKED)
        if doubtful:
            self._terminal.line()
        for (verdict, text), times in doubtful.items():
            shown = text if len(text) <= _LONGEST_DOUBT else text[:_LONGEST_DOUBT] + "..."
            self._terminal.line(f"{WARNING_SIGN} {verdict}: “{shown}”" + (f" ({times} times)" if times > 1 else ""))


def _stop_run() -> None:
    """Nobody reads any more: nothing further is to be paid for. The run is cancelled as by a user."""
    os.kill(os.getpid(), signal.SIGTERM)  # SIGINT is ignored by what a shell starts in the background


def open_view(
    terminal: Terminal,
    others: Listener,
    environ: Mapping[str, str],
    format_: Format,
    *,
    waits: bool,
    why: str = WHY,
) -> View:
    """The view for an output in `format_`; text is plain in a pipe and rendered on a terminal.

    `why` is the command that shows what a citation rests on.
    """
    if format_ == "json":
        return JsonView(terminal, others)
    if format_ == "events":
        return EventsView(terminal, others, environ)
    if not is_smart(terminal.out, environ):
        return PrintedView(terminal, others, why=why)
    return StreamedView(terminal, others, environ, waits=waits, why=why)
