"""`asky session`: conversations are listed and shown, quickly, and removed."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.asky_command import clean_environment, run_python
from tests.support.in_process import InProcess
from tests.support.stores import TIDES, FilledStore

_HEAVY = ("numpy", "chromadb", "onnxruntime", "torch", "rich", "anyio", "openai", "pydantic", "pymupdf", "asyncio")


@pytest.fixture
def asky(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    home = tmp_path / "home"
    home.mkdir()
    return InProcess(home, monkeypatch, capsys)


def converse(home: Path, folder: Path, name: str, question: str = "What pulls?") -> str:
    """A session with one question and its answer; returns the run's id."""
    tides = folder / "tides.md"
    with FilledStore(home) as store:
        document = store.add_text(tides, TIDES)
        return store.answered(
            question,
            "The moon [1].",
            lambda run: [store.evidence(run, tides, document, "The moon pulls on the water")],
            session=name,
        )


def test_sessions_are_listed_with_the_last_used_first(asky: InProcess, tmp_path: Path) -> None:
    converse(asky.home, tmp_path, "sea")
    converse(asky.home, tmp_path, "a longer name")
    lines = asky("session", "list").out.splitlines()
    assert [line[:13].strip() for line in lines] == ["a longer name", "sea"]
    assert lines[0].endswith("research  2 messages")
    found = asky("session", "list", "--json").json
    assert found["schema"] == "asky.sessions/1"
    assert [(each["name"], each["messages"]) for each in found["sessions"]] == [("a longer name", 2), ("sea", 2)]


def test_without_sessions_the_listing_is_empty(asky: InProcess) -> None:
    done = asky("session", "list")
    assert (done.code, done.out) == (0, "")
    assert "no sessions yet" in done.err
    assert asky("session", "list", "--json").json["sessions"] == []


def test_a_session_is_shown_as_its_transcript(asky: InProcess, tmp_path: Path) -> None:
    run_id = converse(asky.home, tmp_path, "sea", "What \x1b[31mpulls?")
    shown = asky("session", "show", "sea").out
    assert "\x1b" not in shown
    assert shown.index("What pulls?") < shown.index("The moon [1].")
    assert f"run {run_id}\nThe moon [1]." in shown
    report = asky("session", "show", "sea", "--json").json
    assert report["schema"] == "asky.session/1"
    assert report["session"]["name"] == "sea"
    assert [(each["role"], each["run"]) for each in report["messages"]] == [("user", run_id), ("assistant", run_id)]
    assert report["messages"][0]["content"] == "What \x1b[31mpulls?"


def test_a_session_is_shown_with_how_its_next_question_is_asked(asky: InProcess, tmp_path: Path) -> None:
    converse(asky.home, tmp_path, "sea")
    with FilledStore(asky.home) as store:
        sea = store.sessions.find("sea")
        assert sea is not None
        names = [f"folder {tmp_path}/\x1b[31mnotes", "tides", f"session {sea.id}"]
        store.sessions.add_collections(sea.id, [store.corpus.collection(each, create=True) for each in names])
        store.corpus.collection("another's", create=True)
        wanted = {"web": True, "sites": ["a.example", "b.example"], "since": "2020", "shortlist": "off", "model": "m"}
        store.sessions.remember(sea.id, mode="lean", settings=wanted)
    assert asky("session", "show", "sea").err.splitlines() == [
        "mode lean; model m; web yes; sites a.example, b.example; since 2020; shortlist off",
        f"asked of folder {tmp_path}/notes",
        "asked of collection tides",
        "asked of what was given to it alone, and of pages that were read for it",
    ]
    assert asky("session", "show", "sea", "--json").json["collections"] == sorted(names)


def test_a_session_is_removed_with_its_runs_and_findings_and_nothing_else(asky: InProcess, tmp_path: Path) -> None:
    converse(asky.home, tmp_path, "sea")
    kept = converse(asky.home, tmp_path, "mill")
    asky("memory", "add", "of the sea", "-s", "sea")
    asky("memory", "add", "of the mill", "-s", "mill")
    done = asky("session", "rm", "sea")
    assert (done.code, done.out, done.err) == (0, "", "removed the session sea: 1 run\n")
    assert [each["name"] for each in asky("session", "list", "--json").json["sessions"]] == ["mill"]
    assert [each["id"] for each in asky("runs", "list", "--json").json["runs"]] == [kept]
    assert "of the sea" not in asky("memory", "export").out
    assert asky("session", "rm", "sea").code == 2
    assert asky("why", "1").code == 0


def test_a_session_with_a_question_under_way_is_not_removed(asky: InProcess) -> None:
    with FilledStore(asky.home) as store:
        session = store.sessions.open("sea", mode="lean")
        run = store.runs.start(question="?", mode="lean", model="m", session_id=session.id)
        done = asky("session", "rm", "sea")
        assert done.code == 2
        assert "being answered in sea" in done.err
        store.runs.finish(run.id, "failed", None)
        assert asky("session", "rm", "sea").code == 0


def test_a_session_that_is_not_there_is_a_usage_error(asky: InProcess) -> None:
    done = asky("session", "show", "sea")
    assert done.code == 2
    assert "there is no session 'sea'" in done.err
    assert asky("session", "show", "s\udcff", "--json").error["code"] == "usage"


def test_listing_sessions_imports_nothing_heavy(asky: InProcess, tmp_path: Path) -> None:
    converse(asky.home, tmp_path, "sea")
    code = (
        "import sys; from asky.__main__ import run; code = run(['session', 'list']);"
        f"loaded = [name for name in {_HEAVY!r} if name in sys.modules]; sys.exit(str(loaded) if loaded else code)"
    )
    done = run_python(("-c", code), home=tmp_path, environ={"ASKY_HOME": str(asky.home)})
    assert (done.returncode, done.stderr) == (0, "")
    assert "sea" in done.stdout


def test_listing_sessions_takes_little_processor_time(asky: InProcess, tmp_path: Path) -> None:
    converse(asky.home, tmp_path, "sea")
    command = [sys.executable, "-m", "asky", "session", "list"]
    environ = clean_environment(tmp_path, {"ASKY_HOME": str(asky.home)})
    subprocess.run(command, env=environ, capture_output=True, check=True, timeout=60)  # compiles what is not yet
    spent = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, env=environ, capture_output=True, check=True, timeout=60)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(spent) <= 0.2
