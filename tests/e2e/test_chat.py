"""A conversation at a pseudo-terminal, as a user has it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.e2e.test_ask_models import SEARCH, cites, environ_of
from tests.support.asky_command import run_asky
from tests.support.chatting import (
    CTRL_C,
    CTRL_D,
    ENTER,
    Chatting,
    answer_to,
    asked,
    keep_prompt,
    roles,
)
from tests.support.endpoint import Answer, Endpoint, Problem, Wire
from tests.support.here import run_here

pytestmark = pytest.mark.model

TIDES = "How many high tides are there in a day?"
TWO = cites("The moon raises two high tides a day [{key}].")


def test_the_second_turn_cites_a_passage_of_the_first(home: Path, docs: Path) -> None:
    again = cites("As said: the moon raises two high tides a day [{key}].")
    with Endpoint(SEARCH, TWO, again) as endpoint:
        with Chatting("-d", str(docs), "-m", "priced", home=home, environ=environ_of(endpoint)) as chatting:
            chatting.prompt()
            answer_to(chatting, TIDES, "two high tides a day [1].")
            answer_to(chatting, "Once more, please?", "As said: the moon raises two high tides a day [1].")
            tokens = re.search(r"([\d,]+) tokens, \d\.\d{4} USD", chatting.status())
            assert tokens is not None
            assert tokens[1] != "0"
            assert "priced | standard | web off" in chatting.status()
            chatting.ask("/why 1")
            chatting.see("The moon pulls the water of the sea")
            chatting.see("checked: the stored text has this hash")
            chatting.prompt()
            chatting.type(CTRL_D)
            assert chatting.end() == 0
        assert roles(endpoint.requests[2]) == ["system", "user", "assistant", "tool", "assistant", "user"]
        assert endpoint.faults == []


def test_ctrl_c_stops_the_answer_keeps_what_there_is_and_the_chat_goes_on_later(home: Path) -> None:
    hanging = Answer("The moon raises some tides, and so on.", delta_chars=5, wire=Wire(silent_after=1500))
    with Endpoint(hanging, "Two.", "Still two.") as endpoint:
        environ = environ_of(endpoint)
        with Chatting("-m", "priced", "-s", "sea", home=home, environ=environ) as chatting:
            chatting.prompt()
            chatting.ask(TIDES)
            chatting.see("The moon")
            chatting.interrupt()
            chatting.see("stopped; the partial answer is kept as run")
            chatting.prompt()
            assert chatting.status().endswith("| sea")
            answer_to(chatting, "So how many?", "Two.")
            chatting.type(CTRL_C)
            chatting.see("Ctrl-C again, or Ctrl-D, leaves")
            chatting.type(CTRL_C)
            assert chatting.end() == 0
        runs = json.loads(run_here("runs", "list", "--json", home=home).stdout)["runs"]
        assert [run["status"] for run in runs] == ["finished", "cancelled"]
        with Chatting("-c", home=home, environ=environ) as chatting:  # the model is the session's
            chatting.see("continuing the session sea: 4 messages")
            chatting.prompt()
            answer_to(chatting, "And now?", "Still two.")
        said = [str(message["content"]) for message in endpoint.requests[2].messages[1:]]
    assert said[0] == TIDES
    assert said[1].startswith("The moon")
    assert said[2:] == ["So how many?", "Two.", "And now?"]


@pytest.mark.extended
def test_a_note_typed_while_an_answer_is_made_leads_the_next_model_call(home: Path, docs: Path) -> None:
    held = Answer(calls=SEARCH.calls, wire=Wire(silent_before_headers=True))
    with Endpoint(held, TWO, "Noted.") as endpoint:
        with Chatting(
            "-d", str(docs), "-m", "priced", "-s", "sea", home=home, environ=environ_of(endpoint)
        ) as chatting:
            chatting.prompt()
            chatting.ask(TIDES)
            chatting.see("asking priced")
            chatting.type("only the mooon\x7f\x7fn")
            chatting.see("> only the moon")
            chatting.type(ENTER)
            chatting.see("[1 note for the model]")
            chatting.type("what of the sun?")
            chatting.see("what of the sun?")
            endpoint.release()
            chatting.see("note to the model: only the moon")
            chatting.see("two high tides a day [1].")
            chatting.see_that(lambda: chatting.rows()[chatting.cursor_row()] == "> what of the sun?", "the draft")
            chatting.type(ENTER)
            chatting.see("Noted.")
            chatting.prompt()
        assert asked(endpoint.requests[1])[-1].endswith("only the moon")
        assert roles(endpoint.requests[1])[-2:] == ["tool", "user"]
        assert any(said.endswith("only the moon") for said in asked(endpoint.requests[2]))
        assert asked(endpoint.requests[2])[-1].startswith("what of the sun?\n\n")
        assert endpoint.faults == []
    shown = run_here("session", "show", "sea", home=home).stdout
    assert re.search(r"^note, .*\nonly the moon$", shown, re.MULTILINE)


def test_a_turn_that_fails_is_a_line_with_a_hint_and_the_chat_goes_on(home: Path) -> None:
    with (
        Endpoint(Problem("auth"), "Better.") as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint)) as chatting,
    ):
        chatting.prompt()
        chatting.ask("Well?")
        chatting.see("LAB_KEY")
        chatting.prompt()
        assert "Traceback" not in chatting.text()
        answer_to(chatting, "And now?", "Better.")


def test_lines_of_a_pipe_are_questions_and_the_last_error_is_the_code(home: Path) -> None:
    with Endpoint("One.", Problem("auth"), "Three.") as endpoint:
        stdin = "First?\n\nSecond?\nThird?\n/why x\n"
        done = run_asky("chat", "-m", "priced", home=home, environ=environ_of(endpoint), stdin=stdin)
        assert done.returncode == 2, done.stderr
        assert "One." in done.stdout
        assert "Three." in done.stdout
        assert "> " not in done.stdout + done.stderr
        assert "LAB_KEY" in done.stderr
        assert asked(endpoint.requests[2]) == ["First?", "Second?", "Third?"]


@pytest.mark.extended
def test_a_hint_is_told_once_in_a_chat(home: Path, docs: Path) -> None:
    stdin = "Who won the cup in 1998?\nWho lost the cup in 1998?\n/why x\n"
    done = run_asky("chat", "-m", "extractive", "-d", str(docs), home=home, stdin=stdin)
    assert done.stderr.count("asky: the sources hold too little to answer this\n") == 2
    assert done.stderr.count("shows what there is") == 1


def test_a_pipe_names_no_files_and_no_saved_prompts(home: Path, docs: Path) -> None:
    with Endpoint("Yes.") as endpoint:
        keep_prompt(home)
        environ = environ_of(endpoint)
        stdin = f"/docs {docs}\n/save x.md\n/export x.md\n/short why\n"
        done = run_here("chat", "-m", "priced", home=home, environ=environ, stdin=stdin)
        assert done.returncode == 2
        assert done.stderr.count("cannot come from a pipe") == 4
        assert endpoint.requests == []
    assert not (home / "x.md").exists()


@pytest.mark.parametrize("flags", [("-r", "-L"), ("-L", "--web")])
def test_flags_that_contradict_each_other_end_it_before_it_begins(flags: tuple[str, ...], home: Path) -> None:
    done = run_here("chat", *flags, home=home)
    assert done.returncode == 2
    assert "cannot be combined" in done.stderr


def test_nothing_to_continue_is_said_at_once(home: Path) -> None:
    done = run_here("chat", "-c", home=home)
    assert done.returncode == 2
    assert "no session to continue" in done.stderr


def test_a_closed_stdin_ends_it_with_0(home: Path) -> None:
    done = run_asky("chat", home=home)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_default_mode_is_asked_for_in_a_session_that_had_another(home: Path) -> None:
    with Endpoint("One.", "Two.", "Three.") as endpoint:
        environ = environ_of(endpoint)
        for flags, mode in ((("-s", "x", "-L"), "lean"), (("-c",), "lean"), (("-c", "--standard"), "standard")):
            done = run_here(*flags, "-m", "priced", "--json", "Well?", home=home, environ=environ)
            assert (done.returncode, json.loads(done.stdout)["mode"]) == (0, mode), done.stderr


@pytest.mark.extended
def test_a_chat_stays_in_its_session_when_another_process_renames_or_removes_it(home: Path) -> None:
    with Endpoint("One.", "Other.", "Two.", "Three.", "Four.") as endpoint:
        environ = environ_of(endpoint)

        def elsewhere(*arguments: str) -> None:
            done = run_asky(*arguments, home=home, environ=environ)
            assert done.returncode == 0, done.stderr

        with Chatting("-m", "priced", "-s", "live", home=home, environ=environ) as chatting:
            chatting.prompt()
            answer_to(chatting, "First?", "One.")
            elsewhere("session", "rename", "live", "moved")
            elsewhere("-m", "priced", "-s", "live", "Of another?")
            answer_to(chatting, "Second?", "Two.")
            assert "the session live was renamed to moved" in chatting.text()
            assert chatting.status().endswith("| moved")
            elsewhere("session", "rm", "moved", "-y")
            answer_to(chatting, "Third?", "Three.")
            assert "the session moved was removed; your next question creates it again" in chatting.text()
            elsewhere("session", "rm", "moved", "-y")
            elsewhere("session", "rename", "live", "moved")
            answer_to(chatting, "Fourth?", "another session now has its name")
            answer_to(chatting, "Fourth, again?", "Four.")
            assert not chatting.status().endswith("| moved")
        assert [asked(each) for each in endpoint.requests] == [
            ["First?"], ["Of another?"], ["First?", "Second?"], ["Third?"], ["Fourth, again?"],
        ]  # fmt: skip


def test_a_question_that_is_refused_makes_no_session_in_a_chat(home: Path) -> None:
    done = run_here("chat", "-L", "--no-web", home=home, stdin="What?\n/session\n")
    assert "there is nothing to answer from" in done.stderr
    assert "a new session" in done.stderr
    assert "no sessions yet" in run_here("session", "list", home=home).stderr


@pytest.mark.parametrize(("flags", "told"), [(("-d", "nope"), "nope"), (("--collection", "nope"), "'nope'")])
def test_documents_that_are_not_there_end_it_before_it_begins(flags: tuple[str, ...], told: str, home: Path) -> None:
    done, asked_once = run_here("chat", *flags, home=home), run_here(*flags, "What?", home=home)
    assert (done.returncode, asked_once.returncode) == (2, 2)
    assert told in done.stderr
    assert asked_once.stderr.endswith(done.stderr)
    assert "no sessions yet" in run_here("session", "list", home=home).stderr
