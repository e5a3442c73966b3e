"""The recordings of terminals in the documentation are complete and can be played and shown anywhere."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from tests.support.asky_command import ROOT
from tools.record_terminal import COLUMNS, MAX_IDLE_S, OUTPUT, RECORDINGS, Recording, main, write_cast, write_svg

MAX_SVG_BYTES = 160_000  # of 57 questions with their answers
GUIDES = ROOT / "docs" / "guides"
each_recording = pytest.mark.parametrize("recording", RECORDINGS, ids=lambda each: each.name)


def output(path: Path) -> str:
    """What is printed in a cast of asciinema, version 2."""
    head, *events = (json.loads(line) for line in path.read_text("utf-8").splitlines())
    assert (head["version"], head["width"], head["idle_time_limit"]) == (2, COLUMNS, MAX_IDLE_S)
    times = [time for time, kind, text in events]
    assert times == sorted(times)
    assert {kind for time, kind, text in events} == {"o"}
    return "".join(text for time, kind, text in events)


def lines(svg: str) -> list[str]:
    """The lines of text of a picture."""
    rows: dict[str, str] = {}
    for text in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):
        rows[text.get("y", "")] = rows.get(text.get("y", ""), "") + (text.text or "").replace("\xa0", " ")
    return [row.rstrip() for row in rows.values() if row.strip()]


@each_recording
def test_a_cast_holds_the_commands_of_its_recording(recording: Recording) -> None:
    typed = re.findall(r"\$\x1b\[0m (.*?)\r\n", output(OUTPUT / f"{recording.name}.cast"))
    assert typed == list(recording.commands), "run: python -m tools.record_terminal --paper FILE"
    assert any("asky " in command for command in typed)


@each_recording
def test_a_picture_shows_the_questions_and_needs_nothing_from_elsewhere(recording: Recording) -> None:
    svg = (OUTPUT / f"{recording.name}.svg").read_text("utf-8")
    assert {f"$ {command}" for command in recording.commands} <= set(lines(svg))
    assert re.findall(r"=\"(\w+://[^\"]*)", svg) == ["http://www.w3.org/2000/svg"]
    assert re.search(r"@import|@font-face|url\((?!#)", svg) is None
    assert len(svg.encode()) < MAX_SVG_BYTES


@each_recording
def test_a_guide_shows_the_recording(recording: Recording) -> None:
    text = "".join(path.read_text("utf-8") for path in GUIDES.glob("*.md"))
    assert all(f"(../recordings/{recording.name}.{suffix})" in text for suffix in ("svg", "cast"))


def test_no_recording_is_left_over() -> None:
    assert {path.stem for path in OUTPUT.iterdir() if path.is_file()} == {each.name for each in RECORDINGS}


def test_what_was_rewritten_on_the_terminal_is_not_in_its_picture(tmp_path: Path) -> None:
    events = [(0.0, "reading"), (0.5, "\r\x1b[K\x1b[1mdone\x1b[0m\r\n"), (1.0, "a\r\n" * 60)]
    write_svg("A title", events, tmp_path / "a.svg")
    assert lines((tmp_path / "a.svg").read_text("utf-8")) == ["A title", "done", *["a"] * 60]
    write_cast("A title", events, tmp_path / "a.cast")
    assert output(tmp_path / "a.cast").startswith("reading\r")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["paper"], "the recordings of a paper and of a scan need --paper FILE, an arXiv PDF"),
        (["--paper", __file__, "paper"], "test_recordings.py is not a PDF"),
    ],
)
def test_a_missing_input_is_told_in_one_line(arguments: list[str], message: str) -> None:
    done = CliRunner().invoke(main, arguments)
    assert (done.exit_code, done.output.count("\n")) == (1, 1)
    assert message in done.output
