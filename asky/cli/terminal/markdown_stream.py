"""Shows an answer in Markdown on a terminal while it is written.

The current block is shown as plain text as it arrives. When it is complete, its rows are replaced by the rendered ones
in one write, and are never repainted. Of a block taller than the screen, only the end is shown until then, except for
fenced code, whose lines are rendered as they fill the screen.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from asky.cli.terminal.cells import Row, text_cells, wrapped
from asky.cli.terminal.terminal import is_smart, plain, terminal_columns
from asky.text.markdown import Block, BlockSplitter, begins_item

if TYPE_CHECKING:
    from asky.cli.terminal.markdown_render import BlockRenderer
    from asky.cli.terminal.terminal import Terminal

_BEGIN = "\x1b[?2026h"  # synchronized output: an update is shown at once
_END = "\x1b[?2026l"
_CLEAR_ROW = "\x1b[K"
_CLEAR_BELOW = "\x1b[J"
_NEW_ROW = "\r\n"
_MIN_COLUMNS = 16
_NOT_THE_ANSWER = "(the text above is not the answer)"

Size = tuple[int, int]


def terminal_size(stream: TextIO) -> Size:
    """Return the columns and rows of the terminal behind `stream`, by default 80 and 24."""
    try:
        size = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return 80, 24
    return size.columns or 80, size.lines or 24


def markdown_stream(
    stream: TextIO, *, environ: Mapping[str, str], colored: bool, links: bool = False
) -> MarkdownStream | PlainStream:
    """Return a writer for an answer: rendered if `stream` is a terminal that can move its cursor, plain otherwise."""
    if is_smart(stream, environ):
        return MarkdownStream(stream, environ=environ, size=lambda: terminal_size(stream), colored=colored, links=links)
    return PlainStream(stream)


def print_markdown(terminal: Terminal, text: str) -> None:
    """Print a complete answer: rendered on a terminal, in a pipe as it is, with its citations in colour if wanted."""
    columns = terminal_columns(terminal.out)
    if columns is None:
        terminal.cited_lines(text)
        return
    rows = MarkdownStream(
        terminal.out,
        environ=terminal.environ,
        size=lambda: (columns, 1),
        colored=terminal.colored,
        links=terminal.links,
    ).rows(text)
    terminal.out.write("".join(f"{row.sent}\n" for row in rows))


class PlainStream:
    """Shows text as it is, with control characters escaped."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._in_row = False

    def write(self, text: str) -> None:
        """Show the next piece at once."""
        if text := plain(text):
            self._in_row = not text.endswith("\n")
            self._send(text)

    def interrupt(self) -> None:
        """End the row before something else is printed."""
        if self._in_row:
            self._in_row = False
            self._send("\n")

    def restart(self) -> None:
        """Leave what was written, which is not the answer, and print an empty row."""
        self.interrupt()
        self._send("\n")

    def finish(self) -> None:
        """End the last row of the complete answer."""
        self.interrupt()

    def _send(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


class MarkdownStream:
    """Shows Markdown on a terminal, rendered block by block.

    The cursor must be at the beginning of a row when the first piece is written, and is left there by `finish`,
    `restart` and `interrupt`. Call `interrupt` before anything else prints to the terminal. `size` returns columns and
    rows and is called for each piece. If the size changes or something else is printed, the visible part of an open
    block stays as it is, and the rest of that block follows as plain text. Not thread-safe. Raises what the stream
    raises.
    """

    def __init__(
        self,
        stream: TextIO,
        *,
        environ: Mapping[str, str],
        size: Callable[[], Size],
        colored: bool = True,
        links: bool = False,
    ) -> None:
        self._stream = stream
        self._environ = environ
        self._size = size
        self._colored = colored
        self._links = links
        self._renderer: BlockRenderer | None = None
        self._reset()

    def _reset(self) -> None:
        self._splitter = BlockSplitter()
        self._columns, self._height = self._size()
        self._last: Block | None = None
        self._finished_rows = 0  # rows of complete blocks
        self._is_intact = True  # no row has moved since the beginning
        self._is_after_block = False  # the cursor is at the end of a complete block
        self._open_rows: list[str] = []  # the open block as rows of plain text
        self._needs_gap = False  # an empty row above the open block
        self._live_rows: list[Row] = []  # its rows on the screen; the cursor is at their end
        self._frozen_chars = 0  # characters of the open block that are never repainted

    def write(self, text: str) -> None:
        """Show the next piece; it is visible when this returns."""
        if text := plain(text):
            self._check_size()
            blocks = self._splitter.feed(text)
            if not blocks and self._open_rows:
                self._open_rows[-1:] = wrapped(self._open_rows[-1] + text, self._columns - 1)
                self._show([])
            else:
                self._show(blocks, rewrap=True)

    def rows(self, text: str) -> list[Row]:
        """Return the rows of a complete answer, and show nothing."""
        blocks = [*self._splitter.feed(plain(text)), *self._splitter.close()]
        return [row for block in blocks for row in self._finish(block)]

    def finish(self) -> None:
        """Render the rest of the complete answer, and end its last row."""
        self._check_size()
        self._show(self._splitter.close(), rewrap=True)
        if self._is_after_block:
            self._send(_NEW_ROW)
        self._reset()

    def interrupt(self) -> None:
        """Go to a new row before something else is printed."""
        if self._live_rows:
            if len(self._open_rows) > self._height:
                self._paint([Row(row, row) for row in self._open_rows], [])
            self._freeze()
        elif not self._is_after_block:
            return
        self._is_intact, self._is_after_block, self._last = False, False, None
        self._send(_NEW_ROW)

    def restart(self) -> None:
        """Discard what was written: erase it if it is all on the screen, else print that it is not the answer."""
        self._check_size()
        rows = self._finished_rows + len(self._live_rows)
        if self._is_intact and rows <= self._height:
            self._send(_up(rows) + _CLEAR_BELOW if rows else "")
            self._reset()
            return
        self.finish()
        remark = f"\x1b[2m{_NOT_THE_ANSWER}\x1b[0m" if self._colored else _NOT_THE_ANSWER
        self._send(remark + _NEW_ROW + _NEW_ROW)

    def _check_size(self) -> None:
        size = self._size()
        if size == (self._columns, self._height):
            return
        is_tall = len(self._open_rows) > self._height
        self._columns, self._height = size
        self._is_intact = self._is_intact and not self._finished_rows and not self._live_rows
        if self._live_rows:
            rest, row = self._splitter.rest, self._open_rows[-1]
            if not is_tall and row.strip() and rest.endswith(row) and text_cells(row) < self._columns:
                self._frozen_chars = len(rest) - len(row)  # only this row has surely not moved
                if self._frozen_chars:
                    self._open_rows, self._live_rows, self._needs_gap = [row], self._live_rows[-1:], False
                return
            self._send(_NEW_ROW)
            if is_tall:  # only its end is on the screen: show all of it again
                self._live_rows = []
            else:
                self._freeze()

    def _freeze(self) -> None:
        """Leave the visible part of the open block as it is."""
        self._frozen_chars = len(self._splitter.rest)
        self._open_rows, self._live_rows = [], []

    def _show(self, blocks: Sequence[Block], *, rewrap: bool = False) -> None:
        """Replace the open block by complete blocks and the open one after them."""
        finished = [row for block in blocks for row in self._finish(block)]
        if rewrap:
            self._wrap_rest()
        is_rendered = not self._frozen_chars and self._columns >= _MIN_COLUMNS
        if is_rendered and len(self._open_rows) > self._height and (code := self._splitter.cut()) is not None:
            finished += self._finish(code)
            self._wrap_rest()
        end = len(self._open_rows)
        while end and not self._open_rows[end - 1].strip():  # the cursor stays at the end of the visible text
            end -= 1
        live = [row.rstrip() for row in self._open_rows[max(0, end - self._height) : end]]
        if live and self._needs_gap:
            live.insert(0, "")
        self._paint(finished, [Row(row, row) for row in live[-self._height :]])

    def _wrap_rest(self) -> None:
        """Wrap the open block, and determine whether an empty row goes above it."""
        rest = self._splitter.rest[max(self._frozen_chars, len(self._splitter.opening)) :].lstrip("\n")
        self._open_rows = wrapped(rest, self._columns - 1) if rest else []
        is_item = self._last is not None and self._last.kind == "list_item" and begins_item(rest)
        self._needs_gap = not (self._last is None or self._frozen_chars or self._splitter.opening or is_item)

    def _finish(self, block: Block) -> list[Row]:
        """Return the final rows of a complete block, with an empty row above if it needs one."""
        if self._frozen_chars or self._columns < _MIN_COLUMNS:
            text = block.source[self._frozen_chars :].strip("\n")
            rows = [Row(row.rstrip(), row.rstrip()) for row in wrapped(text, self._columns - 1)] if text else []
        else:
            rows = self._render(block)
        if self._last is not None and not self._frozen_chars and block.follows_blank_line(self._last):
            rows.insert(0, Row("", ""))
        self._frozen_chars = max(0, self._frozen_chars - len(block.source))
        self._last = block
        self._finished_rows += len(rows)
        return rows

    def _render(self, block: Block) -> list[Row]:
        if self._renderer is None:
            from asky.cli.terminal.markdown_render import BlockRenderer  # rich, 80 ms: only with a block to render

            self._renderer = BlockRenderer(self._environ, colored=self._colored, links=self._links)
        return self._renderer.render(block, self._columns)

    def _paint(self, finished: list[Row], live: list[Row]) -> None:
        """Replace the live rows by `finished` rows, which are never repainted, and new live ones."""
        after = finished + live
        if self._live_rows:
            self._send(_repaint(self._live_rows, after))
        elif after:
            self._send((_NEW_ROW if self._is_after_block else "") + _NEW_ROW.join(row.sent for row in after))
        self._is_after_block = bool(finished) if self._live_rows else bool(finished) or self._is_after_block
        self._is_after_block = self._is_after_block and not live
        self._live_rows = live

    def _send(self, text: str) -> None:
        if text:
            self._stream.write(text)
            self._stream.flush()


def _repaint(before: Sequence[Row], after: Sequence[Row]) -> str:
    """Return the output that changes `before` into `after`, starting at the first row that differs.

    The cursor is at the end of `before`.
    """
    if not after:
        return _up(len(before)) + _CLEAR_BELOW
    first = 0
    while first < min(len(before), len(after)) - 1 and before[first].text == after[first].sent:
        first += 1
    old, new = before[first].text, after[first].sent
    below = "".join(f"{_NEW_ROW}{row.sent}{_CLEAR_ROW}" for row in after[first + 1 :])
    if first == len(before) - 1 and new.startswith(old):
        return new[len(old) :] + below.replace(_CLEAR_ROW, "")
    move = _up(len(before) - first)
    if new and new.isascii() and old.startswith(new):  # its last word moved; the width of ASCII is certain
        move, new = f"{move}\x1b[{len(new)}C", ""
    clear = _CLEAR_BELOW if len(after) < len(before) else ""
    return f"{_BEGIN}{move}{new}{_CLEAR_ROW}{below}{clear}{_END}"


def _up(rows: int) -> str:
    """Return the output that moves from any column of the last of `rows` to the first column of the first."""
    return "\r" + (f"\x1b[{rows - 1}A" if rows > 1 else "")
