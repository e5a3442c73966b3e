"""Runs that are taken up again from each step that they can have been cut at."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest

from asky.errors import BudgetExceeded, RateLimited, UsageError
from asky.llm.budget import BudgetLimits, RunBudget
from asky.llm.port import ModelUsage
from asky.llm.spending import Budget
from asky.llm.tokens import TokenCounter
from asky.runs.journal.replay import require_resumable
from asky.storage.runs import RunStore, Spent
from tests.integration.chat.recorded_runs import (
    TWO,
    Room,
    Talking,
    reading,
    room,
    same_again,
    tides_of,
    webbed,
)
from tests.integration.chat.test_answering import SEARCH, TIDES, Citing
from tests.integration.chat.test_answering_web import article
from tests.support.models import ScriptedModel, Turn, calls, tool_call
from tests.support.site import Asked, Wire

__all__ = ["room", "webbed"]


@pytest.mark.parametrize("steps", range(1, 6))
def test_a_run_that_was_killed_after_any_step_repeats_no_call(room: Room, steps: int) -> None:
    whole = room.ask(Talking(SEARCH))
    kinds = room.kinds()
    room.crash_after(steps)
    model = Talking(SEARCH)
    answer = room.resume(model)
    assert answer.run == whole.run
    assert (answer.text, answer.citations, answer.claims) == (whole.text, whole.citations, whole.claims)
    assert len(model.sent) == 2 - kinds[:steps].count("called")
    assert replace(answer.usage, seconds=0) == replace(whole.usage, seconds=0)
    assert [role for role, _ in room.said()] == ["user", "call", "tool", "assistant"]
    assert room.runs.find(None).status == "finished"
    assert room.kinds() == kinds
    same_again(room, answer)


def test_a_failed_run_is_taken_up_and_says_its_answer_once(room: Room) -> None:
    with pytest.raises(RateLimited):
        room.ask(ScriptedModel(SEARCH, RateLimited("come back later")))
    assert [role for role, _ in room.said()] == ["user", "assistant"]
    model = Talking(SEARCH)
    answer = room.resume(model)
    assert answer.text == "The moon raises two tides a day [1]."
    assert len(model.sent) == 1
    assert [role for role, _ in room.said()] == ["user", "call", "tool", "assistant"]
    same_again(room, answer)


def test_a_note_that_came_before_the_call_that_failed_is_still_heard(room: Room) -> None:
    room.notes = [[], ["Leave the sun out."]]
    with pytest.raises(RateLimited):
        room.ask(ScriptedModel(SEARCH, RateLimited("come back later")))
    model = Talking(SEARCH)
    answer = room.resume(model)
    assert model.sent[0][0][-1].content.endswith("Leave the sun out.")
    assert [text for role, text in room.said() if role == "note"] == ["Leave the sun out."]
    same_again(room, answer)


def test_a_cancelled_run_is_taken_up_and_counts_what_the_cut_call_used(room: Room) -> None:
    room.budget = lambda _: RunBudget(
        BudgetLimits(max_tokens=100_000), prices=None, counter=TokenCounter(), spent_today=Spent, clock=lambda: 0.0
    )
    cut = ScriptedModel(SEARCH, Turn("The moon raises two", hangs=True))
    part = room.cancel(cut, lambda: len(cut.sent) == 2)
    model = Talking(SEARCH)
    answer = room.resume(model)
    assert answer.text == "The moon raises two tides a day [1]."
    assert answer.usage.llm_calls == part.usage.llm_calls + 1
    assert answer.usage.prompt_tokens == part.usage.prompt_tokens + 100
    assert room.called() == 3
    assert answer.stopped_by is None
    same_again(room, answer)


def test_a_limit_counts_what_was_spent_before(room: Room) -> None:
    used = ModelUsage(1400, 100)
    with pytest.raises(RateLimited):
        room.ask(ScriptedModel(replace(SEARCH, usage=used), RateLimited("come back later")))
    room.budget = lambda _: RunBudget(
        BudgetLimits(max_tokens=1500), prices=None, counter=TokenCounter(), spent_today=Spent, clock=lambda: 0.0
    )
    model = ScriptedModel("Two.")
    answer = room.resume(model)
    assert answer.stopped_by == "budget"
    assert "the limit of 1,500 tokens for this run is reached: 1,500 tokens spent" in answer.warnings
    assert model.sent == []
    same_again(room, answer)


def test_calls_of_an_earlier_process_do_not_make_later_ones_seem_dearer(room: Room) -> None:
    used = ModelUsage(1400, 100)
    with pytest.raises(RateLimited):
        room.ask(ScriptedModel(replace(SEARCH, usage=used), RateLimited("come back later")))
    room.budget = lambda _: RunBudget(
        BudgetLimits(max_tokens=20_000), prices=None, counter=TokenCounter(), spent_today=Spent, clock=lambda: 0.0
    )
    more = calls(tool_call("get_relevant_content", {"queries": ["yeast"]}, call_id="b"))
    model = Talking(SEARCH, more)
    answer = room.resume(model)
    assert len(model.sent) == 2
    assert answer.warnings == ()
    same_again(room, answer)


@pytest.mark.extended
def test_the_time_that_an_earlier_process_took_counts(room: Room) -> None:
    with pytest.raises(RateLimited):
        room.ask(ScriptedModel(SEARCH, RateLimited("come back later")))
    run = room.runs.find(None)
    steps = room.runs.steps.of(run.id)
    state = {**steps[-1].data["state"], "seconds": 100.0}
    room.runs.steps.replace(run.id, [replace(steps[-1], data={**steps[-1].data, "state": state})])
    budgets: list[RunBudget] = []

    def budget(_: str) -> Budget:
        limits = BudgetLimits(max_time_s=104.0)
        clock = time.monotonic
        budgets.append(RunBudget(limits, prices=None, counter=TokenCounter(), spent_today=Spent, clock=clock))
        return budgets[-1]

    room.budget = budget
    hanging = ScriptedModel(Turn("The moon", hangs=True))
    answer = room.resume(hanging)
    assert len(hanging.sent) == 1
    assert answer.stopped_by == "budget"
    assert "stopped after 104 s" in answer.warnings
    assert answer.usage.seconds >= 103.9
    with pytest.raises(BudgetExceeded, match=r"the limit of 104\.0 s for this run is reached: 1\d\d\.\d s spent"):
        budgets[0].check((), ())
    same_again(room, answer)


def test_a_run_that_was_taken_back_is_not_taken_up(room: Room) -> None:
    with pytest.raises(RateLimited):
        room.ask(ScriptedModel(SEARCH, RateLimited("come back later")))
    run = room.runs.find(None)
    before = room.said()
    assert room.sessions.withdraw(room.session.id, run.id)
    model = Talking(SEARCH)
    with pytest.raises(UsageError, match=f"run {run.id} was taken back") as caught:
        room.resume(model)
    assert caught.value.hint == "ask its question again"
    assert (model.sent, room.said(), room.runs.find(None).status) == ([], before, "failed")


def test_a_prompt_that_has_changed_since_goes_on_from_there_and_plays_again(room: Room) -> None:
    room.ask(Citing(TWO))
    room.crash_after(5)
    with room.store.database.write() as connection:
        connection.execute("UPDATE step SET key = 'other' WHERE kind = 'called' AND ordinal = 2")
    model = Talking(SEARCH)
    answer = room.resume(model)
    assert len(model.sent) == 2
    assert answer.usage.llm_calls == 4
    same_again(room, answer)


def test_what_is_not_to_be_taken_up_is_refused(room: Room) -> None:
    room.ask(Citing(TWO))
    with pytest.raises(UsageError, match="has finished"):
        room.resume(Citing(TWO))
    room.crash_after(3)
    other = ScriptedModel("Two.")
    other.name = "another"
    with pytest.raises(UsageError, match="was started with the model scripted, not another"):
        room.resume(other)
    room.runs.take_up(room.runs.find(None).id)
    with pytest.raises(UsageError, match="still running"):
        room.resume(Citing(TWO))
    room.runs.record(room.runs.find(None).id, "failed", {"code": "usage", "message": "no such domain"})
    room.runs.finish(room.runs.find(None).id, "failed", None)
    with pytest.raises(UsageError, match="would fail again: no such domain"):
        room.resume(Citing(TWO))
    with pytest.raises(UsageError, match="no answer to replay"):
        room.replay()


def test_a_run_that_began_with_a_setting_that_there_is_not_is_not_taken_up(room: Room) -> None:
    room.ask(Citing(TWO))
    room.crash_after(3)
    run = room.runs.find(None)
    begun = room.runs.steps.of(run.id)[0]
    for given in ({"offline": True, "research.max_turns": 3}, {"research.max_turms": 3}):
        room.runs.steps.replace(run.id, [replace(begun, data={**begun.data, "given": given})])
        if "offline" in given:
            require_resumable(room.runs, room.sessions, run)
            continue
        with pytest.raises(UsageError, match=r"an unknown setting: research.max_turms"):
            room.resume(Citing(TWO))
    assert room.runs.find(None).status == "interrupted"


def test_of_two_processes_one_takes_a_run_up(room: Room) -> None:
    room.ask(Citing(TWO))
    room.crash_after(3)
    run = room.runs.find(None)
    other = RunStore(room.store.database)
    other.take_up(run.id)
    with pytest.raises(UsageError, match="still running"):
        room.runs.take_up(run.id)


def test_a_summary_that_was_paid_for_and_not_kept_is_not_paid_for_again(webbed: Room) -> None:
    webbed.shortlist = False
    whole = webbed.ask(Talking(*reading(tides_of(webbed))))
    webbed.crash_after(webbed.kinds().index("summarised") + 1)
    with webbed.store.database.write() as connection:
        connection.execute("UPDATE page SET summary = NULL")
    model = Talking(*reading(tides_of(webbed)))
    answer = webbed.resume(model)
    assert model.summaries == 0
    assert answer.usage.llm_calls == whole.usage.llm_calls == 5
    assert answer.usage.cost_usd == whole.usage.cost_usd
    same_again(webbed, answer)


def test_a_run_that_was_cancelled_while_it_read_plays_and_goes_on(webbed: Room) -> None:
    assert webbed.site is not None
    reached: list[str] = []

    async def hang(asked: Asked, wire: Wire) -> None:
        reached.append(asked.path)
        await wire.hang()

    webbed.site.script("/tides", hang)
    part = webbed.cancel(Talking(SEARCH), lambda: bool(reached))
    assert webbed.kinds() == ["begun", "searched", "finished"]
    assert (part.stopped_by, part.text) == ("cancelled", "")
    same_again(webbed, part)
    assert webbed.web is not None
    webbed.site.page("/tides", html=article("Tides", TIDES * 5))
    answer = webbed.resume(Talking(SEARCH))
    assert answer.citations
    same_again(webbed, answer)


def test_a_run_that_was_cancelled_while_a_tool_worked_plays_and_goes_on(webbed: Room) -> None:
    assert webbed.site is not None
    reached: list[str] = []

    async def hang(asked: Asked, wire: Wire) -> None:
        reached.append(asked.path)
        await wire.hang()

    webbed.shortlist = False
    page = webbed.site.page("/deeper", html=article("Deeper", TIDES * 4))
    webbed.site.page("/tides", html=article("Tides", TIDES * 5, "/deeper"))
    read = calls(tool_call("extract_links", {"urls": [tides_of(webbed)]}))
    both = calls(
        tool_call("extract_links", {"urls": [page]}, call_id="a"),
        tool_call("get_relevant_content", {"queries": ["moon tides"]}, call_id="b"),
    )
    find = calls(tool_call("web_search", {"queries": ["tides"]}))
    webbed.site.script("/deeper", hang)
    part = webbed.cancel(Talking(find, read, both), lambda: bool(reached) and webbed.kinds().count("ran") == 3)
    assert part.stopped_by == "cancelled"
    same_again(webbed, part)
    webbed.site.page("/deeper", html=article("Deeper", TIDES * 4))
    model = Talking(find, read, both)
    answer = webbed.resume(model)
    assert len(model.sent) == 1
    assert "was not offered" not in json.dumps([each.content for each in model.sent[0][0]])
    assert answer.citations
    same_again(webbed, answer)


@pytest.mark.parametrize("steps", range(1, 14))
def test_a_run_on_the_web_goes_on_after_any_step(webbed: Room, steps: int) -> None:
    webbed.shortlist = False
    whole = webbed.ask(Talking(*reading(tides_of(webbed))))
    kinds = webbed.kinds()
    assert len(kinds) == 14, kinds
    webbed.crash_after(steps)
    model = Talking(*reading(tides_of(webbed)))
    answer = webbed.resume(model)
    done = kinds[:steps]
    assert len(model.sent) == kinds.count("called") - done.count("called")
    assert model.summaries + done.count("summarised") <= 1
    assert (answer.text, answer.citations) == (whole.text, whole.citations)
    assert answer.usage.llm_calls <= whole.usage.llm_calls
    assert len([role for role, _ in webbed.said() if role in ("user", "assistant")]) == 2
    same_again(webbed, answer)
