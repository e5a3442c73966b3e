"""What could not be read of papers is named by every command that rests on their texts: in words and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from tests.support.files import scanned_pdf
from tests.support.in_process import InProcess
from tests.support.papers import paper_pdf

CLOCKS = "Clocks in towers lose a minute a day when the wind blows from the sea."
DRAWING = {"verdict": "partial", "part": "plan.dwg", "message": "no reader for it"}
LINE = "1 part was not read: plan.dwg (no reader for it)"


def with_drawing(data: bytes) -> bytes:
    with pymupdf.open(stream=data) as document:
        document.embfile_add("plan.dwg", b"AC1032\0\1\2\3", filename="plan.dwg")
        return bytes(document.tobytes())


def encrypted(data: bytes) -> bytes:
    with pymupdf.open(stream=data) as document:
        return bytes(document.tobytes(encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="a", owner_pw="b"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "more"
    made.mkdir()
    (made / "clocks.pdf").write_bytes(with_drawing(paper_pdf("Clocks in towers", doi="10.5555/c1", pages=[CLOCKS])))
    (made / "locked.pdf").write_bytes(encrypted(paper_pdf("A locked paper")))
    (made / "scan.pdf").write_bytes(scanned_pdf(1))
    return made


def unread_of(made: dict[str, Any]) -> dict[str, dict[str, Any]]:
    found = {each["path"]: each for each in made["unread"]}
    assert len(found) == made["unread_count"]
    return {path: {name: value for name, value in each.items() if name != "path"} for path, each in found.items()}


def test_an_add_names_files_and_parts_each_time(command: InProcess, folder: Path) -> None:
    first = command("papers", "add", str(folder))
    assert f"clocks.pdf: {LINE}" in first.err
    for _ in range(2):  # a known paper still lacks what it lacks
        found = unread_of(command("papers", "add", str(folder), "--json").json)
        assert found["clocks.pdf"] == DRAWING
        assert found["locked.pdf"]["verdict"] == "encrypted"
        assert found["scan.pdf"]["verdict"] == "no_text_layer"
        assert set(found) == {"clocks.pdf", "locked.pdf", "scan.pdf"}


def test_a_retry_names_what_still_lacks_its_text(command: InProcess, folder: Path) -> None:
    command("papers", "add", str(folder))
    (found,) = command("papers", "retry", "--json").json["unread"]
    assert found["verdict"] == "no_text_layer"


def test_every_object_about_papers_names_what_was_not_read_of_them(command: InProcess, folder: Path) -> None:
    command("papers", "add", str(folder))
    scan = next(each for each in command("papers", "--json").json["papers"] if each["status"] == "no_text")
    of_all = {"10.5555/c1", scan["paper"]}
    for arguments in (
        ["list"],
        ["table", "--columns", "n"],
        ["search", "clocks"],
        ["research", "What do clocks in towers lose?"],
    ):
        done = command("papers", *arguments, "--json")
        found = unread_of(done.json)
        assert (set(found), found["10.5555/c1"]) == (of_all, DRAWING), arguments
    for arguments in (
        ["find", "clocks"],
        ["summary", "10.5555/c1"],
        ["search", "clocks", "--paper", "10.5555/c1"],
        ["table", "--columns", "n", "10.5555/c1"],
    ):
        assert unread_of(command("papers", *arguments, "--json").json) == {"10.5555/c1": DRAWING}, arguments
    assert unread_of(command("papers", "find", "bread", "--json").json) == {}


def test_the_terminal_names_them_beside_what_rests_on_them(command: InProcess, folder: Path) -> None:
    command("papers", "add", str(folder))
    for arguments in (
        ["list"],
        ["find", "clocks"],
        ["search", "clocks in towers"],
        ["summary", "10.5555/c1"],
        ["research", "How much do clocks in towers lose?"],
        ["table", "--columns", "n"],
    ):
        assert command("papers", *arguments).err.count(f"10.5555/c1: {LINE}") == 1, arguments
    assert LINE not in command("papers", "search", "bread").err
    assert LINE not in command("papers", "research", "Why does bread rise?").err
    nothing = command("papers", "search", "zeppelins")
    assert "not read: " in nothing.err
    assert "(no text layer: " in nothing.err


def test_notes_on_a_paper_of_which_a_comment_hides_the_rest_say_so(command: InProcess) -> None:
    made = command("papers", "notes", "10.5555/b1", "Warm rooms.", "--json").json
    assert (made["unread"], made["unread_count"]) == ([], 0)
    path = Path(made["path"])
    path.write_text(path.read_text() + "\n%% not\n\nRye too.\n")
    (found,) = command("papers", "notes", "10.5555/b1", "--json").json["unread"]
    assert (found["path"], found["verdict"], found["part"]) == (str(path), "partial", "text from line 5")
    assert "never closed" in command("papers", "notes", "10.5555/b1").err


def test_an_answer_keeps_it_with_its_run(command: InProcess, folder: Path) -> None:
    command("papers", "add", str(folder))
    command("papers", "research", "How much do clocks in towers lose?")
    answer = command("runs", "show", "--json").json["answer"]
    assert DRAWING in unread_of(answer).values()
    report = folder / "report.html"
    command("papers", "save", str(report))
    assert "plan.dwg (no reader for it)" in report.read_text()
    bundle = folder / "answer.json"
    command("papers", "save", str(bundle))
    assert json.loads(bundle.read_text())["unread_count"] == 2
