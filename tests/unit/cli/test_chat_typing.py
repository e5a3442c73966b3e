"""The keyboard of a running turn, on a real pseudo-terminal."""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pexpect  # type: ignore[import-untyped] # it has no types
import pytest

from asky.cli.chat.reader import WholeLines
from asky.cli.chat.type_ahead import MAX_NOTE_CHARS, Leftover, TypeAhead
from asky.cli.context import Stopped
from asky.cli.terminal.question import YesNo
from tests.support.asky_command import clean_environment


class Typist:
    """A keyboard, the terminal that it belongs to, and what was shown of the typing."""

    def __init__(self) -> None:
        self.user, self.terminal = os.openpty()
        self.shown: list[str] = []
        self.keyboard = TypeAhead(self.terminal, self.shown.append)

    def type(self, text: str) -> None:
        os.write(self.user, text.encode())
        self.keyboard.poll()

    def local_modes(self) -> int:
        return int(termios.tcgetattr(self.terminal)[3])


@pytest.fixture
def typist() -> Iterator[Typist]:
    made = Typist()
    yield made
    os.close(made.user)
    os.close(made.terminal)


def test_lines_are_notes_each_of_which_is_taken_once(typist: Typist) -> None:
    with typist.keyboard.listening():
        typist.type("only the moon\rand the s")
        assert typist.shown[-1] == "[1 note for the model] and the s"
        typist.type("ea\r")
        assert typist.shown[-1] == "[2 notes for the model] "
        assert typist.keyboard.take() == ("only the moon", "and the sea")
        assert typist.keyboard.take() == ()
        typist.type("x")
        assert typist.shown[-1] == "x"


def test_a_line_is_edited_as_on_a_terminal(typist: Typist) -> None:
    with typist.keyboard.listening():
        typist.type("größe\x7f\x7fs\r")
        typist.type("a whole line\x15another one\x17two\r")
        typist.type("\x1b[A\x1b[D\tup\x1b[1;1R\r")  # arrows, and where the cursor is: a late reply of the terminal
    assert typist.keyboard.take() == ("grös", "another two", "up")


def test_a_character_in_two_pieces_is_one(typist: Typist) -> None:
    with typist.keyboard.listening():
        for byte in "über\r".encode():
            os.write(typist.user, bytes([byte]))
            typist.keyboard.poll()
    assert typist.keyboard.take() == ("über",)


def test_a_paste_of_several_lines_is_one_note(typist: Typist) -> None:
    with typist.keyboard.listening():
        typist.type("\x1b[200~one\r\ntwo\x1b[201~\r")
        typist.type("\x1b[200~three\nfour\x1b[201~\x17five\r")
    assert typist.keyboard.take() == ("one\ntwo", "three\nfive")
    wanted, told = b"\x1b[?2004h\x1b[?2004l", b""  # the terminal marks pastes meanwhile
    while len(told) < len(wanted):  # it may come in one piece or in two
        told += os.read(typist.user, 100)
    assert told == wanted


def test_a_paste_that_the_end_comes_in_between_is_taken_whole(typist: Typist) -> None:
    lines = "\r".join(f"line {number} of a paste" for number in range(800))  # four times what a terminal holds
    with ThreadPoolExecutor(1) as terminal:
        with typist.keyboard.listening():
            typist.type("\x1b[200~line")
            sent = terminal.submit(_write, typist.user, lines[len("line") :] + "\x1b[201~")
        sent.result()
    assert typist.keyboard.leftover() == Leftover((), (), lines.replace("\r", "\n")[:MAX_NOTE_CHARS])
    assert not select.select([typist.terminal], [], [], 0)[0]


def test_a_paste_without_an_end_keeps_no_one_waiting(typist: Typist) -> None:
    with typist.keyboard.listening():
        typist.type("before\x1b[200~half")
    assert typist.keyboard.leftover() == Leftover((), (), "before")


def _write(descriptor: int, text: str) -> None:
    data = text.encode()
    while data:
        data = data[os.write(descriptor, data) :]


def test_what_nobody_takes_is_left_over_commands_apart(typist: Typist) -> None:
    with typist.keyboard.listening():
        typist.type("a note\r/cost\r  \rexit\rhalf")
    assert typist.keyboard.leftover() == Leftover(("a note",), ("/cost", "exit"), "half")
    assert typist.keyboard.leftover() == Leftover()


