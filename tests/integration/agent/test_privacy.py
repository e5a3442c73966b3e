"""What leaves the machine, in each privacy mode."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from asky.errors import AskyError, UsageError
from asky.events import Noted
from asky.report.research_report import decode_research
from asky.values import FileChange, OutgoingQueries
from tests.support.agent_lab import COST, QUESTION, AgentLab, html
from tests.support.endpoint import Problem

NAMED = """\
# What Ottoline Vance found

Amelia Quimby says the barrage of the Rance cost her marriage. AMELIA QUIMBY was dismissed from the barrage of the
Rance for theft. The barrage of the Rance has the code ZEBRA-77. Amelia-Quimby's electricity came from the
Rance barrage. The Quimbys of the Rance barrage made 3 GWh of electricity. Amelia Quimby.
"""
HIDDEN = ("amelia", "quimby", "zebra", "ottoline", "vance", "divorce", "bellweather")
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


def everything_sent(lab: AgentLab) -> str:
    """All that the model and the search service received."""
    bodies = [json.dumps(each.json, ensure_ascii=False) + str(each.headers) for each in lab.endpoint.requests]
    return "\n".join([*bodies, *(str(each) for each in lab.search.requests)]).casefold()


def with_names(tmp_path: Path) -> Path:
    folder = tmp_path / "named"
    folder.mkdir()
    (folder / "private-divorce-2026.md").write_text(NAMED)
    return folder


def test_hybrid_sends_no_name_that_only_private_passages_hold(lab: AgentLab, tmp_path: Path) -> None:
    with lab.elsewhere() as asky:
        answer = lab.research(privacy_mode="hybrid", documents=(with_names(tmp_path),), model="far", asky=asky)
        report = asky.agent.report(answer.run)
    told = everything_sent(lab)
    assert [each for each in HIDDEN if each in told] == []
    assert "so far: Rance barrage cost; Rance electricity".casefold() in told
    assert any("Amelia Quimby" in each.statement for each in report.facts)


def test_hybrid_sends_no_name_of_a_note(lab: AgentLab, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "Bellweather divorce.md").write_text(NAMED)
    with lab.elsewhere(**{"notes.vault": str(vault)}) as asky:
        answer = lab.research(privacy_mode="hybrid", model="far", asky=asky)
    told = everything_sent(lab)
    assert [each for each in HIDDEN if each in told] == []
    assert "The Quimbys of the Rance barrage" in answer.text


def test_hybrid_has_no_report_revised_that_quotes_private_passages(lab: AgentLab, tmp_path: Path) -> None:
    folder = tmp_path / "short"
    folder.mkdir()
    (folder / "private-divorce-2026.md").write_text("The Rance barrage cost Amelia Quimby 17 francs.\n")
    lab.replies = {"Write a research report": "The Rance cost a fortune. It makes much electricity."}
    with lab.elsewhere() as asky:
        answer = lab.research(privacy_mode="hybrid", documents=(folder,), model="far", asky=asky)
    assert "Amelia Quimby" in answer.text
    assert answer.faults
    assert [each for each in HIDDEN if each in everything_sent(lab)] == []
    assert not any("private passage" in each for each in answer.warnings)


def test_a_name_of_the_question_and_one_of_public_pages_may_be_sent(lab: AgentLab, tmp_path: Path) -> None:
    lab.site.page("/cost", html=html("What the Rance cost", f"{COST} Ottoline Vance said so."))
    with lab.elsewhere() as asky:
        question = "What did the barrage of the Rance cost Amelia Quimby, and how much electricity does it make?"
        lab.research(question, privacy_mode="hybrid", documents=(with_names(tmp_path),), model="far", asky=asky)
    told = everything_sent(lab)
    assert "amelia quimby" in told
    assert "ottoline vance said so" in told
    assert "zebra" not in told


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


def test_a_query_that_is_held_back_is_told_and_marked_and_no_source_has_failed(lab: AgentLab, tmp_path: Path) -> None:
    answer = lab.research(documents=(with_names(tmp_path),))
    report = lab.asky.agent.report(answer.run)
    held = [query for each in report.cycles for query in each.held_back]
    assert any("Amelia Quimby" in each for each in held)
    assert all(query in each.queries for each in report.cycles for query in each.held_back)
    assert not set(held) & set(lab.queries())
    told = [each.message for each in lab.heard if isinstance(each, Noted)]
    assert all(any(f"“{query}” could not be searched" in each for each in told) for query in held)
    assert report.failures == ()
    for form in ("md", "html"):
        assert f"{held[0]} (held back: not sent)" in lab.asky.agent.export(answer.run, form).text
    assert decode_research(report.encode()) == report


def test_a_model_elsewhere_is_refused_where_everything_stays(lab: AgentLab, tmp_path: Path) -> None:
    with lab.elsewhere() as asky, pytest.raises(UsageError, match="excludes the model far"):
        lab.research(QUESTION, privacy_mode="local_only", documents=(tmp_path / "private",), model="far", asky=asky)
    assert lab.endpoint.requests == []
