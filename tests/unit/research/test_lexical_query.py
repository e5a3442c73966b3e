"""Expressions for the full-text index."""

from __future__ import annotations

import pytest

from asky.research.index.lexical_query import is_text, word_expression


def test_a_word_that_one_sentence_repeats_counts_once() -> None:
    assert word_expression("Does the Verge article contradict the Fortune article?") == (
        '"verge" OR "article" OR "contradict" OR "fortune"'
    )


def test_a_word_that_a_text_repeats_counts_as_often_as_it_occurs() -> None:
    assert word_expression("Graph algorithms. Decomposition of a graph.") == (
        '"graph" OR "algorithms" OR "decomposition" OR "graph"'
    )


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What makes the tides?", False),
        ("  What makes the tides? \n", False),
        ("Which version is 3.11?", False),
        ("", False),
        ("Tides are high. What makes them?", True),
        ("shape analysis; texture analysis", True),
        ("shape analysis\ntexture analysis", True),
        ("shape analysis\n\n  texture analysis", True),
    ],
)
def test_several_sentences_or_lines_make_a_text(question: str, expected: bool) -> None:
    assert is_text(question) is expected


def test_exponents_are_searched_as_the_index_holds_them() -> None:
    assert word_expression("area in km2") == '"area" OR "km2" OR "km 2"'
    assert word_expression("10^6.6 stars") == '"10" OR "6" OR "stars"'
    assert word_expression("10⁶·⁶ m²") == '"10⁶" OR "⁶" OR "m²" OR "10" OR "6" OR "m 2"'
