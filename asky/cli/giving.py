"""An answer on its way to the user: its view is opened, it is made, printed, and written to a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from asky.cli.running import Stopped
from asky.values import Answer

if TYPE_CHECKING:
    from asky.cli.terminal import Terminal
    from asky.cli.viewing import Format, View
    from asky.cli.workbench import Workbench
    from asky.events import Listener


class Opening:
    """The listener of a workbench that opens the `view` of an answer as soon as the terminal is known."""

    view: View

    def __init__(self, format_: Format, *, waits: bool) -> None:
        self._format = format_
        self._waits = waits

    def __call__(self, terminal: Terminal, others: Listener) -> Listener:
        from asky.cli.viewing import open_view  # with the evidence layer: not for a usage error

        self.view = open_view(terminal, others, os.environ, self._format, waits=self._waits)
        return self.view


def make_and_give(
    bench: Workbench,
    view: View,
    output: Path | None,
    make: Callable[[], Answer],
    *,
    stored: Mapping[str, Any] | None = None,
) -> Answer:
    """Print the answer that `make` returns, write it to `output` where there is one, and return it.

    With `stored`, the object that the answer equals, that is printed as JSON instead: without what asky has added to it
    since. What there is of an answer that was stopped is given too. The view hears of every other error of `make`;
    either is raised again.
    """
    with closing(view):
        try:
            answer = make()
        except BaseException as error:
            if isinstance(error, Stopped) and isinstance(error.value, Answer) and error.value.text:
                _give(bench, view, output, error.value, None)
            else:
                view.fail(error)
            raise
        _give(bench, view, output, answer, stored)
    return answer


def _give(bench: Workbench, view: View, output: Path | None, answer: Answer, stored: Mapping[str, Any] | None) -> None:
    try:
        if output is not None:
            from asky.cli.answers import write_answer  # with the evidence layer
            from asky.evidence.answer import answer_json

            write_answer(output, answer_json(answer), bench.services)
    finally:  # an answer whose file cannot be written is printed all the same
        if stored is not None:
            bench.terminal.json(stored)
        else:
            view.give(answer)
