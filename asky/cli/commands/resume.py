"""`asky runs resume` and `asky runs replay`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from asky.cli.arguments import as_utf8
from asky.cli.context import command_context
from asky.cli.options import check_output, complete_run, json_option, output_option, verbosity_options
from asky.cli.terminal.approval import Approval
from asky.cli.view import open_view, print_result, run_and_print

if TYPE_CHECKING:
    from asky.cli.view import Format


@click.command()
@click.argument("run_id", metavar="[ID]", required=False, shell_complete=complete_run)
@output_option
@json_option
@verbosity_options
def replay(run_id: str | None, output: Path | None, as_json: bool, quiet: bool, verbose: bool) -> None:
    """Replay a run from its journal; by default the last run.

    The recorded replies, pages and passages produce the answer again: nothing is sent, searched, read or stored. If the
    journal is incomplete or the answer differs, the exit code is 8.
    """
    check_output(output)
    with command_context(quiet=quiet, verbose=verbose, as_json=as_json) as ctx:
        run = ctx.asky.runs.find(run_id)
        view = open_view(ctx, "json" if as_json else "text", waits=True)
        print_result(
            ctx,
            view,
            output,
            lambda: ctx.run(lambda: ctx.asky.chat.replay(run.id, listen=view.listen)),
            stored=run.answer if as_json else None,
        )


@click.command()
@click.argument("run_id", metavar="[ID]", required=False, shell_complete=complete_run)
@output_option
@click.option("--no-stream", is_flag=True, help="Print the answer only once it is complete and checked.")
@json_option
@verbosity_options
def resume(run_id: str | None, output: Path | None, no_stream: bool, as_json: bool, quiet: bool, verbose: bool) -> None:
    """Resume a run that was interrupted, stopped or failed; by default the last one.

    Recorded replies and tool results are reused, not requested again. The run keeps its id, its session and what is
    left of its limits.
    """
    check_output(output)
    with command_context(quiet=quiet, verbose=verbose, as_json=as_json) as ctx:
        chat, chosen_id = ctx.asky.chat, None if run_id is None else as_utf8(run_id)
        format_: Format = "json" if as_json else "text"
        start = partial(chat.resume, chosen_id, approve=Approval(ctx.terminal, ctx.progress))
        answer = run_and_print(ctx, start, output, format_, waits=no_stream)
        chat.raise_for_outcome(answer)
