"""`asky chat`: a conversation, one question after another."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from asky.cli.choices import Choices, choice_options
from asky.cli.options import verbosity_options
from asky.cli.terminal import is_smart
from asky.cli.workbench import workbench

if TYPE_CHECKING:
    from asky.cli.chat_talk import Stage
    from asky.cli.terminal import Terminal
    from asky.events import Listener


@click.command()
@choice_options
@verbosity_options
@click.pass_context
def chat(ctx: click.Context, /, quiet: bool, verbose: bool, **given: Any) -> None:
    """Ask one question after another: each knows those before it.

    /help lists the commands. Enter sends; Alt-Enter or Ctrl-J begins a new line. Ctrl-C stops an answer and keeps what
    there is of it, a second one leaves at once; at an empty prompt, Ctrl-D or Ctrl-C twice leaves. What is typed while
    an answer is made goes to the model as a note.

    Without a terminal on standard input each line is a question, and the exit code is that of the last error.
    """
    choices = Choices(**given)
    choices.check()
    from asky.cli.chat_rounds import Chat  # with the store: not for a usage error
    from asky.cli.chat_talk import Stage, Talk

    stages: list[Stage] = []

    def listening(terminal: Terminal, others: Listener) -> Stage:  # noqa: ARG001 - as `workbench` has it
        stages.append(Stage(others))
        return stages[0]

    with workbench(
        quiet=quiet, verbose=verbose, offline=choices.offline, flags=choices.settings(), listening=listening
    ) as bench:
        keyboard = None
        if sys.stdin.isatty() and is_smart(sys.stderr, os.environ):
            from asky.cli.chat_typing import Keyboard

            keyboard = Keyboard(sys.stdin.fileno(), bench.progress.show_typed)
            bench = replace(bench, typing=keyboard)
        elif sys.stdin.isatty():
            from asky.cli.chat_reader import WholeLines

            bench = replace(bench, typing=WholeLines(sys.stdin.fileno()))
        talk = Talk(bench, stages[0], choices)
        talk.check_documents()  # now, and not at the first question
        talk.keyboard = keyboard
        with keyboard.held() if keyboard is not None else nullcontext():
            code = Chat(talk).run()
    ctx.exit(code)
