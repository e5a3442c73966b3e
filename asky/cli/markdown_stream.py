"""An answer in Markdown on a terminal while it is written.

Text is shown as it arrives, in plain. When a block of it is complete, its rows are replaced by the rendered ones, in
one write; rows that are the same stay untouched. What has scrolled off the screen is never painted again, so a block
that is taller than the screen is rendered in parts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from asky.cli.cells import text_cells
from asky.cli.markdown_blocks import Block, BlockScanner, begins_item
from asky.cli.plain_rows import NEW_ROW, PlainRows, RawText
from asky.cli.terminal import is_smart, plain

if TYPE_CHECKING:
    from asky.cli.markdown_render import BlockRenderer, Row

_BEGIN = "\x1b[?2026h"  # a terminal that knows this mode shows nothing of an update before its end
_END = "\x1b[?2026l"
_CLEAR_ROW = "\x1b[K"
_CLEAR_BELOW = "\x1b[J"
_NARROWEST = 16
_NOT_THE_ANSWER = "\x1b[2m(the text above is not the answer)\x1b[0m"

Size = tuple[int, int]


def terminal_size(stream: TextIO) -> Size:
    """Columns and rows of the terminal behind `stream`; 80 and 24 where it does not say."""
    try:
        size = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return 80, 24
    return size.columns or 80, size.lines or 24


def markdown_stream(stream: TextIO, *, environ: Mapping[str, str], colored: bool) -> MarkdownStream | PlainStream:
    """What to show an answer with: rendered where `stream` is a coloured terminal of UTF-8, else as it is."""
    encoding = (getattr(stream, "encoding", None) or "").lower().replace("-", "").replace("_", "")
    if colored and is_smart(stream, environ) and encoding == "utf8":
        return MarkdownStream(stream, environ=environ, size=lambda: terminal_size(stream))
    return PlainStream(stream)


class PlainStream:
    """Shows text as it is, with nothing in it that steers a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._in_row = False

    def write(self, text: str) -> None:
        """Show the next piece at once."""
        if text := plain(text):
            self._in_row = not text.endswith("\n")
            self._send(text)

    def interrupt(self) -> None:
        """Something else is printed next: end the row."""
        if self._in_row:
            self._in_row = False
            self._send("\n")

    def restart(self) -> None:
        """What was written is not the answer: leave it, and an empty row."""
        self.interrupt()
        self._send("\n")

    def finish(self) -> None:
        """The answer is complete: end its last row."""
        self.interrupt()

    def _send(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


class MarkdownStream:
    """Shows Markdown on a terminal, rendered block by block.

    The cursor is expected at the beginning of a row when the first piece is written, and is left there by `finish`,
    `restart` and `interrupt`. Nothing else may print to the terminal in between without `interrupt`. `size` gives
    columns and rows and is asked with each piece; a block that was begun in another size stays as plain text. One that
    is taller than the screen is rendered in parts as it fills the screen, where it can be cut, and is plain where not.
    Not to be used by two threads at once. Raises what the stream raises.
    """

    def __init__(self, stream: TextIO, *, environ: Mapping[str, str], size: Callable[[], Size]) -> None:
        self._stream = stream
        self._environ = environ
        self._size = size
        self._renderer: BlockRenderer | None = None
        self._reset()

    def _reset(self) -> None:
        self._scanner = BlockScanner()
        self._columns, self._height = self._size()
        self._last: Block | None = None
        self._follows = False  # the cursor is at the end of a complete block
        self._finished = 0  # rows of complete blocks
        self._whole = True  # every row since the beginning is where it was put
        self._open: PlainRows | RawText = PlainRows(self._columns)  # what came since then, as it is on the screen
        self._read = 0  # characters of that

    def write(self, text: str) -> None:
        """Show the next piece; it is seen when this returns."""
        if text := plain(text):
            self._look_at_size()
            blocks = self._scanner.feed(text)
            self._send(self._complete(blocks) if blocks else self._append(text))

    def finish(self) -> None:
        """The answer is complete: render what is left of it, and end its last row."""
        self._look_at_size()
        sent = self._complete(self._scanner.close())
        if isinstance(self._open, PlainRows) and self._open.rows:  # blanks at the end
            self._send(sent + _up(len(self._open.rows)) + _CLEAR_BELOW)
        else:
            self._send(sent + (NEW_ROW if self._follows else ""))
        self._reset()

    def interrupt(self) -> None:
        """Something else is printed next: go to a new row. A block that is not complete stays plain."""
        self._whole = self._whole and not self._finished and not self._is_open()
        if self._is_open():
            self._open = RawText()
        elif self._follows:
            self._open = PlainRows(self._columns)
        else:
            return
        self._follows = False
        self._last = None
        self._send(NEW_ROW)

    def restart(self) -> None:
        """What was written is not the answer: take it off the screen where all of it is still there, else say so."""
        self._look_at_size()
        rows = self._finished + (len(self._open.rows) if isinstance(self._open, PlainRows) else 0)
        if self._whole and rows <= self._height:
            self._send(_up(rows) + _CLEAR_BELOW if rows else "")
            self._reset()
            return
        self.finish()
        self._send(_NOT_THE_ANSWER + NEW_ROW + NEW_ROW)

    def _is_open(self) -> bool:
        """Whether anything is shown of a block that is not complete."""
        return bool(self._open.rows) if isinstance(self._open, PlainRows) else self._open.started

    def _look_at_size(self) -> None:
        size = self._size()
        if size != (self._columns, self._height):
            self._columns, self._height = size
            self._whole = self._whole and not self._finished and not self._is_open()
            if self._is_open():
                self._freeze()
            elif isinstance(self._open, PlainRows):
                self._open = self._next_rows("")
        if self._columns < _NARROWEST:
            self._freeze()

    def _freeze(self) -> None:
        """Leave the open block as it stands on the screen, and go on with it as plain text."""
        if isinstance(self._open, PlainRows):
            self._open = self._open.freeze()
            self._whole = False

    def _append(self, text: str) -> str:
        """Show a piece of the open block."""
        before = self._open.rows.copy() if isinstance(self._open, PlainRows) else []
        sent = self._open.add(text)
        if isinstance(self._open, PlainRows) and len(self._open.rows) > self._height:
            return self._replace(before, [])
        self._read += len(text)
        return sent

    def _complete(self, blocks: list[Block]) -> str:
        """Render `blocks` in place of what is shown of them, and show what came after them."""
        rest = self._scanner.rest
        sent = ""
        while blocks:
            if isinstance(self._open, RawText):
                sent += self._complete_raw(blocks, rest)
            elif self._columns < _NARROWEST:
                self._freeze()
            else:
                sent += self._replace(self._open.rows, blocks)
                blocks = []
        return sent

    def _complete_raw(self, blocks: list[Block], rest: str) -> str:
        """Show the remainder of the first block, which stays plain, and take it off the list.

        What has been shown of the text after it is taken back if it is on one row. If not, it all stays plain.
        """
        assert isinstance(self._open, RawText)
        first = blocks.pop(0)
        sent = self._open.add(first.source[self._read :])
        text = "".join(block.source for block in blocks) + rest
        ahead = text[: max(0, self._read - len(first.source))].lstrip("\n")
        self._last, self._follows = first, True
        if ahead and self._open.line == ahead and text_cells(ahead) < self._columns:
            self._last, self._follows = None, False
            sent += "\r" + _CLEAR_BELOW
        elif ahead:
            sent += self._open.add(text[self._read - len(first.source) :])
            self._last = blocks[-1] if blocks else first
            self._read = len(rest)
            blocks.clear()
            return sent
        self._open, self._read = self._next_rows(text), 0
        return sent + (self._append(text) if not blocks else "")

    def _replace(self, before: list[str], blocks: Sequence[Block]) -> str:
        """Show `blocks`, and what is open after them, in place of the rows `before`.

        Where that is more than the screen holds, its finished part is rendered too, or it is plain from now on.
        """
        lead = "" if before or not self._follows else NEW_ROW
        rows = [row for block in blocks for row in self._finish(block, self._render(block))]
        after = self._open_rows()
        if len(after.rows) > self._height:
            rows += self._cut()
            after = self._open_rows()
        self._open, self._read = after, len(self._scanner.rest)
        sent = _paint(before, [*rows, *((row, row) for row in after.rows)])
        if len(after.rows) > self._height:
            self._freeze()
        return lead + sent

    def _finish(self, block: Block, rows: Sequence[Row]) -> list[tuple[str, str]]:
        """What is shown of a complete block, or of the finished part of one, and is never painted again."""
        finished = [(row.text, row.sent) for row in rows]
        if self._last is not None and block.stands_apart(self._last):
            finished.insert(0, ("", ""))
        self._finished += len(finished)
        self._last, self._follows = block, True
        return finished

    def _cut(self) -> list[tuple[str, str]]:
        """The finished part of an open block that is taller than the screen."""
        from asky.cli.markdown_cuts import cut_block  # for the few blocks that need it

        block = self._scanner.open_block()
        cut = cut_block(block, self._render) if block is not None and self._columns >= _NARROWEST else None
        if block is None or cut is None:
            return []
        self._scanner.drop(cut.characters, cut.begun)
        return self._finish(block, cut.rows)

    def _open_rows(self) -> PlainRows:
        """What is open, as rows of plain text."""
        rows = self._next_rows(self._scanner.rest)
        rows.add(self._scanner.rest)
        return rows

    def _next_rows(self, rest: str) -> PlainRows:
        """Rows for what comes after the last complete block and begins with `rest`."""
        is_apart = not self._scanner.continues and not (
            self._last is not None and self._last.kind == "item" and begins_item(rest.lstrip("\n"))
        )
        return PlainRows(self._columns, follows=self._follows, gap=self._last is not None and is_apart)

    def _render(self, block: Block) -> list[Row]:
        if self._renderer is None:
            from asky.cli.markdown_render import BlockRenderer  # rich, 80 ms: when there is a block to render

            self._renderer = BlockRenderer(self._environ)
        return self._renderer.render(block, self._columns)

    def _send(self, text: str) -> None:
        if text:
            self._stream.write(text)
            self._stream.flush()


def _paint(before: Sequence[str], after: Sequence[tuple[str, str]]) -> str:
    """What turns the rows `before`, on the last of which the cursor is, into `after`: texts and what to send for them.

    Rows that stay the same are not sent again, apart from the last, at whose end the cursor is left.
    """
    if not before:
        return NEW_ROW.join(sent for _, sent in after)
    parts = [_BEGIN, _up(len(before))]
    for number, (text, sent) in enumerate(after):
        if number:
            parts.append(NEW_ROW)
        if number < len(before):
            same = sent == text == before[number].rstrip() and number < len(after) - 1
            parts.append("" if same else sent + _CLEAR_ROW)
        else:
            parts.append(sent)
    if len(after) < len(before):
        parts.append(_CLEAR_BELOW)
    return "".join([*parts, _END])


def _up(rows: int) -> str:
    """From any column of the last of `rows` to the first column of the first."""
    return "\r" + (f"\x1b[{rows - 1}A" if rows > 1 else "")
