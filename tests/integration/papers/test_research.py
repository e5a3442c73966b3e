"""Research over the library: an answer by the built-in model and by a scripted endpoint, its pages, and its errors."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pymupdf
import pytest

from asky.app.asky import Asky
from asky.errors import AskyError, NotConfigured, NotEnoughEvidence, UsageError
from asky.events import Event, StageFinished
from asky.evidence.keys import KEY
from asky.papers.catalog import PaperHit
from asky.values import Answer
from tests.support.endpoint import Endpoint, Problem
from tests.support.library import open_asky
from tests.support.papers import BREAD, SUN, TEXT, paper_pdf


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint("Nothing.") as opened:
        yield opened


@pytest.fixture
def asky(tmp_path: Path, endpoint: Endpoint) -> Iterator[Asky]:
    settings = {
        "providers.lab.base_url": endpoint.base_url,
        "models.far.provider": "lab",
        "models.far.id": "test-model",
        "models.far.max_output_tokens": 500,
    }
    with open_asky(tmp_path, settings=settings) as opened:
        folder = tmp_path / "downloads"
        folder.mkdir()
        (folder / "a.pdf").write_bytes(paper_pdf(arxiv="2101.00001v2", pages=[TEXT, "A page about gauges.", SUN]))
        (folder / "b.pdf").write_bytes(paper_pdf("Bread and yeast", doi="10.5555/b1", pages=[BREAD]))
        anyio.run(partial(opened.papers.add, [folder]))
        yield opened


def research(asky: Asky, query: str, **options: Any) -> Answer:
    async def run() -> Answer:
        async with asky.papers.start(query, **options) as handle:
            return await handle.result()

    return anyio.run(run)


def pages_hold_the_quotes(asky: Asky, answer: Answer) -> bool:
    for each in answer.citations:
        paper = asky.papers.resolve(each.source.uri.removeprefix("paper:"))
        with pymupdf.open(asky.papers.pdf(paper)) as document:
            text = document[(each.location.page or 0) - 1].get_text()
        first = each.quote.split(". ")[0].split("\n")[-1]
        if "".join(first.split()) not in "".join(text.split()):
            return False
    return bool(answer.citations)


def test_the_built_in_model_answers_with_pages_that_hold_the_passages(asky: Asky) -> None:
    heard: list[Event] = []
    answer = research(asky, "What tides does the sun raise?", listen=heard.append)
    result = asky.papers.result(answer)
    assert "less than half as high as those of the moon. [2101.00001v2, page 3]" in result.content
    assert result.content.endswith(
        "\n\n## References\n\n1. 2101.00001v2 - On the tides of nine harbours  \n   Authors: Ann Marsh  \n"
        "   Published: 2021-02-03\n"
    )
    assert (result.success, result.paper_ids, answer.mode) == (True, ("2101.00001",), "papers")
    assert pages_hold_the_quotes(asky, answer)
    stages = {each.stage: each.summary for each in heard if isinstance(each, StageFinished)}
    assert (stages["paper summaries"], stages["paper content"]) == ("1 relevant paper", "3 content chunks")


def test_a_model_sees_keys_and_pages_and_is_understood_if_it_cites_pages(asky: Asky, endpoint: Endpoint) -> None:
    endpoint.play(
        "# Tides\n\nThe sun raises smaller tides [2101.00001v2, page 3]. They were measured at nine harbours for"
        " forty years [2101.00001, p. 1]. Gauges are wonderful [2101.00001v2, page 9].",
    )
    answer = research(asky, "what raises tides", model="far")
    sent = str(endpoint.requests[0].messages)
    for wanted in ("# Research query", "what raises tides", "page=3", "with the key of the passage", SUN[:30]):
        assert wanted in sent
    assert BREAD[:20] not in sent
    result = asky.papers.result(answer)
    assert "smaller tides [2101.00001v2, page 3]." in result.content
    assert "~~[2101.00001v2, page 9?]~~" in result.content
    assert [each.n for each in answer.citations] == [1, 2]
    assert "1 citation of a passage that was never shown was struck out" in answer.warnings
    assert pages_hold_the_quotes(asky, answer)


def test_a_model_that_cites_keys_is_shown_with_pages(asky: Asky, endpoint: Endpoint) -> None:
    endpoint.play(lambda request: f"The sun raises tides [{KEY.findall(str(request.messages))[-1]}].")
    answer = research(asky, "what tides does the sun raise", model="far")
    assert answer.text == "The sun raises tides [1]."
    assert "The sun raises tides [2101.00001v2, page " in asky.papers.result(answer).content


def test_a_run_is_replayed_and_explained_as_any_other(asky: Asky, endpoint: Endpoint) -> None:
    endpoint.play("The sun raises smaller tides [2101.00001v2, page 3].")
    answer = research(asky, "what raises tides", model="far")
    asked = len(endpoint.requests)
    assert anyio.run(asky.chat.replay, answer.run).text == answer.text
    assert len(endpoint.requests) == asked
    opened = asky.runs.open_citation(asky.runs.find(answer.run), 1)
    assert (opened.passage.strip(), opened.citation["paper"]) == (SUN, "2101.00001v2")


def test_a_failed_run_clears_the_state_and_goes_on_where_it_failed(asky: Asky, endpoint: Endpoint) -> None:
    research(asky, "What tides does the sun raise?")
    assert asky.papers.state().name == "research"
    endpoint.play(Problem("bad_request"))
    with pytest.raises(AskyError, match=r"^Failed to synthesize research answer: ") as failed:
        research(asky, "what raises tides", model="far")
    assert "asky runs resume " in (failed.value.hint or "")
    assert asky.papers.state().name == "initial"
    endpoint.play("The sun raises smaller tides [2101.00001v2, page 3].")

    async def resume() -> Answer:
        async with asky.chat.resume() as run:
            return await run.result()

    assert anyio.run(resume).text == "The sun raises smaller tides [1]."
    assert (asky.papers.state().name, asky.papers.state().last_query_set) == ("research", ("2101.00001",))


def test_an_answer_is_improved_with_its_own_passages_and_with_new_ones(asky: Asky, endpoint: Endpoint) -> None:
    endpoint.play("The sun raises smaller tides [2101.00001v2, page 3].")
    research(asky, "what raises tides", model="far")
    endpoint.play("Yeast makes gas [10.5555/b1, page 1], and the sun raises tides [2101.00001v2, page 3].")
    answer = research(asky, "what raises tides", feedback="compare with bread and yeast", model="far")
    sent = str(endpoint.requests[-1].messages)
    for wanted in ("compare with bread and yeast", "smaller tides [2101.00001v2, page 3]", BREAD[:30], SUN[:30]):
        assert wanted in sent
    assert asky.papers.result(answer).paper_ids == ("10.5555/b1", "2101.00001")
    assert asky.papers.state().original_query == "what raises tides"


def test_contradictions_between_papers_are_a_section_that_cites_both(
    asky: Asky, endpoint: Endpoint, tmp_path: Path
) -> None:
    (tmp_path / "c.pdf").write_bytes(
        paper_pdf("Tides of the sun", doi="10.5555/c1", pages=["The sun raises tides twice as high as the moon does."])
    )
    anyio.run(partial(asky.papers.add, [tmp_path / "c.pdf"]))
    quoted = research(asky, "What tides does the sun raise?")
    assert "Contradictions" not in quoted.text
    endpoint.play(
        "# Tides\n\nThe sun raises tides [2101.00001v2, page 3].\n\n## Contradictions\n\n- The tides of the sun are"
        " less than half as high as those of the moon [2101.00001v2, page 3], or twice as high [10.5555/c1, page 1].",
    )
    answer = research(asky, "what tides does the sun raise", model="far")
    assert "If two papers contradict each other, end with a section `## Contradictions`" in str(
        endpoint.requests[0].messages
    )
    content = asky.papers.result(answer).content
    assert "\n\n## Contradictions\n\n- The tides of the sun" in content
    assert "[2101.00001v2, page 3], or twice as high [10.5555/c1, page 1]." in content
    assert [each.verdict for each in answer.claims] == ["supported", "partial"]


def test_given_passages_are_all_that_an_answer_rests_on(asky: Asky, endpoint: Endpoint) -> None:
    hits: list[PaperHit] = anyio.run(asky.papers.search, "yeast makes gas")
    endpoint.play("Yeast makes gas [10.5555/b1, page 1].")
    text = anyio.run(partial(asky.papers.synthesize_research_answer, "why does bread rise", hits, model="far"))
    assert text == "Yeast makes gas [10.5555/b1, page 1]."
    assert "sun raises" not in str(endpoint.requests[0].messages)


def test_a_result_says_why_there_is_no_answer(asky: Asky) -> None:
    result = anyio.run(asky.papers.research_query, "quantum chromodynamics")
    assert (result.success, result.content) == (False, "")
    assert result.message == (
        'No papers found relevant to query: "quantum chromodynamics". Try refining your search terms.'
    )
    found = anyio.run(asky.papers.research_query, "What tides does the sun raise?")
    assert (found.success, [each.name for each in found.papers]) == (True, ["2101.00001v2"])


def test_papers_whose_pages_say_nothing_about_it_are_an_error_of_their_own(asky: Asky) -> None:
    with pytest.raises(NotEnoughEvidence, match="No detailed content found in the selected papers") as failed:
        research(asky, "quoted")  # a word that asky writes into each summary
    assert "rebuild-index" in (failed.value.hint or "")


@pytest.mark.parametrize(
    ("query", "message"),
    [("", "the query is empty"), ("  ", "the query is empty"), ("tides " * 1000, "longer than 4,000 characters")],
)
def test_empty_and_very_long_queries_are_refused(asky: Asky, query: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        research(asky, query)


def test_a_library_without_papers_says_so(tmp_path: Path) -> None:
    with open_asky(tmp_path / "empty") as opened, pytest.raises(UsageError, match="the library has no papers yet"):
        research(opened, "what raises tides")


def test_the_default_model_does_not_see_what_only_the_built_in_one_has_seen(asky: Asky, endpoint: Endpoint) -> None:
    research(asky, "What tides does the sun raise?")
    research(asky, "What tides does the moon raise?")
    assert endpoint.requests == []


def test_a_model_that_the_session_remembers_and_nobody_configures_any_more_is_told(asky: Asky) -> None:
    with asky.services.database.write():
        session = asky.services.sessions.open("papers", mode="standard")
        asky.services.sessions.remember(session.id, mode="standard", settings={"model": "gone:test-model"})
    with pytest.raises(NotConfigured) as failed:
        research(asky, "What are tides?")
    assert (failed.value.hint or "").startswith("the session papers was last used with it; -m chooses another")
