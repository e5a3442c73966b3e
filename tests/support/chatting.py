"""A user of `asky chat` at a real pseudo-terminal, who sees what a screen would show."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

import pexpect  # type: ignore[import-untyped] # it has no types
import pyte

from tests.support.asky_command import ASKY, clean_environment
from tests.support.endpoint import Request

ENTER, ALT_ENTER, CTRL_C, CTRL_D, CTRL_J, CTRL_U, CTRL_Z = "\r", "\x1b\r", "\x03", "\x04", "\n", "\x15", "\x1a"
SHELL = ("/bin/bash", "--norc", "--noprofile", "--noediting", "-i")
_CHUNK = 65_536
_WAIT_S = 300


class Chatting:
    """The process `asky chat ARGUMENTS`; use it as a context manager.

    What it prints goes to a screen, and rows that scroll off are kept. It is killed at the end if it still runs.
    With `in_shell` it is a job of an interactive shell, whose prompt is `$ `.
    """

    def __init__(
        self,
        *arguments: str,
        home: Path,
        environ: Mapping[str, str] | None = None,
        rows: int = 40,
        columns: int = 100,
        command: Sequence[str] = ("chat",),
        program: Sequence[str] = ASKY,
        in_shell: bool = False,
    ) -> None:
        self.screen = pyte.HistoryScreen(columns, rows, history=10_000, ratio=1)
        self.sent = ""
        self._feed = pyte.Stream(self.screen)
        environment = {"TERM": "xterm-256color", "PS1": "$ ", **(environ or {})}
        line = [*program, *command, *arguments]
        started = list(SHELL) if in_shell else line
        self.child = pexpect.spawn(
            started[0],
            started[1:],
            env=clean_environment(home, environment),
            encoding="utf-8",
            codec_errors="replace",
            dimensions=(rows, columns),
            timeout=_WAIT_S,
            cwd=str(home),
        )
        self.child.delaybeforesend = None
        self.screen.write_process_input = self.child.send  # answers the question where the cursor is
        if in_shell:
            self.shell(shlex.join(line))

    def __enter__(self) -> Chatting:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.child.close(force=True)

    def type(self, text: str) -> None:
        """Press the keys of `text`."""
        self.child.send(text)

    def ask(self, text: str) -> None:
        """Type `text`, and Enter once the screen shows it: keys that come in one piece may be one key to it."""
        self.type(text)
        self.see(text.splitlines()[-1][-20:] if text else "")
        self.type(ENTER)

    def shell(self, line: str) -> None:
        """Have the shell, which is at its prompt, do what `line` says."""
        self.see_that(lambda: self.rows()[self.cursor_row()].endswith("$"), "the prompt of the shell")
        self.type(line + ENTER)

    def echoes(self) -> bool:
        """Whether the terminal shows what is typed by itself."""
        return bool(self.child.getecho())

    def paste(self, text: str) -> None:
        """What a terminal sends for a paste."""
        self.child.send(f"\x1b[200~{text}\x1b[201~")

    def rows(self) -> list[str]:
        """All rows, those that have scrolled off too, without blanks at their ends."""
        width = self.screen.columns
        off = ["".join(row[column].data for column in range(width)) for row in self.screen.history.top]
        return [row.rstrip() for row in (*off, *self.screen.display)]

    def text(self) -> str:
        """All rows in one text."""
        return "\n".join(self.rows())

    def see(self, text: str) -> None:
        """Wait until `text` is on the screen or has scrolled off it."""
        self.see_that(lambda: text in self.text(), repr(text))

    def see_that(self, holds: Callable[[], bool], what: str) -> None:
        """Wait until `holds` says so; each piece of output is a reason to look again."""
        while not holds():
            try:
                self._read()
            except (pexpect.TIMEOUT, pexpect.EOF) as error:
                raise AssertionError(f"never seen: {what}; the screen:\n{self.text()}") from error

    def prompt(self) -> None:
        """Wait until an empty prompt is there, with the status below it: the next input can be typed."""
        self.see_that(self._is_at_prompt, "an empty prompt")

    def cursor_row(self) -> int:
        """The place of the cursor's row among `rows`."""
        return len(self.screen.history.top) + int(self.screen.cursor.y)

    def _is_at_prompt(self) -> bool:
        rows = [row.rstrip() for row in self.screen.display]
        return rows[self.screen.cursor.y] == ">" and any("| web " in row or "| standard" in row for row in rows)

    def status(self) -> str:
        """The status below the prompt."""
        return next(row.strip() for row in reversed(self.rows()) if "| web " in row)

    def resize(self, rows: int, columns: int) -> None:
        """Make the terminal smaller or larger."""
        self.child.setwinsize(rows, columns)
        self.screen.resize(rows, columns)
        self.screen.cursor.y = min(self.screen.cursor.y, rows - 1)  # as a terminal has it

    def interrupt(self) -> None:
        """Ctrl-C, as the terminal sends it to a program that does not read keys."""
        self.child.sendintr()

    def signal(self, number: signal.Signals) -> None:
        """Send the process a signal."""
        self.child.kill(number)

    def end(self) -> int:
        """Wait for the end of the process; its exit code."""
        try:
            while True:
                self._read()
        except pexpect.EOF:
            pass
        except pexpect.TIMEOUT as error:
            raise AssertionError(f"it does not end; the screen:\n{self.text()}") from error
        self.child.close()
        assert self.child.exitstatus is not None, f"ended by signal {self.child.signalstatus}"
        return int(self.child.exitstatus)

    def _read(self) -> None:
        data = self.child.read_nonblocking(_CHUNK, timeout=_WAIT_S)
        self.sent += data
        self._feed.feed(data)


def roles(request: Request) -> list[str]:
    return [message["role"] for message in request.messages]


def asked(request: Request) -> list[str]:
    """What the user said, as the model got it."""
    return [str(message["content"]) for message in request.messages if message["role"] == "user"]


def keep_prompt(home: Path) -> None:
    """Configure the saved prompt `/short`."""
    file = home / "asky" / "config" / "research.toml"
    file.parent.mkdir(mode=0o700)
    file.write_text('[prompts]\nshort = "Briefly: {{input}}"\n')


def answer_to(chatting: Chatting, question: str, words: str) -> None:
    """Ask, and wait for an answer with these words and for the next prompt."""
    chatting.ask(question)
    chatting.see(words)
    chatting.prompt()
