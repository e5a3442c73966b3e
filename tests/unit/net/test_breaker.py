"""A service that fails again and again is left alone, and tried by one."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from asky.errors import AskyError, AuthenticationFailed, ProviderError, RateLimited, TimedOut, Unreachable
from asky.net.breaker import Breaker
from asky.net.retry import Waiting
from tests.support.asky_command import ROOT

Folder = Path | None


class Clock:
    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def breaker(self, folder: Folder) -> Breaker:
        return Breaker(folder, Waiting(wall_clock=lambda: self.now))


@pytest.fixture(params=["shared", "alone"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Folder:
    return tmp_path / "breakers" if request.param == "shared" else None


async def call(breaker: Breaker, error: BaseException | None = None, key: str = "brave") -> str:
    """What comes of one call that ends with `error`: `through`, or `refused`."""
    is_through = False
    try:
        async with breaker.guard(key):
            is_through = True
            if error is not None:
                raise error
    except (AskyError, ZeroDivisionError):
        pass
    return "through" if is_through else "refused"


def calls(breaker: Breaker, *errors: BaseException | None) -> list[str]:
    async def main() -> list[str]:
        return [await call(breaker, error) for error in errors]

    return anyio.run(main)


DOWN = Unreachable("no answer")


def test_three_failures_in_a_row_open_it(folder: Folder) -> None:
    breaker = Clock().breaker(folder)
    assert calls(breaker, DOWN, DOWN, DOWN, None) == ["through", "through", "through", "refused"]


def test_a_success_in_between_forgets_them(folder: Folder) -> None:
    breaker = Clock().breaker(folder)
    assert calls(breaker, DOWN, DOWN, None, DOWN, DOWN, None) == ["through"] * 6


@pytest.mark.parametrize(
    ("error", "counts"),
    [
        (Unreachable("gone"), True),
        (TimedOut("slow"), True),
        (ProviderError("broken", retryable=True), True),
        (ProviderError("refused"), False),
        (RateLimited("wait"), False),
        (AuthenticationFailed("who?"), False),
        (ZeroDivisionError(), False),
    ],
)
def test_only_what_may_pass_by_itself_counts(error: Exception, counts: bool, folder: Folder) -> None:
    assert calls(Clock().breaker(folder), *[error] * 5, None)[-1] == ("refused" if counts else "through")


def test_a_refusal_says_why_and_until_when(folder: Folder) -> None:
    breaker = Clock().breaker(folder)
    calls(breaker, DOWN, DOWN, DOWN)

    async def main() -> None:
        async with breaker.guard("brave"):
            pass

    with pytest.raises(Unreachable, match=r"brave failed 3 times in a row .* \(last: no answer\)") as caught:
        anyio.run(main)
    assert caught.value.hint == "it is tried again in 30 s"
    assert not caught.value.retryable


def test_after_the_rest_one_of_twenty_tries(folder: Folder) -> None:
    clock = Clock()
    breaker = clock.breaker(folder)
    calls(breaker, DOWN, DOWN, DOWN)
    clock.now += 31
    reached: list[int] = []

    async def one(number: int) -> None:
        with suppress(Unreachable):
            async with breaker.guard("brave"):
                reached.append(number)
                await anyio.sleep(0.05)
                raise Unreachable("still gone")

    async def main() -> None:
        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(one, number)

    anyio.run(main)
    assert len(reached) == 1


def test_a_try_that_works_closes_it_and_one_that_fails_doubles_the_rest(folder: Folder) -> None:
    clock = Clock()
    breaker = clock.breaker(folder)
    calls(breaker, DOWN, DOWN, DOWN)
    clock.now += 31
    assert calls(breaker, DOWN, None) == ["through", "refused"]
    clock.now += 31
    assert calls(breaker, None) == ["refused"]
    clock.now += 31
    assert calls(breaker, None, None, DOWN, DOWN, None) == ["through"] * 5


def test_the_rest_has_a_longest(folder: Folder) -> None:
    clock = Clock()
    breaker = clock.breaker(folder)
    calls(breaker, DOWN, DOWN, DOWN)
    for _ in range(40):
        clock.now += 601
        assert calls(breaker, DOWN, None) == ["through", "refused"]


def test_calls_that_had_begun_do_not_prolong_the_rest(folder: Folder) -> None:
    clock = Clock()
    breaker = clock.breaker(folder)

    async def one() -> None:
        with suppress(Unreachable):
            async with breaker.guard("brave"):
                await anyio.sleep(0.01)
                raise Unreachable("gone")

    async def main() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(20):
                group.start_soon(one)

    anyio.run(main)
    clock.now += 31
    assert calls(breaker, None) == ["through"]


def test_a_try_that_is_cancelled_leaves_the_next_one_to_try(folder: Folder) -> None:
    clock = Clock()
    breaker = clock.breaker(folder)
    calls(breaker, DOWN, DOWN, DOWN)
    clock.now += 31

    async def main() -> str:
        with anyio.move_on_after(0.01):
            async with breaker.guard("brave"):
                await anyio.sleep_forever()
        return await call(breaker)

    assert anyio.run(main) == "through"


def test_each_service_has_its_own(folder: Folder) -> None:
    breaker = Clock().breaker(folder)
    calls(breaker, DOWN, DOWN, DOWN)
    assert anyio.run(call, breaker, None, "arxiv") == "through"


def test_later_runs_know(tmp_path: Path) -> None:
    clock = Clock()
    calls(clock.breaker(tmp_path), DOWN, DOWN, DOWN)
    assert calls(clock.breaker(tmp_path), None) == ["refused"]
    clock.now -= 86_400
    assert calls(clock.breaker(tmp_path), None) == ["through"], "the clock was set: nobody waits for a day"


def test_other_processes_know(tmp_path: Path) -> None:
    calls(Breaker(tmp_path), DOWN, DOWN, DOWN)
    program = "import pathlib, sys, asky.net.breaker as b; print(b.Breaker(pathlib.Path(sys.argv[1])).states())"
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], cwd=ROOT, capture_output=True, check=True)
    assert b"failures=3" in done.stdout


def test_what_is_known_can_be_looked_at(folder: Folder) -> None:
    clock = Clock()
    breaker = clock.breaker(folder)
    assert breaker.states() == ()
    calls(breaker, DOWN, DOWN, Unreachable("no\x1b[31m answer\nat all"))
    anyio.run(call, breaker, DOWN, "arxiv")
    anyio.run(call, breaker, None, "pubmed")
    clock.now += 10
    arxiv, brave = breaker.states()
    assert (arxiv.key, arxiv.failures, arxiv.reason, arxiv.retry_in_s) == ("arxiv", 1, "no answer", None)
    assert (brave.key, brave.failures, brave.reason, brave.retry_in_s) == ("brave", 3, "no answer at all", 20.0)
    clock.now += 100
    assert breaker.states()[1].retry_in_s == 0.0


@pytest.mark.parametrize("content", ["", "[", "[]", '{"failures": "x", "rests": -1}', '{"failures": 9, "rests": 1e9}'])
def test_a_damaged_file_refuses_nobody(content: str, tmp_path: Path) -> None:
    breaker = Clock().breaker(tmp_path)
    calls(breaker, DOWN, DOWN, DOWN)
    (note,) = tmp_path.glob("*.breaker")
    note.write_text(content)
    assert calls(breaker, None) == ["through"]
    assert all(not state.failures for state in breaker.states())
