"""Editing the text of a prompt in the user's editor."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from asky.cli.terminal.editor import run_editor


def edit_text(text: str, environ: Mapping[str, str]) -> str:
    """Return `text` as edited in `$VISUAL`, `$EDITOR` or `vi`, without its last line break.

    Raises `UsageError` if the editor cannot be started or fails, and `OSError` if the file cannot be created.
    """
    handle, name = tempfile.mkstemp(prefix="asky-", suffix=".md")  # 0600
    file = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(text.encode("utf-8", "replace"))
        run_editor(file, environ)
        edited = file.read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:  # the editor removed the file
        edited = ""
    finally:
        file.unlink(missing_ok=True)
    return edited.replace("\r\n", "\n").removesuffix("\n")
