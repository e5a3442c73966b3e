"""Edit a configuration file in the user's editor, on a copy that is checked before it replaces the file."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from asky.config.documents import read_text
from asky.config.loader import check_user_text
from asky.config.paths import ensure_private_dir, update_private, user_file
from asky.errors import ConfigError, UsageError


def edit_user_file(name: str, *, environ: Mapping[str, str]) -> Path | None:
    """Open the user's configuration file `name` in the editor; return its path, or `None` if nothing changed.

    Raises `UsageError` if the editor cannot be started or fails, and `ConfigError` if the edited configuration is
    invalid. The file is then unchanged, and the message names the copy that holds the edit.
    """
    file = user_file(environ, name)
    folder = ensure_private_dir(file.parent)
    before = read_text(file)
    handle, copy_name = tempfile.mkstemp(dir=folder, prefix=f".{file.stem}.", suffix=".toml")
    copy = Path(copy_name)
    with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
        stream.write(_START.format(name=name) if before is None else before)
    started_with = read_text(copy)
    try:
        run_editor(copy, environ)
        after = read_text(copy)
        if after is None or after == started_with:
            copy.unlink(missing_ok=True)
            return None
        check_user_text(file, after, environ=environ)
    except (ConfigError, UsageError) as error:
        if copy.read_bytes() == (started_with or "").encode():
            copy.unlink()
            raise
        raise ConfigError(f"{error.message}; {name} is unchanged", hint=f"your edit is kept in {copy}") from error
    update_private(file, lambda _: after)
    copy.unlink(missing_ok=True)
    return file


_START = "# Your own {name}: it overrides the packaged one. `asky config show` lists the keys.\n"


def run_editor(file: Path, environ: Mapping[str, str]) -> None:
    """Edit `file` in `$VISUAL`, `$EDITOR` or `vi`. Raises `UsageError` if the editor cannot start or fails."""
    command = environ.get("VISUAL") or environ.get("EDITOR") or "vi"
    try:
        status = subprocess.run([*shlex.split(command), str(file)], check=False).returncode
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot start the editor {command!r}", hint="set $VISUAL or $EDITOR") from error
    if status != 0:
        raise UsageError(f"the editor {command!r} failed with status {status}", hint="nothing was changed")
