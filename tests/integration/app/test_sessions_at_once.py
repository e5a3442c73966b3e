"""A session that is asked in from two places at once: no text gets to a model that was not chosen for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from asky import AskRequest
from asky.errors import UsageError
from asky.events import Event, FileRead
from tests.support.lab import ASKED, SECRET, Lab
from tests.support.library import notes_of

pytestmark = pytest.mark.anyio
OPEN = "What may everybody know?"


def elsewhere(lab: Lab, request: AskRequest) -> None:
    """Ask in another `Asky`, as another process does, and wait for the answer."""

    async def ask() -> None:
        async with lab.open() as asky:
            await asky.chat.ask(request)

    other = threading.Thread(target=anyio.run, args=(ask,))
    other.start()
    other.join()


def meanwhile(do: Callable[[], None]) -> Callable[[Event], None]:
    """A listener that does something once, while documents are read."""
    waiting = [do]

    def hear(event: Event) -> None:
        if isinstance(event, FileRead) and waiting:
            waiting.pop()()

    return hear


@pytest.fixture
def notes(lab: Lab) -> Path:
    folder = lab.home / "notes"
    folder.mkdir()
    (folder / "weather.md").write_text("# Weather\n\nEverybody may know that it rains.\n")
    return folder


@pytest.mark.parametrize("asked_before", [True, False])
async def test_a_question_whose_session_has_got_another_model_while_documents_were_read_is_not_sent_to_its_own(
    lab: Lab, notes: Path, asked_before: bool
) -> None:
    private = AskRequest(question=ASKED, documents=(lab.private,), session="trip", model="extractive")
    async with lab.open(ASKY_MODEL="far") as asky:
        if asked_before:
            await asky.chat.ask(AskRequest(question=OPEN, documents=(notes,), session="trip"))
        else:
            asky.services.sessions.open("trip", mode="standard")
        (notes / "news.md").write_text("# News\n\nEverybody may know that it snows.\n")
        request = AskRequest(question=OPEN, documents=(notes,), session="trip")
        with pytest.raises(UsageError, match="another model was used in the session trip in the meantime"):
            await asky.chat.ask(request, listen=meanwhile(lambda: elsewhere(lab, private)))
        assert lab.leaked == []
        again = await asky.chat.ask(AskRequest(question=ASKED, session="trip"))
        assert (again.model, SECRET in again.text) == ("extractive", True)
    assert lab.leaked == []


async def test_a_model_that_is_named_with_the_question_answers_whatever_others_have_asked(
    lab: Lab, notes: Path
) -> None:
    near = AskRequest(question=OPEN, documents=(notes,), session="trip", model="extractive")
    async with lab.open() as asky:
        await asky.chat.ask(near)
        (notes / "news.md").write_text("# News\n\nEverybody may know that it snows.\n")
        far = AskRequest(question=OPEN, documents=(notes,), session="trip", model="far")
        answer = await asky.chat.ask(far, listen=meanwhile(lambda: elsewhere(lab, near)))
    assert answer.model == "far"


async def test_questions_at_once_that_begin_a_session_with_the_default_model_are_both_answered(
    lab: Lab, notes: Path
) -> None:
    asked = AskRequest(question=OPEN, documents=(notes,), session="trip", model="far")
    async with lab.open(ASKY_MODEL="far") as asky:
        asky.services.sessions.open("trip", mode="standard")
        request = AskRequest(question=OPEN, documents=(notes,), session="trip")
        answer = await asky.chat.ask(request, listen=meanwhile(lambda: elsewhere(lab, asked)))
    assert answer.model == "far"


@pytest.mark.parametrize("is_new", [False, True])
async def test_a_chat_says_that_another_model_answers_also_where_it_has_just_been_chosen_elsewhere(
    lab: Lab, notes: Path, is_new: bool
) -> None:
    heard: list[Event] = []
    async with lab.open() as asky:
        if not is_new:
            await asky.chat.ask(AskRequest(question=OPEN, documents=(notes,), session="trip", model="extractive"))
        talk = asky.converse(AskRequest(question="", session="trip"), lambda _: None)
        talk.look_up()
        elsewhere(lab, AskRequest(question=OPEN, documents=(notes,), session="trip", model="far"))
        for _ in range(2):
            async with talk.start(OPEN, listen=heard.append) as run:
                assert (await run.result()).model == "far"
            talk.follow()
    host = lab.endpoint.base_url.removeprefix("http://").partition("/")[0]
    assert [each for each in notes_of(heard) if "now answering" in each] == [f"now answering with far at {host}"]
