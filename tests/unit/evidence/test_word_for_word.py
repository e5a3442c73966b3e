"""What counts as word for word, and what a model or a document could pass off as it."""

from __future__ import annotations

import pytest

from asky.evidence.verification.verify import verify_answer, verify_claim
from asky.evidence.verification.word_for_word import WholeUnits
from tests.support.timing import check_linear

TRIAL = """# Results

The trial measured blood pressure in 120 people. It fell by 4.1 mmHg (95 % CI 2.0–6.2), from 142 to 138.
Nobody in the control group was “seriously ill”; two left – for other
reasons. The well-known side effects of the drug were rare. Was it worth it? See [the guide](https://trial.example/a).

## Doses and *timing*

1. Take 5 mg with water. Wait 30 minutes.
2. Never take more than 20 mg at −5 °C or 2*10 drops.

| Group | Fall |
|---|---|
| drug | 4.1 |
| control | 0.3 |
"""


def test_each_line_of_the_properties_of_a_note_is_a_unit() -> None:
    note = '---\npages: 528\nauthor:\n  - "[[Kevin Kelly]]"\ngenre:\n  - "[[Futurism]]"\nyear: 1992\n---\n\nA book.\n'
    units = WholeUnits(note)
    for claim in ('"Kevin Kelly"', "Futurism", "pages: 528", "year: 1992", "A book."):
        assert units.find(claim) is not None, claim
    assert units.find("pages: 52") is None
    assert units.find("genre: 1992") is None


@pytest.mark.parametrize(
    ("claim", "place"),
    [
        ("The trial measured blood pressure in 120 people.", "The trial measured blood pressure in 120 people."),
        ("the trial measured blood  pressure in 120 people", "The trial measured blood pressure in 120 people."),
        ("It fell by 4.1 mmHg (95 % CI 2.0-6.2), from 142 to 138.", None),
        ('Nobody in the control group was "seriously ill"; two left — for other reasons.', None),
        ("“The well-known side effects of the drug were rare.”", None),
        ("The well‑known side eﬀects of the drug were rare", None),
        ("Was it worth it?", None),
        ("See the guide.", None),
        ("Results", "Results"),
        ("Doses and timing", None),
        ("Take 5 mg with water.", "Take 5 mg with water."),
        ("1. Take 5 mg with water.", "Take 5 mg with water."),
        ("Take 5 mg with water. Wait 30 minutes.", None),
        ("drug; 4.1", "| drug | 4.1 |"),
        ("drug | 4.1", "| drug | 4.1 |"),
    ],
)
def test_whole_units_are_found_whatever_their_typography(claim: str, place: str | None) -> None:
    found = WholeUnits(TRIAL).find(claim)
    assert found is not None
    if place is not None:
        assert TRIAL[found.start : found.end] == place
    check = verify_claim(claim, [TRIAL])
    assert (check.verdict, check.score) == ("supported", 1.0)
    assert check.checks["quotation"] == {"n": 1, "start": found.start, "end": found.end}


@pytest.mark.parametrize(
    "claim",
    [
        "The trial measured blood pressure in 12 people.",
        "The trial measured blood pressure.",
        "measured blood pressure in 120 people",
        "The trial measured blood pressure in 120 People.",
        "Blood pressure in 120 people measured the trial.",
        "It fell by 41 mmHg (95 % CI 2.0–6.2), from 142 to 138.",
        "Nobody in the control group was “seriously ill”",
        "The well-known side effects of the drug were not rare.",
        "Was it worth it.",
        "It was worth it.",
        "2. Take 5 mg with water.",
        "Take 5 Mg with water.",
        "Never take more than 20 mg at 5 °C or 2*10 drops.",
        "Never take more than 20 mg at −5 °C or 210 drops.",
        "take more than 20 mg at −5 °C or 2*10 drops.",
        "drug; 0.3",
        "drug | 4.1 | 120",
        "4.1",
        "Yes.",
        "",
    ],
)
def test_parts_of_units_and_altered_units_are_no_quotations(claim: str) -> None:
    assert WholeUnits(TRIAL).find(claim) is None
    assert not verify_claim(claim, [TRIAL]).checks.get("quotation")


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("It is false that the moon is made of cheese.", "The moon is made of cheese."),
        ("It is false that\nthe moon is made of cheese.", "The moon is made of cheese."),
        ("Nobody has ever shown that\nMars has canals that were dug.", "Mars has canals that were dug."),
        ("Untrue: the moon is made of cheese.", "The moon is made of cheese."),
        ("The drug is safe, but only for mice.", "The drug is safe."),
        ("The drug is safe unless\nit is swallowed.", "The drug is safe."),
        ("The drug is safe...", "The drug is safe."),
        ("Is the drug safe?", "Is the drug safe."),
        ("The drug is safe?", "The drug is safe."),
        ("He lied: “The moon is near. The drug is safe.”", "The drug is safe."),
        ("(They claim: it works. The drug is safe.)", "The drug is safe."),
        ("~~The drug is safe.~~", "The drug is safe."),
        ("The trial ~~did not~~ show that it works.", "The trial did not show that it works."),
        ("<del>The drug is safe.</del>", "The drug is safe."),
        ("The drug is <not> safe.", "The drug is safe."),
        ("The result is x-y of it.", "The result is xy of it."),
        ("<!-- The drug is safe. -->", "The drug is safe."),
        ("%% The drug is safe. %%", "The drug is safe."),
        ("It had 10² parts of it.", "It had 102 parts of it."),
        ("It had 10<sup>6</sup> parts of it.", "It had 106 parts of it."),
        ("It had ½ litre of it.", "It had 1/2 litre of it."),
        ("A 5″ pipe leads to it.", "A 5′ pipe leads to it."),
        ("It costs 1,000 euros.", "It costs 1.000 euros."),
        ("It costs 1 000 euros.", "It costs 1000 euros."),
        ("It takes 10–20 days.", "It takes 1020 days."),
        ("The code is 10 MW.", "The code is 10 mW."),
        ("Never:\n\n- touch the wire with wet hands", "Touch the wire with wet hands."),
        ("The rent does not include:\n- water and heating\n- power", "Power"),
        (
            "It is false that\nNeil Armstrong staged the landing on the moon in a studio.",
            "Neil Armstrong staged the landing on the moon in a studio.",
        ),
        (
            "What the policy does not cover\nWater that rises from the ground below the house.",
            "Water that rises from the ground below the house.",
        ),
        ("The following are false.\n\n1. The moon is made of cheese.\n2. Mars has canals.", "Mars has canals."),
        ("It is not true that:\n\nThe moon is made of cheese. Mars has canals.", "Mars has canals."),
        ("Never:\n- when wet:\n  - touch the wire\n\n- open the door", "open the door"),
        ("These claims are false:\n\n1. The moon is made of cheese.\n2. Mars has canals.", "Mars has canals."),
    ],
)
def test_what_a_passage_turns_round_or_writes_otherwise_is_no_quotation(passage: str, claim: str) -> None:
    assert WholeUnits(passage).find(claim) is None


