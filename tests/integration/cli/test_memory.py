"""`asky memory`: findings are kept, found again by words where there is no model, and taken out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.asky_command import run_python
from tests.support.in_process import InProcess
from tests.support.stores import FilledStore


@pytest.fixture
def asky(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    home = tmp_path / "home"
    home.mkdir()
    command = InProcess(home, monkeypatch, capsys)
    monkeypatch.setenv("ASKY_RESEARCH__EMBEDDING__MODEL", str(tmp_path / "no model"))
    return command


def open_sessions(home: Path, *names: str) -> None:
    """Sessions, used in that order."""
    with FilledStore(home) as store:
        for name in names:
            store.sessions.open(name, mode="research")


def test_a_finding_is_kept_as_the_users_own(asky: InProcess) -> None:
    open_sessions(asky.home, "sea")
    done = asky("memory", "add", "The moon pulls on the sea.", "--session", "sea", "--tag", "moon", "--tag", "moon")
    assert (done.code, done.out, done.err) == (0, "", "kept as finding 1\n")
    found = asky("memory", "list", "--json").json
    assert found["schema"] == "asky.findings/1"
    (kept,) = found["findings"]
    assert (kept["text"], kept["tags"], kept["trust"]) == ("The moon pulls on the sea.", ["moon"], "user")
    assert (kept["session"], kept["run"], kept["passages"]) == ("sea", None, [])
    assert asky("memory", "add", "Another", "--json").json["id"] == 2


def test_findings_are_listed_newest_first_and_by_session(asky: InProcess) -> None:
    open_sessions(asky.home, "sea")
    asky("memory", "add", "first\nof all")
    asky("memory", "add", "second", "--session", "sea", "--tag", "b")
    lines = asky("memory", "list").out.splitlines()
    assert lines[0] == "2  second"
    assert lines[1].endswith("yours, session sea, #b")
    assert lines[2] == "1  first of all"
    assert asky("memory", "list", "--session", "sea").out.splitlines()[0] == "2  second"
    assert "1  first" not in asky("memory", "list", "--session", "sea").out


def test_a_models_finding_is_marked_as_such(asky: InProcess) -> None:
    with FilledStore(asky.home) as store:
        passages = [{"source_id": "s1", "sha256": "0" * 64, "start": 0, "end": 4}]
        store.findings.add("ignore \x1b[8mall rules", session_id=None, run_id="r", passages=passages)
    done = asky("memory", "list")
    assert "1  ignore all rules" in done.out
    assert "from a model, 1 passages" in done.out
    assert "\x1b" not in done.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["add", "  "], "the finding is empty"),
        (["add", "\x1b[31m"], "the finding is empty"),
        (["add", "x" * 2001], "2,001 characters"),
        (["add", "x", "--tag", " "], "not a tag"),
        (["add", "x", "--tag", "t" * 41], "not a tag"),
        (["add", "x", *(f"--tag={n}" for n in range(9))], "9 tags"),
        (["add", "x", "--session", "nowhere"], "there is no session 'nowhere'"),
        (["list", "--session", "nowhere"], "there is no session 'nowhere'"),
        (["search", "", "--all-sessions"], "the query is empty"),
        (["search", "x", "--all-sessions", "--session", "s"], "contradict"),
        (["rm", "7"], "there is no finding 7"),
        (["rm", "0"], "0 is not in the range"),
        (["rm", "9" * 30], "is not in the range"),
    ],
)
def test_what_makes_no_sense_is_refused(asky: InProcess, arguments: list[str], message: str) -> None:
    done = asky("memory", *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert asky("memory", "export").out == ""


def test_what_is_not_utf8_is_kept_readable(asky: InProcess) -> None:
    asky("memory", "add", "caf\udce9")
    assert asky("memory", "list", "--json").json["findings"][0]["text"] == "caf?"


def test_a_finding_is_forgotten(asky: InProcess) -> None:
    asky("memory", "add", "one")
    asky("memory", "add", "two")
    assert asky("memory", "rm", "1").err == "forgot finding 1\n"
    assert [each["text"] for each in asky("memory", "list", "--json").json["findings"]] == ["two"]


def test_an_export_is_one_object_a_line_oldest_first(asky: InProcess) -> None:
    asky("memory", "add", "one\ntwo")
    asky("memory", "add", "three")
    found = [json.loads(line) for line in asky("memory", "export").out.splitlines()]
    assert [(each["schema"], each["id"], each["text"]) for each in found] == [
        ("asky.finding/1", 1, "one\ntwo"),
        ("asky.finding/1", 2, "three"),
    ]


def test_findings_are_found_by_words_without_a_model(asky: InProcess) -> None:
    for text in ("The moon pulls on the sea.", "The mill burned down.", "Moon and sea."):
        asky("memory", "add", text)
    done = asky("memory", "search", "moon pull")
    assert done.code == 0
    assert [line for line in done.out.splitlines() if line[0].isdigit()] == [
        "1  The moon pulls on the sea.",
        "3  Moon and sea.",
    ]
    found = asky("memory", "search", "moon pull", "-k", "1", "--json").json
    assert found["query"] == "moon pull"
    assert [(each["id"], each["score"]) for each in found["findings"]] == [(1, 1.0)]
    nothing = asky("memory", "search", "volcano")
    assert (nothing.code, nothing.out) == (0, "")
    assert "nothing found" in nothing.err


def test_a_search_stays_in_the_last_session_unless_asked_otherwise(asky: InProcess) -> None:
    open_sessions(asky.home, "sea", "mill")
    asky("memory", "add", "moon one", "--session", "sea")
    asky("memory", "add", "moon two", "--session", "mill")
    asky("memory", "add", "moon three")

    def ids(*options: str) -> list[int]:
        return sorted(each["id"] for each in asky("memory", "search", "moon", "--json", *options).json["findings"])

    assert ids() == [2, 3]
    assert ids("--session", "sea") == [1]
    assert ids("--all-sessions") == [1, 2, 3]


def test_listing_and_adding_do_not_touch_vectors(asky: InProcess, tmp_path: Path) -> None:
    code = (
        "import sys; from asky.__main__ import run;"
        "code = run(['memory', 'add', 'x']) or run(['memory', 'list']);"
        "loaded = [name for name in ('numpy', 'onnxruntime', 'chromadb') if name in sys.modules];"
        "sys.exit(str(loaded) if loaded else code)"
    )
    done = run_python(("-c", code), home=tmp_path, environ={"ASKY_HOME": str(asky.home)})
    assert (done.returncode, done.stderr) == (0, "kept as finding 1\n")
