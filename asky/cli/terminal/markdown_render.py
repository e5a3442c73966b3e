"""Renders one block of Markdown as terminal rows.

Imported with the first complete block of an answer on a terminal: rich and its parser take 80 ms.

No text is lost: HTML and link definitions are shown as source. Nothing is fetched or hidden: an image is shown as its
description, and a link is followed by its URL. Without colour, headings are underlined with a rule, and code and
struck-out text keep their signs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from markdown_it.token import Token
from rich.color import ColorSystem
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, TableElement
from rich.padding import Padding
from rich.segment import Segment
from rich.style import Style
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from asky.cli.terminal.cells import Row, text_cells, wrapped
from asky.cli.terminal.hyperlinks import hyperlink
from asky.cli.terminal.terminal import one_line, plain
from asky.text.markdown import Block, markdown_parser

_MARKER = re.compile(r"(\[\d+\])")
_BLANK_LINES = re.compile(r"\A(?:[ \t]*\n)+")
_RULES = {"h1": "═", "h2": "─"}  # below headings that are not bold
_CELL_PADDING = 2
_SIGNS = {"code_inline": "`{}`", "s_open": "~~", "s_close": "~~"}  # kept without colour
_MAX_BLOCK_CHARS = 20_000  # larger blocks are not prose and take too long
_THEME = Theme(
    {
        "markdown.a": Style(underline=True),
        "markdown.cite": Style(color="cyan"),
        "markdown.link_url": Style(),  # both the text and the address of a link
        "markdown.address": Style(dim=True),
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


class BlockRenderer:
    """Renders blocks, each by itself, with colours and bold letters if `colored`, and links as OSC 8 if `links`."""

    def __init__(self, environ: Mapping[str, str], *, colored: bool = True, links: bool = False) -> None:
        self._colored = colored
        self._links = links
        self._parser = markdown_parser()
        self._console = Console(force_terminal=True, theme=_THEME, legacy_windows=False, _environ=environ)

    def render(self, block: Block, columns: int) -> list[Row]:
        """Return the rows of `block`, each of at most `columns - 1` cells; none for a mere closing fence."""
        source = _BLANK_LINES.sub("", block.source.rstrip("\n"), count=1)
        rows: list[Row] = []
        if len(source) <= _MAX_BLOCK_CHARS:
            indent = len(source) - len(source.lstrip(" ")) if block.kind == "list_item" else 0
            options = self._console.options.update(width=max(1, columns - 1 - indent), height=None)
            options.encoding = "utf-8"  # what the terminal cannot show gets a stand-in when it is written
            kind = _Document if self._colored else _UncoloredDocument
            document = kind(self._parser.parse(source), colored=self._colored)
            lines = self._console.render_lines(document, options, pad=False)
            rows = [self._row(line, " " * indent) for line in lines]
        while rows and not rows[-1].text:
            rows.pop()
        while rows and not rows[0].text and not block.goes_on:
            rows.pop(0)
        if block.goes_on:
            return rows
        return rows or [Row(row.rstrip(), row.rstrip()) for row in wrapped(source, columns - 1)]

    def _row(self, segments: list[Segment], indent: str) -> Row:
        """Return a row without control sequences other than our own styles and links."""
        parts = [(plain(segment.text), segment.style) for segment in segments if not segment.control]
        while parts and not parts[-1][0].strip():  # lists and tables are padded with blanks
            parts.pop()
        if parts:
            parts[-1] = parts[-1][0].rstrip(), parts[-1][1]
        sent = "".join(self._styled(text, style) for text, style in parts)
        return Row((indent + "".join(text for text, _ in parts)).rstrip(), (indent + sent).rstrip())

    def _styled(self, text: str, style: Style | None) -> str:
        if style is None:
            return text
        address = style.link
        shown = style.update_link(None).render(text, color_system=ColorSystem.STANDARD) if self._colored else text
        return hyperlink(shown, address) if self._links and address else shown


class _Heading(Heading):
    """A left-aligned heading, whatever its level."""

    LEVEL_ALIGN: ClassVar[dict[str, JustifyMethod]] = {}


class _RuledHeading(_Heading):
    """A heading with a rule below it."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from super().__rich_console__(console, options)
        if rule := _RULES.get(self.tag):
            yield Text(rule * min(text_cells(self.text.plain), options.max_width))


