"""One block of Markdown as rows of a terminal.

Imported with the first complete block of an answer that is shown on a terminal: rich and its parser take 80 ms.

Nothing of a text is lost: HTML and link definitions are shown as they stand. Nothing is fetched or hidden: an image is
its description, and a link is followed by where it leads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.box import SIMPLE
from rich.cells import cell_len
from rich.color import ColorSystem
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, TableElement
from rich.padding import Padding
from rich.segment import Segment
from rich.style import Style
from rich.table import Table as RichTable
from rich.text import Text
from rich.theme import Theme

from asky.cli.markdown_blocks import Block, item_start
from asky.cli.plain_rows import PlainRows
from asky.cli.terminal import one_line, plain

_MARKER = re.compile(r"(\[\d+\])")
_SPARE = 2  # cells in a column of a table whose later rows are not known yet: the tenth row may be numbered
_LONGEST = 20_000  # characters of a block that are worth the time; such a block is no prose
_THEME = Theme(
    {
        "markdown.a": Style(underline=True),
        "markdown.cite": Style(color="cyan"),
        "markdown.link_url": Style(dim=True),
        "markdown.code": Style(bold=True),
        "markdown.code_block": Style(dim=True),
        "markdown.block_quote": Style(italic=True),
        "markdown.h1": Style(bold=True, underline=True),
        "markdown.h2": Style(bold=True),
        "markdown.h3": Style(bold=True),
        "markdown.h4": Style(bold=True),
        "markdown.h5": Style(italic=True),
        "markdown.h6": Style(italic=True),
        "markdown.hr": Style(dim=True),
        "markdown.item.bullet": Style(),
        "markdown.item.number": Style(),
        "markdown.table.border": Style(dim=True),
        "markdown.table.header": Style(bold=True),
    }
)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the screen: its text, and what to send for it, which may set colours and ends without any."""

    text: str
    sent: str


class BlockRenderer:
    """Renders blocks, each by itself, for a terminal of UTF-8."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._parser = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])
        self._parser.disable("reference")
        self._console = Console(force_terminal=True, theme=_THEME, legacy_windows=False, _environ=environ)

    def render(self, block: Block, columns: int) -> list[Row]:
        """The rows of `block`, one at least, of at most `columns - 1` cells."""
        if len(block.source) > _LONGEST:
            return _unrendered(block, columns)
        options = self._console.options.update(width=max(1, columns - 1 - block.indent), height=None)
        document = _Document(self._parser.parse(_whole(block)), block)
        lines = self._console.render_lines(document, options, pad=False)
        rows = [_row(line, " " * block.indent) for line in lines]
        while rows and not rows[-1].text:
            rows.pop()
        while rows and not rows[0].text:
            rows.pop(0)
        if block.begun and block.kind == "item":
            del rows[0]  # what stands for the beginning
        return rows or _unrendered(block, columns)


def _whole(block: Block) -> str:
    """The source of `block`; of the end of one, what makes the parser see the same in it as in the whole."""
    source = block.source.strip("\n")
    if block.begun and block.kind == "fence":
        return block.begun.partition("\n")[0] + "\n" + source
    if block.begun and block.kind == "table":
        return block.begun + source
    if block.begun and block.kind == "quote" and not source.startswith(">"):
        return f"> {source}"
    if block.begun and block.kind == "item":
        return f"{item_start(block.begun)}x\n{source}"
    return source


def _unrendered(block: Block, columns: int) -> list[Row]:
    rows = PlainRows(columns)
    rows.add(block.source.strip("\n"))
    return [Row(text, text) for text in rows.rows]


def _row(segments: list[Segment], indent: str) -> Row:
    parts = [(plain(segment.text), segment.style) for segment in segments if not segment.control]
    while parts and not parts[-1][0].strip():  # lists and tables are filled up with blanks
        parts.pop()
    if parts:
        parts[-1] = parts[-1][0].rstrip(), parts[-1][1]
    sent = "".join(style.render(text, color_system=ColorSystem.STANDARD) if style else text for text, style in parts)
    return Row((indent + "".join(text for text, _ in parts)).rstrip(), (indent + sent).rstrip())


class _Heading(Heading):
    """A heading at the left, whatever its level."""

    LEVEL_ALIGN: ClassVar[dict[str, JustifyMethod]] = {}


class _Code(CodeBlock):
    """Code as it stands, set in by two cells. Colours by language would cost the import of every lexer."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = Text(str(self.text).rstrip().expandtabs(4), style=self.style, overflow="fold")
        yield Padding(code, (0, 0, 0, 2), expand=False)


