"""A place in which runs are recorded, played again and taken up, and models that make such runs."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import anyio
import pytest

from asky.chat.answering import Answerer
from asky.config.schema import Research, Retrieval
from asky.errors import ProviderError
from asky.events import Warned
from asky.evidence.answer import answer_json
from asky.evidence.passages import parse_passages
from asky.llm.port import ChatModel
from asky.llm.spending import Budget, NoBudget
from asky.research.judging.judge import ClaimJudge
from asky.research.vector_store import VectorStore
from asky.research.web.access import WebAccess
from asky.runs.access import Access
from asky.runs.context import Question, RunContext
from asky.runs.journal.replay import replay, resume
from asky.storage.runs import RunStore
from asky.storage.scope import Scope
from asky.storage.session_removal import SessionRemoval
from asky.storage.sessions import SessionStore
from asky.values import Answer
from tests.integration.chat.test_answering import BREAD, SEARCH, TIDES, Citing
from tests.integration.chat.test_answering_web import article
from tests.support.models import ScriptedModel, Turn, calls, tool_call
from tests.support.run_contexts import run_context
from tests.support.search_store import SearchStore
from tests.support.searching import FakeSearch
from tests.support.site import Site
from tests.support.webs import LabWeb

ASKED = "How many tides does the moon raise?"
TWO = "The moon raises two tides a day [{key}]."
FAULTY = "The moon raises seven tides a day [{key}] [Pdead]."

_WATCHED = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname")


class Talking(ScriptedModel):
    """Makes the calls of `turns` in order, by what the conversation has of them; then cites a passage that it saw.

    That is the last one on the moon, if there is one, and the last one otherwise.

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
        fitting = [each for each in shown if "moon" in each.text] or shown
        text = self._answer.replace("{key}", fitting[-1].key) if fitting else self._answer
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
        self.access = Access()
        self.site: Site | None = None
        self.looking: Callable[[], object] = lambda: None
        self.judge: ClaimJudge | None = None

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
            budget=self.budget,
            judge=self.judge,
            web=(lambda _: self.web) if self.web is not None else None,  # type: ignore[arg-type,return-value] # it is set
        )

    def ask(self, model: ChatModel, *, mode: str = "research") -> Answer:
        anyio.run(self._answer, model, self.question(mode))
        return self.kept[-1]

    def cancel(self, model: ChatModel, when: Callable[[], bool]) -> Answer:
        """Ask, and stop the run some moments after `when` is true."""

        async def main() -> None:
            async with anyio.create_task_group() as group:
                group.start_soon(self._answer, model, self.question())
                with anyio.fail_after(120):
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

    def context(self, run_id: str | None = None) -> RunContext:
        made = run_context(
            self.store.database,
            self.store.heard.append,
            run_id=run_id,
            notes=lambda: self.notes.pop(0) if self.notes else (),
            access=self.access,
        )
        for each in self.warned:
            made.emit(Warned(each))
        return made

    async def _answer(self, model: ChatModel, question: Question) -> None:
        await self.answerer(model).answer(question, self.session, self.context(), on_answer=self.kept.append)

    def replay(self) -> Answer:
        async def main() -> Answer:
            answerer = self.answerer(ScriptedModel(ProviderError("nobody may ask")))
            return await replay(answerer, self.runs.find(None), listen=self.store.heard.append)

        return anyio.run(main)

    def resume(self, model: ChatModel) -> Answer:
        async def main() -> None:
            run = self.runs.find(None)
            await resume(self.answerer(model), run, self.session, self.context(run.id), on_answer=self.kept.append)

        anyio.run(main)
        return self.kept[-1]

    def crash_after(self, steps: int) -> None:
        """Leave the last run as it was in the store when its process was killed after so many steps."""
        run = self.runs.find(None)
        with self.store.database.write() as connection:
            connection.execute("DELETE FROM step WHERE run_id = ? AND ordinal >= ?", (run.id, steps))
            connection.execute("UPDATE run SET status = 'running', finished_at = NULL, answer = NULL")
            connection.execute("DELETE FROM message WHERE run_id = ?", (run.id,))

    def remove_session(self) -> int:
        store = self.store
        return SessionRemoval(store.database, store.corpus, store.documents).remove(self.session.id)

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


def same_again(room: Room, answer: Answer) -> None:
    """The last run plays to `answer`; nothing is changed by that, and nobody is connected to or looked up."""
    connected = _connections()
    before, connects = room.dump(), len(connected)
    assert room.runs.find(None).answer == answer_json(answer)
    assert answer_json(room.replay()) == answer_json(answer)
    assert room.dump() == before
    assert len(connected) == connects


@functools.cache
def _connections() -> list[object]:
    """Every connection and every name that is looked up in this process, from now on: a hook stays for good."""
    connected: list[object] = []
    sys.addaudithook(lambda event, details: connected.append(details) if event in _WATCHED else None)
    return connected


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


def tides_of(room: Room) -> str:
    assert room.site is not None
    return room.site.url("/tides")
