"""Numbers of a claim that its evidence gives to something else."""

from __future__ import annotations

import pytest

from asky.evidence.verification.nearest import doubted_number

FEES = "A night costs 18 for members and 27 for others. Children under twelve stay for nothing."
BILL = "You owe us 96 euros in all; the labour was 54 of that. Fetch it until 7 on Monday, not on Friday."


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("A night in the hut costs members 27.", FEES),
        ("Members pay 27 a night.", FEES),
        ("The workshop charged 54 euros in all.", BILL),
        ("It can be fetched on Friday until 7.", "Fetch it on Monday until 7. We are shut on Friday and Sunday."),
        ("The train for Lund leaves at 8:15.", "The train for Lund leaves at 7:40 and the bus, on most days, at 8:15."),
        ("The hut has beds for forty people.", "The hut has beds for 14 people. The spring is 40 steps behind."),
    ],
)
def test_the_words_of_a_claim_stand_nearer_to_another_number(claim: str, evidence: str) -> None:
    assert doubted_number(claim, evidence) is not None


def test_the_number_is_named_as_the_claim_has_it() -> None:
    found = doubted_number("The hut has forty beds.", "The hut has 14 beds. The spring is 40 steps behind it.")
    assert found is not None
    assert found.written == "forty"
    assert found.odds > 0.1


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("A night costs members 18.", FEES),
        ("Others pay 27.", FEES),
        ("The labour was 54.", BILL),
        ("The workshop wants 96 euros in all.", BILL),
        ("The hut has beds for fourteen people.", "The hut has beds for 14 people. The spring is forty steps away."),
        ("Nothing is said of numbers.", BILL),
        ("There are 300 boats.", BILL),
        ("It costs 96 euros.", "It costs 96 euros."),
        ("", ""),
    ],
)
def test_what_stands_with_its_number_is_not_doubted(claim: str, evidence: str) -> None:
    assert doubted_number(claim, evidence) is None


def test_a_long_text_of_numbers_is_read() -> None:
    assert doubted_number("The total is 7 boats.", "boats 8 total " * 300 + "7") is not None
