"""`asky config`: show, check and change the configuration."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from asky.app.prompts import find_prompt_errors
from asky.app.schemas.config import config_object
from asky.cli.context import configured
from asky.cli.options import complete_key, json_option
from asky.cli.terminal.editor import edit_user_file
from asky.cli.terminal.terminal import json_text, one_line, say
from asky.config.changing import set_value
from asky.config.custom_tools import find_missing_programs
from asky.config.listing import list_values
from asky.config.loader import check_config, find_project_file
from asky.config.paths import current_folder, resolve_paths
from asky.config.schema import FILES
from asky.errors import AskyError, UsageError


@click.group()
def config() -> None:
    """Show and change the configuration."""


@config.command()
def path() -> None:
    """Print the folders and files in use."""
    for name, place, exists in _places():
        say(f"{name:<16}{one_line(str(place))}{'' if exists else '  (does not exist)'}", hang=16, err=False)


def _places() -> Iterator[tuple[str, Path, bool]]:
    paths = resolve_paths(os.environ)
    for name in ("config", "data", "cache", "state"):
        folder: Path = getattr(paths, name)
        yield name, folder, folder.is_dir()
    for name in FILES:
        yield name, paths.config / name, (paths.config / name).is_file()
    project = find_project_file(environ=os.environ, cwd=current_folder())
    if project is not None:
        yield "project", project, True


@config.command()
@click.option("--changed", is_flag=True, help="Only what you changed: settings that asky does not bring like this.")
@json_option
def show(changed: bool, as_json: bool) -> None:
    """Print every setting and where it comes from."""
    entries = list(list_values(configured(), os.environ))
    if changed:
        entries = [each for each in entries if each.origin is not None and each.origin.layer != "packaged"]
    if as_json:
        click.echo(json_text(config_object(entries)))
        return
    lines = [(f"{e.key} = {json_text(e.value)}", str(e.origin or "default")) for e in entries]
    if not lines:
        say("nothing is changed: every setting is as asky brings it")
    width = min(56, max((len(value) for value, _ in lines), default=0))
    for value, origin in lines:
        say(f"{value:<{width}}  # {one_line(origin)}", hang=4, err=False)


@config.command("set")
@click.argument("key", shell_complete=complete_key)
@click.argument("value")
def set_(key: str, value: str) -> None:
    """Set KEY to VALUE in your configuration file.

    A list is written as JSON or TOML: asky config set research.local_document_roots '["~/papers"]'

    models.ALIAS takes a whole model: asky config set models.work openai:MODEL_ID
    """
    file = set_value(key, value, environ=os.environ, cwd=current_folder())
    say(f"set {key} in {one_line(str(file))}")
    origin = configured().origins.get(key)
    if origin is not None and origin.layer != "user":
        say(f"note: here it is overridden by {one_line(str(origin))}")


@config.command()
@click.argument("name", type=click.Choice([name.removesuffix(".toml") for name in FILES]), default="research")
def edit(name: str) -> None:
    """Edit your research.toml (or models.toml, with "models") in $VISUAL or $EDITOR.

    The file is saved only if it is valid.
    """
    if not sys.stdin.isatty():
        raise UsageError("config edit needs a terminal", hint="use: asky config set KEY VALUE")

    file = edit_user_file(f"{name}.toml", environ=os.environ)
    say(f"saved {one_line(str(file))}" if file is not None else "nothing was changed")


@config.command()
def validate() -> None:
    """Check every configuration file and variable, and the programs and prompt files they name."""
    problems = check_config(environ=os.environ, cwd=current_folder()) or [*_missing_programs(), *_unread_prompts()]
    for problem in problems[:-1]:
        say(f"asky: {one_line(problem.message)}")
        if problem.hint:
            say(f"hint: {one_line(problem.hint)}")
    if problems:
        raise problems[-1]
    say("the configuration is valid")


def _missing_programs() -> list[AskyError]:
    return list(find_missing_programs(configured().tools, os.environ))


def _unread_prompts() -> list[AskyError]:
    return list(find_prompt_errors(configured().prompts, os.environ))
