"""When it is said that a query leaves the machine, and of which runs."""

from __future__ import annotations

import pytest

from asky.errors import ProviderError
from asky.events import Event, QuerySent, WebSearched
from asky.search.port import SearchRequest, SearchResults
from tests.integration.chat.test_answering_web import QUESTION, RETRIEVE, SECRET, Lab, lab
from tests.support.models import ScriptedModel, calls, tool_call
from tests.support.searching import FakeSearch

__all__ = ["lab"]

OTHER = "height of neap tides"


class Watching(FakeSearch):
    """Notes what the user had been told by the time each request came."""

    def __init__(self, lab: Lab) -> None:
        super().__init__([lab.site.url("/tides")])
        self._heard = lab.store.heard
        self.told: list[list[str]] = []

    async def search(self, request: SearchRequest) -> SearchResults:
        self.told.append([each.query for each in said(self._heard)])
        return await super().search(request)


def said(heard: list[Event]) -> list[QuerySent]:
    return [each for each in heard if isinstance(each, QuerySent)]


def searching() -> ScriptedModel:
    own = calls(tool_call("web_search", {"queries": [OTHER]}))
    return ScriptedModel(own, RETRIEVE, "Two tides a day.", "Two tides a day.")


@pytest.mark.parametrize("is_private", [True, False], ids=["private", "public"])
def test_a_query_is_told_before_any_service_gets_it(lab: Lab, is_private: bool) -> None:
    if is_private:
        lab.store.add("notes", SECRET, title="Notes", collection=lab.collection)
    search = Watching(lab)
    lab.web.search_with(search, FakeSearch(name="other"))
    lab.ask(searching())
    assert search.told == [[QUESTION], [QUESTION, OTHER]]
    services = ("fake (search.invalid)", "other (search.invalid)")
    expected = [QuerySent(query, services, is_private) for query in (QUESTION, OTHER)]
    assert said(lab.store.heard) == expected


def test_what_was_found_a_moment_ago_is_not_sent_and_not_told(lab: Lab) -> None:
    lab.ask(searching())
    lab.store.heard.clear()
    lab.ask(searching())
    assert said(lab.store.heard) == []
    assert [each.services for each in lab.store.heard if isinstance(each, WebSearched)] == [(), ()]


def test_a_query_that_no_service_answered_was_told_all_the_same(lab: Lab) -> None:
    lab.web.search_with(FakeSearch(error=ProviderError("fake is down", reason="unavailable")))
    with pytest.raises(ProviderError):
        lab.ask(searching())
    assert [each.query for each in said(lab.store.heard)] == [QUESTION]


HIDDEN = "map of Quillo\u200bnbrook"


def test_a_private_name_with_an_invisible_character_in_it_is_not_sent(lab: Lab) -> None:
    lab.store.add(
        "notes", "Two tides a day reach the harbour of Quillonbrook.", title="Notes", collection=lab.collection
    )
    search = Watching(lab)
    lab.web.search_with(search)
    lab.ask(ScriptedModel(RETRIEVE, calls(tool_call("web_search", {"queries": [HIDDEN]})), "Two tides a day."))
    assert [request.query for request in search.requests] == [QUESTION]
    assert "Quillonbrook" not in str([each for each in said(lab.store.heard) if each.query != QUESTION])


def test_characters_that_could_carry_data_leave_a_query_of_the_model(lab: Lab) -> None:
    search = Watching(lab)
    lab.web.search_with(search)
    odd = "map 🌊 of\u2003𝐧𝐞𝐚𝐩 ti\u0336des, nеap ☃"  # a Cyrillic letter among Latin ones
    lab.ask(ScriptedModel(RETRIEVE, calls(tool_call("web_search", {"queries": [odd]})), "Two tides a day."))
    assert [request.query for request in search.requests] == [QUESTION, "map of neap tides, neap"]


def test_one_text_is_recorded_shown_and_sent(lab: Lab) -> None:
    search = Watching(lab)
    lab.web.search_with(search)
    lab.ask(ScriptedModel(calls(tool_call("web_search", {"queries": [HIDDEN]})), RETRIEVE, "Two tides a day."))
    plain = "map of Quillonbrook"
    assert [request.query for request in search.requests] == [QUESTION, plain]
    assert [each.query for each in said(lab.store.heard)] == [QUESTION, plain]
    assert [plain] in [entry["queries"] for entry in lab.ledger("web_searched")]
