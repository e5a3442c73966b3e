"""What a file of RTF shows, in order: paragraphs and tables, with the notes and boxes that stand in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from asky.reading.raised.exponents import spelled_runs
from asky.reading.tables.cells import GridCell

_NEAR = 30  # twips: edges of columns that are one (a fiftieth of an inch)
_MAX_EDGES = 200  # of a table; one with more is read by the number of its cells alone
_NEXT_CELL = "\x1f"  # between the cells of a table within a cell


@dataclass(slots=True)
class RtfParagraph:
    """A paragraph: its text, the number or bullet that is shown, its style and the level of its outline, from 1."""

    text: str
    label: str = ""
    depth: int = 0
    style: int = 0
    level: int = 0
    beside: list[RtfNote | RtfFlow | str] = field(default_factory=list)


@dataclass(slots=True)
class RtfNote:
    """A footnote or an endnote."""

    flow: RtfFlow
    is_endnote: bool = False


@dataclass(slots=True)
class CellEdge:
    """The definition of a cell: its right edge, and whether it is merged with those before it or above it."""

    right: int
    goes_on_left: bool = False
    begins_below: bool = False
    goes_on_above: bool = False


@dataclass(slots=True)
class RtfRow:
    """A row: the texts of its cells, and their definitions as far as the file has them."""

    cells: list[str]
    edges: list[CellEdge]
    left: int = 0
    is_head: bool = False


@dataclass(slots=True)
class RtfTable:
    """A table, with what stands in its cells beside the text."""

    rows: list[RtfRow] = field(default_factory=list)
    beside: list[RtfNote | RtfFlow | str] = field(default_factory=list)

    def header_rows(self) -> int | None:
        """Return how many of the first rows are heads, `None` if the file does not say, or says it of all."""
        number = next((place for place, row in enumerate(self.rows) if not row.is_head), 0)
        return number or None

    def grid(self) -> list[list[GridCell]]:
        """Return the rows as cells with spans, by the edges of their columns."""
        columns = self._columns()
        if columns is None:
            return [[GridCell(text) for text in row.cells] for row in self.rows]
        rows: list[list[GridCell]] = []
        above: dict[int, tuple[list[GridCell], int]] = {}  # column: where the cell is that goes on below
        for row in self.rows:
            made: list[GridCell] = []
            place = columns.get(row.left, 0)
            if place:
                made.append(GridCell("", columns=place))
            for text, edge in zip(row.cells, row.edges, strict=False):
                right = columns.get(edge.right, place + 1)
                wide = max(right - place, 1)
                if edge.goes_on_left and made:
                    made[-1] = GridCell(made[-1].text, rows=made[-1].rows, columns=made[-1].columns + wide)
                elif edge.goes_on_above and place in above:
                    cells, number = above[place]
                    first = cells[number]
                    cells[number] = GridCell(first.text, rows=first.rows + 1, columns=first.columns)
                else:
                    above.pop(place, None)
                    made.append(GridCell(text, columns=wide))
                    if edge.begins_below:
                        above[place] = (made, len(made) - 1)
                place += wide
            made += [GridCell(text) for text in row.cells[len(row.edges) :]]
            rows.append(made)
        return rows

    def _columns(self) -> dict[int, int] | None:
        """Return the number of the column that each edge ends, `None` if edges tell nothing."""
        edges = sorted({edge.right for row in self.rows for edge in row.edges} | {row.left for row in self.rows})
        if not edges or len(edges) > _MAX_EDGES * 10 or not any(row.edges for row in self.rows):
            return None
        columns: dict[int, int] = {}
        number, last = 0, edges[0]
        for edge in edges:
            if edge - last > _NEAR:
                number += 1
            last = edge
            columns[edge] = number
        return columns if number <= _MAX_EDGES else None


class RtfFlow:
    """A text that runs on by itself: the body, a note, a head, a box. Pieces are added at its end."""

    def __init__(self) -> None:
        self.blocks: list[RtfParagraph | RtfTable] = []
        self.beside: list[RtfNote | RtfFlow | str] = []
        self.label = ""
        self._runs: list[tuple[str, bool | None]] = []
        self._lines: list[str] = []  # of the cell
        self._cells: list[str] = []  # of the row
        self._table: RtfTable | None = None

    def put(self, text: str, raised: bool | None) -> None:
        """Add text to the paragraph."""
        self._runs.append((text, raised))

    def end_paragraph(self, *, style: int, level: int, depth: int, in_table: bool) -> None:
        """End the paragraph; one in a table becomes a line of its cell."""
        text = self._text()
        label, self.label = self.label, ""
        if in_table:
            if text:
                self._lines.append(f"{label} {text}" if label else text.replace("•\t", "- "))
            return
        self.end_table()
        beside, self.beside = self.beside, []
        if text or beside:
            self.blocks.append(RtfParagraph(text, label, depth, style, level, beside))

    def end_cell(self) -> None:
        """End the cell of a row."""
        self.end_paragraph(style=0, level=0, depth=0, in_table=True)
        self._cells.append("\n".join(self._lines).replace(_NEXT_CELL, "; "))
        self._lines = []

    def end_inner_cell(self) -> None:
        """End the cell of a table within a cell."""
        self._runs.append((_NEXT_CELL, None))

    def end_inner_row(self) -> None:
        """End the row of a table within a cell."""
        if text := self._text().strip(f"{_NEXT_CELL} "):
            self._lines.append(text)

    def end_row(self, edges: Sequence[CellEdge], left: int, *, is_head: bool) -> None:
        """End the row of a table."""
        if self._runs or self._lines:
            self.end_cell()
        if self._cells:
            self._table = self._table or RtfTable()
            self._table.rows.append(RtfRow(self._cells, list(edges[: len(self._cells)]), left, is_head))
            self._cells = []
        if self._table is not None:
            self._table.beside += self.beside
            self.beside = []

    def end_table(self) -> None:
        """End the table, if there is one."""
        if self._lines or self._cells:
            self.end_row([], 0, is_head=False)
        if self._table is not None:
            self.blocks.append(self._table)
            self._table = None

    def lines(self) -> list[str]:
        """Return all of its text, a line for each paragraph and row."""
        found: list[str] = []
        for block in self.blocks:
            if isinstance(block, RtfParagraph):
                found += [f"{block.label} {block.text}" if block.label else block.text] if block.text else []
            else:
                found += ["; ".join(filter(None, row.cells)) for row in block.rows]
        return found

    def _text(self) -> str:
        runs, self._runs = self._runs, []
        if any(raised is not None for _, raised in runs):
            return spelled_runs(runs).strip()
        return "".join(text for text, _ in runs).strip()
