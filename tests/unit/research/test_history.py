from __future__ import annotations

import pytest

from asky.research.writing.history import contextual_query

TIDES = "How many high tides does the moon raise in a day?"


@pytest.mark.parametrize("question", ["And how often?", "What about the sun?", "why", "How long does that take?"])
def test_a_follow_up_goes_with_the_last_question_that_says_what_it_is_about(question: str) -> None:
    assert contextual_query(question, [TIDES]) == f"{TIDES} {question}"
    assert (
        contextual_query(question, ["Old words that say quite enough here?", TIDES, "And when?"])
        == f"{TIDES} {question}"
    )
    assert contextual_query(question, ["What are tides?", "And how often?"]) == f"What are tides? {question}"


def test_a_topic_that_a_follow_up_has_brought_in_goes_with_what_it_was_asked_of() -> None:
    earlier = ["What is bread?", TIDES, "And why?", "What about the wind?", "What about the sun?", "And how often?"]
    assert contextual_query("And why?", earlier) == f"{TIDES} What about the sun? And why?"
    assert contextual_query("And why?", ["What about the sun?"]) == "What about the sun? And why?"


@pytest.mark.parametrize(
    "question", [TIDES, "Which bread rises fastest without yeast?", "What is bread?", "潮は何時ですか", "Was ist Brot?"]
)
def test_a_question_that_says_enough_goes_alone(question: str) -> None:
    assert contextual_query(question, ["What pulls the water of the sea?"]) == question


def test_a_first_question_goes_alone_and_what_goes_before_is_cut() -> None:
    assert contextual_query("And when?", []) == "And when?"
    assert contextual_query("And when?", ["And how often?"]) == "And when?"  # which says nothing either
    assert contextual_query("And why?", [TIDES, "thanks!", "ok great"]) == f"{TIDES} And why?"
    assert len(contextual_query("And when?", [TIDES * 100])) < 320
    assert len(contextual_query("And when?", [TIDES * 100, f"And the sun? {'It ' * 1000}"])) < 320
