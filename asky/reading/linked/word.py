"""Word documents as Markdown, with their links, footnotes and endnotes: for a text whose citations are followed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from asky.errors import SourceUnreadable
from asky.reading.office.archive import UnreadableOffice
from asky.reading.office.word.document import open_word, read_tree, said
from asky.reading.office.word.embedded import inserted
from asky.reading.office.word.tree import (
    WordBlock,
    WordCell,
    WordNote,
    WordParagraph,
    WordPiece,
    WordTable,
    WordTree,
    is_layout,
    paragraphs,
)
from asky.reading.raised.exponents import spelled_runs
from asky.reading.tables.cells import GridCell, GridRow, placed
from asky.reading.tables.layout import lay_out
from asky.reading.text_builder import UNREAD_PARTS, TextBuilder
from asky.text.scrub import one_line, scrub
from asky.values import Document

_NUMBERED = re.compile(r"\d{1,3}[.)] ")
_MARK = re.compile(r"[\[(]?\d[\d,;\s–-]{0,20}[\])]?|[*†‡§]{1,3}")
_STOPS = (".", "!", "?", "…", "。", "！", "？")
_SENTENCE_WORDS = 3
_PAIR = 2  # columns, which are names and values unless the first row is short words
_SAMPLE_ROWS = 100  # that tell which rows of a table name its columns
_UNSAID = ("picture", "chart")
# What notes that name a source have, and notes that state something have not.
_SOURCE = re.compile(
    r"https?://|www\.|\bdoi\b|arxiv|\bisbn\b|\bibid|\bop\. ?cit|\bet al\b|\bcf\.|\bpp?\. ?\d|\bvol\.|\beds?\.\)?"
    r"|^(?:see|siehe|vgl\.?|voir|véase|vedi|zie)\b|\((?:1[5-9]|20)\d\d[a-z]?\)|,\s(?:1[5-9]|20)\d\d[a-z]?\.?$"
    r"|^[^\W\d_][\w'’-]{1,30},\s(?:[^\W\d_]\.[\s-]?){1,3}|\.(?:pdf|docx?|odt|md|txt|html?|xlsx?|pptx?|csv)\b",
    re.IGNORECASE,
)


def read(data: bytes, name: str) -> Document:
    """Return a document as Markdown: headings, lists, tables, links, superscripts, and notes as `[^footnote1]`.

    A note that states something, and names no source, is a paragraph: it is a part of what the text says. Comments,
    the descriptions of pictures and the values behind charts are left out. Raises SourceUnreadable: encrypted,
    unsupported, failed, or empty if there is no text.
    """
    with UnreadableOffice(name):
        package = open_word(data, name)
        tree = read_tree(package, name)
        facts = package.facts()
    writer = _Writer(tree)
    text = scrub("\n\n".join(writer.written()))
    if not text.strip():
        raise SourceUnreadable(f"{name}: no text in it", verdict="empty")
    unread = TextBuilder()
    for part, reason in [*tree.unread, *((file, "a file in the document") for file, _ in tree.files)]:
        unread.skip(part, reason)
    metadata = {key: value for key, value in unread.build("").metadata.items() if key == UNREAD_PARTS}
    return Document(f"{text}\n", "text/markdown", title=one_line(facts.get("title", "")) or None, metadata=metadata)


class _Writer:
    """Writes a tree as blocks of Markdown."""

    def __init__(self, tree: WordTree) -> None:
        self._tree = tree
        self._cited: dict[tuple[str, str], WordNote] = {}

    def written(self) -> Iterator[str]:
        """Yield the blocks, the definitions of notes at last."""
        for part in (self._tree.heads, self._tree.body):
            yield from self._blocks(part)
        for note in self._tree.endnotes:
            if not _names_source(note):
                yield from self._blocks(note.blocks)
        yield from self._blocks(self._tree.feet)
        for note in self._cited.values():
            yield f"[^{note.kind}{note.id}]: {' '.join(self._lines(note.blocks))}"

    def _blocks(self, blocks: Sequence[WordBlock]) -> Iterator[str]:
        for block in blocks:
            if isinstance(block, WordParagraph):
                if text := self._paragraph(block):
                    yield text
            elif isinstance(block, WordTable):
                if is_layout(block) or max(map(_width, block.rows), default=0) < 2:
                    for row in block.rows:
                        for cell in row:
                            yield from self._blocks(cell.blocks)
                    continue  # which have written their notes
                yield from self._table(block)
            else:
                yield from filter(None, (each.strip() for each in inserted(block.data, block.name).text.split("\n\n")))
            for each in paragraphs([block]):
                for note in each.notes:
                    if note.kind == "footnote" and not _names_source(note):
                        yield from self._blocks(note.blocks)

    def _paragraph(self, block: WordParagraph) -> str:
        if block.role in _UNSAID:
            return ""
        text = self._inline(block.pieces).strip()
        if not text:
            return ""
        if block.level:
            return f"{'#' * min(block.level, 6)} {' '.join(f'{block.label}{text}'.split())}"
        if block.label:
            return f"{block.label if _NUMBERED.fullmatch(block.label) else '- '}{text}"
        return text

    def _inline(self, pieces: Sequence[WordPiece]) -> str:
        written = ""
        for link, group in groupby(pieces, key=lambda piece: piece.link):
            linked = list(group)
            text = "".join(piece.text for piece in linked) if link else ""
            if text.strip():
                address = link.replace(">", "%3E").replace("<", "%3C").replace(" ", "%20")
                written += f"[{text}](<{address}>)"
            for piece in linked:
                if not text.strip() or piece.note is not None:
                    written += self._piece(piece, written)
        return written

    def _piece(self, piece: WordPiece, before: str) -> str:
        if piece.note is not None:
            if not _names_source(piece.note):
                return ""
            self._cited[piece.note.kind, piece.note.id] = piece.note
            return f"[^{piece.note.kind}{piece.note.id}]"
        content = piece.text.strip()
        if piece.raised is None or not content:
            return piece.text
        spelled = spelled_runs([(before[-40:], None), (piece.text, piece.raised)])[len(before[-40:]) :]
        is_exponent = spelled.startswith("^") and before[-1:].isalnum()
        if piece.raised and not is_exponent and _MARK.fullmatch(content):
            return f"<sup>{content}</sup>"
        return spelled or piece.text

    def _table(self, table: WordTable) -> Iterator[str]:
        """Yield a table; a sentence that spans all of it parts it in two, since no column is its name."""
        slots = list(placed([self._grid_cell(cell) for cell in row] for row in table.rows))
        width = max((len(row.values) for row in slots), default=0)
        rows = [
            (self._sentence(row, width), _shown(row_slots, width))
            for row, row_slots in zip(table.rows, slots, strict=True)
        ]
        heads, head = _head(table, slots, width)
        lines: list[str] = []
        for sentence, cells in [*rows[heads:], ("", [])]:
            if cells and not sentence:
                lines.append(f"| {' | '.join(cells)} |")
                continue
            if lines or (sentence and head):
                yield "\n".join([f"| {' | '.join(head or [''] * width)} |", f"|{'---|' * width}", *lines])
                lines = []
            if sentence:
                yield sentence
        if not rows[heads:]:
            yield "\n".join([f"| {' | '.join(head)} |", f"|{'---|' * width}"])

    def _grid_cell(self, cell: WordCell) -> GridCell:
        return GridCell(self._cell(cell), cell.rows, cell.columns, cell.is_head)

    def _cell(self, cell: WordCell) -> str:
        return " ".join(" ".join(self._lines(cell.blocks)).split()).replace("|", "/")

    def _sentence(self, row: Sequence[WordCell], width: int) -> str:
        if len(row) != 1 or row[0].columns < width:
            return ""
        text = " ".join(" ".join(self._lines(row[0].blocks)).split())
        return text if text.endswith(_STOPS) else ""

    def _lines(self, blocks: Sequence[WordBlock]) -> Iterator[str]:
        for block in blocks:
            if isinstance(block, WordParagraph):
                text = self._inline(block.pieces).strip() if block.role not in _UNSAID else ""
                if text:
                    yield text
            elif isinstance(block, WordTable):
                for row in block.rows:
                    yield "; ".join(filter(None, (" ".join(self._lines(cell.blocks)) for cell in row)))


def _shown(row: GridRow, width: int) -> list[str]:
    """Return the cells of a row, each text where it begins; the name of a row that covers several stands in each."""
    cells = [""] * width
    for column, _, text in row.cells():
        if column == 0 or column not in row.below:
            cells[column] = text
    return cells


def _width(row: Sequence[WordCell]) -> int:
    return sum(cell.columns for cell in row)


def _head(table: WordTable, slots: Sequence[GridRow], width: int) -> tuple[int, list[str]]:
    """Return how many of the first rows name the columns, and the names; 0 if none does."""
    sample = list(slots[:_SAMPLE_ROWS])
    if width > _PAIR and all(row.values for row in sample):
        layout = lay_out(sample, header_rows=table.header_rows, is_list=False)
        if layout.names and not layout.first:
            return layout.end, [*layout.names, *[""] * width][:width]
        if layout.is_form:
            return 0, []
    heads = table.header_rows or (1 if _is_head(table, width) else 0)
    shown = [_shown(row, width) for row in slots[:heads]]
    return heads, [" ".join(filter(None, column)) for column in zip(*shown, strict=True)]


def _is_head(table: WordTable, width: int) -> bool:
    """Return whether the first row names columns: it is marked, or its cells are filled, short, and no numbers."""
    if table.header_rows == 0:
        return False
    first = table.rows[0]
    if any(cell.is_head for cell in first):
        return True
    texts = [" ".join(said(cell.blocks).split()) for cell in first]
    return (
        len(table.rows) > 1
        and len(first) == width
        and all(texts[1:])
        and not any(text.endswith(_STOPS) or any(map(str.isdecimal, text)) for text in texts)
    )


def _names_source(note: WordNote) -> bool:
    """Return whether a note names a source: it has an address, the parts of an entry, or is no whole sentence."""
    text = " ".join(said(note.blocks).split())
    if any(piece.link for each in paragraphs(note.blocks) for piece in each.pieces) or _SOURCE.search(text):
        return True
    return len(text.split()) < _SENTENCE_WORDS or not text.endswith(_STOPS)
