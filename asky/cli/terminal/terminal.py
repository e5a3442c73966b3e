"""The terminal of a command: answers go to stdout, everything else to stderr, including a progress line."""

from __future__ import annotations

import os
import re
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import TYPE_CHECKING, TextIO

from asky import events
from asky.cli.terminal.cells import folded
from asky.cli.terminal.hyperlinks import file_address, hyperlink, shows_hyperlinks
from asky.text.printable import json_document as json_document
from asky.text.printable import json_text as json_text
from asky.text.printable import one_line as one_line
from asky.text.printable import plain as plain
from asky.values import Failure

if TYPE_CHECKING:
    from asky.config.schema import Ui

_REDRAW_S = 0.1
_ESTIMATE_AFTER_S = 2.0
_OF_BAR = 6  # of the line
_CLEAR = "\r\x1b[K"
_TYPED = "  > "
_CITATION = re.compile(r"\[\d+\]")
_MIN_COLUMNS = 16  # on a narrower terminal nothing is folded
_WORK: Mapping[str, str] = MappingProxyType(
    {
        "get_relevant_content": "searching the sources",
        "get_full_content": "reading a source",
        "query_research_memory": "searching the findings",
        "save_finding": "saving a finding",
        "web_search": "searching the web",
        "extract_links": "listing links",
        "get_link_summaries": "reading pages",
        "find_notes": "searching the notes",
        "research_note": "researching a note",
    }
)
"""What a tool does, by its name."""
_SHORT_PHASES = ("analyze", "evaluate", "export")  # no page is read in them, and no model called
_PROGRAM_FAULTS = frozenset({"timed_out", "too_large", "tool_failed", "not_started"})  # of user-defined tools


