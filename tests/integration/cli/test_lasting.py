"""What later questions of a session take over from those before it, where they say nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from asky.storage.sessions import NewMessage, SessionStore
from tests.support.in_process import InProcess
from tests.support.stores import TIDES, FilledStore
from tests.support.twins.web import SearxngTwin

QUESTION = "How many high tides does the moon raise in a day?"


@pytest.fixture
def asky(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[InProcess]:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setattr("sys.stdin", None)
    with SearxngTwin(rows=[]) as twin:
        asky = InProcess(home, monkeypatch, capsys)
        monkeypatch.setenv("ASKY_SEARCH__SEARXNG__BASE_URL", twin.base_url)
        yield asky
        assert twin.requests == []


def begun(home: Path, folder: Path, mode: str, settings: Mapping[str, Any]) -> None:
    """A session `lab` with a document, used after another one, `sea`."""
    with FilledStore(home) as store:
        store.add_text(folder / "tides.md", TIDES)
        sessions = SessionStore(store.database)
        sessions.open("sea", mode="standard")
        lab = sessions.open("lab", mode=mode)
        sessions.add_collections(lab.id, [store.collection])
        sessions.remember(lab.id, mode=mode, settings=settings)
        sessions.append(lab.id, [NewMessage("user", "What pulls?")], run_id=None)


def plan(asky: InProcess, *arguments: str) -> Any:
    done = asky(QUESTION, "--dry-run", "--json", *arguments)
    assert done.code == 0, done.err
    return done.json


def test_a_session_keeps_its_mode_its_model_and_its_documents(asky: InProcess, tmp_path: Path) -> None:
    begun(asky.home, tmp_path, "research", {"model": "openai:test", "web": False})
    for arguments in (("-s", "lab"), ("-c",)):
        found = plan(asky, *arguments)
        assert (found["mode"], found["model"], found["sources"], found["web"]) == ("research", "openai:test", 1, None)
    assert plan(asky, "-s", "lab", "-m", "extractive")["model"] == "extractive"
    assert plan(asky, "-s", "lab", "-L")["mode"] == "lean"


def test_a_session_that_was_kept_off_the_web_stays_off_it(asky: InProcess, tmp_path: Path) -> None:
    begun(asky.home, tmp_path, "standard", {"web": False})
    assert plan(asky, "-c", "-m", "openai:test")["web"] is None
    assert plan(asky, "-c", "-m", "openai:test", "--web")["web"] is not None


def test_a_session_keeps_which_sources_it_wants(asky: InProcess, tmp_path: Path) -> None:
    begun(asky.home, tmp_path, "research", {"web": True, "sites": ["example.org"], "since": "2020"})
    wanted = " ".join(plan(asky, "-c")["web"]["wanted"])
    assert "example.org" in wanted
    assert "2020" in wanted
    assert "example.net" in " ".join(plan(asky, "-c", "--site", "example.net")["web"]["wanted"])
    assert "example.org" not in " ".join(plan(asky, "-c", "--site", "example.net")["web"]["wanted"])


def test_documents_that_are_named_keep_a_later_question_off_the_web_too(asky: InProcess, tmp_path: Path) -> None:
    begun(asky.home, tmp_path, "research", {"web": True})
    (tmp_path / "more").mkdir()
    assert plan(asky, "-c")["web"] is not None
    assert plan(asky, "-c", "-d", str(tmp_path / "more"))["web"] is None


def test_a_model_that_is_gone_is_said_with_the_way_out(asky: InProcess, tmp_path: Path) -> None:
    begun(asky.home, tmp_path, "standard", {"web": False, "model": "gone"})
    done = asky(QUESTION, "--dry-run", "-c")
    assert done.code == 3
    assert "gone" in done.err
    assert asky(QUESTION, "--dry-run", "-c", "-m", "extractive").code == 0


def test_there_must_be_a_session_to_continue(asky: InProcess) -> None:
    assert asky(QUESTION, "--dry-run", "-c").code == 2


def test_a_session_gets_another_name_but_never_that_of_another(asky: InProcess, tmp_path: Path) -> None:
    begun(asky.home, tmp_path, "standard", {})
    assert asky("session", "rename", "lab", "the tides").err == "the session lab is now the tides\n"
    names = {each["name"] for each in asky("session", "list", "--json").json["sessions"]}
    assert names == {"the tides", "sea"}
    for bad in ("sea", "a/b", "a\\b", "tab\there", "", "x" * 81):
        done = asky("session", "rename", "the tides", bad)
        assert done.code == 2, bad
        assert len(done.err.splitlines()) <= 2
    assert asky("session", "rename", "nobody", "else").code == 2
    assert {each["name"] for each in asky("session", "list", "--json").json["sessions"]} == names


@pytest.mark.parametrize("form", ["md", "json", "html"])
def test_a_session_is_exported_with_its_answers(asky: InProcess, tmp_path: Path, form: str) -> None:
    tides = tmp_path / "tides.md"
    with FilledStore(asky.home) as store:
        document = store.add_text(tides, TIDES)
        for question in ("What pulls?", "What <b>raises</b>?"):
            store.answered(
                question,
                "The moon pulls on the water [1].",
                lambda run: [store.evidence(run, tides, document, "The moon pulls on the water")],
                session="sea",
            )
    printed = asky("session", "export", "sea", "--format", form).out
    assert printed.count("The moon pulls on the water") >= 2
    assert printed.index("What pulls?") < printed.rindex("raises")
    file = tmp_path / f"sea.{form}"
    done = asky("session", "export", "sea", "-o", str(file))
    assert (done.code, done.out, file.read_text("utf-8")) == (0, "", printed)
    assert asky("session", "export", "sea", "-o", str(tmp_path / "sea.docx")).code == 2
    assert asky("session", "export", "nobody").code == 2


@pytest.mark.parametrize("form", ["md", "html"])
def test_a_turn_that_was_taken_back_says_so_in_exports(asky: InProcess, tmp_path: Path, form: str) -> None:
    tides = tmp_path / "tides.md"
    with FilledStore(asky.home) as store:
        document = store.add_text(tides, TIDES)
        run_id = store.answered(
            "What pulls?",
            "The moon [1].",
            lambda run: [store.evidence(run, tides, document, "The moon pulls on the water")],
            session="sea",
        )
        sea = store.sessions.find("sea")
        assert sea is not None
        assert store.sessions.withdraw(sea.id, run_id)
    assert "What pulls? (taken back)" in asky("session", "export", "sea", "--format", form).out


@pytest.mark.parametrize("form", ["md", "html", "json"])
def test_what_was_typed_to_a_turn_under_way_stands_in_exports_below_its_question(
    asky: InProcess, tmp_path: Path, form: str
) -> None:
    tides = tmp_path / "tides.md"
    with FilledStore(asky.home) as store:
        document = store.add_text(tides, TIDES)
        for question in ("What pulls?", "What else?"):
            run_id = store.answered(
                question,
                "The moon [1].",
                lambda run: [store.evidence(run, tides, document, "The moon pulls on the water")],
                session="<b>x & y",
            )
        session = store.sessions.find("<b>x & y")
        assert session is not None
        for note in ("only *spring* tides", "and\nno others"):
            store.sessions.append(session.id, [NewMessage("note", note)], run_id=run_id)
        failed = store.runs.start(question="And <i>?", mode="research", model="m", session_id=session.id)
        store.sessions.append(session.id, [NewMessage("note", "quickly")], run_id=failed.id)
        store.runs.finish(failed.id, "failed", None)
    done = asky("session", "export", "<b>x & y", "--format", form)
    if form == "md":
        assert done.out.startswith(r"# Session \<b\>x \& y" + "\n\n## What pulls?\n\nThe moon")
        assert (
            "## What else?\n\n*Added while it was answered:* only \\*spring\\* tides\n\n"
            "*Added while it was answered:* and no others\n\nThe moon [^2-1]."
        ) in done.out
        assert (
            "## And \\<i\\>?\n\n*Added while it was answered:* quickly\n\nNo answer was written: the run is failed."
        ) in done.out
    elif form == "html":
        added = 'Added while it was answered: <q dir="auto" lang="">only *spring* tides</q>'
        assert done.out.index("What else?</h2>") < done.out.index(added) < done.out.rindex("The moon")
        assert done.out.count("Added while it was answered: ") == 2
    else:
        notes = [each["content"] for each in done.json["messages"] if each["role"] == "note"]
        assert notes == ["only *spring* tides", "and\nno others", "quickly"]


def test_a_session_without_an_answer_can_be_exported(asky: InProcess, tmp_path: Path) -> None:
    begun(asky.home, tmp_path, "standard", {})
    for form in ("md", "json", "html"):
        assert asky("session", "export", "lab", "--format", form).code == 0


def test_a_finding_is_the_same_object_in_an_export_and_in_the_list(asky: InProcess, tmp_path: Path) -> None:
    begun(asky.home, tmp_path, "standard", {})
    asky("memory", "add", "The moon pulls.", "-s", "lab", "--tag", "moon")
    listed = asky("memory", "list", "-s", "lab", "--json").json["findings"]
    assert [each["session"] for each in listed] == ["lab"]
    assert json.loads(asky("session", "export", "lab", "--format", "json").out)["findings"] == listed


@pytest.mark.parametrize(("suffix", "begins"), [("bib", "@"), ("csl.json", "["), ("ris", "TY  - ")])
def test_the_sources_of_a_session_are_exported_each_once(
    asky: InProcess, tmp_path: Path, suffix: str, begins: str
) -> None:
    tides = tmp_path / "tides.md"
    with FilledStore(asky.home) as store:
        document = store.add_text(tides, TIDES)
        for question in ("What pulls?", "What raises?"):
            store.answered(
                question,
                "The moon pulls on the water [1].",
                lambda run: [store.evidence(run, tides, document, "The moon pulls on the water")],
                session="sea",
            )
    file = tmp_path / f"sea.{suffix}"
    assert asky("session", "export", "sea", "-o", str(file)).code == 0
    written = file.read_text("utf-8")
    assert written.startswith(begins)
    assert written.count("\nER  - ") + written.count("@") + written.count('"id"') == 1


def test_what_a_session_wants_of_the_web_is_no_hindrance_to_a_question_off_it(asky: InProcess, tmp_path: Path) -> None:
    begun(asky.home, tmp_path, "research", {"web": True, "sites": ["example.org"], "since": "2020"})
    (tmp_path / "more").mkdir()
    assert plan(asky, "-c", "-d", str(tmp_path / "more"))["web"] is None
    assert plan(asky, "-c", "-L")["mode"] == "lean"


def test_two_spellings_of_one_name_are_one_session(asky: InProcess, tmp_path: Path) -> None:
    begun(asky.home, tmp_path, "standard", {})
    assert asky("session", "rename", "lab", "Zu\u0308rich").code == 0
    assert asky("session", "show", "Z\u00fcrich").code == 0
    for bad in (" sea", "sea ", "\udcff", "\ufffd"):
        assert asky("session", "rename", "Z\u00fcrich", bad).code == 2, bad
