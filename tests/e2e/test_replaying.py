"""Runs that were killed and go on, and runs that are played again without a network, as a user sees them."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_ask_models import SEARCH, TIDES, cites, environ_of
from tests.e2e.test_ask_web import Web, web
from tests.e2e.test_custom_tools import bare, calls, configure, with_tool
from tests.support.asky_command import ASKY, clean_environment, run_asky, run_python
from tests.support.endpoint import Answer, Call, Endpoint, Problem, Usage, Wire
from tests.support.here import run_here
from tests.support.site import Asked
from tests.support.site import Wire as SiteWire

__all__ = ["bare", "web"]

TWO = "The moon raises two high tides a day [{key}]."
WITHOUT_NETWORK = """
import runpy, sys
def watch(event, details):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.bind", "subprocess.Popen"):
        print("REACHED", event, details, file=sys.stderr, flush=True)
        raise RuntimeError(event)
    if event == "socket.__new__" and details[1] != 1:  # AF_UNIX: the event loop wakes itself through a pair
        raise RuntimeError(event)
sys.addaudithook(watch)
sys.argv = ["asky", *sys.argv[1:]]
runpy.run_module("asky", run_name="__main__")
"""


def replay(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`asky runs replay` in a process that no socket can be opened in."""
    return run_python(["-c", WITHOUT_NETWORK, "runs", "replay", *arguments], home=home)


def start(home: Path, environ: Mapping[str, str], *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*ASKY, *arguments], env=clean_environment(home, environ), cwd=home, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip


def kill(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)  # another process is waited for


def only_run(home: Path) -> dict[str, Any]:
    runs: list[dict[str, Any]] = json.loads(run_here("runs", "list", "--json", home=home).stdout)["runs"]
    assert len(runs) == 1
    return runs[0]


@pytest.mark.model
def test_a_replay_prints_the_same_bytes_and_reaches_nothing(home: Path, docs: Path, tmp_path: Path) -> None:
    with Endpoint(SEARCH, cites(TWO)) as endpoint:
        arguments = ("-r", "-d", str(docs), "-m", "priced", TIDES)
        as_json = run_asky(*arguments, "--json", home=home, environ=environ_of(endpoint))
        assert as_json.returncode == 0, as_json.stderr
        again = replay(home, "--json")
        assert (again.returncode, again.stdout, again.stderr) == (0, as_json.stdout, "")
        endpoint.play(SEARCH, cites(TWO))
        report = tmp_path / "answer.md"
        as_text = run_asky(*arguments, "-o", str(report), home=home, environ=environ_of(endpoint))
    other = tmp_path / "again.md"
    again = replay(home, "-o", str(other))
    assert (again.returncode, again.stdout) == (0, as_text.stdout)
    assert other.read_bytes() == report.read_bytes()
    assert "asky why N" in again.stderr
    quiet = replay(home, "-q")
    assert (quiet.stdout, quiet.stderr) == (as_text.stdout, "")
    shutil.rmtree(docs)
    first = replay(home, json.loads(as_json.stdout)["run"], "--json")
    assert first.stdout == as_json.stdout
    assert (first.returncode, "REACHED" in first.stderr) == (0, False)


@pytest.mark.extended
@pytest.mark.model
def test_a_run_on_the_web_plays_without_a_network(home: Path, web: Web) -> None:
    search = Answer(
        calls=(Call("web_search", {"queries": ["tides"]}), Call("get_relevant_content", {"queries": [TIDES]}))
    )
    with Endpoint(SEARCH, search, cites(TWO)) as endpoint:
        environ = web.environ | environ_of(endpoint)
        done = run_here("-r", "-m", "priced", TIDES, "--json", home=home, environ=environ)
        assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["usage"]["fetches"] == 6
    asked = len(web.site.requests), len(web.twin.requests)
    again = replay(home, "--json")
    assert (again.returncode, again.stdout) == (0, done.stdout)
    assert (len(web.site.requests), len(web.twin.requests)) == asked
    isolated = ["unshare", "-rn", *ASKY, "runs", "replay", "--json"]
    if subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False).returncode == 0:
        alone = subprocess.run(isolated, env=clean_environment(home), cwd=home, capture_output=True, check=False)
        assert alone.stdout.decode() == done.stdout


