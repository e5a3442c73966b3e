"""How a program's output is counted and kept; what ends a program is tested with the tools that run one."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from asky.concurrency import in_thread
from asky.research.local.programs import ProgramLimits, ProgramResult, _Call, _follow, _Pipes, never, run_program
from asky.research.local.running import RunningPrograms

LIMITS = ProgramLimits(60, 100)
TEN = ("/bin/sh", "-c", "printf %s 0123456789")


def test_output_of_just_the_allowed_length_is_no_flood() -> None:
    ended = run_program(TEN, ProgramLimits(60, 10), {})
    assert (ended.why, ended.status, ended.output, ended.output_bytes) == ("ended", 0, b"0123456789", 10)


def test_bytes_are_counted_and_not_characters() -> None:
    ended = run_program(("/bin/sh", "-c", r"printf '\303\251\303\251'"), ProgramLimits(60, 3), {})
    assert (ended.why, ended.output, ended.output_bytes) == ("too_large", b"\xc3\xa9\xc3", 4)


@pytest.mark.parametrize(("most", "why"), [(9, "too_large"), (10, "ended")])
def test_what_is_left_in_the_pipe_when_a_program_has_ended_is_read_and_counted(most: int, why: str) -> None:
    with subprocess.Popen(TEN, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        pipes = _Pipes(process, b"", most)
        assert _follow(process, pipes, time.monotonic() + 60, never) == why
        assert pipes.output == b"0123456789"
        pipes.close()


def test_a_program_gets_neither_our_input_nor_our_files(tmp_path: Path) -> None:
    ours = tmp_path / "ours"
    ours.write_text("of the user")
    kept = os.dup(0)
    with ours.open() as file:
        os.dup2(file.fileno(), 0)
        try:
            os.set_inheritable(file.fileno(), True)
            script = f"cat; test -e /proc/$$/fd/{file.fileno()} || echo closed"
            ended = run_program(("/bin/sh", "-c", script), ProgramLimits(60, 100), {"PATH": os.environ["PATH"]})
        finally:
            os.dup2(kept, 0)
            os.close(kept)
    assert ended.output == b"closed\n"


def test_the_end_of_one_call_does_not_end_another(tmp_path: Path) -> None:
    begun, go_on, ends = tmp_path / "begun", tmp_path / "go", list[ProgramResult]()
    script = f": > {begun}; while [ ! -e {go_on} ]; do :; done; echo done"
    other = threading.Thread(target=lambda: ends.append(run_program(("/bin/sh", "-c", script), LIMITS, {})))
    other.start()
    while not begun.exists():
        os.sched_yield()
    run_program(TEN, LIMITS, {})
    go_on.touch()
    other.join()
    assert [(each.why, each.status, each.output) for each in ends] == [("ended", 0, b"done\n")]


def test_the_last_of_the_errors_are_kept_and_all_are_counted() -> None:
    ended = run_program(
        ("/bin/sh", "-c", "yes noise | head -c 20000 >&2; printf reason >&2"), ProgramLimits(60, 10), {}
    )
    assert (ended.why, ended.error_bytes, len(ended.errors)) == ("ended", 20_006, 4096)
    assert ended.errors.endswith(b"noise\nnoreason")


HANGS = ("/bin/sh", "-c", "exec sleep 999")


def test_a_program_that_is_given_up_while_it_starts_is_killed_by_who_starts_it() -> None:
    environ = {"PATH": os.environ["PATH"], "ASKY_CALL": "given up"}
    call = _Call(HANGS, environ, has_input=False, starting_s=0.0)
    call.end()
    process = call.start()
    assert process.wait(60) == -signal.SIGKILL


@pytest.mark.parametrize("waits", [False, True], ids=["at once", "while it runs"])
def test_programs_have_ended_when_asky_closes(tmp_path: Path, waits: bool) -> None:
    begun, running, ends = tmp_path / "begun", RunningPrograms(), list[ProgramResult | OSError]()
    argv = ("/bin/sh", "-c", f"echo $$ > {begun}; exec sleep 999")

    def run() -> None:
        try:
            ends.append(run_program(argv, LIMITS, {"PATH": os.environ["PATH"]}, running=running))
        except OSError as error:
            ends.append(error)

    other = threading.Thread(target=run)
    other.start()
    while waits and not (begun.exists() and begun.read_text()):
        os.sched_yield()
    running.close()
    other.join()
    assert [getattr(each, "why", "stopped") for each in ends] == ["stopped"]
    if begun.exists() and begun.read_text():
        with pytest.raises(ProcessLookupError):
            os.kill(int(begun.read_text()), 0)
    with pytest.raises(InterruptedError):
        run_program(argv, LIMITS, {}, running=running)


def test_a_program_ends_when_nobody_waits_for_its_result_any_more(tmp_path: Path) -> None:
    begun, ended = tmp_path / "begun", threading.Event()
    argv = ("/bin/sh", "-c", f": > {begun}; exec sleep 999")

    def work() -> None:
        assert run_program(argv, ProgramLimits(600, 100), {"PATH": os.environ["PATH"]}).why == "stopped"
        ended.set()

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(in_thread, work)
            while not begun.exists():
                await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()

    anyio.run(main)
    assert ended.wait(60)


def test_time_is_counted_from_the_start_however_much_a_program_says() -> None:
    ended = run_program(("/bin/sh", "-c", "while :; do echo on; sleep 0.05; done"), ProgramLimits(0.4, 1 << 20), {})
    assert ended.why == "timed_out"
    assert ended.seconds < 5
