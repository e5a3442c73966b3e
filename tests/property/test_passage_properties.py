"""What holds for the passages that every text is cut into."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.research.excerpts.passages import MAX_PASSAGE_CHARACTERS, cut_passages, first_passages
from asky.text.sentences import sentence_spans
from asky.values import Span
from tests.support.timing import check_linear

PIECES = [
    "word ",
    "A sentence. ",
    "Two? ",
    "x" * 30,
    "漢字。",
    "\n",
    "\n\n",
    "\r\n\r\n",
    "# Head\n",
    "- item\n",
    "\u2028",
    "…",
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=80).map("".join)
EDGES = st.lists(st.integers(-5, 300), max_size=5)
LONGEST = st.integers(1, 120)


def words(text: str) -> int:
    return len(re.findall(r"\w{1,4}|[^\w\s]", text))


def fitting(texts: Sequence[str], budget: int) -> int:
    return sum(spent <= budget for spent in accumulate(map(words, texts)))


def check_tiling(text: str, passages: Sequence[Span]) -> None:
    """In order, without overlap, and without a gap but white space; none begins or ends with white space."""
    borders = [0, *(place for each in passages for place in (each.start, each.end)), len(text)]
    assert borders == sorted(borders)
    assert all(not text[end:start].strip() for end, start in zip(borders[::2], borders[1::2], strict=True))
    assert all(text[each.start : each.end].strip() == text[each.start : each.end] != "" for each in passages)


@given(TEXTS, EDGES, LONGEST)
def test_passages_tile_the_text_in_order_within_the_limit_and_cross_no_edge(
    text: str, edges: list[int], longest: int
) -> None:
    passages = cut_passages(text, edges, max_chars=longest)
    check_tiling(text, passages)
    assert all(len(each) <= longest for each in passages)
    assert not any(each.start < edge < each.end for each in passages for edge in edges)


@given(TEXTS, EDGES, LONGEST)
def test_a_passage_ends_inside_a_sentence_only_where_that_does_not_fit(
    text: str, edges: list[int], longest: int
) -> None:
    pages = [0, *sorted({each for each in edges if 0 < each < len(text)}), len(text)]
    ends = {start + each.end for start, end in pairwise(pages) for each in sentence_spans(text[start:end])}
    for passage in cut_passages(text, edges, max_chars=longest):
        if passage.end not in ends:
            assert not any(passage.start < end <= passage.start + longest for end in ends)


@given(TEXTS, EDGES, st.integers(1, 60), st.integers(1, 12))
def test_the_first_passages_tile_the_text_from_its_start_within_budget_and_limit(
    text: str, edges: list[int], budget: int, limit: int
) -> None:
    passages = first_passages(text, edges, budget=budget, fitting=fitting, limit=limit)
    read = passages[-1].end if passages else 0
    check_tiling(text[:read], passages)
    assert len(passages) <= limit
    assert bool(passages) == bool(text.strip())
    assert sum(words(text[each.start : each.end]) for each in passages) <= budget


@pytest.mark.parametrize("piece", ["a", "a ", " ", "A sentence. ", "\n\n", ".", "漢", "x\n\n", "\x1c"])
def test_odd_text_is_cut_in_linear_time(piece: str) -> None:
    def cut(chars: int) -> None:
        text = piece * (chars // len(piece))
        check_tiling(text, cut_passages(text))

    check_linear(cut, 50_000)


def test_a_passage_is_as_long_as_the_limit_lets_it_be() -> None:
    text = "This sentence has forty characters now. " * 200
    lengths = [len(each) for each in cut_passages(text)]
    assert all(MAX_PASSAGE_CHARACTERS - 40 <= each <= MAX_PASSAGE_CHARACTERS for each in lengths[:-1])
