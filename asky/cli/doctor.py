"""`asky doctor`: whether the installation, the model and the store are in order."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from types import MappingProxyType

import click

from asky.cli.options import json_option
from asky.cli.surroundings import configured, current_folder
from asky.cli.terminal import Terminal, one_line
from asky.errors import ConfigError
from asky.text.counting import counted

_COLORS: Mapping[str, int] = MappingProxyType({"ok": 32, "note": 33, "problem": 31})


@click.command()
@click.option("--full", is_flag=True, help="Look every vector up again in the vector index too; takes seconds.")
@click.option("--repair", is_flag=True, help="Make damaged indexes anew, and set aside what cannot be read.")
@click.option("--live", is_flag=True, help="Search once with each search service; may cost what a search costs.")
@json_option
@click.pass_context
def doctor(ctx: click.Context, full: bool, repair: bool, live: bool, as_json: bool) -> None:
    """Check the installation, the models, the search services and the store. Exits with 1 when there is a problem.

    Nothing is changed without --repair. It makes indexes anew, and puts something readable in the place of texts and
    records that cannot be read, once they are in a file beside the store. Nothing is sent without --live.
    """
    from asky.cli.running import run_async
    from asky.health.check import Check
    from asky.health.examination import examine  # everything that can fail: not for --help

    terminal = Terminal(out=sys.stdout, err=sys.stderr, environ=os.environ, color=_color())
    checks: list[Check] = []
    for check in examine(os.environ, current_folder(), full=full, repair=repair, run=run_async if live else None):
        checks.append(check)
        if not as_json:
            _print(terminal, check.state, check.name, check.message, check.hint)
    problems, notes = (sum(check.state == state for check in checks) for state in ("problem", "note"))
    if as_json:
        found = [{"name": c.name, "state": c.state, "message": c.message, "hint": c.hint} for c in checks]
        terminal.json({"schema": "asky.doctor/1", "problems": problems, "notes": notes, "checks": found})
    else:
        terminal.note(f"{counted(problems, 'problem')}, {counted(notes, 'note')}")
    if problems:
        ctx.exit(1)


def _color() -> str:
    """The setting `ui.color`, also where something else in the configuration is wrong."""
    try:
        return configured().ui.color
    except ConfigError:
        return "auto"


def _print(terminal: Terminal, state: str, name: str, message: str, hint: str | None) -> None:
    """One check on a line, its hint on the next; seen at once, because some take a while."""
    terminal.out.write(f"{terminal.paint(f'{state:<8}', _COLORS[state])} {name:<16} {one_line(message)}\n")
    if hint is not None and state != "ok":
        terminal.line(f"{'':<25} {one_line(hint)}")
    terminal.out.flush()
