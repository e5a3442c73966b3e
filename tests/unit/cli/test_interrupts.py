"""Ctrl-C at any moment of a start: the process sends it to itself at a counted moment, so that each test is exact."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.asky_command import clean_environment

# Runs `asky ARGUMENTS`, and `{act}` as the import of that number begins; 0 never does, and counts them.
PROGRAM = """
import os, signal, sys
import asky.__main__

class Dropped:
    def __del__(self):  # Python prints what is raised in here, and goes on
        interrupt()
        for _ in range(10):
            pass

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)

def hear(event, arguments):
    global count
    if event == "import":
        count += 1
        if count == moment:
            {act}
        elif not moment:
            os.write(2, b"%d " % count)

moment, *sys.argv[1:] = int(sys.argv[1]), *sys.argv[2:]
count = 0
sys.addaudithook(hear)
asky.__main__.main()
"""


def start(
    act: str, moment: int, home: Path, *arguments: str, ignored: bool = False
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PROGRAM.replace("{act}", act), str(moment), *arguments]
    if ignored:  # as a shell starts what runs in the background
        command = ["/bin/sh", "-c", 'trap "" INT; exec "$@"', "sh", *command]
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=clean_environment(home),
        timeout=300,
        check=False,
    )


@pytest.mark.few(1)
@pytest.mark.slow
@pytest.mark.parametrize("act", ["interrupt()", "Dropped()"])
@pytest.mark.parametrize("command", ["--version", "runs list"])
def test_an_interrupt_at_any_moment_of_a_start_is_130_and_no_traceback(act: str, command: str, tmp_path: Path) -> None:
    arguments = command.split()
    imports = max(int(each) for each in start(act, 0, tmp_path, *arguments).stderr.split() if each.isdigit())
    assert imports > 30
    for moment in range(2, imports + 1, imports // 12):  # the first one makes the handler itself
        done = start(act, moment, tmp_path, *arguments)
        assert (done.returncode, done.stderr) in ((130, ""), (130, "asky: stopped\n")), f"at {moment} of {imports}"


def test_an_interrupt_that_the_process_was_started_to_ignore_is_ignored(tmp_path: Path) -> None:
    done = start("interrupt()", 20, tmp_path, "--version", ignored=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("asky ")


def test_what_else_goes_wrong_in_a_callback_is_still_printed(tmp_path: Path) -> None:
    odd = PROGRAM.replace("interrupt()\n        for", "raise LookupError('odd')\n        for").replace(
        "{act}", "Dropped()"
    )
    told = subprocess.run(
        [sys.executable, "-c", odd, "60", "runs", "list"],
        capture_output=True,
        text=True,
        env=clean_environment(tmp_path),
        timeout=300,
        check=False,
    )
    assert told.returncode == 0
    assert "LookupError: odd" in told.stderr
