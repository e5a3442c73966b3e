"""What to do about a word that almost is a command: ask on a terminal, refuse elsewhere."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from asky.cli.terminal.confirm import confirm, is_interactive
from asky.cli.terminal.terminal import say
from asky.errors import UsageError


def choose_command(meant: Sequence[str], question: Sequence[str], word: str) -> list[str]:
    """Return the arguments that the user chooses: those of the command that is `meant`, or those of the `question`.

    Raises `UsageError` if nobody can be asked; `word` is what was typed for the command.
    """
    problem, shown = f"there is no command {word}", f"`asky {shlex.join(meant)}`"
    if not is_interactive():
        raise UsageError(problem, hint=f"did you mean {shown}? to ask it as a question: asky {shlex.join(question)}")
    say(f"asky: {problem}; n asks it as a question")
    return list(meant if confirm(f"Run {shown}?", default=True) else question)
