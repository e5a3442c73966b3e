"""In which order pages are read."""

from __future__ import annotations

from asky.agent.reading_order import SearchRanking, order_pages


def addresses(*rankings: tuple[int, str], about: set[int]) -> str:
    return "".join(each for each, _ in order_pages([SearchRanking(*each) for each in rankings], about))


def test_what_several_searches_return_comes_before_what_one_ranks_first() -> None:
    assert addresses((0, "abcx"), (0, "defx"), about={0}) == "xadbecf"


def test_a_sub_question_with_one_search_is_not_behind_one_with_many() -> None:
    assert addresses((0, "ab"), (0, "ab"), (0, "ab"), (1, "cd"), about={0, 1}) == "acbd"


def test_only_pages_for_the_sub_questions_asked_are_read_each_for_the_best_one() -> None:
    rankings = [SearchRanking(0, "ab"), SearchRanking(1, "ba"), SearchRanking(2, "c")]
    assert order_pages(rankings, {0, 1}) == [("a", 0), ("b", 1)]
    assert order_pages(rankings, {1}) == [("b", 1), ("a", 1)]
    assert order_pages(rankings, set()) == []


def test_an_address_twice_in_one_ranking_counts_once() -> None:
    assert addresses((0, "abb"), about={0}) == "ab"
