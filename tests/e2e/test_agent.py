"""The commands of `asky agent` in processes of their own, with a model, a search service and a site on loopback."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.agent_lab import COST, QUESTION, AgentLab
from tests.support.asky_command import ASKY, clean_environment, run_asky
from tests.support.endpoint import Problem
from tests.support.twins.base import Reply


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[AgentLab]:
    with AgentLab(tmp_path) as opened:
        yield opened


def asky(lab: AgentLab, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_asky("agent", *arguments, home=lab.folder, environ=lab.environ())


def test_research_is_started_listed_reported_and_exported(lab: AgentLab, tmp_path: Path) -> None:
    file = tmp_path / "report.md"
    done = asky(lab, "start", "-m", "far", "-o", str(file), QUESTION)
    assert done.returncode == 0, done.stderr
    assert "620 million francs. [1]" in done.stdout
    assert "cycle 1: 100% of what it found is new" in done.stderr
    phases = ("reading the question", "planning", "cycle 1: looking for sources", "writing the report")
    assert [each for each in done.stderr.splitlines() if each in phases] == list(phases), "minutes may lie between"
    assert "Everything that the searches offered has been read: 3 facts from 3 sources" in done.stderr
    assert "## How sure is this" in file.read_text("utf-8")
    listed = json.loads(asky(lab, "list", "--json").stdout)["runs"]
    assert [(each["status"], each["query"]) for each in listed] == [("finished", QUESTION)]
    status = json.loads(asky(lab, "status", "--json").stdout)
    assert (status["schema"], status["current_phase"], len(status["facts_extracted"])) == (
        "asky.research_state/1",
        "finished",
        3,
    )
    assert json.loads(asky(lab, "report", "--json").stdout)["schema"] == "asky.research/1"
    assert asky(lab, "report").stdout == file.read_text("utf-8")
    assert asky(lab, "export", "-o", str(tmp_path / "report.pdf")).returncode == 0
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    assert run_asky("why", "1", home=lab.folder, environ=lab.environ()).returncode == 0


@pytest.mark.extended
def test_ctrl_c_keeps_everything_and_says_how_to_go_on(lab: AgentLab) -> None:
    held = lab.hold("You read passages")
    process = subprocess.Popen(
        [*ASKY, "agent", "start", "-m", "far", QUESTION],
        env=clean_environment(lab.folder, lab.environ()),
        cwd=lab.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert held.wait(60)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    lab.release()
    assert process.returncode == 130
    run_id = json.loads(asky(lab, "list", "--json").stdout)["runs"][0]["id"]
    assert f"`asky agent resume {run_id}` goes on" in err
    calls = len(lab.endpoint.requests)
    done = asky(lab, "resume")
    assert done.returncode == 0, done.stderr
    assert "620 million francs. [1]" in done.stdout
    later = [str(each.messages) for each in lab.endpoint.requests[calls:]]
    assert not any("You plan research" in each for each in later)


@pytest.mark.extended
def test_what_cannot_be_done_is_one_line_with_its_exit_code(lab: AgentLab) -> None:
    for arguments, code, message in (
        (("start", "--json", "--json-stream", "x"), 2, "cannot be combined"),
        (("start", "-o", "report.xyz", "x"), 2, "report.xyz"),
        (("start", "--detach", "x"), 2, "no server is running"),
        (("start", "--domain", "alchemy", "x"), 2, "there is no field of research called 'alchemy'"),
        (("resume",), 2, "no research yet"),
        (("report", "nope"), 2, "nope"),
        (("start", "--max-cycles", "1", "-m", "far", QUESTION), 10, "a limit ended the research"),
    ):
        done = asky(lab, *arguments)
        assert done.returncode == code, (arguments, done.stderr)
        assert message in done.stderr
        assert "Traceback" not in done.stderr


def test_pages_that_could_not_be_read_are_told_at_the_end(lab: AgentLab) -> None:
    rows = [{"url": lab.site.url(f"/gone{n}"), "title": f"Gone {n}", "content": COST} for n in range(3)]
    lab.search.play(lambda _: Reply({"results": rows}))
    done = asky(lab, "start", "What did the barrage of the Rance cost?")
    assert done.returncode == 11
    ending = done.stderr.splitlines()
    assert "None of the 3 pages that were tried could be read: 1 fact from 1 source" in ending
    assert "3 pages could not be read: the site has no such page (HTTP 404)" in ending
    assert "asky: none of the pages that were found could be read" in done.stderr


def test_a_run_without_a_result_yet_says_so(lab: AgentLab) -> None:
    lab.replies = {"Write a research report": lambda _: Problem("bad_request"), "You read passages": "{}"}
    lab.search.play(lambda _: Reply({"results": []}))
    asky(lab, "start", "-m", "far", QUESTION)
    assert "nothing has been found yet" in asky(lab, "status").stdout
