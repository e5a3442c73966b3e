"""The metrics against values that were worked out by hand."""

from __future__ import annotations

import math

import pytest

from asky.values import Span
from tests.quality.metrics import (
    bootstrap,
    complete_recall,
    first_occurrences,
    ndcg,
    recall,
    reciprocal_rank,
    span_recall,
)


def test_ndcg_is_one_for_the_ideal_order() -> None:
    assert ndcg(["a", "b", "c"], {"a": 2, "b": 1}) == pytest.approx(1.0)


def test_ndcg_discounts_a_single_relevant_document_by_its_rank() -> None:
    assert ndcg(["x", "y", "a"], {"a": 1}) == pytest.approx(1 / math.log2(4))  # 0.5


def test_ndcg_takes_the_judgement_as_the_gain() -> None:
    # DCG = 1/1 + 3/log2(3) = 2.8928; ideal = 3/1 + 1/log2(3) = 3.6309
    assert ndcg(["b", "a"], {"a": 3, "b": 1}) == pytest.approx(0.7967, abs=1e-4)


def test_ndcg_is_normalised_by_what_fits_into_the_cut() -> None:
    relevant = dict.fromkeys("abcdefghijkl", 1)  # 12 relevant documents, 10 places
    assert ndcg(list("abcdefghij"), relevant) == pytest.approx(1.0)


def test_ndcg_ignores_what_comes_after_the_cut() -> None:
    assert ndcg(["x", "y", "a"], {"a": 1}, k=2) == 0.0


def test_ndcg_counts_a_repeated_document_once_and_closes_the_gap() -> None:
    # a, a, b is a, b: DCG = 1 + 1/log2(3), which is ideal
    assert ndcg(["a", "a", "b"], {"a": 1, "b": 1}) == pytest.approx(1.0)


def test_ndcg_refuses_a_question_without_relevant_documents() -> None:
    with pytest.raises(ValueError, match="no relevant document"):
        ndcg(["a"], {"b": 0})


def test_recall_is_the_share_of_relevant_documents_within_the_cut() -> None:
    ranked = ["a", "x", "b", "c"]
    relevant = {"a": 1, "b": 1, "c": 2, "d": 1, "e": 0}
    assert recall(ranked, relevant, k=3) == pytest.approx(2 / 4)
    assert recall(ranked, relevant, k=10) == pytest.approx(3 / 4)


def test_recall_refuses_a_question_without_relevant_documents() -> None:
    with pytest.raises(ValueError, match="no relevant document"):
        recall(["a"], {})


def test_complete_recall_asks_for_every_relevant_document() -> None:
    relevant = {"a": 1, "b": 1}
    assert complete_recall(["a", "x", "b"], relevant, k=3) == 1.0
    assert complete_recall(["a", "x", "b"], relevant, k=2) == 0.0


def test_reciprocal_rank_looks_at_the_first_relevant_document_only() -> None:
    assert reciprocal_rank(["x", "a", "b"], {"a": 1, "b": 2}) == pytest.approx(0.5)


def test_reciprocal_rank_is_zero_beyond_the_cut() -> None:
    assert reciprocal_rank(["x", "y", "a"], {"a": 1}, k=2) == 0.0


def test_first_occurrences_keeps_the_order() -> None:
    assert first_occurrences(["b", "a", "b", "c", "a"]) == ("b", "a", "c")


def test_span_recall_counts_overlapping_spans_once_and_other_documents_never() -> None:
    found = [("d", Span(0, 6)), ("d", Span(4, 8)), ("e", Span(8, 10))]
    assert span_recall(found, [("d", Span(2, 12))]) == pytest.approx(6 / 10)  # characters 2 to 7


def test_span_recall_weighs_gold_spans_by_their_length() -> None:
    gold = [("d", Span(0, 30)), ("e", Span(0, 10))]
    assert span_recall([("d", Span(0, 100))], gold) == pytest.approx(0.75)


def test_span_recall_refuses_empty_gold() -> None:
    with pytest.raises(ValueError, match="no gold character"):
        span_recall([], [("d", Span(3, 3))])


def test_bootstrap_gives_the_plain_mean_and_bounds_around_it() -> None:
    values = [0.0, 1.0] * 50
    interval = bootstrap(values)
    assert interval.mean == pytest.approx(0.5)
    # the mean of 100 fair draws has a standard deviation of 0.05: its 95 % interval is about 0.5 +- 0.098
    assert interval.low == pytest.approx(0.402, abs=0.02)
    assert interval.high == pytest.approx(0.598, abs=0.02)


def test_bootstrap_repeats_itself_for_a_seed_and_differs_for_another() -> None:
    values = [n / 37 for n in range(37)]
    assert bootstrap(values, seed=1) == bootstrap(values, seed=1)
    assert bootstrap(values, seed=1) != bootstrap(values, seed=2)


def test_bootstrap_of_equal_values_is_a_point() -> None:
    interval = bootstrap([0.25] * 8)
    assert (interval.low, interval.mean, interval.high) == (0.25, 0.25, 0.25)


def test_bootstrap_refuses_no_values() -> None:
    with pytest.raises(ValueError, match="no values"):
        bootstrap([])
