"""`asky runs resume` and `asky runs replay`: a run that goes on, and one that is played again from its record."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from asky.cli.giving import Opening, make_and_give
from asky.cli.judging import judge
from asky.cli.options import check_output, complete_run, json_option, output_option, verbosity_options
from asky.cli.run_lookup import find_run
from asky.cli.running import Stopped
from asky.cli.terminal import one_line
from asky.cli.workbench import Workbench, workbench
from asky.errors import ConfigError, NotConfigured, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from asky.chat.begun import Begun
    from asky.llm.tokens import TokenCounter
    from asky.storage.runs import Run
    from asky.values import Answer

_LOOKED_BACK = 1000  # runs, for the last one that has not finished
_BUILTIN = "extractive"  # needs no configuration, and is not asked


@click.command()
@click.argument("run_id", metavar="[ID]", required=False, shell_complete=complete_run)
@output_option
@json_option
@verbosity_options
def replay(run_id: str | None, output: Path | None, as_json: bool, quiet: bool, verbose: bool) -> None:
    """Play a run again from its record, by default the last one.

    The same answer comes of the same replies, pages and passages: nothing is sent, searched, read or stored. Where the
    record lacks something, or another answer comes of it, that is an error with the exit code 8.
    """
    from asky.chat.replaying import replay as play

    check_output(output)
    opening = Opening("json" if as_json else "text", waits=True)
    with workbench(quiet=quiet, verbose=verbose, as_json=as_json, offline=True, listening=opening) as bench:
        run = find_run(bench, run_id)
        answerer = replace(bench.services.answerer(_BUILTIN), counter=_counter(bench, run))
        make_and_give(
            bench,
            opening.view,
            output,
            lambda: bench.run(lambda: play(answerer, run)),
            stored=run.answer if as_json else None,
        )


@click.command()
@click.argument("run_id", metavar="[ID]", required=False, shell_complete=complete_run)
@output_option
@click.option("--no-stream", is_flag=True, help="Print the answer when it is complete and checked.")
@json_option
@verbosity_options
def resume(run_id: str | None, output: Path | None, no_stream: bool, as_json: bool, quiet: bool, verbose: bool) -> None:
    """Go on with a run that was interrupted, stopped or has failed, by default the last one.

    What the model has answered and tools have found is not asked for again. The run keeps its id, its session and its
    limits, of which it has used what it had used.
    """
    check_output(output)
    with workbench(as_json=as_json, quiet=quiet) as bench:
        run, begun = _unfinished(bench, run_id)
    given = dict(begun.given)
    opening = Opening("json" if as_json else "text", waits=no_stream)
    with workbench(
        quiet=quiet,
        verbose=verbose,
        as_json=as_json,
        offline=given.pop("offline", False),
        flags=given,
        listening=opening,
    ) as bench:
        bench.terminal.note(f"going on with run {run.id}: “{one_line(run.question)}”")
        answer = make_and_give(bench, opening.view, output, lambda: _resumed(bench, run, begun))
        judge(answer, bench.services.runs, strict=False)


def _counter(bench: Workbench, run: Run) -> Callable[[], TokenCounter]:
    """What counted the prompts of `run`, where its model is still known."""
    from asky.llm.tokens import TokenCounter

    try:
        bench.services.counter(run.model)
    except (ConfigError, NotConfigured):
        return TokenCounter
    return lambda: bench.services.counter(run.model)


def _unfinished(bench: Workbench, run_id: str | None) -> tuple[Run, Begun]:
    """The run to go on with, and what it began with. Raises `UsageError` where there is none."""
    from asky.chat.replaying import is_withdrawn, require_resumable

    runs, sessions = bench.services.runs, bench.services.sessions
    if run_id is not None:
        run = find_run(bench, run_id)
    else:
        found = (each for each in runs.recent(limit=_LOOKED_BACK) if each.status not in ("finished", "running"))
        last = next((each for each in found if not is_withdrawn(sessions, each)), None)
        if last is None:
            raise UsageError("no run was interrupted", hint="`asky runs list` shows what became of each")
        run = last
    return run, require_resumable(runs, sessions, run)


def _resumed(bench: Workbench, run: Run, begun: Begun) -> Answer:
    from asky.chat.replaying import resume as go_on

    services = bench.services
    session = services.sessions.find(run.session_id) if run.session_id is not None else None
    if session is None:
        raise UsageError(f"the session of run {run.id} was removed", hint="ask again")
    kept: list[Answer] = []
    answerer = services.answerer(begun.model)
    try:
        bench.run(lambda: go_on(answerer, run, session, keep=kept.append))
    except Stopped as stop:
        stop.value = kept[-1] if kept else None
        raise
    return kept[-1]
