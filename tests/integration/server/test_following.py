"""Following a run over a WebSocket and as server-sent events: again, slowly, and to the end of the server."""

from __future__ import annotations

import json
import random
import time
from collections.abc import AsyncIterator
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from asky.events import Noted, TextStreamed
from tests.support.endpoint import Answer, Wire
from tests.support.lab import ASKED, Lab
from tests.support.scripted_agent import Play, ScriptedAgent, until_stopped
from tests.support.served import Served, close_code, serving

pytestmark = pytest.mark.anyio
ENDS_S = 5.0


async def events_of(served: Served, run_id: str, last: int | None = None) -> AsyncIterator[tuple[int, dict[str, Any]]]:
    """Yield the server-sent events of a run: their ids and their data."""
    headers = {} if last is None else {"last-event-id": str(last)}
    async with served.http.stream("GET", f"/api/research/{run_id}/events", headers=headers) as reply:
        assert reply.headers["content-type"].startswith("text/event-stream")
        number = 0
        async for line in reply.aiter_lines():
            if line.startswith("id: "):
                number = int(line[4:])
            elif line.startswith("data: "):
                yield number, json.loads(line[6:])


async def test_messages_say_how_far_the_run_is(lab: Lab) -> None:
    with lab.open() as asky:
        async with serving(asky, ScriptedAgent(asky)) as served:
            run_id = await served.start()
            messages = await served.followed(run_id)
            assert await served.followed(run_id) == messages
            assert [each async for _, each in events_of(served, run_id)] == messages
    *told, last = messages
    assert [each["seq"] for each in told] == list(range(1, len(told) + 1))
    assert {each["type"] for each in told} == {"progress"}
    assert {each["event"]["schema"] for each in told} == {"asky.event/1"}
    assert told[0]["message"] == "plan in cycle 0"
    third = told[3]
    assert (third["phase"], third["sources_queried"], third["entities_found"]) == ("collect", 4, 6)
    assert told[4]["message"] == "cycle 2: 2% of what it found is new; saturated"
    assert all(each["message"] for each in told)
    assert (last["type"], last["status"], last["seq"]) == ("complete", "finished", told[-1]["seq"])
    assert last["result"]["answer"].startswith("The moon raises")


async def test_server_sent_events_go_on_after_the_last_one(lab: Lab) -> None:
    with lab.open() as asky:
        async with serving(asky, ScriptedAgent(asky), ping_s=0.01) as served:
            run_id = await served.start()
            await served.followed(run_id)
            assert [number async for number, _ in events_of(served, run_id, 3)][:2] == [4, 5]
            assert len([each async for each in events_of(served, run_id, 10**6)]) == 1
            assert await anext(events_of(served, run_id, -5)) == (1, (await served.followed(run_id))[0])


async def test_a_stream_without_events_is_kept_open_by_comments(lab: Lab) -> None:
    with lab.open() as asky:
        async with serving(asky, ScriptedAgent(asky, until_stopped), ping_s=0.05) as served:
            run_id = await served.start()
            async with served.http.stream("GET", f"/api/research/{run_id}/events?after=1") as reply:
                lines = reply.aiter_lines()
                seen = [await anext(lines) for _ in range(6)]
    assert seen.count(": ping") == 2


async def test_a_hundred_reconnections_lose_and_double_no_event(lab: Lab) -> None:
    chance, seen = random.Random(15), list[int]()

    async def script(play: Play) -> None:
        for number in range(300):
            play.emit(Noted(f"note {number}"))
            await anyio.sleep(0.002)

    with lab.open() as asky:
        async with serving(asky, ScriptedAgent(asky, script)) as served:
            run_id, connections, is_over = await served.start(), 0, False
            while not is_over or connections < 100:
                connections += 1
                async with served.websocket(run_id, after=seen[-1] if seen else 0) as connection:
                    for _ in range(chance.randrange(1, 8)):
                        message = json.loads(await connection.recv())
                        if message["type"] != "progress":
                            is_over = True
                            break
                        seen.append(message["seq"])
    assert seen == list(range(1, 301))


async def test_a_client_that_never_reads_is_dropped_and_the_run_goes_on(lab: Lab) -> None:
    async def script(play: Play) -> None:
        for _ in range(200):
            play.emit(TextStreamed("tide " * 20_000))
            await anyio.lowlevel.checkpoint()

    with lab.open() as asky:
        async with serving(asky, ScriptedAgent(asky, script), send_s=0.2) as served:
            run_id = await served.start()
            async with served.websocket(run_id, max_queue=1, max_size=None, ping_interval=None) as stalled:
                assert (await served.get(f"/api/research/{run_id}/status"))["session_id"] == run_id
                async with served.websocket(run_id, after=200) as other:
                    assert json.loads(await other.recv())["status"] == "finished"
                assert await close_code(stalled) is None


async def test_the_server_ends_within_seconds_while_clients_are_idle(lab: Lab) -> None:
    lab.endpoint.play(Answer("The harbour is deep.", wire=Wire(silent_before_headers=True)))
    ended: list[str] = []

    with lab.open(ASKY_MODEL="far") as asky:
        async with serving(asky, ScriptedAgent(asky, until_stopped)) as served:
            run_id = await served.start()

            async def follow() -> None:
                assert [number async for number, _ in events_of(served, run_id)] == [1]
                ended.append("events")

            async def ask() -> None:
                reply = await served.http.post("/api/ask", json={"question": ASKED, "web": False})
                assert (reply.status_code, reply.json()["code"]) == (503, "interrupted")
                ended.append("ask")

            async def listen() -> None:
                async with served.websocket(run_id) as connection:
                    assert await close_code(connection) == 1012
                ended.append("websocket")

            async with anyio.create_task_group() as group:
                for client in (follow, ask, listen):
                    group.start_soon(client)
                await anyio.to_thread.run_sync(lab.endpoint.wait_for_requests, 1)
                async with served.websocket(run_id) as connection:
                    await connection.recv()
                before = time.monotonic()
                await served.end()
                took = time.monotonic() - before
        assert took < ENDS_S
        assert sorted(ended) == ["ask", "events", "websocket"]
        assert {each.status for each in asky.services.runs.recent()} == {"cancelled"}


async def test_what_another_server_began_is_followed_and_resumed(lab: Lab) -> None:
    with lab.open() as first, lab.open() as second:
        agent = ScriptedAgent(first, until_stopped)
        async with serving(second, ScriptedAgent(second), poll_s=0.05) as other:
            async with serving(first, agent) as served:
                run_id = await served.start()
                assert (await other.get(f"/api/research/{run_id}/status"))["status"] == "running"
                await other.post(f"/api/research/{run_id}/resume", status=409)
                await other.post(f"/api/research/{run_id}/tell", {"note": "x"}, status=409)
                async with other.websocket(run_id) as connection:
                    assert json.loads(await connection.recv())["phase"] == "collect"
            assert (await other.get(f"/api/research/{run_id}/status"))["status"] == "cancelled"
            assert (await other.post(f"/api/research/{run_id}/resume"))["session_id"] == run_id
            messages = await other.followed(run_id)
    numbers = [each["seq"] for each in messages[:-1]]
    assert numbers == list(range(1, len(numbers) + 1))
    assert messages[-1]["status"] == "finished"
