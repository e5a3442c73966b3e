"""Stores that earlier versions wrote: all that is in them can be read, played again and gone on with.

A folder `tests/fixtures/store-schema-N` holds the store that was written at the schema N; its README says how. The
documents and the endpoint that it was made with are gone.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_contracts import KEY, about_moon, cites, configured
from tests.support.contracts import differences, without_additions
from tests.support.endpoint import Endpoint
from tests.support.in_process import Done, InProcess

pytestmark = pytest.mark.model

STORES = sorted((Path(__file__).parents[1] / "fixtures").glob("store-schema-*"))
TIDES = "How many high tides does the moon raise in a day?"
TWO = "The moon raises two high tides a day [{key}]."
STATUSES = {
    ("failed", "failed"): 1,
    ("killed", "interrupted"): 1,
    ("page", "finished"): 1,
    ("quoted", "finished"): 1,
    ("sea", "finished"): 2,
    ("stopped", "cancelled"): 1,
}


class Before:
    """A copy of a store, and commands that open it."""

    def __init__(self, store: Path, home: Path, asky: InProcess) -> None:
        self.asky = asky
        self.answers: dict[str, Any] = json.loads((store / "answers.json").read_text("utf-8"))
        data = home / "asky" / "data"
        data.mkdir(mode=0o700)
        (data / "asky.db").write_bytes(gzip.decompress((store / "asky.db.gz").read_bytes()))
        (data / "asky.db").chmod(0o600)

    def json(self, *arguments: str) -> Any:
        done = self.asky(*arguments, "--json")
        assert done.code == 0, done.err
        return done.json

    def runs(self) -> dict[tuple[str, str], list[str]]:
        """The runs by session and status, the oldest first."""
        found: dict[tuple[str, str], list[str]] = {}
        for run in reversed(self.json("runs", "list")["runs"]):
            found.setdefault((run["session"], run["status"]), []).append(run["id"])
        return found

    def finished(self) -> Iterator[tuple[str, Any]]:
        """The runs that have an answer with citations, and that answer."""
        return ((run, answer) for run, answer in self.answers.items() if answer["citations"])


@pytest.fixture(params=STORES, ids=[each.name for each in STORES])
def before(
    request: pytest.FixtureRequest,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Before:
    asky = InProcess(home / "asky", monkeypatch, capsys)
    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.setenv("LAB_KEY", KEY)
    return Before(request.param, home, asky)


@pytest.fixture
def endpoint(before: Before, tmp_path: Path) -> Iterator[Endpoint]:
    """Where the model `scripted` of the store is now."""
    with Endpoint(cites(TWO)) as opened:
        configured(tmp_path, opened.base_url)
        yield opened
        assert opened.faults == []


def test_it_opens_and_nothing_is_missing(before: Before) -> None:
    doctor = before.json("doctor")
    assert doctor["problems"] == 0, [each for each in doctor["checks"] if each["state"] == "problem"]
    assert {kind: len(runs) for kind, runs in before.runs().items()} == STATUSES
    sessions = before.json("session", "list")["sessions"]
    assert {each["name"]: each["messages"] for each in sessions if each["name"] in ("quoted", "sea")} == {
        "quoted": 2,
        "sea": 4,
    }
    transcript = before.asky("session", "show", "sea").out
    assert transcript.index(TIDES) < transcript.index("Once more, please?") < transcript.index("As said, the moon")
    findings = {each["trust"]: each["text"] for each in before.json("memory", "list")["findings"]}
    assert findings == {"local": "The moon raises two high tides a day.", "user": "Bread is baked at 230 degrees."}
    assert before.json("memory", "search", "tides")["findings"][0]["passages"]
    (page,) = before.json("cache", "list")["pages"]
    assert "sailors on every coast" in before.json("cache", "show", page["url"])["text"]
    assert before.json("search", "two high tides")["hits"][0]["path"].endswith("tides.md")
    assert before.json("corpus", "status")["embedded"] == 3  # by the search: with the model of now


def test_every_citation_opens_and_is_the_one_of_then(before: Before, tmp_path: Path) -> None:
    checked = 0
    for run, answer in before.finished():
        shown = before.json("why", "1", "--run", run)
        assert shown["checks"] == {"quote": True, "sha256": True}
        assert same(answer["citations"][0], shown["citation"])
        assert before.asky("runs", "export", run, "--bundle", str(tmp_path / f"{run}.zip")).code == 0
        assert before.json("runs", "verify", str(tmp_path / f"{run}.zip"))["ok"]
        checked += 1
    assert checked == 4


def test_every_answer_is_played_again_as_it_was(before: Before) -> None:
    """Also that of the run that was stopped. The endpoint and the page are gone: nothing is asked for."""
    for run, answer in before.answers.items():
        assert same(answer, before.json("runs", "replay", run)), run
    assert len(before.answers) == 5


@pytest.mark.parametrize("cut", [("failed", "failed"), ("killed", "interrupted"), ("stopped", "cancelled")])
def test_a_run_that_was_cut_goes_on(before: Before, endpoint: Endpoint, cut: tuple[str, str]) -> None:
    (run,) = before.runs()[cut]
    resumed = before.json("runs", "resume", run)
    assert (resumed["run"], resumed["session"]) == (run, cut[0])
    assert resumed["answer"] == "The moon raises two high tides a day [1]."
    assert resumed["citations"][0]["quote"].startswith("# Tides")
    assert resumed["stopped_by"] is None
    assert len(endpoint.requests) == 1  # the search before the cut is not asked for again
    assert before.json("runs", "replay", run) == resumed
    assert before.runs()[cut[0], "finished"] == [run]
    assert before.json("why", "1", "--run", run)["checks"] == {"quote": True, "sha256": True}


def test_a_session_goes_on_with_the_passages_of_then(before: Before, endpoint: Endpoint) -> None:
    done: Done = before.asky("-r", "-s", "sea", "And once more?", "--json")
    assert done.code == 0, done.err
    assert done.json["answer"] == "The moon raises two high tides a day [1]."
    (asked,) = endpoint.requests
    assert about_moon(asked) != "Pnone"
    assert any(TIDES in str(each["content"]) for each in asked.messages[:-1] if each["role"] == "user")


def same(before: Any, now: Any) -> bool:
    """Whether nothing but fields was added."""
    found = list(differences(before, without_additions(now, before)))
    assert not found, "\n".join(found)
    return True
