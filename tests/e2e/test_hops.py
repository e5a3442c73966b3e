"""The way of one question through the upper layers is short, and nothing on it is done twice.

A hop is a call from a function of one module into a function of another, both above `asky.research`; making a value and
reading a property count as well, and the same call made again does not. `pytest -s` prints the hops.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.support.asky_command import run_python

MOST_HOPS = 67  # the reader is behind a port
MOST_MODULES = 22


def traced(*arguments: str, home: Path) -> Counter[tuple[str, ...]]:
    """What `asky ARGUMENTS` called, and how often."""
    trace = home / "trace"
    done = run_python(("-m", "tests.support.traced", *arguments), home=home, environ={"TRACE": str(trace)})
    assert done.returncode == 0, done.stderr
    lines = (line.split(" ", 1) for line in trace.read_text().splitlines())
    return Counter({tuple(json.loads(what)): int(count) for count, what in lines})


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def first(home: Path) -> Counter[tuple[str, ...]]:
    """What one question over a folder called."""
    folder = home / "docs"
    folder.mkdir()
    (folder / "tides.md").write_text("# Tides\n\nThe Moon causes the tides. The tide rises twice a day.\n")
    return traced("ask", "-d", str(folder), "What causes the tides?", home=home)


def test_one_question_over_a_folder_takes_few_hops(first: Counter[tuple[str, ...]]) -> None:
    hops = [each for each in first if each[0] == "hop"]
    modules = {module for _, calling, _, called, _ in hops for module in (calling, called)}
    print(*(f"{calling}:{caller} -> {called}:{function}" for _, calling, caller, called, function in hops), sep="\n")
    print(len(hops), "hops over", len(modules), "modules")
    assert {"asky.cli.main", "asky.app.ask", "asky.runs.driver", "asky.runs.finalize"} <= modules
    assert len(hops) <= MOST_HOPS
    assert len(modules) <= MOST_MODULES


def test_a_question_is_resolved_once_in_one_event_loop(first: Counter[tuple[str, ...]]) -> None:
    assert first["loop",] == 1
    assert first["resolved",] == 1


@pytest.mark.extended
@pytest.mark.usefixtures("first")
def test_the_session_of_a_question_is_looked_up_once(home: Path) -> None:
    found = traced("ask", "-c", "How often does the tide rise?", home=home)
    assert found["session looked up",] == 1
    assert found["resolved",] == 1
