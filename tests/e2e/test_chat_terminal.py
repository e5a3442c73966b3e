"""The terminal of a chat: what its keys do, what is typed while something else goes on, and how it is left."""

from __future__ import annotations

import os
import re
import signal
import stat
from pathlib import Path

import pytest

from tests.e2e.test_ask_models import environ_of
from tests.support.chatting import (
    ALT_ENTER,
    CTRL_C,
    CTRL_D,
    CTRL_J,
    CTRL_Z,
    ENTER,
    Chatting,
    answer_to,
    asked,
)
from tests.support.endpoint import Answer, Endpoint, Wire

pytestmark = pytest.mark.model

PROMPT_ENDS = "\x1b[?2004l"


@pytest.mark.extended
def test_a_line_that_comes_too_late_for_an_answer_is_the_next_question(home: Path) -> None:
    with (
        Endpoint(Answer("First.", wire=Wire(silent_before_headers=True)), "Second.") as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint)) as chatting,
    ):
        chatting.prompt()
        chatting.ask("Who?")
        chatting.see("asking priced")
        chatting.type("And why?" + ENTER)
        chatting.see("[1 note for the model]")
        endpoint.release()
        chatting.see("too late for this answer; asked next: And why?")
        chatting.see("Second.")
        chatting.prompt()
        assert asked(endpoint.requests[1]) == ["Who?", "And why?"]


@pytest.mark.extended
def test_commands_that_are_typed_during_a_turn_are_shown_and_done_after_it(home: Path) -> None:
    with (
        Endpoint(Answer("First.", wire=Wire(silent_before_headers=True))) as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint)) as chatting,
    ):
        chatting.prompt()
        chatting.ask("Who?")
        chatting.see("asking priced")
        chatting.type("/mode" + ENTER + "exit" + ENTER + "x")
        chatting.see("> x")
        endpoint.release()
        assert chatting.end() == 0
        rows = [row for row in chatting.rows() if row]
        assert rows[rows.index("First.") :][-3:] == ["> /mode", "the mode is standard", "> exit"]


def test_several_lines_are_one_question_however_they_are_typed(home: Path) -> None:
    with (
        Endpoint("Yes.") as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint)) as chatting,
    ):
        chatting.prompt()
        chatting.paste("one\r\ntwo\n")
        chatting.see(". two")
        chatting.type("three" + ALT_ENTER)
        chatting.type("four" + CTRL_J)
        chatting.type("five\\" + ENTER)
        chatting.type("six")
        chatting.see("six")
        chatting.type(ENTER)
        chatting.see("Yes.")
        chatting.prompt()
        assert asked(endpoint.requests[0]) == ["one\ntwo\nthree\nfour\nfive\nsix"]


def test_ctrl_c_clears_a_line_and_nothing_is_asked(home: Path) -> None:
    with (
        Endpoint("Yes.") as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint)) as chatting,
    ):
        chatting.prompt()
        chatting.type("half a question")
        chatting.see("> half a question")
        chatting.type(CTRL_C)
        chatting.prompt()
        answer_to(chatting, "Whole?", "Yes.")
        assert asked(endpoint.requests[0]) == ["Whole?"]


@pytest.mark.extended
def test_what_was_typed_comes_back_from_a_private_history_but_not_after_a_space(home: Path) -> None:
    with Endpoint("Yes.") as endpoint:
        environ = environ_of(endpoint)
        with Chatting("-m", "priced", home=home, environ=environ) as chatting:
            chatting.prompt()
            answer_to(chatting, "Kept?", "Yes.")
            answer_to(chatting, " secret?", "Yes.")
        file = home / "asky" / "state" / "chat_history"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert "Kept?" in file.read_text()
        assert "secret" not in file.read_text()
        with Chatting("-m", "priced", home=home, environ=environ) as chatting:
            chatting.prompt()
            chatting.type("\x1b[A")
            chatting.see("> Kept?")


