"""Options shared by several commands."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from asky.app.requests import document_name
from asky.cli.export_forms import KNOWN_SUFFIXES, form_of
from asky.cli.saving import require_writable
from asky.errors import AskyError, UsageError

if TYPE_CHECKING:
    from asky.app.asky import Asky
    from asky.app.completion import CompletionService

F = TypeVar("F", bound=Callable[..., Any])


class DocumentPath(click.Path):
    """The path of a file or folder, or as text the target of an adapter, such as `wiki://releases`."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """See `click.ParamType.convert`."""
        return document_name(value) if "://" in str(value) else super().convert(value, param, ctx)


def json_option(command: F) -> F:
    """Add `--json` as the parameter `as_json`. With it, errors are JSON too."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON only.")(command)


def verbosity_options(command: F) -> F:
    """Add `-q` and `-v` as the parameters `quiet` and `verbose`."""
    command = click.option("-v", "--verbose", is_flag=True, help="Print more detail on stderr.")(command)
    return click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors on stderr.")(command)


def output_option(command: F) -> F:
    """Add `-o` as the parameter `output`, which `check_output` checks."""
    description = f"Also write the answer to PATH; the suffix selects the format: {KNOWN_SUFFIXES}."
    kind = click.Path(path_type=Path)
    return click.option("-o", "--output", type=kind, multiple=True, callback=_require_single, help=description)(command)


def _require_single(ctx: click.Context, param: click.Parameter, paths: tuple[Path, ...]) -> Path | None:
    """Return the only file. Raises `click.BadParameter` for a second one, which would not be written."""
    if len(paths) > 1:
        raise click.BadParameter(f"one file, not {len(paths)}: `asky runs export` writes others", ctx, param)
    return next(iter(paths), None)


def piped_text(max_bytes: int = 1_000_000) -> str:
    """Return the text on standard input, at most `max_bytes` of it. Raises `UsageError` if there is none to read."""
    if sys.stdin is None or sys.stdin.closed:
        raise UsageError("there is no standard input to read from")
    return sys.stdin.buffer.read(max_bytes + 1).decode("utf-8", "replace")


def check_output(path: Path | None) -> None:
    """Raise `UsageError` if no answer can be written to `path`, or its suffix selects no format."""
    if path is None:
        return

    form_of(path, hint="for example: -o answer.md")
    require_writable(path)


def complete_model(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001 - click's
    """Return the model aliases that start with `incomplete`."""
    return _complete(lambda names: names.models(incomplete))


def complete_downloaded(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001 - click's
    """Return the names of downloaded models that start with `incomplete`."""
    return _complete_from(lambda asky: asky.local_models.names(incomplete))


def complete_downloadable(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001 - click's
    """Return names of models that can be downloaded and start with `incomplete`."""
    return _complete_from(lambda asky: asky.local_models.wanted(incomplete))


def complete_prompt(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001 - click's
    """Return the saved prompts that start with `incomplete`, if it is the first word of a question."""
    return prompts_like(incomplete) if incomplete.startswith("/") and not ctx.params.get("question") else []


def prompts_like(incomplete: str) -> list[str]:
    """Return the saved prompts, as `/NAME`, that start with `incomplete`."""
    return _complete(lambda names: names.prompts(incomplete))


def complete_session(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001 - click's
    """Return the session names that start with `incomplete`, most recently used first."""
    return _complete(lambda names: names.sessions(incomplete))


def complete_run(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001 - click's
    """Return the ids of the last runs that start with `incomplete`, newest first."""
    return _complete(lambda names: names.runs(incomplete))


def complete_research(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001 - click's
    """Return the ids of the last runs of the research agent that start with `incomplete`, newest first."""
    return _complete(lambda names: names.research(incomplete))


def complete_note(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001 - click's
    """Return the paths of the notes in the vault that start with `incomplete`."""
    return _complete(lambda names: names.notes(incomplete))


def complete_page(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001 - click's
    """Return the URLs of cached pages that start with `incomplete`, most recently used first."""
    return _complete(lambda names: names.pages(incomplete))


def complete_key(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001 - click's
    """Return the configuration keys that start with `incomplete`."""
    return _complete(lambda names: names.keys(incomplete))


def _complete(read: Callable[[CompletionService], list[str]]) -> list[str]:
    """Return what `read` finds, or nothing if the configuration or the store cannot be read."""
    return _complete_from(lambda asky: read(asky.completion))


def _complete_from(read: Callable[[Asky], list[str]]) -> list[str]:
    from asky.app.asky import Asky  # only while completing
    from asky.cli.context import configured

    try:
        with Asky.open(configured()) as asky:
            return read(asky)
    except AskyError:
        return []
