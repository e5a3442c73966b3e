"""What becomes of the question and the searches that a user changes at `plan>`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from asky.cli.chat.commands import typed_question
from asky.cli.chat.plan import plan_question
from asky.cli.chat.reader import PROMPT
from asky.cli.chat.screen import ChatScreen
from asky.errors import UsageError
from tests.support.in_process import InProcess
from tests.support.talks import open_talk
from tests.support.twins.web import SearxngTwin

TIDES = "How do tides come about?"


class Editing:
    """A user who types these texts, each in the place of the one that is given to be edited."""

    is_interactive = True
    can_prefill = True

    def __init__(self, *typed: str) -> None:
        self._typed = list(typed)
        self.given: list[str] = []

    def read(self, prefill: str = "", prompt: str = PROMPT) -> str:  # noqa: ARG002 - as `Reader` has it
        self.given.append(prefill)
        return self._typed.pop(0)

    def go_on(self) -> None:
        """Nothing is stopped here."""


@pytest.fixture(autouse=True)
def _service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[None]:
    """A search service, which no plan asks."""
    (tmp_path / "home").mkdir()
    InProcess(tmp_path / "home", monkeypatch, capsys)
    with SearxngTwin(rows=[]) as twin:
        monkeypatch.setenv("ASKY_SEARCH__SEARXNG__BASE_URL", twin.base_url)
        yield
        assert twin.requests == []


def searched(talk: ChatScreen) -> tuple[str, ...]:
    """The queries with which the next question is planned."""
    request = talk.conversation.request("Another question?", talk.queries)
    web = talk.ctx.run(lambda: talk.ctx.asky.chat.plan(request)).web
    assert web is not None
    return web.queries


def test_queries_that_are_changed_together_with_the_question_are_kept(capsys: pytest.CaptureFixture[str]) -> None:
    other = "Why do seas rise?"
    editing = Editing(f"{other}\nsearch: moon  and sea\nsearch: lunar pull", f"{other}\nsearch: moon and sea")
    with open_talk() as talk:
        assert plan_question(talk, editing, TIDES, typed_question) == other
        assert searched(talk) == ("moon and sea",)
    assert editing.given == [f"{TIDES}\nsearch: {TIDES}", f"{other}\nsearch: moon and sea\nsearch: lunar pull"]
    assert "search for “moon and sea” and “lunar pull” with" in " ".join(capsys.readouterr().out.split())


def test_queries_that_were_kept_are_asked_with_where_nothing_else_is_changed() -> None:
    other = "Why do seas rise?"
    kept = f"{other}\nsearch: moon"
    with open_talk() as talk:
        assert plan_question(talk, Editing(kept, kept), TIDES, typed_question) == other
        assert searched(talk) == ("moon",)


def test_a_question_that_is_changed_alone_is_searched_for_by_itself() -> None:
    other = "Why do seas rise?"
    editing = Editing(f"{other}\nsearch: {TIDES}", f"{other}\nsearch: {other}")
    with open_talk() as talk:
        assert plan_question(talk, editing, TIDES, typed_question) == other
    assert editing.given[1] == f"{other}\nsearch: {other}"


def test_a_plan_that_is_dropped_leaves_no_queries_to_the_next_question() -> None:
    with open_talk() as talk:
        assert plan_question(talk, Editing("Why do seas rise?\nsearch: moon", ""), TIDES, typed_question) is None
        assert searched(talk) == ("Another question?",)
        with pytest.raises(UsageError, match="is a command"):
            plan_question(talk, Editing("/help\nsearch: moon"), TIDES, typed_question)
        assert searched(talk) == ("Another question?",)
