"""The sentence of a second document that the first one leads to."""

from __future__ import annotations

import pytest

from asky.evidence.passages import ShownPassage
from asky.llm.extractive.bridges import linked_units
from asky.llm.extractive.questions import read_question
from asky.llm.extractive.scoring import Scorer
from asky.llm.extractive.units import read_units
from asky.values import Location

FILM = ("Silver Harbour", "Silver Harbour is a film that Ines Brandt directed.")
BORN = ("Ines Brandt", "She likes boats. She was born in Tromsø in 1921.")


def added(question: str, *passages: tuple[str, str]) -> list[str]:
    """What is added to the first sentence of the first passage."""
    shown = [ShownPassage(f"P{number:04}", title, Location(), text) for number, (title, text) in enumerate(passages)]
    scorer = Scorer(shown, read_units(shown))
    first = scorer.quotable[0]
    return [unit.text for unit in linked_units(read_question(question), [first], scorer, shown)]


def test_the_sentence_that_has_the_missing_word_and_the_form_asked_for_is_added() -> None:
    assert added("Where was the director of Silver Harbour born?", FILM, BORN) == ["She was born in Tromsø in 1921."]


@pytest.mark.parametrize(
    ("question", "passages"),
    [
        ("Where was the director of Silver Harbour born?", [FILM]),
        ("Where was the director of Silver Harbour born?", [FILM, ("Brandt family", BORN[1]), ("Boats", BORN[1])]),
        ("Where was the director of Silver Harbour born?", [FILM, ("Ines Brandt", "She was born to bakers.")]),
        ("Which film did Ines Brandt direct?", [FILM, BORN]),
        ("Where was Ines Brandt of Silver Harbour born?", [FILM, BORN]),
        ("What is Silver Harbour?", [FILM, ("Film", "A film is shown in a harbour.")]),
    ],
)
def test_nothing_is_added_that_is_not_led_to_or_says_nothing_new(
    question: str, passages: list[tuple[str, str]]
) -> None:
    assert added(question, *passages) == []