class _Table(TableElement):
    """A table, or a part of one: all parts have columns as wide as the first rows need, and some cells more."""

    rows_above = 0
    spare = 0

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> _Table:  # noqa: ARG003 - rich's signature
        table = cls()
        block: Block | None = getattr(markdown, "block", None)
        if block is not None and block.kind == "table":
            table.rows_above = max(0, block.begun.count("\n") - 2)
            table.spare = _SPARE if block.begun or block.goes_on else 0
        return table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        head = self.header.row.cells if self.header and self.header.row else []
        body = [[cell.content for cell in row.cells] for row in (self.body.rows if self.body else [])]
        first = [[cell.content for cell in head], *(body[: self.rows_above] if self.rows_above else body)]
        needed = [max(cell_len(text.plain) for text in column) for column in zip(*first, strict=False)]
        widths = _fitted([width + self.spare for width in needed], options.max_width)
        table = RichTable(
            box=SIMPLE,
            pad_edge=False,
            style="markdown.table.border",
            collapse_padding=True,
            show_header=not self.rows_above,
        )
        for cell, width in zip(head, widths, strict=True):
            heading = cell.content.copy()
            heading.stylize("markdown.table.header")
            table.add_column(heading, width=width, overflow="fold")  # nothing is cut off
        for row in body[self.rows_above :]:
            table.add_row(*row)
        yield table


def _fitted(widths: list[int], room: int) -> list[int]:
    """The widths of columns with the widest made narrower until all fit, with two cells between and one at each end."""
    widths = [max(1, width) for width in widths]
    for _ in range(sum(widths) + 2 * len(widths) - room):
        widest = max(range(len(widths)), key=widths.__getitem__)
        widths[widest] = max(1, widths[widest] - 1)
    return widths


class _Document(Markdown):
    """The parsed text of a block, made presentable."""

    elements = Markdown.elements | {
        "heading_open": _Heading, "fence": _Code, "code_block": _Code, "table_open": _Table
    }  # fmt: skip
    inlines = Markdown.inlines | {"a", "cite", "link_url"}

    def __init__(self, tokens: list[Token], block: Block) -> None:
        super().__init__("")
        self.block = block
        for token in tokens:
            token.content = plain(token.content)
            if token.children:
                token.children = list(_presentable(token.children))
        self.parsed = tokens


def _presentable(children: list[Token]) -> Iterator[Token]:
    """The tokens of a line with links written out, images described, and citations to be coloured."""
    links: list[tuple[str, list[str]]] = []
    for token in children:
        if token.type == "link_open":
            links.append((one_line(str(token.attrs.get("href", ""))), []))
            yield Token("a_open", "a", 1)
        elif token.type == "link_close":
            yield Token("a_close", "a", -1)
            yield from _target(*links.pop())
        elif token.type == "image":
            yield _text(f"[image: {one_line(token.content)}]")
        elif token.type == "text":
            text = re.sub(r"\s", " ", plain(token.content))
            for _, said in links:
                said.append(text)
            yield from _with_citations(text)
        else:
            token.content = plain(token.content)
            yield token


def _target(url: str, said: list[str]) -> Iterator[Token]:
    """Where a link leads, unless its text says just that."""
    if url and url.removeprefix("mailto:") != "".join(said):
        yield from _styled("link_url", f" ({url})")


def _with_citations(text: str) -> Iterator[Token]:
    for number, part in enumerate(_MARKER.split(text)):
        if number % 2:
            yield from _styled("cite", part)
        elif part:
            yield _text(part)


def _styled(tag: str, text: str) -> Iterator[Token]:
    yield Token(f"{tag}_open", tag, 1)
    yield _text(text)
    yield Token(f"{tag}_close", tag, -1)


def _text(text: str) -> Token:
    return Token("text", "", 0, content=text)
