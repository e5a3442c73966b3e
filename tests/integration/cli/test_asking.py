"""What a model sees of a question that names files, and what is read of them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from asky.app.conversation import Conversation
from asky.app.requests import AskRequest, Mode, WebOptions, find_session
from asky.cli.chat.screen import ChatScreen
from asky.cli.context import command_context
from asky.errors import AskyError, ProviderError, UsageError
from asky.llm.port import Reply, TextDelta
from asky.storage.session_removal import SessionRemoval
from asky.storage.sessions import NewMessage, Session
from asky.values import Answer
from tests.support.asky_command import run_asky
from tests.support.here import run_here
from tests.support.in_process import InProcess
from tests.support.models import ScriptedModel
from tests.support.staged import staged_command
from tests.support.talks import typed

OFF_THE_WEB = WebOptions(allowed=False)


class Desk:
    """Asks a scripted model, over the collection `kept` that `asky` has made if that is named."""

    def __init__(self, asky: InProcess, capsys: pytest.CaptureFixture[str]) -> None:
        self.asky = asky
        self.model = ScriptedModel("I could not find an answer in the sources.")
        self.said = ""
        self._capsys = capsys

    def ask(self, text: str, *, docs: Path | None = None, stored: bool = True, mode: Mode = "standard") -> Answer:
        request = AskRequest(
            question=text,
            mode=mode,
            documents=(docs,) if docs is not None else (),
            collections=("kept",) if stored else (),
            web=OFF_THE_WEB,
        )
        with staged_command(self.model) as (ctx, _):
            self._capsys.readouterr()
            try:
                return ctx.run(lambda: ctx.asky.chat.ask(request, listen=ctx.progress))
            finally:
                self.said = self._capsys.readouterr().err

    @property
    def shown(self) -> str:
        """The question as the model saw it."""
        return self.model.sent[-1][0][-1].content.partition("\n\n")[0]

    @property
    def sent(self) -> str:
        """All that the model has seen."""
        return "\n".join(message.content for messages, _ in self.model.sent for message in messages)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Desk:
    (tmp_path / "home").mkdir()
    asky = InProcess(tmp_path / "home", monkeypatch, capsys)
    monkeypatch.setenv("ASKY_RESEARCH__EMBEDDING__MODEL", str(tmp_path / "no model"))
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "fstab.md").write_text(
        "# Mounts\n\nThe file /etc/fstab lists the file systems that are mounted at boot.\n"
    )
    (tmp_path / "secret plan.txt").write_text("The password is hunter2.\n")
    asky("corpus", "add", "--collection", "kept", str(tmp_path / "docs"))
    return Desk(asky, capsys)


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("What does /etc/passwd say?", 'What does "passwd" say?'),
        ("Compare ~/notes/a.md with ../b.md", 'Compare "a.md" with "b.md"'),
        ("Read file:///etc/hosts and local://plans/c%20d.md", 'Read "hosts" and "c d.md"'),
        ("GET /api/v1/users on 2024/05/17 and/or https://e.com/etc/x", None),
    ],
)
def test_a_stored_collection_grants_no_path_and_the_model_sees_none(
    desk: Desk, question: str, shown: str | None
) -> None:
    answer = desk.ask(question)
    assert desk.shown == (shown or question)
    assert answer.question == question
    assert bool(answer.rejected) == (shown is not None)
    assert ("-d PATH" in desk.said) == (shown is not None)


def test_a_file_that_is_named_without_a_grant_is_not_read(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "secret plan.txt"
    answer = desk.ask(f'What does "{path}" say, and again "{path}"?')
    assert str(tmp_path) not in desk.sent
    assert "hunter2" not in desk.sent
    assert desk.shown == 'What does "secret plan.txt" say, and again "secret plan.txt"?'
    assert [subject for subject, _ in answer.rejected] == [str(path)]
    assert desk.said.count("outside the configured folders") == 1
    assert desk.asky("search", "hunter2", "--collection", "kept", "--json").json["hits"] == []
    assert desk.asky("corpus", "list", "--collections").out == "kept\n"


def test_a_granted_path_is_read_and_another_beside_it_is_not(desk: Desk, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    answer = desk.ask(f"Does {docs}/fstab.md speak of {tmp_path}/other/x.md?", docs=docs, stored=False)
    assert desk.shown == 'Does "fstab.md" speak of "x.md"?'
    assert [subject for subject, _ in answer.rejected] == [f"{tmp_path}/other/x.md"]
    assert str(tmp_path) not in desk.sent


class Breaking(ScriptedModel):
    """Breaks off after the first words of its reply."""

    async def stream(self, *arguments: Any, **options: Any) -> AsyncGenerator[TextDelta | Reply, None]:
        async with aclosing(super().stream(*arguments, **options)) as items:
            async for item in items:
                yield item
                raise ProviderError("the upstream went away", hint="ask again", retryable=True)


def test_an_answer_that_broke_off_is_named_in_the_hint_and_shown_by_its_run(desk: Desk) -> None:
    desk.model = Breaking("The file lists the file systems.")
    with pytest.raises(ProviderError) as failed:
        desk.ask("What does it list?")
    run = desk.asky("runs", "list", "--json").json["runs"][0]["id"]
    assert failed.value.hint == f"ask again; `asky runs show {run}` shows the partial answer"
    assert "unchecked:\n\nThe fil\n" in desk.asky("runs", "show", run).out


def test_a_run_that_failed_before_a_word_has_nothing_to_be_shown(desk: Desk) -> None:
    desk.model = ScriptedModel(ProviderError("the upstream is down", hint="ask again"))
    with pytest.raises(ProviderError) as failed:
        desk.ask("What does it list?")
    assert failed.value.hint == "ask again"


def test_a_path_alone_is_nothing_to_answer_from(desk: Desk) -> None:
    with pytest.raises(UsageError, match="nothing to answer from"):
        desk.ask("What does /etc/passwd say?", stored=False, mode="research")
    assert "/etc/passwd: outside the configured folders" in desk.said


def test_a_question_about_a_path_as_a_topic_is_answered(desk: Desk) -> None:
    done = run_asky(
        "what does /etc/fstab do?", "--collection", "kept", "--json", home=desk.asky.home, environ=as_here()
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert "lists the file systems" in answer["answer"]
    assert answer["question"] == "what does /etc/fstab do?"


def test_a_question_in_a_file_may_have_an_encoded_name(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "my question.txt").write_text("what does fstab list?")
    uri = f"file://{tmp_path}/my%20question.txt"
    done = run_asky(uri, "--collection", "kept", "--json", home=desk.asky.home, environ=as_here())
    assert json.loads(done.stdout)["question"] == "what does fstab list?"
    nameless = run_asky("FILE://a%00b", home=desk.asky.home, environ=as_here())
    assert nameless.returncode == 2
    assert "this is not a valid file name" in nameless.stderr


def as_here() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith("ASKY_")}


def sessions(asky: InProcess) -> list[tuple[str, str, int]]:
    found = asky("session", "list", "--json").json["sessions"]
    return [(each["name"], each["mode"], each["messages"]) for each in found]


def refuse(name: str | None, mode: Mode, web: WebOptions = OFF_THE_WEB) -> AskyError:
    """What the built-in model is refused a question with that names a file, and no documents."""
    request = AskRequest(question="What does /etc/passwd say?", session=name, mode=mode, web=web, model="extractive")
    with command_context() as ctx, pytest.raises(AskyError) as refused:
        ctx.run(lambda: ctx.asky.chat.ask(request))
    return refused.value


def test_a_question_that_is_refused_leaves_no_session_and_changes_none(desk: Desk) -> None:
    assert [refuse(name, "lean").exit_code for name in (None, "other")] == [2, 2]
    demanded = WebOptions(allowed=True)
    assert [refuse(name, "research", demanded).exit_code for name in (None, "other")] == [3, 3]
    assert sessions(desk.asky) == []
    with command_context() as ctx:
        ctx.asky.services.sessions.open("mine", mode="standard")
    assert refuse("mine", "lean").exit_code == 2
    assert sessions(desk.asky) == [("mine", "standard", 0)]


def test_a_new_session_that_a_second_question_is_prepared_in_outlives_the_first_one(desk: Desk) -> None:
    with command_context() as ctx:
        made = ctx.asky.services.sessions.open("trip", mode="lean")
        assert refuse("trip", "lean").exit_code == 2
        ctx.asky.services.session_removal.discard_unused(made)  # as the first process does
    assert sessions(desk.asky) == [("trip", "lean", 0)]


def test_a_session_that_was_removed_is_not_made_anew_under_its_id(desk: Desk) -> None:
    with staged_command(desk.model) as (ctx, services):
        for is_known in (False, True):
            removed = services.sessions.open("trip", mode="lean")
            request = AskRequest(question="Why?", session=removed.id, mode="lean", collections=("kept",))
            if is_known:  # it is there when it is looked up
                services.meanwhile = lambda id_=removed.id: services.session_removal.remove(id_)
            else:
                services.session_removal.remove(removed.id)

            async def ask(request: AskRequest = request, removed: Session = removed) -> Answer:
                async with ctx.asky.chat.start(request, joined=removed) as run:
                    return await run.result()

            with pytest.raises(UsageError, match="the session trip was removed"):
                ctx.run(ask)
            assert services.sessions.recent() == []
    assert desk.model.sent == []


class Robbed(Conversation):
    """Its session is removed right after it was looked up, where there is a `thief`."""

    thief: SessionRemoval | None = None

    def look_up(self) -> Session | None:
        found = super().look_up()
        if found is not None and self.thief is not None:
            self.thief.remove(found.id)
            self.thief = None
        return found


@pytest.mark.parametrize("is_resolved", [False, True], ids=["before it is resolved", "after it was resolved"])
def test_a_chat_whose_session_is_removed_as_it_asks_says_so_and_goes_on_in_one_of_its_name(
    desk: Desk, *, is_resolved: bool
) -> None:
    question = "What does /etc/fstab list?"
    given = typed(mode="standard", collections=("kept",), allowed=False, session="trip")
    with staged_command() as (ctx, services):
        conversation = Robbed(lambda: ctx.asky.chat, services, given, ctx.terminal.note)
        screen = ChatScreen(ctx, conversation)
        screen.ask(question)
        asked_in = conversation.require_session()
        if is_resolved:
            services.meanwhile = lambda: services.session_removal.remove(asked_in.id)
        else:
            conversation.thief = services.session_removal
        with pytest.raises(UsageError, match="the session trip was removed"):
            screen.ask(question)
        assert services.sessions.recent() == []
        screen.ask(question)
        assert conversation.require_session().id != asked_in.id
    assert sessions(desk.asky) == [("trip", "standard", 2)]


def test_the_session_to_continue_is_the_last_in_which_something_was_asked(desk: Desk) -> None:
    last = typed(resume_last=True)
    with command_context() as ctx:
        made = ctx.asky.services.sessions
        with pytest.raises(UsageError, match="there is no session 'asked' to continue"):
            find_session(made, typed(session="asked", resume_last=True))
        made.open("empty", mode="lean")
        with pytest.raises(UsageError, match="no session to continue"):
            find_session(made, last)
        asked, begun = made.open("asked", mode="lean"), made.open("begun", mode="lean")
        made.append(asked.id, [NewMessage("user", "Why?")], run_id=None)
        for number in range(20):
            made.open(f"empty {number}", mode="lean")
        found = find_session(made, last)
        assert found is not None
        assert found.name == "asked"
        named = find_session(made, typed(session="empty", resume_last=True))
        assert named is not None
        assert named.name == "empty"
        ctx.asky.services.runs.start(question="?", mode="lean", model="m", session_id=begun.id)
        made.append(begun.id, [NewMessage("note", "and now")], run_id=None)  # its answer is still being made
        found = find_session(made, last)
        assert found is not None
        assert found.name == "begun"


@pytest.mark.parametrize("name", ["private-divorce-2026.md", "my wall (old).txt"])
@pytest.mark.parametrize("written", ["local://{}", "{folder}/{}"])
def test_the_name_of_a_file_is_no_word_that_its_answer_has_to_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, written: str
) -> None:
    folder = tmp_path / "named"
    folder.mkdir()
    (folder / name).write_text("The harbour wall of granite was built in 1871.\n")
    (tmp_path / "home").mkdir()
    asky = InProcess(tmp_path / "home", monkeypatch, capsys)
    monkeypatch.setenv("ASKY_RESEARCH__EMBEDDING__MODEL", str(tmp_path / "no model"))
    monkeypatch.setenv("ASKY_RESEARCH__LOCAL_DOCUMENT_ROOTS", f'["{folder}"]')
    monkeypatch.setattr(sys, "stdin", None)
    target = written.format(quote(name) if "local" in written else name, folder=folder)
    target = f'"{target}"' if " " in target else target
    answered = asky("-r", "--no-web", f"What does {target} say about the granite wall?")
    assert (answered.code, answered.out.startswith("The harbour wall of granite was built in 1871. [1]")) == (0, True)
    other = asky("-r", "--no-web", f"What does {target} say about the moon?")
    assert other.code == 11


def test_an_author_that_only_the_metadata_names_is_told_and_the_text_is_not_quoted_for_it(tmp_path: Path) -> None:
    body = "".join(f"<p>La loutre {n} est de retour dans le marais, sans poisson, pas de loutre.</p>" for n in range(5))
    head = '<title>La loutre</title><meta name="author" content="Solène Kervadec">'
    (tmp_path / "loutre.html").write_text(f"<html><head>{head}</head><body><h1>La loutre</h1>{body}</body></html>")
    environ = {"ASKY_RESEARCH__EMBEDDING__MODEL": str(tmp_path / "no model")}
    done = run_here("-d", "loutre.html", "Who wrote the article?", home=tmp_path, environ=environ)
    assert done.returncode == 11
    assert "the metadata of “La loutre” names Solène Kervadec." in done.stdout
    assert "de retour dans le marais" not in done.stdout
