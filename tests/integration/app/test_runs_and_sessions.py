"""Past runs and sessions, read and changed through the library: values come back, and nothing is printed."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from asky.app.asky import Asky
from asky.app.runs import RunService
from asky.app.sessions import SessionContents, SessionSummary
from asky.config.loader import load_config
from asky.errors import StoreDamaged, UsageError
from asky.events import Envelope, Noted
from asky.report.research_report import REPORTED
from asky.runs.feed import RunFeed
from asky.storage.events import EventStore
from asky.storage.sessions import NewMessage, own_collection
from asky.values import Unreadable
from tests.support.research import research_report
from tests.support.stores import FilledStore, fill_home

QUOTE = "The sea rises and falls twice a day."
PARTIAL = "It rises twice a day [{key}], and nobody knows why [Pffff]."


@pytest.fixture
def home(tmp_path: Path) -> Path:
    fill_home(tmp_path)
    return tmp_path


@pytest.fixture
def asky(home: Path) -> Iterator[Asky]:
    environ = {"ASKY_HOME": str(home / "asky"), "HOME": str(home)}
    with Asky.open(load_config(environ=environ, cwd=home), environ=environ) as opened:
        yield opened


@pytest.fixture(autouse=True)
def silence(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    yield
    assert capfd.readouterr() == ("", "")


def fail(home: Path) -> str:
    """A run that failed when it had written a little; returns its id."""
    with FilledStore(home / "asky") as store:
        path = home / "docs" / "tides.md"
        run = store.runs.start(question="How often?", mode="standard", model="far", session_id=None)
        document_id = store.runs.passages(store.runs.recent()[1].id)[0].document_id
        shown = store.evidence(run, path, document_id, QUOTE, title="Tides")
        store.runs.show(run.id, [shown])
        searched = {"queries": ["tides"], "services": [{"name": "s", "host": "search.example.org"}], "found": []}
        searched["failures"] = []
        store.runs.record(run.id, "web_searched", searched)
        store.runs.record(run.id, "asked", {"model": "far", "host": "api.example.org", "sources": 1})
        failed = {"code": "unreachable", "message": "no answer", "partial": PARTIAL.format(key=shown.key)}
        store.runs.record(run.id, "failed", failed)
        store.runs.finish(run.id, "failed", None)
        store.runs.release(run.id)
    return run.id


def test_runs_are_listed_and_found(asky: Asky, home: Path) -> None:
    failed = fail(home)
    listed = [each for each in asky.runs.list() if not isinstance(each, Unreadable)]
    assert listed[0].run.id == failed
    assert [each.run.question for each in asky.runs.list(session="lab") if not isinstance(each, Unreadable)] == [
        "How often?"
    ]
    assert asky.runs.session_names(each.run for each in listed) == {failed: None, listed[1].run.id: "lab"}
    assert len(asky.runs.list(limit=1)) == 1
    assert asky.runs.find().id == asky.runs.find(failed).id == failed
    for name in ("nothing", "nothing\udcff"):
        with pytest.raises(UsageError, match="there is no session"):
            asky.runs.list(session=name)
        with pytest.raises(UsageError, match="there is no run"):
            asky.runs.find(name)


def test_a_run_that_failed_shows_what_it_reached_and_had_written(asky: Asky, home: Path) -> None:
    details = asky.runs.show(fail(home))
    assert (details.models, details.hosts) == (["far"], ["search.example.org", "api.example.org"])
    partial = asky.runs.partial_text(details)
    assert partial is not None
    assert partial.text.startswith("It rises twice a day [1], and nobody knows why ~~[")
    assert [each.title for each in partial.sources] == ["Tides"]
    with pytest.raises(UsageError, match="has no answer: its status is failed"):
        asky.runs.export(details.run, "md")
    answered = asky.runs.list(session="lab")[0]
    assert not isinstance(answered, Unreadable)
    assert asky.runs.partial_text(asky.runs.show(answered.run.id)) is None


def test_the_events_of_a_run_come_from_the_store_behind_a_number(asky: Asky, home: Path) -> None:
    run_id = asky.runs.find().id
    with FilledStore(home / "asky") as store:
        feed = RunFeed(run_id, EventStore(store.database))
        for text in ("one", "two", "three"):
            feed.emit(Noted(text))
        feed.start_writing()

    async def collect(after: int) -> list[Envelope]:
        return [each async for each in asky.runs.events(run_id[:-1], after=after)]

    assert [each.event for each in anyio.run(collect, 0)] == [Noted("one"), Noted("two"), Noted("three")]
    assert [(each.run, each.seq) for each in anyio.run(collect, 2)] == [(run_id, 3)]
    assert anyio.run(collect, 3) == []


def test_a_citation_is_opened_and_checked_again(asky: Asky, home: Path) -> None:
    run = asky.runs.find()
    opened = asky.runs.open_citation(run, 1, context_chars=10)
    assert (opened.passage, opened.quote_matches, opened.hash_matches, opened.source_now) == (QUOTE, True, True, "same")
    assert len(opened.context.after) <= 10
    (home / "docs" / "tides.md").unlink()
    assert asky.runs.open_citation(run, 1).source_now == "missing"
    with pytest.raises(UsageError, match="has no citation 2"):
        asky.runs.open_citation(run, 2)


def test_a_run_is_exported_in_each_form(asky: Asky) -> None:
    run = asky.runs.find()
    assert asky.runs.export(run, "md").text.startswith('---\nquestion: "How often?"\n')
    assert "<!doctype html>" in asky.runs.export(run, "html").text
    assert json.loads(asky.runs.export(run, "json").text) == asky.runs.evidence(run)
    assert "Tides" in asky.runs.export(run, "bibtex").text
    assert not asky.runs.export(run, "ris").cites_nothing
    assert run.answer is not None
    assert json.loads(asky.runs.export_answer(run.answer, "json").text) == run.answer
    assert "<!doctype html>" in asky.runs.export_answer(run.answer, "html").text
    assert asky.runs.export_answer(run.answer, "pdf").data == asky.runs.export(run, "pdf").data
    assert asky.runs.research_report(run) is None


def test_an_answer_of_the_agent_comes_with_its_report(asky: Asky, home: Path) -> None:
    with FilledStore(home / "asky") as store:
        run_id = store.answered("How often?", "Twice.", lambda _: [], mode="agent")
        answer = store.runs.find(run_id).answer
        assert answer is not None
        report = research_report(run=run_id, answer=answer)
        store.runs.record(run_id, REPORTED, report.encode())
    assert asky.runs.research_report(asky.runs.find(run_id)) == report
    assert json.loads(asky.runs.export_answer(answer, "json").text) == report.encode()
    assert asky.runs.export_answer(answer, "md").text.startswith("# Why are there tides?\n\nTwice.\n\n## How sure")


def test_a_bundle_is_verified_without_a_store(asky: Asky, home: Path) -> None:
    run = asky.runs.find()
    bundle = asky.runs.bundle(run)
    asky.close()
    checked = RunService.verify(io.BytesIO(bundle))
    assert (checked.run, checked.citations, checked.faults) == (run.id, 1, ())
    assert RunService.verify(io.BytesIO(bundle.replace(b"twice a day", b"never today"))).faults


def test_a_bundle_that_would_fail_its_check_is_not_made(asky: Asky, home: Path) -> None:
    run = asky.runs.find()
    assert run.answer is not None
    citation = {**run.answer["citations"][0], "quote": "something else"}
    with FilledStore(home / "asky") as store:
        store.runs.finish(run.id, "finished", {**run.answer, "citations": [citation]})
    with pytest.raises(StoreDamaged, match="would fail its check"):
        asky.runs.bundle(asky.runs.find(run.id))


def test_sessions_are_listed_shown_and_renamed(asky: Asky, home: Path) -> None:
    with FilledStore(home / "asky") as store:
        empty = store.sessions.open("empty", mode="lean")
        store.sessions.add_collections(empty.id, [store.corpus.collection(own_collection(empty.id), create=True)])
    listed = [each for each in asky.sessions.list() if isinstance(each, SessionSummary)]
    assert {each.session.name: each.first_question for each in listed} == {"empty": None, "lab": "How often?"}
    shown = asky.sessions.show("lab")
    assert [each.content for each in shown.messages] == ["How often?", "Twice a day [1]."]
    assert [each.status for each in shown.runs] == ["finished"]
    assert asky.sessions.show("empty").has_own_collection
    assert asky.sessions.show("empty").named_collections == []
    asky.sessions.rename("empty", "full")
    assert set(asky.sessions.names()) == {"full", "lab"}
    with pytest.raises(UsageError, match="there is no session 'empty'"):
        asky.sessions.find("empty")


def test_a_session_is_exported_with_what_was_added_and_taken_back(asky: Asky, home: Path) -> None:
    found = asky.sessions.find("lab")
    (run_id,) = asky.sessions.run_ids(found)
    with FilledStore(home / "asky") as store:
        store.findings.add("Twice a day.", session_id=found.id, run_id=None, tags=[])
        store.sessions.append(found.id, [NewMessage("note", "In metres, please.")], run_id=run_id)
        store.sessions.withdraw(found.id, run_id)
    exported = json.loads(asky.sessions.export(found, "json").text)
    assert exported["schema"] == "asky.session/1"
    assert [each["text"] for each in exported["findings"]] == ["Twice a day."]
    markdown = asky.sessions.export(found, "md").text
    assert "How often? (taken back)" in markdown
    assert "In metres, please." in markdown
    assert "Session lab" in asky.sessions.export(found, "html").text
    assert not asky.sessions.export(found, "bibtex").cites_nothing


def test_a_session_is_removed_with_what_it_holds(asky: Asky, home: Path) -> None:
    found = asky.sessions.find("lab")
    with FilledStore(home / "asky") as store:
        store.findings.add("Twice a day.", session_id=found.id, run_id=None, tags=[])
    assert asky.sessions.contents(found) == SessionContents(runs=1, findings=1)
    assert asky.sessions.remove(found) == 1
    assert asky.runs.list() == asky.sessions.list() == []


def test_a_session_without_answers_has_an_empty_bibliography(asky: Asky, home: Path) -> None:
    with FilledStore(home / "asky") as store:
        store.sessions.open("empty", mode="lean")
    exported = asky.sessions.export(asky.sessions.find("empty"), "csl")
    assert (json.loads(exported.text), exported.cites_nothing) == ([], True)


def test_a_closed_asky_reads_nothing(asky: Asky) -> None:
    asky.close()
    with pytest.raises(UsageError, match="closed"):
        _ = asky.runs
    with pytest.raises(UsageError, match="closed"):
        _ = asky.sessions
