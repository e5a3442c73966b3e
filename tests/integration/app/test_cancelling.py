"""A question that is cancelled at any point between its beginning and its end leaves nothing half done."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import anyio
import psutil
import pytest

from asky import AskRequest, Asky
from asky.events import Event, FileRead
from tests.support.endpoint import Endpoint, obedient
from tests.support.lab import ASKED, SECRET, Lab, open_lab
from tests.support.steps import counted_steps

pytestmark = pytest.mark.usefixtures("own_readers")

ALL = 100
"""Fewer steps than a question takes from its beginning to its end."""
CLOSED_S = 5.0


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    with Endpoint(obedient) as endpoint:
        yield open_lab(tmp_path, endpoint)
        assert endpoint.faults == []


def request_of(lab: Lab, session: str) -> AskRequest:
    return AskRequest(question=ASKED, documents=(lab.private,), session=session, model="far")


async def ask(asky: Asky, request: AskRequest, *places: int) -> int:
    """Ask in a task that is cancelled after so many steps, each of `places`; return how many steps there were."""
    answered: list[str] = []

    async def main() -> None:
        answered.append((await asky.chat.ask(request)).text)

    def at(taken: int) -> None:
        if taken in places:
            task.cancel()

    with counted_steps(at) as steps:
        task = asyncio.ensure_future(main())
        with suppress(asyncio.CancelledError):
            await task
    assert answered or task.cancelled()
    assert asyncio.all_tasks() == {asyncio.current_task()}
    return steps.taken


async def resume(asky: Asky, place: int | None = None) -> None:
    """Go on with the last run, in a scope that is cancelled after so many steps."""
    with anyio.CancelScope() as scope, counted_steps(lambda taken: scope.cancel() if taken == place else None):
        async with anyio.create_task_group() as group:
            group.start_soon(resume_in_task, asky)


async def resume_in_task(asky: Asky) -> None:
    async with asky.chat.resume() as run:
        assert (await run.result()).stopped_by is None


def ending(asky: Asky, session: str) -> str | None:
    """How the run in that session ended; `None` where none began."""
    found = asky.services.sessions.find(session)
    runs = asky.services.runs.recent(session_id=found.id) if found is not None else []
    assert len(runs) <= 1
    return runs[0].status if runs else None


@contextmanager
def nothing_left(lab: Lab) -> Iterator[None]:
    """No thread and no process of the body's is left behind it; the store is whole, and nobody holds a run."""
    threads, children = set(threading.enumerate()), set(psutil.Process().children(recursive=True))
    yield
    deadline = time.monotonic() + 60
    for thread in set(threading.enumerate()) - threads:  # those that read for nobody any more
        thread.join(deadline - time.monotonic())
        assert not thread.is_alive()
    psutil.wait_procs(set(psutil.Process().children(recursive=True)) - children, timeout=0)
    assert set(psutil.Process().children(recursive=True)) <= children
    data = lab.home / "asky" / "data"
    store = sqlite3.connect(data / "asky.db")
    assert store.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert store.execute("PRAGMA foreign_key_check").fetchall() == []
    assert store.execute("SELECT name FROM session WHERE id NOT IN (SELECT session_id FROM run)").fetchall() == []
    assert store.execute("SELECT id FROM run WHERE status = 'running'").fetchall() == []
    store.close()
    assert not list(data.glob("running/*"))


@pytest.mark.extended
@pytest.mark.parametrize("is_repeated", [False, True])
def test_a_question_that_is_cancelled_anywhere_can_be_resumed_and_the_next_one_is_answered(
    lab: Lab, is_repeated: bool
) -> None:
    async def main() -> float:
        endings = set()
        async with lab.open() as asky:
            await asky.chat.ask(request_of(lab, "first"))
            steps = await ask(asky, request_of(lab, "whole"))
            assert steps > ALL
            for place in range(2 + is_repeated, steps, 16):
                (lab.private / "news.md").write_text(f"# News\n\nThe harbour code of today is {SECRET}{place}.\n")
                session = f"cut {place}"
                await ask(asky, request_of(lab, session), place, *([place + 3, place + 5] if is_repeated else []))
                endings.add(ending(asky, session))
                if ending(asky, session) == "cancelled":
                    await resume(asky)
                    assert ending(asky, session) == "finished", place
                again = await asky.chat.ask(request_of(lab, "next" if place % 2 else f"next {place}"))
                assert again.citations, place
            began = time.monotonic()
        assert {None, "cancelled"} <= endings <= {None, "cancelled", "finished"}
        return time.monotonic() - began

    with nothing_left(lab):
        assert anyio.run(main) < CLOSED_S


@pytest.mark.extended
def test_a_question_that_is_cancelled_as_the_first_files_are_read_keeps_nobody_from_closing(lab: Lab) -> None:
    async def main(place: int) -> float:
        async with lab.open() as asky:
            await ask(asky, request_of(lab, f"cut {place}"), place)
            assert ending(asky, f"cut {place}") in (None, "cancelled")
            began = time.monotonic()
        return time.monotonic() - began

    for place in range(14, 50, 7):
        (lab.private / f"{place}.html").write_text(f"<h1>Codes</h1><p>The harbour code of {place} is old.</p>")
        with nothing_left(lab):
            assert anyio.run(main, place) < CLOSED_S


def test_a_session_that_was_made_for_a_question_that_is_cancelled_as_it_is_prepared_is_gone_again(lab: Lab) -> None:
    over = threading.Event()

    async def main() -> None:
        async with lab.open() as asky:
            loop = asyncio.get_running_loop()

            def hear(event: Event) -> None:
                if isinstance(event, FileRead) and asky.services.sessions.find("cut") is not None:
                    loop.call_soon_threadsafe(task.cancel)  # while the file that the question names is read
                    assert over.wait(60)

            question = f"What is the harbour code in {lab.private / 'codes.md'}?"
            asked = AskRequest(question=question, documents=(lab.private,), session="cut")
            task = asyncio.ensure_future(asky.chat.ask(asked, listen=hear))
            with suppress(asyncio.CancelledError):
                await task
            assert task.cancelled()
            assert asky.services.sessions.find("cut") is not None  # the thread goes on
        over.set()

    with nothing_left(lab):
        anyio.run(main)


def test_a_run_that_is_cancelled_as_it_is_resumed_can_be_resumed_once_more(lab: Lab) -> None:
    async def main() -> None:
        async with lab.open() as asky:
            await asky.chat.ask(request_of(lab, "first"))
            await ask(asky, request_of(lab, "cut"), 60)
            assert ending(asky, "cut") == "cancelled"
            for place in range(1, ALL, 12):
                await resume(asky, place)
                if ending(asky, "cut") == "finished":
                    break
                assert ending(asky, "cut") == "cancelled", place
            else:
                await resume(asky)
            assert ending(asky, "cut") == "finished"
            run = asky.services.runs.recent()[0]
            kept = asky.services.events.after(run.id, 0)
            assert [each.seq for each in kept] == list(range(1, len(kept) + 1))
            messages = asky.services.sessions.messages(run.session_id or "")
            assert [each.role for each in messages].count("user") == 1
            assert messages[-1].role == "assistant"

    with nothing_left(lab):
        anyio.run(main)
