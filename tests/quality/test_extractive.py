"""Floors of the extractive answer, each with the hash of its questions. A floor only rises; the ceiling only falls.

Those of ClapNQ's answerable and SQuAD's other questions fell once, when the reader came: answers are shorter by a
third, and of questions that were made to mislead fewer are declined (docs/concepts/extractive-model.md).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.quality.extractive import SETS, measure


@dataclass(frozen=True, slots=True)
class Floor:
    """What `measure` must reach with the reader, on the questions of `path` with this hash."""

    name: str
    path: str
    sha256: str
    quoted: float
    cited: float
    least_abstained: float
    most_abstained: float


FLOORS = [
    Floor(
        "clapnq-answerable",
        "clapnq_dev/split/answerable.dev.jsonl",
        "47c3f657a486f115acdf7ec1caea90ed2016c75995793332a6b6905cfafb748e",
        quoted=0.83,
        cited=0.89,
        least_abstained=0.0,
        most_abstained=0.11,
    ),
    Floor(
        "clapnq-unanswerable",
        "clapnq_dev/split/unanswerable.dev.jsonl",
        "3c76ec37949ff1c172e785d2962c574b7eb64892af19fcd733ca0b4779aa8471",
        quoted=0.0,
        cited=0.0,
        least_abstained=0.63,
        most_abstained=1.0,
    ),
    Floor(
        "squad2-answerable",
        "squad2_articles/split/queries.dev.jsonl",
        "526b81d55312070166412bf8bb07ea2258ca3e4200af87e62390cb6805dc7dc6",
        quoted=0.82,
        cited=0.84,
        least_abstained=0.0,
        most_abstained=0.11,
    ),
    Floor(
        "squad2-unanswerable",
        "squad2_articles/split/queries.dev.jsonl",
        "526b81d55312070166412bf8bb07ea2258ca3e4200af87e62390cb6805dc7dc6",
        quoted=0.0,
        cited=0.0,
        least_abstained=0.16,
        most_abstained=1.0,
    ),
]


@pytest.mark.model
@pytest.mark.parametrize("floor", FLOORS, ids=lambda floor: floor.name)
def test_answers_quote_and_abstain_at_least_as_well_as_before(floor: Floor, data_folder: Path) -> None:
    file = data_folder / floor.path
    assert hashlib.sha256(file.read_bytes()).hexdigest() == floor.sha256, "the floor was measured on other data"
    figures = measure(list(SETS[floor.name](data_folder)))
    print(f"\n{floor.name}: {figures}")
    assert figures.quoted >= floor.quoted
    assert figures.cited >= floor.cited
    assert floor.least_abstained <= figures.abstained <= floor.most_abstained
