from __future__ import annotations

import pytest

from asky.llm.extractive.measures import may_measure, measures


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many parameters does the model have?", "It has 770M trainable parameters."),
        ("how many chapters", "The book has twelve chapters."),
        ("How many people live in Clare?", "About 1,200 people live there."),
        ("How long are snapshots kept?", "By default they are kept for 7 days."),
        ("How long is the boat?", "She is 12.5 m long."),
        ("How old is the mill?", "It stood for 200 years."),
        ("How often is it backed up?", "A copy is made every night."),
        ("How big is the file?", "The model takes 207 MB on disk."),
        ("how heavy is it", "It weighs 3 kg."),
        ("How far ahead must I book?", "Book at least three weeks ahead."),
        ("how much notice do they need", "Give one month's notice."),
        ("How early may I come?", "The doors open 30 minutes before."),
        ("How much does the repair cost?", "The miller paid $40."),
        ("What is the price of a ticket?", "A ticket is 12 EUR."),
        ("What does a student pay?", "Guest: Student; Weekend: 24 crowns"),
        ("How much does it cost?", "The repair costs 1,200 kr."),
        ("How much does the millstone weigh?", "Part: Millstone; Weight (kg): 118,0"),
        ("How much does the millstone weigh?", "The millstone weighs 900 kg."),
        ("What size of sail does she need?", "We need a sail of 11 by 7 metres."),
    ],
)
def test_a_number_of_what_is_asked_for_is_recognised(question: str, text: str) -> None:
    assert measures(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many parameters does the model have?", "The parameters are tuned in 3 rounds."),
        ("How long are snapshots kept?", "They are kept outside of the vault since 2019."),
        ("How heavy is it?", "It is 3 m long."),
        ("How often is it backed up?", "It was backed up in 2019."),
        ("How do I open 3 files?", "Open 3 files."),
        ("How many?", "There are 3 files."),
        ("How far ahead must I book?", "It is 3 km ahead."),
    ],
)
def test_other_numbers_are_not(question: str, text: str) -> None:
    assert not measures(question, text)


@pytest.mark.parametrize(
    ("question", "text", "may"),
    [
        ("How many students were in the class?", "Students explored small populations.", False),
        ("How many students were in the class?", "A dozen students came.", True),
        ("How many students were in the class?", "None came.", True),
        ("How much does it cost per month?", "Students get 40% off for 12 months.", False),
        ("How much does it cost per month?", "It is 5 USD.", True),
        ("How much does it cost?", "It is free.", True),
        ("What does it do?", "It grinds.", True),
    ],
)
def test_without_a_number_nothing_is_measured(question: str, text: str, may: bool) -> None:
    assert may_measure(question, [text]) == may
    assert may_measure(question, [text, "and costs 3 EUR for 12 students"])


@pytest.mark.parametrize(
    ("asked", "told", "is_told"),
    [
        ("experiments", "we ran three experiments", True),
        ("experiments", "I discuss two personal experiences", False),
        ("cities", "one city and no other", True),
        ("cities", "it has 12 cities", True),
        ("batches", "a single batch, 1 batch", True),
        ("boxes", "put 3 box files there", True),
        ("keys", "returns all five keys", True),
    ],
)
def test_what_is_counted_is_the_noun_and_not_another_with_its_stem(asked: str, told: str, is_told: bool) -> None:
    assert measures(f"how many {asked} are there", told) is is_told


@pytest.mark.parametrize(
    "asked", ["how much is the rent per month", "how much was the deposit", "how much is his salary"]
)
def test_rent_deposit_and_salary_are_amounts_of_money(asked: str) -> None:
    assert measures(asked, "payable in monthly instalments of £950 in advance")
    assert not measures(asked, "payable in 12 instalments")


@pytest.mark.parametrize(
    ("question", "text", "may"),
    [
        ("Which version of NumPy does it need?", "NumPy is needed for 11 lessons.", False),
        ("Which version of NumPy does it need?", "It needs NumPy 1.26 or later.", True),
        ("serial number of the frame", "Frame: Bergfee 3; hours: 1", False),
        ("password of the database", "database.name: mills", False),
        ("password of the database", "database.password: flour", True),
        ("warranty period of the battery", "Sent in under warranty on 12 April, 0.5 h", True),
        ("warranty period of the battery", "The battery was sent in under warranty.", False),
    ],
)
def test_what_is_written_in_a_form_of_its_own_has_to_be_there(question: str, text: str, may: bool) -> None:
    assert may_measure(question, [text]) == may
