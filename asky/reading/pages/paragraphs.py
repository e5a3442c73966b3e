"""Paragraphs built from the lines of a PDF: wrapped lines are joined."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from asky.reading.pages.lines import Line, Rule, spelled_out
from asky.reading.pages.printed import PrintedTable
from asky.reading.pages.tables.aligned import aligned_table, cells_of, table_runs
from asky.reading.pages.words import is_hyphenated, joined

_ENDS = re.compile(r"[.?!:…。！？][\"'”’)\]]*$")
STOPS = re.compile(r"[.?!…。！？][\"'”’)\]]*$")
_BULLET = re.compile(r"[•‣◦▪●■□–—*∗⋄▸►✓✗☐☑☒-](?=\s|$)")
NUMBERED = re.compile(r"(?:\(?\d{1,3}[.)]|\(?[a-zA-Z][.)]|\([ivx]{1,5}\)|\[[^\]\s]{1,8}\])\s+\S")
_LINK = re.compile(r"[\d*†‡§]{0,3}\s?https?://")
_CAPTION = re.compile(r"(?:fig(?:ure|\.)|table|tab\.|algorithm|listing|scheme|chart)\s*[\dIVX]+", re.IGNORECASE)
_SECTION = re.compile(r"(?:\d{1,2}(?:\.\d{1,2}){0,3}\.?|[IVX]{1,5}\.|[A-Z](?:\.\d{1,2})*\.?)\s+(?=[A-Z])")
_SUBSECTION = re.compile(r"\d{1,2}(?:\.[1-9]\d?){1,3}\.?\s+[A-Z]")
KNOWN_HEADING = re.compile(
    r"(?:abstract|summary|introduction|references|bibliography|conclusions?|acknowledge?ments?)\.?", re.IGNORECASE
)
_MAX_HEADING_CHARS = 100
LONG_CHARS = 20  # a line in a column of shorter ones was not wrapped
_SAME_SIZE = 0.12
_RAGGED = 0.15  # of a column's width that may be left at the end of a line inside a sentence


@dataclass(slots=True)
class Paragraph:
    """A paragraph under construction. `wide`: its last line was full, so that it may continue elsewhere."""

    text: str
    lines: list[Line]
    wide: bool = False
    indented: bool = False
    table: PrintedTable | None = None
    _sized: int = 0  # how many lines `_size` is that of
    _size: float = 0.0

    @property
    def size(self) -> float:
        """Return the font size of most of its letters."""
        if self._sized != len(self.lines):
            sizes: Counter[float] = Counter()
            for line in self.lines:
                sizes[line.size] += len(line.text)
            self._sized, self._size = len(self.lines), sizes.most_common(1)[0][0]
        return self._size

    @property
    def is_caption(self) -> bool:
        """Return whether it begins as the caption of a figure or table does."""
        return _CAPTION.match(self.text) is not None


@dataclass(frozen=True, slots=True)
class _Column:
    left: float
    right: float
    leading: float


def paragraphs_of(lines: Sequence[Line], rules: Sequence[Rule] = ()) -> list[Paragraph]:
    """Return the paragraphs of one column, in order. Lines that were not wrapped keep their line ends.

    `rules` are the lines drawn on the page: one below the first row of a table says that it names the columns.
    """
    column = _measure(lines)
    rows = _with_tables(_rows(lines), column, rules)
    found: list[Paragraph] = []
    for number, row in enumerate(rows):
        if row.table is not None or (number and rows[number - 1].table is not None):
            found.append(Paragraph(row.text, list(row.lines), table=row.table))
        elif not found or _is_divided(rows[number - 1], row):
            found.append(Paragraph(row.text, list(row.lines)))
        elif _wraps(rows[number - 1], row, found[-1], column):
            found[-1].text = joined(found[-1].text, row.text)
            found[-1].lines += row.lines
        elif _stays_with(rows[number - 1], row, column):
            found[-1].text += f"\n{row.text}"
            found[-1].lines += row.lines
        else:
            found.append(Paragraph(row.text, list(row.lines)))
        found[-1].wide = row.lines[-1].x1 > column.right - 0.12 * (column.right - column.left)
    for paragraph in found:
        paragraph.indented = paragraph.lines[0].x0 > column.left + 0.6 * paragraph.lines[0].size
    return found


class _Row(NamedTuple):
    text: str
    lines: list[Line]
    is_heading: bool
    table: PrintedTable | None = None


def _rows(lines: Sequence[Line]) -> list[_Row]:
    """Return the lines, with those at the same height joined: cells of a table with ` | ` between them."""
    rows: list[list[Line]] = []
    for line in lines:
        if rows and _is_beside(rows[-1][-1], line):
            rows[-1].append(line)
        else:
            rows.append([line])
    cells = [_cells(row) if len(row) > 1 else [] for row in rows]
    made: list[_Row] = []
    for number, row in enumerate(rows):
        text = spelled_out(row[0]).strip()
        if len(row) > 1:
            near = [*cells[max(0, number - 1) : number], *cells[number + 1 : number + 2]]
            is_table = any(_are_aligned(cells[number], other) for other in near)
            for line in row[1:]:
                wide = is_table and line in cells[number]
                text += (" | " if wide else " ") + spelled_out(line).strip()
        if row[0].table is not None:
            made.append(_Row(row[0].text, row, is_heading=False, table=row[0].table))
        elif text:
            made.append(_Row(text, row, _is_heading(text, row)))
    return made


def _with_tables(rows: Sequence[_Row], column: _Column, rules: Sequence[Rule]) -> list[_Row]:
    """Return the rows, with those of each table as one; rows whose cells stand in no columns stay as they are."""
    if not any(" | " in row.text for row in rows):
        return list(rows)
    made: list[_Row] = []
    at = 0
    for start, end in table_runs([row.lines for row in rows], column.leading):
        part = rows[start:end]
        found = None
        if sum(" | " in row.text for row in part) > 1 and not any(row.table for row in part):
            found = aligned_table([row.lines for row in part], rules)
        if found is not None:
            table, first, last = found
            lines = [line for row in part[first:last] for line in row.lines]
            made += [*rows[at : start + first], _Row(table.text(), lines, is_heading=False, table=table)]
            at = start + last
    return [*made, *rows[at:]]


def _cells(row: Sequence[Line]) -> list[Line]:
    """Return the lines of the row that follow a gap as between cells."""
    return [cell[0] for cell in cells_of(row)[1:]]


def _are_aligned(cells: Sequence[Line], others: Sequence[Line]) -> bool:
    return any(
        abs(cell.x0 - other.x0) < 2 or abs(cell.x1 - other.x1) < 2 or abs(cell.x0 + cell.x1 - other.x0 - other.x1) < 4
        for cell in cells
        for other in others
    )


def _is_beside(before: Line, line: Line) -> bool:
    if before.table is not None or line.table is not None:
        return False
    return abs(line.base - before.base) < 0.35 * max(before.size, line.size) and line.x0 >= before.x1 - 1


def _measure(lines: Sequence[Line]) -> _Column:
    lines = [line for line in lines if line.table is None] or lines
    long = [line for line in lines if len(line.text) >= LONG_CHARS] or list(lines)
    ends = sorted(line.x1 for line in long)
    starts = sorted(line.x0 for line in long)
    steps = sorted(after.base - before.base for before, after in pairwise(long) if after.base > before.base + 2)
    leading = steps[len(steps) // 2] if steps else 1.5 * long[0].size
    return _Column(starts[len(starts) // 10], ends[-1 - len(ends) // 20], leading)


def _wraps(before: _Row, after: _Row, paragraph: Paragraph, column: _Column) -> bool:
    """Return whether the second row continues the sentence or paragraph of the first."""
    last, first = before.lines[-1], after.lines[0]
    text, following = before.text, after.text
    step = first.base - before.lines[0].base
    size = max(last.size, first.size)
    if " | " in text or " | " in following or (last.mono and first.mono):
        return False
    if last.entered or first.entered:
        return False
    if not -0.5 * size < step < max(1.35 * column.leading, 1.3 * size) or step > 3 * size:
        return False
    hyphenated = is_hyphenated(text, following)
    if hyphenated and step > 0:
        return True
    if abs(before.lines[0].size - first.size) > _SAME_SIZE * size and not following[0].islower():
        return False
    if last.x1 - before.lines[0].x0 < 0.5 * LONG_CHARS * size or _begins_item(text, following):
        return False
    ends = _ENDS.search(text) is not None
    if _is_short(
        last, first, column, 0.02 if ends or (last.bold != first.bold and not following[0].islower()) else _RAGGED
    ):
        return False
    if ends:
        shift = first.x0 - paragraph.lines[0].x0
        if first.x0 > before.lines[0].x0 + 0.6 * size and len(paragraph.lines) > len(before.lines):
            return False  # indented: a new paragraph
        if first.x0 > column.left + 0.6 * size and before.lines[0].x0 < first.x0 - 0.6 * size:
            return False
        if abs(shift) < 2 and before.lines[0].x0 > first.x0 + 0.6 * size and len(paragraph.lines) > 1:
            return False  # the end of a hanging indent
    return True


def _is_divided(before: _Row, after: _Row) -> bool:
    """Return whether a heading begins with the second row, or ends with the first."""
    if after.is_heading or not before.is_heading:
        return after.is_heading
    last, first = before.lines[-1], after.lines[0]
    return last.bold != first.bold or abs(last.size - first.size) > 0.03 * last.size or not last.bold


def _is_heading(text: str, lines: Sequence[Line]) -> bool:
    """Return whether a row looks like a heading: a usual name, or a number before a bold or capital name."""
    if len(text) > _MAX_HEADING_CHARS:
        return False
    match = _SECTION.match(text)
    name = text[match.end() :] if match else text
    if KNOWN_HEADING.fullmatch(name):
        return True
    if match is None or name[-1] in ".,;":
        return False
    if lines[-1].bold or (name.isupper() and len(name) > 3):
        return True
    if "." in name or "," in name:
        return False
    return _SUBSECTION.match(text) is not None or (text[0].isalpha() and _is_title_case(name))


def _is_title_case(name: str) -> bool:
    words = [word for word in name.split() if len(word) > 3]
    return len(words) > 1 and all(word[0].isupper() for word in words)


def _is_short(last: Line, first: Line, column: _Column, ragged: float) -> bool:
    """Return whether the next word would have fitted on the line, with `ragged` of the column's width left over."""
    word = first.text.split(None, 1)[0] if first.text.split() else ""
    needed = (len(word) + 1) * first.width / max(1, len(first.text))
    return last.x1 + needed < column.right - ragged * (column.right - column.left)


