"""The headings of a Markdown document, where markdown-it finds them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from asky.text.markdown import for_threads

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

# A line that may be a heading or underline one. Nothing behind the last of them is parsed: most long lists, tables and
# quotes of a text without headings cost nothing.
_CANDIDATE = re.compile(r"^ {0,3}(?:#{1,6}(?:[ \t]|$)|(?:=+|-+)[ \t]*$)", re.MULTILINE)
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_RETURN = re.compile(r"\r\n?")
_MARK = re.compile(r"(`+)|%%")
_COMMENT = "%%"
_COLLECTOR = "collector"  # in the environment of a parse
# A list takes two levels and a quote one. Behind anything deeper, markdown-it finds nothing. Each level costs the time
# of its lines once more: 90 quotes around 100,000 lines took 70 s.
_MAX_NESTING = 40


@dataclass(frozen=True, slots=True)
class MarkdownHeading:
    """A heading from offset `start` to `end`, with its line ends; `source` is its text with its inline markup.

    `level` counts from 1 for the outermost.
    """

    start: int
    end: int
    level: int
    source: str


def markdown_headings(text: str, start: int = 0) -> list[MarkdownHeading]:
    """Return the headings of a document from offset `start` on, where its front matter ends, in order.

    They are those of CommonMark with tables. What stands within a list, a quote, code, HTML or a comment of a
    note-taking program (`%%` to the next `%%`, over any number of blocks) is no heading of the document. Any line ends
    will do. Time and memory are linear in the length of the text: 0.6 s/MB of notes.
    """
    lines = _with_line_feeds(text)
    last = None
    for last in _CANDIDATE.finditer(lines, start):  # noqa: B007 - only the last one matters
        pass
    if last is None:
        return []
    return _collect(lines, start, lines.find("\n", last.end()) + 1 or len(lines)).headings


def paragraph_lines(text: str) -> list[tuple[int, str]]:
    """Return each line of the paragraphs of the outermost level, in no list, quote, code or HTML, with its offset.

    `text` begins where a block begins, as what follows a heading does. Of a comment, only the first paragraph counts.
    """
    lines = _with_line_feeds(text)
    paragraphs = _collect(lines, 0, len(lines)).paragraphs
    return [(start + line.start(), line[0]) for start, end in paragraphs for line in _LINE.finditer(lines[start:end])]


def _collect(text: str, start: int, end: int) -> _Collector:
    parser, collector = _parser(_MAX_NESTING), _Collector(text, start)
    tokens: list[Token] = []
    parser.block.parse(text[start:end], parser, {_COLLECTOR: collector}, tokens)
    collector.take(tokens)
    return collector


@cache
def _parser(max_nesting: int) -> MarkdownIt:
    from markdown_it import MarkdownIt  # 0.05 s: only if there may be a heading

    parser = MarkdownIt("commonmark", {"maxNesting": max_nesting}).enable("table")
    parser.block.ruler.before("table", "collect", _begin_block)
    return for_threads(parser)


def _begin_block(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    collector: _Collector = state.env[_COLLECTOR]
    return collector.begin_block(state, line, end, silent)


class _Collector:
    """Collects headings and paragraphs of the outermost level, block by block, and passes over comments."""

    def __init__(self, text: str, start: int) -> None:
        self.headings: list[MarkdownHeading] = []
        self.paragraphs: list[tuple[int, int]] = []
        self._text = text
        self._start = start
        self._last_mark = text.rfind(_COMMENT)
        self._starts: list[int] = []  # of the lines, from `start` on

    def begin_block(self, state: StateBlock, line: int, end: int, silent: bool) -> bool:
        """Pass over the lines of a comment that the last block has opened: a rule of the parser, before its others."""
        if silent or state.level:
            return False
        self._starts = state.bMarks
        if not self.take(state.tokens):
            return False
        goes_on_at = self._comment_end(self._start + state.bMarks[line])
        if goes_on_at is None:
            return False
        while line < end and self._start + state.bMarks[line] < goes_on_at:
            line += 1
        state.line = line
        return True

    def take(self, tokens: list[Token]) -> bool:
        """Take the tokens of one block, and its heading; return whether it ends within a comment."""
        is_open = False
        for token in tokens:
            if (token.type == "inline" or is_open) and _COMMENT in token.content:
                is_open = _ends_in_comment(token.content, is_open)
        if tokens and tokens[0].type == "heading_open":
            self._add_heading(tokens[0], tokens[1].content, is_open)
        elif tokens and tokens[0].type == "paragraph_open":
            self.paragraphs.append(self._extent(tokens[0]))
        tokens.clear()  # so that memory does not grow with them
        return is_open

    def _add_heading(self, token: Token, source: str, is_open: bool) -> None:
        start, end = self._extent(token)
        is_underlined = token.markup in "=-"
        if not (is_open and is_underlined and self._comment_end(end) is not None):  # else the line is a comment's
            self.headings.append(MarkdownHeading(start, end, int(token.tag[1:]), source))

    def _extent(self, token: Token) -> tuple[int, int]:
        assert token.map is not None  # each block has its lines
        first, end = token.map
        return self._start + self._starts[first], self._start + self._starts[end]

    def _comment_end(self, offset: int) -> int | None:
        """Return the end of the line that closes the comment which is open at `offset`; `None` if none does."""
        end = None
        while offset <= self._last_mark:
            closing = self._text.index(_COMMENT, offset)
            end = offset = self._text.find("\n", closing) + 1 or len(self._text)
            if not _ends_in_comment(self._text[closing + len(_COMMENT) : end], is_open=False):
                break
        return end


def _ends_in_comment(text: str, is_open: bool) -> bool:
    """Return whether a comment is open behind inline Markdown; `is_open` says whether one is before it."""
    last = {len(run[1]): run.start() for run in _MARK.finditer(text) if run[1]}
    code = 0  # the length of the backticks that opened a code span
    for mark in _MARK.finditer(text):
        ticks = len(mark[1] or "")
        if is_open:
            is_open = ticks > 0
        elif code:
            code = 0 if ticks == code else code
        elif not ticks:
            is_open = True
        elif last[ticks] > mark.start():
            code = ticks
    return is_open


def _with_line_feeds(text: str) -> str:
    """Return `text` with LF for each line end, and the same offsets."""
    return _RETURN.sub(_as_line_feed, text) if "\r" in text else text


def _as_line_feed(found: re.Match[str]) -> str:
    return "\n" if found[0] == "\r" else " \n"
