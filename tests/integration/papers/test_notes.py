"""`asky papers notes`: a file that the user writes, which papers are found by."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from tests.support.endpoint import Endpoint
from tests.support.in_process import InProcess

KEPT = "Refuted by the lighthouse measurements of Ouessant."


@pytest.fixture
def file(command: InProcess) -> Path:
    return command.home / "data" / "papers" / "notes" / "2101.00001.md"


def found_by(command: InProcess, words: str) -> list[str]:
    done = command("papers", "table", "--columns", "n", *words.split(), "--json")
    return [each["paper"]["id"] for each in done.json["rows"]] if done.code == 0 else []


def test_notes_are_added_shown_and_found(command: InProcess, file: Path) -> None:
    nothing = command("papers", "notes", "tides")
    assert (nothing.code, nothing.out, f"no notes on 2101.00001v2 yet; they would be in {file}" in nothing.err) == (
        0,
        "",
        True,
    )
    assert found_by(command, "lighthouse Ouessant") == []
    done = command("papers", "notes", "2101.00001", *KEPT.split())
    assert (done.code, done.out, f"wrote {file}" in done.err) == (0, "", True)
    assert file.read_text() == f"# Notes on On the tides of nine harbours\n\n{KEPT}\n"
    assert found_by(command, "lighthouse Ouessant") == ["2101.00001"]
    command("papers", "notes", "tides", "And more.")
    assert command("papers", "notes", "tides").out.endswith(f"{KEPT}\n\nAnd more.\n")
    made = command("papers", "notes", "1", "--json").json
    assert (made["schema"], made["path"], made["notes"]) == ("asky.paper_notes/1", str(file), file.read_text())


@pytest.mark.parametrize("command_that_reads", [["notes", "tides"], ["retry"], ["rebuild-index"]])
def test_notes_edited_by_hand_are_read_again(command: InProcess, file: Path, command_that_reads: list[str]) -> None:
    command("papers", "notes", "tides", KEPT)
    file.write_text("Supported by the buoys of Roscoff.\n")
    assert found_by(command, "buoys Roscoff") == []
    assert command("papers", *command_that_reads).code == 0
    assert (found_by(command, "buoys Roscoff"), found_by(command, "lighthouse Ouessant")) == (["2101.00001"], [])
    file.unlink()
    command("papers", *command_that_reads)
    assert found_by(command, "buoys Roscoff") == []


def test_notes_stay_when_the_paper_goes_and_wait_for_it(command: InProcess, file: Path, tmp_path: Path) -> None:
    command("papers", "notes", "tides", KEPT)
    removed = command("papers", "rm", "tides")
    assert f"your notes stay in {file}" in removed.err
    assert (file.exists(), found_by(command, "lighthouse Ouessant")) == (True, [])
    command("papers", "add", str(tmp_path / "downloads"))
    assert found_by(command, "lighthouse Ouessant") == ["2101.00001"]
    command("papers", "rm", "tides", "--with-notes")
    assert not file.exists()


def test_what_is_piped_in_is_added_and_an_editor_needs_a_terminal(
    command: InProcess, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"piped\n")))
    assert command("papers", "notes", "tides", "-").code == 0
    assert file.read_text().endswith("\n\npiped\n")
    refused = [("tides", "--edit"), ("tides", "x", "--edit"), ("tides", " "), ("cheese",), ("tides", "x" * 1_000_001)]
    assert [command("papers", "notes", *each).code for each in refused] == [2] * 5
    file.write_bytes(b"x" * 1_000_001)
    big = command("papers", "notes", "tides")
    assert (big.code, "notes of more than 1 MB" in big.err) == (1, True)


def test_no_model_sees_notes(command: InProcess, model: Endpoint) -> None:
    command("papers", "notes", "tides", f"The sun raises tides: {KEPT}")
    command("papers", "research", "what raises tides", "-m", "far")
    assert model.requests
    assert "Ouessant" not in str([each.messages for each in model.requests])
