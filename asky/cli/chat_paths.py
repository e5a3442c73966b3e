"""Paths that are typed after a slash command."""

from __future__ import annotations

import shlex
from pathlib import Path

from asky.errors import UsageError

QUOTE_THEM = "put quotes around a path with spaces"
"""What to do where several paths were meant to be one."""


def typed_paths(rest: str) -> list[Path]:
    """The paths, as a shell tells them apart. Raises `UsageError` for a quote without its end."""
    try:
        return [Path(each) for each in shlex.split(rest)]
    except ValueError as error:
        hint = """a path with an apostrophe stands in double quotes, such as "bob's notes\""""
        raise UsageError(f"cannot tell the paths apart: {str(error).lower()}", hint=hint) from error


def one_typed_path(rest: str, command: str) -> Path:
    """The one path that `command` takes. Raises `UsageError` for none, and for more."""
    paths = typed_paths(rest)
    if not paths:
        raise UsageError(f"{command} needs a file", hint=f"for example: {command} tides.md")
    if len(paths) > 1:
        raise UsageError(f"{command} takes one file, not {len(paths)}", hint=f'{QUOTE_THEM}: {command} "{rest}"')
    return paths[0].expanduser()
