"""Runs over MCP: they report, outlive their call, ask the user, and stop when nobody waits for them."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from mcp import Client, types

from asky import AskRequest
from asky.app.serving.runs import MAX_RUNS
from tests.support.endpoint import Answer, Call, Endpoint, Wire
from tests.support.hosts import ERAS, fault_of, hosted, value_of
from tests.support.lab import ASKED, SECRET, Lab, open_lab
from tests.support.twins.web import SearxngTwin

pytestmark = pytest.mark.anyio

FAR = {"ASKY_MODEL": "far"}
SILENT = Answer("The harbour is deep.", wire=Wire(silent_before_headers=True))
CLOSED_S = 1.0


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    value: str = request.param
    return value


@pytest.fixture
def silent(tmp_path: Path) -> Iterator[Lab]:
    """A lab whose model answers when it is released."""
    with Endpoint(SILENT) as endpoint:
        yield open_lab(tmp_path, endpoint)


async def until_asked(lab: Lab, count: int = 1) -> None:
    await anyio.to_thread.run_sync(lab.endpoint.wait_for_requests, count)


async def until_abandoned(lab: Lab) -> float:
    """Wait until a client of the model has left, and return after how many seconds."""
    before = time.monotonic()
    await anyio.to_thread.run_sync(lab.endpoint.wait_for_abandoned)
    return time.monotonic() - before


async def test_progress_is_numbered_and_in_order(lab: Lab, era: str) -> None:
    heard: list[tuple[float, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, message))

    async with hosted(lab, era) as (client, asky):
        await asky.corpus.add([lab.private])
        answer = value_of(await client.call_tool("ask", {"question": ASKED}, progress_callback=note))
    assert SECRET in answer["answer"]
    numbers = [number for number, _ in heard]
    assert numbers == sorted(set(numbers))
    assert any("get_relevant_content" in str(message) for _, message in heard)


async def test_a_run_outlives_its_call_and_is_fetched_by_its_id(silent: Lab, era: str) -> None:
    async with hosted(silent, era, environ=FAR, wait_s=0.5) as (client, _):
        begun = value_of(await client.call_tool("ask", {"question": "How deep is the harbour?"}))
        assert (begun["schema"], begun["answer"]) == ("asky.run_status/1", None)
        assert begun["status"] in ("starting", "running")
        await until_asked(silent)
        silent.endpoint.release()
        status: dict[str, Any] = begun
        while status["status"] not in ("finished", "failed"):
            after = status["next"] or 0
            called = await client.call_tool("run_status", {"run": begun["run"], "after": after, "wait_s": 50})
            status = value_of(called)
        assert status["answer"]["answer"] == "The harbour is deep."
        whole = value_of(await client.call_tool("run_status", {"run": begun["run"]}))
        assert [each["seq"] for each in whole["events"]] == list(range(1, whole["next"] + 1))
        read = (await client.read_resource(f"asky://run/{begun['run']}")).contents[0]
        assert isinstance(read, types.TextResourceContents)
        assert json.loads(read.text)["answer"] == status["answer"]


async def test_a_run_of_another_program_is_followed(lab: Lab, era: str) -> None:
    with lab.open() as other:
        await other.corpus.add([lab.private])
        answer = await other.chat.ask(AskRequest(question=ASKED))
    async with hosted(lab, era) as (client, _):
        status = value_of(await client.call_tool("run_status", {"run": answer.run, "wait_s": 50}))
    assert status["status"] == "finished"
    assert status["answer"]["answer"] == answer.text


async def test_a_cancelled_call_stops_its_run_and_closes_its_connection_within_a_second(silent: Lab, era: str) -> None:
    async with hosted(silent, era, environ=FAR) as (client, _):
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "ask", {"question": "How deep is the harbour?"})
            await until_asked(silent)
            group.cancel_scope.cancel()
        assert await until_abandoned(silent) < CLOSED_S
    with silent.open() as asky:
        assert asky.runs.find().status == "cancelled"


async def test_a_call_that_only_follows_a_run_does_not_stop_it(silent: Lab, era: str) -> None:
    async with hosted(silent, era, environ=FAR, wait_s=0.5) as (client, _):
        begun = value_of(await client.call_tool("ask", {"question": "How deep is the harbour?"}))
        await until_asked(silent)
        with anyio.move_on_after(0.1):
            await client.call_tool("run_status", {"run": begun["run"], "wait_s": 50})
        silent.endpoint.release()
        status = begun
        while status["status"] not in ("finished", "failed"):
            status = value_of(await client.call_tool("run_status", {"run": begun["run"], "wait_s": 50}))
        assert status["answer"]["stopped_by"] is None


async def test_the_end_of_the_server_ends_its_runs_and_keeps_what_was_written(tmp_path: Path, era: str) -> None:
    part = Answer("The harbour is deep. And it is wide.", wire=Wire(silent_after=1500), delta_chars=4)
    with Endpoint(part) as endpoint:
        lab = open_lab(tmp_path, endpoint)
        async with hosted(lab, era, environ=FAR, wait_s=0.5) as (client, _):
            begun = value_of(await client.call_tool("ask", {"question": "How deep is the harbour?"}))
            await until_asked(lab)
            await anyio.to_thread.run_sync(endpoint.wait_for_bytes, 1500)
        assert await until_abandoned(lab) < CLOSED_S
        with lab.open() as asky:
            run = asky.runs.find(begun["run"])
    assert run.status == "cancelled"
    assert run.answer is not None
    assert "The harbour is" in run.answer["answer"]
    assert run.answer["stopped_by"] == "cancelled"


async def test_an_error_of_a_run_is_told_in_a_line(lab: Lab, era: str) -> None:
    lab.endpoint.play(Answer("", wire=Wire(cut_after=0)))
    async with hosted(lab, era, environ={"ASKY_MODEL": "nowhere"}) as (client, _):
        fault = fault_of(await client.call_tool("ask", {"question": "How deep is the harbour?"}))
    assert fault["schema"] == "asky.error/1"
    assert "\n" not in fault["message"]
    assert fault["code"] in ("config", "not_configured")


# the user's consent


QUERY = "tides Ketter"


@asynccontextmanager
async def searching(lab: Lab, era: str, **options: Any) -> AsyncIterator[tuple[Client, SearxngTwin]]:
    """A host whose model searches the web for a private name."""
    (lab.private / "ketter.md").write_text("# Harbours\n\nThe harbour of Ketter has a code and tides.\n")
    lab.endpoint.play(
        Answer(calls=(Call("get_relevant_content", {"queries": ["harbour code"]}),)),
        Answer(calls=(Call("web_search", {"queries": [QUERY]}),)),
        Answer("I will not say."),
    )
    with SearxngTwin(rows=[]) as twin:
        environ = FAR | {"ASKY_SEARCH__SEARXNG__BASE_URL": twin.base_url, "ASKY_SEARCH__SEARXNG__GAP_S": "0"}
        async with hosted(lab, era, environ=environ, **options) as (client, asky):
            await asky.corpus.add([lab.private])

            yield client, twin


def sent(twin: SearxngTwin) -> list[str]:
    return [each for request in twin.requests for each in request.params["q"]]


@pytest.mark.parametrize("is_approved", [True, False])
async def test_words_of_private_documents_leave_only_if_the_user_approves(
    lab: Lab, era: str, is_approved: bool
) -> None:
    asked: list[str] = []

    async def answer(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"send": is_approved})

    async with searching(lab, era, elicitation_callback=answer) as (client, twin):
        value_of(await client.call_tool("ask", {"question": ASKED, "web": True}))
        assert (QUERY in sent(twin)) is is_approved
    assert len(asked) == 1
    assert QUERY in asked[0]
    assert "127.0.0.1" in asked[0]


async def test_a_host_that_cannot_ask_sends_no_private_words(lab: Lab, era: str) -> None:
    async with searching(lab, era) as (client, twin):
        answer = value_of(await client.call_tool("ask", {"question": ASKED, "web": True}))
        assert QUERY not in sent(twin)
    assert answer["answer"].startswith("I will not say.")


async def test_a_question_to_the_user_waits_for_who_follows_the_run(lab: Lab) -> None:
    is_away = True

    async def answer(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        if is_away:
            await anyio.sleep_forever()
        return types.ElicitResult(action="accept", content={"send": True})

    async with searching(lab, "legacy", elicitation_callback=answer, wait_s=0.5) as (client, twin):
        status = value_of(await client.call_tool("ask", {"question": ASKED, "web": True}))
        while not status["approval"]:
            status = value_of(await client.call_tool("run_status", {"run": status["run"], "wait_s": 50}))
        assert status["approval"]["queries"] == [QUERY]
        assert QUERY not in sent(twin)
        is_away = False
        while status["status"] != "finished":
            status = value_of(await client.call_tool("run_status", {"run": status["run"], "wait_s": 50}))
        assert QUERY in sent(twin)


async def test_a_run_whose_host_does_not_come_back_with_an_answer_is_stopped(lab: Lab) -> None:
    async def answer(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        raise AssertionError("the client of this test does not ask")

    async with searching(lab, "2026-07-28", elicitation_callback=answer, answer_s=0.2) as (client, twin):
        given = {"question": ASKED, "web": True, "session": "harbour"}
        needed = await client.session.call_tool("ask", given, allow_input_required=True)
        assert isinstance(needed, types.InputRequiredResult)
        assert needed.request_state is not None
        await anyio.to_thread.run_sync(lab.endpoint.wait_for_requests, 2)
    with lab.open() as asky:
        assert asky.runs.find().status == "cancelled"
    assert QUERY not in sent(twin)


async def test_a_host_that_fails_to_ask_counts_as_a_refusal(lab: Lab) -> None:
    async def answer(context: Any, params: types.ElicitRequestParams) -> types.ErrorData:
        return types.ErrorData(code=types.INTERNAL_ERROR, message="no window")

    async with searching(lab, "legacy", elicitation_callback=answer) as (client, twin):
        value_of(await client.call_tool("ask", {"question": ASKED, "web": True}))
        assert QUERY not in sent(twin)


async def test_only_so_many_runs_go_on_at_once(silent: Lab) -> None:
    async with hosted(silent, "legacy", environ=FAR, wait_s=0.01) as (client, _):
        for _number in range(MAX_RUNS):
            value_of(await client.call_tool("ask", {"question": "How deep is the harbour?"}))
        fault = fault_of(await client.call_tool("ask", {"question": "How deep is the harbour?"}))
    assert "runs are in progress" in fault["message"]
