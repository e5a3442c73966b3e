"""The rounds of a chat: read an input, do what it says, say what went wrong, and go on."""

from __future__ import annotations

import os
from collections import deque
from typing import TYPE_CHECKING

from asky.cli.chat_commands import Leave, run_command, typed_question
from asky.cli.chat_reader import FAREWELLS, PROMPT, open_reader
from asky.cli.running import Stopped
from asky.cli.terminal import one_line
from asky.config.prompts import MAX_QUESTION_CHARS
from asky.errors import UsageError

if TYPE_CHECKING:
    from asky.cli.chat_talk import Talk

_INTERRUPTED = 130


class Chat:
    """A chat until its end. `code` is the exit code so far: that of the last error where nobody is there to read it."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self._terminal = talk.bench.terminal
        self._reader = open_reader(talk, os.environ)
        self._waiting: deque[str] = deque()
        self._draft = ""
        self._interrupts = 0
        self.code = 0

    def run(self) -> int:
        """The exit code, once the user has left.

        Raises `Stopped` for a signal that ends the process, and `BrokenPipeError` where nobody reads the answers.
        """
        if self._reader.is_interactive:
            self._greet()
        while (line := self._next()) is not None:  # a signal at the prompt is raised here
            try:
                self._round(line)
            except Leave:
                break
            except KeyboardInterrupt:  # the turn was over: as at an empty prompt
                if not self._reader.is_interactive:
                    raise
                self._interrupts = 1
        return 0 if self._reader.is_interactive else self.code

    def _round(self, line: str) -> None:
        """Do what `line` says, and tell what became of it."""
        try:
            self._do(line)
        except (Leave, BrokenPipeError):
            raise
        except EOFError:  # Ctrl-D at the prompt of a command
            self._terminal.note("nothing was asked")
        except (Stopped, KeyboardInterrupt) as stop:
            self._stopped(stop)
        except Exception as error:  # noqa: BLE001 - whatever befalls a turn, the conversation goes on
            self._tell(error)
        finally:
            self._terminal.out.flush()
        if self._reader.is_interactive:
            self._terminal.note("")

    def _greet(self) -> None:
        from asky.cli.choices import BUILTIN

        self._terminal.note("asky chat: /help lists the commands, Ctrl-D leaves")
        status = self._talk.status()
        if status.model == "extractive" and self._talk.choices.model is None:
            self._terminal.note(BUILTIN)
        session = self._talk.session
        if session is not None and session.messages:
            self._terminal.note(f"going on in the session {one_line(session.name)}: {session.messages} messages")

    def _next(self) -> str | None:
        """The next input that is not empty; `None` at the end."""
        while self._interrupts < 2:
            try:
                if self._interrupts:  # within reach of the second one, which may come at any moment
                    self._terminal.note("Ctrl-C again, or Ctrl-D, leaves")
                line = self._take_waiting() if self._waiting else self._read()
            except EOFError:
                return None
            except KeyboardInterrupt:
                self._interrupts += 1
                continue
            except UsageError as error:  # a line that is too long
                self._interrupts = 0
                self._tell(error)
                continue
            self._interrupts = 0
            if line.strip():
                return line.strip()
        return None

    def _take_waiting(self) -> str:
        """What was typed during a turn. A command is shown, as what follows is its; of a question that was said."""
        line = self._waiting.popleft()
        if line.startswith("/") or line in FAREWELLS:
            self._terminal.note(PROMPT + one_line(line))
        return line

    def _read(self) -> str:
        draft, self._draft = self._draft, ""
        return self._reader.read(draft)

    def _do(self, line: str) -> None:
        if line in FAREWELLS:
            raise Leave
        question: str | None = line
        has_failed = True
        if self._talk.keyboard is not None:
            self._talk.keyboard.hold()
        try:
            if line.startswith("/"):
                question = run_command(self._talk, self._reader, line)
            else:
                question = typed_question(self._talk, self._reader, line)
            if question is not None:
                self._ask(question)
            has_failed = False
        finally:
            self._keep_typed(
                "too late for this answer, so it is" if question else "typed meanwhile, and", not has_failed
            )

    def _ask(self, text: str) -> None:
        from asky.cli.questions import clean_question

        question = clean_question(text)
        try:
            self._talk.ask(question)
        finally:
            if not self._reader.is_interactive:
                self._terminal.line()

    def _keep_typed(self, why: str, asks: bool) -> None:
        """What was typed meanwhile and not taken: the next question, or where a turn has failed a text to edit."""
        if self._talk.keyboard is None:
            return
        left = self._talk.keyboard.leftover()
        late = "\n".join(left.notes)
        if any(len(each) == MAX_QUESTION_CHARS for each in (*left.notes, left.draft)):
            self._terminal.note(f"what was typed meanwhile is cut to {MAX_QUESTION_CHARS:,} characters")
        self._draft = left.draft
        if late and asks:
            self._terminal.note(f"{why} asked next: {one_line(late)}")
            self._waiting.append(late)
        elif late:
            self._draft = "\n".join([late, *([left.draft] if left.draft else [])])
        if asks:
            self._waiting.extend(left.commands)
        elif left.commands:
            self._terminal.note(f"not done after that: {one_line(', '.join(left.commands))}")

    def _stopped(self, stop: Stopped | KeyboardInterrupt) -> None:
        """Go on after Ctrl-C during a turn; every other signal, and Ctrl-C where nobody can go on, ends the chat."""
        is_interrupt = not isinstance(stop, Stopped) or stop.exit_code == _INTERRUPTED
        if not is_interrupt or not self._reader.is_interactive:
            raise stop
        answer = self._talk.answer
        was_kept = answer is not None and isinstance(stop, Stopped) and stop.value is answer
        has_text = answer is not None and was_kept and bool(answer.text.strip())
        kept = f"; what there is of the answer is kept as run {answer.run}" if answer and has_text else ""
        self._terminal.note(f"stopped{kept}")
        self._reader.go_on()

    def _tell(self, error: Exception) -> None:
        from asky.cli.failures import describe, render
        from asky.cli.surroundings import key_variables

        report = describe(
            error, environ=os.environ, key_variables=key_variables(), debug=bool(os.environ.get("ASKY_DEBUG"))
        )
        self.code = report.exit_code
        self._terminal.err.write(render(report, as_json=False))
        self._terminal.err.flush()