def test_commands_complete_and_unknown_ones_name_the_nearest(home: Path) -> None:
    with (
        Endpoint("Yes.") as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint)) as chatting,
    ):
        chatting.prompt()
        chatting.type("/sou")
        chatting.see("list the sources of the last answer")
        chatting.type("\t")
        chatting.see("> /sources")
        chatting.type(ENTER)
        chatting.see("no question has been asked in this chat yet")
        chatting.prompt()
        answer_to(chatting, "/soruces", "did you mean /sources?")
        answer_to(chatting, "/model nosuch", "asky: ")
        answer_to(chatting, "/web maybe", "/web on or /web off")
        answer_to(chatting, "/mode research", "the mode is now research")
        assert "priced | research | web" in chatting.status()
        answer_to(chatting, "/model extractive", "now answering with extractive")
        assert "extractive | research" in chatting.status()
        chatting.ask("/help")
        chatting.see("/retry")
        chatting.prompt()
        chatting.ask("/quit")
        assert chatting.end() == 0
        assert endpoint.requests == []


def test_a_narrow_terminal_shows_the_facts_that_fit_and_a_resize_more_of_them(home: Path) -> None:
    with (
        Endpoint("Yes.") as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint), columns=22, rows=8) as chatting,
    ):
        chatting.see("priced | standard")
        assert "web" not in chatting.text().split("> ")[-1]
        chatting.resize(20, 90)
        chatting.see("| new session")
        assert chatting.status() == "priced | standard | web addresses only | 0 tokens | new session"


@pytest.mark.few(1)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_at_the_prompt_ends_the_chat_with_its_code(number: signal.Signals, home: Path) -> None:
    with Endpoint("Yes.") as endpoint, Chatting("-m", "priced", home=home, environ=environ_of(endpoint)) as chatting:
        chatting.prompt()
        chatting.signal(number)
        assert chatting.end() == 128 + number
        assert "Traceback" not in chatting.text()


def test_a_dumb_terminal_gets_a_plain_prompt(home: Path) -> None:
    with (
        Endpoint("Yes.") as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint, TERM="dumb")) as chatting,
    ):
        chatting.see("\n>")
        chatting.type("one\\\n")
        chatting.see("\n.")
        chatting.type("two\n")
        chatting.see("Yes.")
        chatting.type(CTRL_D)
        assert chatting.end() == 0
        assert asked(endpoint.requests[0]) == ["one\ntwo"]
        assert "\x1b" not in chatting.sent


@pytest.mark.extended
def test_no_color_and_a_locale_without_utf8_are_respected(home: Path) -> None:
    environ = {"NO_COLOR": "1", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    with (
        Endpoint("A **bold** yes.") as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint, **environ)) as chatting,
    ):
        chatting.prompt()
        answer_to(chatting, "Well?", "bold")
        assert not re.search(r"\x1b\[(?:[0-9;]*;)?(?:3[0-9]|4[0-9]|9[0-7])m", chatting.sent)


@pytest.mark.extended
def test_a_note_to_an_answer_that_was_stopped_waits_in_the_prompt(home: Path) -> None:
    with (
        Endpoint(Answer("Never.", wire=Wire(silent_before_headers=True)), "Two.") as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint)) as chatting,
    ):
        chatting.prompt()
        chatting.ask("First?")
        chatting.see("asking priced")
        chatting.type("be brief" + ENTER + "and kind")
        chatting.see("[1 note for the model] and kind")
        endpoint.wait_for_requests(1)
        chatting.interrupt()
        chatting.see("stopped")
        chatting.see(". and kind")
        assert "> be brief" in chatting.text()
        assert len(endpoint.requests) == 1


