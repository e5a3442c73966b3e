"""`asky chat`: a conversation, one question after another."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import click

from asky.cli.ask_options import AskOptions, ask_options
from asky.cli.chat.reader import WholeLines
from asky.cli.chat.rounds import Chat
from asky.cli.chat.screen import ChatScreen
from asky.cli.chat.type_ahead import TypeAhead
from asky.cli.commands.papers import papers
from asky.cli.context import command_context
from asky.cli.options import verbosity_options
from asky.cli.terminal.terminal import is_smart


@click.command()
@ask_options
@verbosity_options
@click.pass_context
def chat(ctx: click.Context, /, quiet: bool, verbose: bool, **params: Any) -> None:
    """Have a conversation: each question builds on the ones before it.

    /help lists the commands. Enter sends; Alt-Enter or Ctrl-J starts a new line. Ctrl-C stops an answer and keeps what
    was written; press it again to quit at once. At an empty prompt, Ctrl-D quits, and so does pressing Ctrl-C twice.
    Text typed while an answer is being written goes to the model as a note.

    Without a terminal on standard input, each line is a question and the exit code is that of the last error.
    """
    options = AskOptions(**params)
    options.check()

    with command_context(quiet=quiet, verbose=verbose) as command:
        keyboard = None
        if sys.stdin.isatty() and is_smart(sys.stderr, os.environ):
            keyboard = TypeAhead(sys.stdin.fileno(), command.progress.show_typed)
            command = replace(command, typing=keyboard)
        elif sys.stdin.isatty():
            command = replace(command, typing=WholeLines(sys.stdin.fileno()))
        conversation = command.asky.converse(options.request(), command.terminal.note)
        conversation.check_documents()  # now, not at the first question
        with keyboard.capture() if keyboard is not None else nullcontext():
            code = Chat(ChatScreen(command, conversation, keyboard, papers)).run()
    ctx.exit(code)
