"""Which model a session is asked with, as its user goes from one to the other: no text gets to a host unasked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from subprocess import CompletedProcess
from urllib.parse import urlsplit

import pytest

from asky.cli.chat.screen import ChatScreen
from asky.errors import UsageError
from tests.support.asky_command import run_asky
from tests.support.endpoint import Endpoint
from tests.support.here import run_here
from tests.support.in_process import InProcess
from tests.support.staged import staged_command
from tests.support.talks import open_talk, typed

SECRET = "heliotrope"
ASKED = "What is the harbour code?"
OPEN = "What may everybody know?"
NO_MODEL = "no model is configured"
SWITCH = "use -m to switch to far at"


@dataclass(frozen=True)
class Desk:
    """A remote model `far`, a session `open` that it was asked in, and documents that it was never shown."""

    home: Path
    endpoint: Endpoint
    environ: dict[str, str]
    run: Callable[..., CompletedProcess[str]] = run_here

    def ask(self, *arguments: str, stdin: str = "", default: str | None = None) -> CompletedProcess[str]:
        environ = self.environ | ({"ASKY_MODEL": default} if default else {})
        return self.run(*arguments, home=self.home, environ=environ, stdin=stdin)

    def keep_private(self, *flags: str) -> None:
        """Ask in the session `private`, of the private documents."""
        done = self.ask(*flags, "-d", "documents", "-s", "private", ASKED)
        assert SECRET in done.stdout, done.stderr

    @property
    def host(self) -> str:
        return urlsplit(self.endpoint.base_url).netloc

    @property
    def leaked(self) -> list[str]:
        """The requests that hold a word of the private documents, or what was asked of them."""
        sent = [str(each.messages) for each in self.endpoint.requests]
        return [each for each in sent if SECRET in each or ASKED in each]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "codes.md").write_text(f"# Codes\n\nThe harbour code is {SECRET}, and nobody may know.\n")
    with Endpoint("Nothing was found.") as endpoint:
        environ = {
            "ASKY_PROVIDERS__LAB__BASE_URL": endpoint.base_url,
            "ASKY_MODELS__FAR__PROVIDER": "lab",
            "ASKY_MODELS__FAR__ID": "test-model",
            "ASKY_RESEARCH__EMBEDDING__MODEL": str(tmp_path / "no model"),
        }
        yield Desk(tmp_path, endpoint, environ)


@pytest.mark.parametrize("flags", [("-m", "extractive"), ()])
def test_a_model_that_follows_from_one_session_is_not_carried_into_another(desk: Desk, flags: tuple[str, ...]) -> None:
    desk.keep_private(*flags)
    desk.ask("-m", "far", "-s", "open", OPEN)
    asked = len(desk.endpoint.requests)
    done = desk.ask("chat", "-s", "open", stdin=f"/session private\n{ASKED}\n/model\n/session open\n/model\n")
    assert done.returncode == 0, done.stderr
    assert SECRET in done.stdout
    assert (len(desk.endpoint.requests), desk.leaked) == (asked, [])
    assert "now in the session private\nnow answering with extractive\n" in done.stderr
    assert f"now in the session open\nnow answering with far at {desk.host}\n" in done.stderr
    assert [line for line in done.stdout.splitlines() if line.startswith("*")] == ["* extractive", "* far"]
    assert "model far" not in desk.ask("session", "show", "private").stderr


@pytest.mark.parametrize("typed", [("-m", "far"), ()])
def test_a_model_that_was_typed_goes_along_and_that_is_said_before_anything_is_sent(
    desk: Desk, typed: tuple[str, ...]
) -> None:
    desk.keep_private("-m", "extractive")
    commands = "/session private\n" if typed else "/model far\n/session private\n"
    done = desk.ask("chat", *typed, stdin=commands)
    told = f"now answering with far at {desk.host}; this session used extractive before\n"
    assert f"now in the session private\n{told}" in done.stderr
    assert desk.endpoint.requests == []
    desk.ask("chat", *typed, stdin=f"{commands}{ASKED}\n")
    assert desk.leaked
    assert told not in desk.ask("chat", *typed, stdin=commands).stderr  # it was asked with that one now


@pytest.mark.parametrize("way", [("-s", "private", ASKED), ("-c", "--json", ASKED)])
def test_that_no_model_is_configured_is_said_once_in_a_conversation(desk: Desk, way: tuple[str, ...]) -> None:
    told = "no model is configured: answering with sentences quoted from the sources\n"
    begin = ("-d", "documents", *(each for each in way[1:] if each == "--json"))
    assert told in desk.ask(*begin, "-s", "private", ASKED).stderr
    assert told not in desk.ask(*way).stderr
    assert told not in desk.ask("chat", "-s", "private", stdin="").stderr
    assert told in desk.ask(*begin, ASKED).stderr  # another one
    assert told not in desk.ask(*begin, "-m", "extractive", ASKED).stderr  # it was chosen


def test_a_default_that_was_chosen_is_no_missing_model(desk: Desk) -> None:
    desk.ask("models", "default", "extractive")
    assert NO_MODEL not in desk.ask("-d", "documents", ASKED).stderr
    assert NO_MODEL not in desk.ask("--json", "-d", "documents", ASKED).stderr
    assert NO_MODEL not in desk.ask("chat", "-d", "documents", stdin=f"{ASKED}\n").stderr


@pytest.mark.parametrize("way", [("-c",), ("-s", "private"), ("chat", "-c"), ("chat", "-s", "private")])
def test_a_session_that_no_other_model_has_seen_stays_with_the_built_in_one(desk: Desk, way: tuple[str, ...]) -> None:
    desk.keep_private()
    for _ in range(2):  # what is followed is not taken for chosen
        is_chat = way[0] == "chat"
        done = desk.ask(*way, *(() if is_chat else (ASKED,)), stdin=f"{ASKED}\n" if is_chat else "", default="far")
        assert SECRET in done.stdout
        told = f"still answering with extractive: no other model has seen your documents here; {SWITCH} {desk.host}"
        assert f"{told}\n" in done.stderr
    assert desk.endpoint.requests == []
    chosen = desk.ask("-c", "-m", "far", ASKED, default="far")
    assert f"now answering with far at {desk.host}; this session used extractive" in chosen.stderr
    assert desk.leaked


def test_a_session_that_another_process_begins_under_the_name_of_a_chat_is_asked_as_it_was(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (desk.home / "asky").mkdir(mode=0o700)
    InProcess(desk.home / "asky", monkeypatch, capsys)
    for name, value in (desk.environ | {"ASKY_MODEL": "far"}).items():
        monkeypatch.setenv(name, value)
    with staged_command() as (ctx, services):
        talk = ChatScreen(ctx, ctx.asky.converse(typed(session="private"), ctx.terminal.note))
        assert talk.conversation.model_name == "far"
        services.meanwhile = lambda: replace(desk, run=run_asky).keep_private("-m", "extractive")
        with pytest.raises(UsageError, match="has just been started by another process"):
            talk.ask(ASKED)
        talk.ask(ASKED)
        assert talk.conversation.model_name == "extractive"
    assert "continuing the session private: 2 messages" in capsys.readouterr().err
    assert desk.endpoint.requests == []


@pytest.mark.extended
def test_a_session_that_another_process_has_asked_a_model_in_is_told_of_it_before_the_next_question(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (desk.home / "asky").mkdir(mode=0o700)
    InProcess(desk.home / "asky", monkeypatch, capsys)
    for name, value in desk.environ.items():
        monkeypatch.setenv(name, value)
    desk.keep_private("-m", "extractive")
    with open_talk(session="private") as talk:
        replace(desk, run=run_asky).ask("-m", "far", "-s", "private", OPEN)
        asked = len(desk.endpoint.requests)
        assert talk.conversation.look_up() is not None
        assert talk.conversation.model_name == "far"
    assert f"now answering with far at {desk.host}\n" in capsys.readouterr().err
    assert len(desk.endpoint.requests) == asked


def test_a_new_session_is_asked_with_what_was_typed_and_not_with_what_was_followed(desk: Desk) -> None:
    desk.ask("-m", "far", "-s", "open", OPEN)
    done = desk.ask("chat", "-s", "open", stdin="/session fresh\n/model\n")
    assert "now in the new session fresh\nnow answering with extractive\n" in done.stderr
    assert "* extractive" in done.stdout
    assert "* far" in desk.ask("chat", "-s", "open", stdin="/model far\n/session fresh\n/model\n").stdout


def test_the_mode_that_was_typed_goes_along(desk: Desk) -> None:
    done = desk.ask(
        "chat", "-r", stdin="/mode\n/mode standard\n/session newer\n/mode\n/mode lean\n/session last\n/mode\n"
    )
    assert done.stdout.splitlines() == ["the mode is research", "the mode is standard", "the mode is lean"]


def test_a_session_that_was_kept_off_the_web_stays_off_it_until_the_web_is_typed_there(desk: Desk) -> None:
    desk.keep_private("--no-web")
    done = desk.ask("chat", "--web", "-s", "open", stdin="/web\n/session private\n/web\n/web on\n/web\n")
    states = [line.partition(",")[0].partition(";")[0] for line in done.stdout.splitlines()]
    assert states == ["the web is on", "the web is off", "the web is on"]


def test_documents_that_were_typed_stay_with_their_session(desk: Desk) -> None:
    done = desk.ask("chat", "-d", "documents", "-s", "first", stdin=f"/docs\n/session second\n/docs\n{ASKED}\n")
    assert done.stdout.splitlines()[0] == f"folder {desk.home / 'documents'}"
    assert SECRET not in done.stdout


@pytest.mark.parametrize("command", [(), ("chat",)])
def test_a_session_whose_model_is_gone_says_so_and_how_to_go_on(desk: Desk, command: tuple[str, ...]) -> None:
    desk.ask("-m", "lab:test-model", "-s", "open", OPEN)
    del desk.environ["ASKY_PROVIDERS__LAB__BASE_URL"]
    del desk.environ["ASKY_MODELS__FAR__PROVIDER"], desk.environ["ASKY_MODELS__FAR__ID"]
    done = desk.ask(*command, "-s", "open", *(() if command else (OPEN,)))
    assert done.returncode == 3
    assert "hint: the session open was last used with it; -m chooses another, such as -m extractive" in done.stderr
    asked = desk.ask("-s", "open", "-m", "lab:other", OPEN)
    assert "was last used with it" not in asked.stderr
