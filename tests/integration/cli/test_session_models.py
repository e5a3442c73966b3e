"""Which model a session is asked with, as its user goes from one to the other: no text gets to a host unasked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from urllib.parse import urlsplit

import pytest

from asky.errors import UsageError
from tests.support.asky_command import run_asky
from tests.support.endpoint import Endpoint
from tests.support.in_process import InProcess
from tests.support.talks import open_talk

SECRET = "heliotrope"
ASKED = "What is the harbour code?"
OPEN = "What may everybody know?"


@dataclass(frozen=True)
class Desk:
    """A remote model `far`, a session `open` that it was asked in, and documents that it was never shown."""

    home: Path
    endpoint: Endpoint
    environ: dict[str, str]

    def ask(self, *arguments: str, stdin: str = "", default: str | None = None) -> CompletedProcess[str]:
        environ = self.environ | ({"ASKY_MODEL": default} if default else {})
        return run_asky(*arguments, home=self.home, environ=environ, stdin=stdin)

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
    assert "in the session private now\nanswers come from extractive now\n" in done.stderr
    assert f"in the session open now\nanswers come from far at {desk.host} now\n" in done.stderr
    assert [line for line in done.stdout.splitlines() if line.startswith("*")] == ["* extractive", "* far"]
    assert "model far" not in desk.ask("session", "show", "private").stderr


@pytest.mark.parametrize("typed", [("-m", "far"), ()])
def test_a_model_that_was_typed_goes_along_and_that_is_said_before_anything_is_sent(
    desk: Desk, typed: tuple[str, ...]
) -> None:
    desk.keep_private("-m", "extractive")
    commands = "/session private\n" if typed else "/model far\n/session private\n"
    done = desk.ask("chat", *typed, stdin=commands)
    told = f"answers come from far at {desk.host} now: this session was asked with extractive until now\n"
    assert f"in the session private now\n{told}" in done.stderr
    assert desk.endpoint.requests == []
    desk.ask("chat", *typed, stdin=f"{commands}{ASKED}\n")
    assert desk.leaked
    assert told not in desk.ask("chat", *typed, stdin=commands).stderr  # it was asked with that one now


@pytest.mark.parametrize("way", [("-c",), ("-s", "private"), ("chat", "-c"), ("chat", "-s", "private")])
def test_a_session_that_no_other_model_has_seen_stays_with_the_built_in_one(desk: Desk, way: tuple[str, ...]) -> None:
    desk.keep_private()
    for _ in range(2):  # what is followed is not taken for chosen
        is_chat = way[0] == "chat"
        done = desk.ask(*way, *(() if is_chat else (ASKED,)), stdin=f"{ASKED}\n" if is_chat else "", default="far")
        assert SECRET in done.stdout
        told = f"answers come from extractive as before: this session has documents, and far at {desk.host} has to be"
        assert f"{told} chosen\n" in done.stderr
    assert desk.endpoint.requests == []
    chosen = desk.ask("-c", "-m", "far", ASKED, default="far")
    assert f"answers come from far at {desk.host} now: this session was asked with extractive" in chosen.stderr
    assert desk.leaked


def test_a_session_that_another_process_begins_under_the_name_of_a_chat_is_asked_as_it_was(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (desk.home / "asky").mkdir(mode=0o700)
    InProcess(desk.home / "asky", monkeypatch, capsys)
    for name, value in (desk.environ | {"ASKY_MODEL": "far"}).items():
        monkeypatch.setenv(name, value)
    with open_talk(session="private") as talk:
        assert talk.model_name == "far"
        asking = talk.asking()
        desk.keep_private("-m", "extractive")
        with pytest.raises(UsageError, match="begun elsewhere meanwhile"):
            asking.ask(ASKED, None, "private", False)
        talk.ask(ASKED)
        assert talk.model_name == "extractive"
    assert "going on in the session private: 2 messages" in capsys.readouterr().err
    assert desk.endpoint.requests == []


def test_a_new_session_is_asked_with_what_was_typed_and_not_with_what_was_followed(desk: Desk) -> None:
    desk.ask("-m", "far", "-s", "open", OPEN)
    done = desk.ask("chat", "-s", "open", stdin="/session fresh\n/model\n")
    assert "a new session fresh now\nanswers come from extractive now\n" in done.stderr
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
    states = [line.partition(",")[0].partition(":")[0] for line in done.stdout.splitlines()]
    assert states == ["the web is on", "the web is off", "the web is on"]


def test_documents_that_were_typed_stay_with_their_session(desk: Desk) -> None:
    done = desk.ask("chat", "-d", "documents", "-s", "first", stdin=f"/docs\n/session second\n/docs\n{ASKED}\n")
    assert done.stdout.splitlines()[0] == f"folder {desk.home / 'documents'}"
    assert SECRET not in done.stdout