def test_a_note_has_an_end(typist: Typist) -> None:
    with typist.keyboard.listening():
        for _ in range(MAX_NOTE_CHARS // 1000 + 1):
            typist.type("x" * 1000)  # a terminal holds 4,096 bytes
        assert typist.shown[-1].startswith("[limit reached] xxx")
        typist.type("\r")
    assert [len(note) for note in typist.keyboard.take()] == [MAX_NOTE_CHARS]


def test_the_terminal_is_as_before_at_the_end_and_ctrl_c_stays_a_signal(typist: Typist) -> None:
    before = typist.local_modes()
    with typist.keyboard.listening():
        assert not typist.local_modes() & (termios.ECHO | termios.ICANON)
        assert typist.local_modes() & termios.ISIG
    assert typist.local_modes() == before
    assert typist.shown[-1] == ""


def test_a_held_terminal_is_quiet_between_turns_too_and_as_before_where_one_begins(typist: Typist) -> None:
    before = typist.local_modes()
    with typist.keyboard.capture():
        assert not typist.local_modes() & (termios.ECHO | termios.ICANON)
        turn = typist.keyboard.listening()
        assert typist.local_modes() == before  # what whoever leaves at once gets back
        with turn:
            typist.type("heard")
        assert not typist.local_modes() & (termios.ECHO | termios.ICANON)
    assert typist.local_modes() == before
    assert typist.keyboard.leftover() == Leftover((), (), "heard")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_ends_the_process_leaves_a_held_terminal_as_it_was(
    number: signal.Signals, typist: Typist
) -> None:
    before = typist.local_modes()
    with pytest.raises(Stopped) as raised, typist.keyboard.capture():
        os.kill(os.getpid(), number)
    assert raised.value.exit_code == 128 + number
    assert typist.local_modes() == before
    assert signal.getsignal(number) == signal.SIG_DFL


def test_the_modes_that_a_shell_has_set_meanwhile_are_quiet_again_and_are_put_back_at_the_end(typist: Typist) -> None:
    with typist.keyboard.listening():
        shell = termios.tcgetattr(typist.terminal)
        shell[0] &= ~termios.IXON
        shell[3] |= termios.ECHO | termios.ICANON
        termios.tcsetattr(typist.terminal, termios.TCSANOW, shell)
        typist.keyboard.poll()
        assert not typist.local_modes() & (termios.ECHO | termios.ICANON)
        typist.type("heard")
        assert typist.shown[-1] == "heard"
    assert termios.tcgetattr(typist.terminal)[:4] == shell[:4]


def test_what_was_typed_just_before_the_end_is_left_over_too_even_before_ctrl_c(typist: Typist) -> None:
    with typist.keyboard.listening():
        os.write(typist.user, b"a note\rhalf\x03")
    assert typist.keyboard.leftover() == Leftover(("a note",), (), "half")


def test_the_terminal_is_as_before_after_an_accident(typist: Typist) -> None:
    before = typist.local_modes()
    with pytest.raises(ValueError, match="accident"), typist.keyboard.listening():
        raise ValueError("accident")
    assert typist.local_modes() == before


@pytest.mark.parametrize(("line", "is_yes"), [("y", True), ("YES ", True), ("n", False), ("no", False), ("", False)])
def test_a_question_is_answered_by_the_next_line(line: str, is_yes: bool, typist: Typist) -> None:
    shown: list[str] = []
    question = YesNo(lambda: shown.append("Write this?"))
    with typist.keyboard.listening(), typist.keyboard.asking(question):
        assert not shown
        typist.keyboard.poll()
        typist.type(f"{line}\ra note\r")
        assert question.wait() == is_yes
    assert shown == ["Write this?"]
    assert typist.keyboard.leftover() == Leftover(("a note",), (), "")


def test_what_was_typed_before_a_question_or_is_no_answer_is_a_note(typist: Typist) -> None:
    question = YesNo(lambda: None)
    with typist.keyboard.listening(), typist.keyboard.asking(question):
        typist.type("y\rwh")  # in time to be read before the question is shown
        typist.type("y\rmaybe\r/cost\r")
        question.give_up()
        assert not question.wait()
        typist.type("y\r")
    assert typist.keyboard.leftover() == Leftover(("y", "why", "maybe", "y"), ("/cost",), "")


def test_a_plain_terminal_answers_a_question_too_and_keeps_other_lines() -> None:
    user, terminal = os.openpty()
    keyboard, question = WholeLines(terminal), YesNo(lambda: None)
    with keyboard.listening():
        os.write(user, b"y\n")
        keyboard.poll()
        with keyboard.asking(question):
            keyboard.poll()
            os.write(user, b"well\nyes\nnext\n")
            keyboard.poll()
            assert question.wait()
    assert [*keyboard.ahead] == [b"y\n", b"well\n", b"next\n"]
    os.close(user)
    os.close(terminal)


def test_a_closed_terminal_is_no_error() -> None:
    user, terminal = os.openpty()
    keyboard = TypeAhead(terminal, lambda _: None)
    os.close(user)
    os.close(terminal)
    with keyboard.listening():
        keyboard.poll()
    assert keyboard.take() == ()


PROGRAM = """
import sys
import anyio
from asky.cli.chat.type_ahead import TypeAhead
from asky.cli.context import run_async

async def is_stuck():
    with anyio.CancelScope(shield=True):
        print("ready", flush=True)
        await anyio.sleep_forever()

keyboard = TypeAhead(sys.stdin.fileno(), lambda _: None)
run_async(is_stuck, tick=keyboard.poll, meanwhile=keyboard.listening(), grace_s=30)
"""


def test_a_second_ctrl_c_leaves_at_once_with_the_echo_back(tmp_path: Path) -> None:
    # the shell looks at its terminal after the program has ended
    shell = f"{sys.executable} -c '{PROGRAM}'; echo status $?; stty -a"
    child = pexpect.spawn("/bin/sh", ["-c", shell], encoding="utf-8", env=clean_environment(tmp_path), timeout=60)
    child.expect("ready")
    assert not child.getecho()
    os.kill(_child_of(child.pid), signal.SIGINT)
    os.kill(_child_of(child.pid), signal.SIGTERM)
    child.expect("status (130|143)")
    child.expect(pexpect.EOF)
    assert " echo " in child.before
    assert " icanon" in child.before
    assert "-icanon" not in child.before
    child.close()


def _child_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
