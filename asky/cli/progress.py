"""The status line on stderr: one line, redrawn in place, on a terminal only."""

from __future__ import annotations

import os
import threading
import unicodedata
from collections.abc import Callable, Mapping
from typing import TextIO

from asky import events
from asky.cli.terminal import is_smart, one_line
from asky.values import Failure

_REDRAW_S = 0.1
_ESTIMATE_AFTER_S = 2.0
_CLEAR = "\r\x1b[K"
_TYPED = "  > "
_PROGRAM_FAULTS = frozenset({"timed_out", "too_large", "tool_failed", "not_started"})  # of a tool that the user set up


class Progress:
    """A listener that shows the stage of a run with its counts and the time left.

    On a terminal it redraws one line at most ten times a second; elsewhere, or with `line=False`, it only prints a
    summary of each stage when `verbose`. Warnings are always printed unless `quiet`, which silences everything, and so
    are queries of runs that can read private documents. It may be called from any thread and does not raise when stderr
    is gone.
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
    ) -> None:
        self._stream = stream
        self._clock = clock
        self._quiet = quiet
        self._verbose = verbose
        self._draws = line and not quiet and is_smart(stream, environ)
        self._lock = threading.Lock()
        self._stage: str | None = None
        self._done = 0
        self._total: int | None = None
        self._detail = ""
        self._since = 0.0
        self._typed = ""
        self._drawn_at: float | None = None
        self._visible = False

    def __call__(self, event: events.Event) -> None:
        if self._quiet:
            return
        with self._lock:
            try:
                self._hear(event)
            except (OSError, ValueError):  # the terminal was closed: nobody is left to tell
                self._quiet = True

    def show_typed(self, text: str) -> None:
        """Show `text`, which the user is typing, at the end of the line; `""` for nothing."""
        with self._lock:
            if text != self._typed:
                self._typed = text
                self._drawn_at = None  # seen at once

    def tick(self) -> None:
        """Redraw what a busy moment left out; for a caller that waits."""
        with self._lock:
            if self._stage is not None and not self._quiet:
                try:
                    self._draw()
                except (OSError, ValueError):
                    self._quiet = True

    def clear(self) -> None:
        """Take the line off the terminal, so that something else can be printed."""
        with self._lock:
            try:
                self._erase()
            except (OSError, ValueError):
                self._quiet = True

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *exception: object) -> None:
        self._stage = None
        self.clear()

    def _hear(self, event: events.Event) -> None:
        if isinstance(event, events.StageStarted):
            self._stage, self._done, self._total, self._detail = event.stage, 0, event.total, ""
            self._since = self._clock()
        elif isinstance(event, events.StageAdvanced):
            if event.stage != self._stage:
                self._stage, self._since, self._detail = event.stage, self._clock(), ""
            self._done, self._total = event.done, event.total if event.total is not None else self._total
        elif isinstance(event, events.FileRead):
            self._detail = event.path
            if self._verbose and event.why is not None:
                self._print(f"{event.path}: {event.verdict.replace('_', ' ')}: {event.why}")
        elif isinstance(event, events.QuerySent):
            if event.is_private:
                self._print(f"searching the web for “{event.query}”: {', '.join(event.services)}")
        elif isinstance(event, events.WebSearched):
            self._tell_search(event)
        elif isinstance(event, events.PageRead):
            self._detail = event.url
            if self._verbose:
                self._print(f"{event.url}: {event.verdict}" + (f": {event.why}" if event.why else ""))
        elif isinstance(event, events.StageFinished):
            self._finish(event)
        elif isinstance(event, events.ModelCalled):
            self._stage, self._done, self._total, self._detail = f"asking {event.model}", 0, None, ""
            self._since = self._clock()
        elif isinstance(event, events.ToolCalled):
            self._stage, self._done, self._total, self._detail = event.name, 0, None, event.summary
            self._since = self._clock()
        elif isinstance(event, events.ToolReturned):
            self._tell_failure(event.failure)
        elif isinstance(event, events.Warned):
            self._print(f"warning: {event.message}" + (f" ({event.hint})" if event.hint else ""))
        elif isinstance(event, events.TextStreamed):
            self._stage = None
            self._erase()
        if self._stage is not None:
            self._draw()

    def _tell_search(self, event: events.WebSearched) -> None:
        """What was sent where."""
        if self._verbose:
            said = "; ".join(f"“{query}”" for query in event.queries)
            where = ", ".join(event.services) or "kept from before"
            self._print(f"searched the web for {said} ({where}): {event.found} found")

    def _tell_failure(self, failure: Failure | None) -> None:
        """What became of the user's own tool; what a model did wrong is its own matter."""
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
        """The line in so many cells: of what is being typed the end, and of the rest at least a third."""
        if not self._typed:
            return cut_to_width(status, columns)
        typed = one_line(self._typed)
        room = max(columns - len(_TYPED) - min(len(status), columns // 3), 0)
        typed = typed[max(len(typed) - room, 0) :]  # a pasted note has thousands of characters, and each is measured
        while cut_to_width(typed, room) != typed:
            typed = typed[1:]
        line = cut_to_width(status, columns - len(_TYPED) - len(typed))
        return cut_to_width(line + _TYPED + typed, columns)

    def _status(self, now: float) -> str:
        parts = [one_line(self._stage or "")]
        if self._total:
            parts.append(f"{self._done}/{self._total}")
        elif self._done:
            parts.append(str(self._done))
        elapsed = now - self._since
        if self._total and 0 < self._done < self._total and elapsed >= _ESTIMATE_AFTER_S:
            parts.append(f"about {duration(elapsed / self._done * (self._total - self._done))} left")
        elif elapsed >= _ESTIMATE_AFTER_S:
            parts.append(duration(elapsed))
        if self._detail:
            parts.append(one_line(self._detail))
        return "  ".join(parts)

    def _print(self, text: str) -> None:
        self._erase()
        self._stream.write(one_line(text) + "\n")
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
    """`seconds` in one unit: `12 s`, `3 min`, `2 h`."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{round(seconds / 3600)} h"


def cut_to_width(text: str, columns: int) -> str:
    """As much of `text` as fits into `columns` cells of a terminal, where wide characters take two and marks none."""
    used = 0
    for at, character in enumerate(text):
        used += 0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if used > columns:
            return text[:at]
    return text
