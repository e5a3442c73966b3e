"""Options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from asky.cli.export_forms import SUFFIXES_TOLD, form_of

if TYPE_CHECKING:
    from asky.wiring import Services

F = TypeVar("F", bound=Callable[..., Any])
_MOST_STORED = 200  # a shell shows no more in any useful way


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
    kind = click.Path(path_type=Path)
    return click.option("-o", "--output", type=kind, multiple=True, callback=_the_only_one, help=told)(command)


def _the_only_one(ctx: click.Context, param: click.Parameter, paths: tuple[Path, ...]) -> Path | None:
    """The file that was named; a second one would go unwritten without a word."""
    if len(paths) > 1:
        raise click.BadParameter(f"one file, not {len(paths)}: `asky runs export` writes others", ctx, param)
    return next(iter(paths), None)


def check_output(path: Path | None) -> None:
    """Raise `UsageError` for a file that no answer can be written to, or whose suffix does not say how."""
    if path is None:
        return
    from asky.cli.saving import require_writable  # where something is written only

    form_of(path, hint="for example: -o answer.md")
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
    """The names of sessions that start with `incomplete`, the last used first; none where nothing can be read."""
    return _stored(incomplete, lambda services: services.sessions.names().values())


def complete_run(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001 - click's
    """The ids of the last runs that start with `incomplete`, the newest first; none where nothing can be read."""
    return _stored(incomplete, lambda services: (run.id for run in services.runs.recent(limit=_MOST_STORED)))


def complete_page(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001 - click's
    """The addresses of pages that start with `incomplete`, the last used first; none where nothing can be read."""
    return _stored(
        incomplete,
        lambda services: (page.url for page in services.pages.pages(matching=incomplete, limit=_MOST_STORED)),
    )


def complete_key(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001 - click's
    """The configuration's keys that start with `incomplete`; none where nothing can be read."""
    from asky.cli.surroundings import configured  # while completing only
    from asky.config.listing import list_values
    from asky.errors import AskyError

    try:
        return [each.key for each in list_values(configured(), os.environ) if each.key.startswith(incomplete)]
    except AskyError:
        return []


def _stored(incomplete: str, read: Callable[[Services], Iterable[str]]) -> list[str]:
    """What `read` finds in the store that starts with `incomplete`. Nothing is made where there is no store yet."""
    from asky.cli.workbench import workbench  # while completing only
    from asky.config.paths import resolve_paths
    from asky.errors import AskyError

    try:
        if not (resolve_paths(os.environ).data / "asky.db").is_file():
            return []
        with workbench(quiet=True) as bench:
            found = list(read(bench.services))
    except AskyError:
        return []
    return [each for each in found if each.startswith(incomplete)]
