"""Runs on the web that were cut and taken up: what a search service has answered is not asked of it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import anyio
import pytest

from asky.errors import RateLimited, StoreDamaged, Unreachable
from asky.research.web.search_cache import CachedSearch
from asky.search.federation import Federation
from asky.search.port import SearchProvider, SearchRequest, SearchResults
from tests.integration.chat.recorded_runs import ASKED, Room, Talking, reading, room, same_again, webbed
from tests.integration.chat.test_answering_web import SECRET
from tests.support.models import ScriptedModel, calls, tool_call
from tests.support.searching import FakeSearch

__all__ = ["room", "webbed"]

FIND = calls(tool_call("web_search", {"queries": ["tides"]}))


class Hanging(FakeSearch):
    """A service that takes a request and says nothing, until it is freed."""

    is_free = False

    async def search(self, request: SearchRequest) -> SearchResults:
        """See `FakeSearch`."""
        found = await super().search(request)
        if not self.is_free:
            await anyio.sleep_forever()
        return found


def search_with(room: Room, *providers: SearchProvider, ttl_s: float = 0.0) -> None:
    """Ask these services, by default without remembering what they found."""
    assert room.web is not None
    room.web.searcher = CachedSearch(Federation(providers), room.web.searches, ttl_s=ttl_s)


def tides(room: Room) -> str:
    assert room.site is not None
    return room.site.url("/tides")


def ledger(room: Room) -> list[Mapping[str, Any]]:
    """What the ledger of the last run says of searches."""
    return [each.data for each in room.runs.ledger(room.runs.find(None).id) if each.kind == "web_searched"]


def sent(room: Room) -> list[tuple[str, str]]:
    """Which queries were sent to which services, as the ledger has it."""
    return [
        (query, service["name"])
        for entry in ledger(room)
        for query in entry["queries"]
        for service in entry["services"]
        if service["host"]
    ]


@pytest.mark.parametrize("steps", range(1, 16))
def test_a_run_that_was_killed_after_any_step_sends_no_search_twice(webbed: Room, steps: int) -> None:
    webbed.shortlist = False
    search_with(webbed, first := FakeSearch([tides(webbed)]))
    whole = webbed.ask(Talking(*reading(tides(webbed))))
    kinds = webbed.kinds()
    assert (len(kinds), kinds.count("searched"), len(first.requests)) == (15, 2, 2), kinds
    webbed.crash_after(steps)
    search_with(webbed, second := FakeSearch([tides(webbed)]))
    answer = webbed.resume(Talking(*reading(tides(webbed))))
    assert len(second.requests) == 2 - kinds[:steps].count("searched")
    assert answer.usage.searches == whole.usage.searches
    assert (answer.text, answer.citations) == (whole.text, whole.citations)
    assert webbed.kinds().count("searched") == 2
    same_again(webbed, answer)


@pytest.mark.parametrize("ttl_s", [0.0, 600.0])
def test_where_one_of_two_services_failed_the_other_is_not_asked_again(webbed: Room, ttl_s: float) -> None:
    able = FakeSearch([tides(webbed)], name="able", host="able.invalid")
    down = FakeSearch(name="down", host="down.invalid", error=Unreachable("no answer"))
    search_with(webbed, able, down, ttl_s=ttl_s)
    webbed.ask(Talking(SEARCH_PASSAGES))
    webbed.crash_after(2)
    assert webbed.kinds() == ["begun", "searched"]
    answer = webbed.resume(Talking(SEARCH_PASSAGES))
    assert answer.citations
    assert [len(each.requests) for each in (able, down)] == [1, 2]
    assert sent(webbed) == [(ASKED, "able"), (ASKED, "down"), (ASKED, "down")]
    same_again(webbed, answer)


def test_what_a_service_found_in_vain_is_found_by_another_when_the_run_goes_on(webbed: Room) -> None:
    able = FakeSearch((), name="able")
    search_with(webbed, able, FakeSearch(name="other", error=Unreachable("no answer")))
    webbed.shortlist = False
    webbed.ask(Talking(FIND, answer="Nothing."))
    webbed.crash_after(webbed.kinds().index("searched") + 1)
    search_with(webbed, able, other := FakeSearch([tides(webbed)], name="other"))
    model = Talking(FIND, answer="Nothing.")
    answer = webbed.resume(model)
    assert (len(able.requests), len(other.requests)) == (1, 1)
    assert tides(webbed) in model.sent[0][0][-1].content
    same_again(webbed, answer)


def test_a_service_that_has_moved_to_another_host_is_asked_there(webbed: Room) -> None:
    search_with(webbed, FakeSearch(host="before.invalid"))
    webbed.shortlist = False
    webbed.ask(Talking(FIND, answer="Nothing."))
    webbed.crash_after(webbed.kinds().index("searched") + 1)
    search_with(webbed, moved := FakeSearch([tides(webbed)], host="after.invalid"))
    model = Talking(FIND, answer="Nothing.")
    answer = webbed.resume(model)
    assert len(moved.requests) == 1
    assert tides(webbed) in model.sent[0][0][-1].content
    same_again(webbed, answer)


def test_a_search_that_all_services_failed_is_tried_anew(webbed: Room) -> None:
    search_with(webbed, FakeSearch(error=Unreachable("no answer")))
    with pytest.raises(Unreachable):
        webbed.ask(Talking(SEARCH_PASSAGES))
    assert "searched" not in webbed.kinds()
    search_with(webbed, again := FakeSearch([tides(webbed)]))
    answer = webbed.resume(Talking(SEARCH_PASSAGES))
    assert answer.citations
    assert (len(again.requests), answer.usage.searches) == (1, 3)  # one of them in the store
    same_again(webbed, answer)


def test_an_answer_that_came_while_another_service_was_waited_for_is_kept(webbed: Room) -> None:
    quick, slow = FakeSearch([tides(webbed)], name="quick"), Hanging([tides(webbed)], name="slow")
    search_with(webbed, quick, slow)
    part = webbed.cancel(Talking(SEARCH_PASSAGES), lambda: bool(slow.requests) and "searched" in webbed.kinds())
    assert part.usage.searches == 1
    same_again(webbed, part)
    slow.is_free = True
    answer = webbed.resume(Talking(SEARCH_PASSAGES))
    assert answer.citations
    assert (len(quick.requests), len(slow.requests)) == (1, 2)
    assert sorted(sent(webbed)) == [(ASKED, "quick"), (ASKED, "slow")]
    same_again(webbed, answer)


def test_a_search_counts_and_is_told_once_wherever_the_run_was_killed(webbed: Room) -> None:
    search_with(webbed, service := FakeSearch([tides(webbed)]))
    webbed.shortlist = False
    whole = webbed.ask(Talking(FIND, answer="Nothing."))
    webbed.crash_after(webbed.kinds().index("searched") + 1)
    with webbed.store.database.write() as connection:  # killed before it could say so
        connection.execute("DELETE FROM ledger WHERE kind = 'web_searched'")
    answer = webbed.resume(Talking(FIND, answer="Nothing."))
    assert len(service.requests) == 1
    assert answer.usage.searches == whole.usage.searches == 1
    assert sent(webbed) == [("tides", "fake")]
    assert ledger(webbed)[0]["found"] == [tides(webbed)]
    same_again(webbed, answer)


def test_one_query_that_a_call_names_twice_is_sent_once(webbed: Room) -> None:
    search_with(webbed, service := FakeSearch([tides(webbed)]))
    webbed.shortlist = False
    twice = calls(tool_call("web_search", {"queries": ["tides", "tides"]}))
    answer = webbed.ask(Talking(twice, answer="Nothing."))
    assert (len(service.requests), answer.usage.searches) == (1, 1)


class Changing(FakeSearch):
    """A service that finds another page each time."""

    async def search(self, request: SearchRequest) -> SearchResults:
        """See `FakeSearch`."""
        await super().search(request)
        return await FakeSearch([f"https://example.org/{len(self.requests)}"], name=self.name).search(request)


def test_a_call_that_was_cut_gets_what_it_had_found_and_not_what_an_earlier_one_had(webbed: Room) -> None:
    webbed.shortlist = False
    again = calls(tool_call("web_search", {"queries": ["tides"]}, call_id="x"))
    search_with(webbed, service := Changing())
    webbed.ask(Talking(FIND, again, answer="Nothing."))
    places = [place for place, kind in enumerate(webbed.kinds()) if kind == "searched"]
    assert len(places) == 2
    webbed.crash_after(places[1] + 1)
    model = Talking(FIND, again, answer="Nothing.")
    answer = webbed.resume(model)
    assert len(service.requests) == 2
    first, second = [each.content for each in model.sent[0][0] if each.role == "tool"]
    assert ("example.org/1" in first, "example.org/2" in second) == (True, True)
    same_again(webbed, answer)


def test_a_query_that_is_asked_again_later_gets_its_own_answer(webbed: Room) -> None:
    webbed.shortlist = False
    again = calls(tool_call("web_search", {"queries": ["tides", "moon"]}, call_id="x"))
    search_with(webbed, FakeSearch([tides(webbed)]))
    with pytest.raises(RateLimited):
        webbed.ask(ScriptedModel(FIND, RateLimited("come back later")))
    search_with(webbed, later := FakeSearch([tides(webbed)]))
    answer = webbed.resume(Talking(FIND, again, answer="Nothing."))
    assert [each.query for each in later.requests] == ["tides", "moon"]
    assert answer.usage.searches == 3
    same_again(webbed, answer)


def test_answers_from_the_record_are_not_kept_for_other_runs_as_if_they_were_new(webbed: Room) -> None:
    webbed.shortlist = False
    search_with(webbed, FakeSearch([tides(webbed)]))
    webbed.ask(Talking(FIND, answer="Nothing."))
    webbed.crash_after(webbed.kinds().index("searched") + 1)
    search_with(webbed, service := FakeSearch([tides(webbed)]), ttl_s=600.0)
    webbed.resume(Talking(FIND, answer="Nothing."))
    assert service.requests == []
    webbed.ask(ScriptedModel(FIND, "Nothing.", "Nothing."))
    assert len(service.requests) == 1


def test_where_the_model_is_asked_otherwise_its_searches_are_still_not_paid_for_twice(webbed: Room) -> None:
    webbed.shortlist = False
    search_with(webbed, service := FakeSearch([tides(webbed)]))
    webbed.ask(Talking(FIND, answer="Nothing."))
    webbed.crash_after(webbed.kinds().index("searched") + 1)
    with webbed.store.database.write() as connection:
        connection.execute("UPDATE step SET key = 'other' WHERE kind = 'called'")
    answer = webbed.resume(Talking(FIND, answer="Nothing."))
    assert len(service.requests) == 1
    same_again(webbed, answer)


def test_a_run_that_failed_before_it_was_under_way_again_keeps_what_it_had_come_to(webbed: Room) -> None:
    search_with(webbed, service := FakeSearch([tides(webbed)]))
    whole = webbed.ask(Talking(SEARCH_PASSAGES))
    webbed.crash_after(webbed.kinds().index("ran") + 1)

    def fail() -> None:
        raise StoreDamaged("the index cannot be read")

    webbed.looking = fail
    with pytest.raises(StoreDamaged):
        webbed.resume(Talking(SEARCH_PASSAGES))
    webbed.looking = lambda: None
    answer = webbed.resume(Talking(SEARCH_PASSAGES))
    assert (answer.text, answer.claims, answer.rejected) == (whole.text, whole.claims, whole.rejected)
    assert answer.warnings == whole.warnings
    assert replace(answer.usage, seconds=0) == replace(whole.usage, seconds=0)
    assert len(service.requests) == 1
    same_again(webbed, answer)


# private documents


def test_a_private_quotation_in_two_pieces_is_refused_across_an_interruption(webbed: Room) -> None:
    webbed.store.add("notes", SECRET, title="Notes", collection=webbed.store.collection)
    webbed.shortlist = False
    search_with(webbed, service := FakeSearch([tides(webbed)]))
    read = calls(tool_call("get_relevant_content", {"queries": ["moon base code"]}))
    pieces = [
        calls(tool_call("web_search", {"queries": [piece]}))
        for piece in ("outside may know it and nobody", "code is one two three four", "five six seven eight nine")
    ]
    with pytest.raises(RateLimited):
        webbed.ask(ScriptedModel(read, *pieces[:2], RateLimited("come back later")))
    assert [each.query for each in service.requests] == [
        "outside may know it and nobody",
        "code is one two three four",
    ]
    model = Talking(read, *pieces, answer="I will not say.")
    answer = webbed.resume(model)
    assert "repeats a private document" in [each.content for each in model.sent[1][0] if each.role == "tool"][-1]
    assert len(service.requests) == 2
    same_again(webbed, answer)


@pytest.mark.parametrize("note", ["Look for a map.", "Look for a map of Quillonbrook."])
def test_a_private_name_is_searched_for_once_the_user_has_written_it_in_a_note(webbed: Room, note: str) -> None:
    text = "Two tides a day reach the harbour of Quillonbrook."
    webbed.store.add("notes", text, title="Notes", collection=webbed.store.collection)
    webbed.shortlist = False
    search_with(webbed, service := FakeSearch([tides(webbed)]))
    read = calls(tool_call("get_relevant_content", {"queries": ["harbour"]}))
    look = calls(tool_call("web_search", {"queries": ["map of Quillonbrook"]}))
    webbed.notes = [[], [note]]
    answer = webbed.ask(Talking(read, look, answer="I found a map."))
    assert [each.query for each in service.requests] == ["map of Quillonbrook"] * ("Quillonbrook" in note)
    same_again(webbed, answer)


SEARCH_PASSAGES = calls(tool_call("get_relevant_content", {"queries": ["moon tides"]}))
