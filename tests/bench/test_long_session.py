"""What a session of a thousand messages costs: to be opened, and to go with a question."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from asky.llm.tokens import TokenCounter
from asky.research.writing.history import earlier_messages, fit_earlier
from asky.storage.sessions import NewMessage, SessionStore
from tests.support.asky_command import clean_environment
from tests.support.stores import FilledStore

TURNS = 250  # of a question, a call, its result and an answer
# `import click` takes 45 to 60 ms; 150 ms is the limit that was set for opening a session, the process apart.
MOST = 2.5


def turn(number: int) -> list[NewMessage]:
    passages = "The sea rises and falls twice a day at the pier. " * 120
    return [
        NewMessage("user", f"Question {number}: how high is the tide at pier {number}, and when does it turn?"),
        NewMessage("call", "", {"calls": [["a", "get_relevant_content", '{"queries": ["tide at the pier"]}']]}),
        NewMessage("tool", f"5 passages for “tide at the pier”:\n\n{passages}", {"id": "a"}),
        NewMessage("assistant", "The moon raises two tides a day [1]. " * 8, {"keys": ["P1234"]}),
    ]


def fill(home: Path) -> None:
    with FilledStore(home) as store:
        for name, turns in (("short", 1), ("long", TURNS)):
            session = store.sessions.open(name, mode="research")
            for number in range(turns):
                store.sessions.append(session.id, turn(number), run_id=None)


def cpu_s(command: Sequence[str], home: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=clean_environment(home), stdin=subprocess.DEVNULL, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_a_session_of_a_thousand_messages_opens_and_goes_with_a_question_quickly(tmp_path: Path) -> None:
    home = tmp_path
    fill(home / "asky")
    show = [sys.executable, "-m", "asky", "session", "show"]
    floor = [sys.executable, "-c", "import click"]
    rounds = [(cpu_s([*show, "long"], home), cpu_s([*show, "short"], home), cpu_s(floor, home)) for _ in range(5)]
    long, short, base = (statistics.median(side) for side in zip(*rounds, strict=True))
    with FilledStore(home / "asky") as store:
        reading = [read(store.sessions) for _ in range(5)]
    sent = statistics.median(reading)
    print(f"\nshown: {1000 * (long - short):.0f} ms of CPU beyond a short one, sent: {1000 * sent:.0f} ms", end="")
    print(f", import click: {1000 * base:.0f} ms")
    assert long - short <= MOST * base
    assert sent <= MOST * base


def read(sessions: SessionStore) -> float:
    """CPU seconds until the messages are those that a model gets."""
    started = time.process_time()
    found = sessions.find("long")
    assert found is not None
    said = earlier_messages(sessions.messages(found.id), ["get_relevant_content"])
    assert len(said) == 4 * TURNS
    fit_earlier(said, 16_000, TokenCounter(), max_question_tokens=50_000)
    return time.process_time() - started
