"""A command that asks questions on a terminal."""

from __future__ import annotations

import os
import select
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from tests.support.asky_command import ASKY, ROOT, clean_environment

_PATIENCE_S = 60.0
_PRESSES = 10


class Dialogue:
    """`asky ARGUMENTS` on a pseudo-terminal, which holds what it has printed in `screen`."""

    def __init__(self, *arguments: str, home: Path, environ: Mapping[str, str] | None = None) -> None:
        self.user, terminal = os.openpty()
        self.screen = ""
        self._read_to = 0
        self._process = subprocess.Popen(
            [*ASKY, *arguments],
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            env=clean_environment(home, {"TERM": "xterm-256color", **(environ or {})}),
            cwd=ROOT,
            start_new_session=True,
        )
        os.close(terminal)

    def __enter__(self) -> Dialogue:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self.user)

    def wait_for(self, text: str) -> None:
        """Wait until `text` is printed behind what was waited for before."""
        while text not in self.screen[self._read_to :]:
            assert self._read(), f"it ended without {text!r}: {self.screen}"
        self._read_to = self.screen.index(text, self._read_to) + len(text)

    def answer(self, prompt: str, reply: str) -> None:
        """Wait for `prompt` and type `reply`."""
        self.wait_for(prompt)
        os.write(self.user, f"{reply}\n".encode())

    def interrupt(self, prompt: str) -> None:
        """Wait for `prompt` and press Ctrl-C until it ends: Python may miss one as it begins to read a line."""
        self.wait_for(prompt)
        for _ in range(_PRESSES):
            self._process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(1)
                return

    def end(self) -> int:
        """Wait for the end, and return the exit code."""
        while self._read():
            pass
        return self._process.wait(_PATIENCE_S)

    def _read(self) -> bool:
        ready, _, _ = select.select([self.user], [], [], _PATIENCE_S)
        assert ready, f"nothing is printed any more: {self.screen}"
        try:
            data = os.read(self.user, 65_536)
        except OSError:  # Linux says so of a terminal that nobody has open any more
            return False
        self.screen += data.decode().replace("\r\n", "\n")
        return bool(data)
