"""Things that a question names by a word with a number."""

from __future__ import annotations

import pytest

from asky.llm.extractive.numbered import names_another, numbered_things, stands_in


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What is the chain length of Buoy 50?", {("buoy", "50")}),
        ("What is in room no. B12 now?", {("room", "b12")}),
        ("Which port has lamp_080?", {("lamp", "80")}),
        ("How many came in 2025?", set()),
        ("What is 50?", set()),
        ("What was told on 1 October 2025?", set()),
    ],
)
def test_a_word_with_a_number_behind_it_names_a_thing(question: str, named: set[tuple[str, str]]) -> None:
    assert {(each.word, each.number) for each in numbered_things(question)} == named


@pytest.mark.parametrize(
    ("question", "text", "stands", "another"),
    [
        ("How long is the chain of Buoy 50?", "Buoy: Buoy 40; Chain length: 50 m", False, True),
        ("How long is the chain of Buoy 50?", "Buoy: Buoy 50; Chain length: 60 m", True, False),
        ("How long is the chain of Buoy 50?", "Buoy: 50; Chain length: 40 m", True, False),
        ("How long is the chain of Buoy 50?", "Buoy: 40; Chain length: 50 m", False, True),
        ("How long is the chain of Buoy 50?", "Buoy 40 has a chain of 50 m.", False, True),
        ("How long is the chain of Buoy 50?", "Buoys 40, 45 and 50 have a chain of 60 m.", True, False),
        ("How long is the chain of Buoy 5?", "Buoy 05 | 15 m", True, False),
        ("Who made order 5501?", "Order no.: 5501; Customer: Ana", True, False),
        ("Who made order 5,501?", "Order 5501 is of Ana.", True, False),
        ("Who made order 5501?", "No.: 5501; Customer: Ana", False, False),
        ("Who made order 5501?", "Order no.: 5502; Paid with: 5501; Customer: Ana", False, True),
        ("How many visitors 2025?", "Chart “Visitors”: 2024 = 9120; 2025 = 10480", False, False),
        ("How many guests 2023?", "guests; 2022: 40; 2023: 12", False, False),
        ("Who scored 50 points?", "Ada scored 40 at first, and 50 points in the end.", False, False),
        ("What is on pier 5?", "The 5 piers are of wood.", True, False),
    ],
)
def test_a_text_names_the_thing_or_another(question: str, text: str, *, stands: bool, another: bool) -> None:
    (thing,) = numbered_things(question)
    assert (stands_in(thing, text), names_another([thing], text)) == (stands, another)


def test_the_heading_above_names_the_thing() -> None:
    assert not names_another(numbered_things("What is in room 12?"), "Like room 14 it has 12 beds.", "Rooms › Room 12")


def test_a_long_text_takes_little_time() -> None:
    text = "buoy 1 " * 20_000 + "; 2"
    assert names_another(numbered_things("Where is buoy 2?"), text)
