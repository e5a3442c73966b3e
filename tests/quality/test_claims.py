"""Floors of claim verification, each with the hash of its data. A floor only rises."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.quality.claims import (
    ANSWERED,
    CONTRADICTED,
    SETS,
    SUPPORTED,
    measure,
    measure_answers,
    share_flagged_when_swapped,
)


@dataclass(frozen=True, slots=True)
class Floor:
    """What `measure` must reach on the file with this hash."""

    name: str
    sha256: str
    macro_f1: float
    balanced_accuracy: float


FLOORS = [
    Floor("attributionbench", "a744d1f84e621015f7a7e1941c3fb3f0838be767645dfb2ec784efd3133ab7d6", 0.698, 0.701),
    Floor("wice", "67531ca79bde4c81d3752fb69d9cb0d3d6763de5c3028f548b83ef053a6f8042", 0.730, 0.728),
    Floor("ragtruth-qa", "f54260f369bc8d672a84d3a08678a649ae2761ea4f25dd6f6beebbac9bceaac6", 0.640, 0.794),
    Floor("ragtruth-summary", "811ce5000a1c26e625823124a305228b9ae2fbcf7797eb0d5baa902c40a3f416", 0.518, 0.645),
    Floor("ragtruth-data2txt", "497c822fb8b6fe51aaa0b195bd7920f3e4987c82b6e0c54ba7e486918f471e76", 0.695, 0.745),
    Floor("factcheck-gpt", "3bfa17d7b37bca82bcc0aacf69a8bbd85cffe117d337c95cf7c3b00e34b98d1a", 0.673, 0.660),
]


@pytest.mark.parametrize("floor", FLOORS, ids=lambda floor: floor.name)
def test_verdicts_agree_with_people_at_least_as_well_as_before(floor: Floor, data_folder: Path) -> None:
    path, reader = SETS[floor.name]
    file = data_folder / path
    assert hashlib.sha256(file.read_bytes()).hexdigest() == floor.sha256, "the floor was measured on other data"
    figures = measure(list(reader(file)))
    print(f"\n{floor.name}: F1 {figures.macro_f1:.3f}, BAcc {figures.balanced_accuracy:.3f}, {figures.claims} claims")
    assert figures.macro_f1 >= floor.macro_f1
    assert figures.balanced_accuracy >= floor.balanced_accuracy


def test_answers_about_a_record_are_flagged_for_a_reason(data_folder: Path) -> None:
    path, reader = SETS["ragtruth-data2txt"]
    answers = measure_answers(data_folder / path)
    print(f"\nanswers: F1 {answers.f1:.3f}, all flagged {answers.always:.3f}, gain {answers.gain_interval}")
    assert answers.f1 >= 0.815
    assert answers.gain_interval[0] > 0
    share, count = measure(list(reader(data_folder / path))).share_right(SUPPORTED, CONTRADICTED)
    print(f"contradicted: {count}, right {share:.3f}")
    assert share >= 0.86


def test_what_cites_the_passages_of_another_question_is_flagged(data_folder: Path) -> None:
    assert share_flagged_when_swapped(data_folder / ANSWERED) >= 0.99
