"""Runs once more: played again from their record alone, and taken up from each step that they can have been cut at."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from asky.chat.answering import Answerer, Question
from asky.chat.preparing import WebAccess
from asky.chat.recorded import recorded_tool
from asky.chat.recording import Record
from asky.chat.replaying import replay, resume
from asky.chat.run_state import RunState
from asky.config.schema import Research, Retrieval
from asky.errors import BudgetExceeded, ProviderError, RateLimited, ReplayMissed, Unreachable, UsageError
from asky.events import StageStarted
from asky.evidence.answer import answer_json
from asky.evidence.passages import parse_passages
from asky.llm.budget import Limits, RunBudget
from asky.llm.port import ABSTENTION, ChatModel, Message, ModelUsage, TextDelta, ToolSpec
from asky.llm.spending import Budget, NoBudget, note_spending
from asky.llm.tokens import TokenCounter
from asky.llm.tools import Tool, ToolResult
from asky.research.tools import ResearchRun
from asky.research.vector_store import VectorStore
from asky.storage.corpus import CorpusStore
from asky.storage.runs import RunStore, Spent
from asky.storage.scope import Scope
from asky.storage.sessions import SessionStore
from asky.storage.steps import Step
from asky.values import Answer
from tests.integration.chat.test_answering import BREAD, SEARCH, TIDES, Citing
from tests.integration.chat.test_answering_web import article
from tests.support.models import ScriptedModel, Turn, calls, tool_call
from tests.support.search_store import SearchStore
from tests.support.searching import FakeSearch
from tests.support.site import Asked, Site, Wire
from tests.support.webs import LabWeb

ASKED = "How many tides does the moon raise?"
TWO = "The moon raises two tides a day [{key}]."


class Talking(ScriptedModel):
    """Makes the calls of `turns` in order, by what the conversation has of them; then cites the last passage it saw.

    `summaries` counts the pages that it was asked to summarise.
    """

    def __init__(self, *turns: Turn, answer: str = TWO) -> None:
        super().__init__("unused")
        self._turns = turns
        self._answer = answer
        self.summaries = 0

    async def stream(self, messages, tools, **options):
        if "three sentences" in messages[0].content:
            self.summaries += 1
            async for item in ScriptedModel("It is about tides.").stream(messages, tools, **options):
                yield item
            return
        shown = [each for message in messages if message.role == "tool" for each in parse_passages(message.content)]
        done = sum(bool(each.tool_calls) for each in messages)
        text = self._answer.replace("{key}", shown[-1].key) if shown else self._answer
        self._script = (self._turns[done] if done < len(self._turns) else Turn(text),)
        async for item in super().stream(messages, tools, **options):
            yield item


class Correcting(Citing):
    """Writes `TWO` when it is to mend its answer."""

    async def stream(self, messages, tools, **options):
        if len(self.sent) >= 2:
            self._answer_text = TWO
        async for item in super().stream(messages, tools, **options):
            yield item


FAULTY = "The moon raises seven tides a day [{key}] [Pdead]."


class Room:
    """A store with two documents, a session, and ways to ask, resume and replay."""

    def __init__(self, folder: Path) -> None:
        self.store = SearchStore(folder, settings=Retrieval(engine="exact"))
        self.store.add("tides", TIDES, title="Tides")
        self.store.add("bread", BREAD, title="Bread")
        self.runs = RunStore(self.store.database)
        self.sessions = SessionStore(self.store.database)
        self.session = self.sessions.open("lab", mode="research")
        self.kept: list[Answer] = []
        self.web: LabWeb | None = None
        self.budget: Callable[[str], Budget] = lambda _: NoBudget()
        self.warned: list[str] = []
        self.notes: list[list[str]] = []
        self.shortlist = True
        self.site: Site | None = None
        self.looking: Callable[[], object] = lambda: None

    def _search(self) -> VectorStore:
        self.looking()
        return self.store.search

    def answerer(self, model: ChatModel) -> Answerer:
        return Answerer(
            model,
            self._search,
            self.store.corpus,
            self.runs,
            self.sessions,
            settings=Research(),
            listener=self.store.heard.append,
            warned=self.warned,
            budget=self.budget,
            web=(lambda: self.web) if self.web is not None else None,  # type: ignore[arg-type,return-value] # it is set
            notes=lambda: self.notes.pop(0) if self.notes else (),
        )

    def ask(self, model: ChatModel, *, mode: str = "research") -> Answer:
        anyio.run(self._answer, model, self.question(mode))
        return self.kept[-1]

    def cancel(self, model: ChatModel, when: Callable[[], bool]) -> Answer:
        """Ask, and stop the run some moments after `when` is true."""

        async def main() -> None:
            async with anyio.create_task_group() as group:
                group.start_soon(self._answer, model, self.question())
                with anyio.fail_after(20):
                    while not when():  # noqa: ASYNC110 - what is waited for happens in threads and servers
                        await anyio.sleep(0.001)
                for _ in range(50):
                    await anyio.lowlevel.checkpoint()
                group.cancel_scope.cancel()

        anyio.run(main)
        return self.kept[-1]

    def question(self, mode: str = "research") -> Question:
        access = WebAccess(self.store.collection, shortlist=self.shortlist) if self.web is not None else None
        return Question(ASKED, ASKED, mode, self.store.scope, web=access)  # type: ignore[arg-type] # a word

    async def _answer(self, model: ChatModel, question: Question) -> None:
        await self.answerer(model).answer(question, self.session, keep=self.kept.append)

    def replay(self) -> Answer:
        async def main() -> Answer:
            return await replay(self.answerer(ScriptedModel(ProviderError("nobody may ask"))), self.runs.find(None))

        return anyio.run(main)

    def resume(self, model: ChatModel) -> Answer:
        async def main() -> None:
            await resume(self.answerer(model), self.runs.find(None), self.session, keep=self.kept.append)

        anyio.run(main)
        return self.kept[-1]

    def crash_after(self, steps: int) -> None:
        """Leave the last run as it was in the store when its process was killed after so many steps."""
        run = self.runs.find(None)
        with self.store.database.write() as connection:
            connection.execute("DELETE FROM step WHERE run_id = ? AND ordinal >= ?", (run.id, steps))
            connection.execute("UPDATE run SET status = 'running', finished_at = NULL, answer = NULL")
            connection.execute("DELETE FROM message WHERE run_id = ?", (run.id,))

    def kinds(self) -> list[str]:
        return [each.kind for each in self.runs.steps.of(self.runs.find(None).id)]

    def dump(self) -> list[str]:
        with self.store.database.read() as connection:
            return list(connection.iterdump())

    def said(self) -> list[tuple[str, str]]:
        return [(each.role, each.content) for each in self.sessions.messages(self.session.id)]

    def called(self) -> int:
        return sum(each.kind == "called" for each in self.runs.ledger(self.runs.find(None).id))


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    opened = Room(tmp_path)
    yield opened
    opened.store.close()


def same_again(room: Room, answer: Answer) -> None:
    """The last run plays to `answer`, and nothing is changed by that."""
    before, connects = room.dump(), len(CONNECTED)
    assert room.runs.find(None).answer == answer_json(answer)
    assert answer_json(room.replay()) == answer_json(answer)
    assert room.dump() == before
    assert len(CONNECTED) == connects


CONNECTED: list[object] = []


@pytest.fixture(scope="module", autouse=True)
def _connections() -> None:
    """Notes every connection and every name that is looked up in this process, from now on."""
    sys.addaudithook(lambda event, details: CONNECTED.append(details) if event in _WATCHED else None)


_WATCHED = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname")


# played again


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


def test_a_mended_answer_is_mended_again(room: Room) -> None:
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
        state = RunState(ResearchRun(run.id, None, Scope(), 100, 1))
        record = Record(room.runs, run.id, state, steps, is_live=is_live, on_stale=lambda _: None)
        tool = recorded_tool(Tool(ToolSpec("t", "d", {"type": "object"}), work), record)
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
    limits = Limits(max_tokens=3000)
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
            return 0.5

    room.budget = lambda _: Hour()
    answer = room.ask(ScriptedModel(SEARCH, Turn("The moon raises", hangs=True)))
    assert answer.stopped_by == "budget"
    assert answer.text.startswith("The moon raises")
    assert "stopped after 0.5 s" in answer.warnings
    same_again(room, answer)


def test_a_cancelled_run_plays_to_what_there_was(room: Room) -> None:
    model = ScriptedModel(SEARCH, Turn("The moon raises two tides", hangs=True))
    answer = room.cancel(model, lambda: len(model.sent) == 2)
    assert answer.stopped_by == "cancelled"
    assert answer.text.startswith("The moon raises two tides")
    same_again(room, answer)


def test_a_run_that_was_cancelled_between_two_calls_used_one(room: Room) -> None:
    checks, gate = [0], threading.Event()

    class Slow(NoBudget):
        def check(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> None:  # noqa: ARG002 - the port's
            checks[0] += 1
            if len(messages) > 2:
                gate.wait(20)

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
            gate.wait(20)

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


def test_a_run_that_was_cancelled_while_its_answer_was_mended_keeps_the_one_it_had(room: Room) -> None:
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
        self.gate.wait(20)
        return super().current_document(source_id)


def test_a_run_that_was_cancelled_when_its_answer_was_mended_keeps_that_one(room: Room) -> None:
    room.ask(Citing(TWO))
    room.store.corpus = corpus = Waiting(room.store.database, room.store.documents)
    answer = room.cancel(Correcting(FAULTY), lambda: corpus.is_asked)
    corpus.gate.set()
    assert answer.stopped_by == "cancelled"
    assert "two tides" in answer.text
    same_again(room, answer)


def test_an_answer_whose_mending_took_too_long_is_left_as_it_was_again(room: Room) -> None:
    class Short(NoBudget):
        def deadline_s(self) -> float | None:
            return 1.0

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
            self._gate.wait(20)


def test_an_answer_for_whose_mending_no_time_was_left_is_left_as_it_was_again(room: Room) -> None:
    room.budget = lambda _: Deadlines(60.0, 0.0)
    model = HangingMender(FAULTY)
    answer = room.ask(model)
    assert (len(model.sent), answer.stopped_by) == (2, None)
    assert "seven tides" in answer.text
    same_again(room, answer)


def test_a_mended_answer_that_came_too_late_comes_too_late_again(room: Room) -> None:
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
        ("UPDATE step SET key = 'x' WHERE kind = 'called' AND ordinal = 2", "otherwise at step 2"),
        ("DELETE FROM step WHERE kind = 'ran'", "tool call that was not recorded"),
        ("DELETE FROM step WHERE kind = 'prepared'", "preparation that was not recorded"),
        ("UPDATE run SET answer = replace(answer, 'two tides', 'ten tides')", "another answer, in answer"),
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
    room.sessions.remove(room.session.id, room.store.corpus, room.store.documents)
    with room.store.database.read() as connection:
        assert connection.execute("SELECT count(*) FROM step").fetchone()[0] == 0


# taken up


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


def test_a_cancelled_run_is_taken_up_and_counts_what_the_cut_call_used(room: Room) -> None:
    room.budget = lambda _: RunBudget(
        Limits(max_tokens=100_000), prices=None, counter=TokenCounter(), spent_today=Spent, clock=lambda: 0.0
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
        Limits(max_tokens=1500), prices=None, counter=TokenCounter(), spent_today=Spent, clock=lambda: 0.0
    )
    model = ScriptedModel("Two.")
    answer = room.resume(model)
    assert answer.stopped_by == "budget"
    assert "the limit of 1,500 tokens for this run is reached: 1,500 tokens spent" in answer.warnings
    assert model.sent == []
    same_again(room, answer)


def test_the_time_that_an_earlier_process_took_counts(room: Room) -> None:
    with pytest.raises(RateLimited):
        room.ask(ScriptedModel(SEARCH, RateLimited("come back later")))
    run = room.runs.find(None)
    steps = room.runs.steps.of(run.id)
    state = {**steps[-1].data["state"], "seconds": 100.0}
    room.runs.steps.replace(run.id, [replace(steps[-1], data={**steps[-1].data, "state": state})])
    budgets: list[RunBudget] = []

    def budget(_: str) -> Budget:
        limits = Limits(max_time_s=102.0)
        clock = time.monotonic
        budgets.append(RunBudget(limits, prices=None, counter=TokenCounter(), spent_today=Spent, clock=clock))
        return budgets[-1]

    room.budget = budget
    hanging = ScriptedModel(Turn("The moon", hangs=True))
    answer = room.resume(hanging)
    assert len(hanging.sent) == 1
    assert answer.stopped_by == "budget"
    assert "stopped after 102 s" in answer.warnings
    assert answer.usage.seconds >= 101.9
    with pytest.raises(BudgetExceeded, match=r"the limit of 102\.0 s for this run is reached: 10\d\.\d s spent"):
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
    with pytest.raises(UsageError, match="began with the model scripted, not another"):
        room.resume(other)
    room.runs.take_up(room.runs.find(None).id)
    with pytest.raises(UsageError, match="still running"):
        room.resume(Citing(TWO))
    room.runs.record(room.runs.find(None).id, "failed", {"code": "usage", "message": "no such domain"})
    room.runs.finish(room.runs.find(None).id, "failed", None)
    with pytest.raises(UsageError, match="would fail again: no such domain"):
        room.resume(Citing(TWO))
    with pytest.raises(UsageError, match="no answer to play again"):
        room.replay()


def test_of_two_processes_one_takes_a_run_up(room: Room) -> None:
    room.ask(Citing(TWO))
    room.crash_after(3)
    run = room.runs.find(None)
    other = RunStore(room.store.database)
    other.take_up(run.id)
    with pytest.raises(UsageError, match="still running"):
        room.runs.take_up(run.id)


# the web


@pytest.fixture
def webbed(room: Room) -> Iterator[Room]:
    with Site() as site:
        site.page("/tides", html=article("Tides", TIDES * 5, "/deeper"))
        site.page("/deeper", html=article("Deeper", "Tides are seen in the rocks of the earth as well. " * 4))
        room.store.scope = Scope((room.store.corpus.collection("session lab", create=True),))
        room.store.collection = room.store.scope.collections[0]
        with LabWeb(room.store, site, [FakeSearch([site.url("/tides"), site.url("/gone")])]) as web:
            room.web, room.site = web, site
            yield room


def reading(url: str) -> Sequence[Turn]:
    """Finds and reads a page with all tools of the web."""
    return (
        calls(tool_call("web_search", {"queries": ["tides"]})),
        calls(
            tool_call("extract_links", {"urls": [url]}, call_id="a"),
            tool_call("get_link_summaries", {"urls": [url]}, call_id="b"),
            tool_call("web_search", {"queries": ["tides"]}, call_id="c"),
        ),
        SEARCH,
    )


def test_a_run_on_the_web_plays_without_it(webbed: Room) -> None:
    assert webbed.web is not None
    webbed.shortlist = False
    answer = webbed.ask(Talking(*reading(_tides(webbed))))
    assert answer.citations
    assert answer.usage.fetches >= 1
    assert "summarised" in webbed.kinds()
    webbed.web.readers.close()
    webbed.web = None
    same_again(webbed, answer)


def test_a_summary_that_was_paid_for_and_not_kept_is_not_paid_for_again(webbed: Room) -> None:
    webbed.shortlist = False
    whole = webbed.ask(Talking(*reading(_tides(webbed))))
    webbed.crash_after(webbed.kinds().index("summarised") + 1)
    with webbed.store.database.write() as connection:
        connection.execute("UPDATE page SET summary = NULL")
    model = Talking(*reading(_tides(webbed)))
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
    read = calls(tool_call("extract_links", {"urls": [_tides(webbed)]}))
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


def test_a_shortlisted_run_plays_with_what_was_rejected(webbed: Room) -> None:
    answer = webbed.ask(Citing(TWO))
    assert answer.rejected
    webbed.web = None
    same_again(webbed, answer)


@pytest.mark.parametrize("steps", range(1, 14))
def test_a_run_on_the_web_goes_on_after_any_step(webbed: Room, steps: int) -> None:
    webbed.shortlist = False
    whole = webbed.ask(Talking(*reading(_tides(webbed))))
    kinds = webbed.kinds()
    assert len(kinds) == 14, kinds
    webbed.crash_after(steps)
    model = Talking(*reading(_tides(webbed)))
    answer = webbed.resume(model)
    done = kinds[:steps]
    assert len(model.sent) == kinds.count("called") - done.count("called")
    assert model.summaries + done.count("summarised") <= 1
    assert (answer.text, answer.citations) == (whole.text, whole.citations)
    assert answer.usage.llm_calls <= whole.usage.llm_calls
    assert len([role for role, _ in webbed.said() if role in ("user", "assistant")]) == 2
    same_again(webbed, answer)


def _tides(room: Room) -> str:
    assert room.site is not None
    return room.site.url("/tides")
