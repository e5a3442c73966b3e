"""`asky -o answer.html` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.asky_command import run_asky
from tests.support.here import run_here
from tests.support.reports import Seen

QUESTION = "How many high tides does the moon raise in a day?"


@pytest.mark.model
def test_an_answer_is_written_as_a_page_that_holds_its_evidence(home: Path, docs: Path) -> None:
    file = home / "answer.html"
    done = run_asky("-r", "-d", str(docs), QUESTION, "-o", str(file), "--json", home=home)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    page = Seen(file.read_text("utf-8"))
    assert page.text("h1") == QUESTION
    assert len(page.all("article", "passage")) == len(answer["citations"])
    assert [text for _, text in page.all("mark")] == [each["quote"] for each in answer["citations"]]
    assert "two high tides a day" in page.answer
    assert page.html.count("the stored text had this hash") == len(answer["citations"])
    assert "not found again" not in page.html


def test_a_file_of_another_kind_is_refused_before_anything_is_asked(home: Path, tmp_path: Path) -> None:
    done = run_here(QUESTION, "-o", "answer.docx", home=home, cwd=tmp_path)
    assert done.returncode == 2
    assert "answer.docx: not .md, .html, .pdf, .json, .tex, .bib, .csl.json or .ris" in done.stderr
    assert list(tmp_path.glob("answer*")) == []
