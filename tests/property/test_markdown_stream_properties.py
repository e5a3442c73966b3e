from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from asky.cli.terminal.markdown_stream import MarkdownStream
from asky.text.markdown import Block, BlockSplitter
from tests.support.terminals import ScreenStream

pytestmark = pytest.mark.slow

# fmt: off
MARKS = st.sampled_from([
    "# ", "- ", "* ", "1. ", "12) ", "> ", "```", "~~~", "    ", "  ", "\t", "\n", "\n\n", "---", "===", "|", "|--|",
    "| a | b |\n|---|---|\n", "***", "**b**", "*i*", "`c`", "[1]", "[x](http://e.test)", "![i](u)", "<b>", "&#x202e;",
    "&amp;", "&#13;", "word ", "longer words here ", "über ", "中文字符", "e\u0301", "слово ", "x" * 70, "[", "](",
    "\\", "_", "~~s~~", "<http://a.test>", "[1]: http://z\n", "+ ", "-", "=", "1", ".", " ", "#",
])
SIMPLE_MARKS = st.sampled_from([
    "alpha ", "beta\n", "gamma\n\n", "- one ", "- two\n", "\n- three\n", "# five\n", "> six\n", "ß ", "中文 ",
    "\n```\nseven\n\n\neight\n```\n", "  nine ", "longish words in a row here ",
])
# fmt: on
TEXT = st.lists(MARKS, max_size=40).map("".join)
SIMPLE = st.lists(SIMPLE_MARKS, max_size=60).map("".join)


@st.composite
def cut(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> tuple[str, list[str]]:
    """A text, and the same in pieces."""
    text = draw(texts)
    places = sorted(draw(st.sets(st.integers(0, len(text)), max_size=60)))
    return text, [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]


def shown(pieces: list[str], columns: int, rows: int) -> ScreenStream:
    stream = ScreenStream(columns, rows)
    markdown = MarkdownStream(stream, environ={"TERM": "xterm"}, size=stream.size)
    for piece in pieces:
        markdown.write(piece)
    markdown.finish()
    return stream


@pytest.mark.extended
@given(cut(TEXT), st.sampled_from([16, 20, 33, 80]))
def test_however_a_text_is_cut_its_screen_is_that_of_the_whole(text: tuple[str, list[str]], columns: int) -> None:
    whole, pieces = shown([text[0]], columns, 300), shown(text[1], columns, 300)
    assert pieces.all_lines() == whole.all_lines()
    assert (pieces.screen.cursor.x, pieces.screen.cursor.y) == (whole.screen.cursor.x, whole.screen.cursor.y)


@given(TEXT)
def test_the_blocks_of_a_text_in_single_characters_are_those_of_the_whole(text: str) -> None:
    def said(blocks: list[Block]) -> list[tuple[str, str, str]]:
        """The blocks without the blank lines around them, of which a piece may have more."""
        return [(each.kind, re.sub(r"\A(?:[ \t]*\n)+|\s*\Z", "", each.source), each.marker) for each in blocks]

    whole, pieces = BlockSplitter(), BlockSplitter()
    expected = [*whole.feed(text), *whole.close()]
    assert said([block for character in text for block in pieces.feed(character)] + pieces.close()) == said(expected)


LAZY = "- two\n" + "alpha " * 8 + "beta\n"  # whose second line goes on with the row of the first


@given(cut(SIMPLE), st.sampled_from([16, 20, 40]), st.sampled_from([4, 6, 10]))
@example((LAZY, [LAZY]), 16, 4)
def test_on_a_small_screen_nothing_is_lost_and_nothing_is_shown_twice(
    text: tuple[str, list[str]], columns: int, rows: int
) -> None:
    def letters(text: str) -> str:
        return re.sub(r"[^a-zß中文]", "", text)

    assert letters("".join(shown(text[1], columns, rows).all_lines())) == letters(text[0])


LINES = st.lists(
    st.sampled_from(["alpha beta", "*gamma* delta", "eins **zwei** drei", "[1] five", "中文 six", "", "- x"]),
    min_size=3,
    max_size=40,
)


@given(LINES, st.sampled_from(["{}", "    {}", "> {}"]), st.integers(4, 9), st.integers(1, 30))
def test_a_tall_block_loses_nothing_and_shows_nothing_twice(lines: list[str], form: str, rows: int, size: int) -> None:
    body = "\n".join(form.format(line) for line in lines)
    fence = "```" if form == "{}" else ""
    text = f"{fence}\n{body}\n{fence}\n\nend"
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    small, tall = (shown(pieces, 30, height).all_lines() for height in (rows, 300))
    assert re.sub(r"[^a-z0-9中文]", "", "".join(small)) == re.sub(r"[^a-z0-9中文]", "", "".join(tall))
    if fence and "" not in lines:
        assert small == tall
