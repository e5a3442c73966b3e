"""The `asky` group: imports a command's module only when it is called, and treats anything else as a question."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import takewhile
from typing import TYPE_CHECKING

import click

from asky.cli.catalog import COMMANDS, DEFAULT, EXIT_CODES
from asky.version import __version__

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_COMPLETION_VARIABLE = "_ASKY_COMPLETE"
_OWN_OPTIONS = ("-h", "--help", "--version")
_QUIET_OPTIONS = ("-q", "--quiet", "--json", "--json-stream")
_WORDS = 2  # a command and what it works on; more are a question
_HANGING = "        "  # four characters behind an example
_ALIKE = 0.75  # of the letters: "serach", "sessions" and "confg" are, "cash" is not "cache"


class AskyGroup(click.Group):
    """A group with the commands in `COMMANDS`; it passes everything else to `ask`, except what almost is a command."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"asky.cli.commands.{cmd_name}"), cmd_name)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["asky.words"] = tuple(args)  # for the hint of a usage error
        if not ctx.resilient_parsing and args:
            args = self._corrected(ctx, args)
        piped = not ctx.resilient_parsing and _is_piped()  # during completion, no arguments mean no command yet
        return super().parse_args(ctx, with_command(args, piped=piped))

    def _corrected(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return `args`, with the command that is meant if the first word almost is one and the user says so.

        Raises `UsageError` if nobody can be asked: what may be a mistyped command shall not search or cost anything.
        Words that are more likely a question are only noted.
        """
        words = list(takewhile(lambda each: not each.startswith("-"), args))
        if words == ["help"]:
            return ["--help"]
        close = near_command(words[0]) if words else None
        if close is None:
            return args
        if not self._is_meant(ctx, close, words[1:]):
            if not any(each in _QUIET_OPTIONS for each in args):
                click.echo(f'note: "{words[0]}" is taken as a question; for the command: asky {close}', err=True)
            return args
        from asky.cli.mistyped import choose_command  # only for a mistyped command

        return choose_command([close, *args[1:]], [DEFAULT, *args], words[0])

    def _is_meant(self, ctx: click.Context, name: str, rest: Sequence[str]) -> bool:
        """Return whether the command may be meant by a word like it, with these words behind it.

        That is one alone, or with another one; a group has that as one of its commands, or almost.
        """
        command = self.get_command(ctx, name) if rest else None
        if not isinstance(command, click.Group):
            return len(rest) < _WORDS
        from difflib import get_close_matches

        is_known = rest[0] in command.commands or bool(get_close_matches(rest[0], command.commands, 1, _ALIKE))
        return is_known and len(rest) <= _WORDS

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help text; click breaks none of its examples, which are longer than a narrow terminal."""
        at = len(formatter.buffer)
        super().format_help_text(ctx, formatter)
        lines = "".join(formatter.buffer[at:]).split("\n")
        del formatter.buffer[at:]
        formatter.write("\n".join(_narrowed(line, formatter.width) for line in lines))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), meaning) for code, meaning in EXIT_CODES.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem  # only while completing

        if incomplete.startswith("-"):
            ask = self.get_command(ctx, DEFAULT)
            return click.Command.shell_complete(self, ctx, incomplete) + (
                ask.shell_complete(ctx, incomplete) if ask else []
            )
        if incomplete.startswith("/"):
            from asky.cli.options import prompts_like  # only while completing

            return [CompletionItem(name) for name in prompts_like(incomplete)]
        return [CompletionItem(name, help=text) for name, text in COMMANDS.items() if name.startswith(incomplete)]


def with_command(arguments: Sequence[str], *, piped: bool) -> list[str]:
    """Return `arguments` with `ask` before them, unless they start with a command or an option of `asky` itself.

    Without arguments, text from a pipe goes to `ask`; otherwise the result is empty.
    """
    if not arguments:
        return [DEFAULT] if piped else []
    known = arguments[0] in COMMANDS or arguments[0] in _OWN_OPTIONS
    return list(arguments) if known else [DEFAULT, *arguments]


def _narrowed(line: str, width: int) -> str:
    """Return `line` in rows of at most `width` characters, if it has more; words stay whole."""
    if len(line) <= width:
        return line
    from textwrap import fill  # which click has loaded for its help

    return fill(line, width, subsequent_indent=_HANGING, break_long_words=False, break_on_hyphens=False)


def near_command(word: str) -> str | None:
    """Return the command that `word` almost is, or `None`. A command itself, or what no command is like, is none."""
    if not (word.isascii() and word.isalpha() and word.islower()) or word in COMMANDS:
        return None
    from difflib import get_close_matches  # only for a single lowercase word

    known = [each for each in COMMANDS if each != DEFAULT]
    return next(iter(get_close_matches(word, known, n=1, cutoff=_ALIKE)), None)


def _is_piped() -> bool:
    return sys.stdin is not None and not sys.stdin.closed and not sys.stdin.isatty()


@click.command(
    cls=AskyGroup,
    name="asky",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    subcommand_metavar="[COMMAND] [ARGS]...",
)
@click.version_option(__version__, prog_name="asky", message="%(prog)s %(version)s")
@click.pass_context
def asky(ctx: click.Context) -> None:
    """Answer questions from your documents and the web, with citations you can check.

    \b
      asky -r -d docs "How is a citation checked?"    answer from a folder of documents
      asky -m ollama:qwen3:8b -d docs "..."           let a model write the answer
      asky search -d docs "citation"                  find passages, without a model
      asky why 1                                      show the passage behind citation 1
      echo TEXT | asky "Summarise this"               add text from a pipe as context

    Anything that is not a command is a question. If the question is a command's name, or almost one, use "asky ask".
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def invoke(arguments: list[str]) -> int:
    """Run the command in `arguments`, or complete a line for a shell; return the exit code."""
    if instruction := os.environ.get(_COMPLETION_VARIABLE):
        from click.shell_completion import shell_complete  # only while the shell completes a line

        return shell_complete(asky, {}, "asky", _COMPLETION_VARIABLE, instruction)
    try:
        with asky.make_context("asky", arguments) as context:
            asky.invoke(context)
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    return 0
