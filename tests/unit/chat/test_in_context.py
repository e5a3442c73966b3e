from __future__ import annotations

import pytest

from asky.chat.conversation import in_context

TIDES = "How many high tides does the moon raise in a day?"


@pytest.mark.parametrize("question", ["And how often?", "What about the sun?", "why", "How long does that take?"])
def test_a_question_that_says_little_goes_with_the_last_that_says_enough(question: str) -> None:
    assert in_context(question, [TIDES]) == f"{TIDES} {question}"
    assert in_context(question, ["Old words that say quite enough here?", TIDES, "And when?"]) == f"{TIDES} {question}"
    assert in_context(question, ["And when?"]) == f"And when? {question}"


@pytest.mark.parametrize(
    "question", [TIDES, "Which bread rises fastest without yeast?", "What is bread?", "潮は何時ですか", "Und wie oft?"]
)
def test_a_question_that_says_enough_goes_alone(question: str) -> None:
    assert in_context(question, ["What pulls the water of the sea?"]) == question


def test_a_first_question_goes_alone_and_a_long_one_before_is_cut() -> None:
    assert in_context("And when?", []) == "And when?"
    assert len(in_context("And when?", [TIDES * 100])) < 320
