"""Incremental construction of text, with the offsets of its headings and pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from asky.text.scrub import one_line, scrub_counted
from asky.values import Document, Page, Section

UNREAD_PARTS = "unread_parts"
"""The metadata key with the parts of a file that were not read."""
_BETWEEN_PARTS = "; "
_MAX_UNREAD = 20
_METADATA_CHARS = 4_000  # a paper can have a hundred authors


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading that begins at `start`; `level` counts from 1 for the outermost. `metadata` is that of its section."""

    start: int
    level: int
    text: str
    metadata: Mapping[str, str] = field(default_factory=dict, hash=False)


def nest(headings: Sequence[Heading], end: int) -> tuple[Section, ...]:
    """Return the section of each heading: up to the next heading of the same or a higher level, at most up to `end`.

    `headings` must be in order of start; the sections are in the same order. Headings without text are left out.
    """
    ends = [end] * len(headings)
    open_: list[int] = []
    for number, heading in enumerate(headings):
        while open_ and headings[open_[-1]].level >= heading.level:
            ends[open_.pop()] = heading.start
        open_.append(number)
    return tuple(
        Section(heading=name, level=heading.level, start=heading.start, end=stop, metadata=heading.metadata)
        for heading, stop in zip(headings, ends, strict=True)
        if (name := one_line(heading.text))
    )


def invisible_metadata(count: int) -> dict[str, str]:
    """Return the metadata about removed invisible characters: empty, or their number."""
    return {"invisible_characters": str(count)} if count else {}


class TextBuilder:
    """Collects scrubbed pieces of text; `len()` is the offset at which the next one begins.

    `invisible` counts the invisible characters removed from the source of the pieces, and is increased here.
    """

    def __init__(self, invisible: int = 0) -> None:
        self.invisible = invisible
        self._pieces: list[str] = []
        self._length = 0
        self._headings: list[Heading] = []
        self._pages: list[tuple[int, str | None]] = []
        self.unread: list[str] = []

    def __len__(self) -> int:
        return self._length

    def add(self, text: str) -> None:
        """Append `text`, scrubbed."""
        if text.isascii() and text.lstrip("\n").isprintable():  # most blocks, recognised in a third of the time
            clean = text
        else:
            clean, invisible = scrub_counted(text)
            self.invisible += invisible
        if clean:
            self._pieces.append(clean)
            self._length += len(clean)

    def text(self) -> str:
        """Return the text so far."""
        return "".join(self._pieces)

    def text_from(self, start: int) -> str:
        """Return the text from `start`, the offset at which a piece began."""
        pieces, left = [], self._length - start
        for piece in reversed(self._pieces):
            if left <= 0:
                break
            pieces.append(piece)
            left -= len(piece)
        return "".join(reversed(pieces))

    def mark_heading(
        self, text: str, level: int, start: int | None = None, *, metadata: Mapping[str, str | None] | None = None
    ) -> None:
        """Mark a heading that begins at `start`, or with the next piece; `metadata` is about its section alone."""
        self._headings.append(Heading(self._length if start is None else start, level, text, _lines_of(metadata)))

    def start_page(self, label: str | None) -> None:
        """Begin a page with the next piece; it lasts until the next call or the end."""
        self._pages.append((self._length, one_line(label) or None if label else None))

    def add_document(self, document: Document, level: int) -> None:
        """Append the text of another document; its headings come below `level`, and its pages are not kept."""
        start = self._length
        self._headings += [
            Heading(start + each.start, level + each.level, each.heading, each.metadata) for each in document.sections
        ]
        self._pieces.append(document.text)  # scrubbed by its own builder
        self._length += len(document.text)
        self.unread += filter(None, document.metadata.get(UNREAD_PARTS, "").split(_BETWEEN_PARTS))

    def skip(self, part: str, reason: str) -> None:
        """Note that a part of the file was not read: its name, and why, in a few words."""
        self.unread.append(one_line(f"{part}: {reason}".replace(_BETWEEN_PARTS, ", ")))

    def build(
        self, media_type: str, *, title: str | None = None, metadata: Mapping[str, str | None] | None = None
    ) -> Document:
        """Return the document. Empty titles and empty metadata values are left out.

        `metadata["invisible_characters"]` is set if any were removed, and `metadata["unread_parts"]` if parts were
        skipped: `name: reason; name: reason`.
        """
        ends = [start for start, _ in self._pages[1:]] + [self._length]
        pages = tuple(
            Page(index=number, label=label, start=start, end=end)
            for number, ((start, label), end) in enumerate(zip(self._pages, ends, strict=False), start=1)
        )
        headings = sorted(self._headings, key=lambda heading: heading.start)
        return Document(
            text=self.text(),
            media_type=media_type,
            title=(one_line(title) or None) if title else None,
            sections=nest(headings, self._length),
            pages=pages,
            metadata={**_lines_of(metadata), **invisible_metadata(self.invisible), **self._unread_metadata()},
        )

    def _unread_metadata(self) -> dict[str, str]:
        parts = list(dict.fromkeys(self.unread))
        listed = _BETWEEN_PARTS.join(parts[:_MAX_UNREAD])
        more = len(parts) - _MAX_UNREAD
        return {UNREAD_PARTS: f"{listed}{_BETWEEN_PARTS}and {more:,} more" if more > 0 else listed} if parts else {}


def _lines_of(metadata: Mapping[str, str | None] | None) -> dict[str, str]:
    """Return the values of metadata on one line each; empty ones are left out."""
    return {
        key: line for key, value in (metadata or {}).items() if value and (line := one_line(value, _METADATA_CHARS))
    }