class _Code(CodeBlock):
    """Code without highlighting, indented by two cells. Colours by language would import every lexer."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = Text(str(self.text).rstrip().expandtabs(4), style=self.style, overflow="fold")
        yield Padding(code, (0, 0, 0, 2), expand=False)


class _Table(TableElement):
    """A table; on a terminal too narrow for its longest words, a list of its rows with the head of each cell."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for table in super().__rich_console__(console, options):
            assert isinstance(table, Table)
            cells = [[column.header, *column.cells] for column in table.columns]
            longest = [max(_longest_word(str(cell)) for cell in column) for column in cells]
            if sum(longest) + _CELL_PADDING * len(longest) <= options.max_width:
                for column in table.columns:
                    column.overflow = "fold"
                yield table
            else:
                yield from _records(list(zip(*cells, strict=True)))


def _records(rows: Sequence[Sequence[RenderableType]]) -> Iterator[RenderableType]:
    """Yield a line for each cell below the first row, with its head, and an empty line between two rows."""
    for number, row in enumerate(rows[1:] or rows):
        if number:
            yield Text()
        for column, (head, cell) in enumerate(zip(rows[0], row, strict=True)):
            shown = cell if isinstance(cell, Text) else Text(str(cell))
            line = Text.assemble((f"{head}: " if str(head) and len(rows) > 1 else "", "bold"), shown, overflow="fold")
            yield Padding(line, (0, 0, 0, 2 if column else 0), expand=False)


def _longest_word(text: str) -> int:
    return max(map(text_cells, text.split()), default=0)


class _Document(Markdown):
    """The tokens of a block, prepared for display."""

    elements = Markdown.elements | {
        "heading_open": _Heading, "fence": _Code, "code_block": _Code, "table_open": _Table
    }  # fmt: skip
    inlines = Markdown.inlines | {"a", "address", "cite"}

    def __init__(self, tokens: list[Token], *, colored: bool) -> None:
        super().__init__("")
        for token in tokens:
            if token.children:
                token.children = list(_presentable(token.children, colored=colored))
        self.parsed = tokens


class _UncoloredDocument(_Document):
    """The same without colours and bold letters."""

    elements = _Document.elements | {"heading_open": _RuledHeading}


def _presentable(children: list[Token], *, colored: bool) -> Iterator[Token]:
    """Yield the tokens of a line with links written out, images described, and citations marked for colour."""
    links: list[tuple[str, list[str]]] = []
    for token in children:
        if token.type == "link_open":
            url = one_line(str(token.attrs.get("href", "")))
            links.append((url, []))
            yield Token("link_open", "", 1, attrs={"href": url})
            yield Token("a_open", "a", 1)
        elif token.type == "link_close":
            yield Token("a_close", "a", -1)
            yield from _target(*links.pop())
            yield Token("link_close", "", -1)
        elif token.type == "image":
            yield _text(f"[image: {one_line(token.content)}]")
        elif token.type == "text":
            text = re.sub(r"\s", " ", plain(token.content))
            for _, link_text in links:
                link_text.append(text)
            yield from _with_citations(text)
        elif not colored and token.type in _SIGNS:
            yield _text(_SIGNS[token.type].format(plain(token.content)))
        else:
            token.content = plain(token.content)
            yield token


def _target(url: str, link_text: list[str]) -> Iterator[Token]:
    """Yield the URL of a link, unless it equals the link's text."""
    if url and url.removeprefix("mailto:") != "".join(link_text):
        yield from _styled("address", f" ({url})")


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
