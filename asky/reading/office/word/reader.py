"""Word documents as text: what is seen in its order, headings as sections, tables as rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from asky.reading.embedded.file import add_file
from asky.reading.office.archive import UnreadableOffice, media_type
from asky.reading.office.blocks import OfficeBlocks
from asky.reading.office.word.document import notes_in, open_word, read_tree
from asky.reading.office.word.embedded import inserted
from asky.reading.office.word.tree import (
    WordBlock,
    WordCell,
    WordNote,
    WordParagraph,
    WordTable,
    WordTree,
    is_layout,
    paragraphs,
)
from asky.reading.raised.exponents import spelled_runs
from asky.reading.tables.cells import GridCell
from asky.reading.tables.rows import add_table
from asky.reading.text_builder import TextBuilder
from asky.values import Document

# The numbers of items by which a sentence is known to begin on a new line; others get a blank line.
_ITEM = re.compile(r"- |\(?\d{1,3}[.)] |\(?[A-Za-z]\) |\([ivx]{1,5}\) ")


def read(data: bytes, name: str) -> Document:
    """Return the text of a Word document as a person sees it, with all changes accepted: headings as sections.

    Heads of pages come first; footnotes follow their paragraph, endnotes, feet of pages, comments and embedded files
    the text. Raises SourceUnreadable: encrypted, unsupported if it is no Word document, failed if it is damaged.
    """
    with UnreadableOffice(name):
        package = open_word(data, name)
        tree = read_tree(package, name)
        facts = package.facts()
    writer = _Writer()
    writer.write(tree)
    return writer.builder.build(
        media_type("wordprocessingml.document"), title=facts.pop("title", None) or title_of(tree), metadata=facts
    )


def title_of(tree: WordTree) -> str | None:
    """Return the first paragraph that has the style of titles."""
    return next((text_of(each) for each in paragraphs(tree.body) if each.role == "title"), None)


def text_of(paragraph: WordParagraph) -> str:
    """Return the text of a paragraph with its exponents as `^...`, without its number."""
    pieces = paragraph.pieces
    if any(piece.raised is not None for piece in pieces):
        return spelled_runs((piece.text, piece.raised) for piece in pieces).strip()
    return "".join(piece.text for piece in pieces).strip()


class _Writer:
    """Writes a tree into a text."""

    def __init__(self) -> None:
        self.builder = TextBuilder()
        self._out = OfficeBlocks(self.builder)

    def write(self, tree: WordTree) -> None:
        for part in (tree.heads, tree.body):
            self._blocks(part)
        self._out.close()
        for note in tree.endnotes:
            self._note(note)
        self._blocks(tree.feet)
        self._out.close()
        for line in tree.comments:
            self._out.item(line)
        self._out.close()
        for name, data in tree.files:
            add_file(self.builder, data, name, kind="Embedded file")
        for name, reason in tree.unread:
            self.builder.skip(name, reason)

    def _blocks(self, blocks: Sequence[WordBlock]) -> None:
        for block, before, after in zip(blocks, [None, *blocks], [*blocks[1:], None], strict=False):
            if isinstance(block, WordParagraph):
                if not (block.role == "picture" and _repeats(block, (before, after))):
                    self._paragraph(block)
            elif isinstance(block, WordTable) and is_layout(block):
                for row in block.rows:
                    for cell in row:
                        self._blocks(cell.blocks)
                continue  # which have written their notes
            elif isinstance(block, WordTable):
                self._table(block)
            else:
                self._out.close()
                self.builder.add_document(inserted(block.data, block.name), 0)
            for note in notes_in([block]):
                self._note(note)

    def _paragraph(self, block: WordParagraph) -> None:
        text = text_of(block)
        if not text:
            return
        if block.level:
            self._out.heading(" ".join(f"{block.label}{text}".split()), block.level)
        elif _ITEM.fullmatch(block.label):
            self._out.item(f"{block.label}{text}")
        else:
            self._out.paragraph(f"{block.label}{text}")

    def _table(self, table: WordTable) -> None:
        rows = [[_grid_cell(cell) for cell in row] for row in table.rows]
        self._out.rows(lambda builder: add_table(builder, rows, header_rows=table.header_rows))
        self._out.close()

    def _note(self, note: WordNote) -> None:
        """Add a note on a line of its own; between items of a list, as one of its lines."""
        if text := " ".join(_lines(note.blocks)):
            self._out.item(f"{'Footnote' if note.kind == 'footnote' else 'Endnote'} {note.mark}: {text}")


def _repeats(picture: WordParagraph, beside: Sequence[WordBlock | None]) -> bool:
    """Return whether the description of a picture is its caption too, as pandoc writes it."""
    shown = text_of(picture).removeprefix("[Picture: ").removesuffix("]")
    return any(isinstance(each, WordParagraph) and text_of(each) == shown for each in beside)


def _grid_cell(cell: WordCell) -> GridCell:
    return GridCell("\n".join(_lines(cell.blocks)), cell.rows, cell.columns, cell.is_head)


def _lines(blocks: Sequence[WordBlock]) -> Iterator[str]:
    """Yield the text of blocks in a cell or a note, a line for each paragraph, and for each row of a table."""
    for block in blocks:
        if isinstance(block, WordParagraph):
            if text := text_of(block):
                yield f"{block.label}{text}"
        elif isinstance(block, WordTable):
            for row in block.rows:
                if cells := [text for cell in row if (text := " ".join(_lines(cell.blocks)))]:
                    yield "; ".join(cells)
