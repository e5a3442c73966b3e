"""Many runs in one process: none hears of another."""

from __future__ import annotations

from pathlib import Path

import anyio

from asky.app.agent.requests import ResearchRequest
from asky.events import Envelope
from asky.values import Answer
from tests.support.agent_lab import AgentLab, html

RUNS = 20


def test_twenty_runs_at_once_hear_nothing_of_each_other(tmp_path: Path) -> None:
    heard: dict[int, list[Envelope]] = {}
    answers: dict[int, Answer] = {}
    with AgentLab(tmp_path) as lab:
        for number in range(RUNS):
            fact = f"The barrage called B{number}x costs {number + 100} million francs."
            lab.pages[f"/b{number}"] = (f"B{number}x", fact, (f"b{number}x",))
            lab.site.page(f"/b{number}", html=html(f"B{number}x", fact))

        async def one(number: int) -> None:
            request = ResearchRequest(query=f"What does the barrage called B{number}x cost?", max_cycles=2)
            async with lab.asky.agent.start(request) as run:
                heard[number] = [each async for each in run.events()]
                answers[number] = await run.result()

        async def main() -> None:
            async with anyio.create_task_group() as group:
                for number in range(RUNS):
                    group.start_soon(one, number)

        anyio.run(main)
        assert len({each.run for each in answers.values()}) == RUNS
        for number, answer in answers.items():
            assert {each.run for each in heard[number]} == {answer.run}
            assert [each.seq for each in heard[number]] == list(range(1, len(heard[number]) + 1))
            text = str([each.event for each in heard[number]])
            assert f"B{number}x" in text
            assert not [other for other in range(RUNS) if other != number and f"B{other}x" in text]
            assert len([each for each in answer.warnings if "searching by keywords only" in each]) <= 1
            assert f"{number + 100} million" in answer.text
