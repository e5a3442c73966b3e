"""`asky why`: the stored passage behind a citation, verified again."""

from __future__ import annotations

import click

from asky.app.schemas import why_object
from asky.cli.context import command_context
from asky.cli.options import complete_run, json_option
from asky.cli.terminal.opened_citation import print_citations, print_opened
from asky.errors import UsageError


@click.command()
@click.argument("number", type=click.IntRange(min=1), metavar="[N]", required=False)
@click.option(
    "--run",
    "run_id",
    shell_complete=complete_run,
    help="Run id, or an unambiguous prefix of one.  [default: the last run]",
)
@click.option(
    "--context",
    type=click.IntRange(0, 1_000_000),
    default=300,
    show_default=True,
    help="Characters of context on each side.",
)
@json_option
@click.pass_context
def why(call: click.Context, /, number: int | None, run_id: str | None, context: int, as_json: bool) -> None:
    """Show the stored passage behind citation N, in context; without N, the only one, or a list of all.

    The passage is checked again: if its text or the hash of the stored document differs from the answer, the exit code
    is 1. The text behind an answer is kept even if its source changes or disappears.
    """
    with command_context() as ctx:
        run = ctx.asky.runs.find(run_id)
        citations = run.answer["citations"] if run.answer is not None else []
        if number is None and len(citations) > 1:
            if as_json:
                raise UsageError("several citations", hint=f"name one of 1 to {len(citations)}, such as: asky why 1")
            print_citations(ctx.terminal, run)
            return
        number = number or 1
        opened = ctx.asky.runs.open_citation(run, number, context_chars=context)
        if as_json:
            ctx.terminal.json(why_object(run, opened))
        else:
            print_opened(ctx.terminal, run, opened)
    if not (opened.quote_matches and opened.hash_matches):
        call.exit(1)
