"""Counts of ingestion outcomes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from asky.errors import SourceError, SourceUnreadable
from asky.events import FileRead, FileVerdict, Listener
from asky.evidence.unread import parts_of
from asky.reading.limits import OMITTED
from asky.reading.scanned_pages import SCANNED
from asky.reading.text_builder import UNREAD_PARTS
from asky.values import UnreadFile

_PAGES = "{} scanned page{}: without text that can be read"
_OMITTED = "the rest of the text: {:,} characters over the limit"

OTHER_CONTENT = "its content does not match its name"
"""The reason for not reading a file that is not what its suffix says."""


@dataclass(frozen=True, slots=True)
class AcquireReport:
    """The outcome for everything that was scanned.

    `verdicts` counts files by verdict; `problems` lists each source that is not searchable, with the reason; `skipped`
    holds `(first name, reason, count)` of what was skipped on purpose. `partial` lists each source that is searchable
    without some of its parts, with these.
    """

    verdicts: dict[str, int]
    problems: tuple[FileRead, ...]
    skipped: tuple[tuple[str, str, int], ...]
    removed: int
    chunks_added: int
    seconds: float
    partial: tuple[FileRead, ...] = ()

    @property
    def unread(self) -> list[UnreadFile]:
        """Return the files that were not read, then the parts of others."""
        files = [UnreadFile(each.path, each.verdict, each.why or "") for each in self.problems]
        return [*files, *(part for each in self.partial for part in parts_of(each.path, each.why))]


@dataclass(slots=True)
class AcquireCounts:
    """Counts the outcome for each source, and notifies `listener`."""

    listener: Listener
    verdicts: Counter[str] = field(default_factory=Counter)
    problems: list[FileRead] = field(default_factory=list)
    partial: list[FileRead] = field(default_factory=list)
    skipped: list[tuple[str, str, int]] = field(default_factory=list)
    removed: int = 0
    chunks: int = 0
    started: float = field(default_factory=time.monotonic)

    def record(self, path: str, verdict: FileVerdict, why: str | None = None) -> None:
        """Record the verdict for one source; `why` is the reason, or lists the parts that it was read without."""
        self.verdicts[verdict] += 1
        event = FileRead(path, verdict, why)
        if verdict not in ("indexed", "unchanged"):
            self.problems.append(event)
        elif why is not None:
            self.partial.append(event)
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
            tuple(self.partial),
        )


def unread_parts(metadata: Mapping[str, str]) -> str | None:
    """Return the parts that a document was read without, `name: reason; name: reason`, from its metadata, or `None`."""
    scanned, omitted = metadata.get(SCANNED), metadata.get(OMITTED)
    parts = [
        metadata.get(UNREAD_PARTS),
        _PAGES.format(scanned, "" if scanned == "1" else "s") if scanned else None,
        _OMITTED.format(int(omitted)) if omitted and omitted.isdecimal() else None,
    ]
    return "; ".join(part for part in parts if part) or None


def verdict_of(error: SourceError) -> FileVerdict:
    """Return the verdict for a file that raised `error`."""
    return error.verdict if isinstance(error, SourceUnreadable) else "refused"  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class DiskChanges:
    """The files of a collection that its next sync would read again, add and remove, by their sizes and times."""

    changed: int = 0
    new: int = 0
    gone: int = 0
