"""The editing prompt of `asky chat`: several lines, history, completion, and the status below it."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition, is_searching
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.input import create_input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.output import ColorDepth, create_output

from asky.cli.chat.editor import edit_text
from asky.cli.chat.reader import PROMPT
from asky.cli.chat.status import status_line
from asky.cli.context import Stopped
from asky.cli.terminal.terminal import one_line
from asky.config.paths import ensure_private_dir, resolve_paths, write_private
from asky.config.prompts import MAX_QUESTION_CHARS
from asky.errors import AskyError

if TYPE_CHECKING:
    from asky.cli.chat.screen import ChatScreen

HISTORY_FILE = "chat_history"
_MAX_HISTORY_BYTES = 1 << 20
_MENU_ROWS = 6
_SPECIAL = re.compile(r"""[\s\\"']""")  # in an unquoted path


class PromptReader:
    """Reads an input with prompt_toolkit, on stderr."""

    is_interactive = True
    can_prefill = True

    def __init__(self, screen: ChatScreen) -> None:
        self._screen = screen
        self._is_command_prompt = False
        output = create_output(stdout=sys.stderr)
        depth = None if screen.ctx.terminal.colored else ColorDepth.DEPTH_1_BIT
        self._session: PromptSession[str] = PromptSession(
            multiline=True,
            history=_history(screen),
            completer=ChatCompleter(screen),
            complete_while_typing=Condition(lambda: self._session.default_buffer.text.startswith("/")),
            reserve_space_for_menu=_MENU_ROWS,
            key_bindings=_bindings(lambda: self._is_command_prompt),
            bottom_toolbar=lambda: (
                " " + status_line(screen.conversation.status(), max(output.get_size().columns - 2, 10))
            ),
            prompt_continuation=lambda width, _row, _wrapped: ". ".rjust(width),
            enable_suspend=True,
            color_depth=depth,
            input=create_input(sys.stdin),
            output=output,
        )

    def read(self, prefill: str = "", prompt: str = PROMPT) -> str:
        """See `Reader.read`."""
        self._is_command_prompt = prompt != PROMPT
        with self._ended_by_signals():
            return self._session.prompt(prompt, default=prefill)

    def go_on(self) -> None:
        """See `Reader.go_on`; text typed meanwhile is in the type-ahead."""

    @contextmanager
    def _ended_by_signals(self) -> Iterator[None]:
        """End the prompt on SIGTERM and SIGHUP, which restores the terminal, and then raise `Stopped`."""
        app = self._session.app
        received: list[int] = []

        def stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signature of a handler
            received.append(number)
            if app.loop is None or not app.is_running:
                raise Stopped(number)
            app.loop.call_soon_threadsafe(leave, number)  # raised here, it would be lost in the event loop

        def leave(number: int) -> None:
            if app.future is not None and not app.future.done():
                app.exit(exception=Stopped(number))

        handled = [each for each in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(each) != signal.SIG_IGN]
        before = [(number, signal.signal(number, stop)) for number in handled]
        try:
            yield
        finally:
            for number, handler in before:
                signal.signal(number, handler)
        if received:  # just after Enter
            raise Stopped(received[0])


