"""`asky session`: conversations are listed and shown, quickly, and removed."""

from __future__ import annotations

from pathlib import Path

import pexpect  # type: ignore[import-untyped] # it has no types
import pytest

from asky.cli.terminal.cells import text_cells
from asky.storage.sessions import NewMessage
from tests.support.asky_command import ASKY, clean_environment, run_python
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
    assert lines[0].endswith("research  2 messages  What pulls?")
    found = asky("session", "list", "--json").json
    assert found["schema"] == "asky.sessions/1"
    assert [(each["name"], each["messages"]) for each in found["sessions"]] == [("a longer name", 2), ("sea", 2)]
    assert {each["first_question"] for each in found["sessions"]} == {"What pulls?"}


def test_sessions_are_told_apart_by_the_first_question_that_stands(asky: InProcess, tmp_path: Path) -> None:
    long = "Why is it\n\x1b[31mso " + "very " * 300 + "long?"
    taken_back = converse(asky.home, tmp_path, "sea", "Mistyped?")
    converse(asky.home, tmp_path, "sea", long)
    converse(asky.home, tmp_path, "sea", "And a third?")
    with FilledStore(asky.home) as store:
        sea = store.sessions.find("sea")
        assert sea is not None
        assert store.sessions.withdraw(sea.id, taken_back)
        store.sessions.open("new", mode="lean")
    (listed,) = [line for line in asky("session", "list").out.splitlines() if line.startswith("sea")]
    assert "  Why is it so very " in listed
    assert listed.endswith("…")
    assert len(listed) == 1000
    found = {each["name"]: each["first_question"] for each in asky("session", "list", "--json").json["sessions"]}
    assert found == {"sea": long, "new": None}


def test_on_a_narrow_terminal_the_first_question_stands_below(
    asky: InProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    converse(asky.home, tmp_path, "sea", "潮の満ち引きは何が起こすのか教えて" * 5)
    monkeypatch.setenv("COLUMNS", "60")
    first, second = asky("session", "list").out.splitlines()
    assert first.endswith("2 messages")
    assert second.startswith("    潮の満ち")
    assert second.endswith("…")
    assert text_cells(second) in (59, 60)


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


def test_each_answer_is_shown_with_its_sources(asky: InProcess, tmp_path: Path) -> None:
    converse(asky.home, tmp_path, "sea")
    printed = asky("runs", "show").out
    (source,) = [line for line in printed.splitlines() if line.startswith("[1] ")]
    assert "tides.md" in source
    assert asky("session", "show", "sea").out.endswith(f"The moon [1].\n\n{source}\n\n")


def test_runs_that_have_not_finished_are_shown_in_their_places_with_the_way_out(
    asky: InProcess, tmp_path: Path
) -> None:
    with FilledStore(asky.home) as store:
        sea = store.sessions.open("sea", mode="lean")
        killed = store.runs.start(question="Killed?", mode="lean", model="m", session_id=sea.id)
        store.runs.release(killed.id)
    listed = asky("session", "show", "sea")
    assert "nothing was asked" not in listed.err
    assert "Killed?" in asky("session", "list").out
    converse(asky.home, tmp_path, "sea", "Answered?")
    with FilledStore(asky.home) as store:
        failed = store.runs.start(question="Failing?", mode="lean", model="m", session_id=sea.id)
        store.sessions.append(sea.id, [NewMessage("user", "Failing?")], run_id=failed.id)
        store.runs.finish(failed.id, "failed", None)
        store.runs.release(failed.id)
        back = store.runs.start(question="Back?", mode="lean", model="m", session_id=sea.id)
        store.sessions.append(sea.id, [NewMessage("user", "Back?")], run_id=back.id)
        store.runs.finish(back.id, "failed", None)
        store.runs.release(back.id)
        store.sessions.withdraw(sea.id, back.id)
        running = store.runs.start(question="Running?", mode="lean", model="m", session_id=sea.id)
        shown = asky("session", "show", "sea")
        told = asky("session", "show", "sea", "--json").json
        store.runs.release(running.id)
    lines = [line for line in shown.out.splitlines() if "?" in line or line.startswith("run ")]
    assert lines == [
        "Killed?",
        f"run {killed.id} was interrupted: `asky runs resume {killed.id}` resumes it",
        "Answered?",
        "Failing?",
        f"run {failed.id} failed: `asky runs show {failed.id}` says why, `asky runs resume {failed.id}` resumes it",
        "Back?",
        "Running?",
        f"run {running.id} is being answered now",
    ]
    assert [(each["id"], each["status"], each["question"]) for each in told["unfinished"]] == [
        (killed.id, "interrupted", "Killed?"),
        (failed.id, "failed", "Failing?"),
        (back.id, "failed", "Back?"),
        (running.id, "running", "Running?"),
    ]


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
        "asked of its own texts and of the pages read for it",
    ]
    assert asky("session", "show", "sea", "--json").json["collections"] == sorted(names)


def test_a_session_is_removed_with_its_runs_and_findings_and_nothing_else(asky: InProcess, tmp_path: Path) -> None:
    converse(asky.home, tmp_path, "sea")
    kept = converse(asky.home, tmp_path, "mill")
    asky("memory", "add", "of the sea", "-s", "sea")
    asky("memory", "add", "of the mill", "-s", "mill")
    refused = asky("session", "rm", "sea")
    assert (refused.code, refused.out) == (2, "")
    assert "confirmation needed to remove the session sea: 1 run and 1 finding\n" in refused.err
    assert "confirm with --yes" in refused.err
    done = asky("session", "rm", "sea", "--yes")
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
        done = asky("session", "rm", "sea", "-y")
        assert done.code == 2
        assert "being answered in sea" in done.err
        store.runs.finish(run.id, "failed", None)
        assert asky("session", "rm", "sea", "-y").code == 0


def test_a_session_with_nothing_in_it_is_removed_without_a_question(asky: InProcess) -> None:
    with FilledStore(asky.home) as store:
        store.sessions.open("sea", mode="lean")
    assert asky("session", "rm", "sea").err == "removed the session sea: 0 runs\n"


@pytest.mark.few(1)
@pytest.mark.parametrize(("reply", "left"), [("n", ["sea"]), ("", ["sea"]), ("y", [])])
def test_a_terminal_is_asked_before_a_session_is_removed(
    asky: InProcess, tmp_path: Path, reply: str, left: list[str]
) -> None:
    converse(asky.home, tmp_path, "sea")
    environ = clean_environment(asky.home, {"ASKY_HOME": str(asky.home)})
    child = pexpect.spawn(ASKY[0], [*ASKY[1:], "session", "rm", "sea"], env=environ, timeout=300, encoding="utf-8")
    child.expect_exact("Remove the session sea: 1 run?")
    child.sendline(reply)
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert [each["name"] for each in asky("session", "list", "--json").json["sessions"]] == left


@pytest.mark.parametrize(("form", "text"), [("bibtex", ""), ("csl", "[]\n"), ("ris", "")])
def test_a_session_without_citations_has_an_empty_bibliography_which_is_said(
    asky: InProcess, tmp_path: Path, form: str, text: str
) -> None:
    with FilledStore(asky.home) as store:
        store.sessions.open("sea", mode="lean")
    done = asky("session", "export", "sea", "--format", form)
    assert (done.code, done.out, done.err) == (0, text, "the session sea cites nothing\n")
    converse(asky.home, tmp_path, "sea")
    assert asky("session", "export", "sea", "--format", form).err == ""


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
