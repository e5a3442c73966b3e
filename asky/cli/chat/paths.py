"""Paths typed after a slash command."""

from __future__ import annotations

import shlex
from pathlib import Path

from asky.app.requests import DocumentName, document_name
from asky.errors import UsageError

QUOTE_THEM = "put quotes around a path with spaces"
"""Hint for several paths that were meant to be one."""


def typed_paths(rest: str) -> list[Path]:
    """Return the paths, split as a shell would. Raises `UsageError` for a missing closing quote."""
    return [Path(each) for each in _split(rest)]


def _split(rest: str) -> list[str]:
    try:
        return shlex.split(rest)
    except ValueError as error:
        hint = """put double quotes around a path with an apostrophe, such as "bob's notes\""""
        raise UsageError(f"cannot parse the paths: {str(error).lower()}", hint=hint) from error


def typed_documents(rest: str) -> list[DocumentName]:
    """Return the paths and the targets of adapters, as `typed_paths` does, with `~` expanded."""
    names = [document_name(each) for each in _split(rest)]
    return [each if isinstance(each, str) else each.expanduser() for each in names]


def one_typed_path(rest: str, command: str) -> Path:
    """Return the one path that `command` takes. Raises `UsageError` for none or several."""
    paths = typed_paths(rest)
    if not paths:
        raise UsageError(f"{command} needs a file", hint=f"for example: {command} tides.md")
    if len(paths) > 1:
        raise UsageError(f"{command} takes one file, not {len(paths)}", hint=f'{QUOTE_THEM}: {command} "{rest}"')
    return paths[0].expanduser()
