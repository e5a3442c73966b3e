"""`asky doctor`: checks of the installation, the models and the store."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from types import MappingProxyType

import click

from asky.app.diagnostics import Check, DiagnosticsService
from asky.app.schemas.config import doctor_object
from asky.cli.context import configured, run_async
from asky.cli.options import json_option
from asky.cli.terminal.terminal import Terminal, one_line
from asky.config.paths import current_folder
from asky.errors import ConfigError
from asky.text.counting import counted

_COLORS: Mapping[str, int] = MappingProxyType({"ok": 32, "note": 33, "problem": 31})

_MESSAGE_AT = 26  # the column after the state and the name


@click.command()
@click.option(
    "--full", is_flag=True, help="Also test the vector index with a sample of its vectors; this takes a few seconds."
)
@click.option("--repair", is_flag=True, help="Rebuild damaged indexes and set aside unreadable records.")
@click.option("--live", is_flag=True, help="Run one search with each search service; each may incur its usual cost.")
@json_option
@click.pass_context
def doctor(ctx: click.Context, full: bool, repair: bool, live: bool, as_json: bool) -> None:
    """Check the installation, models, search services and store. The exit code is 1 if there is a problem.

    Nothing is changed without --repair, which rebuilds indexes and replaces unreadable texts and records after saving
    them to a file beside the store. Nothing is sent without --live.
    """
    terminal = Terminal(out=sys.stdout, err=sys.stderr, environ=os.environ, color=_color())
    checks: list[Check] = []
    diagnostics = DiagnosticsService(os.environ, current_folder())
    for check in diagnostics.check(full=full, repair=repair, run=run_async if live else None):
        checks.append(check)
        if not as_json:
            _print(terminal, check)
    problems, notes = (sum(check.state == state for check in checks) for state in ("problem", "note"))
    if as_json:
        terminal.json(doctor_object(checks))
    else:
        terminal.note(f"{counted(problems, 'problem')}, {counted(notes, 'note')}")
    if problems:
        ctx.exit(1)


def _color() -> str:
    """Return the setting `ui.color`, or `auto` if the configuration is invalid."""
    try:
        return configured().ui.color
    except ConfigError:
        return "auto"


def _print(terminal: Terminal, check: Check) -> None:
    """Print a check, with its hint below, and flush, because some checks take a while."""
    body = f" {check.name:<16} {one_line(check.message)}"
    terminal.parts([(f"{check.state:<8}", (_COLORS[check.state],)), (body, ())], hang=_MESSAGE_AT)
    if check.hint is not None and check.state != "ok":
        terminal.line(f"{'':<{_MESSAGE_AT}}{one_line(check.hint)}")
    terminal.out.flush()
