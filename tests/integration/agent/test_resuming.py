"""Runs of the agent that are killed and go on elsewhere: nothing that was recorded is asked for again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from asky.app.asky import Asky
from asky.errors import UsageError
from asky.values import Answer
from tests.support.agent_lab import QUESTION, AgentLab
from tests.support.asky_command import run_python

NODES = ("clarify", "plan", "collect", "process", "analyze", "evaluate", "synthesize", "export")

DIE = """
import os, sys, json
import anyio
from asky.app.asky import Asky
from asky.app.agent.requests import ResearchRequest
from asky.config.loader import load_config
from asky.events import PhaseStarted
from pathlib import Path

node, cycle, query, flags = sys.argv[1], int(sys.argv[2]), sys.argv[3], json.loads(sys.argv[4])

def listen(event):
    if isinstance(event, PhaseStarted) and event.phase == node and event.cycle >= cycle:
        os._exit(9)

async def main():
    environ = dict(os.environ)
    with Asky.open(load_config(environ=environ, cwd=Path.cwd(), flags=flags), environ=environ) as asky:
        async with asky.agent.start(ResearchRequest(query=query, model="far"), listen=listen) as run:
            await run.result()

anyio.run(main)
"""


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[AgentLab]:
    with AgentLab(tmp_path) as opened:
        yield opened


def killed(lab: AgentLab, node: str, cycle: int = 0) -> str:
    """The id of a run whose process was killed when it entered a node."""
    flags = {**lab.configured, "research.embedding.model": str(lab.folder / "no model")}
    done = run_python(("-c", DIE, node, str(cycle), QUESTION, json.dumps(flags)), home=lab.folder)
    assert done.returncode == 9, done.stderr
    return lab.asky.agent.find()


def resumed(asky: Asky, run_id: str) -> Answer:
    async def main() -> Answer:
        async with asky.agent.resume(run_id) as run:
            return await run.result()

    return anyio.run(main)


def facts_of(report: dict[str, Any]) -> dict[str, Any]:
    """What two reports of one question have in common if they are the same: not their times, ids and keys."""
    answer = report["answer"]
    return {
        "text": answer["answer"],
        "citations": [(each["n"], each["url"], each["quote"]) for each in answer["citations"]],
        "facts": [(each["statement"], each["confidence"], each["verified"]) for each in report["facts"]],
        "sub_questions": report["sub_questions"],
        "cycles": report["cycles"],
        "stop_reason": report["stop_reason"],
    }


@pytest.mark.few(1)
@pytest.mark.parametrize("node", NODES)
def test_a_run_that_was_killed_at_a_node_goes_on_to_the_same_report(lab: AgentLab, node: str) -> None:
    whole = lab.research(model="far")
    calls, searches = len(lab.endpoint.requests), len(lab.search.requests)
    expected = facts_of(lab.asky.agent.report(whole.run).encode())
    run_id = killed(lab, node, 2 if node in NODES[2:6] else 0)
    if node == "export":  # the answer was stored, and with it the report
        assert lab.asky.agent.status(run_id) == "finished"
        with pytest.raises(UsageError, match="has finished"):
            resumed(lab.asky, run_id)
    else:
        assert lab.asky.agent.status(run_id) == "interrupted"
        resumed(lab.asky, run_id)
    assert facts_of(lab.asky.agent.report(run_id).encode()) == expected
    assert len(lab.endpoint.requests) == 2 * calls
    assert len(lab.search.requests) <= 2 * searches


@pytest.mark.extended
def test_what_a_checkpoint_says_is_in_the_record_too(lab: AgentLab) -> None:
    run_id = killed(lab, "process", 2)
    checkpoints = lab.asky.services.paths.state / "agent" / "checkpoints.db"
    assert checkpoints.stat().st_mode & 0o077 == 0
    calls = len(lab.endpoint.requests)
    checkpoints.write_bytes(b"no database" * 1000)
    resumed(lab.asky, run_id)
    assert lab.asky.agent.report(run_id).cycles[-1].reason
    first = [each for each in lab.endpoint.requests[calls:] if "You plan research" in str(each.messages)]
    assert first == []


def test_a_run_replays_from_its_record_alone(lab: AgentLab) -> None:
    answer = lab.research(model="far")
    calls = len(lab.endpoint.requests)

    async def main() -> Answer:
        return await lab.asky.chat.replay(answer.run)

    assert anyio.run(main).text == answer.text
    assert len(lab.endpoint.requests) == calls
