"""The tree of a Word document: what is seen, in the order in which it is seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple


@dataclass(slots=True)
class WordNote:
    """A footnote or an endnote, with its number or mark as the text shows it."""

    kind: Literal["footnote", "endnote"]
    id: str
    mark: str = ""
    blocks: list[WordBlock] = field(default_factory=list)


class WordPiece(NamedTuple):
    """Text of one kind within a paragraph, raised (True) or lowered (False), or the mark of a note."""

    text: str
    raised: bool | None = None
    link: str = ""
    note: WordNote | None = None


@dataclass(slots=True)
class WordParagraph:
    """A paragraph.

    `level` is that of a heading, from 1, or 0, and `label` its number in a list or "-", with the space after it. `role`
    is "title" for the document's, "picture" for a description that a screen does not show, "chart" for the values of a
    chart, else "".
    """

    pieces: list[WordPiece]
    level: int = 0
    label: str = ""
    role: str = ""

    @property
    def notes(self) -> list[WordNote]:
        """The notes that are marked here, in order."""
        return [piece.note for piece in self.pieces if piece.note is not None]


@dataclass(slots=True)
class WordCell:
    """A cell that covers `rows` and `columns`, with what is in it."""

    blocks: list[WordBlock]
    rows: int = 1
    columns: int = 1
    is_head: bool = False


@dataclass(slots=True)
class WordTable:
    """A table by its rows, without the cells that others cover; `header_rows` as for `add_table`."""

    rows: list[list[WordCell]]
    header_rows: int | None = None


@dataclass(frozen=True, slots=True)
class WordChunk:
    """Another file that is shown in this place as a part of the document."""

    name: str
    data: bytes


WordBlock = WordParagraph | WordTable | WordChunk


@dataclass(slots=True)
class WordTree:
    """A document: the heads of its pages, its text, its endnotes, the feet of its pages, and what is beside the text.

    `comments` are finished lines, `files` the names and bytes of embedded files, `unread` the names of what cannot be
    read, and why.
    """

    heads: list[WordBlock]
    body: list[WordBlock]
    endnotes: list[WordNote]
    feet: list[WordBlock]
    comments: list[str]
    files: list[tuple[str, bytes]]
    unread: list[tuple[str, str]]

    def parts(self) -> Iterator[list[WordBlock]]:
        """Yield what is seen without the notes, in order."""
        yield from (self.heads, self.body, self.feet)


def paragraphs(blocks: Sequence[WordBlock]) -> Iterator[WordParagraph]:
    """Yield the paragraphs in blocks, also those in tables, in order."""
    for block in blocks:
        if isinstance(block, WordParagraph):
            yield block
        elif isinstance(block, WordTable):
            for row in block.rows:
                for cell in row:
                    yield from paragraphs(cell.blocks)


def is_layout(table: WordTable) -> bool:
    """Return whether a table only places what it holds: it has one cell, headings with their text, or mostly tables.

    Such a table has no columns that would name anything.
    """
    cells = [cell for row in table.rows for cell in row if cell.blocks]
    if len(cells) <= 1:
        return True
    inner = whole = 0
    for cell in cells:
        for block in cell.blocks:
            size = sum(len(piece.text) for each in paragraphs([block]) for piece in each.pieces)
            whole += size
            if isinstance(block, WordTable):
                inner += size
            elif isinstance(block, WordChunk) or (block.level and len(cell.blocks) > 1):
                return True
    return inner * 2 > whole
