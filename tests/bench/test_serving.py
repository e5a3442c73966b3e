"""What clients of a run cost it and each other: median delay of 200, and a client that never reads.

The clients are in a process of their own, which shares the machine with the server.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from socket import SO_RCVBUF, SOL_SOCKET, socket

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from asky.events import Noted, TextStreamed
from tests.support.endpoint import Endpoint
from tests.support.lab import Lab, open_lab
from tests.support.scripted_agent import Play, ScriptedAgent
from tests.support.served import TOKEN, Served, serving

CLIENTS, EVENTS, GAP_S = 200, 40, 0.5
MEDIAN_S = 0.25
COST, ROUNDS, PART = 0.05, 11, 200

# Prints the delays between what each message says that it was sent at and its arrival.
_FOLLOWERS = """
import asyncio, json, sys, time
from websockets.asyncio.client import connect
url, token, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
async def follow(ready, delays):
    headers = {"authorization": f"Bearer {token}"}
    async with connect(url, additional_headers=headers, proxy=None, compression=None) as connection:
        ready.release()
        async for text in connection:
            now, found = time.time(), json.loads(text)
            if found["type"] == "progress":
                delays.append(now - float(found["message"]))
async def main():
    ready, delays = asyncio.Semaphore(0), []
    tasks = [asyncio.create_task(follow(ready, delays)) for _ in range(count)]
    for _ in range(count):
        await ready.acquire()
    print("ready", flush=True)
    await asyncio.gather(*tasks)
    print(json.dumps(delays), flush=True)
asyncio.run(main())
"""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    with Endpoint("x") as endpoint:
        yield open_lab(tmp_path, endpoint)


@pytest.mark.anyio
async def test_200_clients_of_a_run_hear_of_an_event_at_once(lab: Lab) -> None:
    begin = anyio.Event()

    async def script(play: Play) -> None:
        await begin.wait()
        for _ in range(EVENTS):
            play.emit(Noted(repr(time.time())))
            await anyio.sleep(GAP_S)

    with lab.open() as asky:
        async with serving(asky, ScriptedAgent(asky, script)) as served:
            run_id = await served.start()
            url = f"ws://127.0.0.1:{served.port}/ws/research/{run_id}"
            command = [sys.executable, "-c", _FOLLOWERS, url, TOKEN, str(CLIENTS)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as clients:  # noqa: ASYNC220 - it starts once
                assert clients.stdout is not None
                assert await anyio.to_thread.run_sync(clients.stdout.readline) == "ready\n"
                begin.set()
                delays = json.loads(await anyio.to_thread.run_sync(clients.stdout.readline))
    assert len(delays) == CLIENTS * EVENTS
    median, last = statistics.median(delays), sorted(delays)[len(delays) * 99 // 100]
    print(f"\n{CLIENTS} clients: median delay {1000 * median:.0f} ms, 99 % within {1000 * last:.0f} ms")
    assert median <= MEDIAN_S


@asynccontextmanager
async def stalling(served: Served, run_id: str, after: int) -> AsyncIterator[None]:
    """A client that takes a few messages into its small buffer, and then nothing more."""
    with socket() as small:
        small.setsockopt(SOL_SOCKET, SO_RCVBUF, 4096)
        small.connect(("127.0.0.1", served.port))
        request = (
            f"GET /ws/research/{run_id}?after={after} HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n"
            f"Authorization: Bearer {TOKEN}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        small.sendall(request.encode())
        yield


@pytest.mark.anyio
async def test_a_client_that_never_reads_costs_a_run_next_to_nothing(lab: Lab) -> None:
    """Measure parts of one run, with and without such a client in turns, at the pace of a model that is quick."""
    parts, went_on = [anyio.Event() for _ in range(2 * ROUNDS)], [anyio.Event() for _ in range(2 * ROUNDS)]
    took: list[float] = []

    async def script(play: Play) -> None:
        for begin, end in zip(parts, went_on, strict=True):
            await begin.wait()
            before = time.perf_counter()
            for _ in range(PART):
                play.emit(TextStreamed("The moon raises two high tides a day. " * 100))
                await anyio.sleep(0.002)
            took.append(time.perf_counter() - before)
            end.set()

    with lab.open() as asky:
        async with serving(asky, ScriptedAgent(asky, script)) as served, anyio.create_task_group() as group:
            run_id = await served.start()
            group.start_soon(served.followed, run_id)
            for number in range(2 * ROUNDS):
                async with AsyncExitStack() as stalled:
                    if number % 2:
                        await stalled.enter_async_context(stalling(served, run_id, number * PART))
                    parts[number].set()
                    await went_on[number].wait()
    alone, beside = statistics.median(took[::2]), statistics.median(took[1::2])
    print(f"\n{PART / alone:.0f} events a second, and {PART / beside:.0f} beside a client that never reads")
    assert beside <= alone * (1 + COST)
