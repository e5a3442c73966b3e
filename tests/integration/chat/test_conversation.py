"""Several questions in one session: what a later one knows of those before it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from asky.errors import ProviderError
from asky.events import Warned
from asky.evidence.marks import without_marks
from asky.evidence.passages import parse_passages
from asky.llm.port import Reply, TextDelta
from asky.research.writing.compaction import QUESTIONS_OMITTED
from asky.research.writing.history import NO_ANSWER, tool_results
from asky.storage.sessions import NewMessage
from tests.integration.chat.test_answering import SEARCH, TIDES, Citing, Room
from tests.support.models import ScriptedModel

CITED = "The moon raises two tides a day [{key}]."


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    opened = Room(tmp_path)
    yield opened
    opened.store.close()


def test_a_later_question_comes_with_the_earlier_ones_their_passages_and_answers(room: Room) -> None:
    room.ask(Citing(CITED))
    key = room.key_of("moon")
    model = ScriptedModel("Twice.")
    room.ask(model, "How often was that?")
    messages = model.sent[0][0]
    assert [each.role for each in messages] == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert messages[1].content == "How many tides does the moon raise?"
    assert key in [each.key for each in parse_passages(messages[3].content)]
    assert messages[4].content == CITED.replace("{key}", key)
    assert messages[2].tool_calls[0].id == messages[3].tool_call_id
    assert messages[-1].content.startswith("How often was that?\n\n")


def test_an_earlier_passage_can_be_cited_without_another_search(room: Room) -> None:
    room.ask(Citing(CITED))
    key = room.key_of("moon")
    answer = room.ask(ScriptedModel(f"Two a day, as the moon raises two tides a day [{key}]."), "So how many?")
    assert [each.quote for each in answer.citations] == [TIDES]
    assert [each.verdict for each in answer.claims] == ["supported"]
    assert key in {each.key for each in room.runs.passages(answer.run)}


def test_a_passage_that_is_found_again_keeps_its_key(room: Room) -> None:
    room.ask(Citing(CITED))
    key = room.key_of("moon")
    answer = room.ask(Citing(CITED), "Once more?")
    assert key in {each.key for each in room.runs.passages(answer.run)}


def test_another_session_knows_nothing_of_it(room: Room) -> None:
    room.ask(Citing(CITED))
    room.session = room.sessions.open("other", mode="research")
    model = ScriptedModel("What?")
    room.ask(model, "How often was that?")
    assert [each.role for each in model.sent[0][0]] == ["system", "user"]


def test_a_question_that_failed_is_kept_and_said_to_have_no_answer(room: Room) -> None:
    with pytest.raises(ProviderError):
        room.ask(ScriptedModel(SEARCH, ProviderError("the endpoint failed")))
    model = ScriptedModel("Two.")
    room.ask(model, "And now?")
    *before, last = [each.content for each in model.sent[0][0][1:]]
    assert before == ["How many tides does the moon raise?", NO_ANSWER]
    assert last.startswith("And now?\n\n")


def test_the_built_in_model_gets_a_question_that_points_back_with_the_one_it_points_to(room: Room) -> None:
    class Quoting(Citing):
        host = None

    room.ask(Citing(CITED))
    model = Quoting(CITED)
    room.ask(model, "How often was that?")
    assert [each.role for each in model.sent[0][0]] == ["system", "user"]
    assert model.sent[0][0][1].content == "How many tides does the moon raise? How often was that?"


def test_the_stored_transcript_stays_whole_where_the_prompt_was_shortened(room: Room) -> None:
    class Small(Citing):
        context_tokens = 4000

    for number in range(16):
        room.ask(Small(CITED), f"Question {number}: how many tides does the moon raise in one day?")
    model = Small(CITED)
    room.ask(model, "And now?")
    questions = [each.content for each in model.sent[0][0] if each.role == "user"]
    assert len(questions) == 17
    assert any("left_out" in each.content for each in model.sent[0][0] if each.role == "tool")
    stored = room.sessions.messages(room.session.id)
    assert sum(TIDES in each.content for each in stored if each.role == "tool") == 17


def test_questions_that_are_too_much_for_the_model_are_cut_and_that_is_said(room: Room) -> None:
    class Small(ScriptedModel):
        context_tokens = 4000

    pasted = "What does this say? " + "The tide of day 7 rose. " * 300 + "Where is the moon?"
    room.ask(Small("Two."), "How many tides are there?")
    room.ask(ScriptedModel("It says so."), pasted)
    model = Small("Two.")
    answer = room.ask(model, "And now?")
    first, second, _ = [each.content for each in model.sent[0][0] if each.role == "user"]
    assert first == "How many tides are there?"
    assert second.startswith("What does this say? The tide")
    assert second.endswith("Where is the moon?")
    assert len(second) < 1300
    assert QUESTIONS_OMITTED in answer.warnings
    again = ScriptedModel("Two.")
    assert not any("too long" in warning for warning in room.ask(again, "And now?").warnings)
    assert pasted in [each.content for each in again.sent[0][0]]


def test_that_questions_were_cut_is_said_once_however_often_that_happens(room: Room) -> None:
    class Smaller(Citing):
        context_tokens = 3500

    for number in range(6):
        room.ask(ScriptedModel("It says so."), f"What is {number}? " + "The tide of day 7 rose. " * 300 + "And where?")
    room.store.heard.clear()
    model = Smaller(CITED)
    answer = room.ask(model, "And now?")
    asked = [sum(len(each.content) for each in messages if each.role == "user") for messages, _ in model.sent]
    assert asked[1] < asked[0] < 6 * 7_200  # they were cut twice
    said = [each.message for each in room.store.heard if isinstance(each, Warned)]
    assert said.count(QUESTIONS_OMITTED) == answer.warnings.count(QUESTIONS_OMITTED) == 1


class BreakingOff(ScriptedModel):
    """Fails behind its text."""

    async def stream(self, *args: Any, **options: Any) -> AsyncGenerator[TextDelta | Reply, None]:
        async for item in super().stream(*args, **options):
            if isinstance(item, Reply):
                raise ProviderError("the endpoint failed")
            yield item


@pytest.mark.parametrize("kind", [ScriptedModel, BreakingOff])
def test_nothing_that_drives_a_terminal_is_kept_of_what_a_model_writes(room: Room, kind: type[ScriptedModel]) -> None:
    hostile = "Two \x1b]52;c;aGk=\x07\x1b[2Jtides \x9b31m\u202eso\u2066 a day.\x08"
    with nullcontext() if kind is ScriptedModel else pytest.raises(ProviderError):
        room.ask(kind(hostile), "How many?")
    run = room.runs.recent(limit=1)[0]
    kept = [each.content for each in room.sessions.messages(room.session.id) if each.role == "assistant"]
    kept += [run.answer["answer"]] if run.answer else [each.data["partial"] for each in room.runs.ledger(run.id)[-1:]]
    assert [without_marks(each) for each in kept] == ["Two tides so a day."] * 2


def test_a_turn_that_was_withdrawn_is_kept_but_no_model_gets_it(room: Room) -> None:
    first = room.ask(Citing(CITED))
    second = room.ask(Citing(CITED), "And how many more?")
    last = room.sessions.last_question(room.session.id)
    assert last is not None
    assert (last.run_id, last.content) == (second.run, "And how many more?")
    assert room.sessions.withdraw(room.session.id, second.run)
    model = ScriptedModel("Two.")
    room.ask(model, "And now?")
    asked = [each.content for each in model.sent[0][0] if each.role == "user"]
    assert asked[:-1] == ["How many tides does the moon raise?"]
    assert asked[-1].startswith("And now?\n\n")
    stored = room.sessions.messages(room.session.id)
    assert {each.run_id for each in stored if each.is_withdrawn} == {second.run}
    assert [each.content for each in stored if each.role == "user"][1] == "And how many more?"
    assert first.run in {each.run_id for each in stored if not each.is_withdrawn}


def test_only_a_turn_of_the_session_can_be_withdrawn(room: Room) -> None:
    answer = room.ask(Citing(CITED))
    other = room.sessions.open("other", mode="research")
    assert room.sessions.last_question(other.id) is None
    assert not room.sessions.withdraw(other.id, answer.run)
    assert not any(each.is_withdrawn for each in room.sessions.messages(room.session.id))
    assert room.sessions.withdraw(room.session.id, answer.run)
    assert room.sessions.last_question(room.session.id) is None


def test_a_note_to_a_turn_is_kept_as_the_users_and_comes_again_in_later_turns(room: Room) -> None:
    waiting = [[], ["Only those of spring."]]
    room.notes = lambda: waiting.pop(0) if waiting else []
    room.ask(Citing(CITED))
    assert [each.content for each in room.sessions.messages(room.session.id) if each.role == "note"] == [
        "Only those of spring."
    ]
    model = ScriptedModel("Two.")
    room.ask(model, "And now?")
    messages = model.sent[0][0]
    assert [each.role for each in messages] == ["system", "user", "assistant", "tool", "user", "assistant", "user"]
    assert messages[4].content.endswith("Only those of spring.")


def test_the_prompts_of_a_session_begin_with_the_same_bytes(room: Room) -> None:
    first, second = Citing(CITED), ScriptedModel("Twice.")
    room.ask(first)
    room.store.add("mill", "The mill burned down.", title="Mill")
    room.ask(second, "How often was that?")
    assert first.sent[0][0][0] == second.sent[0][0][0]
    assert "Mill" in second.sent[0][0][-1].content


def test_a_question_that_says_little_is_searched_for_with_the_one_before_it(room: Room) -> None:
    room.ask(Citing(CITED))
    room.mode = "lean"
    model = ScriptedModel("Twice.")
    answer = room.ask(model, "And how often?")
    searched = [each.data for each in room.runs.ledger(answer.run) if each.kind == "searched"]
    assert searched[0]["queries"] == ["How many tides does the moon raise? And how often?"]
    assert TIDES in model.sent[0][0][-1].content
    assert model.sent[0][0][-1].content.endswith("Question: And how often?")


def test_what_a_tool_of_the_user_said_in_an_earlier_turn_is_known_to_be_private(room: Room) -> None:
    room.ask(Citing(CITED))
    stored = room.sessions.messages(room.session.id)
    assert tool_results(stored, {"get_relevant_content"}) == []
    said = [
        NewMessage("user", "Who?"),
        NewMessage("call", "", {"calls": [["a", "staff", "{}"], ["b", "web_search", "{}"], ["c", "quiet", "{}"]]}),
        NewMessage("tool", "<data 9f3c2a71 output of staff>\nKESTREL\n</data 9f3c2a71>", {"id": "a"}),
        NewMessage("tool", "<data 9f3c2a71 sources>\nTides\n</data 9f3c2a71>", {"id": "b"}),
        NewMessage("tool", "error: usage: nobody", {"id": "c"}),
        NewMessage("assistant", "Nobody."),
    ]
    room.sessions.append(room.session.id, said, run_id=None)
    told = tool_results(room.sessions.messages(room.session.id), {"get_relevant_content", "web_search"})
    assert told == ["<data 9f3c2a71 output of staff>\nKESTREL\n</data 9f3c2a71>"]


def test_a_citation_of_a_text_that_has_changed_since_is_said_to_be_one(room: Room) -> None:
    room.ask(Citing(CITED))
    key = room.key_of("moon")
    room.store.add("tides", "The moon raises three tides a day, as was found since.", title="Tides")
    answer = room.ask(ScriptedModel(f"Two a day, as the moon raises two tides a day [{key}]."), "So how many?")
    assert "[1] is from an earlier text of Tides, which has since changed or disappeared" in answer.warnings