def test_a_turn_that_was_stopped_and_continued_by_the_shell_goes_on_and_leaves_its_terminal_in_order(
    home: Path,
) -> None:
    held = Answer("First.", wire=Wire(silent_before_headers=True))
    with Endpoint(held, "Second.") as endpoint:
        environ = environ_of(endpoint)
        with Chatting("-m", "priced", home=home, environ=environ, in_shell=True) as chatting:
            chatting.prompt()
            chatting.ask("Who?")
            chatting.see("asking priced")
            chatting.type(CTRL_Z)
            chatting.see("Stopped")
            chatting.shell("bg; stty -ixon; echo mark$((40+2))")
            chatting.see("mark42")  # the shell gets what is typed, although the turn goes on
            chatting.type("fg" + ENTER)
            chatting.see_that(lambda: not chatting.echoes(), "the terminal without an echo")
            chatting.type("And why?")
            chatting.see("> And why?")
            chatting.type(ENTER)
            chatting.see("[1 note for the model]")
            endpoint.release()
            chatting.see("Second.")
            chatting.prompt()
            chatting.type(CTRL_D)
            chatting.shell("stty -a; echo mark$((50+3))")
            chatting.see("mark53")
            modes = chatting.text().rpartition("speed")[2].split()
        assert {"echo", "icanon", "isig", "-noflsh", "-ixon"} <= set(modes)
        assert asked(endpoint.requests[1]) == ["Who?", "And why?"]


@pytest.mark.extended
def test_what_is_typed_just_before_ctrl_c_waits_in_the_prompt(home: Path) -> None:
    with (
        Endpoint(Answer("Never.", wire=Wire(silent_before_headers=True))) as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint)) as chatting,
    ):
        chatting.prompt()
        chatting.ask("First?")
        chatting.see("asking priced")
        chatting.type("and the sun?" + CTRL_C)  # in one piece: the signal comes before anything has read the text
        chatting.see("stopped")
        chatting.see_that(lambda: chatting.rows()[chatting.cursor_row()] == "> and the sun?", "the draft")


def test_nothing_is_echoed_between_a_question_and_its_turn_nor_lost(home: Path) -> None:
    with (
        Endpoint(Answer("First.", wire=Wire(silent_before_headers=True)), "Second.") as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint)) as chatting,
    ):
        chatting.prompt()
        chatting.type("Who?" + ENTER)
        chatting.see_that(lambda: PROMPT_ENDS in chatting.sent, "the end of the prompt")
        chatting.type("And why?")  # what answers is only being loaded now
        chatting.see("asking priced")
        chatting.see("> And why?")
        chatting.type(ENTER)
        chatting.see("[1 note for the model]")
        assert not re.search("(?<!> )And", chatting.sent)  # it was shown in the line that tells the progress alone
        endpoint.release()
        chatting.see("Second.")
        assert asked(endpoint.requests[1]) == ["Who?", "And why?"]


@pytest.mark.few(1)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_during_a_turn_leaves_the_terminal_in_order(number: signal.Signals, home: Path) -> None:
    with Endpoint(Answer("Never.", wire=Wire(silent_before_headers=True))) as endpoint:
        environ = environ_of(endpoint)
        with Chatting("-m", "priced", home=home, environ=environ, in_shell=True) as chatting:
            chatting.prompt()
            chatting.ask("Who?")
            chatting.see("asking priced")
            os.kill(_job_of(chatting), number)
            chatting.shell("echo status $?; stty -a; echo mark$((50+3))")
            chatting.see("mark53")
            shown = chatting.text()
        assert f"status {128 + number}" in shown
        assert {"echo", "icanon", "isig", "-noflsh"} <= set(shown.rpartition("speed")[2].split())


@pytest.mark.extended
def test_a_second_signal_leaves_the_terminal_in_order(home: Path) -> None:
    with Endpoint(Answer("Never.", wire=Wire(silent_before_headers=True))) as endpoint:
        environ = environ_of(endpoint)
        with Chatting("-m", "priced", home=home, environ=environ, in_shell=True) as chatting:
            chatting.prompt()
            chatting.ask("Who?")
            chatting.see("asking priced")
            os.kill(_job_of(chatting), signal.SIGINT)
            os.kill(_job_of(chatting), signal.SIGTERM)
            chatting.shell("echo status $?; stty -a; echo mark$((50+3))")
            chatting.see("mark53")
            shown = chatting.text()
        assert re.search("status (130|143)", shown)
        assert {"echo", "icanon", "isig", "-noflsh"} <= set(shown.rpartition("speed")[2].split())


