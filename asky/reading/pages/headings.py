"""The headings on a PDF's pages, for files without an outline, and for sections that outlines leave out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from asky.reading.pages.paragraphs import Paragraph
from asky.reading.text_builder import TextBuilder

_MAX_CHARS = 120
_MAX_WORDS = 14
_LARGER = 1.08  # times the body's size
_BODY_CHARS = 100
_NUMBER = re.compile(
    r"(?:(?P<digits>\d{1,2}(?:\.\d{1,2}){0,3})\.?|(?P<roman>[IVX]{1,5})\.|(?P<letter>[A-Z])(?:\.\d{1,2})?\.)\s+(?=\S)"
)
_KNOWN = re.compile(
    r"abstract|summary|(?:general )?introduction|background|motivation|related works?|materials? and methods?|methods?"
    r"|methodology|experiments?|results?|(?:results? and )?discussions?|(?:discussions? and )?conclusions?"
    r"|conclusions? and .{3,30}|limitations|acknowledge?ments?|references|bibliography|literature cited|works cited"
    r"|statement of need|appendix|appendices|supplementary materials?",
    re.IGNORECASE,
)
# An outline often begins with the introduction and ends before the references.
_OFTEN_LEFT_OUT = re.compile(r"abstract|summary|references|bibliography|acknowledge?ments?", re.IGNORECASE)
_RUN_IN = re.compile(r"(abstract|summary)(?:\s*[.:—–]|\s-)\s*(?=\S)", re.IGNORECASE)
_SPACED = re.compile(r"(?:\b\w ){4,}\w\b")


@dataclass(frozen=True, slots=True)
class PageHeading:
    """A heading at `offset` of a paragraph: `page` and `paragraph` count from 0, `level` from 1."""

    page: int
    paragraph: int
    text: str
    level: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class _Candidate:
    page: int
    paragraph: int
    text: str
    style: tuple[float, bool]
    number: str
    known: bool
    styled: bool
    followed: bool


def page_headings(
    pages: Sequence[Sequence[Paragraph]], body: float, outline: Sequence[tuple[int, str, int]]
) -> list[PageHeading]:
    """Return the headings to add to those of the outline, in order: all if there is none."""
    candidates = _candidates(pages, body)
    if len(outline) > 1:
        names = {_plain(title) for _, title, _ in outline}
        level = _section_level(outline)
        return [
            PageHeading(each.page, each.paragraph, each.text, level)
            for each in candidates
            if each.known and _OFTEN_LEFT_OUT.fullmatch(_plain(each.text)) and _plain(each.text) not in names
        ]
    return _chosen(candidates)


def add_page(builder: TextBuilder, page: Sequence[Paragraph], headings: Sequence[PageHeading]) -> str:
    """Add a page's paragraphs, with a blank line between two, and mark its headings; return its text."""
    start = len(builder)
    for place, paragraph in enumerate(page):
        if place:
            builder.add("\n\n")
        for each in headings:
            if each.paragraph == place:
                builder.mark_heading(each.text, each.level, len(builder) + each.offset)
        builder.add(paragraph.text)
    if not page:
        for each in headings:
            builder.mark_heading(each.text, each.level)
    return builder.text_from(start)


def _candidates(pages: Sequence[Sequence[Paragraph]], body: float) -> list[_Candidate]:
    found = []
    begun = False  # the title, the names and the affiliations come first
    for number, page in enumerate(pages):
        for place, paragraph in enumerate(page):
            text = " ".join(paragraph.text.split()) if len(paragraph.text) <= _MAX_CHARS else ""
            run_in = _RUN_IN.match(paragraph.text) if number == 0 else None
            candidate: _Candidate | None = None
            following = page[place + 1] if place + 1 < len(page) else None
            if run_in:
                candidate = _Candidate(number, place, run_in[1], (0.0, False), "", True, True, True)
            elif text and " | " not in text and not paragraph.is_caption:
                candidate = _candidate(number, place, text, paragraph, following, body)
            if candidate and (begun or candidate.known or candidate.number):
                found.append(candidate)
            begun = begun or number > 0 or (candidate is not None and candidate.known) or len(paragraph.text) > 400
    return found


