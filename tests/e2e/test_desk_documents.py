"""Plain questions about a folder with one document of each kind, answered without a model."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.support.asky_command import ROOT
from tests.support.here import run_here

pytestmark = pytest.mark.model

DOCUMENTS = ROOT / "docs" / "recordings" / "documents"
DESK = DOCUMENTS / "desk"
with (DOCUMENTS / "desk-questions.tsv").open(encoding="utf-8", newline="") as _rows:
    QUESTIONS = [(row["file"], row["question"], row["answer"]) for row in csv.DictReader(_rows, delimiter="\t")]


def test_each_document_is_asked_three_questions() -> None:
    asked = [name for name, _, _ in QUESTIONS]
    assert sorted(asked) == sorted(3 * [path.name for path in DESK.iterdir()])


@pytest.mark.parametrize(("name", "question", "answer"), QUESTIONS, ids=[question for _, question, _ in QUESTIONS])
def test_a_question_about_the_folder_is_answered_from_the_right_file(
    name: str, question: str, answer: str, home: Path
) -> None:
    done = run_here("-r", "-d", str(DESK), question, "--json", home=home)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert " ".join(answer.split()) in " ".join(found["answer"].split())
    assert any(citation["path"].endswith(name) for citation in found["citations"]), found["citations"]
