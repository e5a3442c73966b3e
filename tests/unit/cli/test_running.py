"""Real processes that get real signals. Each waits for a line of output before the next step; nothing sleeps."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pexpect  # type: ignore[import-untyped] # it has no types
import pytest

from asky.cli.context import Stopped, run_async
from tests.support.asky_command import clean_environment

PROGRAM = """
import sys, threading
import anyio
from asky.cli.context import Stopped, run_async
from asky.__main__ import exit_process

async def cleans_up():
    try:
        print("ready", flush=True)
        await anyio.sleep_forever()
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(0)
            print("cleaned", flush=True)

async def keeps_a_part():
    try:
        print("ready", flush=True)
        await anyio.sleep_forever()
    except anyio.get_cancelled_exc_class():
        return "a part"

async def is_stuck():
    with anyio.CancelScope(shield=True):
        print("ready", flush=True)
        await anyio.sleep_forever()

async def computes():
    def forever():
        print("ready", flush=True)
        threading.Event().wait()
    await anyio.to_thread.run_sync(forever)

async def fails_to_clean_up():
    try:
        print("ready", flush=True)
        await anyio.sleep_forever()
    finally:
        raise RuntimeError("broken")

try:
    run_async({name}, grace_s={grace})
except Stopped as stopped:
    print("stopped", stopped.exit_code, stopped.value, type(stopped.__cause__).__name__, flush=True)
    exit_process(stopped.exit_code)
"""


@contextmanager
def running(name: str, tmp_path: Path, *, grace: float = 30.0) -> Iterator[subprocess.Popen[str]]:
    """The process of `PROGRAM` for one of its coroutines, once that has printed `ready`."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.replace("{name}", name).replace("{grace}", str(grace))],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=clean_environment(tmp_path),
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def rest(process: subprocess.Popen[str]) -> str:
    return process.communicate(timeout=300)[0]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_the_first_signal_lets_the_coroutine_clean_up(number: signal.Signals, code: int, tmp_path: Path) -> None:
    with running("cleans_up", tmp_path) as process:
        process.send_signal(number)
        assert rest(process) == f"cleaned\nstopped {code} None NoneType\n"
        assert process.returncode == code


def test_a_partial_value_is_kept(tmp_path: Path) -> None:
    with running("keeps_a_part", tmp_path) as process:
        process.send_signal(signal.SIGINT)
        assert rest(process) == "stopped 130 a part NoneType\n"


def test_an_error_during_cleanup_is_the_cause(tmp_path: Path) -> None:
    with running("fails_to_clean_up", tmp_path) as process:
        process.send_signal(signal.SIGINT)
        assert rest(process) == "stopped 130 None RuntimeError\n"


@pytest.mark.parametrize(("second", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_second_signal_leaves_at_once(second: signal.Signals, code: int, tmp_path: Path) -> None:
    with running("is_stuck", tmp_path) as process:
        process.send_signal(signal.SIGINT)
        while process.poll() is None:  # two signals of one number sent at once can be merged into one
            process.send_signal(second)
            os.sched_yield()
        assert rest(process) == ""
        assert process.returncode == code


@pytest.mark.parametrize("name", ["is_stuck", "computes"])
def test_a_cleanup_that_does_not_end_is_left_behind(name: str, tmp_path: Path) -> None:
    with running(name, tmp_path, grace=0.2) as process:
        process.send_signal(signal.SIGINT)
        assert rest(process) == "stopped 130 None NoneType\n"
        assert process.returncode == 130


def test_a_signal_that_was_ignored_at_the_start_stays_ignored(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with running("cleans_up", tmp_path) as process:
            process.send_signal(signal.SIGHUP)
            process.send_signal(signal.SIGTERM)
            assert rest(process) == "cleaned\nstopped 143 None NoneType\n"
    finally:
        signal.signal(signal.SIGHUP, before)


def test_leaving_at_once_restores_the_terminal(tmp_path: Path) -> None:
    code = """
import os, signal, termios
import anyio
from asky.cli.context import Stopped, run_async

async def main():
    state = termios.tcgetattr(0)
    state[3] &= ~termios.ICANON
    termios.tcsetattr(0, termios.TCSANOW, state)
    with anyio.CancelScope(shield=True):
        print("ready", flush=True)
        await anyio.sleep_forever()

signal.signal(signal.SIGINT, signal.SIG_IGN)
if pid := os.fork():  # this process keeps the terminal open, so that its state can be looked at afterwards
    os.waitpid(pid, 0)
    print("canonical", bool(termios.tcgetattr(0)[3] & termios.ICANON), flush=True)
else:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    run_async(main, grace_s=60)
"""
    child = pexpect.spawn(
        sys.executable, ["-c", code], env=clean_environment(tmp_path), encoding="utf-8", timeout=300, echo=False
    )
    child.expect_exact("ready")
    while child.expect([r"canonical (\w+)", pexpect.TIMEOUT], timeout=0.2) == 1:
        child.sendintr()  # two at once can be merged into one
    assert child.match.group(1) == "True"
    child.expect(pexpect.EOF, timeout=300)
    child.close()


def test_a_value_and_an_error_come_back_to_the_caller() -> None:
    async def value() -> int:
        return threading.get_ident()

    async def error() -> None:
        raise LookupError("x")

    assert run_async(value) not in (0, threading.get_ident())
    with pytest.raises(LookupError, match="x"):
        run_async(error)


def test_work_that_a_plain_function_has_done_starts_no_event_loop() -> None:
    async def main() -> str:
        return "in a loop"

    def fail() -> str | None:
        raise LookupError("x")

    assert run_async(main, unless=lambda: "at once") == "at once"
    assert run_async(main, unless=lambda: None) == "in a loop"
    with pytest.raises(LookupError, match="x"):
        run_async(main, unless=fail)


def test_a_thread_that_is_still_busy_is_not_waited_for() -> None:
    released = threading.Event()

    async def main() -> str:
        asyncio.get_running_loop().run_in_executor(None, released.wait, 60)  # as the resolver of a name that hangs
        return "done"

    began = time.monotonic()
    try:
        assert run_async(main) == "done"
    finally:
        released.set()
    assert time.monotonic() - began < 50


def test_a_signal_that_comes_as_the_run_ends_is_not_lost() -> None:
    async def main() -> str:
        os.kill(os.getpid(), signal.SIGINT)
        return "done"

    for _ in range(20):  # whether the end or the signal is heard first depends on the moment
        with pytest.raises(Stopped) as stopped:
            run_async(main)
        assert stopped.value.exit_code == 130


def test_the_handlers_of_the_caller_are_back_afterwards() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]

    async def nothing() -> None:
        assert signal.getsignal(signal.SIGINT) is not before[0]

    run_async(nothing)
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before


def test_the_waiting_thread_ticks() -> None:
    ticked = threading.Event()
    tickers = set()

    def tick() -> None:
        tickers.add(threading.current_thread())
        ticked.set()

    async def main() -> str:
        import anyio.to_thread

        await anyio.to_thread.run_sync(ticked.wait)
        return "done"

    assert run_async(main, tick=tick) == "done"
    assert tickers == {threading.main_thread()}


def test_outside_of_the_main_thread_no_signal_is_touched() -> None:
    before = signal.getsignal(signal.SIGINT)
    seen = []

    async def main() -> None:
        seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=run_async, args=(main,))
    thread.start()
    thread.join()
    assert seen == [before]
