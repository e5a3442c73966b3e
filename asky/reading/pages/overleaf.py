"""Joining of sentences that continue in the next column or on the next page of a PDF."""

from __future__ import annotations

from collections.abc import Sequence

from asky.reading.pages.paragraphs import LONG_CHARS, NUMBERED, STOPS, Paragraph
from asky.reading.pages.words import is_hyphenated, joined
from asky.text.sentences import iter_sentences

_COLUMNS_AHEAD = 8  # the labels of a figure make columns too
_MAX_OVERLEAF = 700  # characters of a sentence that are moved to the page it begins on


def join_columns(columns: Sequence[list[Paragraph]], pages: Sequence[int], body: float) -> None:
    """Join sentences that continue in the next column, in place.

    `pages` are the page numbers of the columns. A sentence that continues overleaf is moved to the page it begins on; a
    paragraph that continues in the next column of its page is moved as a whole. Captions, notes and tables between the
    two, which stand at the end or the beginning of a column, stay where they are.
    """
    for number in range(len(columns) - 1):
        for ahead in range(number + 1, min(number + 1 + _COLUMNS_AHEAD, len(columns))):
            if pages[ahead] > pages[number] + 1 or _join(columns, number, ahead, pages, body):
                break
            if any(_is_body(paragraph, body) for paragraph in columns[ahead]):
                break


def _join(columns: Sequence[list[Paragraph]], number: int, ahead: int, pages: Sequence[int], body: float) -> bool:
    last = next((each for each in reversed(columns[number]) if _is_body(each, body)), None)
    first = next((each for each in columns[ahead] if _is_body(each, body)), None)
    if last is None or first is None or not _goes_on(last, first):
        return False
    if not _are_apart(columns[number], last, after=True, body=body):
        return False
    if not _are_apart(columns[ahead], first, after=False, body=body):
        return False
    if pages[number] == pages[ahead]:
        moved = len(first.text)
    else:
        sentence = next(iter_sentences(first.text[: 2 * _MAX_OVERLEAF]), None)
        moved = sentence.end if sentence else 0
        if moved > _MAX_OVERLEAF:
            if not is_hyphenated(last.text, first.text):
                return False
            moved = len(first.text.split(None, 1)[0])
    last.text = joined(last.text, first.text[:moved])
    first.text = first.text[moved:].lstrip()
    last.wide = first.wide and not first.text
    if not first.text:
        columns[ahead].remove(first)
    return True


def _is_body(paragraph: Paragraph, body: float) -> bool:
    return (
        abs(paragraph.size - body) < 0.06 * body
        and len(paragraph.text) > LONG_CHARS
        and not paragraph.is_caption
        and paragraph.table is None
        and " | " not in paragraph.text
    )


def _goes_on(last: Paragraph, first: Paragraph) -> bool:
    if STOPS.search(last.text) or last.text.endswith(":"):
        return False
    if first.text[0].islower():
        return True
    if not last.wide or is_hyphenated(last.text, first.text):
        return False  # of some other text
    return not first.indented and not first.lines[0].bold and not NUMBERED.match(first.text) and first.text[0].isalnum()


def _are_apart(column: Sequence[Paragraph], found: Paragraph, *, after: bool, body: float) -> bool:
    """Return whether only notes, captions and what belongs to them lies between `found` and the column's end."""
    at = next(index for index, each in enumerate(column) if each is found)
    between = column[at + 1 :] if after else column[:at]
    captioned = any(each.is_caption for each in between)
    return all(captioned or each.size < 0.93 * body for each in between)
