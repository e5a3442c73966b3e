"""Cells of Markdown tables as statements: each with the head of its row and of its column."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from asky.evidence.plain_text import plain_text
from asky.values import Span

_ROW = re.compile(r"^[ \t>]*\|?(?P<cells>[^\n]*\|[^\n]*)$", re.MULTILINE)
_RULE = re.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)*")
_CELL = re.compile(r"(?:\\.|[^|\\])+")
_MARKER = re.compile(r"\[([1-9]\d{0,2})\]")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table's body: its span, the numbers that it cites, and its `text` as `2019; Share: 42 %`."""

    span: Span
    text: str
    citations: tuple[int, ...]


def cells_by_row(text: str) -> dict[int, list[Cell]]:
    """Return the cells of each row of a table's body, but for those that head their row, by the start of its line.

    Only tables with a head count. Linear time.
    """
    found: dict[int, list[Cell]] = {}
    heads: list[str] | None = None
    before: re.Match[str] | None = None
    for row in _ROW.finditer(text):
        follows = before is not None and row.start() == before.end() + 1
        if follows and before is not None and _RULE.fullmatch(row[0]):
            heads = [shown for _, shown in _cells(text, before)]
        elif follows and heads is not None:
            cells = list(_cells(text, row))
            if cells:
                found[row.start()] = list(_statements(text, cells, heads))
        else:
            heads = None
        before = row
    return found


def _cells(text: str, row: re.Match[str]) -> Iterator[tuple[Span, str]]:
    start, content = row.start("cells"), row["cells"]
    end = len(content.rstrip().removesuffix("|"))
    for cell in _CELL.finditer(content, 0, end):
        inner = cell[0].strip()
        left = start + cell.start() + len(cell[0]) - len(cell[0].lstrip())
        yield Span(left, left + len(inner)), plain_text(text[left : left + len(inner)])


def _statements(text: str, cells: list[tuple[Span, str]], heads: list[str]) -> Iterator[Cell]:
    row = cells[0][1]
    for (span, shown), head in zip(cells[1:], [*heads[1:], *[""] * len(cells)], strict=False):
        if any(map(str.isalnum, shown)):
            cited = dict.fromkeys(int(n) for n in _MARKER.findall(text[span.start : span.end]))
            yield Cell(span, f"{row}; {head}: {shown}" if head else f"{row}; {shown}", tuple(cited))
