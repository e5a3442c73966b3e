"""The places of a PDF's outline entries on its pages."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence

from asky.reading.mupdf import find_title
from asky.reading.pages.headings import PageHeading
from asky.reading.pages.paragraphs import Paragraph

_NUMBER = re.compile(
    r"(?:appendix\s+)?(?:\d{1,2}(?:\.\d{1,2}){0,4}|[IVXLC]{1,6}|[A-Z](?:\.\d{1,2})*)[.:)]?\s+(?=\S)", re.I
)
_MAX_LINE_CHARS = 160
_TITLE_CHARS = 200
_ABSTRACT_CHARS = 100
_FIRST_REFERENCE = re.compile(r"^(?:\[1\]|1\.)\s", re.MULTILINE)

_Place = tuple[int, int, int]  # page, paragraph, offset in it


def outline_headings(
    pages: Sequence[Sequence[Paragraph]], outline: Sequence[tuple[int, str, int]]
) -> list[PageHeading]:
    """Return a heading for each entry (level, title, page from 0), where its title stands.

    A line of its own counts, with or without its number and in whatever case, on the entry's page, else on the nearest
    one, since some files lead to the page before. Then the beginning of a paragraph on the page counts, then a place in
    one. Abstracts and references without a heading begin with the first long paragraph and the first reference. Else
    the section begins with the page.
    """
    if not outline:
        return []
    lines = _lines(pages)
    taken: set[_Place] = set()
    found = []
    for level, title, page in outline:
        place = _find(title, page, pages, lines, taken)
        taken.add(place)
        found.append(PageHeading(place[0], place[1], title, level, place[2]))
    return found


def _lines(pages: Sequence[Sequence[Paragraph]]) -> dict[str, list[_Place]]:
    """Return the places of all short lines, by their letters with and without their number."""
    places: dict[str, list[_Place]] = defaultdict(list)
    for number, page in enumerate(pages):
        for index, paragraph in enumerate(page):
            if len(paragraph.text) > _MAX_LINE_CHARS and "\n" not in paragraph.text:
                continue
            offset = 0
            for line in paragraph.text.split("\n"):
                if len(line) <= _MAX_LINE_CHARS:
                    for key in _keys(line):
                        places[key].append((number, index, offset))
                offset += len(line) + 1
            if paragraph.text.count("\n") == 1 and len(paragraph.text) <= _MAX_LINE_CHARS:
                for key in _keys(paragraph.text):  # a heading of two lines
                    places[key].append((number, index, 0))
    return places


def _find(
    title: str,
    page: int,
    pages: Sequence[Sequence[Paragraph]],
    lines: dict[str, list[_Place]],
    taken: set[_Place],
) -> _Place:
    keys = _keys(title[:_TITLE_CHARS])
    places = [place for key in keys for place in lines.get(key, ()) if place not in taken]
    if places:
        # The page itself, the next, the one before, then those behind in order.
        return min(places, key=lambda place: (abs(place[0] - page - 0.1), place))
    near = [number for number in (page, page + 1) if number < len(pages)]
    for number in near:
        for index, paragraph in enumerate(pages[number]):
            begun = _keys(paragraph.text[: 2 * len(title) + 20])
            if any(text.startswith(key) for text in begun for key in keys) and (number, index, 0) not in taken:
                return number, index, 0
    for number in near:
        for index, paragraph in enumerate(pages[number]):
            inside = _place_inside(paragraph.text, title)
            if inside is not None and (number, index, inside) not in taken:
                return number, index, inside
    return page, 0, 0


def _place_inside(text: str, title: str) -> int | None:
    """Return the offset of a title of several words in a paragraph, or of what an unheaded section begins with."""
    name = title.casefold().strip(". ")
    if name == "abstract":
        return 0 if len(text) > _ABSTRACT_CHARS and text.endswith((".", "!", "?")) else None
    if name in ("references", "bibliography"):
        match = _FIRST_REFERENCE.search(text)
        return match.start() if match else None
    return find_title(text, title, 0) if " " in name else None


def _keys(text: str) -> set[str]:
    """Return the letters and digits of a line, without case and accents, and the same without its number."""
    match = _NUMBER.match(text)
    return {key for part in (text, text[match.end() :] if match else "") if len(key := _plain(part)) > 2}


def _plain(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
    return "".join(character for character in text.casefold() if character.isalnum())
