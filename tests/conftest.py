"""Fixtures that every test may use."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from hypothesis import settings

from asky.reading.process import pool
from asky.reading.process.child import Child
from tests.support.examples import BRIEF_EXAMPLES
from tests.support.indexing import Indexing
from tests.support.readers import kept_child, shared_pids

# A test means the same each time it is run; `--extended` tries more examples, and `make fuzz` others each time.
settings.register_profile("settled", derandomize=True, deadline=None)
settings.register_profile("brief", derandomize=True, deadline=None, max_examples=BRIEF_EXAMPLES)
settings.register_profile("fuzz", derandomize=False, deadline=None)
settings.load_profile("brief")


def pytest_configure(config: pytest.Config) -> None:
    """Choose how many examples are tried, and hear Ctrl-C as in a terminal.

    What a shell puts into the background ignores Ctrl-C, and so would every child.
    """
    if config.getoption("--extended") and not config.getoption("--hypothesis-profile"):
        settings.load_profile("settled")
    for number in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number is signal.SIGINT else signal.SIG_DFL)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--data", default="", help="A folder of development sets, for the tests of quality.")
    parser.addoption(
        "--extended", action="store_true", help="Run the extended tests, and all cases of each family, too."
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what the markers `extended` and `few` say, unless `--extended` or the name of a test asks for it."""
    if config.getoption("--extended") or any("::" in each for each in config.args):
        return
    families: dict[str, list[pytest.Item]] = {}
    for each in items:
        families.setdefault(each.nodeid.partition("[")[0], []).append(each)
    kept = {id(each) for family in families.values() for each in _kept(family)}
    config.hook.pytest_deselected(items=[each for each in items if id(each) not in kept])
    items[:] = [each for each in items if id(each) in kept]


def _kept(family: list[pytest.Item]) -> list[pytest.Item]:
    """The cases of one test that are run."""
    if family[0].get_closest_marker("extended") is not None:
        return []
    few = family[0].get_closest_marker("few")
    count = min(few.args[0] if few is not None else len(family), len(family))
    return [family[number * len(family) // count] for number in range(count)]


@pytest.fixture(scope="session", autouse=True)
def _kept_readers() -> Iterator[None]:
    """Have a process that has read files for one test read on for the next."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(pool, "Child", kept_child)
        yield


@pytest.fixture
def own_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each pool processes of its own, as in use, where they are what is tested."""
    monkeypatch.setattr(pool, "Child", Child)


_STORES = tuple(f"{home}data/indexing.json" for home in ("", "*/", "*/*/"))
"""Where a test has its stores, below its own folder."""
_ENDING_S = 10.0
"""How long what a test has left is waited for: a thread that reads files for nobody ends the process it reads with."""


@pytest.fixture(autouse=True)
def _no_process_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that leaves a process of its own behind: a later one would find it.

    What embeds the rest of a store in the background is meant to outlive its command, and is ended.
    """
    before = _children()
    yield
    folder = request.node.funcargs.get("tmp_path")
    for pattern in _STORES if folder is not None else ():
        for data in folder.glob(pattern):
            Indexing(data.parent).end()
    deadline = time.monotonic() + _ENDING_S
    while left := _left(_children() - before):
        if time.monotonic() > deadline:
            pytest.fail(f"left behind: {left}")
        psutil.wait_procs(left, timeout=0.1)


def _children() -> set[int]:
    """The processes that this one has started and that it has not seen end."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)  # 1 µs; the lists take 100, and psutil 2,500
    except ChildProcessError:
        return set()
    lists = list(Path("/proc/self/task").glob("*/children"))
    if not lists:
        return {each.pid for each in psutil.Process().children()}
    found: set[int] = set()
    for each in lists:
        with suppress(OSError):  # a thread that has ended since
            found.update(int(pid) for pid in each.read_text("ascii").split())
    return found


def _left(pids: set[int]) -> list[psutil.Process]:
    """Those that are still there, and are not kept for later tests, by `multiprocessing` or by the shared readers."""
    found = []
    for pid in pids - shared_pids():
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(pid)
            if not _is_of_multiprocessing(process):
                found.append(process)
    return found


def _is_of_multiprocessing(process: psutil.Process) -> bool:
    try:
        return "from multiprocessing." in " ".join(process.cmdline())
    except psutil.ZombieProcess:
        return False
