from __future__ import annotations

import threading

import anyio
import anyio.lowlevel
import pytest

from asky.concurrency import gather, in_thread
from asky.errors import SourceUnreadable, Unreachable
from asky.values import Failure


def test_results_keep_the_order_of_the_items_whatever_order_they_finish_in() -> None:
    async def main() -> list[int | Failure]:
        later = [anyio.Event() for _ in range(4)]
        later[3].set()

        async def work(item: int) -> int:
            await later[item].wait()
            if item:
                later[item - 1].set()
            return item * 10

        return await gather(range(4), work, limit=4)

    assert anyio.run(main) == [0, 10, 20, 30]


def test_never_more_than_the_limit_run_together() -> None:
    running = 0
    most = 0

    async def work(_item: int) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(3):
            await anyio.lowlevel.checkpoint()
        running -= 1

    async def main() -> None:
        await gather(range(20), work, limit=3)

    anyio.run(main)
    assert most == 3


def test_an_error_of_one_item_becomes_a_failure_in_its_place_and_the_others_go_on() -> None:
    async def work(item: str) -> str:
        if item == "b":
            raise Unreachable("no answer from b", hint="try later")
        return item.upper()

    async def main() -> list[str | Failure]:
        return await gather(["a", "b", "c"], work, limit=1, subject=lambda item: f"host {item}")

    assert anyio.run(main) == ["A", Failure("host b", "unreachable", "no answer from b", "try later", True), "C"]


def test_any_other_exception_cancels_the_rest_and_is_raised_bare() -> None:
    cancelled: list[int] = []

    async def work(item: int) -> None:
        if item == 2:
            await anyio.lowlevel.checkpoint()
            raise KeyError("a fault of ours")
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.append(item)

    async def main() -> None:
        with pytest.raises(KeyError, match="a fault of ours"):
            await gather(range(3), work, limit=3)

    anyio.run(main)
    assert sorted(cancelled) == [0, 1]


def test_cancelling_the_caller_cancels_every_item() -> None:
    started: list[int] = []
    ended: list[int] = []

    async def main() -> None:
        async def work(item: int) -> None:
            started.append(item)
            if len(started) == 3:
                scope.cancel()
            try:
                await anyio.sleep_forever()
            finally:
                ended.append(item)

        with anyio.CancelScope() as scope:
            await gather(range(3), work, limit=3)
        assert scope.cancelled_caught

    anyio.run(main)
    assert sorted(ended) == [0, 1, 2]


def test_nothing_to_do_gives_nothing_and_a_limit_below_one_is_refused() -> None:
    async def work(item: int) -> int:
        return item

    async def main() -> None:
        assert await gather([], work, limit=1) == []
        with pytest.raises(ValueError, match="at least 1"):
            await gather([1], work, limit=0)

    anyio.run(main)


def test_a_thread_returns_what_the_function_returns_and_raises_what_it_raises() -> None:
    def read(name: str) -> tuple[str, int]:
        if name == "bad":
            raise SourceUnreadable("bad is damaged")
        return name, threading.get_ident()

    async def main() -> None:
        name, ident = await in_thread(read, "good")
        assert name == "good"
        assert ident != threading.get_ident()
        with pytest.raises(SourceUnreadable, match="damaged"):
            await in_thread(read, "bad")

    anyio.run(main)


def test_cancelling_does_not_wait_for_the_thread() -> None:
    release = threading.Event()
    started = threading.Event()
    finished = threading.Event()

    def work() -> None:
        started.set()
        release.wait(120)
        finished.set()

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(in_thread, work)
            while not started.is_set():
                await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
        assert not finished.is_set()
        release.set()

    try:
        anyio.run(main)
    finally:
        release.set()
    assert finished.wait(120)


def test_a_limiter_caps_how_many_threads_run_together() -> None:
    running = 0
    most = 0
    lock = threading.Lock()
    both = threading.Barrier(2, timeout=120)

    def work() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        both.wait()
        with lock:
            running -= 1

    async def main() -> None:
        limiter = anyio.CapacityLimiter(2)
        async with anyio.create_task_group() as group:
            for _ in range(6):
                group.start_soon(lambda: in_thread(work, limiter=limiter))

    anyio.run(main)
    assert most == 2
