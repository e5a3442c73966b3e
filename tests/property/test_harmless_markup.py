"""Whatever Markdown and HTML an answer is made of, nothing is loaded by a page that shows it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from asky.evidence.citations.markers import CitationStream, number_citations
from asky.values import Evidence, Location, Source, Span
from tests.support.examples import examples
from tests.support.rendering import loaded_by

SOURCE = Source("s1", "web", "https://x.test/", "Title")
SHOWN = {"P7f3a": Evidence("P7f3a", SOURCE, 1, "", Span(0, 1), "x", Location())}
LOADING = [
    "![x](//e/S)", "![x][r]", "![r]", "[r]: //e/S", "<img src=//e/S>", "<img\nsrc=//e/S>", "<style>", "<script>",
    "<div\n", "<div style='background:url(//e/S)'>", "<table background=//e/S>", "<video poster=//e/S>",
    "<input type=image src=//e/S>", "<svg><use href=//e/S>", "<link rel=prefetch href=//e/S>",
    "<meta http-equiv=refresh content='0;//e/S'>", "<a ping=//e/S href=x>", "<b onclick=x>", "<sup class=x>2</sup>",
    "m<sup><img>2</sup>", "<iframe src=//e>",
]  # fmt: skip
LINES = ["\n", "\n", "\n\n", "\r", "> ", ">", "- ", "* ", "-", "1. ", "2. ", "10) ", " ", "  ", "   ", "    ", "\t"]
BLOCKS = [
    "```",
    "```",
    "~~~",
    "````",
    "a|b",
    "-|-",
    "|",
    "---",
    "===",
    "# ",
    "***",
    "[f]: u",
    "x",
    "text ",
    "<b>",
    "<br>",
]
INLINE = [
    "`", "``", "\\", "!", "[", "]", "(", ")", "](", "][", "<", "</", ">", "<!--", "-->", "<?", "?>", "<![CDATA[", '"',
    "'", "&#33;", "&lt;", "<a", "</b>", "<sup>", "</sup>", "<http://x/`>", "<a`b@c.d>", "[a](b`c)", "[P7f3a", "[P7f3a]",
    "[7]", "P7f3a", "Pabcd", "day¹", "\x0b", "\x0c", "\u2028", "\x00", "é", "style",
]  # fmt: skip
answers = st.lists(st.sampled_from(LOADING) | st.sampled_from(LINES) | st.sampled_from(BLOCKS + INLINE)).map("".join)
blocks = st.lists(st.sampled_from([*LINES, *BLOCKS, *LOADING[:5]])).map("".join)
cuts = st.lists(st.integers(0, 120), max_size=8)


@pytest.mark.slow
@settings(max_examples=examples(600))
@given(answers | blocks, cuts)
@example(">~~~\n\n![x](//e/S)", [])
@example("<b>\n<img src=//e/S>", [])
@example("```[r]: //e/S\n    ~~~[f]: u", [21])  # cut so that the rest of the code looks like something struck out
@example("<div\n<img src=//e/S>", [])
@example("``` `P7f3a`\n```\n<img src=//e/S>", [])  # which begins fenced code once the key is a number
@example("<ah:<`><img src=//e/S>`", [])  # an address, with a backtick in it, once its second `<` is an entity
@example("[&#1;]", [])  # an entity that stands for nothing
@example(">~~~\n    >x\n>~~~\n> <img src=//e/S>", [])
def test_nothing_is_loaded_by_what_shows_an_answer(answer: str, cuts: list[int]) -> None:
    whole = number_citations(answer, SHOWN)
    assert loaded_by(whole.text) == []
    stream = CitationStream(SHOWN)
    places = [0, *sorted(min(cut, len(answer)) for cut in cuts), len(answer)]
    shown = "".join(stream.feed(answer[i:j]) for i, j in pairwise(places)) + stream.close()
    assert stream.numbered(shown) == whole
