"""Who asks for several things gets the whole list, who asks for one its member."""

from __future__ import annotations

from dataclasses import dataclass

import anyio
import pytest

from asky.llm.extractive.code_answers import constants_in
from asky.llm.extractive.model import ExtractiveModel
from asky.llm.extractive.questions import read_question
from asky.llm.extractive.units import read_units
from asky.llm.extractive.whole_lists import asks_several
from asky.llm.port import Message
from asky.research.reader.model import ShippedReader
from asky.values import Location
from tests.support.model_contract import RETRIEVAL_SPEC, read_reply

READER = ShippedReader()


@dataclass(frozen=True)
class Passage:
    text: str
    title: str = "Notes"
    key: str = "Pa001"
    location: Location = Location()  # noqa: RUF009 - a frozen value
    authors: str = ""
    file: str = ""
    linked_from: str = ""
    sections: tuple[tuple[int, str], ...] = ()


def answer(question: str, *texts: str) -> str:
    passages = [Passage(text, key=f"Pa{number:03x}") for number, text in enumerate(texts)]
    model = ExtractiveModel(read_passages=lambda _content: passages, read=READER.answers)
    asked = [Message("user", question)]
    _, reply = anyio.run(read_reply, model, asked, (RETRIEVAL_SPEC,))
    found = [Message("tool", "", tool_call_id=call.id) for call in reply.message.tool_calls]
    text, _ = anyio.run(read_reply, model, [*asked, reply.message, *found], ())
    return text


MINUTES = (
    "# Choir committee\n\nPresent: Oda, Per, Liv.\n\n## Hall\n\nThe hall is booked until June. Action: Oda asks the "
    "school for a cheaper hall.\n\n## Music\n\nThe new pieces are too high for the tenors. Action: Per orders parts "
    "in a lower key.\n\n## Trip\n\nThe ferry costs 40 euros a head. Action: Liv books seats on the ferry."
)
STEPS = (
    "CHANGING THE FILTER\n\nWHAT YOU NEED\n\n- A new filter, type F7.\n- A cloth.\n\nSTEPS\n\n"
    "1. Turn the boiler off at the mains. Wait for ten minutes.\n2. Open the flap with the two clips.\n"
    "3. Pull the old filter out and wipe the frame.\n4. Slide the new filter in, arrow up.\n5. Close the flap.\n"
)
PLAN = (
    "# Garden wall\n\nWe rebuild the wall along the lane.\n\n## Risks\n\nFrost may come before the mortar is dry. The "
    "neighbour's tree stands close to the wall.\n\n## Costs\n\nStones cost 2,400 euros. The mason wants 1,900 euros."
)


def test_what_begins_with_the_label_that_is_asked_for_is_told_together() -> None:
    text = answer("What are the actions?", MINUTES)
    assert all(name in text for name in ("Oda asks", "Per orders", "Liv books"))


def test_steps_are_told_all_in_their_order_and_not_what_is_needed() -> None:
    text = answer("What are the steps?", STEPS)
    places = [text.index(said) for said in ("boiler off", "two clips", "old filter out", "arrow up", "Close the flap")]
    assert places == sorted(places)
    assert "A cloth" not in text


@pytest.mark.parametrize(
    ("question", "told", "not_told"),
    [
        ("What are the risks?", ("Frost", "neighbour's tree"), "1,900"),
        ("Which costs are there?", ("2,400", "1,900"), "Frost"),
    ],
)
def test_a_section_that_the_question_names_is_told_whole(question: str, told: tuple[str, ...], not_told: str) -> None:
    text = answer(question, PLAN)
    assert all(each in text for each in told)
    assert not_told not in text


def test_one_thing_is_told_alone() -> None:
    assert "Liv" not in answer("What does Per have to order?", MINUTES)
    assert "Close the flap" not in answer("How long do I wait after I turn the boiler off?", STEPS)


@pytest.mark.parametrize(
    ("question", "several"),
    [
        ("What are the risks?", True),
        ("Which ports are open?", True),
        ("Who attended the meeting?", True),
        ("List the suppliers", True),
        ("What is the deadline?", False),
        ("Who wrote the report?", False),
        ("How much does it cost?", False),
        ("When does the lease end?", False),
        ("Which berth does the Nordlys have?", False),
        ("What colour is the bus?", False),
        ("Which boats have paid?", True),
    ],
)
def test_questions_for_several_things_are_recognised(question: str, several: bool) -> None:
    assert asks_several(read_question(question)) == several


def test_steps_are_told_before_an_item_that_names_what_is_asked() -> None:
    diary = "# Wednesday\n\n- Read two chapters.\n- The old filter was full, so I changed the filter. Quiet since.\n"
    steps = (
        "# Changing the filter\n\n1. Turn the boiler off and wait until it is cold.\n2. Open the flap and pull the old "
        "filter out.\n3. Push the new filter in with its arrow up.\n4. Close the flap, and turn the boiler on again.\n"
    )
    text = answer("How do I change the filter?", diary, steps)
    assert "Push the new filter in" in text
    assert "two chapters" not in text


def test_who_asks_for_one_row_of_a_table_gets_that_row() -> None:
    rows = "\n".join(
        f"Berth: A{n}; Boat: {boat}; Dues: {40 * n}" for n, boat in enumerate(["Petrel", "Svea", "Skua"], 1)
    )
    text = answer("Which berth does the Svea have?", f"Berths\n{rows}")
    assert "Berth: A2" in text
    assert "A1" not in text
    assert "A3" not in text


def test_the_value_of_a_constant_is_told_with_the_code_that_uses_it() -> None:
    code = "MAX_TRIES = 7\n\n\ndef fetch(url):\n    return get(url, retries=MAX_TRIES)\n\n\ndef close():\n    pass\n"
    units = read_units([Passage(code, title="client.py")])
    using = [unit for unit in units if "get(url" in unit.text]
    assert [unit.text for unit in constants_in(using, units)] == ["MAX_TRIES = 7"]
    assert constants_in(units[:1], units) == []
    assert constants_in([unit for unit in units if "close" in unit.text], units) == []


def test_short_sentences_answer() -> None:
    recipes = "# Recipes\n\n## Fish pie\n\nServes 6. Bake for 40 minutes.\n\n## Leek soup\n\nServes 3. Freezes well."
    assert "Freezes well." in answer("Can the leek soup be frozen?", recipes)


def test_a_question_in_another_language_is_answered_by_words_without_its_function_words() -> None:
    letter = (
        "Sehr geehrte Frau Moll, wir haben Ihren Vertrag geprüft. Die Kündigungsfrist beträgt sechs Wochen zum "
        "Ende des Quartals. Der Beitrag wird am ersten Werktag des Monats eingezogen."
    )
    assert "sechs Wochen" in answer("Wie lang ist die Kündigungsfrist?", letter)
    assert answer("Wie hoch ist die Kaution?", letter).startswith("I could not find")


@pytest.mark.parametrize("question", ["🙂", "什么是潮汐？", " ".join(["tide"] * 2_000), "?"])
def test_odd_questions_are_answered_or_refused(question: str) -> None:
    assert answer(question, "# Tides\n\nTides are the rise and fall of the sea. " + "water " * 5_000)
