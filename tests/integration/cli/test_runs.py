"""`asky runs`: past answers, and an export that can be checked by somebody who has nothing else."""

from __future__ import annotations

import json
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from asky.evidence import check
from asky.evidence.check import check_export
from tests.support.asky_command import run_asky, run_python
from tests.support.in_process import InProcess
from tests.support.stores import MILL, TIDES, FilledStore

QUOTES = ("The moon pulls on the water", "Sun and moon pull together at new moon.")


@pytest.fixture
def asky(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    home = tmp_path / "home"
    home.mkdir()
    return InProcess(home, monkeypatch, capsys)


def answer(
    home: Path,
    folder: Path,
    question: str = "What pulls?",
    *,
    session: str | None = None,
    quoted: str | None = None,
    confidence: float | None = None,
) -> str:
    """A run that cites two passages of one text; returns its id."""
    tides = folder / "tides.md"
    with FilledStore(home) as store:
        document = store.add_text(tides, TIDES, title="Tides")
        text = "The moon pulls [1], at new moon with the sun [2]."
        return store.answered(
            question,
            text,
            lambda run: [store.evidence(run, tides, document, quote, title="Tides") for quote in QUOTES],
            session=session,
            quoted=quoted,
            confidence=confidence,
        )


def fail(home: Path) -> str:
    with FilledStore(home) as store:
        run = store.runs.start(question="Who?", mode="research", model="broken", session_id=None)
        store.runs.record(run.id, "asked", {"model": "broken", "host": "api.example.org", "sources": 3})
        store.runs.record(run.id, "failed", {"code": "unreachable", "message": "api.example.org did not answer"})
        store.runs.finish(run.id, "failed", None)
    return run.id


def test_runs_are_listed_newest_first_with_what_came_of_them(asky: InProcess, tmp_path: Path) -> None:
    first = answer(asky.home, tmp_path, "What pulls on the sea?\nAnd when?" + " really" * 20)
    failed = fail(asky.home)
    lines = asky("runs", "list").out.splitlines()
    assert [line.split()[0] for line in lines] == [failed, first]
    assert "failed" in lines[0]
    assert "2 citations" in lines[1]
    assert "What pulls on the sea? And when? really" in lines[1]
    assert lines[1].endswith("…")
    assert len(asky("runs", "list", "-n", "1").out.splitlines()) == 1


def test_the_listing_as_json_is_by_session(asky: InProcess, tmp_path: Path) -> None:
    first = answer(asky.home, tmp_path, session="sea")
    fail(asky.home)
    found = asky("runs", "list", "--session", "sea", "--json").json
    assert found["schema"] == "asky.runs/1"
    assert [(each["id"], each["session"], each["citations"], each["status"]) for each in found["runs"]] == [
        (first, "sea", 2, "finished")
    ]
    unknown = asky("runs", "list", "--session", "see", "--json")
    assert unknown.code == 2
    assert "there is no session 'see'" in unknown.error["message"]


def test_without_runs_the_listing_is_empty(asky: InProcess) -> None:
    done = asky("runs", "list")
    assert (done.code, done.out) == (0, "")
    assert "no runs yet" in done.err
    assert asky("runs", "list", "--json").json["runs"] == []


def test_a_run_is_shown_with_answer_citations_verdicts_searches_and_usage(asky: InProcess, tmp_path: Path) -> None:
    run_id = answer(asky.home, tmp_path, session="sea")
    shown = asky("runs", "show", run_id)
    assert shown.code == 0
    for part in (
        f"run       {run_id} (finished)",
        "question  What pulls?",
        "session   sea",
        "models    extractive",
        "hosts     none",
        "searched  What pulls?",
        "The moon pulls [1], at new moon with the sun [2].",
        f"[1] Tides - {tmp_path / 'tides.md'}",
        "supported    0.90  [1, 2]",
        "2 model calls, 100 + 20 tokens",
    ):
        assert part in shown.out
    assert "confidence" not in shown.out
    assert "ledger" not in shown.out
    verbose = asky("runs", "show", run_id, "-v").out
    assert [line.split()[1] for line in verbose.split("ledger\n")[1].splitlines()] == [
        "asked",
        "searched",
        "shown",
        "cited",
    ]


def test_a_quotation_is_called_so_and_its_score_left_out(asky: InProcess, tmp_path: Path) -> None:
    """A quotation is in its source, whether or not it answers: the confidence says the latter."""
    shown = asky("runs", "show", answer(asky.home, tmp_path, quoted="The moon pulls", confidence=0.41)).out
    assert "  quoted             [1, 2] The moon pulls" in shown
    assert "confidence 0.41" in shown


def test_a_failed_run_says_why_and_whom_it_asked(asky: InProcess) -> None:
    run_id = fail(asky.home)
    shown = asky("runs", "show", run_id)
    assert shown.code == 0
    assert "hosts     api.example.org" in shown.out
    assert "failed    api.example.org did not answer" in shown.out
    report = asky("runs", "show", run_id, "--json").json
    assert report["schema"] == "asky.shown_run/1"
    assert report["answer"] is None
    assert report["hosts"] == ["api.example.org"]


def search_web(home: Path, *, rejected: int = 2) -> str:
    """A run that searched the web, read pages and failed to answer; what pages say tries to steer the terminal."""
    searched: dict[str, Any] = {
        "queries": ["high tides\x1b[2J", "moon"],
        "services": [{"name": "searxng", "host": "localhost:8888"}, {"name": "brave", "host": ""}],
        "found": ["https://a.example/1", "https://b.example/"],
        "failures": [["brave", "authentication", "the key was \x1b]0;owned\x07refused"]],
    }
    earlier: dict[str, Any] = {"queries": ["moon"], "services": [], "found": ["https://a.example/1"], "failures": []}
    failed: dict[str, Any] = {
        "queries": ["sun"],
        "services": [],
        "found": [],
        "failures": [["web search", "unreachable", "no reply"]],
    }
    chosen: dict[str, Any] = {
        "queries": ["high tides"],
        "selected": [{"url": "https://a.example/1", "score": 0.73125, "reasons": ["close to\nthe question"]}],
        "rejected": [[f"https://r.example/{n}", f"404 \x1b[31m{n}"] for n in range(rejected)],
        "read": 5,
        "origins": 3,
    }
    pages: list[dict[str, Any]] = [
        {
            "url": "https://a.example/1",
            "verdict": "fetched",
            "why": None,
            "hosts": ["a.example"],
            "unseen": {"hidden": 1200, "invisible": 1},
        },
        {"url": "https://c.example/kept", "verdict": "cached", "why": None, "hosts": []},
        {"url": "https://b.example/", "verdict": "http_error", "why": "404 Not\x9b31m Found", "hosts": ["b.example"]},
        {"url": "https://10.0.0.1/", "verdict": "source_refused", "why": "a private address", "hosts": []},
    ]
    with FilledStore(home) as store:
        run = store.runs.start(question="How many?", mode="research", model="m", session_id=None)
        store.runs.record(run.id, "asked", {"model": "m", "host": "api.example.org", "sources": 0})
        for each in (searched, earlier, failed):
            store.runs.record(run.id, "web_searched", each)
        for page in pages:
            store.runs.record(run.id, "read", page)
        store.runs.record(run.id, "shortlisted", chosen)
        store.runs.finish(run.id, "failed", None)
    return run.id


def test_what_a_run_did_on_the_web_is_shown_in_words(asky: InProcess) -> None:
    run_id = search_web(asky.home)
    shown = asky("runs", "show", run_id).out
    assert [line for line in shown.splitlines() if line.startswith(("web", "hosts"))] == [
        "hosts     api.example.org, localhost:8888, a.example, b.example",
        "web       searched for “high tides” and “moon” (searxng at localhost:8888, brave): 2 found; brave failed: the"
        " key was refused",
        "web       used an earlier search for “moon”: 1 found",
        "web       searched for “sun”; web search failed: no reply",
        "web       chose 1 of 3 candidates: 5 URLs, 3 origins",
        "web       read 4 pages: 1 fetched, 1 cached, 1 http_error, 1 source_refused; 1 with hidden text,"
        " which was left out",
    ]
    assert "https://r.example/0" not in shown
    assert asky("runs", "show", run_id, "--json").json["hosts"] == [
        "api.example.org", "localhost:8888", "a.example", "b.example"
    ]  # fmt: skip


def test_each_search_page_and_choice_is_shown_on_request_and_steers_no_terminal(asky: InProcess) -> None:
    run_id = search_web(asky.home, rejected=8)
    shown = asky("runs", "show", run_id, "-v").out
    web = shown.split("\nweb\n")[1].split("\nledger\n")[0]
    for part in (
        "  found     https://b.example/\n",
        "fetched     https://a.example/1\n",
        "http_error  https://b.example/: 404 Not Found\n",
        "  0.7312    https://a.example/1: close to the question\n",
        *(f"  rejected  https://r.example/{n}: 404 {n}\n" for n in range(8)),
    ):
        assert part in web
    assert not set("\x1b\x9b\x07") & set(shown)
    assert [each["kind"] for each in asky("runs", "export", run_id).json["ledger"]][-1] == "shortlisted"


def test_a_run_off_the_web_says_nothing_of_it(asky: InProcess, tmp_path: Path) -> None:
    answer(asky.home, tmp_path)
    shown = asky("runs", "show", "-v").out
    assert "\nweb" not in shown


def test_the_first_rejected_sources_are_shown_and_all_on_request(asky: InProcess, tmp_path: Path) -> None:
    run_id = answer(asky.home, tmp_path)
    with FilledStore(asky.home) as store:
        kept = dict(store.runs.find(run_id).answer or {})
        kept["rejected"] = [{"url": f"https://r.example/{n}", "reason": f"404 \x1b[31m{n}"} for n in range(7)]
        store.runs.finish(run_id, "finished", kept)
    lines = [line for line in asky("runs", "show").out.splitlines() if line.startswith("rejected")]
    assert lines == [
        *(f"rejected  https://r.example/{n}: 404 {n}" for n in range(5)),
        "rejected  2 more, which -v prints",
    ]
    every = [line for line in asky("runs", "show", "-v").out.splitlines() if line.startswith("rejected")]
    assert every == [f"rejected  https://r.example/{n}: 404 {n}" for n in range(7)]


def test_many_hosts_are_counted(asky: InProcess) -> None:
    with FilledStore(asky.home) as store:
        run = store.runs.start(question="?", mode="standard", model="m", session_id=None)
        for number in range(10):
            host = f"h{number}.example"
            page = {"url": f"https://{host}/", "verdict": "fetched", "why": None, "hosts": [host]}
            store.runs.record(run.id, "read", page)
        store.runs.finish(run.id, "failed", None)
    assert "h7.example, and 2 more, in the ledger (-v)\n" in asky("runs", "show").out
    assert len(asky("runs", "show", "--json").json["hosts"]) == 10


def test_a_run_whose_process_is_gone_is_listed_and_shown_as_interrupted(asky: InProcess) -> None:
    code = (
        "import os, signal; from asky.wiring import Services; from asky.cli.context import configured\n"
        "runs = Services(configured(), os.environ).runs\n"
        "runs.start(question='Who?', mode='lean', model='m', session_id=None); os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert run_python(("-c", code), home=asky.home, environ={"ASKY_HOME": str(asky.home)}).returncode == -9
    with FilledStore(asky.home) as store:
        alive = store.runs.start(question="Who?", mode="lean", model="m", session_id=None)
        assert [line.split()[1] for line in asky("runs", "list").out.splitlines()] == ["running", "interrupted"]
        assert f"run       {alive.id} (running)" in asky("runs", "show").out
        store.runs.finish(alive.id, "failed", None)
    listed = asky("runs", "list", "--json").json["runs"]
    assert [(each["status"], each["finished_at"] is None) for each in listed] == [
        ("failed", False),
        ("interrupted", True),
    ]
    assert "(interrupted)" in asky("runs", "show", listed[1]["id"]).out


def test_what_a_failed_run_had_written_is_shown_with_its_citations(asky: InProcess, tmp_path: Path) -> None:
    tides = tmp_path / "tides.md"
    with FilledStore(asky.home) as store:
        document = store.add_text(tides, TIDES, title="Tides")
        run = store.runs.start(question="What pulls?", mode="research", model="broken", session_id=None)
        passage = store.evidence(run, tides, document, QUOTES[0], title="Tides")
        store.runs.show(run.id, [passage])
        text = f"The \x1b[31mmoon pulls [{passage.key}], as [Pdead] says, and th"
        store.runs.record(run.id, "failed", {"code": "provider", "message": "it broke off", "partial": text})
        store.runs.finish(run.id, "failed", None)
    shown = asky("runs", "show", run.id).out
    assert "failed    it broke off" in shown
    assert "unchecked:\n\nThe moon pulls [1], as ~~[Pdead]~~ says, and th\n" in shown
    assert f"[1] Tides - {tides}\n" in shown
    assert asky("runs", "show", run.id, "--json").json["partial"] == text


def test_an_id_that_names_no_run_or_several_is_refused(asky: InProcess, tmp_path: Path) -> None:
    first, second = answer(asky.home, tmp_path), fail(asky.home)
    assert "there is no run 'x'" in asky("runs", "show", "x").err
    assert first[:4] == second[:4]
    done = asky("runs", "show", first[:4])
    assert done.code == 2
    assert "is the beginning of more than one run id" in done.err


def test_an_export_holds_every_shown_text_once_and_whole(asky: InProcess, tmp_path: Path) -> None:
    run_id = answer(asky.home, tmp_path, session="sea")
    exported = asky("runs", "export", run_id).json
    assert exported["schema"] == "asky.run/1"
    assert exported["run"]["id"] == run_id
    assert exported["run"]["session"] == "sea"
    assert exported["answer"]["schema"] == "asky.answer/1"
    assert [each["text"] for each in exported["documents"]] == [TIDES]
    assert sorted(each["quote"] for each in exported["passages"]) == sorted(QUOTES)
    for each in (*exported["passages"], *exported["answer"]["citations"]):
        assert TIDES[each["start"] : each["end"]] == each["quote"]
        assert each["sha256"] == exported["documents"][0]["sha256"]
    assert exported["passages"][0]["path"] == str(tmp_path / "tides.md")
    assert [each["kind"] for each in exported["ledger"]] == ["asked", "searched", "shown", "cited"]


def test_an_export_still_holds_texts_whose_sources_are_gone(asky: InProcess, tmp_path: Path) -> None:
    run_id = answer(asky.home, tmp_path)
    with FilledStore(asky.home) as store:
        store.corpus.remove_collection(store.collection)
    assert all(fault is None for _, fault in check_export(asky("runs", "export", run_id).json))


def test_an_export_replaces_a_file_in_one_step_and_keeps_its_folder_as_it_is(asky: InProcess, tmp_path: Path) -> None:
    answer(asky.home, tmp_path)
    folder = tmp_path / "out"
    folder.mkdir(mode=0o755)
    target = folder / "run.json"
    target.write_text("old", "utf-8")
    done = asky("runs", "export", "-o", str(target))
    assert (done.code, done.out) == (0, "")
    assert json.loads(target.read_text("utf-8"))["schema"] == "asky.run/1"
    assert [each.name for each in folder.iterdir()] == ["run.json"]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755


@pytest.mark.parametrize("name", ["missing/run.json", "folder.json"])
def test_an_export_that_cannot_be_written_is_an_error(asky: InProcess, tmp_path: Path, name: str) -> None:
    answer(asky.home, tmp_path)
    (tmp_path / "folder.json").mkdir()
    done = asky("runs", "export", "-o", str(tmp_path / name))
    assert done.code == 2
    assert "cannot write" in done.err


def test_an_export_goes_to_a_device_that_the_user_names(asky: InProcess, tmp_path: Path) -> None:
    answer(asky.home, tmp_path)
    assert asky("runs", "export", "-o", "/dev/null", "--format", "json").code == 0
    full = asky("runs", "export", "-o", "/dev/full", "--format", "json")
    assert full.code == 1
    assert "disk full" in full.err


# The checker, alone in an empty folder with another interpreter's view of the world: no asky to import.


def run_checker(folder: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    alone = folder / "checker"
    alone.mkdir(exist_ok=True)
    shutil.copy(check.__file__, alone / "check.py")
    command = [sys.executable, "-I", "-S", str(alone / "check.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=alone, input=stdin, timeout=300, check=False)


def test_the_checker_needs_nothing_but_the_export(asky: InProcess, tmp_path: Path) -> None:
    answer(asky.home, tmp_path)
    target = tmp_path / "run.json"
    asky("runs", "export", "-o", str(target))
    done = run_checker(tmp_path, str(target))
    assert (done.returncode, done.stdout) == (0, "[1] ok\n[2] ok\n2 of 2 citations are ok\n")
    assert run_checker(tmp_path, "-", stdin=target.read_text("utf-8")).returncode == 0


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda e: e["documents"][0].update(text=MILL), "does not have its hash"),
        (lambda e: e["documents"].clear(), "no document has its hash"),
        (lambda e: e["answer"]["citations"][0].update(quote="The sun pulls"), "is not the quote"),
        (lambda e: e["answer"]["citations"][0].update(start=0), "is not the quote"),
        (lambda e: e["answer"]["citations"][0].update(end=10**6), "outside of the text"),
        (lambda e: e["answer"]["citations"][0].update(start=-1), "outside of the text"),
        (lambda e: e["answer"]["citations"][0].update(start=True), "outside of the text"),
        (lambda e: e["answer"]["citations"][0].update(sha256=None), "no document has its hash"),
        (lambda e: e["answer"]["citations"].__setitem__(0, "x"), "not an object"),
    ],
)
def test_the_checker_finds_every_kind_of_forgery(
    asky: InProcess, tmp_path: Path, change: Callable[[dict[str, Any]], object], fault: str
) -> None:
    answer(asky.home, tmp_path)
    export = asky("runs", "export").json
    change(export)
    target = tmp_path / "forged.json"
    target.write_text(json.dumps(export), "utf-8")
    done = run_checker(tmp_path, str(target))
    assert done.returncode == 1
    assert fault in done.stdout.splitlines()[0]


@pytest.mark.parametrize("words", ["asky runs show", "asky runs export", "asky runs resume", "asky why 1 --run"])
def test_the_shell_completes_the_ids_of_runs(asky: InProcess, tmp_path: Path, words: str) -> None:
    answer(asky.home, tmp_path)
    (run,) = asky("runs", "list", "--json").json["runs"]
    environ = {"ASKY_HOME": str(asky.home), "_ASKY_COMPLETE": "bash_complete"}
    environ |= {"COMP_WORDS": f"{words} {run['id'][:4]}", "COMP_CWORD": str(len(words.split()))}
    assert run_asky(home=asky.home, environ=environ).stdout.split() == [f"plain,{run['id']}"]


def test_the_checker_takes_an_answer_with_documents(asky: InProcess, tmp_path: Path) -> None:
    answer(asky.home, tmp_path)
    export = asky("runs", "export").json
    assert list(check_export({**export["answer"], "documents": export["documents"]})) == [(1, None), (2, None)]


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"answer": null}', '{"citations": []}', "\x00\xff", "[" * 100_000, '{"a":' * 5]
)
def test_the_checker_refuses_what_is_no_export(tmp_path: Path, content: str) -> None:
    target = tmp_path / "x.json"
    target.write_text(content, "latin-1")
    done = run_checker(tmp_path, str(target))
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    assert run_checker(tmp_path, str(tmp_path / "nowhere")).returncode == 2
    assert run_checker(tmp_path).returncode == 2


def test_the_checker_is_a_module_too(asky: InProcess, tmp_path: Path) -> None:
    answer(asky.home, tmp_path)
    target = tmp_path / "run.json"
    asky("runs", "export", "-o", str(target))
    root = Path(check.__file__).parents[2]
    command = [sys.executable, "-m", "asky.evidence.check", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
