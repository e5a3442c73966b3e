"""A question to a user whose keyboard is being read already: by what reads it, so that no key is lost to either."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

_YES = frozenset({"y", "yes"})
_NO = frozenset({"n", "no", ""})


class YesNo:
    """A question that a line answers: y, yes, n, no, or an empty one for no. `show` prints it.

    What reads the keyboard presents it once it has taken all that was typed before, which is no answer to it.
    """

    def __init__(self, show: Callable[[], None]) -> None:
        self._show = show
        self._answered = threading.Event()
        self.is_presented = False
        self.is_yes = False

    def present(self) -> None:
        """Show the question, the first time."""
        if not self.is_presented:
            self._show()
            self.is_presented = True

    def take(self, line: str) -> bool:
        """Return whether a line is the answer. One that comes later, or before the question is shown, is none."""
        given = line.strip().lower()
        if not self.is_presented or self._answered.is_set() or given not in _YES | _NO:
            return False
        self.is_yes = given in _YES
        self._answered.set()
        return True

    def wait(self) -> bool:
        """Wait for the answer, in a thread; return whether it is yes. It is no once the question is given up."""
        self._answered.wait()
        return self.is_yes

    def give_up(self) -> None:
        """End `wait`, with no unless the answer was yes."""
        self._answered.set()


class Keyboard(Protocol):
    """What reads the keyboard while asynchronous work runs."""

    def asking(self, question: YesNo) -> AbstractContextManager[None]:
        """Present `question` in the body, and pass the lines typed from then on to it first."""
        ...
