"""`asky runs resume` and `asky runs replay`: a run that goes on, and one that is played again from its record."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from asky.cli.judging import judge
from asky.cli.options import check_output, json_option, output_option, verbosity_options
from asky.cli.running import Stopped
from asky.cli.workbench import Workbench, workbench
from asky.errors import ConfigError, NotConfigured, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from asky.chat.begun import Begun
    from asky.cli.terminal import Terminal
    from asky.cli.viewing import View
    from asky.events import Listener
    from asky.llm.tokens import TokenCounter
    from asky.storage.runs import Run
    from asky.values import Answer

_LOOKED_BACK = 1000  # runs, for the last one that has not finished
_BUILTIN = "extractive"  # needs no configuration, and is not asked


@click.command()
@click.argument("run_id", metavar="[ID]", required=False)
@output_option
@json_option
def replay(run_id: str | None, output: Path | None, as_json: bool) -> None:
    """Play a run again from its record, by default the last one.

    The same answer comes of the same replies, pages and passages: nothing is sent, searched, read or stored. Where the
    record lacks something, or another answer comes of it, that is an error with the exit code 8.
    """
    from asky.chat.replaying import replay as play

    check_output(output)
    opening = _Opening(as_json=as_json, waits=True)
    with workbench(as_json=as_json, offline=True, listening=opening) as bench:
        services = bench.services
        run = _find(bench, run_id)
        answerer = replace(services.answerer(_BUILTIN), counter=_counter(bench, run))
        answer = bench.run(lambda: play(answerer, run))
        with closing(opening.view) as view:
            _give(bench, answer, view, output, as_stored=run.answer if as_json else None)


@click.command()
@click.argument("run_id", metavar="[ID]", required=False)
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
    opening = _Opening(as_json=as_json, waits=no_stream)
    with workbench(
        quiet=quiet,
        verbose=verbose,
        as_json=as_json,
        offline=given.pop("offline", False),
        flags=given,
        listening=opening,
    ) as bench:
        with closing(opening.view) as view:
            try:
                answer = _resumed(bench, run, begun)
            except Stopped as stop:
                if stop.value is not None:
                    _give(bench, stop.value, view, output)  # type: ignore[arg-type] # `_resumed` puts an answer there
                raise
            _give(bench, answer, view, output)
        judge(answer, bench.services.runs, strict=False)


class _Opening:
    """Opens the view of an answer when the terminal is known; the listener of a workbench."""

    view: View

    def __init__(self, *, as_json: bool, waits: bool) -> None:
        self._as_json = as_json
        self._waits = waits

    def __call__(self, terminal: Terminal, others: Listener) -> Listener:
        from asky.cli.viewing import open_view  # with the evidence layer: not for a usage error

        self.view = open_view(terminal, others, os.environ, "json" if self._as_json else "text", waits=self._waits)
        return self.view


def _counter(bench: Workbench, run: Run) -> Callable[[], TokenCounter]:
    """What counted the prompts of `run`, where its model is still known."""
    from asky.llm.tokens import TokenCounter

    try:
        bench.services.counter(run.model)
    except (ConfigError, NotConfigured):
        return TokenCounter
    return lambda: bench.services.counter(run.model)


def _find(bench: Workbench, run_id: str | None) -> Run:
    from asky.cli.runs import find_run  # which imports this module

    return find_run(bench, run_id)


def _unfinished(bench: Workbench, run_id: str | None) -> tuple[Run, Begun]:
    """The run to go on with, and what it began with. Raises `UsageError` where there is none."""
    from asky.chat.replaying import require_resumable

    runs = bench.services.runs
    if run_id is not None:
        run = _find(bench, run_id)
    else:
        found = (each for each in runs.recent(limit=_LOOKED_BACK) if each.status not in ("finished", "running"))
        last = next(found, None)
        if last is None:
            raise UsageError("no run was interrupted", hint="`asky runs list` shows what became of each")
        run = last
    return run, require_resumable(runs, run)


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


def _give(
    bench: Workbench, answer: Answer, view: View, output: Path | None, *, as_stored: Mapping[str, Any] | None = None
) -> None:
    """Write and print the answer, or the stored object that it equals: without what asky has added to it since."""
    from asky.cli.answers import write_answer

    try:
        if output is not None:
            write_answer(output, answer, bench.services)
    finally:  # an answer whose file cannot be written is printed all the same
        if as_stored is not None:
            bench.terminal.json(as_stored)
        else:
            view.give(answer)
