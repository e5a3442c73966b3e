"""The commands of `asky agent` in processes of their own, with a model, a search service and a site on loopback."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from asky.config.documents import parse_toml
from tests.support.agent_lab import COST, QUESTION, AgentLab
from tests.support.asky_command import ASKY, clean_environment, run_asky
from tests.support.dialogue import Dialogue
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


OFFER = "from now on? They need no key, and are sent your questions"


@pytest.mark.parametrize("reply", ["y", "n"])
def test_services_without_a_key_are_offered_at_a_terminal(tmp_path: Path, reply: str) -> None:
    with Dialogue("agent", "start", "--max-time", "5", QUESTION, home=tmp_path, environ={"NO_PROXY": "*"}) as asked:
        asked.answer("[y/N]:", reply)
        code = asked.end()
    shown = " ".join(asked.screen.split())
    assert shown.count(OFFER) == 1
    chosen = tmp_path / "asky" / "config" / "research.toml"
    if reply == "y":
        assert {"wikipedia", "pubmed"} <= set(toml_of(chosen)["search"]["providers"])
    else:
        assert (code, chosen.exists()) == (2, False)
        assert "no documents are kept and no search service is set up" in shown


def test_services_that_a_field_asks_first_are_offered_beside_those_that_are_set_up(lab: AgentLab) -> None:
    given = ("agent", "start", "--domain", "medical", "--max-cycles", "1", "--max-time", "5", QUESTION)
    with Dialogue(*given, home=lab.folder, environ={"NO_PROXY": "*", **lab.environ()}) as asked:
        asked.wait_for("semantic_scholar first, which are not set up")
        asked.answer("[y/N]:", "y")
        asked.end()
    providers = toml_of(lab.folder / "asky" / "config" / "research.toml")["search"]["providers"]
    assert providers == ["searxng", "pubmed", "semantic_scholar"]


@pytest.mark.parametrize("more", [("-y",), ("--json",), ("--privacy", "local_only")])
def test_who_is_not_asked_is_told(lab: AgentLab, more: tuple[str, ...]) -> None:
    with Dialogue("agent", "start", *more, QUESTION, home=lab.folder) as asked:
        assert asked.end() == 2
    assert OFFER not in asked.screen
    assert "there is nothing to answer from" in " ".join(asked.screen.split())


def toml_of(file: Path) -> Any:
    return parse_toml(file.read_text())
