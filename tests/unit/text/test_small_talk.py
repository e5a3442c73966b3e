"""What asks nothing is told from what does."""

from __future__ import annotations

import pytest

from asky.text.small_talk import is_small_talk, is_thanks, needs_no_answer


@pytest.mark.parametrize(
    "text",
    [
        "thanks",
        "Thank you!",
        "thank you very much",
        "Merci beaucoup !",
        "Vielen Dank.",
        "danke schön",
        "muchas gracias",
    ],
)
def test_thanks_are_recognised(text: str) -> None:
    assert is_small_talk(text)
    assert is_thanks(text)
    assert needs_no_answer(text)


@pytest.mark.parametrize("text", ["ok great", "Hello", "bye", "OK", "that's great", "good morning", "super"])
def test_small_talk_is_recognised(text: str) -> None:
    assert is_small_talk(text)
    assert not is_thanks(text)
    assert needs_no_answer(text)


@pytest.mark.parametrize("text", ["yes", "no thanks", "Ja", "oui, merci"])
def test_a_yes_or_no_may_answer_a_model(text: str) -> None:
    assert is_small_talk(text)
    assert not needs_no_answer(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "What is it?",
        "thanks, and who wrote the paper",
        "the",
        "ok?",
        "What about the night?",
        "what happened in the evening",
        "thanks! list the recipes",
        "it",
        "Danke, und wann endet der Vertrag?",
    ],
)
def test_a_question_is_no_small_talk(text: str) -> None:
    assert not is_small_talk(text)
    assert not is_thanks(text)
