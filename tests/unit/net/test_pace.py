"""A key is used by so many at once, so far apart: by all tasks and all processes."""

from __future__ import annotations

import itertools
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import anyio
import pytest

from asky.errors import RateLimited
from asky.net.pace import Pace
from asky.net.retry import Waiting
from tests.support.asky_command import ROOT
from tests.support.searching import FakeTime

Folder = Path | None

WORKER = """
import json, sys, time, anyio
from pathlib import Path
from asky.net.pace import Pace
folder, turns, gap_s, at_once, held_s = Path(sys.argv[1]), int(sys.argv[2]), *map(float, sys.argv[3:])
async def main():
    pace, spans = Pace(folder), []
    async def one():
        async with pace.turn("mill.test", gap_s=gap_s, at_once=int(at_once)):
            began = time.monotonic()
            if held_s > 60:
                print("held", flush=True)
            await anyio.sleep(held_s)
            spans.append((began, time.monotonic()))
    async with anyio.create_task_group() as group:
        for _ in range(turns):
            group.start_soon(one)
    print(json.dumps(spans))
anyio.run(main)
"""


@pytest.fixture(params=["shared", "alone"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Folder:
    return tmp_path / "state" / "pace" if request.param == "shared" else None


def start(folder: Path, *arguments: float) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", WORKER, str(folder), *map(str, arguments)]
    return subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def most_at_once(spans: list[tuple[float, float]]) -> int:
    return max(sum(begin <= other[0] < end for begin, end in spans) for other in spans)


def test_tasks_keep_their_distance_and_their_order(folder: Folder) -> None:
    began: list[tuple[float, int]] = []
    clock = FakeTime()

    async def main() -> None:
        pace = Pace(folder, clock.waiting)

        async def one(number: int) -> None:
            async with pace.turn("mill.test", gap_s=20, at_once=3):
                began.append((clock.now_s, number))

        async with anyio.create_task_group() as group:
            for number in range(6):
                group.start_soon(one, number)

    anyio.run(main)
    assert began == [(20 * number, number) for number in range(6)]


def test_no_more_than_so_many_are_at_it(folder: Folder) -> None:
    running, most = 0, 0

    async def main() -> None:
        pace, both = Pace(folder), anyio.Event()

        async def one() -> None:
            nonlocal running, most
            async with pace.turn("mill.test", gap_s=0, at_once=2):
                running, most = running + 1, max(most, running + 1)
                if running == 2:
                    both.set()
                await both.wait()
                await anyio.sleep(0.02)  # for a third, which must not come
                running -= 1

        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                for _ in range(8):
                    group.start_soon(one)

    anyio.run(main)
    assert most == 2


def test_keys_do_not_wait_for_each_other(folder: Folder) -> None:
    async def main() -> None:
        pace = Pace(folder)
        async with pace.turn("a", gap_s=60, at_once=1), pace.turn("b", gap_s=60, at_once=1):
            pass

    began = time.monotonic()
    anyio.run(main)
    assert time.monotonic() - began < 30


def test_a_turn_that_would_come_too_late_is_refused_at_once(folder: Folder) -> None:
    async def main() -> None:
        pace = Pace(folder)
        async with pace.turn("mill.test", gap_s=60, at_once=1):
            pass
        began = time.monotonic()
        with anyio.fail_after(50):
            with pytest.raises(RateLimited, match=r"mill\.test: its request rate is limited"):
                async with pace.turn("mill.test", gap_s=60, at_once=1):
                    pytest.fail("there was no turn")
        assert time.monotonic() - began < 30

    anyio.run(main)


def test_those_before_one_count_as_a_wait(folder: Folder) -> None:
    """Ten wait for a turn every 100 s, of whom six have their turn within 550 s: the others hear so at once."""
    began, refused = [], []
    clock = FakeTime()

    async def main() -> None:
        pace = Pace(folder, clock.waiting)

        async def one() -> None:
            try:
                async with pace.turn("mill.test", gap_s=100, at_once=1):
                    began.append(clock.now_s)
            except RateLimited:
                refused.append(clock.now_s)

        with anyio.fail_after(550):
            async with anyio.create_task_group() as group:
                for _ in range(10):
                    group.start_soon(one)

    anyio.run(main)
    assert refused == [0] * 4
    assert began == [100 * number for number in range(6)]


async def is_refused(pace: Pace, within_s: float) -> bool:
    """Whether a turn is refused before the time for it is over. There must be none."""
    with anyio.move_on_after(within_s):
        try:
            async with pace.turn("mill.test", gap_s=0, at_once=1):
                pytest.fail("the place is taken")
        except RateLimited:
            return True
    return False


def test_a_turn_ends_with_an_error_or_a_cancellation(folder: Folder) -> None:
    async def main() -> None:
        pace = Pace(folder)
        with pytest.raises(ZeroDivisionError):
            async with pace.turn("mill.test", gap_s=0, at_once=1):
                raise ZeroDivisionError
        with anyio.move_on_after(0.01):
            async with pace.turn("mill.test", gap_s=0, at_once=1):
                await anyio.sleep_forever()
        async with pace.turn("mill.test", gap_s=0, at_once=1):
            # Where the machine stands still shortly before the end, there is no time left to say so.
            assert await is_refused(pace, 0.8) or await is_refused(pace, 0.8) or await is_refused(pace, 10)
        async with pace.turn("mill.test", gap_s=0, at_once=1):
            pass

    anyio.run(main)


@pytest.mark.parametrize(("gap_s", "at_once"), [(0.0, 0), (-1.0, 1)])
def test_what_is_no_pace_is_refused(gap_s: float, at_once: int, folder: Folder) -> None:
    async def main() -> None:
        async with Pace(folder).turn("mill.test", gap_s=gap_s, at_once=at_once):
            pass

    with pytest.raises(ValueError, match="not a pace"):
        anyio.run(main)


@pytest.mark.slow
def test_processes_share_one_pace(tmp_path: Path) -> None:
    workers = [start(tmp_path, 4, 0.2, 2, 0.6) for _ in range(3)]
    spans = [tuple(span) for worker in workers for span in json.loads(worker.communicate(timeout=300)[0])]
    begins = sorted(begin for begin, _ in spans)
    assert len(spans) == 12
    # One that is woken late comes nearer to the next; without a distance, every second one comes with the one before.
    assert statistics.median(later - earlier for earlier, later in itertools.pairwise(begins)) > 0.1
    assert most_at_once(spans) <= 2


@pytest.mark.slow
def test_a_pace_holds_from_one_process_to_the_next(tmp_path: Path) -> None:
    first = json.loads(start(tmp_path, 1, 2.0, 1, 0.0).communicate(timeout=300)[0])
    second = json.loads(start(tmp_path, 1, 2.0, 1, 0.0).communicate(timeout=300)[0])
    assert second[0][0] - first[0][0] > 1.5


def test_a_process_that_is_killed_leaves_its_place(tmp_path: Path) -> None:
    worker = start(tmp_path, 1, 0.0, 1, 100.0)
    assert worker.stdout is not None
    assert worker.stdout.readline() == "held\n"

    async def take() -> None:
        with anyio.fail_after(60):
            async with Pace(tmp_path).turn("mill.test", gap_s=0, at_once=1):
                pass

    assert any(anyio.run(is_refused, Pace(tmp_path), within_s) for within_s in (0.8, 0.8, 10))
    os.kill(worker.pid, signal.SIGKILL)
    worker.communicate(timeout=60)
    anyio.run(take)


@pytest.mark.parametrize("content", ['{"next": 1e12, "last": 1e12}', '{"next": "x", "last": null}', "[", "", "null",
                                     '{"next": 1e999}', '{"next": -5, "last": -5}', "\x00" * 9000])  # fmt: skip
def test_what_a_file_says_of_another_time_delays_nobody_for_long(content: str, tmp_path: Path) -> None:
    async def take(turns: int) -> float:
        began = time.monotonic()
        for _ in range(turns):
            async with Pace(tmp_path).turn("mill.test", gap_s=0.05, at_once=1):
                pass
        return time.monotonic() - began

    anyio.run(take, 1)
    (note,) = tmp_path.glob("*.gap")
    note.write_text(content)
    assert 0.1 <= anyio.run(take, 3) < 10


def test_a_folder_that_cannot_be_written_leaves_a_pace_within_the_process(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    async def main() -> None:
        pace = Pace(tmp_path / "file" / "pace")
        began = time.monotonic()
        for _ in range(3):
            async with pace.turn("mill.test", gap_s=0.05, at_once=1):
                pass
        assert time.monotonic() - began >= 0.1

    anyio.run(main)


def test_files_are_private_and_tell_no_names(tmp_path: Path) -> None:
    async def main() -> None:
        async with Pace(tmp_path / "pace").turn("mill.test", gap_s=1, at_once=1):
            pass

    anyio.run(main)
    files = list((tmp_path / "pace").iterdir())
    assert files
    assert (tmp_path / "pace").stat().st_mode & 0o077 == 0
    for path in files:
        assert path.stat().st_mode & 0o077 == 0
        assert "mill" not in path.name
        assert "mill" not in path.read_text()


def test_files_of_long_ago_go(tmp_path: Path) -> None:
    async def main(now: float) -> None:
        async with Pace(tmp_path, Waiting(wall_clock=lambda: now)).turn(str(now), gap_s=1, at_once=1):
            pass

    anyio.run(main, time.time())
    old = set(tmp_path.iterdir())
    anyio.run(main, time.time() + 3 * 86_400)
    assert old <= set(tmp_path.iterdir())
    anyio.run(main, time.time() + 30 * 86_400)
    assert not old & set(tmp_path.iterdir())
