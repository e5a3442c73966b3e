"""How the benchmarks measure: CPU time in units of the machine, and the peak memory of a process.

Wall time says how busy a shared machine is, so only `slowdown` reads it. A limit in seconds is a limit on the reference
machine, where `python -c "import click"` takes 62 ms of CPU; elsewhere it is scaled by what that takes there.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.support.asky_command import clean_environment

REFERENCE_UNIT_S = 0.062
MIB = 1 << 20
_TIMEOUT_S = 600
_LOOK_S = 0.1
_ALONE = {"ASKY_RESEARCH__RETRIEVAL__EMBED_IN_BACKGROUND": "false"}

# A process of its own between this one and what is measured: a child starts with the peak memory of its parent, and
# this one may have held torch.
_WITNESS = """
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, capture_output=True, text=True)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
print(json.dumps([done.returncode, usage.ru_utime + usage.ru_stime, peak, done.stdout, done.stderr]))
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """What a finished process wrote and used: `cpu_s` with its children, `peak_bytes` of the largest of them."""

    out: str
    err: str
    cpu_s: float
    peak_bytes: int


def measure_python(
    arguments: Sequence[str], home: Path, *, cwd: Path | None = None, environ: Mapping[str, str] | None = None
) -> Measured:
    """Run `python ARGUMENTS` in a clean environment; it must end with exit code 0.

    Nothing goes on in the background, where it would disturb the next measurement.
    """
    finished = subprocess.run(
        [sys.executable, "-c", _WITNESS, sys.executable, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        env=clean_environment(home, {**_ALONE, **(environ or {})}),
        cwd=cwd or home,
        timeout=_TIMEOUT_S,
        check=True,
    )
    code, cpu_s, peak, out, err = json.loads(finished.stdout)
    assert code == 0, err
    return Measured(out, err, cpu_s, peak)


def measure_asky(*arguments: str, home: Path) -> Measured:
    """Run `asky ARGUMENTS`; it must end with exit code 0."""
    return measure_python(("-m", "asky", *arguments), home)


def median_cpu_s(run: Callable[[], float], repeats: int = 3) -> float:
    """The median of what some runs say that they cost."""
    return statistics.median(run() for _ in range(repeats))


def on_this_machine(reference_s: float, home: Path) -> float:
    """A limit of `reference_s` seconds of CPU on the reference machine, in seconds of this one."""
    return reference_s * _unit_s(home) / REFERENCE_UNIT_S


@cache
def _unit_s(home: Path) -> float:
    return median_cpu_s(lambda: measure_python(("-c", "import click"), home).cpu_s, repeats=7)


def own_cpu_s(work: Callable[[], object]) -> float:
    """The CPU time that `work` takes in this process, in all threads."""
    started = time.process_time()
    work()
    return time.process_time() - started


def cpu_with_children_s() -> float:
    """The CPU time so far of this process and of its children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def slowdown() -> float:
    """How much longer than it computes a thread runs here now: 1 where nothing else wants its core."""
    wall, computed = time.perf_counter(), time.thread_time()
    while (spent := time.thread_time() - computed) < _LOOK_S:
        pass
    return max(1.0, (time.perf_counter() - wall) / spent)


def bytes_below(folder: Path) -> int:
    """The size of all files below a folder."""
    return sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())
