"""Sources that contradict each other: both sides are shown and cited wherever an answer is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.in_process import InProcess

ASK = ("ask", "-q", "--json", "--offline", "file://question.txt", "-d")
SIDES = {"The heat pump was installed in March 2021 by Miller.", "The heat pump was installed in May 2021 by Miller."}


@pytest.fixture
def asky(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    home = tmp_path / "home"
    home.mkdir()
    (home / "question.txt").write_text("When was the heat pump installed?", "utf-8")
    command = InProcess(home, monkeypatch, capsys)
    monkeypatch.setenv("ASKY_RESEARCH__EMBEDDING__MODEL", str(tmp_path / "no model"))
    return command


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Two notes that disagree, and a copy of one of them."""
    folder = tmp_path / "docs"
    folder.mkdir()
    first, second = sorted(SIDES)
    (folder / "Heat pump.md").write_text(f"# Heat pump\n\nThe heat pump is a Boreal 7. {first}\n", "utf-8")
    for name in ("House log", "House log copy"):
        (folder / f"{name}.md").write_text(f"# House log\n\n{second} The roof was mended in 2019.\n", "utf-8")
    return folder


def test_both_sides_are_cited_wherever_the_answer_is_shown(asky: InProcess, docs: Path, tmp_path: Path) -> None:
    answer = asky(*ASK, str(docs)).json
    (found,) = answer["contradictions"]
    assert (found["kind"], found["stated_by"]) == ("date", "check")
    assert {side["statement"] for side in found["sides"]} == SIDES
    numbers = [n for side in found["sides"] for n in side["citations"]]
    assert len(set(numbers)) == 2
    quotes = {each["n"]: each["quote"] for each in answer["citations"]}
    assert all(side["statement"] in quotes[side["citations"][0]] for side in found["sides"])

    shown = asky("runs", "show").out
    assert "⚠ sources contradict each other (March 2021, May 2021):" in shown
    for side in found["sides"]:
        assert f"  “{side['statement']}” [{side['citations'][0]}] {side['source']}" in shown
    assert asky("why", str(max(numbers))).code == 0
    assert asky("runs", "replay", "--json").json == answer

    page, note = tmp_path / "a.html", tmp_path / "a.md"
    asky("runs", "export", "-o", str(page))
    asky("runs", "export", "-o", str(note))
    assert "Where sources contradict each other</h2>" in page.read_text("utf-8")
    assert (
        "## Where sources contradict each other\n\n1. These cannot both hold (March 2021, May 2021):"
        in note.read_text("utf-8")
    )


def test_an_answer_by_words_alone_has_no_confidence_and_is_given(asky: InProcess, docs: Path) -> None:
    """The reader reads English: of another language nothing calibrated can be said."""
    asky("config", "set", "answer.min_confidence", "0.99")
    (docs / "bahn.md").write_text("# Bahn\n\nDie alte Brücke der Bahn wurde im Jahr 1911 gesprengt und nie erneuert.\n")
    (asky.home / "question.txt").write_text("Wann wurde die Brücke gesprengt?", "utf-8")
    answer = asky(*ASK, str(docs / "bahn.md")).json
    assert "1911" in answer["answer"]
    assert answer["confidence"] is None
    assert answer["stopped_by"] is None


def test_a_confidence_beyond_one_is_refused(asky: InProcess) -> None:
    refused = asky("config", "set", "answer.min_confidence", "1.5")
    assert refused.code == 2
    assert "answer.min_confidence" in refused.err
