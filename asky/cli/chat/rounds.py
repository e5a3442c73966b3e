"""The main loop of a chat: read an input, run it, report errors, and continue."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING

from asky.app.requests import BUILT_IN_ANSWERS
from asky.cli.ask_options import clean_question
from asky.cli.chat.bare_words import command_meant
from asky.cli.chat.commands import QuitChat, run_command, run_library_command, typed_question
from asky.cli.chat.reader import FAREWELLS, PROMPT, PipeReader, PlainReader, WholeLines
from asky.cli.context import Stopped
from asky.cli.failures import describe, key_variables, render
from asky.cli.terminal.terminal import is_smart, one_line
from asky.config.prompts import MAX_QUESTION_CHARS
from asky.errors import AskyError, UsageError
from asky.text.small_talk import SMALL_TALK_REPLY, YOU_ARE_WELCOME, is_thanks

if TYPE_CHECKING:
    from asky.cli.chat.reader import Reader
    from asky.cli.chat.screen import ChatScreen

_INTERRUPTED = 130
_LIBRARY_PROMPT = "papers> "


class Chat:
    """A chat until its end. `code` is the exit code so far: without a terminal, that of the last error."""

    def __init__(self, screen: ChatScreen) -> None:
        self._screen = screen
        self._terminal = screen.ctx.terminal
        self._reader = _open_reader(screen, os.environ)
        self._waiting: deque[str] = deque()
        self._draft = ""
        self._interrupts = 0
        self._hints: set[str] = set()
        self.code = 0

    def run(self) -> int:
        """Run the chat until the user leaves, and return the exit code.

        Raises `Stopped` for a signal that ends the process, and `BrokenPipeError` if nobody reads the answers.
        """
        if self._reader.is_interactive:
            self._greet()
        while (line := self._next()) is not None:  # a signal at the prompt is raised here
            try:
                self._run_input(line)
            except QuitChat:
                break
            except KeyboardInterrupt:  # after the turn: as at an empty prompt
                if not self._reader.is_interactive:
                    raise
                self._interrupts = 1
        return 0 if self._reader.is_interactive else self.code

    def _run_input(self, line: str) -> None:
        """Run `line`, and report errors."""
        try:
            self._run_line(line)
        except (QuitChat, BrokenPipeError):
            raise
        except EOFError:  # Ctrl-D at the prompt of a command
            self._terminal.note("nothing was asked")
        except (Stopped, KeyboardInterrupt) as stop:
            self._stopped(stop)
        except Exception as error:  # noqa: BLE001 - a failed turn must not end the conversation
            self._print_error(error)
        finally:
            self._terminal.out.flush()
        if self._reader.is_interactive:
            self._terminal.note("")

    def _greet(self) -> None:
        self._terminal.note("asky chat: /help lists the commands, Ctrl-D leaves")
        session = self._screen.conversation.session
        if session is not None and session.messages:
            self._terminal.note(f"continuing the session {one_line(session.name)}: {session.messages} messages")
        elif self._screen.conversation.lacks_model:
            self._terminal.note(BUILT_IN_ANSWERS)

    def _next(self) -> str | None:
        """Return the next input that is not empty, or `None` at the end."""
        while self._interrupts < 2:
            try:
                if self._interrupts:  # inside the try: a second Ctrl-C may come at any moment
                    self._terminal.note("Ctrl-C again, or Ctrl-D, leaves")
                line = self._next_waiting() if self._waiting else self._read()
            except EOFError:
                return None
            except KeyboardInterrupt:
                self._interrupts += 1
                continue
            except UsageError as error:  # a line that is too long
                self._interrupts = 0
                self._print_error(error)
                continue
            self._interrupts = 0
            if line.strip():
                return line.strip()
        return None

    def _next_waiting(self) -> str:
        """Return an input typed during a turn. A command is echoed here; a question has been reported already."""
        line = self._waiting.popleft()
        if line.startswith("/") or line in FAREWELLS:
            self._terminal.note(PROMPT + one_line(line))
        return line

    def _read(self) -> str:
        draft, self._draft = self._draft, ""
        return self._reader.read(draft, _LIBRARY_PROMPT if self._screen.in_library else PROMPT)

    def _run_line(self, line: str) -> None:
        if line in FAREWELLS:
            raise QuitChat
        question: str | None = line
        has_failed = True
        if self._screen.keyboard is not None:
            self._screen.keyboard.mute()
        try:
            if self._screen.in_library and not line.startswith("/"):
                question = None
                run_library_command(self._screen, self._reader, line)
            else:
                question = self._question(line)
            if question is not None:
                self._ask(question)
            has_failed = False
        finally:
            self._keep_typed("too late for this answer;" if question else "typed meanwhile;", not has_failed)

    def _question(self, line: str) -> str | None:
        """Return the question in `line`, or `None` if it is a command or small talk, which is answered here."""
        line = command_meant(line, self._screen.ctx.asky.config.prompts) or line
        if line.startswith("/"):
            return run_command(self._screen, self._reader, line)
        if self._screen.is_small_talk(line):
            self._terminal.line(YOU_ARE_WELCOME if is_thanks(line) else SMALL_TALK_REPLY)
            return None
        return typed_question(self._screen, self._reader, line)

    def _ask(self, text: str) -> None:
        question = clean_question(text)
        try:
            self._screen.ask(question)
        finally:
            if not self._reader.is_interactive:
                self._terminal.line()

    def _keep_typed(self, why: str, asks: bool) -> None:
        """Keep unused type-ahead as the next question or, after a failed turn, as a text to edit."""
        if self._screen.keyboard is None:
            return
        leftover = self._screen.keyboard.leftover()
        late_notes = "\n".join(leftover.notes)
        if any(len(each) == MAX_QUESTION_CHARS for each in (*leftover.notes, leftover.draft)):
            self._terminal.note(f"text typed meanwhile was cut to {MAX_QUESTION_CHARS:,} characters")
        self._draft = leftover.draft
        if late_notes and asks:
            self._terminal.note(f"{why} asked next: {one_line(late_notes)}")
            self._waiting.append(late_notes)
        elif late_notes:
            self._draft = "\n".join([late_notes, *([leftover.draft] if leftover.draft else [])])
        if asks:
            self._waiting.extend(leftover.commands)
        elif leftover.commands:
            self._terminal.note(f"not run after that: {one_line(', '.join(leftover.commands))}")

    def _stopped(self, stop: Stopped | KeyboardInterrupt) -> None:
        """Continue after Ctrl-C during a turn; end the chat for any other signal, or if it is not interactive."""
        is_interrupt = not isinstance(stop, Stopped) or stop.exit_code == _INTERRUPTED
        if not is_interrupt or not self._reader.is_interactive:
            raise stop
        answer = self._screen.answer
        is_stored = answer is not None and isinstance(stop, Stopped) and stop.value is answer
        has_text = answer is not None and is_stored and bool(answer.text.strip())
        suffix = f"; the partial answer is kept as run {answer.run}: /retry asks again" if answer and has_text else ""
        self._terminal.note(f"stopped{suffix}")
        self._reader.go_on()

    def _print_error(self, error: Exception) -> None:
        self._screen.ctx.shorten(error)
        if isinstance(error, AskyError) and error.hint is not None:
            hint, error.hint = error.hint, error.hint if error.hint not in self._hints else None
            self._hints.add(hint)  # told once in a chat
        report = describe(
            error, environ=os.environ, key_variables=key_variables(), debug=bool(os.environ.get("ASKY_DEBUG"))
        )
        self.code = report.exit_code
        self._terminal.err.write(render(report, as_json=False, stream=self._terminal.err))
        self._terminal.err.flush()


def _open_reader(screen: ChatScreen, environ: Mapping[str, str]) -> Reader:
    """Return the reader for the standard input of this process. Prompts go to stderr: stdout is for answers."""
    if not sys.stdin.isatty():
        return PipeReader(sys.stdin)
    if not is_smart(sys.stderr, environ):
        typing = screen.ctx.typing
        return PlainReader(sys.stdin, sys.stderr, typing.ahead if isinstance(typing, WholeLines) else None)
    from asky.cli.chat.prompt import PromptReader  # 0.13 s: only if lines can be edited

    return PromptReader(screen)
