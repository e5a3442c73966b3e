from __future__ import annotations

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from asky.evidence.citations.markers import CitationStream, number_citations
from asky.evidence.citations.scanner import AnswerScanner
from asky.values import Evidence, Location, Source, Span

SOURCE = Source("s1", "web", "https://x.test/", "Title")
SHOWN = {key: Evidence(key, SOURCE, 1, "", Span(0, 1), "x", Location()) for key in ("P7f3a", "P09c2")}
PIECES = [
    *"[]`~\\\n()P7:*_ ,;>-.^|1",
    "```",
    "~~~",
    "``",
    "[P7f3a]",
    "P09c2",
    "[P0000, P7f3a]",
    "[7]",
    "【",
    "】",
    "see ",
    "    ",
    "word",
    "https://e.test/",
    "&#91;",
    "&rbrack;",
    "&#",
    "&",
    "<!--",
    "-->",
    "<",
    "<b>",
    "<sup>",
    "</sup>",
    "¹",
    "²",
    "⁾",
    "①",
    "[^n]:",
    "[source ",
    "[" + " " * 300,
    "P" * 3,
    "⟦",
    "Ｐ７ｆ３ａ",
]
answers = st.lists(st.sampled_from(PIECES) | st.text(max_size=3)).map("".join)


@given(answers, st.lists(st.integers(0, 200), max_size=12))
@example("⁽¹", [1])
def test_a_streamed_answer_equals_the_whole_for_every_split(answer: str, cuts: list[int]) -> None:
    stream = CitationStream(SHOWN)
    places = [0, *sorted(min(cut, len(answer)) for cut in cuts), len(answer)]
    shown = "".join(stream.feed(answer[i:j]) for i, j in pairwise(places)) + stream.close()
    assert stream.numbered(shown) == number_citations(answer, SHOWN)


@given(answers)
def test_an_answer_fed_by_single_characters_equals_the_whole(answer: str) -> None:
    stream = CitationStream(SHOWN)
    shown = "".join(map(stream.feed, answer)) + stream.close()
    assert stream.numbered(shown) == number_citations(answer, SHOWN)


@given(answers)
def test_the_pieces_of_an_answer_are_the_answer(answer: str) -> None:
    scanner = AnswerScanner()
    pieces = scanner.feed(answer) + scanner.close()
    assert "".join(piece.source for piece in pieces) == answer


@given(answers)
@example("⚠¹")
def test_no_marker_appears_that_is_not_in_the_order(answer: str) -> None:
    numbered = number_citations(answer, {})
    assert numbered.order == ()
    outside_code = AnswerScanner()
    pieces = outside_code.feed(numbered.text) + outside_code.close()
    assert [piece for piece in pieces if piece.kind == "number"] == []
