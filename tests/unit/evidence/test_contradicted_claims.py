from __future__ import annotations

import pytest

from asky.evidence.verification.roles import roles_exchanged
from asky.evidence.verification.verify import verify_claim


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Ukraine attacked Russia in 2022.", "Russia attacked Ukraine in 2022."),
        ("Russia was attacked by Ukraine.", "Russia attacked Ukraine."),
        ("Gravity is caused by the tides.", "Tides are caused by the gravity of the moon."),
        ("Oil is heavier than water.", "Water is heavier than oil."),
        ("Smith sold the house to Jones.", "Jones sold the house to Smith."),
        ("The mayor fired the chief of police.", "The chief of police fired the mayor."),
        ("Food supply exceeds population growth.", "Population growth exceeds food supply."),
    ],
)
def test_exchanged_roles_are_seen(claim: str, passage: str) -> None:
    assert roles_exchanged(claim, passage)
    assert roles_exchanged(passage, claim)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Ukraine was attacked by Russia.", "Russia attacked Ukraine."),
        ("The gravity of the moon causes the tides.", "Tides are caused by the gravity of the moon."),
        ("Birds, dogs and cats live here.", "Cats, dogs and birds live here."),
        ("Obama met Merkel.", "Merkel met Obama."),
        ("1,400 boats were counted in the 1922 survey.", "In 1922 the survey counted 1,400 boats."),
        ("YouTube, acquired by Google in 2006, is a site.", "Google acquired YouTube, a site, in 2006."),
        ("Jones and Smith sold the house.", "Smith and Jones sold the house."),
        ("Excuse is a 2014 Egyptian comedy film.", "Excuse is a 2014 Egyptian film comedy."),
    ],
)
def test_the_same_roles_in_other_words_are_left_alone(claim: str, passage: str) -> None:
    assert not roles_exchanged(claim, passage)
    assert not roles_exchanged(passage, claim)


@pytest.mark.parametrize(
    ("claim", "passage", "by"),
    [
        ("Sales of boats grew in the north.", "Sales of boats levelled off in the north.", "opposite"),
        ("The council rejected the new harbour plan.", "The council approved the new harbour plan.", "opposite"),
        ("The southern harbour is deep and calm.", "The northern harbour is deep and calm.", "opposite"),
        ("Revenue fell by 12 % in 2022.", "Revenue of the merged group grew by 12 % in 2022.", "opposite"),
        ("The harbour master fined the captain.", "The captain fined the harbour master.", "roles"),
        (
            "Contoso acquired Northwind to enter new countries.",
            "In March 2021 Northwind acquired Contoso for 340 million euros in cash and shares.",
            "roles",
        ),
        ("The old harbour was closed in winter.", "The old harbour was not closed in winter.", "negation"),
        ("The pier of Fundy has 40 lamps.", "The pier of Fundy has 12 lamps.", "number"),
    ],
)
def test_a_sentence_that_differs_in_one_thing_contradicts(claim: str, passage: str, by: str) -> None:
    check = verify_claim(claim, [f"{passage} Nobody lives there any more."])
    assert (check.verdict, check.checks["contradicted_by"]) == ("contradicted", by)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Profit fell in 2022.", "Revenue of the merged group in the north of the country grew by 12 % in 2022."),
        ("The sheet was shaken to dry the crumbs.", "To help the crumbs dry, the sheet was shaken twice by hand."),
    ],
)
def test_other_things_in_some_of_the_same_words_contradict_nothing(claim: str, passage: str) -> None:
    assert verify_claim(claim, [passage]).checks["contradicted_by"] is None


def test_a_sentence_that_agrees_outweighs_an_opposite_word_elsewhere() -> None:
    text = "Sales of boats grew in the north. Sales of boats fell in the north in winter."
    assert verify_claim("Sales of boats grew in the north.", [text]).verdict == "supported"


def test_a_number_of_something_else_contradicts_nothing() -> None:
    claim = "Douglas served on the court from 1939 to 1975."
    check = verify_claim(claim, ["Douglas of the court, who served, in a picture of 1948."])
    assert (check.verdict, check.checks["contradicted_by"]) == ("unsupported", None)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The shop closes at 9 pm.", "The shop closes at 21:00."),
        ("It happened in the 1970s.", "It happened in 1979."),
        ("Potatoes came in the 16th century.", "Potatoes came in 1562."),
        ("The season of 2018-2019 was wet.", "The season of 2018–19 was wet."),
        ("Over 130 clubs exist.", "136 clubs exist."),
        ("About 7,000 people came.", "6,987 people came."),
        ("4. Turn on the lamp.", "Turn on the lamp."),
    ],
)
def test_a_number_in_another_form_is_held(claim: str, passage: str) -> None:
    check = verify_claim(claim, [passage])
    assert (check.verdict in ("supported", "partial"), check.checks["missing_numbers"]) == (True, [])


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The shop closes at 9 pm.", "The shop closes at 20:00."),
        ("It happened in the 1970s.", "It happened in 1989."),
        ("It happened in 1979.", "It happened in the 1970s."),
        ("Heat the food to 80°C.", "Heat the food to 165 °F."),
        ("Over 130 clubs exist.", "120 clubs exist."),
        ("About 7,000 people came.", "8,000 people came."),
    ],
)
def test_another_number_is_missing(claim: str, passage: str) -> None:
    assert verify_claim(claim, [passage]).checks["missing_numbers"]
