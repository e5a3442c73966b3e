"""`asky why`: the stored passage behind a citation, verified again."""

from __future__ import annotations

from collections.abc import Sequence

import click

from asky.app.schemas.run import why_object
from asky.cli.context import command_context
from asky.cli.options import complete_run, json_option
from asky.cli.terminal.opened_citation import note_earlier, print_citations, print_opened
from asky.errors import UsageError


@click.command()
@click.argument("citation", metavar="[N|PAGE]", nargs=-1)
@click.option(
    "--run",
    "run_id",
    shell_complete=complete_run,
    help="Run id, or an unambiguous prefix of one.  [default: the last one that cites something]",
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
def why(call: click.Context, /, citation: tuple[str, ...], run_id: str | None, context: int, as_json: bool) -> None:
    """Show the stored passage behind citation N, in context; without N, the only one, or a list of all.

    Citations of papers are also named by their page, as in "2509.10446v1, page 5".

    The passage is checked again: if its text or the hash of the stored document differs from the answer, the exit code
    is 1. The text behind an answer is kept even if its source changes or disappears.
    """
    with command_context() as ctx:
        run, later = ctx.asky.runs.find_citing(run_id)
        if later is not None and not as_json:
            note_earlier(ctx.terminal, run, later)
        citations = run.answer["citations"] if run.answer is not None else []
        if not citation and len(citations) > 1:
            if as_json:
                raise _several(range(1, len(citations) + 1))
            print_citations(ctx.terminal, run)
            return
        numbers = ctx.asky.runs.cited_numbers(run, " ".join(citation) or "1")
        if as_json and len(numbers) > 1:
            raise _several(numbers)
        is_intact = True
        for number in numbers:
            opened = ctx.asky.runs.open_citation(run, number, context_chars=context)
            is_intact = is_intact and opened.quote_matches and opened.hash_matches
            if as_json:
                ctx.terminal.json(why_object(run, opened))
            else:
                print_opened(ctx.terminal, run, opened)
    if not is_intact:
        call.exit(1)


def _several(numbers: Sequence[int]) -> UsageError:
    named = f"{numbers[0]} to {numbers[-1]}" if isinstance(numbers, range) else ", ".join(map(str, numbers))
    return UsageError("several citations", hint=f"name one of {named}, such as: asky why {numbers[0]}")
