"""One run that two go on with at once, in one process and in two: one does, and the other is told."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import anyio
import pytest

from asky import Answer, AskRequest
from asky.errors import AuthenticationFailed, UsageError
from asky.events import Event, ignore
from tests.support import endpoint as script
from tests.support.asky_command import clean_environment, run_asky
from tests.support.endpoint import Endpoint, Problem, Request, Wire, obedient, shown_keys, tool_results
from tests.support.lab import ASKED, SECRET, Lab, open_lab

RESUMES = """
import sys
from functools import cache

import anyio

from asky import Asky, AskyError

@cache
def wait_for_turn():
    print("ready", flush=True)
    sys.stdin.readline()

async def main():
    with Asky.open() as asky:
        try:
            async with asky.chat.resume(sys.argv[1], listen=lambda event: wait_for_turn()) as run:
                print((await run.result()).text, flush=True)
        except AskyError as error:
            print(error.exit_code, error.message, flush=True)

anyio.run(main)
"""
"""Finds a run to go on with, and waits for a line before it takes the run up."""
_WAIT_S = 30.0


def quoting(request: Request) -> script.Answer:
    """A model that searches, and answers with what it was shown."""
    if not tool_results(request):
        return obedient(request)
    return script.Answer(f"The harbour code is {SECRET} [{shown_keys(request)[0]}].")


def hanging(request: Request) -> script.Answer:
    """The same one, which goes on in the middle of its answer when it is released."""
    return replace(quoting(request), wire=Wire(silent_after=60))


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    with Endpoint(quoting, Problem("auth")) as endpoint:
        yield open_lab(tmp_path, endpoint)
        assert endpoint.faults == []


@pytest.fixture
def run_id(lab: Lab) -> str:
    """A run that has searched, and whose second call of the model has failed."""

    async def ask() -> str:
        async with lab.open() as asky:
            with pytest.raises(AuthenticationFailed):
                await asky.chat.ask(AskRequest(question=ASKED, documents=(lab.private,), session="trip", model="far"))
            return asky.services.runs.find(None).id

    return anyio.run(ask)


def resume(lab: Lab, run_id: str, listen: Callable[[Event], None] = ignore) -> Answer:
    """Go on with the run in an `Asky` of its own."""

    async def main() -> Answer:
        async with lab.open() as asky, asky.chat.resume(run_id, listen=listen) as run:
            return await run.result()

    return anyio.run(main)


def before_it_is_taken_up(do: Callable[[], object]) -> Callable[[Event], None]:
    """A listener that does something at the first event: the run was found then, and is taken up next."""
    waiting = [do]

    def hear(_: Event) -> None:
        if waiting:
            waiting.pop()()

    return hear


def state(lab: Lab) -> tuple[str, int, int]:
    """The status of the only run, the calls of its model that are on record, and how often its question is.

    Its events are numbered without a gap, however many processes have written them.
    """
    with lab.open() as asky:
        (run,) = asky.services.runs.recent()
        numbers = [each.seq for each in asky.services.events.after(run.id, 0)]
        assert numbers == list(range(1, len(numbers) + 1))
        called = [each for each in asky.services.runs.steps.of(run.id) if each.kind == "called"]
        said = asky.services.sessions.messages(run.session_id or "")
        return run.status, len(called), [each.role for each in said].count("user")


def first_of(futures: Collection[Future[Any]]) -> Future[Any]:
    (done,) = wait(futures, timeout=_WAIT_S, return_when=FIRST_COMPLETED).done
    return done


def test_of_two_in_one_process_one_goes_on_and_the_other_is_told(lab: Lab, run_id: str) -> None:
    both = threading.Barrier(2, timeout=_WAIT_S)
    lab.endpoint.play(hanging)
    with ThreadPoolExecutor(2) as threads:
        resumed = [threads.submit(resume, lab, run_id, before_it_is_taken_up(both.wait)) for _ in range(2)]
        try:
            refused = first_of(resumed).exception()
        finally:
            lab.endpoint.release()
    assert isinstance(refused, UsageError)
    assert refused.message == f"run {run_id} is still running"
    (answer,) = [each.result() for each in resumed if each.exception() is None]
    assert SECRET in answer.citations[0].quote
    assert len(lab.endpoint.requests) == 3
    assert state(lab) == ("finished", 2, 1)


def test_of_two_processes_one_goes_on_and_where_that_is_killed_nothing_is_lost(lab: Lab, run_id: str) -> None:
    lab.endpoint.play(hanging)
    with ThreadPoolExecutor(2) as threads, resuming(lab, run_id) as one, resuming(lab, run_id) as other:
        assert [line(each.stdout) for each in (one, other)] == ["ready", "ready"]
        said = {threads.submit(line, each.stdout): each for each in (one, other)}
        for each in (one, other):
            print("go on", file=each.stdin, flush=True)
        told = first_of(said)
        assert told.result() == f"2 run {run_id} is still running"
        lab.endpoint.wait_for_requests(3)
        refused = run_asky("runs", "resume", run_id, home=lab.home, environ=lab.environ())
        assert (refused.returncode, refused.stdout) == (2, "")
        assert refused.stderr == f"asky: run {run_id} is still running\nhint: wait for it, or stop its process\n"
        assert state(lab)[0] == "running"
    assert (state(lab)[0], len(lab.endpoint.requests)) == ("interrupted", 3)
    lab.endpoint.play(quoting)
    done = run_asky("runs", "resume", "--json", home=lab.home, environ=lab.environ())
    assert done.returncode == 0, done.stderr
    assert SECRET in json.loads(done.stdout)["citations"][0]["quote"]
    assert len(lab.endpoint.requests) == 4
    assert state(lab) == ("finished", 2, 1)


@contextmanager
def resuming(lab: Lab, run_id: str) -> Iterator[subprocess.Popen[str]]:
    """A process that goes on with the run until it is killed, at the end."""
    with subprocess.Popen(
        [sys.executable, "-c", RESUMES, run_id],
        env=clean_environment(lab.home, lab.environ()),
        cwd=lab.home,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def line(stream: IO[str] | None) -> str:
    assert stream is not None
    return stream.readline().strip()


def test_a_run_that_went_on_elsewhere_since_it_was_found_is_left_as_it_is_and_can_be_resumed(
    lab: Lab, run_id: str
) -> None:
    lab.endpoint.play(Problem("auth"), quoting)

    def elsewhere() -> None:
        with ThreadPoolExecutor(1) as threads:
            assert isinstance(threads.submit(resume, lab, run_id).exception(), AuthenticationFailed)

    with pytest.raises(UsageError, match="another process has continued run"):
        resume(lab, run_id, before_it_is_taken_up(elsewhere))
    assert state(lab)[0] == "failed"
    assert SECRET in resume(lab, run_id).citations[0].quote
    assert len(lab.endpoint.requests) == 4
    assert state(lab) == ("finished", 2, 1)


def test_a_run_that_was_finished_elsewhere_since_it_was_found_keeps_its_answer(lab: Lab, run_id: str) -> None:
    lab.endpoint.play(quoting)

    def elsewhere() -> None:
        with ThreadPoolExecutor(1) as threads:
            threads.submit(resume, lab, run_id).result()

    with pytest.raises(UsageError, match="has finished"):
        resume(lab, run_id, before_it_is_taken_up(elsewhere))
    assert len(lab.endpoint.requests) == 3
    assert state(lab) == ("finished", 2, 1)
