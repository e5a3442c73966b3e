"""Options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from asky.cli.export_forms import SUFFIXES_TOLD, form_of

F = TypeVar("F", bound=Callable[..., Any])


def json_option(command: F) -> F:
    """`--json`, as the parameter `as_json`. Errors then are JSON too."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else, on stdout.")(command)


def verbosity_options(command: F) -> F:
    """`-q` and `-v`, as the parameters `quiet` and `verbose`."""
    command = click.option("-v", "--verbose", is_flag=True, help="Say more on stderr.")(command)
    return click.option("-q", "--quiet", is_flag=True, help="Say nothing on stderr but errors.")(command)


def output_option(command: F) -> F:
    """`-o`, as the parameter `output`, which `check_output` checks."""
    told = f"Write the answer to FILE too, by its suffix {SUFFIXES_TOLD}."
    return click.option("-o", "--output", type=click.Path(path_type=Path), help=told)(command)


def check_output(path: Path | None) -> None:
    """Raise `UsageError` for a file that no answer can be written to, or whose suffix does not say how."""
    if path is None:
        return
    from asky.cli.saving import require_writable  # where something is written only

    form_of(path)
    require_writable(path)


def complete_model(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001 - click's
    """The aliases that start with `incomplete`, while the shell completes a line; none where nothing can be read."""
    from asky.cli.surroundings import configured  # while completing only
    from asky.errors import AskyError

    try:
        return [alias for alias in configured().models if alias.startswith(incomplete)]
    except AskyError:
        return []


def complete_prompt(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001 - click's
    """The saved prompts that start with `incomplete`, where it is the first word of a question."""
    return prompts_like(incomplete) if incomplete.startswith("/") and not ctx.params.get("question") else []


def prompts_like(incomplete: str) -> list[str]:
    """The saved prompts, as `/NAME`, that start with `incomplete`; none where nothing can be read."""
    from asky.cli.surroundings import configured  # while completing only
    from asky.errors import AskyError

    try:
        return [f"/{name}" for name in configured().prompts if f"/{name}".startswith(incomplete)]
    except AskyError:
        return []


def complete_session(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001 - click's
    """The names of sessions that start with `incomplete`, the last used first; none where nothing can be read.

    Nothing is made where there is no store yet.
    """
    from asky.cli.workbench import workbench  # while completing only
    from asky.config.paths import resolve_paths
    from asky.errors import AskyError

    try:
        if not (resolve_paths(os.environ).data / "asky.db").is_file():
            return []
        with workbench(quiet=True) as bench:
            found = bench.services.sessions.names().values()
    except AskyError:
        return []
    return [each for each in found if each.startswith(incomplete)]