@pytest.mark.extended
def test_on_a_dumb_terminal_ctrl_c_drops_the_line_that_it_breaks_off_and_none_before_it(home: Path) -> None:
    with (
        Endpoint(Answer("Never.", wire=Wire(silent_before_headers=True)), "Second.", "Third.") as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint, TERM="dumb")) as chatting,
    ):
        chatting.see("\n>")
        chatting.type("Who?\n")
        endpoint.wait_for_requests(1)
        chatting.type("And why?\nno, st" + CTRL_C)
        chatting.see("stopped")
        chatting.see("> And why?")
        chatting.see("Second.")
        chatting.type("Third?\n")
        chatting.see_that(lambda: len(endpoint.requests) == 3, "the third question")
        assert asked(endpoint.requests[1])[-1] == "And why?"
        assert asked(endpoint.requests[2])[-1] == "Third?"


def _job_of(chatting: Chatting) -> int:
    shell = chatting.child.pid
    return int(Path(f"/proc/{shell}/task/{shell}/children").read_text().split()[0])


@pytest.mark.extended
def test_ctrl_c_while_the_history_is_searched_ends_the_search_alone(home: Path) -> None:
    with (
        Endpoint("One.", "Two.") as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint)) as chatting,
    ):
        chatting.prompt()
        answer_to(chatting, "First?", "One.")
        chatting.type("\x12Fir")
        chatting.see("I-search backward: Fir")
        chatting.type(CTRL_C)
        chatting.prompt()
        chatting.type("\x12Fir")
        chatting.see_that(lambda: chatting.text().rstrip().splitlines()[-2] == "I-search backward: Fir", "the search")
        chatting.type(ENTER)
        chatting.see_that(lambda: chatting.rows()[chatting.cursor_row()] == "> First?", "what was found")
        chatting.type(" Again?")
        chatting.see("Again?")
        chatting.type(ENTER)
        chatting.see("Two.")
        chatting.prompt()
        assert len(endpoint.requests) == 2


@pytest.mark.extended
def test_a_text_that_was_edited_is_in_the_prompt_and_not_asked_yet(home: Path) -> None:
    editor = home / "editor"
    editor.write_text('#!/bin/sh\nprintf "Edited?" > "$1"\n')
    editor.chmod(0o700)
    with (
        Endpoint("One.") as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint, EDITOR=str(editor))) as chatting,
    ):
        chatting.prompt()
        chatting.type("draft\x18\x05")
        chatting.see_that(lambda: chatting.rows()[chatting.cursor_row()] == "> Edited?", "the edited text")
        assert endpoint.requests == []
        chatting.type(ENTER)
        chatting.see("One.")


@pytest.mark.extended
def test_an_editor_that_fails_is_told_and_leaves_the_text(home: Path) -> None:
    with (
        Endpoint("One.") as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint, EDITOR="false")) as chatting,
    ):
        chatting.prompt()
        chatting.type("draft\x18\x05")
        chatting.see("the editor 'false' failed with status 1")
        chatting.see_that(lambda: chatting.rows()[chatting.cursor_row()] == "> draft", "the text")
        assert "Press ENTER" not in chatting.text()


@pytest.mark.extended
def test_what_is_typed_while_documents_are_read_is_there_afterwards(home: Path, docs: Path) -> None:
    with (
        Endpoint("Yes.") as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint)) as chatting,
    ):
        chatting.prompt()
        chatting.ask(f"/docs {docs}")
        chatting.see("read  ")
        chatting.type("half a")
        chatting.see("files searchable")
        chatting.see_that(lambda: chatting.rows()[chatting.cursor_row()] == "> half a", "the draft")
        chatting.type(" question?")
        chatting.see("half a question?")
        chatting.type(ENTER)
        chatting.see("Yes.")
        assert asked(endpoint.requests[0])[0].startswith("half a question?\n\n")
