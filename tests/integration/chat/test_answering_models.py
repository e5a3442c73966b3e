"""What a model that is not in this process brings: streamed text, repairs, recall, budgets, and no sources at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from asky.chat.answering import Answerer
from asky.chat.modes import Mode
from asky.config.schema import Research, Retrieval
from asky.errors import ProviderError
from asky.events import TextDiscarded, TextStreamed
from asky.evidence.passages import parse_passages
from asky.llm.port import Message, ModelUsage, ToolSpec
from asky.llm.spending import Budget, NoBudget
from asky.runs.context import Question
from asky.storage.runs import RunStore
from asky.storage.scope import Scope
from asky.storage.sessions import SessionStore
from asky.values import Answer
from tests.support.models import ScriptedModel, Turn, calls, tool_call
from tests.support.run_contexts import run_context
from tests.support.search_store import SearchStore

TIDES = "The moon pulls the sea and raises two tides a day. The sun raises smaller tides."
SEARCH = calls(tool_call("get_relevant_content", {"queries": ["moon tides"]}))
GOOD = "The moon raises two tides a day [{key}]."
BAD = "The moon raises two tides a day [{key}]. Whales are large animals that live in water."


class Keyed(ScriptedModel):
    """Plays its script with `{key}` in a text replaced by the key of the first passage that it was shown."""

    async def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec], **options: Any) -> Any:
        shown = [each.key for message in messages[1:] for each in parse_passages(message.content)]
        if shown:
            self._script = tuple(
                Turn(entry.replace("{key}", shown[0])) if isinstance(entry, str) else entry for entry in self._script
            )
        async for item in super().stream(messages, tools, **options):
            yield item


class Room:
    """A store with one document, and a way to ask."""

    def __init__(self, folder: Path) -> None:
        self.store = SearchStore(folder, settings=Retrieval(engine="exact"))
        self.store.add("tides", TIDES, title="Tides")
        self.runs = RunStore(self.store.database)
        self.sessions = SessionStore(self.store.database)
        self.scope = self.store.scope
        self.mode: Mode = "research"
        self.budget: Budget = NoBudget()
        self.opened = 0
        self.offers_tools = True
        self.settings = Research()

    def ask(self, model: ScriptedModel, text: str = "How many tides does the moon raise?") -> Answer:
        kept: list[Answer] = []
        anyio.run(self.answer, model, text, kept)
        return kept[-1]

    async def answer(self, model: ScriptedModel, text: str, kept: list[Answer]) -> None:
        answerer = Answerer(
            model,
            self._open,
            self.store.corpus,
            self.runs,
            self.sessions,
            settings=self.settings,
            offers_tools=self.offers_tools,
            budget=lambda _: self.budget,
        )
        session = self.sessions.open("lab", mode="research")
        question = Question(text, text, self.mode, self.scope)
        await answerer.answer(
            question, session, run_context(self.store.database, self.store.heard.append), on_answer=kept.append
        )

    def streamed(self) -> list[str]:
        """The text that a reader saw, in the parts between what was taken back."""
        parts = [""]
        for event in self.store.heard:
            if isinstance(event, TextStreamed):
                parts[-1] += event.text
            elif isinstance(event, TextDiscarded):
                parts.append("")
        return parts

    def _open(self) -> Any:
        self.opened += 1
        return self.store.search


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    opened = Room(tmp_path)
    yield opened
    opened.store.close()


def test_the_answer_is_streamed_with_its_numbers_and_words_before_a_call_are_taken_back(room: Room) -> None:
    search = calls(tool_call("get_relevant_content", {"queries": ["moon tides"]}), text="I shall look [Pdead].")
    answer = room.ask(Keyed(search, GOOD))
    assert room.streamed() == ["I shall look ~~[Pdead]~~.", "The moon raises two tides a day [1]."]
    assert answer.text == "The moon raises two tides a day [1]."
    assert answer.warnings == ()


def test_a_key_at_the_end_of_the_stream_is_not_held_back(room: Room) -> None:
    room.ask(Keyed(SEARCH, "The moon raises two tides a day [{key}]"))
    assert room.streamed() == ["The moon raises two tides a day [1]"]


def test_a_doubtful_answer_is_revised_once_by_the_model(room: Room) -> None:
    model = Keyed(SEARCH, BAD, GOOD)
    answer = room.ask(model)
    assert answer.text == "The moon raises two tides a day [1]."
    asked = model.sent[2][0][-1]
    assert asked.role == "user"
    assert "“Whales are large animals that live in water.”: it cites nothing" in asked.content
    assert model.choices == ["auto", "auto", "none"]
    assert model.sent[2][1] == model.sent[0][1]
    assert answer.usage.llm_calls == 3
    mended = next(entry for entry in room.runs.ledger(answer.run) if entry.kind == "mended")
    assert mended.data == {"before": 1, "after": 0, "kept": True}


@pytest.mark.parametrize(
    "second", [BAD, "No idea.", "", "I could not find an answer in the sources.", ProviderError("overloaded")]
)
def test_a_repair_that_is_no_better_leaves_the_first_answer(room: Room, second: Any) -> None:
    answer = room.ask(Keyed(SEARCH, BAD, second))
    assert answer.text == "The moon raises two tides a day [1]. Whales are large animals that live in water."
    assert [claim.verdict for claim in answer.claims] == ["supported", "uncited"]
    assert answer.stopped_by is None


def test_a_repair_that_was_cut_or_gave_up_supported_sentences_is_not_kept(room: Room) -> None:
    full = "The moon raises two tides a day [{key}]. The sun raises smaller tides [{key}]. Whales live in water."
    for second in (Turn("The moon raises two tides a day [{key}].", finish="length"), GOOD):
        answer = room.ask(Keyed(SEARCH, full, second))
        assert "smaller tides [1]" in answer.text
        assert "Whales live in water." in answer.text
        assert not any("not complete" in warning for warning in answer.warnings)


def test_a_lean_answer_is_not_revised(room: Room) -> None:
    room.mode = "lean"
    model = Keyed(BAD, GOOD)
    assert room.ask(model).claims[1].verdict == "uncited"
    assert len(model.sent) == 1


def test_an_answer_that_is_stopped_while_it_is_revised_is_kept_whole(room: Room) -> None:
    kept: list[Answer] = []
    model = Keyed(SEARCH, BAD, Turn("The moon", hangs=True))

    async def stopped() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(room.answer, model, "How many tides does the moon raise?", kept)
            while len(model.sent) < 3:
                await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()

    anyio.run(stopped)
    assert kept[0].stopped_by == "cancelled"
    assert kept[0].text.startswith("The moon raises two tides a day [1].")
    assert len(kept[0].citations) == 1
    assert room.runs.find(None).status == "cancelled"


def test_an_invented_key_is_revised_too(room: Room) -> None:
    answer = room.ask(Keyed(SEARCH, "The moon raises two tides a day [Pdead].", GOOD))
    assert answer.text == "The moon raises two tides a day [1]."
    assert answer.warnings == ()


def test_a_wrong_number_is_named_in_the_repair_and_in_the_warnings(room: Room) -> None:
    model = Keyed(SEARCH, "The moon raises nine tides in 1911 [{key}].", "The moon raises nine tides in 1911 [{key}].")
    answer = room.ask(model)
    assert "does not hold" in model.sent[2][0][-1].content
    assert TIDES in model.sent[2][0][-1].content
    assert any("1911" in warning for warning in answer.warnings)


class Limit(NoBudget):
    """A budget of so many calls."""

    def __init__(self, calls_left: int) -> None:
        self.left = calls_left
        self.heard: list[ModelUsage] = []

    def check(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> None:
        assert messages
        assert tools is not None

    def nearly_spent(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> bool:
        assert messages[0].role == "system"
        assert tools
        return self.left <= 1

    def record(self, usage: ModelUsage) -> None:
        self.left -= 1
        self.heard.append(usage)


class Time(NoBudget):
    """One and a half seconds."""

    def deadline_s(self) -> float:
        return 1.5


def test_nothing_is_revised_where_the_budget_is_nearly_spent(room: Room) -> None:
    room.budget = limit = Limit(3)
    answer = room.ask(Keyed(SEARCH, BAD, GOOD))
    assert answer.claims[1].verdict == "uncited"
    assert len(limit.heard) == 2
    called = [entry.data for entry in room.runs.ledger(answer.run) if entry.kind == "called"]
    assert [entry["prompt_tokens"] for entry in called] == [100, 100]


def test_a_budget_for_one_call_is_answered_from_one_search(room: Room) -> None:
    room.budget = Limit(1)
    model = Keyed(GOOD)
    answer = room.ask(model)
    assert answer.text == "The moon raises two tides a day [1]."
    assert answer.stopped_by == "budget"
    assert len(model.sent) == 1
    assert model.sent[0][1] == ()
    assert TIDES in model.sent[0][0][1].content


def test_a_spent_budget_ends_the_gathering_and_is_named(room: Room) -> None:
    room.budget = Limit(2)
    answer = room.ask(Keyed(SEARCH, GOOD))
    assert answer.stopped_by == "budget"
    assert answer.text == "The moon raises two tides a day [1]."


def test_time_that_runs_out_keeps_what_was_written(room: Room) -> None:
    room.budget = Time()
    answer = room.ask(Keyed(SEARCH, Turn("The moon raises two", hangs=True)))
    assert answer.stopped_by == "budget"
    assert answer.text.startswith("The moon raises two")
    assert "stopped after 1.5 s" in answer.warnings


def test_time_that_runs_out_before_a_word_is_said_as_that(room: Room) -> None:
    room.budget = Time()
    answer = room.ask(Keyed(SEARCH, Turn("", hangs=True)))
    assert answer.stopped_by == "budget"
    assert answer.text.startswith("Stopped at a limit before an answer was written.")
    assert "moon tides" in answer.text


def test_findings_of_the_session_are_recalled_before_the_question(room: Room) -> None:
    class Saving(Keyed):
        async def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec], **options: Any) -> Any:
            shown = [each.key for message in messages for each in parse_passages(message.content)]
            if shown and len(self.sent) == 1:
                arguments = {"finding": "The moon makes two tides a day.", "passages": [shown[0]]}
                self._script = (SEARCH, calls(tool_call("save_finding", arguments)), "Noted.")
            async for item in super().stream(messages, tools, **options):
                yield item

    room.ask(Saving(SEARCH, "unused"))
    model = Keyed(SEARCH, GOOD)
    answer = room.ask(model, "What makes the tides?")
    first = model.sent[0][0][-1].content
    assert "The moon makes two tides a day." in first
    assert first.startswith("What makes the tides?\n\n")
    assert answer.question == "What makes the tides?"
    assert any(entry.kind == "recalled" for entry in room.runs.ledger(answer.run))
    room.mode = "standard"
    model = Keyed(SEARCH, GOOD)
    room.ask(model, "What makes the tides?")
    assert "The moon makes two tides a day." not in model.sent[0][0][-1].content


def test_a_lean_question_is_one_call_with_the_passages_in_it(room: Room) -> None:
    room.mode = "lean"
    model = Keyed(GOOD)
    answer = room.ask(model)
    assert answer.text == "The moon raises two tides a day [1]."
    assert len(model.sent) == 1
    messages, tools = model.sent[0]
    assert tools == ()
    assert TIDES in messages[1].content
    assert answer.mode == "lean"
    assert [claim.verdict for claim in answer.claims] == ["supported"]


def test_a_model_without_tools_or_without_turns_for_them_gets_passages(room: Room) -> None:
    room.offers_tools = False
    assert room.ask(Keyed(GOOD)).text == "The moon raises two tides a day [1]."
    room.offers_tools, room.settings = True, Research(max_turns=1)
    model = Keyed(GOOD)
    answer = room.ask(model)
    assert answer.text == "The moon raises two tides a day [1]."
    assert answer.stopped_by is None
    assert len(model.sent) == 1


def test_a_question_without_sources_opens_no_index_and_is_said_to_cite_nothing(room: Room) -> None:
    room.scope, room.mode = Scope(()), "standard"
    model = Keyed("About two, I think [Pdead].")
    answer = room.ask(model, "How many tides are there?")
    assert answer.text == "About two, I think ~~[Pdead]~~."
    assert answer.claims == ()
    assert answer.citations == ()
    assert "no source was searched: nothing in this answer is cited" in answer.warnings
    assert room.opened == 0
    assert len(model.sent) == 1


def test_a_failed_run_keeps_what_had_been_written(room: Room) -> None:
    class Breaking(Keyed):
        async def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec], **options: Any) -> Any:
            async for item in super().stream(messages, tools, **options):
                yield item
                raise ProviderError("the upstream went away", retryable=True)

    with pytest.raises(ProviderError):
        room.ask(Breaking("The moon raises two tides."))
    failed = room.runs.ledger(room.runs.find(None).id)[-1]
    assert failed.kind == "failed"
    assert failed.data["partial"] == "The moo"


def test_the_beginning_of_the_prompt_is_the_same_in_every_call(room: Room) -> None:
    first, second = (calls(tool_call("get_relevant_content", {"queries": [f"tides {n}"]})) for n in range(2))
    model = Keyed(first, second, BAD, GOOD)
    room.ask(model)
    for (before, _), (after, tools) in zip(model.sent, model.sent[1:], strict=False):
        assert after[: len(before)] == before
        assert tools == model.sent[0][1]


def test_no_path_key_or_name_of_the_machine_is_in_a_prompt(room: Room) -> None:
    model = Keyed(SEARCH, BAD, GOOD)
    room.ask(model)
    prompt = "".join(message.content for messages, _ in model.sent for message in messages)
    assert "/" not in prompt.replace("</", "").replace("and/or", "")