def _bindings(is_command_prompt: Callable[[], bool]) -> KeyBindings:
    """Return the key bindings.

    Enter sends, unless the line ends with a backslash; Alt-Enter and Ctrl-J start a new line. Ctrl-C clears a line, or
    leaves an empty one; at the prompt of a command it does what Ctrl-D does. While the history is searched, these keys
    end the search, as prompt_toolkit defines it.
    """
    bindings = KeyBindings()

    @bindings.add("enter", filter=~is_searching)
    def _enter(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.document.is_cursor_at_the_end and buffer.text.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.newline(copy_margin=False)
        else:
            buffer.validate_and_handle()

    @bindings.add(Keys.Vt100MouseEvent)
    def _no_mouse(event: KeyPressEvent) -> None:
        """Ignore mouse reports: what looks like one is a colour code in pasted text."""

    @bindings.add("escape", "-")
    def _no_negative_count(event: KeyPressEvent) -> None:
        """Ignore this key: with prompt_toolkit's own binding, a following Up or Down fails in the event loop."""

    @bindings.add("escape", "enter", filter=~is_searching)
    @bindings.add("c-j", filter=~is_searching)
    def _newline(event: KeyPressEvent) -> None:
        event.current_buffer.newline(copy_margin=False)

    @bindings.add("c-x", "c-e", filter=~is_searching)
    async def _edit(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        edited = await run_in_terminal(lambda: _edited(buffer.text), in_executor=True)
        buffer.document = Document(edited)  # not sent: leaving the editor is no confirmation

    @bindings.add("c-c", filter=~is_searching)
    @bindings.add("<sigint>")
    def _interrupt(event: KeyPressEvent) -> None:
        if not event.app.is_running or event.app.is_done:  # just after Enter: the input has been sent
            return
        if is_command_prompt():
            event.app.exit(exception=EOFError(), style="class:aborting")
        elif event.current_buffer.text:
            event.current_buffer.reset()
        else:
            event.app.exit(exception=KeyboardInterrupt(), style="class:aborting")

    return bindings


def _edited(text: str) -> str:
    """Return `text` as edited in the user's editor; if that fails, print the error and return `text`."""
    try:
        return edit_text(text, os.environ)
    except (AskyError, OSError) as error:
        sys.stderr.write(f"asky: {one_line(str(error))}\n")
        return text


class PrivateHistory(FileHistory):
    """A history file that only its user can read. Input that begins with a space is not saved."""

    def __init__(self, file: Path) -> None:
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
        file.chmod(0o600)
        if file.stat().st_size > _MAX_HISTORY_BYTES:
            _halve(file)
        super().__init__(str(file))

    def append_string(self, string: str) -> None:
        """Add an input to the history, in memory and in the file."""
        if not string.startswith(" "):
            super().append_string(string)

    def store_string(self, string: str) -> None:
        """Write an input to the file, unless it is longer than a question may be or the file cannot be written."""
        if len(string) > MAX_QUESTION_CHARS:  # a pasted book would displace all other entries
            return
        try:
            super().store_string(string.encode("utf-8", "replace").decode())  # what was pasted may not be UTF-8
        except OSError:
            return


def _halve(file: Path) -> None:
    """Drop the older half of a history file; an entry begins after an empty line."""
    text = file.read_text("utf-8", "replace")
    start = text.find("\n\n", len(text) // 2)
    write_private(file, text[start + 1 :] if start >= 0 else "")


def _history(screen: ChatScreen) -> History:
    try:
        folder = ensure_private_dir(resolve_paths(os.environ).state)
        return PrivateHistory(folder / HISTORY_FILE)
    except (AskyError, OSError) as error:
        screen.ctx.terminal.note(f"history is not saved: {one_line(str(error))}")
        return InMemoryHistory()


class ChatCompleter(Completer):
    """Completes commands and saved prompts at the beginning, and the arguments of some commands."""

    def __init__(self, screen: ChatScreen) -> None:
        self._screen = screen
        self._paths = PathCompleter(expanduser=True)
        config, sessions = screen.ctx.asky.config, screen.ctx.asky.sessions
        self._words: dict[str, Callable[[], Iterable[str]]] = {
            "/model": lambda: config.models,
            "/mode": lambda: ("research", "standard", "lean"),
            "/web": lambda: ("on", "off"),
            "/session": lambda: sessions.names(),
        }

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Yield completions for the word before the cursor."""
        text = document.text_before_cursor
        if not text.startswith("/") or "\n" in text:
            return
        command, space, rest = text.partition(" ")
        if not space:
            yield from self._commands(command)
        elif command in ("/docs", "/save", "/export"):
            yield from self._path_endings(rest, complete_event)
        elif command in self._words:
            for word in self._words[command]():
                if word.startswith(rest):
                    yield Completion(word, -len(rest), display=one_line(word))

    def _path_endings(self, typed: str, complete_event: CompleteEvent) -> Iterable[Completion]:
        word, is_quoted = _last_word(typed)
        for each in self._paths.get_completions(Document(word, len(word)), complete_event):
            text = each.text if is_quoted else _SPECIAL.sub(r"\\\g<0>", each.text)
            yield Completion(text, display=one_line(each.display_text))

    def _commands(self, beginning: str) -> Iterable[Completion]:
        from asky.cli.chat.commands import COMMANDS

        for command in COMMANDS.values():
            if command.slash_name.startswith(beginning):
                yield Completion(command.slash_name, -len(beginning), display_meta=command.help_text)
        for name in self._screen.ctx.asky.config.prompts:
            if f"/{name}".startswith(beginning) and name not in COMMANDS:
                yield Completion(f"/{name}", -len(beginning), display_meta="saved prompt")


def _last_word(typed: str) -> tuple[str, bool]:
    """Return the last word of a line as a shell would read it, and whether a quote is open in it."""
    word, quote, is_escaped = "", "", False
    for character in typed:
        if is_escaped or (quote and character not in (quote, "\\")):
            word, is_escaped = word + character, False
        elif character == "\\" and quote != "'":
            is_escaped = True
        elif character == quote:
            quote = ""
        elif character in "\"'":
            quote = character
        else:
            word = "" if character.isspace() else word + character
    return word, bool(quote)
