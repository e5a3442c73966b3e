"""`asky runs export` in each format, and `asky runs verify`, which needs nothing but the archive."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
import zipfile
from pathlib import Path

import pymupdf
import pytest
import rispy
from pybtex.database import parse_string

from asky.report.research_report import REPORTED, decode_research
from tests.support.asky_command import ASKY, clean_environment
from tests.support.in_process import InProcess
from tests.support.research import research_report
from tests.support.stores import TIDES, FilledStore

QUOTE = "The moon pulls on the water"
ROOT = str(Path(__file__).parents[3])


@pytest.fixture
def asky(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    home = tmp_path / "home"
    home.mkdir()
    return InProcess(home, monkeypatch, capsys)


@pytest.fixture
def run_id(asky: InProcess, tmp_path: Path) -> str:
    with FilledStore(asky.home) as store:
        path = tmp_path / "tides.md"
        document = store.add_text(path, TIDES, title="Tides & {seas}")
        store.add_text(tmp_path / "unused.md", "Nobody cites this.", title="Unused")
        return store.answered(
            "What pulls?",
            "The moon pulls [1].",
            lambda run: [store.evidence(run, path, document, QUOTE, title="Tides & {seas}")],
        )


def test_without_a_run_the_last_answer_that_cites_something_is_exported(asky: InProcess, run_id: str) -> None:
    with FilledStore(asky.home) as store:
        last = store.answered("Who painted it?", "I could not find an answer in the sources.", lambda _run: [])
    done = asky("runs", "export")
    assert json.loads(done.out)["run"]["id"] == run_id
    assert done.err == f"the last run, {last}, cites nothing; this is run {run_id}: “What pulls?”\n"
    assert json.loads(asky("runs", "export", last).out)["run"]["id"] == last


@pytest.mark.parametrize(("name", "form"), [("refs.bib", "bibtex"), ("refs.csl.json", "csl"), ("REFS.RIS", "ris")])
def test_a_bibliography_of_the_cited_sources_is_written_by_suffix_or_format(
    asky: InProcess, run_id: str, tmp_path: Path, name: str, form: str
) -> None:
    done = asky("runs", "export", run_id, "-o", str(tmp_path / name))
    assert (done.code, done.out) == (0, "")
    text = (tmp_path / name).read_text("utf-8")
    assert asky("runs", "export", "--format", form).out == text
    titles = {
        "bibtex": lambda: [entry.fields["title"] for entry in parse_string(text, "bibtex").entries.values()],
        "csl": lambda: [item["title"] for item in json.loads(text)],
        "ris": lambda: [row["title"] for row in rispy.loads(text)],
    }
    escaped = r"{Tides \& \textbraceleft{}seas\textbraceright{}}"
    assert titles[form]() == [escaped if form == "bibtex" else "Tides & {seas}"]


def test_the_other_formats_go_by_suffix_too_and_the_format_wins(asky: InProcess, run_id: str, tmp_path: Path) -> None:
    for name, begin in (
        ("a.html", "<!doctype html>"),
        ("a.md", '---\nquestion: "What pulls?"'),
        ("a.json", '{"schema":"asky.run/1"'),
    ):
        assert asky("runs", "export", run_id, "-o", str(tmp_path / name)).code == 0
        assert (tmp_path / name).read_text("utf-8").startswith(begin)
    asky("runs", "export", "-o", str(tmp_path / "a.bib"), "--format", "json")
    assert json.loads((tmp_path / "a.bib").read_text("utf-8"))["schema"] == "asky.run/1"


def test_a_run_without_citations_has_an_empty_bibliography_and_one_without_an_answer_none(asky: InProcess) -> None:
    with FilledStore(asky.home) as store:
        store.answered("Who?", "Nobody knows.", lambda _: [])
    done = asky("runs", "export", "--format", "csl")
    assert (done.code, done.out) == (0, "[]\n")
    assert "cites nothing" in done.err
    with FilledStore(asky.home) as store:
        failed = store.runs.start(question="Who?", mode="research", model="broken", session_id=None)
        store.runs.finish(failed.id, "failed", None)
    for form in (["--format", "bibtex"], ["--format", "md"], ["--format", "html"], ["--bundle", "x.zip"]):
        done = asky("runs", "export", *form)
        assert done.code == 2
        assert f"run {failed.id} has no answer: its status is failed" in done.err


def test_a_bundle_is_written_and_verified_without_a_home(asky: InProcess, run_id: str, tmp_path: Path) -> None:
    target = tmp_path / "run.zip"
    assert asky("runs", "export", run_id, "--bundle", str(target)).code == 0
    first = target.read_bytes()
    assert asky("runs", "export", "--bundle", str(target)).code == 0
    assert target.read_bytes() == first
    assert "--bundle writes everything" in asky("runs", "export", "--bundle", "x.zip", "-o", "x").err
    with zipfile.ZipFile(target) as archive:
        assert json.loads(archive.read("answer.json"))["run"] == run_id
        assert [entry["kind"] for entry in json.loads(archive.read("run.json"))["ledger"]][-1] == "cited"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o500)
    done = subprocess.run(
        [sys.executable, "-m", "asky", "runs", "verify", str(target)],
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": ROOT,
            "ASKY_HOME": str(elsewhere / "no"),
            "ASKY_NO_SUCH__KEY": "1",
        },
        cwd=elsewhere,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"ok: run {run_id}, 7 files, 1 citation, 1 claim\ndigest ")
    assert list(elsewhere.iterdir()) == []


def test_a_changed_bundle_is_told_with_a_line_for_each_fault(asky: InProcess, run_id: str, tmp_path: Path) -> None:
    target = tmp_path / "run.zip"
    asky("runs", "export", run_id, "--bundle", str(target))
    intact = asky("runs", "verify", str(target), "--json").json
    assert (intact["schema"], intact["run"], intact["ok"], intact["faults"]) == ("asky.verified/1", run_id, True, [])
    target.write_bytes(target.read_bytes().replace(QUOTE.encode(), b"The sun  pulls on the water"))
    done = asky("runs", "verify", str(target))
    assert done.code == 1
    assert done.out.startswith("FAILED: ")
    assert "answer.json has been changed" in done.out
    found = asky("runs", "verify", str(target), "--json")
    assert (found.code, found.json["ok"], len(found.json["faults"])) == (1, False, done.out.count("\n"))


def test_what_cannot_be_read_is_a_mistake_of_usage(asky: InProcess, tmp_path: Path) -> None:
    assert asky("runs", "verify", str(tmp_path / "none.zip")).code == 2
    assert asky("runs", "verify", str(tmp_path)).code == 2
    assert asky("runs", "verify", "/dev/null").code == 2


@pytest.fixture
def agent_run(asky: InProcess, tmp_path: Path) -> str:
    """A run of the agent with its report."""
    with FilledStore(asky.home) as store:
        path = tmp_path / "tides.md"
        document = store.add_text(path, TIDES, title="Tides")
        run_id = store.answered(
            "What pulls?",
            "The moon pulls [1].",
            lambda run: [store.evidence(run, path, document, QUOTE, title="Tides")],
            session="sea",
            mode="agent",
        )
        answer = store.runs.find(run_id).answer
        assert answer is not None
        store.runs.record(run_id, REPORTED, research_report(run=run_id, query="What pulls?", answer=answer).encode())
        return run_id


def test_a_run_of_the_agent_is_exported_with_its_report_in_every_format(
    asky: InProcess, agent_run: str, tmp_path: Path
) -> None:
    said = "not answered: What did Laplace add?"
    markdown = asky("runs", "export", agent_run, "--format", "md").out
    assert markdown.startswith("# What pulls?\n\nThe moon pulls [1].\n\n## How sure is this\n")
    assert said in markdown
    assert f"[1] Tides - <file://{tmp_path}/tides.md>\n\n> {QUOTE}\n" in markdown
    page = asky("runs", "export", "--format", "html").out
    assert said in page
    assert "contained the passage at this position" in page
    run = asky("runs", "export", agent_run).json
    assert run["schema"] == "asky.run/1"
    assert decode_research(run["ledger"][-1]["data"]).run == agent_run
    assert asky("runs", "export", "--bundle", str(tmp_path / "run.zip")).code == 0
    assert asky("runs", "verify", str(tmp_path / "run.zip")).code == 0
    assert asky("runs", "export", "-o", str(tmp_path / "a.pdf")).code == 0
    assert said in _pdf_text((tmp_path / "a.pdf").read_bytes())
    assert asky("session", "export", "sea", "-o", str(tmp_path / "s.PDF")).code == 0
    assert said in _pdf_text((tmp_path / "s.PDF").read_bytes())
    assert "@misc" in asky("runs", "export", "--format", "bibtex").out


def test_a_damaged_report_is_told_and_not_left_out(asky: InProcess, agent_run: str) -> None:
    with FilledStore(asky.home) as store:
        store.runs.record(agent_run, REPORTED, {"run": agent_run})
    done = asky("runs", "export", "--format", "md")
    assert (done.code, "the ledger of run" in done.err, "asky doctor" in done.err) == (1, True, True)


def test_a_pdf_goes_into_a_pipe_byte_by_byte_and_onto_no_terminal(asky: InProcess, run_id: str, tmp_path: Path) -> None:
    assert asky("runs", "export", run_id, "-o", str(tmp_path / "a.pdf")).code == 0
    command = [*ASKY, "runs", "export", "--format", "pdf"]
    environ = clean_environment(tmp_path) | {"ASKY_HOME": str(asky.home)}
    piped = subprocess.run(command, env=environ, capture_output=True, check=False)
    assert (piped.returncode, piped.stderr) == (0, b"")
    assert piped.stdout == (tmp_path / "a.pdf").read_bytes()
    assert "The moon pulls [1]." in _pdf_text(piped.stdout)
    ours, theirs = pty.openpty()
    shown = subprocess.run(command, env=environ, stdout=theirs, stderr=subprocess.PIPE, check=False)
    os.close(theirs)
    os.close(ours)
    assert (shown.returncode, shown.stderr) == (
        2,
        b"asky: a PDF cannot be shown on a terminal\nhint: write it to a file: -o answer.pdf\n",
    )


def _pdf_text(data: bytes) -> str:
    with pymupdf.open("pdf", io.BytesIO(data)) as document:
        return " ".join(" ".join(page.get_text() for page in document).split())
