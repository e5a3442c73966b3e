from __future__ import annotations

from dataclasses import dataclass

from asky.llm.extractive.questions import read_question
from asky.llm.extractive.scoring import ScoredUnit, Scorer
from asky.llm.extractive.selection import select_units
from asky.llm.extractive.units import read_units
from asky.values import Location


@dataclass(frozen=True)
class Passage:
    key: str
    title: str
    text: str
    location: Location = Location()  # noqa: RUF009 - a frozen value
    authors: str = ""
    file: str = ""
    sections: tuple[tuple[int, str], ...] = ()


def test_a_sentence_of_another_source_that_adds_a_word_of_the_question_is_kept() -> None:
    passages = [
        Passage("P0001", "Mills", "The mill at Clare was built in 1850 by Ann Brook."),
        Passage("P0002", "Ann Brook", "She was born in a house with millstones."),
    ]
    best, other = units = read_units(passages)
    scored = [ScoredUnit(best, 0.5, 1.0), ScoredUnit(other, 0.2, 0.75)]
    question = read_question("Where was who built the mill at Clare born?")
    chosen = select_units(Scorer(passages, units), question, scored, [])
    assert other in chosen