def wants_color(setting: str, stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Return whether to colour `stream`, for a `ui.color` of `auto`, `always` or `never`."""
    if setting != "auto":
        return setting == "always"
    return not environ.get("NO_COLOR") and is_smart(stream, environ)


def is_smart(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Return whether `stream` is a terminal that can move its cursor."""
    return stream.isatty() and environ.get("TERM", "dumb") not in ("", "dumb")


def terminal_columns(stream: TextIO) -> int | None:
    """Return the columns of the terminal behind `stream`; `None` if it is none, is too narrow, or does not say."""
    try:
        columns = os.get_terminal_size(stream.fileno()).columns if stream.isatty() else 0
    except (OSError, ValueError):
        return None
    return columns if columns >= _MIN_COLUMNS else None


def _rows(text: str, stream: TextIO, hang: int = 0) -> list[str]:
    """Return the lines of `text`, folded to the terminal behind `stream`, if there is one; see `folded`."""
    columns = terminal_columns(stream)
    return text.split("\n") if columns is None else folded(text, columns, hang=hang)


def say(text: str, *, hang: int = 0, err: bool = True) -> None:
    """Print a text for the user, where a command has no `Terminal`; lines are broken as by its `line`."""
    stream = sys.stderr if err else sys.stdout
    stream.write("\n".join(_rows(plain(text), stream, hang)) + "\n")
    stream.flush()


def _matching(
    cells: Sequence[tuple[str, tuple[int, ...]]], at: int, row: str
) -> Iterator[tuple[int, str, tuple[int, ...]]]:
    """Yield position, character and codes of the cells of a `row`, from `at`; the blanks of a fold are left out."""
    for character in row:
        while cells[at][0] != character:
            at += 1
        yield at, character, cells[at][1]
        at += 1


class Terminal:
    """The output of a command: answers go to `out`, everything else to `err`.

    On a terminal, lines are broken between words.
    """

    def __init__(
        self,
        *,
        out: TextIO,
        err: TextIO,
        environ: Mapping[str, str],
        color: str = "auto",
        quiet: bool = False,
        verbose: bool = False,
    ) -> None:
        self.out = out
        self.err = err
        self.environ = environ
        self.quiet = quiet
        self.verbose = verbose
        self.is_smart = is_smart(out, environ)
        self.colored = wants_color(color, out, environ)
        self.links = out.isatty() and shows_hyperlinks(out, environ)

    def write(self, text: str) -> None:
        """Print a piece of an answer as `plain` text without a line break, and flush."""
        self.out.write(plain(text))
        self.out.flush()

    def line(self, text: str = "", *codes: int, hang: int = 0) -> None:
        """Print a line of an answer as `plain` text, with the SGR `codes` if colour is on.

        Rows that continue it are indented by `hang` cells more than it.
        """
        rows = _rows(plain(text), self.out, hang)
        self.out.write("\n".join(self.paint(row, *codes) for row in rows) + "\n")

    def parts(self, parts: Sequence[tuple[str, Sequence[int]]], *, hang: int = 0) -> None:
        """Print a text of several lines in parts, each with its SGR codes, as `line` does.

        The style begins anew in each row, because a pager resets it there.
        """
        cells = [(character, tuple(codes)) for part, codes in parts for character in plain(part)]
        at = 0
        for row in _rows("".join(character for character, _ in cells), self.out, hang):
            shown = row.lstrip(" ")
            self.out.write(row[: len(row) - len(shown)])
            for codes, group in groupby(_matching(cells, at, shown), key=lambda cell: cell[2]):
                found = list(group)
                self.out.write(self.paint("".join(character for _, character, _ in found), *codes))
                at = found[-1][0] + 1
            self.out.write("\n")

    def json(self, value: object) -> None:
        """Print `value` as one line of JSON."""
        self.out.write(json_text(value) + "\n")

    def note(self, text: str) -> None:
        """Print a note that is not part of the answer; silent under `-q`."""
        if not self.quiet:
            self.err.write("\n".join(_rows(plain(text), self.err)) + "\n")

    def ask(self, text: str) -> None:
        """Print what the user must see before answering a question, as `note` does, but under `-q` too."""
        self.err.write("\n".join(_rows(plain(text), self.err)) + "\n")
        self.err.flush()

    def cited_lines(self, text: str) -> None:
        """Print an answer as `plain` text, with its citations in colour."""
        for line in text.splitlines():
            self.out.write(_CITATION.sub(lambda match: self.paint(match[0], 36), plain(line)) + "\n")

    def source(self, text: str, where: str | None, *codes: int, hang: int = 0) -> None:
        """Print a line about a source as `line` does, with a link to `where`, its URL or path, if those are shown."""
        rows = _rows(plain(text), self.out, hang)
        self.out.write("\n".join(self._linked(self.paint(row, *codes), where) for row in rows) + "\n")

    def sources(self, cited: Sequence[tuple[int, str, str | None]], *, hint: str = "") -> None:
        """Print each source, a reference and a URL or path, with the number of its marker; then `hint` as a note."""
        for number, reference, where in cited:
            sign = f"[{number}] "
            rows = _rows(sign + one_line(reference), self.out, len(sign))
            first = self.paint(sign.rstrip(), 36) + " " + self._linked(plain(rows[0][len(sign) :]), where)
            self.out.write("\n".join([first, *(self._linked(row, where) for row in rows[1:])]) + "\n")
        if hint:
            self.note(hint)

    def _linked(self, row: str, where: str | None) -> str:
        """Return the end of `row` after its indent as a link to `where`, a URL or a path, if links are shown."""
        if not self.links or not where:
            return row
        indent = len(row) - len(row.lstrip(" "))
        return row[:indent] + hyperlink(row[indent:], file_address(where) or where)

    def paint(self, text: str, *codes: int) -> str:
        """Return `plain` text between the SGR `codes` if colour is on.

        Print it with `out.write`: `line` would strip them.
        """
        body = plain(text)
        return f"\x1b[{';'.join(map(str, codes))}m{body}\x1b[0m" if self.colored and codes and body else body


class Progress:
    """A listener that shows the current stage of a run, its counts and the remaining time.

    On a terminal it redraws one line at most ten times a second; elsewhere it prints the phases of research that may
    take minutes; with `line=False` it does neither. It prints a summary of each stage if `verbose`. Warnings, and
    queries of runs that can read private documents, are always printed unless `quiet`, which silences everything. Notes
    that were `said` before are not printed again. It may be called from any thread and does not raise if stderr is
    gone.
    """

    def __init__(
        self,
        stream: TextIO,
        *,
        clock: Callable[[], float],
        environ: Mapping[str, str],
        quiet: bool = False,
        verbose: bool = False,
        line: bool = True,
        said: Collection[str] = (),
    ) -> None:
        self._stream = stream
        self._clock = clock
        self._quiet = quiet
        self._verbose = verbose
        self._draws = line and not quiet and is_smart(stream, environ)
        self._tells_phases = line and not self._draws
        self._lock = threading.Lock()
        self.notes: list[str] = []
        self._said = frozenset(said)
        self._warned: set[str] = set()
        self._warnings: list[events.Warned] = []
        self._stage: str | None = None
        self._done = 0
        self._total: int | None = None
        self._detail = ""
        self._started_at = 0.0
        self._typed = ""
        self._drawn_at: float | None = None
        self._visible = False

    def __call__(self, event: events.Event) -> None:
        if isinstance(event, events.Noted):
            self.notes.append(event.message)
        if self._quiet:
            return
        with self._lock:
            try:
                self._on_event(event)
            except (OSError, ValueError):  # the terminal was closed
                self._quiet = True

    def show_typed(self, text: str) -> None:
        """Show `text`, which the user is typing, at the end of the line; `""` shows nothing."""
        with self._lock:
            if text != self._typed:
                self._typed = text
                self._drawn_at = None  # redraws at once

    def warning_of(self, reason: str) -> events.Warned | None:
        """Return a warning that has been printed and ends in `reason`."""
        return next((each for each in self._warnings if each.message.endswith(reason)), None)

    def tick(self) -> None:
        """Redraw the line if an update was skipped; for a caller that waits."""
        with self._lock:
            if self._stage is not None and not self._quiet:
                try:
                    self._draw()
                except (OSError, ValueError):
                    self._quiet = True

    def clear(self) -> None:
        """Erase the line so that something else can be printed."""
        with self._lock:
            try:
                self._erase()
            except (OSError, ValueError):
                self._quiet = True

    def close(self) -> None:
        """Erase the line for good."""
        self._stage = None
        self.clear()

    def _on_event(self, event: events.Event) -> None:
        if isinstance(event, events.StageStarted):
            self._stage, self._done, self._total, self._detail = event.stage, 0, event.total, ""
            self._started_at = self._clock()
        elif isinstance(event, events.StageAdvanced):
            if event.stage != self._stage:
                self._stage, self._started_at, self._detail = event.stage, self._clock(), ""
            self._done, self._total = event.done, event.total if event.total is not None else self._total
        elif isinstance(event, events.FileRead):
            self._detail = event.path
            if self._verbose and event.why is not None:
                self._print(f"{event.path}: {event.verdict.replace('_', ' ')}: {event.why}")
        elif isinstance(event, events.QuerySent):
            if event.is_private:
                self._print(f"searching the web for “{event.query}”: {', '.join(event.services)}")
        elif isinstance(event, events.WebSearched):
            self._print_search(event)
        elif isinstance(event, events.PageRead):
            self._detail = event.url
            if self._verbose:
                self._print(f"{event.url}: {event.verdict}" + (f": {event.why}" if event.why else ""))
        elif isinstance(event, events.StageFinished):
            self._finish(event)
        elif isinstance(event, events.ModelCalled):
            self._stage, self._done, self._total, self._detail = f"asking {event.model}", 0, None, ""
            self._started_at = self._clock()
        elif isinstance(event, events.ToolCalled):
            stage = _WORK.get(event.name, f"running {one_line(event.name)}")
            self._stage, self._done, self._total, self._detail = stage, 0, None, event.summary
            self._started_at = self._clock()
        elif isinstance(event, events.ToolReturned):
            self._print_failure(event.failure)
        elif isinstance(event, events.Warned):
            topic = event.topic or event.message
            if topic not in self._warned and not event.is_repeat:  # a later turn of a chat may repeat it
                self._warned.add(topic)
                self._warnings.append(event)
                self._print(f"warning: {event.message}" + (f" ({event.hint})" if event.hint else ""))
        elif isinstance(event, events.Noted):
            if (self._verbose or not event.is_detail) and event.message not in self._said:
                self._print(event.message)
        elif isinstance(event, events.PhaseStarted):
            self._stage, self._done, self._total, self._detail = event.message, 0, None, ""
            self._started_at = self._clock()
            if self._verbose or (self._tells_phases and event.phase not in _SHORT_PHASES):
                self._print(event.message)
        elif isinstance(event, events.ResearchPlanned):
            if len(event.sub_questions) > 1:
                self._print(f"to find out: {'; '.join(event.sub_questions)}")
        elif isinstance(event, events.CycleEvaluated):
            self._print(f"cycle {event.cycle}: {event.novelty:.0%} of what it found is new; {event.reason}")
        elif isinstance(event, events.TextStreamed):
            self._stage = None
            self._erase()
        if self._stage is not None:
            self._draw()

    def _print_search(self, event: events.WebSearched) -> None:
        """Print the queries that were sent, and the services."""
        if self._verbose:
            queries = "; ".join(f"“{query}”" for query in event.queries)
            where = ", ".join(event.services) or "cached"
            self._print(f"searched the web for {queries} ({where}): {event.found} found")

    def _print_failure(self, failure: Failure | None) -> None:
        """Print a failure of the user's own tool; mistakes of the model are not reported."""
        if failure is not None and (self._verbose or failure.code in _PROGRAM_FAULTS):
            self._print(failure.message)

    def _finish(self, event: events.StageFinished) -> None:
        self._stage = None
        self._erase()
        if self._verbose:
            summary = f": {event.summary}" if event.summary else ""
            self._print(f"{event.stage}{summary} ({event.seconds:.1f} s)")

    def _draw(self) -> None:
        now = self._clock()
        if not self._draws or (self._drawn_at is not None and now - self._drawn_at < _REDRAW_S):
            return
        self._stream.write(_CLEAR + self._fitted(self._status(now), self._columns() - 1))
        self._stream.flush()
        self._drawn_at, self._visible = now, True

    def _fitted(self, status: str, columns: int) -> str:
        """Return the line in `columns` cells: the end of the typed text, and at least a third for the rest."""
        if not self._typed:
            return cut_to_width(status, columns)
        typed = one_line(self._typed)
        available = max(columns - len(_TYPED) - min(len(status), columns // 3), 0)
        typed = typed[max(len(typed) - available, 0) :]  # measuring each character of a long paste is slow
        while cut_to_width(typed, available) != typed:
            typed = typed[1:]
        line = cut_to_width(status, columns - len(_TYPED) - len(typed))
        return cut_to_width(line + _TYPED + typed, columns)

    def _status(self, now: float) -> str:
        parts = [one_line(self._stage or "")]
        if self._total:
            parts.append(f"{self._done}/{self._total}")
        elif self._done:
            parts.append(str(self._done))
        elapsed = now - self._started_at
        if self._total and 0 < self._done < self._total and elapsed >= _ESTIMATE_AFTER_S:
            cells = self._columns() // _OF_BAR
            filled = cells * self._done // self._total
            parts.insert(1, "█" * filled + "░" * (cells - filled))
            parts.append(f"about {duration(elapsed / self._done * (self._total - self._done))} left")
        elif elapsed >= _ESTIMATE_AFTER_S:
            parts.append(duration(elapsed))
        if self._detail:
            parts.append(one_line(self._detail))
        return "  ".join(parts)

    def _print(self, text: str) -> None:
        self._erase()
        self._stream.write("\n".join(_rows(one_line(text), self._stream)) + "\n")
        self._stream.flush()

    def _erase(self) -> None:
        if self._visible:
            self._stream.write(_CLEAR)
            self._stream.flush()
            self._visible = False

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or 80
        except (OSError, ValueError):
            return 80


def duration(seconds: float) -> str:
    """Return `seconds` in one unit: `12 s`, `3 min`, `2 h`."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{round(seconds / 3600)} h"


def cut_to_width(text: str, columns: int) -> str:
    """Return as much of `text` as fits into `columns` cells; wide characters take two and marks none."""
    used = 0
    for at, character in enumerate(text):
        used += 0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if used > columns:
            return text[:at]
    return text


def open_terminal(
    environ: Mapping[str, str], settings: Ui, *, quiet: bool, verbose: bool, said: Collection[str] = ()
) -> tuple[Terminal, Progress]:
    """Return the terminal of this process and its progress line for these settings and options; see `Progress`."""
    progress = Progress(
        sys.stderr,
        clock=time.monotonic,
        environ=environ,
        quiet=quiet,
        verbose=verbose,
        line=settings.progress,
        said=said,
    )
    terminal = Terminal(
        out=sys.stdout, err=sys.stderr, environ=environ, color=settings.color, quiet=quiet, verbose=verbose
    )
    return terminal, progress
