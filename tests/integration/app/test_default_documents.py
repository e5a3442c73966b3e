"""The documents that are kept are what every product answers from, unless others are named or they are left out."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from asky.app.requests import AskRequest, Attachment, WebOptions
from asky.errors import AskyError, UsageError
from asky.events import Event
from asky.values import Answer
from tests.support.agent_lab import COST, AgentLab
from tests.support.library import notes_of, open_asky

FACT = "The ferry to Herm leaves at nine."
ASKED = "When does the ferry to Herm leave?"
TOLD = "answering from your documents: collection default, 1 document"
_LEFT_OUT = {"default_documents": False}


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[AgentLab]:
    with AgentLab(tmp_path) as opened:
        kept = tmp_path / "kept"
        kept.mkdir()
        (kept / "ferry.md").write_text(f"# Ferry\n\n{FACT}\n")
        anyio.run(opened.asky.corpus.add, [kept])
        yield opened


def asked(lab: AgentLab, heard: list[Event], **options: Any) -> Answer:
    """The answer of the chat, from documents alone unless `options` say otherwise."""
    request = AskRequest(**{"question": ASKED, "web": WebOptions(allowed=False), **options})
    return anyio.run(lambda: lab.asky.chat.ask(request, listen=heard.append))


def researched(lab: AgentLab, **options: Any) -> Answer:
    return lab.research(**{"query": ASKED, "web": False, "library": False, **options})


def test_the_agent_answers_from_the_documents_that_are_kept(lab: AgentLab) -> None:
    answer = researched(lab)
    assert FACT in answer.text
    assert TOLD in notes_of(lab.heard)


def test_a_question_says_once_in_a_session_which_documents_it_uses(lab: AgentLab) -> None:
    heard: list[Event] = []
    assert FACT in asked(lab, heard, session="trip").text
    assert notes_of(heard).count(TOLD) == 1
    heard.clear()
    assert FACT in asked(lab, heard, session="trip").text
    assert TOLD not in notes_of(heard)


def test_documents_that_are_named_take_their_place(lab: AgentLab, tmp_path: Path) -> None:
    other = tmp_path / "other.md"
    other.write_text("# Buses\n\nThe bus to the ferry leaves at eight.\n")
    heard: list[Event] = []
    assert FACT not in asked(lab, heard, documents=(other,)).text
    assert TOLD not in notes_of(heard)
    assert FACT not in researched(lab, documents=(other,)).text
    assert TOLD not in notes_of(lab.heard)
    text = Attachment(text="The boat to the ferry leaves at seven.")
    assert FACT not in asked(lab, heard, attachments=(text,)).text


def test_an_attached_note_of_which_a_comment_hides_the_rest_is_named(lab: AgentLab) -> None:
    note = Attachment(name="boat.md", text="The boat to the ferry leaves at seven.\n\n%% not\n\nAnd at nine.\n")
    (unread,) = asked(lab, [], attachments=(note,)).unread
    assert (unread.path, unread.part) == ("boat.md", "text from line 3")
    (other,) = asked(lab, [], attachments=(Attachment(name="boat.txt", text=note.text), note)).unread
    assert other == unread


def test_they_can_be_left_out(lab: AgentLab) -> None:
    heard: list[Event] = []
    for product in (lambda: asked(lab, heard, **_LEFT_OUT), lambda: researched(lab, **_LEFT_OUT)):
        with pytest.raises(UsageError, match="nothing to answer from: the documents that are kept are left") as raised:
            product()
        assert str(raised.value.hint).startswith("leave --no-docs out")
    assert TOLD not in notes_of([*heard, *lab.heard])


def test_they_can_be_left_out_of_a_session_that_has_them(lab: AgentLab) -> None:
    heard: list[Event] = []
    asked(lab, heard, session="trip")
    with pytest.raises(UsageError, match="nothing to answer from"):
        asked(lab, heard, session="trip", **_LEFT_OUT)
    assert FACT in asked(lab, heard, session="trip").text


def test_they_are_added_to_a_session_that_has_only_pages(lab: AgentLab, tmp_path: Path) -> None:
    heard: list[Event] = []
    question = "What did the tidal barrage of the Rance cost?"
    with lab.reopened() as asky:
        anyio.run(lambda: asky.corpus.remove_collection("default"))
    assert COST in asked(lab, heard, question=question, session="trip", web=WebOptions(allowed=True)).text
    anyio.run(lab.asky.corpus.add, [tmp_path / "kept"])
    assert FACT in asked(lab, heard, session="trip").text
    assert TOLD in notes_of(heard)


def test_the_agent_keeps_them_from_a_model_elsewhere_in_hybrid(lab: AgentLab) -> None:
    text = "The tidal barrage of the Rance cost 17 million heliotrope francs more than planned."
    (lab.folder / "kept" / "costs.md").write_text(f"# Costs\n\n{text}\n")
    anyio.run(lab.asky.corpus.sync)
    with lab.elsewhere() as asky:
        answer = lab.research(asky=asky, model="far", privacy_mode="hybrid")
    assert "heliotrope" in answer.text
    assert not any("heliotrope" in str(each.messages) for each in lab.endpoint.requests)


def test_words_of_them_are_asked_about_before_the_agent_searches_for_them(lab: AgentLab) -> None:
    answer = researched(lab, web=True, privacy_mode="cloud_allowed")
    assert all("nine" not in each for each in lab.queries())
    assert lab.asky.agent.state(answer.run)["final_report"] is not None


# documents that are not there


@pytest.mark.parametrize("product", [asked, researched], ids=["chat", "agent"])
def test_a_folder_that_is_gone_is_answered_from_as_it_was_read(lab: AgentLab, tmp_path: Path, product: Any) -> None:
    shutil.rmtree(tmp_path / "kept")
    heard = lab.heard
    answer = asked(lab, heard) if product is asked else researched(lab)
    assert FACT in answer.text
    (told,) = [each for each in notes_of(heard) if each.startswith(TOLD)]
    assert told == f"{TOLD} ({tmp_path / 'kept'} is gone or empty now: as last read)"


@pytest.mark.parametrize("product", [asked, researched], ids=["chat", "agent"])
def test_a_collection_without_documents_is_named_as_the_reason(lab: AgentLab, product: Any) -> None:
    anyio.run(lambda: lab.asky.corpus.remove(["ferry.md"]))
    with pytest.raises(AskyError) as raised:
        asked(lab, []) if product is asked else researched(lab)
    assert "the collection default has no documents" in raised.value.message
    assert str(raised.value.hint).startswith("add some with `asky corpus add PATH`")


def test_a_disk_that_is_not_mounted_costs_no_document(lab: AgentLab, tmp_path: Path) -> None:
    mounted = tmp_path / "kept"
    mounted.rename(tmp_path / "unplugged")
    mounted.mkdir()  # the mount point, without the disk
    added = anyio.run(lab.asky.corpus.sync)
    assert sum(each.removed for each in added.reports) == 0
    heard: list[Event] = []
    assert FACT in asked(lab, heard).text
    assert any("is gone or empty now" in each for each in notes_of(heard))
    heard.clear()
    with open_asky(tmp_path, heard.append) as asky:
        anyio.run(asky.corpus.sync)
    assert f"{mounted} is empty, as if its disk were not mounted: 1 document of it" in notes_of(heard)[0]
    mounted.rmdir()
    (tmp_path / "unplugged").rename(mounted)
    (report,) = anyio.run(lab.asky.corpus.sync).reports
    assert report.verdicts == {"unchanged": 1}


def test_a_folder_with_other_files_in_it_has_lost_those_that_are_gone(lab: AgentLab, tmp_path: Path) -> None:
    (tmp_path / "kept" / "ferry.md").rename(tmp_path / "kept" / "boats.md")
    (report,) = anyio.run(lab.asky.corpus.sync).reports
    assert report.removed == 1