def _begins_item(text: str, following: str) -> bool:
    if _BULLET.match(following):
        return True
    return NUMBERED.match(following) is not None and (_ENDS.search(text) is not None or text[-1] in ";,")


def _stays_with(before: _Row, after: _Row, column: _Column) -> bool:
    """Return whether a row that was not wrapped belongs to the same paragraph: a list, an address, code, a formula."""
    last, first = before.lines[-1], after.lines[0]
    text, following = before.text, after.text
    step = first.base - before.lines[0].base
    if last.entered and first.entered:
        return 0 < step < 2.5 * column.leading
    if " | " in text and " | " in following:
        return step < 2.5 * column.leading
    if following[0].islower():
        return not STOPS.search(text)
    if last.block == first.block and abs(last.size - first.size) < _SAME_SIZE * last.size:
        indent = first.x0 > before.lines[0].x0 + 0.6 * first.size and _ENDS.search(text)
        return not indent and last.bold == first.bold and step < 1.6 * column.leading
    if _begins_item(text, following) or _ENDS.search(text):
        return False
    if abs(last.size - first.size) > _SAME_SIZE * last.size and (
        len(following) >= LONG_CHARS or _LINK.match(following)
    ):
        return False  # a note
    return not following[0].isupper()


def body_size(lines: Iterable[Line]) -> float:
    """Return the font size of most letters; sizes are rounded to half a point, since justified lines vary."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[round(line.size * 2) / 2] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 10.0
