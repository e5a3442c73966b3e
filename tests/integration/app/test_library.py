"""asky as a library: the rules that hold for the command line hold for any caller."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from pathlib import Path

import anyio
import pytest

from asky import AskRequest, Asky, AskyError, SyncAsky, load_config
from asky.app.requests import WebOptions
from asky.config.limits import RunLimits
from asky.errors import Interrupted, UsageError
from asky.events import Event, Warned
from tests.support.lab import ASKED, SECRET, Lab

pytestmark = pytest.mark.anyio


async def test_a_session_that_only_the_built_in_model_has_seen_stays_with_it_for_any_caller(lab: Lab) -> None:
    async with lab.open() as asky:
        first = await asky.chat.ask(AskRequest(question=ASKED, documents=(lab.private,), session="private"))
        assert SECRET in first.text
    async with lab.open(ASKY_MODEL="far") as asky:
        again = await asky.chat.ask(AskRequest(question=ASKED, session="private"))
        assert (again.model, again.session) == ("extractive", "private")
        assert SECRET in again.text
        assert lab.endpoint.requests == []
        await asky.chat.ask(AskRequest(question=ASKED, session="private", model="far"))
    assert lab.leaked, "a model that is chosen for the session may see its documents"


async def test_no_answerer_leads_round_the_rules_of_access(lab: Lab) -> None:
    async with lab.open() as asky:
        await asky.chat.ask(AskRequest(question=ASKED, documents=(lab.private,), session="private"))
    async with lab.open(ASKY_MODEL="far") as asky:
        resolved = asky.chat.resolve(AskRequest(question=ASKED, session="private"))
        far = asky.services.models.answerer("far", RunLimits())
        with pytest.raises(UsageError, match=r"not yet shown to a model at"):
            resolved.access.require_model(far.model)


async def test_questions_at_once_share_no_event_warning_limit_or_passage(lab: Lab) -> None:
    folders = []
    for number in range(20):
        folder = lab.home / f"folder {number}"
        folder.mkdir()
        (folder / f"fact{number}.md").write_text(
            f"# Fact {number}\n\nThe tower of place{number} is {number + 50} metres.\n"
        )
        (folder / f"odd{number}.xyz").write_bytes(b"\0\1")
        folders.append(folder)
    heard: dict[int, list[Event]] = defaultdict(list)
    answers = {}

    async with lab.open() as asky, anyio.create_task_group() as group:

        async def ask(number: int) -> None:
            request = AskRequest(
                question=f"How tall is the tower of place{number}?",
                documents=(folders[number],),
                limits=RunLimits(turns=3 + number % 2),
            )
            async with asky.chat.start(request, listen=heard[number].append) as run:
                numbered = [each async for each in run.events()]
                answers[number] = await run.result()
            assert [each.seq for each in numbered] == list(range(1, len(numbered) + 1))
            assert {each.run for each in numbered} == {run.id}
            assert [each.event for each in numbered] == heard[number]

        for number in range(20):
            group.start_soon(ask, number)

    async with lab.open() as asky:
        for number, answer in answers.items():
            assert f"{number + 50} metres" in answer.text
            assert {each.source.path for each in answer.citations} == {str(folders[number] / f"fact{number}.md")}
            assert {source.path for source, _, _ in answer.sources} == {str(folders[number] / f"fact{number}.md")}
            assert [Path(url).name for url, _ in answer.rejected] == [f"odd{number}.xyz"]
            warned = [each.message for each in heard[number] if isinstance(each, Warned)]
            assert warned == list(answer.warnings)
            assert len(warned) == len(set(warned)) == 1  # that there is no embedding model
            (begun,) = [each for each in asky.services.runs.steps.of(answer.run) if each.kind == "begun"]
            assert begun.data["limits"]["max_turns"] == 3 + number % 2


async def test_every_answer_of_one_process_has_its_warnings(lab: Lab) -> None:
    async with lab.open() as asky:
        asked = AskRequest(question=ASKED, documents=(lab.private,), session="chat")
        first, second = await asky.chat.ask(asked), await asky.chat.ask(asked)
    assert any("searching by keywords only" in each for each in first.warnings)
    assert second.warnings == first.warnings


async def test_a_listener_that_raises_is_told_of_and_the_run_goes_on(lab: Lab) -> None:
    def fail(event: Event) -> None:
        raise RuntimeError("no room")

    async with lab.open() as asky:
        answer = await asky.chat.ask(AskRequest(question=ASKED, documents=(lab.private,)), listen=fail)
    assert SECRET in answer.text
    assert any("a listener failed with RuntimeError" in each for each in answer.warnings)


@pytest.mark.parametrize("events", [1, 3, 6, 9])
async def test_a_caller_that_cancels_gets_its_cancellation_and_the_store_stays_whole(lab: Lab, events: int) -> None:
    async with lab.open() as asky:
        with anyio.CancelScope() as scope:
            seen: list[Event] = []

            def hear(event: Event) -> None:
                seen.append(event)
                if len(seen) == events:
                    anyio.from_thread.run_sync(scope.cancel) if not _on_loop() else scope.cancel()

            await asky.chat.ask(AskRequest(question=ASKED, documents=(lab.private,), session="cut"), listen=hear)
        assert all(run.status != "running" for run in asky.services.runs.recent())
        again = await asky.chat.ask(AskRequest(question=ASKED, documents=(lab.private,), session="cut"))
        assert SECRET in again.text


def _on_loop() -> bool:
    import sniffio

    try:
        sniffio.current_async_library()
    except sniffio.AsyncLibraryNotFoundError:
        return False
    return True


async def test_a_run_is_cancelled_by_its_handle_and_when_its_body_is_left(lab: Lab) -> None:
    async with lab.open() as asky:
        async with asky.chat.start(AskRequest(question=ASKED, documents=(lab.private,))) as run:
            run.cancel()
            with pytest.raises(Interrupted):
                await run.result()
        async with asky.chat.start(AskRequest(question=ASKED, documents=(lab.private,))):
            pass
        assert all(run.status != "running" for run in asky.services.runs.recent())


async def test_events_are_followed_from_any_number_also_after_the_run(lab: Lab) -> None:
    async with lab.open() as asky:
        async with asky.chat.start(AskRequest(question=ASKED, documents=(lab.private,))) as run:
            everything = [each async for each in run.events()]
            rest = [each async for each in run.events(after=4)]
        assert rest == everything[4:]
        kept = asky.services.events.after(run.id, 0)
        assert [(each.seq, each.at) for each in kept] == [(each.seq, each.at) for each in everything]


async def test_a_thread_that_anyio_did_not_start_is_heard_by_the_process_and_by_no_run(lab: Lab) -> None:
    outside: list[Event] = []
    environ = lab.environ()
    async with Asky.open(load_config(environ=environ, cwd=lab.home), environ=environ, listen=outside.append) as asky:

        def hear(event: Event) -> None:
            if not outside:
                warning = Warned("from a thread of its own")
                thread = threading.Thread(target=asky.services.listener, args=(warning,))
                thread.start()
                thread.join()

        answer = await asky.chat.ask(AskRequest(question=ASKED, documents=(lab.private,)), listen=hear)
    assert outside == [Warned("from a thread of its own")]
    assert "from a thread of its own" not in answer.warnings


async def test_a_closed_asky_and_wishes_that_contradict_each_other_are_errors_of_one_line(lab: Lab) -> None:
    async with lab.open() as asky:
        with pytest.raises(UsageError, match="cannot be combined"):
            await asky.chat.ask(AskRequest(question="?", mode="lean", web=WebOptions(allowed=True)))
        with pytest.raises(UsageError, match="nothing to answer from"):
            await asky.chat.ask(AskRequest(question="Why?", web=WebOptions(allowed=False)))
        with pytest.raises(UsageError):
            await asky.chat.ask(AskRequest(question="Why?", documents=(lab.home / "missing",)))
        assert asky.services.sessions.recent() == []
    with pytest.raises(UsageError, match="this Asky is closed"):
        await asky.chat.ask(AskRequest(question="Why?"))


async def test_a_plan_reads_sends_and_keeps_nothing(lab: Lab) -> None:
    async with lab.open(ASKY_MODEL="far") as asky:
        plan = await asky.chat.plan(AskRequest(question=ASKED, documents=(lab.private,)))
        assert (plan.model, plan.unread) == ("far", (str(lab.private),))
        assert (asky.services.runs.recent(), asky.services.sessions.recent()) == ([], [])
    assert lab.endpoint.requests == []


async def test_the_synchronous_twin_works_inside_a_running_loop(lab: Lab) -> None:
    environ = lab.environ()
    with SyncAsky.open(load_config(environ=environ, cwd=lab.home), environ=environ) as asky:
        answer = asky.ask(ASKED, documents=[lab.private])
        assert SECRET in answer.text
        with pytest.raises(AskyError):
            asky.ask("Why?", documents=[lab.home / "missing"])
    with pytest.raises(UsageError, match="not open"):
        asky.ask(ASKED)


def test_an_answer_is_markdown_in_a_notebook(lab: Lab) -> None:
    environ = lab.environ()
    with SyncAsky.open(load_config(environ=environ, cwd=lab.home), environ=environ) as asky:
        answer = asky.ask(ASKED, documents=[lab.private])
    shown = answer._repr_markdown_()
    assert SECRET in shown
    assert "[1] " in shown
    assert json.dumps(shown)