def test_an_item_counts_where_the_line_above_its_list_is_repeated() -> None:
    passage = "Safety.\n\nNever:\n\n- touch the wire with wet hands\n- open the door\n\nThe door is green."
    alone = verify_answer("- touch the wire with wet hands [1]", {1: passage})
    assert not alone[0].checks["quotation"]
    whole = verify_answer("Never: [1]\n- touch the wire with wet hands [1]\n- open the door [1]", {1: passage})
    assert [bool(claim.checks["quotation"]) for claim in whole] == [True, True, True]
    below = verify_answer("- touch the wire with wet hands [1]\n\nNever: [1]", {1: passage})
    assert not below[0].checks["quotation"]
    assert verify_claim("The door is green.", [passage]).checks["quotation"]


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        (
            "Results\nThe trial of the drug ended in May, as had been planned.",
            "The trial of the drug ended in May, as had been planned.",
        ),
        ("# What is not covered\n\nWater that rises.", "Water that rises."),
        ("- do not boil\n- stir", "stir"),
        ("Never:\n- boil\n\nThe door is green.", "The door is green."),
        ("Never:\n- boil\n\n## Doors\nThe door is green.", "The door is green."),
        ("desk | no | worn\nbed | yes | good", "bed | yes | good"),
        ("We need:\n- flour\n- salt", "salt"),
        ("It was not so. The door is green.", "The door is green."),
    ],
)
def test_what_only_stands_behind_a_denial_is_a_quotation(passage: str, claim: str) -> None:
    assert WholeUnits(passage).find(claim) is not None


def test_an_address_that_the_passage_lacks_is_not_hidden_in_a_quotation() -> None:
    passage = "Pay at https://bank.example/pay before noon. Read [the terms](https://bank.example/terms) first."
    same = "Pay at https://bank.example/pay before noon [1]. Read [the terms](https://bank.example/terms) first [1]."
    assert all(claim.checks["quotation"] for claim in verify_answer(same, {1: passage}))
    other = same.replace("bank", "thief")
    assert not any(claim.checks["quotation"] for claim in verify_answer(other, {1: passage}))
    mail = "Write to Ann <ann@bank.example> before noon."
    assert verify_answer(f"{mail} [1]", {1: mail})[0].checks["quotation"]
    assert not verify_answer(f"{mail.replace('bank', 'thief')} [1]", {1: mail})[0].checks["quotation"]


def test_a_quotation_stands_in_the_passage_that_is_named() -> None:
    passages = {1: "The sun is *far* away.", 4: "See **this**.\n\nThe moon is [near](a.md) to us. It pulls."}
    (claim,) = verify_answer("The moon is near to us [1][4].", passages)
    place = claim.checks["quotation"]
    assert isinstance(place, dict)
    assert place["n"] == 4
    assert passages[4][place["start"] : place["end"]] == "The moon is [near](a.md) to us."


def test_rows_and_settings_are_units_of_their_own() -> None:
    rows = (
        "item; room; state\nitem: four chairs; room: living room; state: good\nitem: bed; room: bedroom 1; state: good"
    )
    assert WholeUnits(rows).find("item: four chairs; room: living room; state: good")
    assert WholeUnits(rows).find("item; room; state")
    assert not WholeUnits(rows).find("room: living room; state: good")
    settings = "server.port: 8080\nserver.tls: false\nserver.workers: 4"
    assert WholeUnits(settings).find("server.tls: false")
    assert not WholeUnits(settings).find("tls: false")


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("a. ", "a. "),
        ("word ", "word "),
        ("a: b; c: d\n", "a: b; c: d\n"),
        ("- a\n", "not:\n- a\n"),
        ("“a” ", "“a” "),
        ("a|", "a|b|\n"),
        ("* 1*1 ", "* 1*1 "),
        ("<del>", "<del>"),
        ("[a](b", "[a](b"),
    ],
)
def test_hostile_claims_and_passages_take_linear_time(claim: str, passage: str) -> None:
    def check(chars: int) -> None:
        units = WholeUnits(passage * (chars // len(passage)))
        units.find(claim * (chars // len(claim) // 2), written=claim, answer=claim * (chars // len(claim)))
        units.contain(claim * (chars // len(claim) // 2))

    check_linear(check, 3_000)
