"""What a command takes from the process that it runs in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from asky.errors import UsageError

if TYPE_CHECKING:
    from asky.config.loader import Config


def current_folder() -> Path:
    """The folder that asky was called in. Raises `UsageError` where it has been deleted."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise UsageError("the current folder does not exist any more", hint="change to another one") from None


def configured(flags: Mapping[str, object] | None = None) -> Config:
    """The configuration of this process, with `flags` on top. Raises `ConfigError`."""
    from asky.config.loader import load_config  # 15 ms: not for --help

    return load_config(environ=os.environ, cwd=current_folder(), flags=flags)
