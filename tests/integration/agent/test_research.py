"""A run of the research agent from its question to its report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from asky.events import CycleEvaluated, PhaseStarted
from tests.support.agent_lab import COST, AgentLab, html, plan
from tests.support.twins.base import Reply, Request


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[AgentLab]:
    with AgentLab(tmp_path) as opened:
        yield opened


@pytest.mark.parametrize("model", ["extractive", "far"])
def test_a_question_is_researched_until_nothing_new_is_found(lab: AgentLab, model: str) -> None:
    answer = lab.research(model=model)
    assert COST in answer.text.replace(" [1]", "") or "620 million francs" in answer.text
    assert "500 GWh" in answer.text
    assert answer.faults == 0
    state = lab.asky.agent.state(answer.run)
    assert state["current_phase"] == "finished"
    assert state["stop_reason"]
    facts = [each["statement"] for each in state["facts_extracted"]]
    assert any("620 million" in each for each in facts)
    assert any("500 GWh" in each for each in facts)
    phases = [each.phase for each in lab.heard if isinstance(each, PhaseStarted)]
    assert phases[:6] == ["clarify", "plan", "collect", "process", "analyze", "evaluate"]
    assert phases[-2:] == ["synthesize", "export"]
    assert [each.should_stop for each in lab.heard if isinstance(each, CycleEvaluated)][-1]
    report = lab.asky.agent.report(answer.run)
    assert report.stop_reason == state["stop_reason"]
    assert report.answer["answer"] == answer.text


@pytest.mark.extended
def test_pages_that_several_queries_find_are_read_first_and_the_others_in_later_cycles(lab: AgentLab) -> None:
    found = {"alpha": ["a1", "a2", "a3", "a4", "both"], "beta": ["b1", "b2", "b3", "b4", "both"]}
    for path in {each for listed in found.values() for each in listed}:
        lab.site.page(f"/{path}", html=html(path, f"The page {path} tells of the barrage."))
    lab.replies = {"You plan research": plan(("What did the barrage cost?", ["alpha", "beta"]))}

    def results(request: Request) -> Reply:
        listed = found.get(request.param("q") or "", [])
        return Reply(
            {"results": [{"url": lab.site.url(f"/{path}"), "title": path, "content": path} for path in listed]}
        )

    lab.search.play(results)
    answer = lab.research(model="far", max_cycles=2)  # three queries, then one
    read = [each.rpartition("/")[2] for each in lab.asky.agent.state(answer.run)["sources_queried"]]
    assert read == ["both", "a1", "b1", "a2", "b2", "a3", "b3", "a4"]


def test_pages_are_read_on_when_nothing_new_can_be_asked(lab: AgentLab) -> None:
    pages = [f"p{number}" for number in range(8)]
    for number, path in enumerate(pages):
        lab.site.page(
            f"/{path}", html=html(path, f"the barrage of village {number} costs {number + 2} million francs.")
        )
    listed = [{"url": lab.site.url(f"/{each}"), "title": each, "content": each} for each in pages]
    lab.search.play(lambda _: Reply({"results": listed}))
    answer = lab.research("What does the barrage of a village cost?", max_cycles=9)
    report = lab.asky.agent.report(answer.run)
    assert len(report.queries) == 1
    assert len(report.sources_queried) > 4
    assert report.cycles[-1].cycle < 9


PAPER = """\
# Tides of the Rance

Ada Brown, Carl Dean

## Abstract

We measured the tides of the Rance for nine years. The barrage lowered them by half a metre.

## Methods

Gauges stood at four places. They were read every hour.

## Conclusions

The tides of the Rance are lower than before the barrage, and later by ten minutes.
"""


def test_a_document_is_asked_about_as_a_whole(lab: AgentLab, tmp_path: Path) -> None:
    paper = tmp_path / "paper.md"
    paper.write_text(PAPER)
    answer = lab.research(
        "Summarise this paper and who wrote it?", documents=(paper,), web=False, privacy_mode="local_only"
    )
    assert "We measured the tides of the Rance for nine years." in answer.text
    assert "Ada Brown, Carl Dean" in answer.text
    assert {each.status for each in lab.asky.agent.report(answer.run).sub_questions} == {"answered"}


def test_two_snippets_of_an_address_are_two_texts_ten_times(lab: AgentLab) -> None:
    """The services' usual way: a snippet is the part of a page that is nearest to the query. The pages are gone."""

    def results(request: Request) -> Reply:
        said = f"Asked {request.param('q')}, one says: "
        rows = [
            {"url": lab.site.url(f"/gone{number}"), "title": f"Barrage {number}", "content": f"{said}{COST}"}
            for number in range(4)
        ]
        return Reply({"results": rows})

    lab.search.play(results)
    for _ in range(10):
        answer = lab.research()
        assert "620 million" in answer.text
        assert not [each for each in answer.warnings if "earlier text" in each]
        runs = lab.asky.runs
        opened = [runs.open_citation(runs.find(answer.run), each.n) for each in answer.citations]
        assert {each.source_now for each in opened} == {"same"}