def test_a_changed_record_is_a_miss_with_its_own_words(bare: Path) -> None:
    with Endpoint("Good morning.") as endpoint:
        run_here("-m", "priced", "--no-web", "Hello", home=bare, environ=environ_of(endpoint))
    change = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]);"
        " c.execute(\"UPDATE step SET key = 'x' WHERE kind = 'called'\"); c.commit()"
    )
    run_python(["-c", change, str(bare / "asky" / "data" / "asky.db")], home=bare)
    missed = replay(bare, "--json")
    assert (missed.returncode, missed.stdout) == (8, "")
    error = json.loads(missed.stderr)
    assert error["code"] == "replay_missed"
    assert "model call that was not recorded: the run continued differently at step 2" in error["message"]


# killed


@pytest.mark.extended
@pytest.mark.parametrize(("at", "cut"), [("first call", 1), ("tool", 0), ("second call", 1)])
def test_a_killed_run_goes_on_without_asking_again(bare: Path, at: str, cut: int) -> None:
    gate, begun = bare / "gate", bare / "begun"
    configure(bare, with_tool(f"touch {begun}; until [ -e {gate} ]; do sleep 0.05; done; echo 12 fathoms"))
    silent = Wire(silent_after=60)
    call, answer = calls("Firth"), Answer("It is 12 fathoms deep, says depth.")
    first = Answer(calls=call.calls, wire=silent) if at == "first call" else call
    if at == "second call":
        gate.touch()
    with Endpoint(first, Answer(answer.text, wire=silent)) as endpoint:
        environ = environ_of(endpoint)
        process = start(bare, environ, "-m", "priced", "--no-web", "-s", "sea", "--max-turns", "7", "How deep?")
        if at == "tool":
            until(begun.exists)
        else:
            endpoint.wait_for_requests(1 if at == "first call" else 2)
            endpoint.wait_for_abandoned(0)
        kill(process)
        run = only_run(bare)
        assert run["status"] == "interrupted"
        assert "`asky runs resume ID`" in run_here("runs", "list", home=bare).stderr
        assert f"`asky runs resume {run['id']}`" in run_here("runs", "show", home=bare).stderr
        gate.touch()
        endpoint.play(*([call, answer] if at == "first call" else [answer]))
        done = run_here("runs", "resume", "--json", home=bare, environ=environ)
        assert done.returncode == 0, done.stderr
        assert len(endpoint.requests) == 2 + cut
        assert endpoint.faults == []
    resumed = json.loads(done.stdout)
    assert (resumed["run"], resumed["session"], resumed["answer"]) == (run["id"], "sea", answer.text)
    assert resumed["usage"]["llm_calls"] == 2
    assert only_run(bare)["status"] == "finished"
    transcript = run_here("session", "show", "sea", home=bare).stdout
    assert transcript.count("How deep?") == transcript.count("12 fathoms deep") == 1
    assert replay(bare, "--json").stdout == done.stdout
    twice = run_here("runs", "resume", run["id"], home=bare, environ=environ)
    assert (twice.returncode, "has finished" in twice.stderr) == (2, True)


@pytest.mark.extended
@pytest.mark.model
def test_a_run_that_was_killed_while_it_read_searches_once(home: Path, web: Web) -> None:
    async def hang(asked: Asked, wire: SiteWire) -> None:
        await wire.hang()

    web.site.script("/harbour", hang)
    with Endpoint(SEARCH, cites(TWO)) as endpoint:
        environ = web.environ | environ_of(endpoint)
        process = start(home, environ, "-r", "-m", "priced", TIDES)
        until(lambda: "/harbour" in web.pages_fetched())
        until(lambda: {"/tides", "/bread", "/copy"} <= set(web.pages_fetched()))
        kill(process)
        web.site.page("/harbour", html="<p>A harbour is a place where ships lie safely, and boats too.</p>")
        done = run_here("runs", "resume", "--json", home=home, environ=environ)
        assert done.returncode == 0, done.stderr
        assert len(web.twin.requests) == 1
        assert len(endpoint.requests) == 2
    assert "two high tides" in json.loads(done.stdout)["answer"]
    assert replay(home, "--json").stdout == done.stdout


