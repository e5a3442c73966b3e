"""How two scores become one, and how repetition is held back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.research.ranking import DIVERSE, DUPLICATE_WINDOW, Selection, diversify, fuse, raise_near_the_best, select

NOTHING = (0.0, 0.0)


def fused(
    cosines: Sequence[float],
    words: Sequence[float] = NOTHING,
    pairs: Sequence[float] = NOTHING,
    *,
    dense_weight: float = 0.7,
) -> list[float]:
    arrays = (np.array(each, dtype=np.float32) for each in (cosines, words, pairs))
    return [pytest.approx(each, abs=1e-6) for each in fuse(*arrays, dense_weight=dense_weight).tolist()]


def order(scores: Sequence[float], documents: Sequence[int], vectors: Sequence[Sequence[float]] | None = None) -> str:
    """The positions in the order of `diversify`, as digits."""
    rows = None if vectors is None else np.array(vectors, dtype=np.float32)
    ranked = diversify(np.array(scores, dtype=np.float32), np.array(documents, dtype=np.int64), rows)
    return "".join(map(str, ranked.tolist()))


def at_cosine(cosine: float) -> list[float]:
    """A unit vector with this cosine to `[1, 0]`."""
    return [cosine, float(np.sqrt(1 - cosine**2))]


# one score of two


def test_a_score_is_the_cosine_and_the_share_of_the_best_lexical_score_weighed() -> None:
    assert fused([0.5, 0.25], [8.0, 2.0]) == [0.7 * 0.5 + 0.3, 0.7 * 0.25 + 0.3 * 0.25]
    assert fused([0.5, 0.25], [8.0, 2.0], dense_weight=0.4) == [0.4 * 0.5 + 0.6, 0.4 * 0.25 + 0.6 * 0.25]


def test_a_pair_of_words_that_stand_together_adds_a_fifth_of_its_score_to_that_of_the_words() -> None:
    assert fused([0.0, 0.0], [1.0, 1.0], [5.0, 0.0]) == [0.3, 0.3 * 1 / 2]
    assert fused([0.0, 0.0], [0.8, 1.0], [2.0, 0.0]) == [0.3, 0.3 * 1.0 / 1.2]


def test_a_chunk_without_a_vector_gets_the_lowest_cosine_of_the_others() -> None:
    nan = float("nan")
    assert fused([0.5, nan, 0.25], [0.0, 4.0, 4.0], [0.0] * 3) == [0.35, 0.7 * 0.25 + 0.3, 0.7 * 0.25 + 0.3]
    assert fused([0.5, nan, -0.25], [0.0] * 3, [0.0] * 3) == [0.5, -0.25, -0.25]


def test_where_no_chunk_has_a_vector_words_decide_alone() -> None:
    nan = float("nan")
    assert fused([nan, nan], [1.0, 4.0]) == [0.25, 1.0]
    assert fused([nan, nan]) == [0.0, 0.0]


def test_where_no_word_matches_the_cosine_is_the_score_and_may_be_negative() -> None:
    assert fused([0.5, -0.1]) == [0.5, -0.1]


def test_a_score_does_not_depend_on_the_poor_candidates_that_came_along() -> None:
    alone = fuse(*(np.array(each, dtype=np.float32) for each in ([0.5], [8.0], [1.0])), dense_weight=0.7)
    among = fuse(
        *(np.array(each, dtype=np.float32) for each in ([0.5, -0.4], [8.0, 0.1], [1.0, 0.0])), dense_weight=0.7
    )
    assert among[0] == alone[0]


def test_no_candidates_have_no_scores() -> None:
    assert fused([], [], []) == []
    assert order([], []) == ""


# repetition


def test_the_second_chunk_of_a_document_is_held_back_and_later_ones_more() -> None:
    assert order([1.0, 0.99, 0.97], [1, 1, 2]) == "021"  # .99 * .96 is .9504
    assert order([1.0, 0.99, 0.95], [1, 1, 2]) == "012"
    assert order([1.0, 0.99, 0.98, 0.91], [1, 1, 1, 2]) == "0132"  # .98 * .92 is .9016
    assert order([1.0, 0.99, 0.98, 0.90], [1, 1, 1, 2]) == "0123"


def test_the_fourth_chunk_of_a_document_is_held_back_as_the_third() -> None:
    assert order([1.0, 0.99, 0.98, 0.97, 0.89], [1, 1, 1, 1, 2]) == "01234"  # .97 * .92 is .8924
    assert order([1.0, 0.99, 0.98, 0.97, 0.895], [1, 1, 1, 1, 2]) == "01243"


def test_which_chunk_of_a_document_is_its_first_is_said_by_the_scores_and_not_by_the_input() -> None:
    assert order([0.97, 0.99, 1.0], [2, 1, 1]) == "201"


def test_a_negative_score_is_not_lifted() -> None:
    """A factor of .96 would bring -.100 before -.099."""
    assert order([-0.09, -0.1, -0.099], [1, 1, 2]) == "021"


def test_ties_keep_the_order_of_the_input() -> None:
    assert order([0.5] * 4, [1, 2, 3, 4]) == "0123"


def test_a_chunk_that_nearly_repeats_a_better_one_goes_behind_the_rest() -> None:
    vectors = [[1.0, 0.0], at_cosine(0.96), at_cosine(0.94)]
    assert order([0.9, 0.8, 0.1], [1, 2, 3], vectors) == "021"
    assert order([0.9, 0.8, 0.1], [1, 2, 3]) == "012"


def test_a_chunk_that_is_only_close_to_a_better_one_keeps_its_place() -> None:
    assert order([0.9, 0.8, 0.1], [1, 2, 3], [[1.0, 0.0], at_cosine(0.94), [0.0, 1.0]]) == "012"


def test_what_repeats_only_a_repetition_keeps_its_place() -> None:
    angles = [0.0, 0.2, 0.4]  # each has a cosine of .98 to the next, and the outer ones of .92 to each other
    vectors = [[float(np.cos(angle)), float(np.sin(angle))] for angle in angles]
    assert order([0.9, 0.8, 0.7], [1, 2, 3], vectors) == "021"


def test_chunks_without_vectors_repeat_nothing() -> None:
    assert order([0.9, 0.8, 0.1], [1, 2, 3], [[0.0, 0.0], [0.0, 0.0], [1.0, 0.0]]) == "012"


def test_repetition_is_looked_for_among_the_best_hundred_alone() -> None:
    count = DUPLICATE_WINDOW + 2
    vectors = np.eye(count, dtype=np.float32)
    vectors[1] = vectors[0]
    vectors[-1] = vectors[0]
    scores = np.linspace(1.0, 0.1, count, dtype=np.float32)
    ranked = diversify(scores, np.arange(count), vectors).tolist()
    assert ranked == [0, *range(2, DUPLICATE_WINDOW), 1, DUPLICATE_WINDOW, DUPLICATE_WINDOW + 1]


@given(st.lists(st.tuples(st.floats(-1, 1, width=32), st.integers(1, 4), st.integers(0, 5)), max_size=150))
def test_every_candidate_is_shown_once(candidates: list[tuple[float, int, int]]) -> None:
    scores = np.array([score for score, _, _ in candidates], dtype=np.float32)
    documents = np.array([document for _, document, _ in candidates], dtype=np.int64)
    vectors = np.eye(6, dtype=np.float32)[[which for _, _, which in candidates]]
    assert sorted(diversify(scores, documents, vectors).tolist()) == list(range(len(candidates)))


# selection


def selected(
    scores: Sequence[float],
    vectors: Sequence[Sequence[float]] | None,
    selection: Selection,
    *,
    cosines: Sequence[float] | None = None,
    limit: int = 9,
) -> str:
    """The positions in the order of `select`, as digits; each candidate is a document of its own."""
    rows = None if vectors is None else np.array(vectors, dtype=np.float32)
    found = select(
        np.array(scores, dtype=np.float32),
        np.array(scores if cosines is None else cosines, dtype=np.float32),
        np.arange(len(scores)),
        rows,
        selection=selection,
        limit=limit,
    )
    return "".join(map(str, found.tolist()))


PAIR_AND_ANOTHER = [at_cosine(1.0), at_cosine(0.9), at_cosine(0.0)]


def test_a_cutoff_leaves_out_what_is_not_similar_enough() -> None:
    vectors = [at_cosine(each) for each in (0.6, 0.5, 0.4)]
    assert selected([0.4, 0.5, 0.6], vectors, Selection(cutoff=0.5)) == "21"
    assert selected([0.4, 0.5, 0.6], vectors, Selection(cutoff=0.9)) == ""
    nan = float("nan")
    assert selected([0.4, 0.5, 0.6], vectors, Selection(cutoff=0.5), cosines=[nan, 0.1, 0.7]) == "20"


@pytest.mark.parametrize(("alpha", "expected"), [(1.0, "012"), (0.9, "012"), (0.5, "021"), (0.0, "021")])
def test_less_relevance_takes_what_differs_first(alpha: float, expected: str) -> None:
    assert selected([0.8, 0.7, 0.3], PAIR_AND_ANOTHER, Selection(mmr_alpha=alpha)) == expected


def test_marginal_relevance_is_that_of_the_definition() -> None:
    generator = np.random.default_rng(7)
    vectors = generator.normal(size=(12, 5)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    scores = generator.random(12).astype(np.float32)
    chosen: list[int] = []
    while len(chosen) < 6:
        gains = {
            each: 0.6 * scores[each]
            - 0.4 * max((float(vectors[each] @ vectors[other]) for other in chosen), default=0.0)
            for each in range(12)
            if each not in chosen
        }
        chosen.append(max(gains, key=lambda each: gains[each]))
    found = select(scores, scores, np.arange(12), vectors, selection=Selection(mmr_alpha=0.6), limit=6)
    assert found.tolist() == chosen


def test_without_vectors_the_order_is_that_of_the_scores() -> None:
    assert selected([0.1, 0.3, 0.2], None, Selection(mmr_alpha=0.1), limit=2) == "12"
    assert selected([], [], Selection(mmr_alpha=0.5)) == selected([], None, DIVERSE) == ""


@pytest.mark.parametrize("numbers", [{"cutoff": 1.1}, {"cutoff": float("nan")}, {"mmr_alpha": -0.1}, {"mmr_alpha": 2}])
def test_other_numbers_are_refused(numbers: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must be between"):
        Selection(**numbers)


# nearness to the best


def raised(scores: Sequence[float], vectors: Sequence[Sequence[float]]) -> list[float]:
    rows = np.array(vectors, dtype=np.float32)
    return [pytest.approx(each, abs=1e-6) for each in raise_near_the_best(np.array(scores, np.float32), rows).tolist()]


def test_what_is_near_the_best_candidate_is_raised_by_a_tenth_of_its_cosine_to_it() -> None:
    away = [0.0, 1.0]
    assert raised([0.8, 0.1, 0.1, 0.1], [[1.0, 0.0], [0.0, -1.0], at_cosine(0.6), away])[2] == 0.1 + 0.1 * 0.6
    assert raised([0.8, 0.0], [[1.0, 0.0], at_cosine(0.6)]) == [0.9, 0.06]


def test_nearness_to_the_second_and_third_counts_by_their_share_of_the_best_score() -> None:
    vectors = np.eye(6)[[0, 1, 2, 3, 1, 3]].tolist()
    assert raised([1.0, 0.5, 0.25, 0.2, 0.1, 0.1], vectors) == [1.1, 0.55, 0.275, 0.2, 0.15, 0.1]


def test_a_chunk_without_a_vector_is_as_near_as_the_farthest() -> None:
    assert raised([1.0, 0.5, 0.5], [[1.0, 0.0], at_cosine(0.3), [0.0, 0.0]])[2] == 0.5 + 0.1 * 0.5
    assert raised([1.0, 0.5], [[0.0, 0.0], [0.0, 0.0]]) == [1.0, 0.5]


def test_nothing_is_raised_where_the_best_does_not_match() -> None:
    assert raised([0.0, -0.5], [[1.0, 0.0], [1.0, 0.0]]) == [0.0, -0.5]
