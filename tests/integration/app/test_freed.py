"""What a run has held is freed when it ends, and not when Python next looks for objects that refer to each other."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest

from asky.app.requests import AskRequest, WebOptions
from asky.research.run import ResearchRun
from asky.research.writing.transcript import Transcript
from asky.runs.context import RunContext
from asky.runs.feed import RunFeed
from tests.support.agent_lab import COST, QUESTION, AgentLab

HELD = (RunContext, RunFeed, ResearchRun, Transcript)
# Python looks for such objects by itself only once they are a quarter of all, some 12,000.
MOST = 100


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[AgentLab]:
    with AgentLab(tmp_path) as lab:
        (tmp_path / "rance.md").write_text(f"# The Rance\n\n{COST} **Boats** pass through a lock [as ever](x.md).\n")
        yield lab


@pytest.fixture
def collected() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def ask(lab: AgentLab, number: int, *, web: bool = False, documents: bool = True, model: str | None = None) -> None:
    request = AskRequest(
        question=f"{QUESTION} And how wide is lock {number}?",
        documents=(lab.folder / "rance.md",) if documents else (),
        model=model,
        session="a",
        web=WebOptions(allowed=web),
    )
    anyio.run(lab.asky.chat.ask, request)


KINDS: dict[str, Callable[[AgentLab, int], object]] = {
    "documents": ask,
    "web": lambda lab, number: ask(lab, number, web=True, documents=False),
}


def held() -> Counter[str]:
    """How many objects there are of each kind that a run has."""
    return Counter(type(each).__name__ for each in gc.get_objects() if issubclass(type(each), HELD))


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_of_a_run_stays_in_memory(lab: AgentLab, kind: str, collected: None) -> None:
    for number in range(2):  # what is made once for the process is made
        KINDS[kind](lab, number)
    gc.collect()
    before = held()
    for number in range(2, 5):
        KINDS[kind](lab, number)
        more = held() - before
        assert max(more.values(), default=0) <= 1, more  # a thread keeps its last call until it ends
    found = gc.collect()
    print(f"\n{kind}: {found / 3:.0f} objects in circles")
    assert found / 3 < MOST