def _candidate(
    page: int, place: int, text: str, paragraph: Paragraph, following: Paragraph | None, body: float
) -> _Candidate | None:
    match = _NUMBER.match(text)
    name = text[match.end() :] if match else text
    if _SPACED.fullmatch(name):
        name = name.replace(" ", "")
    known = _KNOWN.fullmatch(name.rstrip(".: ")) is not None
    letters = sum(character.isalpha() for character in name)
    if letters < 3 or letters < 0.6 * len(name.replace(" ", "")) or not name[0].isupper():
        return None
    if not known and (name[-1] in ".,;:" or len(name.split()) > _MAX_WORDS):
        return None
    size = round(paragraph.size * 2) / 2
    bold = all(line.bold for line in paragraph.lines)
    styled = bold or size >= _LARGER * body or (name.isupper() and letters > 3 and " " in name)
    followed = following is not None and len(following.text) >= _BODY_CHARS
    number = match.group().strip().rstrip(".") if match else ""
    return _Candidate(page, place, text, (size, bold), number, known, styled, followed)


def _chosen(candidates: Sequence[_Candidate]) -> list[PageHeading]:
    """Return the candidates that are headings: known names, numbers in order, or one recurring style."""
    numbered = _in_sequence(candidates)
    looks = Counter(each.style for each in candidates if each.styled and not each.number and each.followed)
    number_looks = {candidates[index].style for index in numbered}
    sizes = sorted({each.style[0] for each in candidates if looks[each.style] > 1}, reverse=True)
    found = []
    for index, each in enumerate(candidates):
        if index in numbered:
            level = numbered[index]
        elif each.known and not each.number:
            level = 1
        elif each.number or not each.styled:
            continue
        elif len(numbered) > 2:
            if each.style not in number_looks:
                continue
            level = min(numbered[other] for other in numbered if candidates[other].style == each.style)
        elif looks[each.style] > 1 and (each.followed or each.style[0] == sizes[0]):
            level = 1 + sizes.index(each.style[0])
        else:
            continue
        found.append(PageHeading(each.page, each.paragraph, each.text, level))
    return found


def _in_sequence(candidates: Sequence[_Candidate]) -> dict[int, int]:
    """Return the levels of the numbered candidates whose number follows the one before, by index."""
    found: dict[int, int] = {}
    last: list[int] = []
    roman = any(re.fullmatch("I", each.number) for each in candidates)
    for index, each in enumerate(candidates):
        parts = _parts(each.number, roman)
        if not parts or not (each.styled or each.known or each.followed):
            continue
        follows = parts == [1] and not last
        for depth in range(len(parts)):
            higher, number = parts[:depth], parts[depth]
            if higher == last[:depth] and depth == len(parts) - 1:
                follows = follows or number == (last[depth] + 1 if len(last) > depth else 1)
        if follows or (each.known and len(parts) == 1):
            found[index] = len(parts)
            last = parts
            continue
        if each.styled and len(parts) > 1 and parts[:1] == last[:1] and parts > last:
            found[index] = len(parts)  # one before it was missed
            last = parts
        elif each.styled and len(parts) == 1 and last and last[0] < parts[0] <= last[0] + 2:
            found[index] = 1
            last = parts
    return found


def _parts(number: str, roman: bool) -> list[int]:
    """Return a section's number: `3.2` as 3 and 2; a letter counts below Roman numbers."""
    if not number:
        return []
    if number[0].isdigit():
        return [int(part) for part in number.split(".")]
    values = {"I": 1, "V": 5, "X": 10}
    if roman and set(number) <= set(values):
        total = 0
        for here, after in zip(number, [*number[1:], ""], strict=True):
            total += -values[here] if after and values[here] < values[after] else values[here]
        return [total]
    return []


def _plain(title: str) -> str:
    match = _NUMBER.match(title)
    return " ".join(title[match.end() if match else 0 :].casefold().rstrip(".: ").split())


def _section_level(outline: Sequence[tuple[int, str, int]]) -> int:
    """Return the level of the outline's sections: 2 where all is below one title."""
    first = min(level for level, _, _ in outline)
    return first if sum(level == first for level, _, _ in outline) > 1 else first + 1
