"""Counts of ingestion outcomes."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field

from asky.errors import SourceError, SourceUnreadable
from asky.events import FileRead, FileVerdict, Listener

OTHER_CONTENT = "its content does not match its name"
"""The reason for not reading a file that is not what its suffix says."""


@dataclass(frozen=True, slots=True)
class AcquireReport:
    """The outcome for everything that was scanned.

    `verdicts` counts files by verdict; `problems` lists each source that is not searchable, with the reason; `skipped`
    holds `(first name, reason, count)` of what was skipped on purpose.
    """

    verdicts: dict[str, int]
    problems: tuple[FileRead, ...]
    skipped: tuple[tuple[str, str, int], ...]
    removed: int
    chunks_added: int
    seconds: float


@dataclass(slots=True)
class AcquireCounts:
    """Counts the outcome for each source, and notifies `listener`."""

    listener: Listener
    verdicts: Counter[str] = field(default_factory=Counter)
    problems: list[FileRead] = field(default_factory=list)
    skipped: list[tuple[str, str, int]] = field(default_factory=list)
    removed: int = 0
    chunks: int = 0
    started: float = field(default_factory=time.monotonic)

    def record(self, path: str, verdict: FileVerdict, why: str | None = None) -> None:
        """Record the verdict for one source."""
        self.verdicts[verdict] += 1
        event = FileRead(path, verdict, why)
        if verdict not in ("indexed", "unchanged"):
            self.problems.append(event)
        self.listener(event)

    def report(self) -> AcquireReport:
        """Return the outcomes so far."""
        return AcquireReport(
            dict(self.verdicts),
            tuple(self.problems),
            tuple(self.skipped),
            self.removed,
            self.chunks,
            time.monotonic() - self.started,
        )


def verdict_of(error: SourceError) -> FileVerdict:
    """Return the verdict for a file that raised `error`."""
    return error.verdict if isinstance(error, SourceUnreadable) else "refused"  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class DiskChanges:
    """The files of a collection that its next sync would read again, add and remove, by their sizes and times."""

    changed: int = 0
    new: int = 0
    gone: int = 0