def test_a_failed_run_goes_on_within_its_limits(bare: Path) -> None:
    configure(bare, with_tool("echo 12 fathoms"))
    with Endpoint(calls("Firth"), Problem("auth"), Answer("It is 12 fathoms deep, says depth.")) as endpoint:
        environ = environ_of(endpoint)
        failed = run_here("-m", "priced", "--no-web", "--max-tokens", "5000", "How deep?", home=bare, environ=environ)
        assert failed.returncode == 4
        assert "asky runs resume" not in run_here("runs", "list", home=bare).stderr
        done = run_here("runs", "resume", home=bare, environ=environ)
        assert (done.returncode, done.stdout) == (0, "It is 12 fathoms deep, says depth.\n"), done.stderr
        assert done.stderr.startswith(f"resuming run {only_run(bare)['id']}: “How deep?”\n")
        assert len(endpoint.requests) == 3
    assert replay(bare).stdout == done.stdout


@pytest.mark.extended
def test_a_run_that_was_stopped_with_ctrl_c_goes_on_by_default(bare: Path) -> None:
    configure(bare, with_tool("echo 12 fathoms"))
    silent = Answer("It is 12 fathoms deep, says depth. And more.", wire=Wire(silent_after=400))
    with Endpoint(calls("Firth"), silent) as endpoint:
        environ = environ_of(endpoint)
        process = start(bare, environ, "-m", "priced", "--no-web", "-s", "sea", "How deep?")
        endpoint.wait_for_requests(2)
        process.send_signal(signal.SIGINT)
        process.communicate()
        assert process.returncode == 130
        part = replay(bare, "--json")
        assert part.returncode == 0, part.stderr
        assert json.loads(part.stdout)["stopped_by"] == "cancelled"
        endpoint.play(Answer("It is 12 fathoms deep, says depth."))
        done = run_here("runs", "resume", "--json", home=bare, environ=environ)
        assert done.returncode == 0, done.stderr
        assert len(endpoint.requests) == 3
    assert json.loads(done.stdout)["stopped_by"] is None
    assert run_here("session", "show", "sea", home=bare).stdout.count("How deep?") == 1
    assert replay(bare, "--json").stdout == done.stdout


@pytest.mark.extended
def test_limits_of_the_command_line_hold_for_the_rest_of_the_run(bare: Path) -> None:
    configure(bare, with_tool("echo 12 fathoms"))
    large = Answer(calls=calls("Forth").calls, usage=Usage(60_000, 10))
    with Endpoint(calls("Firth"), Problem("auth"), large, Answer("It is deep.")) as endpoint:
        environ = environ_of(endpoint)
        run_here("-m", "priced", "--no-web", "--max-tokens", "50000", "How deep?", home=bare, environ=environ)
        done = run_here("runs", "resume", home=bare, environ=environ)
        assert (done.returncode, len(endpoint.requests)) == (10, 3)
        assert "the limit of 50,000 tokens for this run is reached" in done.stderr
    assert replay(bare).stdout == done.stdout


def test_there_is_nothing_to_go_on_with(bare: Path) -> None:
    done = run_here("runs", "resume", home=bare)
    assert (done.returncode, "no run was interrupted" in done.stderr) == (2, True)


def test_a_form_that_no_answer_has_is_refused_before_a_run_goes_on(bare: Path) -> None:
    for command in ("resume", "replay"):
        done = run_here("runs", command, "-o", "answer.docx", home=bare)
        assert (
            done.returncode,
            "answer.docx: not .md, .html, .pdf, .json, .tex, .bib, .csl.json or .ris" in done.stderr,
        ) == (
            2,
            True,
        )
