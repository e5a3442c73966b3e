"""What leaves the machine, in each privacy mode."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from asky.errors import AskyError, UsageError
from asky.values import FileChange, OutgoingQueries
from tests.support.agent_lab import QUESTION, AgentLab
from tests.support.endpoint import Problem

SECRET = "The tidal barrage of the Rance cost 17 million heliotrope francs more than planned."


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[AgentLab]:
    with AgentLab(tmp_path) as opened:
        private = tmp_path / "private"
        private.mkdir()
        (private / "costs.md").write_text(f"# Costs\n\n{SECRET}\n")
        yield opened


def sent(lab: AgentLab) -> str:
    return "\n".join(str(each.messages) for each in lab.endpoint.requests)


def test_local_only_searches_nothing_and_reads_no_page(lab: AgentLab, tmp_path: Path) -> None:
    answer = lab.research(privacy_mode="local_only", documents=(tmp_path / "private",))
    assert "17 million" in answer.text
    assert (lab.queries(), lab.site.reached, lab.endpoint.requests) == ([], [], [])
    assert answer.model == "extractive"
    assert lab.asky.agent.state(answer.run)["privacy_mode"] == "local_only"


def test_local_only_takes_a_model_on_this_machine(lab: AgentLab, tmp_path: Path) -> None:
    lab.research(privacy_mode="local_only", documents=(tmp_path / "private",), model="far")  # on loopback
    assert "heliotrope" in sent(lab)
    assert lab.queries() == []


def test_hybrid_keeps_private_passages_from_models_elsewhere_and_quotes_them(lab: AgentLab, tmp_path: Path) -> None:
    with lab.elsewhere() as asky:
        answer = lab.research(privacy_mode="hybrid", documents=(tmp_path / "private",), model="far", asky=asky)
        assert lab.endpoint.requests
        assert "heliotrope" not in sent(lab)
        assert "620 million" in answer.text
        assert "From your own documents" in answer.text
        assert "heliotrope" in answer.text
        assert answer.faults == 0
        assert "17 million" in str(asky.agent.report(answer.run).facts)


def test_hybrid_has_only_claims_about_public_passages_judged_elsewhere(lab: AgentLab, tmp_path: Path) -> None:
    def judge(prompt: str) -> str:
        numbers = re.findall(r"^(\d+)\. .* \(P", prompt, re.MULTILINE)
        each = [{"statement": int(number), "verdict": "supported", "support": 1, "reason": ""} for number in numbers]
        return json.dumps({"verdicts": each})

    lab.replies = {"You check statements": judge}
    with lab.elsewhere(**{"verify.chat": True}) as asky:
        answer = lab.research(privacy_mode="hybrid", documents=(tmp_path / "private",), model="far", asky=asky)
    judged = [each.text for each in answer.claims if each.checks.get("judged_by") == "far"]
    assert any("620 million" in each for each in judged)
    assert not any("heliotrope" in each for each in judged)
    assert any("heliotrope" in each.text for each in answer.claims)
    assert "heliotrope" not in sent(lab)
    assert not any("judge" in each for each in answer.warnings)


def test_hybrid_research_that_is_resumed_quotes_private_passages_too(lab: AgentLab, tmp_path: Path) -> None:
    lab.replies = {"Write a research report": lambda _: Problem("bad_request")}
    with lab.elsewhere() as asky:
        with pytest.raises(AskyError, match="The report could not be written"):
            lab.research(privacy_mode="hybrid", documents=(tmp_path / "private",), model="far", asky=asky)
        lab.replies = {}

        async def main() -> str:
            async with asky.agent.resume(asky.agent.find()) as run:
                return (await run.result()).text

        text = anyio.run(main)
    assert "620 million" in text
    assert "heliotrope" in text
    assert "heliotrope" not in sent(lab)


def test_words_of_private_documents_are_asked_about_before_they_are_searched(lab: AgentLab, tmp_path: Path) -> None:
    asked: list[OutgoingQueries] = []

    async def decline(each: OutgoingQueries | FileChange) -> bool:
        assert isinstance(each, OutgoingQueries)
        asked.append(each)
        return False

    lab.research(documents=(tmp_path / "private",), approve=decline)
    assert all("heliotrope" not in each.casefold() for each in lab.queries())


def test_a_model_elsewhere_is_refused_where_everything_stays(lab: AgentLab, tmp_path: Path) -> None:
    with lab.elsewhere() as asky, pytest.raises(UsageError, match="excludes the model far"):
        lab.research(QUESTION, privacy_mode="local_only", documents=(tmp_path / "private",), model="far", asky=asky)
    assert lab.endpoint.requests == []
