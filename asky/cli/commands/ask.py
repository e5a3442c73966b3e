"""`asky ask`, the default command: a question in, an answer with citations out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from asky.app.inputs import raise_for_unread
from asky.app.requests import BUILT_IN_ANSWERS
from asky.cli.ask_options import AskOptions, ask_options
from asky.cli.context import CommandContext, command_context
from asky.cli.options import check_output, complete_prompt, json_option, output_option, verbosity_options
from asky.cli.planning import print_plan
from asky.cli.search_offer import turns_on_search
from asky.cli.view import run_and_print
from asky.errors import AskyError, UsageError

if TYPE_CHECKING:
    from asky.app.requests import AskRequest
    from asky.cli.view import Format


@dataclass(frozen=True, slots=True)
class _Options(AskOptions):
    """The options of one question, as click names them."""

    dry_run: bool
    strict: bool
    output: Path | None
    json_stream: bool
    no_stream: bool
    as_json: bool
    quiet: bool
    verbose: bool

    @property
    def format(self) -> Format:
        return "json" if self.as_json else "events" if self.json_stream else "text"


@click.command()
@click.argument("question", nargs=-1, shell_complete=complete_prompt)
@ask_options
@click.option("--dry-run", is_flag=True, help="Show the plan, the hosts and the estimated cost; do nothing.")
@click.option("--strict", is_flag=True, help="Exit with code 12 if a sentence is not supported by its sources.")
@output_option
@click.option("--json-stream", is_flag=True, help="Print events as JSON lines; the last line is the answer.")
@click.option("--no-stream", is_flag=True, help="Print the answer only once it is complete and checked.")
@json_option
@verbosity_options
def ask(question: tuple[str, ...], **params: Any) -> None:
    """Answer QUESTION from documents and the web, citing the passages behind each sentence.

    Use "-" to read the question from standard input, or file://PATH to read it from a file. Text piped in alongside
    a question becomes a source.
    """
    options = _Options(**params)
    if options.output is not None:
        check_output(options.output)
    if options.as_json and options.json_stream:
        raise UsageError("--json and --json-stream cannot be combined", hint="use one of them")
    request = options.ask(question)
    silent = options.as_json or options.json_stream
    said: list[str] = []
    try:
        _run(request, options, silent=silent, said=said)
    except AskyError as error:
        if silent or options.dry_run or not turns_on_search(error):
            raise
        _run(request, options, silent=silent, said=said)


def _run(request: AskRequest, options: _Options, *, silent: bool, said: list[str]) -> None:
    """Ask, without the notes that were `said` before, and add those of this time to them."""
    with command_context(quiet=options.quiet, verbose=options.verbose, as_json=silent, said=said) as ctx:
        ctx.progress.notes = said
        if options.dry_run:
            _show_plan(ctx, request, as_json=silent)
            return
        _answer(ctx, request, options, silent=silent)


def _answer(ctx: CommandContext, request: AskRequest, options: _Options, *, silent: bool) -> None:
    chat = ctx.asky.chat
    start = partial(chat.start, request)
    answer = run_and_print(ctx, start, options.output, options.format, waits=options.no_stream)
    chat.raise_for_outcome(answer, strict=options.strict)
    if answer.unread:
        raise_for_unread(answer.unread, request.documents)
    if silent and not options.quiet and BUILT_IN_ANSWERS in ctx.progress.notes:
        click.echo(BUILT_IN_ANSWERS, err=True)


def _show_plan(ctx: CommandContext, request: AskRequest, *, as_json: bool) -> None:
    for note in ctx.asky.chat.model_notes(request):
        ctx.terminal.note(note)
    plan = ctx.run(lambda: ctx.asky.chat.plan(request))
    print_plan(ctx.terminal, plan, request.limits.within(ctx.asky.config.budget), as_json=as_json)
