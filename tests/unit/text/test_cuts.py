from __future__ import annotations

import pytest

from asky.text.cuts import between_characters, cut_between

FAMILY = "👩\u200d👩\u200d👧"


@pytest.mark.parametrize(
    ("text", "end", "before"),
    [
        ("one two\nthree four", 14, "one two"),
        ("one\ntwo three four", 16, "one\ntwo three"),
        ("one two three", 9, "one two"),
        ("one two  three", 9, "one two"),
        ("unbroken", 5, "unbro"),
    ],
    ids=["a late line break", "no early one", "between words", "no space left behind", "within a word"],
)
def test_a_text_is_cut_at_the_best_place_that_is_near(text: str, end: int, before: str) -> None:
    assert text[: cut_between(text, 0, end)] == before


@pytest.mark.parametrize("whole", ["e\u0301", "👍\U0001f3fd", FAMILY, "❤\ufe0f"])
def test_no_cut_parts_what_is_seen_as_one_character(whole: str) -> None:
    text = f"abc{whole}def"
    for end in range(4, 4 + len(whole) - 1):
        assert between_characters(text, 0, end) == 3
    assert between_characters(text, 0, 3 + len(whole)) == 3 + len(whole)


def test_a_cut_is_behind_the_start_and_not_far_before_the_end() -> None:
    assert between_characters(FAMILY, 0, 0) == 1
    assert between_characters("e" + "\u0301" * 40, 0, 30) == 14
