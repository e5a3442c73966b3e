"""Which words are titles, and where they may stand in a text."""

from __future__ import annotations

import pytest

from asky.text.titles import (
    MAX_STARTS,
    fold,
    forms_of,
    has_capitals_of,
    head_of,
    heads_in,
    runs_in,
    tells,
    title_words,
    titles_in,
)

TITLES = ["Ed Wood", "Ed Wood Memorial Hall", "Wood", "Notes", "1984", "北京大学", "مكتبة الإسكندرية"]


def found(text: str, titles: list[str] = TITLES) -> list[str]:
    words = title_words(text)
    named = {title_words(each): each for each in titles}
    longest: dict[str, int] = {}
    for each in named:
        longest[head_of(each)] = max(longest.get(head_of(each), 0), len(each))
    longest = {head: longest[head] for head in heads_in(words) & longest.keys()}
    return [" ".join(run) for run in titles_in(runs_in(words, longest), named.keys())]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Scott Weinger played in Ed Wood's film.", ["Ed Wood"]),
        ("The Ed Wood Memorial Hall is open.", ["Ed Wood Memorial Hall"]),  # not the shorter one inside of it
        ("Ed Wood Memorial was a prize.", ["Ed Wood"]),
        ("It is made of wood, and notes are taken.", []),
        ("See Notes.", ["Notes"]),
        ("他在北京大学学习。", ["北 京 大 学"]),
        ("زرت مكتبة الإسكندرية أمس", ["مكتبة الإسكندرية"]),
        ("", []),
    ],
)
def test_titles_stand_in_a_text_with_their_capitals(text: str, expected: list[str]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("title", "forms"),
    [
        ("Ed Wood (film)", [("Ed", "Wood", "film"), ("Ed", "Wood")]),
        ("Ed Wood", [("Ed", "Wood")]),
        ("(untitled)", [("untitled",)]),
        ("--", []),
        ("Cafe\u0301", [("Café",)]),
        ("x" * 301, []),
    ],
)
def test_what_is_added_in_brackets_may_be_left_out(title: str, forms: list[tuple[str, ...]]) -> None:
    assert forms_of(title) == forms


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Ed Wood", True),
        ("eBay", True),
        ("北京", True),
        ("الإسكندرية", True),
        ("It", False),
        ("The", False),
        ("hooks", False),
        ("2024", False),
        ("A B C D E F G H I J K", False),
    ],
)
def test_common_words_and_long_titles_say_nothing(title: str, expected: bool) -> None:
    assert tells(title_words(title)) is expected


def test_more_capitals_than_the_title_has_are_no_hindrance() -> None:
    title = title_words("Getting started")
    assert has_capitals_of(title, ("Getting", "Started"))
    assert has_capitals_of(title, ("GETTING", "STARTED"))
    assert not has_capitals_of(title, ("getting", "started"))


def test_names_are_compared_without_case() -> None:
    assert fold(("Ed", "WOOD")) == fold(("ed", "wood"))


def test_a_long_text_is_looked_through_up_to_a_bound() -> None:
    assert "bob" not in heads_in(title_words("Word " * 10_000 + "Bob"))
    assert len(heads_in(tuple(f"W{number}" for number in range(10_000)))) <= 2 * MAX_STARTS
