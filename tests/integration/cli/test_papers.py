"""`asky papers`: what is printed, and how it ends. No model is needed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.asky_command import clean_environment
from tests.support.files import pdf
from tests.support.here import run_here
from tests.support.in_process import InProcess
from tests.support.papers import TEXT, paper_pdf


@pytest.fixture
def asky(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    home = tmp_path / "home"
    home.mkdir()
    command = InProcess(home, monkeypatch, capsys)
    monkeypatch.setenv("ASKY_RESEARCH__EMBEDDING__MODEL", str(tmp_path / "no model"))
    monkeypatch.setattr(sys, "stdin", None)
    return command


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "downloads"
    made.mkdir()
    (made / "a.pdf").write_bytes(paper_pdf(arxiv="2101.00001v2", pages=[TEXT, "The sun raises smaller tides."]))
    (made / "b.pdf").write_bytes(paper_pdf("Bread and yeast", authors="Bo Li, Cy Ro, Di Su", doi="10.5555/b1"))
    return made


def test_papers_are_added_listed_found_searched_and_removed(asky: InProcess, folder: Path) -> None:
    added = asky("papers", "add", str(folder))
    assert added.out == ("added    2101.00001v2  On the tides of nine harbours\nadded    10.5555/b1  Bread and yeast\n")
    assert added.err.endswith("2 PDFs: 2 added\n")
    listed = asky("papers")
    assert "2. 2101.00001v2  2021  Marsh: On the tides of nine harbours\n" in listed.out
    assert "1. 10.5555/b1          Li et al.: Bread and yeast\n" in listed.out
    assert asky("papers", "find", "bread").out.count("\n") == 1
    nothing = asky("papers", "find", "cheese")
    assert (nothing.code, nothing.err) == (0, "no paper matches 'cheese'\n")
    found = asky("papers", "search", "smaller tides of the sun", "-k", "1")
    assert found.out.startswith("1. [2101.00001v2, page 2] On the tides of nine harbours\n   The sun raises")
    assert asky("papers", "search", "tides", "--paper", "bread").out.startswith("1. [10.5555/b1, page 1] Bread")
    removed = asky("papers", "rm", "bread")
    assert (removed.code, removed.err) == (0, "removed 10.5555/b1: Bread and yeast\n")
    again = asky("papers", "add", str(folder / "a.pdf"))
    assert (again.code, again.out) == (0, "")
    assert again.err.endswith("1 PDF: 1 known\n")


def test_json_has_the_papers_the_outcomes_and_the_pages(asky: InProcess, folder: Path) -> None:
    (folder / "c.pdf").write_bytes(pdf(["x"], password="x"))
    added = asky("papers", "add", str(folder), "--json").json
    assert added["schema"] == "asky.added_papers/1"
    assert [(each["file"], each["outcome"], each["why"]) for each in added["outcomes"]] == [
        ("a.pdf", "added", None),
        ("b.pdf", "added", None),
        ("c.pdf", "unread", "needs a password"),
    ]
    listed = asky("papers", "list", "--json").json
    assert (listed["schema"], [each["paper"] for each in listed["papers"]]) == (
        "asky.papers/1",
        ["10.5555/b1", "2101.00001v2"],
    )
    hits = asky("papers", "search", "smaller tides of the sun", "--json").json
    assert hits["schema"] == "asky.paper_hits/1"
    assert (hits["hits"][0]["paper"], hits["hits"][0]["page"]) == ("2101.00001v2", 2)


def test_a_summary_is_printed_with_its_pages(asky: InProcess, folder: Path) -> None:
    asky("papers", "add", str(folder))
    done = asky("papers", "summary", "nine", "harbours")
    assert (done.code, done.out.startswith("# On the tides of nine harbours\n\n- Paper id: 2101.00001v2\n")) == (
        0,
        True,
    )
    assert "[2101.00001v2, page 1]" in done.out
    made = asky("papers", "summary", "2101.00001", "--json").json
    assert (made["schema"], made["paper"]["id"], made["made_by"]) == (
        "asky.paper_summary/1",
        "2101.00001",
        "extractive",
    )
    assert made["summary"] == done.out
    assert made["passages"][0]["page"] == "1"


def test_papers_are_exported_as_a_bibliography(asky: InProcess, folder: Path, tmp_path: Path) -> None:
    asky("papers", "add", str(folder))
    every = asky("papers", "export").out
    assert every.startswith("@misc{libread,")
    assert "@misc{marsh2021tides,\n  author = {Marsh, Ann},\n" in every
    assert ("eprint = {2101.00001}" in every, "note" in every, str(tmp_path) in every) == (True, False, False)
    one = asky("papers", "export", "2101.00001", "--format", "csl").json
    assert [each["title"] for each in one] == ["On the tides of nine harbours"]
    done = asky("papers", "export", "-o", str(tmp_path / "all.ris"))
    assert (done.code, done.err) == (0, f"wrote {tmp_path / 'all.ris'}\n")
    assert (tmp_path / "all.ris").read_text().count("TI  - ") == 2
    for name in ("all.md", "all.txt"):
        assert asky("papers", "export", "-o", str(tmp_path / name)).code == 2
    assert asky("papers", "export", "cheese").code == 2


def test_an_empty_library_says_how_to_begin(asky: InProcess) -> None:
    done = asky("papers")
    assert (done.code, done.out) == (0, "")
    assert "`asky papers add FILE` adds a PDF" in done.err
    assert [asky("papers", *each).code for each in (["search", "x"], ["export"])] == [2, 2]
    assert asky("papers", "retry").err == "no paper lacks anything\n"


@pytest.mark.parametrize(
    ("names", "code", "message"),
    [
        ([], 2, "nothing to add"),
        (["gone.pdf"], 2, "gone.pdf: no file, and no arXiv id, DOI, PMID or address"),
        (["x.txt"], 1, "x.txt could not be added"),
        (["x.txt", "y.pdf", "a.pdf"], 1, "2 of 3 could not be added"),
    ],
)
def test_a_named_file_that_cannot_be_added_is_an_error(
    asky: InProcess, folder: Path, names: list[str], code: int, message: str
) -> None:
    (folder / "x.txt").write_text("hello")
    (folder / "y.pdf").write_bytes(b"%PDF-1.7 nothing")
    done = asky("papers", "add", *(str(folder / each) for each in names))
    assert (done.code, message in done.err) == (code, True), done.err
    assert ("added    2101.00001v2" in done.out) is ("a.pdf" in names)


def test_the_path_of_a_paper_is_printed_in_a_pipe(asky: InProcess, folder: Path) -> None:
    asky("papers", "add", str(folder))
    done = asky("papers", "open", "nine", "harbours")
    assert (done.code, Path(done.out.strip()).name) == (0, "2101.00001v2.pdf")
    Path(done.out.strip()).unlink()
    gone = asky("papers", "open", "2101.00001")
    assert (gone.code, "does not exist" in gone.err) == (1, True)
    assert asky("papers", "open", "cheese").code == 2


def test_the_library_is_a_collection_that_questions_may_name(asky: InProcess, folder: Path) -> None:
    asky("papers", "add", str(folder))
    asked = asky("ask", "--collection", "paper content", "How many tides does the moon raise in a day?", "--json").json
    assert "two tides a day" in asked["answer"]
    (cited,) = asked["citations"][:1]
    assert (cited["page"], cited["url"]) == (1, "https://arxiv.org/abs/2101.00001v2")


@pytest.mark.extended
def test_two_processes_add_the_same_papers_once(asky: InProcess, folder: Path) -> None:
    environ = {"ASKY_HOME": str(asky.home), "ASKY_RESEARCH__EMBEDDING__MODEL": "/none"}
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "asky", "papers", "add", str(folder)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=clean_environment(asky.home, environ),
        )
        for _ in range(2)
    ]
    told = [each.communicate(timeout=300) for each in running]
    assert [each.returncode for each in running] == [0, 0], told
    assert len(asky("papers", "list", "--json").json["papers"]) == 2
    assert len(list((asky.home / "data" / "papers" / "pdfs").iterdir())) == 2


def test_answers_numbers_and_saved_results_go_on_over_separate_commands(
    asky: InProcess, folder: Path, tmp_path: Path
) -> None:
    asky("papers", "add", str(folder))
    done = asky("papers", "research", "what raises smaller tides")
    assert done.code == 0
    assert "the sun raises two smaller ones that strengthen or weaken them. [2101.00001v2, page 1]" in done.out
    assert "\n\n## References\n\n1. 2101.00001v2 - On the tides of nine harbours  \n   Authors: Ann Marsh" in done.out
    assert [line for line in done.err.splitlines() if "Stage" in line or line.startswith("   ")] == [
        "🔍 Stage 1: Searching summaries for relevant papers...",
        "   Found 2 relevant papers",
        "📚 Stage 2: Gathering detailed evidence from 2 papers...",
        "   Retrieved 3 content chunks",
        "✍️  Stage 3: Synthesizing answer from evidence...",
    ]
    assert asky("papers", "open", "1").out.endswith("2101.00001v2.pdf\n")
    assert asky("papers", "summary", "1").out.startswith("# On the tides")
    assert "answered" not in asky("papers", "save", str(tmp_path / "tides.md")).err
    assert "weaken them. [2101.00001v2, page 1]" in (tmp_path / "tides.md").read_text()
    improved = asky("papers", "improve", "measured", "for", "forty", "years")
    assert (improved.code, "[2101.00001v2, page 1]" in improved.out) == (0, True)
    why = asky("why", "2101.00001v2,", "page", "1")
    assert (why.code, "for forty years" in why.out) == (0, True)
    nothing = asky("papers", "research", "quantum chromodynamics")
    assert (nothing.code, nothing.out) == (11, "")
    assert nothing.err.endswith(
        'asky: ❌ No papers found relevant to query: "quantum chromodynamics". Try refining your search terms.\n'
    )
    for gone in (("save",), ("improve", "more")):
        assert asky("papers", *gone).code == 2
    one = asky("papers", "open", "1")
    assert (one.code, one.err.splitlines()[0]) == (2, "asky: no paper 1: nothing is listed yet")


def test_research_as_json_has_markers_and_papers_and_events_come_as_lines(asky: InProcess, folder: Path) -> None:
    asky("papers", "add", str(folder))
    made = asky("papers", "research", "what raises smaller tides", "--json").json
    assert (made["schema"], made["mode"], made["papers"]) == ("asky.answer/1", "papers", ["2101.00001v2"])
    assert "the sun raises two smaller ones that strengthen or weaken them. [1]" in made["answer"]
    assert (made["citations"][0]["paper"], made["citations"][0]["page"]) == ("2101.00001v2", 1)
    lines = asky("papers", "research", "what raises tides", "--json-stream").out.splitlines()
    events = [json.loads(line) for line in lines]
    stages = [each["stage"] for each in events if each.get("event") == "stage_finished"]
    assert {"paper summaries", "paper content"} <= set(stages)
    assert (events[-1]["type"], events[-1]["answer"]["mode"]) == ("answer", "papers")
    both = asky("papers", "research", "tides", "--json", "--json-stream")
    assert both.code == 2


def test_a_chat_runs_the_commands_of_the_library_in_its_own_session(folder: Path, tmp_path: Path) -> None:
    environ = {"ASKY_RESEARCH__EMBEDDING__MODEL": str(tmp_path / "no model")}
    home = tmp_path / "home"
    home.mkdir()
    run_here("papers", "add", str(folder), home=home, environ=environ)
    typed = "/papers research what raises smaller tides\n/papers\nopen 1\nsummary 1\nimprove what's measured\n/papers\n"
    done = run_here("chat", "-s", "sea", home=home, environ=environ, stdin=typed)
    assert done.returncode == 0, done.stderr
    assert "the sun raises two smaller ones that strengthen or weaken them. [2101.00001v2, page 1]" in done.stdout
    assert "2101.00001v2.pdf" in done.stdout
    assert "`/papers save`" in done.stderr
    assert "Improving research answer with your feedback..." in done.stderr
    assert "back to questions" in done.stderr
    told = run_here("session", "list", home=home, environ=environ).stdout
    assert ("sea" in told, "papers" in told) == (True, False)
    refused = run_here("chat", home=home, environ=environ, stdin=f"/papers add {folder}\n/papers nothing\n")
    assert "/papers add may name files and cannot come from a pipe" in refused.stderr
    assert "no command of the library: nothing" in refused.stderr
