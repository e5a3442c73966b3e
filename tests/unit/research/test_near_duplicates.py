from __future__ import annotations

from random import Random

from asky.research.index.near_duplicates import group_copies, shingles


def text(seed: int, words: int) -> list[str]:
    draw = Random(seed)
    return [f"w{draw.randrange(5000)}" for _ in range(words)]


def test_a_reprint_with_other_text_around_it_is_a_copy() -> None:
    article, menu, other = text(1, 400), text(2, 120), text(3, 400)
    reprint = menu[:60] + article[:300] + menu[60:]

    assert group_copies([shingles(each) for each in (article, other, reprint)]) == [0, 1, 0]


def test_a_text_that_quotes_another_one_and_says_much_more_is_no_copy() -> None:
    release = text(1, 100)

    assert group_copies([shingles(text(2, 600) + release), shingles(release)]) == [0, 1]


def test_short_texts_are_copies_only_where_they_are_the_same() -> None:
    stub = text(1, 40)

    assert group_copies([shingles(each) for each in (stub, [*stub[:-1], "other"], stub)]) == [0, 1, 0]


def test_texts_without_a_shingle_are_never_copies() -> None:
    assert shingles(["one", "two"]) == frozenset()
    assert group_copies([shingles([]), shingles([])]) == [0, 1]
    assert group_copies([]) == []


def test_groups_do_not_chain() -> None:
    first, second = text(1, 200), text(2, 200)
    between = first[-110:] + second[:110]

    groups = group_copies([shingles(each) for each in (first, between, second)])

    assert groups[0] != groups[2]


def test_a_shingle_is_the_same_number_in_every_process() -> None:
    assert shingles(["a", "b", "c", "d", "e"]) == {3602959311}
