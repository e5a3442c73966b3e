"""The pages that earlier turns of a session cited or showed: a later turn is told of them and may read them again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from asky.chat.modes import Mode
from tests.integration.chat.test_answering_web import RETRIEVE, SECRET, TIDES, Lab, article, told
from tests.support.models import ScriptedModel, calls, tool_call
from tests.support.site import Site

SEARCH = calls(tool_call("web_search", {"queries": ["moon tides"]}))
_MUCH_LATER_S = 1_000_000.0


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    with Site() as site:
        site.page("/tides", html=article("Tides", TIDES, "/deeper"))
        opened = Lab(tmp_path, site)
        with opened.web:
            yield opened
        opened.store.close()


def read(*urls: str) -> ScriptedModel:
    return ScriptedModel(calls(tool_call("extract_links", {"urls": list(urls)})), "So.", "So.")


def converse(lab: Lab) -> str:
    """A first turn, in which a page is found, read and shown; returns its address. What was read is too old by now."""
    tides = lab.site.url("/tides")
    model = ScriptedModel(SEARCH, calls(tool_call("extract_links", {"urls": [tides]})), RETRIEVE, "So.", "So.")
    lab.ask(model, shortlist=False)
    assert "two tides a day" in told(model)[2]
    lab.web.now += _MUCH_LATER_S
    return tides


def paths(lab: Lab) -> list[str]:
    return [asked.path for asked in lab.site.requests]


def test_a_page_of_an_earlier_turn_can_be_read_again_without_a_search(lab: Lab) -> None:
    tides = converse(lab)
    model = read(tides)
    lab.ask(model, shortlist=False)
    assert "Tides" in told(model)[-1]
    assert paths(lab) == ["/tides", "/tides"]
    assert lab.ledger("web_searched") == []


@pytest.mark.parametrize("mode", ["research", "standard"])
def test_a_later_turn_is_told_which_pages_there_were(lab: Lab, mode: Mode) -> None:
    tides = converse(lab)
    model = ScriptedModel("So.")
    lab.ask(model, shortlist=False, mode=mode)
    asked = model.sent[0][0][-1].content
    source = lab.store.corpus.sources(lab.scope)[0]
    assert f"{source.id}: Tides\n   {tides}" in asked
    assert asked.count(tides) == 1
    assert tides not in "".join(each.content for each in model.sent[0][0] if each.role == "system")


def test_where_nothing_of_earlier_turns_goes_to_a_model_their_pages_do_not(lab: Lab) -> None:
    tides = converse(lab)
    model = read(tides)
    lab.ask(model, shortlist=False, history_tokens=0)
    assert tides not in model.sent[0][0][-1].content
    assert paths(lab) == ["/tides"]


def test_an_address_that_the_model_makes_of_an_earlier_one_is_not_fetched(lab: Lab) -> None:
    tides = converse(lab)
    model = read(f"{tides}?secret=1", f"{tides}/more", lab.site.url("/deeper"))
    lab.ask(model, shortlist=False)
    assert told(model)[-1].count("was not offered by any source") == 3
    assert paths(lab) == ["/tides"]


def test_another_session_may_not_read_it_and_is_not_told(lab: Lab) -> None:
    tides = converse(lab)
    lab.session = lab.sessions.open("other", mode="research")
    model = read(tides)
    lab.ask(model, shortlist=False)
    assert "was not offered" in told(model)[-1]
    assert tides not in model.sent[0][0][-1].content


def test_a_turn_that_was_taken_back_offers_nothing(lab: Lab) -> None:
    tides = converse(lab)
    last = lab.sessions.last_question(lab.session.id)
    assert last is not None
    assert last.run_id is not None
    assert lab.sessions.withdraw(lab.session.id, last.run_id)
    model = read(tides)
    lab.ask(model, shortlist=False)
    assert "was not offered" in told(model)[-1]
    assert paths(lab) == ["/tides"]


def test_with_private_documents_open_a_page_of_an_earlier_turn_needs_its_host_to_be_found_again(lab: Lab) -> None:
    tides = converse(lab)
    lab.store.add("notes", SECRET, title="Notes", collection=lab.collection)
    model = read(tides)
    lab.ask(model, shortlist=False)
    assert "private documents are open" in told(model)[-1]
    assert paths(lab) == ["/tides"]
    again = ScriptedModel(SEARCH, calls(tool_call("extract_links", {"urls": [tides]})), "So.", "So.")
    lab.ask(again, shortlist=False)
    assert "Tides" in told(again)[-1]
    assert paths(lab) == ["/tides", "/tides"]


def test_what_was_offered_is_in_the_record_of_the_run(lab: Lab) -> None:
    tides = converse(lab)
    lab.ask(ScriptedModel("So."), shortlist=False)
    steps = lab.runs.steps.of(lab.runs.find(None).id)
    offered = [offer for step in steps for offer in step.data.get("state", step.data).get("offers", ())]
    assert ["linked", [tides]] in offered
