from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from asky.llm.extractive.model import ExtractiveSettings
from asky.llm.extractive.questions import read_question
from asky.llm.extractive.relevance import read_signals, relevance
from asky.llm.extractive.scoring import Scorer
from asky.llm.extractive.units import read_units
from asky.values import Location


@dataclass(frozen=True)
class Passage:
    text: str
    title: str = "Mills"
    key: str = "P0001"
    location: Location = Location()  # noqa: RUF009 - a frozen value
    authors: str = ""
    file: str = ""
    linked_from: str = ""
    sections: tuple[tuple[int, str], ...] = ()


def judged(question: str, text: str, *, cosine: float | None) -> float:
    """The relevance where every text has this cosine to the question; words alone if it is `None`."""

    def embed(texts: Sequence[str]) -> np.ndarray:
        side = np.sqrt(1 - (cosine or 0.0) ** 2)
        return np.array([[1.0, 0.0], *[[cosine, side]] * (len(texts) - 1)], dtype=np.float32)

    asked = read_question(question)
    passages = [Passage(text)]
    scorer = Scorer(passages, read_units(passages))
    how = embed if cosine is not None else None
    (scored,) = scorer.score([asked], embed=how, max_embedded=24)
    return relevance(asked, scored, scorer)


BURNED = "The mill at Clare burned down in the year of 1911."


def test_meaning_words_and_names_make_it_more_likely_that_a_sentence_answers() -> None:
    question = "When did the mill at Clare catch fire?"
    likely = judged(question, BURNED, cosine=0.7)
    assert likely > 0.5
    assert judged(question, BURNED, cosine=0.2) < 0.3
    assert judged(question.replace("Clare", "Ennis"), BURNED, cosine=0.7) < likely
    assert judged(question, "Bread was sold to the people there in all of those years.", cosine=0.1) < 0.1


def test_a_sentence_with_all_words_of_the_question_is_an_answer() -> None:
    assert judged("Who burned the mill in Clare", BURNED, cosine=0.41) >= 0.5
    assert judged("Who burned the mill in Clare", BURNED, cosine=0.1) < 0.5


@pytest.mark.parametrize(("year", "answers"), [("2024", True), ("2023", False)])
def test_a_record_has_to_have_all_numbers_of_the_question(year: str, answers: bool) -> None:
    rows = "month: 2024-03; region: West; product: Toaster; units: 56\nmonth: 2024-04; region: East; units: 3"
    found = judged(f"units of the Toaster in the West in March {year}", rows, cosine=0.6)
    assert (found > 0.3) is answers


def test_without_embeddings_the_share_of_the_words_counts() -> None:
    assert judged("Who burned the mill in Clare", BURNED, cosine=None) >= 0.99
    assert judged("Who painted the Mona Lisa", BURNED, cosine=None) == 0.0


def test_nothing_is_not_relevant() -> None:
    assert judged("Who burned the mill?", "# Only a heading", cosine=0.9) == 0.0


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("How long is the Petrel?", True),
        ("Which boat is in berth A2?", True),
        ("How many boats are there?", False),
        ("Which is the longest boat?", False),
        ("Which boats have a berth?", False),
    ],
)
def test_a_row_answers_by_its_values_and_not_by_the_names_of_its_columns_alone(question: str, answers: bool) -> None:
    rows = "Berth: A2; Boat: Petrel; Length (m): 7.4\nBerth: A3; Boat: Skua; Length (m): 11"
    found = judged(question, rows, cosine=0.6)
    assert (found >= ExtractiveSettings().min_relevance) == answers


def test_how_many_is_not_answered_without_a_number() -> None:
    question = "How many students were in the class?"
    without = judged(question, "The students of the class explored small populations.", cosine=0.6)
    assert without < judged(question, "The 12 students of the class explored small populations.", cosine=0.6) * 0.7


def test_a_code_is_answered_by_what_has_it() -> None:
    assert judged("What does E2 mean?", "The error E2 tells of a broken cable.", cosine=0.25) >= 0.5
    assert judged("What does E3 mean?", "The error E2 tells of a broken cable.", cosine=0.25) < 0.3


def test_a_number_with_its_measure_makes_an_answer_more_likely() -> None:
    question = "How long is the course?"
    told = judged(question, "The course takes 3 hours in the evening.", cosine=0.4)
    assert told > judged(question, "The course is for 3 beginners in the evening.", cosine=0.4)


@pytest.mark.parametrize(("asked", "is_told"), [("phone", True), ("locker", False)])
def test_a_record_answers_if_an_entry_comes_near_what_its_words_lack(asked: str, is_told: bool) -> None:
    rows = "surname: Wojcik; mobile: 0177 123456; fee: 285\nsurname: Grainger; mobile: 0177 99; fee: 140"
    near = {"phone": "mobile"}

    def embed(texts: Sequence[str]) -> np.ndarray:
        axes = [[1.0, 0.0] if asked in text or near.get(asked, "-") in text else [0.0, 1.0] for text in texts]
        return np.array(axes, dtype=np.float32)

    question = read_question(f"{asked} of Wojcik")
    passages = [Passage(rows)]
    scorer = Scorer(passages, read_units(passages))
    (scored,) = scorer.score([question], embed=lambda texts: np.ones((len(texts), 1), np.float32), max_embedded=24)
    signals = read_signals(question, scored[:1], scorer, embed)
    assert signals.nearness == (1.0 if is_told else 0.0)
    assert read_signals(read_question("fee of Wojcik"), scored[:1], scorer, embed).nearness == 1.0, "nothing is lacking"
