"""How runs of the agent end: by the user, at a budget, without sources, and with models and services that fail."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from asky.app.agent.requests import ResearchRequest
from asky.app.web import SET_UP_SEARCH
from asky.config.limits import RunLimits
from asky.errors import AskyError, NotEnoughEvidence, UsageError
from asky.events import ClarificationAsked, Event, PhaseStarted
from asky.report.research_words import unread_pages
from asky.values import Answer
from tests.support.agent_lab import COST, QUESTION, AgentLab, html, plan
from tests.support.endpoint import Problem
from tests.support.library import open_asky
from tests.support.twins.base import Reply


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[AgentLab]:
    with AgentLab(tmp_path) as opened:
        yield opened


def researched(lab: AgentLab, stop_at: str, **options: Any) -> Answer:
    """The answer of a run that is asked to stop when it enters a node."""

    async def main() -> Answer:
        def listen(event: Event) -> None:
            lab.heard.append(event)
            if isinstance(event, PhaseStarted) and event.phase == stop_at:
                lab.asky.agent.stop(lab.asky.agent.find())

        request = ResearchRequest(query=QUESTION, **options)
        async with lab.asky.agent.start(request, listen=listen) as run:
            return await run.result()

    return anyio.run(main)


def test_a_run_that_is_stopped_ends_its_cycle_and_reports(lab: AgentLab) -> None:
    answer = researched(lab, "process", model="far")
    report = lab.asky.agent.report(answer.run)
    assert report.stop_reason == "User requested stop"
    assert len(report.cycles) == 1
    assert "620 million" in answer.text


def test_a_run_that_is_stopped_before_its_first_cycle_reports_that_it_found_nothing(lab: AgentLab) -> None:
    answer = researched(lab, "plan", model="far")
    assert answer.stopped_by == "no_evidence"
    assert lab.queries() == []
    report = lab.asky.agent.report(answer.run)
    assert (report.stop_reason, report.facts) == ("User requested stop", ())
    with pytest.raises(UsageError, match="is not running"):
        lab.asky.agent.stop(answer.run)


def test_a_service_that_always_has_something_new_is_ended_by_a_budget(lab: AgentLab) -> None:
    for number in range(40):
        fact = f"Barrage number {number} of the river costs {number} million francs."
        lab.pages[f"/{number}"] = (f"Barrage {number}", fact, ("cost",))
        lab.site.page(f"/{number}", html=html(f"Barrage {number}", fact))
    answer = lab.research(max_cycles=2)
    report = lab.asky.agent.report(answer.run)
    assert report.stop_reason == "The limit of 2 cycles was reached"
    assert lab.asky.agent.is_over_budget(answer.run)
    assert answer.text
    fetched = lab.research(max_fetches=3)
    assert lab.asky.agent.report(fetched.run).stop_reason == "The limit of 3 sources read was reached"
    assert fetched.usage.fetches + fetched.usage.cache_hits <= 3


def with_snippets(lab: AgentLab) -> None:
    """Have the search service quote each page, as services do."""
    rows = [
        {"url": lab.site.url(path), "title": title, "content": fact} for path, (title, fact, _) in lab.pages.items()
    ]
    lab.search.play(lambda _: Reply({"results": rows}))


def test_pages_that_may_not_be_read_are_told_and_not_counted_as_covered(tmp_path: Path) -> None:
    with AgentLab(tmp_path, **{"network.allow_private": []}) as lab:
        with_snippets(lab)
        answer = lab.research()
        assert "620 million" in answer.text
        report = lab.asky.agent.report(answer.run)
        assert report.stop_reason == "None of the 3 pages that were tried could be read"
        assert [each.source_coverage for each in report.cycles] == [0.0] * len(report.cycles)
        port = lab.site.authority.partition(":")[2]
        assert list(unread_pages(report.failures)) == [
            f"3 pages could not be read: port {port} of the site is not one that web servers use",
            f'if it is yours, add "{lab.site.authority}" to network.allow_private',
        ]
        with pytest.raises(NotEnoughEvidence, match="none of the pages that were found could be read"):
            lab.asky.agent.raise_for_outcome(answer)


def test_some_pages_that_cannot_be_read_are_counted_by_their_reasons(lab: AgentLab) -> None:
    for path in ("/gone", "/lost"):
        lab.pages[path] = (path, "Nothing.", ("cost",))
    lab.pages["/shut"] = ("Shut", "Nothing.", ("cost",))
    lab.site.page("/shut", status=403)
    answer = lab.research()
    report = lab.asky.agent.report(answer.run)
    assert list(unread_pages(report.failures)) == [
        "3 pages could not be read: the site has no such page (HTTP 404) (2); "
        "the site does not allow access to this page (HTTP 403) (1)"
    ]
    assert report.cycles[-1].source_coverage == 1.0
    lab.asky.agent.raise_for_outcome(answer)


def test_no_page_is_read_if_the_limit_is_none(lab: AgentLab) -> None:
    with_snippets(lab)
    answer = lab.research(max_fetches=0)
    assert "620 million" in answer.text
    assert answer.usage.fetches == 0
    assert not lab.site.requests
    report = lab.asky.agent.report(answer.run)
    assert report.stop_reason == "No page may be read, and the searches say little more"
    assert not lab.asky.agent.is_over_budget(answer.run)
    lab.asky.agent.raise_for_outcome(answer)


def test_tokens_and_time_end_the_cycles_in_time_for_the_report(lab: AgentLab) -> None:
    answer = lab.research(model="far", limits=RunLimits(tokens=2_000))
    report = lab.asky.agent.report(answer.run)
    assert report.stop_reason.startswith("The limit of 2,000 tokens")
    assert answer.text


def test_nothing_found_is_a_report_that_says_so(lab: AgentLab) -> None:
    question = "Who won the chess championship of Ruritania?"
    lab.replies = {"You plan research": plan((question, ["Ruritania chess championship"]))}
    answer = lab.research(question, model="far")
    assert answer.stopped_by == "no_evidence"
    report = lab.asky.agent.report(answer.run)
    assert report.found_nothing
    assert report.queries


def test_services_that_are_down_are_named(lab: AgentLab) -> None:
    lab.search.play("error")
    answer = lab.research()
    report = lab.asky.agent.report(answer.run)
    assert answer.stopped_by == "no_evidence"
    assert {each.error_type for each in report.failures}
    assert lab.asky.services.source_records.failures(run=answer.run)


@pytest.mark.extended
def test_a_model_that_answers_prose_for_json_leaves_the_work_to_rules(lab: AgentLab) -> None:
    prose = "Certainly! Here is what I think about it."
    lab.replies = {"You plan research": prose, "You read passages": prose}
    answer = lab.research(model="far")
    assert "620 million" in answer.text
    assert any("rules took the place of far" in each for each in answer.warnings)


@pytest.mark.extended
def test_a_model_that_proposes_the_same_for_ever_does_not_keep_a_run_going(lab: AgentLab) -> None:
    again = {"facts": [], "entities": [], "answered": [], "next_queries": ["Rance barrage cost", "rance COST barrage!"]}
    lab.replies = {"You read passages": json.dumps(again)}
    answer = lab.research(model="far")
    report = lab.asky.agent.report(answer.run)
    assert len(report.queries) == len({frozenset(each.casefold().split()) for each in report.queries})
    assert len(report.cycles) <= 3


INVENTED = "The Rance is the biggest natural disaster. [P0000] See also https://never-seen.example/x for more."


def test_a_report_that_cites_nothing_gives_way_to_quotations(lab: AgentLab) -> None:
    lab.replies = {"Write a research report": INVENTED, "was checked against the passages": INVENTED}
    answer = lab.research(model="far")
    assert "620 million" in answer.text
    assert "natural disaster" not in answer.text
    assert [each.verdict for each in answer.claims] == ["supported"] * len(answer.claims)
    assert any("far cited nothing that it was shown" in each for each in answer.warnings)
    calls = len(lab.endpoint.requests)

    assert anyio.run(lab.asky.chat.replay, answer.run).text == answer.text
    assert len(lab.endpoint.requests) == calls


def test_a_report_that_cites_nothing_stays_if_nothing_can_be_quoted(lab: AgentLab) -> None:
    lab.replies = {"Write a research report": INVENTED, "was checked against the passages": INVENTED}
    lab.search.play(lambda _: Reply({"results": []}))
    answer = lab.research(model="far")
    assert answer.stopped_by == "no_evidence"


def test_a_model_that_is_down_at_the_end_leaves_a_run_to_resume(lab: AgentLab) -> None:
    lab.replies = {"Write a research report": lambda _: Problem("bad_request")}
    with pytest.raises(AskyError, match="The report could not be written"):
        lab.research(model="far")
    run_id, calls = lab.asky.agent.find(), len(lab.endpoint.requests)
    assert lab.asky.agent.status(run_id) == "failed"
    lab.replies = {}

    async def main() -> Answer:
        async with lab.asky.agent.resume(run_id) as run:
            return await run.result()

    assert "620 million" in anyio.run(main).text
    assert len(lab.endpoint.requests) == calls + 1


def test_the_user_is_asked_at_most_twice_and_only_if_somebody_answers(lab: AgentLab) -> None:
    blocked = json.dumps({"blocked": True, "question": "Which river?", "refined": QUESTION})
    lab.replies = {"You prepare research": blocked}
    lab.research(model="far", max_cycles=1)
    assert not any(isinstance(each, ClarificationAsked) for each in lab.heard)

    async def answered(question: str) -> str | None:
        lab.asked.append(question)
        return "the Rance"

    lab.research(model="far", max_cycles=1, clarifies=True, clarify=answered)
    assert lab.asked == ["Which river?", "Which river?"]


@pytest.mark.extended
def test_what_the_user_adds_is_researched_too(lab: AgentLab) -> None:
    notes = iter([["Who opened the Rance barrage?"]])
    answer = lab.research(notes=lambda: next(notes, []))
    assert "Who opened the Rance barrage?" in [each.text for each in lab.asky.agent.report(answer.run).sub_questions]


@pytest.mark.extended
def test_one_page_under_many_addresses_counts_once(lab: AgentLab) -> None:
    for number in range(50):
        lab.pages[f"/copy{number}"] = ("What the Rance cost", COST, ("cost",))
        lab.site.page(f"/copy{number}", html=html("What the Rance cost", COST))
    answer = lab.research(max_cycles=3)
    facts = lab.asky.agent.report(answer.run).facts
    (cost,) = [each for each in facts if "620 million" in each.statement]
    assert (cost.source_count, cost.verified) == (1, False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"query": "  "}, "the question is empty"),
        ({"privacy_mode": "public"}, "unknown privacy mode"),
        ({"domain": "alchemy"}, "there is no field of research called"),
        ({"max_cycles": 0}, "max_cycles must be at least 1"),
        ({"web": False, "library": False}, "there is nothing to answer from"),
        ({"documents": (Path("/nowhere"),)}, "/nowhere"),
        ({"collections": ("none",)}, "none"),
    ],
)
def test_what_cannot_be_researched_is_an_error_of_one_line(
    lab: AgentLab, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(AskyError, match=message):
        lab.research(**{"query": QUESTION, **options})
    assert lab.asky.agent.list() == []


def test_a_plan_may_have_one_part(lab: AgentLab) -> None:
    lab.replies = {"You plan research": plan(("What did the barrage cost?", ["Rance barrage cost"]))}
    assert lab.asky.agent.report(lab.research(model="far").run).sub_questions[0].status == "answered"


# services that need no key


def error_of(lab: AgentLab, **options: Any) -> AskyError:
    """The error of research in a home without any search service."""
    with open_asky(lab.folder) as asky, pytest.raises(AskyError) as raised:
        lab.research(asky=asky, library=False, **options)
    return raised.value


def test_without_a_service_it_is_said_which_need_no_key(lab: AgentLab) -> None:
    error = error_of(lab)
    assert "no documents are kept and no search service is set up" in error.message
    assert error.hint is not None
    assert error.hint.endswith(SET_UP_SEARCH)
    assert "asky setup" in str(error.server_hint)
    assert "Semantic Scholar" in str(error.server_hint)
    assert " -" not in str(error.server_hint)


@pytest.mark.parametrize(("options", "why"), [({"privacy_mode": "local_only"}, "local_only"), ({"web": False}, "web")])
def test_who_keeps_off_the_web_is_not_sent_to_a_search_service(
    lab: AgentLab, options: dict[str, Any], why: str
) -> None:
    error = error_of(lab, **options)
    assert why in error.message
    assert "search service" not in str(error.hint)


def test_services_of_the_field_that_need_no_key_are_named_where_others_are_used(lab: AgentLab) -> None:
    answer = lab.research(domain="medical", max_cycles=1)
    (told,) = [each for each in answer.warnings if "pubmed" in each]
    assert told == (
        "research in the field medical searches pubmed, semantic_scholar first, which are not set up:"
        " they need no key, and `asky setup` turns them on"
    )
    assert not any("pubmed" in each for each in lab.research(max_cycles=1).warnings)
    alone = lab.research(domain="medical", web=False, documents=(Path(__file__),), max_cycles=1)
    assert not any("pubmed" in each for each in alone.warnings)
