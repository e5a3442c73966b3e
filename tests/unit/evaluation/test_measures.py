"""The measures against values that were worked out by hand, as trec_eval defines them."""

from __future__ import annotations

import math

import pytest

from asky.evaluation.measures import average_precision, first_occurrences, ndcg, recall, reciprocal_rank


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


def test_reciprocal_rank_looks_at_the_first_relevant_document_only() -> None:
    assert reciprocal_rank(["x", "a", "b"], {"a": 1, "b": 2}) == pytest.approx(0.5)


def test_reciprocal_rank_is_zero_beyond_the_cut() -> None:
    assert reciprocal_rank(["x", "y", "a"], {"a": 1}, k=2) == 0.0


def test_first_occurrences_keeps_the_order() -> None:
    assert first_occurrences(["b", "a", "b", "c", "a"]) == ("b", "a", "c")


def test_ndcg_counts_a_negative_judgement_as_not_relevant() -> None:
    assert ndcg(["bad", "a"], {"a": 1, "bad": -2}) == pytest.approx(1 / math.log2(3))


def test_reciprocal_rank_without_a_cut_looks_at_the_whole_ranking() -> None:
    assert reciprocal_rank([*map(str, range(19)), "a"], {"a": 1}, None) == pytest.approx(1 / 20)


def test_average_precision_is_the_mean_precision_at_each_relevant_document() -> None:
    # relevant at ranks 1, 3 and 6, and one that is not ranked: (1/1 + 2/3 + 3/6 + 0) / 4
    ranked = ["a", "x", "b", "y", "z", "c"]
    assert average_precision(ranked, {"a": 1, "b": 2, "c": 1, "d": 1, "x": 0}) == pytest.approx((1 + 2 / 3 + 0.5) / 4)


def test_average_precision_refuses_a_question_without_relevant_documents() -> None:
    with pytest.raises(ValueError, match="no relevant document"):
        average_precision(["a"], {"a": 0})
