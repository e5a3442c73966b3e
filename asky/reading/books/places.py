"""The headings of a book: the entries of its contents where they lead to, and the others of its chapters below them."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from asky.reading.books.contents import Entry
from asky.reading.books.writing import ChapterText
from asky.reading.mupdf import find_title
from asky.values import Section

_MAX_LEVEL = 32


class BookHeading(NamedTuple):
    """A heading at an offset in a chapter, counted from 0; `level` counts from 1."""

    chapter: int
    start: int
    level: int
    text: str


def chapter_headings(
    paths: Sequence[str], chapters: Sequence[ChapterText], entries: Sequence[Entry]
) -> Iterator[BookHeading]:
    """Yield the headings of a book in order, each once; chapters without text have none.

    An entry of the contents begins at the heading with its words, else at the place that it leads to. Headings that the
    contents leave out are below the entry before them, as far as their tags are below its own.
    """
    by_path: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_path[entry.path].append(entry)
    above, tag = 0, 0  # the level of the last entry, and of the tag of its heading
    for number, (path, chapter) in enumerate(zip(paths, chapters, strict=True)):
        if not chapter.text:
            continue
        placed, own = _placed(chapter, by_path.pop(path, []))
        merged: list[tuple[int, Entry | Section]] = list(placed)
        merged += [(heading.start, heading) for heading in chapter.headings if heading.start not in own]
        for start, each in sorted(merged, key=lambda one: one[0]):
            if isinstance(each, Entry):
                above, tag = each.level, own.get(start, 0)
                yield BookHeading(number, start, above, each.title)
            else:
                level = min(_MAX_LEVEL, above + max(0 if tag else 1, each.level - tag))
                yield BookHeading(number, start, level, each.heading)


def _placed(chapter: ChapterText, entries: Sequence[Entry]) -> tuple[list[tuple[int, Entry | Section]], dict[int, int]]:
    """Return the entries with where they begin, and the starts of the headings that they are, with their levels."""
    by_letters: dict[str, list[Section]] = defaultdict(list)
    for each in chapter.headings:
        by_letters[_letters(each.heading)].append(each)
    at = {each.start: each for each in chapter.headings}
    placed: list[tuple[int, Entry | Section]] = []
    own: dict[int, int] = {}
    begun = False
    for entry in entries:
        place = chapter.places.get(entry.fragment) if entry.fragment else (None if begun else 0)
        alike = [each for each in by_letters[_letters(entry.title)] if each.start not in own]
        below = [each for each in alike if each.start >= (place or 0)]
        candidates: list[Section | None] = [*below, *alike, at.get(place) if place is not None else None]
        heading = candidates[0]
        if heading is not None and heading.start not in own:
            own[heading.start] = heading.level
            is_first = heading is chapter.headings[0] and not entry.fragment and not begun
            place = 0 if is_first else heading.start  # what stands above a chapter's heading belongs to it
        elif place is None:
            place = find_title(chapter.text, entry.title, 0) or 0
        begun = begun or not entry.fragment
        placed.append((place, entry))
    return placed, own


def _letters(text: str) -> str:
    return "".join(each for each in unicodedata.normalize("NFKD", text).casefold() if each.isalnum())
