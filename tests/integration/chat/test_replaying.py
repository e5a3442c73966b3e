"""Runs that are played again from their record alone."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace

import anyio
import pytest

from asky.errors import ReplayMissed, Unreachable, UsageError
from asky.events import StageStarted
from asky.llm.budget import BudgetLimits, RunBudget
from asky.llm.port import ABSTENTION, Message, ModelUsage, TextDelta, ToolSpec
from asky.llm.spending import NoBudget, note_spending
from asky.llm.tokens import TokenCounter
from asky.llm.tools import Tool, ToolResult
from asky.research.run import ResearchRun
from asky.research.web.access import Web
from asky.runs.access import Access
from asky.runs.journal.journal import RunJournal, journaled_tool
from asky.runs.journal.replay import replay
from asky.storage.corpus import CorpusStore
from asky.storage.runs import RunStore, Spent
from asky.storage.scope import Scope
from asky.storage.steps import Step
from tests.integration.chat.recorded_runs import (
    FAULTY,
    TWO,
    Correcting,
    Room,
    Talking,
    reading,
    room,
    same_again,
    tides_of,
    webbed,
)
from tests.integration.chat.test_answering import SEARCH, Citing
from tests.support.models import ScriptedModel, Turn, calls, tool_call

__all__ = ["room", "webbed"]


def test_a_run_plays_to_the_same_answer_and_changes_nothing(room: Room) -> None:
    answer = room.ask(Citing(TWO))
    assert answer.citations
    assert room.kinds() == ["begun", "prepared", "called", "ran", "called", "finished"]
    same_again(room, answer)


def test_it_needs_neither_the_documents_in_the_corpus_nor_the_session_as_they_were(room: Room) -> None:
    answer = room.ask(Citing(TWO))
    with room.store.database.write() as connection:
        connection.execute("DELETE FROM collection_source")
    room.sessions.rename(room.session.id, "another name")
    same_again(room, answer)


def test_a_revised_answer_is_revised_again(room: Room) -> None:
    answer = room.ask(Correcting(FAULTY))
    assert answer.usage.llm_calls == 3
    assert "two tides" in answer.text
    same_again(room, answer)


def test_bad_calls_repeated_calls_and_failing_tools_come_again(room: Room) -> None:
    script = calls(
        tool_call("get_relevant_content", {"queries": ["moon tides"]}, call_id="a"),
        tool_call("get_relevant_content", {"queries": ["moon tides"]}, call_id="b"),
        tool_call("get_full_content", {"source": "s-unknown"}, call_id="c"),
        tool_call("no_such_tool", {}, call_id="d"),
        tool_call("get_relevant_content", {"queries": 7}, call_id="e"),
        tool_call("save_finding", {"finding": "Two.", "passages": ["Pbad0"]}, call_id="f"),
    )
    answer = room.ask(ScriptedModel(script, SEARCH, "I cannot tell.", "I cannot tell."))
    same_again(room, answer)


def test_a_passage_that_is_shown_twice_keeps_the_score_that_it_had_last(room: Room) -> None:
    turns = [calls(tool_call("get_relevant_content", {"queries": [each]})) for each in ("moon tides", "yeast")]
    first = room.ask(Talking(turns[0], answer="Nothing."))
    room.session = room.sessions.open("other", mode="research")
    both = room.ask(Talking(*turns, answer="Nothing."))
    scores = [{source.title: score for source, score, _ in answer.sources} for answer in (first, both)]
    assert scores[0]["Tides"] != scores[1]["Tides"]
    same_again(room, both)


def test_equal_calls_of_one_reply_keep_their_own_results_whichever_ends_first(room: Room) -> None:
    run = room.runs.start(question="q", mode="standard", model="m", session_id=None)
    gate = anyio.Event()
    results = iter(["first", "second", "third"])

    async def work(_: Mapping[str, object]) -> ToolResult:
        mine = next(results)
        if mine == "first":
            await gate.wait()
        else:
            gate.set()
        return ToolResult(mine, mine)

    async def call_twice(steps: Sequence[Step], *, is_live: bool) -> list[str]:
        research = ResearchRun(run.id, None, Scope(), 100, 1)
        record = RunJournal(room.runs, research, steps, is_live=is_live, on_stale=lambda _: None)
        tool = journaled_tool(Tool(ToolSpec("t", "d", {"type": "object"}), work), record)
        said: dict[int, str] = {}

        async def call(number: int) -> None:
            said[number] = (await tool.run({"q": 1})).content

        async with anyio.create_task_group() as group:
            for number in range(2):
                group.start_soon(call, number)
        return [said[0], said[1]]

    live = anyio.run(lambda: call_twice((), is_live=True))
    steps = room.runs.steps.of(run.id)
    assert [each.data["result"]["content"] for each in steps] == ["second", "first"]
    assert anyio.run(lambda: call_twice(steps, is_live=False)) == live == ["first", "second"]
    assert anyio.run(lambda: call_twice(steps[:1], is_live=True)) == ["third", "second"]


def test_an_abstention_counts_what_was_searched_then(room: Room) -> None:
    answer = room.ask(ScriptedModel(SEARCH, ABSTENTION))
    assert answer.stopped_by == "no_evidence"
    assert "Searched" in answer.text
    room.store.add("later", "Something else was added later.", title="Later")
    same_again(room, answer)


def test_a_stream_that_broke_and_came_again_does_so_again(room: Room) -> None:
    class Breaking(Citing):
        async def stream(self, messages, tools, **options):
            async for item in super().stream(messages, tools, **options):
                yield item
                if len(self.sent) == 2:
                    raise Unreachable("the line broke")

    answer = room.ask(Breaking(TWO))
    assert any("asking again" in warning for warning in answer.warnings)
    assert answer.usage.llm_calls == 3
    same_again(room, answer)


def test_a_limit_that_was_reached_is_reached_again(room: Room) -> None:
    limits = BudgetLimits(max_tokens=3000)
    room.budget = lambda _: RunBudget(
        limits, prices=None, counter=TokenCounter(), spent_today=Spent, clock=iter(range(99)).__next__
    )
    model = ScriptedModel(*[replace(SEARCH, usage=ModelUsage(900, 200))] * 2, Turn("Two.", usage=ModelUsage(900, 10)))
    answer = room.ask(model)
    assert answer.stopped_by == "budget"
    same_again(room, answer)


def test_a_run_that_was_stopped_by_the_time_stops_there_again(room: Room) -> None:
    class Hour(NoBudget):
        def deadline_s(self) -> float | None:
            return 2.0

    room.budget = lambda _: Hour()
    answer = room.ask(ScriptedModel(SEARCH, Turn("The moon raises", hangs=True)))
    assert answer.stopped_by == "budget"
    assert answer.text.startswith("The moon raises")
    assert "stopped after 2 s" in answer.warnings
    same_again(room, answer)


def test_a_cancelled_run_plays_to_what_there_was(room: Room) -> None:
    model = ScriptedModel(SEARCH, Turn("The moon raises two tides", hangs=True))
    answer = room.cancel(model, lambda: len(model.sent) == 2)
    assert answer.stopped_by == "cancelled"
    assert answer.text.startswith("The moon raises two tides")
    same_again(room, answer)


def test_a_run_that_goes_on_while_it_is_played_is_taken_up_by_nobody_else(room: Room) -> None:
    model = ScriptedModel(SEARCH, Turn("The moon raises two tides", hangs=True))
    answer = room.cancel(model, lambda: len(model.sent) == 2)
    run = room.runs.find(None)
    room.runs.take_up(run.id)
    assert anyio.run(replay, room.answerer(model), run).text == answer.text
    with pytest.raises(UsageError, match="still running"):
        RunStore(room.store.database).take_up(run.id)


def test_a_run_that_was_cancelled_between_two_calls_used_one(room: Room) -> None:
    checks, gate = [0], threading.Event()

    class Slow(NoBudget):
        def check(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> None:  # noqa: ARG002 - the port's
            checks[0] += 1
            if len(messages) > 2:
                gate.wait(120)

    room.budget = lambda _: Slow()
    answer = room.cancel(Talking(SEARCH), lambda: checks[0] == 3)
    gate.set()
    assert (answer.stopped_by, answer.usage.llm_calls, answer.text) == ("cancelled", 1, "")
    same_again(room, answer)


def test_what_an_endpoint_says_of_a_call_that_was_cut_counts_again(room: Room) -> None:
    class Counting(ScriptedModel):
        async def stream(self, messages, tools, **options):
            try:
                async for item in super().stream(messages, tools, **options):
                    yield item
            except anyio.get_cancelled_exc_class() as error:
                note_spending(error, ModelUsage(77, 7))
                raise

    model = Counting(SEARCH, Turn("The moon raises two tides", hangs=True))
    answer = room.cancel(model, lambda: len(model.sent) == 2)
    assert (answer.usage.llm_calls, answer.usage.prompt_tokens) == (2, 177)
    same_again(room, answer)


def test_a_run_that_was_cancelled_while_its_answer_was_checked_is_one_that_was_cancelled(room: Room) -> None:
    looks, gate = [0], threading.Event()

    def look() -> None:
        looks[0] += any(isinstance(each, StageStarted) and each.stage == "verify" for each in room.store.heard)
        if looks[0] == 1:
            gate.wait(120)

    room.looking = look
    answer = room.cancel(Citing("The sun raises smaller tides [{key}]."), lambda: looks[0] == 1)
    gate.set()
    assert (answer.stopped_by, len(answer.citations)) == ("cancelled", 1)
    same_again(room, answer)


class HangingMender(Citing):
    """Writes an answer with faults, and hangs when it is to mend it."""

    async def stream(self, messages, tools, **options):
        if len(self.sent) == 2:
            self.sent.append((tuple(messages), tuple(tools)))
            yield TextDelta("The moon raises")
            await anyio.sleep_forever()
        async for item in super().stream(messages, tools, **options):
            yield item


def test_a_run_that_was_cancelled_while_its_answer_was_revised_keeps_the_one_it_had(room: Room) -> None:
    model = HangingMender(FAULTY)
    answer = room.cancel(model, lambda: len(model.sent) == 3)
    assert answer.stopped_by == "cancelled"
    assert "seven tides" in answer.text
    assert answer.usage.llm_calls == 3
    same_again(room, answer)
    resumed = room.resume(Talking(SEARCH))
    assert "two tides" in resumed.text
    same_again(room, resumed)


class Waiting(CorpusStore):
    """A corpus that is slow to say which text a source has now."""

    gate = threading.Event()
    is_asked = False

    def current_document(self, source_id: str) -> int | None:
        self.is_asked = True
        self.gate.wait(120)
        return super().current_document(source_id)


def test_a_run_that_was_cancelled_when_its_answer_was_revised_keeps_that_one(room: Room) -> None:
    room.ask(Citing(TWO))
    room.store.corpus = corpus = Waiting(room.store.database, room.store.documents)
    answer = room.cancel(Correcting(FAULTY), lambda: corpus.is_asked)
    corpus.gate.set()
    assert answer.stopped_by == "cancelled"
    assert "two tides" in answer.text
    same_again(room, answer)


@pytest.mark.extended
def test_an_answer_whose_mending_took_too_long_is_left_as_it_was_again(room: Room) -> None:
    class Short(NoBudget):
        def deadline_s(self) -> float | None:
            return 3.0

    room.budget = lambda _: Short()
    answer = room.ask(HangingMender(FAULTY))
    assert answer.stopped_by is None
    assert "seven tides" in answer.text
    same_again(room, answer)
    run = room.runs.find(None)
    last = room.runs.steps.of(run.id)[-1]
    plain = {name: each for name, each in last.data.items() if name != "mended_late"}
    state = {name: each for name, each in last.data["state"].items() if name != "sent"}
    room.runs.steps.replace(run.id, [replace(last, data={**plain, "state": state})])  # as an earlier asky recorded it
    same_again(room, answer)


class Deadlines(NoBudget):
    """Seconds that are left, each time that somebody asks; the last for ever. `record` waits from the third call on."""

    def __init__(self, *left_s: float, gate: threading.Event | None = None) -> None:
        self._left_s = list(left_s)
        self._gate = gate
        self._calls = 0

    def deadline_s(self) -> float | None:
        return self._left_s.pop(0) if len(self._left_s) > 1 else self._left_s[0]

    def record(self, usage: ModelUsage) -> None:  # noqa: ARG002 - the port's parameter
        self._calls += 1
        if self._gate is not None and self._calls >= 3:
            self._gate.wait(120)


def test_an_answer_for_whose_mending_no_time_was_left_is_left_as_it_was_again(room: Room) -> None:
    room.budget = lambda _: Deadlines(60.0, 0.0)
    model = HangingMender(FAULTY)
    answer = room.ask(model)
    assert (len(model.sent), answer.stopped_by) == (2, None)
    assert "seven tides" in answer.text
    same_again(room, answer)


def test_a_revised_answer_that_came_too_late_comes_too_late_again(room: Room) -> None:
    gate = threading.Event()
    room.budget = lambda _: Deadlines(60.0, 0.5, gate=gate)
    answer = room.ask(Correcting(FAULTY))
    gate.set()
    assert answer.usage.llm_calls == 3
    assert "seven tides" in answer.text
    same_again(room, answer)


def test_an_answer_that_came_when_the_time_was_up_comes_too_late_again(room: Room) -> None:
    gate = threading.Event()
    room.budget = lambda _: Deadlines(0.5, gate=gate)
    answer = room.ask(Talking(SEARCH, SEARCH))
    gate.set()
    assert (answer.usage.llm_calls, answer.stopped_by) == (3, "budget")
    same_again(room, answer)


def test_a_record_without_the_mending_is_a_strict_miss(room: Room) -> None:
    room.ask(Correcting(FAULTY))
    with room.store.database.write() as connection:
        connection.execute("DELETE FROM step WHERE kind = 'called' AND ordinal = 5")
    with pytest.raises(ReplayMissed, match="model call that was not recorded: the run ended"):
        room.replay()


def test_what_the_user_said_meanwhile_is_said_again(room: Room) -> None:
    room.notes = [[], ["Think of the moon alone."]]
    model = Citing(TWO)
    answer = room.ask(model)
    assert "Think of the moon alone." in model.sent[-1][0][-1].content
    same_again(room, answer)


def test_warnings_of_the_process_are_part_of_the_record(room: Room) -> None:
    room.warned.append("something is odd with the index")
    answer = room.ask(Citing(TWO))
    room.warned.clear()
    assert "something is odd with the index" in answer.warnings
    same_again(room, answer)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("DELETE FROM step WHERE kind = 'called' AND ordinal = 4", "model call that was not recorded"),
        ("UPDATE step SET key = 'x' WHERE kind = 'called' AND ordinal = 2", "differently at step 2"),
        ("DELETE FROM step WHERE kind = 'ran'", "tool call that was not recorded"),
        ("DELETE FROM step WHERE kind = 'prepared'", "preparation that was not recorded"),
        ("UPDATE run SET answer = replace(answer, 'two tides', 'ten tides')", "answer differs in answer"),
    ],
)
def test_a_record_that_lacks_something_is_a_strict_miss(room: Room, change: str, said: str) -> None:
    room.ask(Citing(TWO))
    with room.store.database.write() as connection:
        connection.execute(change)
    with pytest.raises(ReplayMissed, match=said) as caught:
        room.replay()
    assert caught.value.exit_code == 8


def test_a_run_from_before_there_were_records_says_so(room: Room) -> None:
    room.ask(Citing(TWO))
    with room.store.database.write() as connection:
        connection.execute("DELETE FROM step")
    with pytest.raises(UsageError, match="was not recorded"):
        room.replay()
    room.crash_after(0)
    with pytest.raises(UsageError, match="was not recorded"):
        room.resume(Citing(TWO))


def test_steps_go_with_their_session(room: Room) -> None:
    room.ask(Citing(TWO))
    room.remove_session()
    with room.store.database.read() as connection:
        assert connection.execute("SELECT count(*) FROM step").fetchone()[0] == 0


def test_a_run_on_the_web_plays_without_it(webbed: Room) -> None:
    assert webbed.web is not None
    webbed.shortlist = False
    answer = webbed.ask(Talking(*reading(tides_of(webbed))))
    assert answer.citations
    assert answer.usage.fetches >= 1
    assert "summarised" in webbed.kinds()
    webbed.web.readers.close()
    webbed.web = None
    same_again(webbed, answer)


def test_a_run_on_the_web_plays_without_opening_it_where_it_is_there(webbed: Room) -> None:
    answer = webbed.ask(Talking(*reading(tides_of(webbed))))
    opened: list[Access] = []

    def web(access: Access) -> Web:
        opened.append(access)
        return webbed.web  # type: ignore[return-value] # it is set

    answerer = replace(webbed.answerer(ScriptedModel("unused")), web=web)
    assert anyio.run(replay, answerer, webbed.runs.find(None)).text == answer.text
    assert opened == []


def test_a_shortlisted_run_plays_with_what_was_rejected(webbed: Room) -> None:
    answer = webbed.ask(Citing(TWO))
    assert answer.rejected
    webbed.web = None
    same_again(webbed, answer)
