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


def key_variables() -> frozenset[str]:
    """The variables of this process that hold keys of providers, for masking them; none where that cannot be said.

    Those of the packaged providers say by their names that they hold a secret.
    """
    from asky.config.loader import find_key_variables  # 15 ms: only where something failed

    try:
        return find_key_variables(environ=os.environ, cwd=current_folder())
    except Exception:  # noqa: BLE001 - an error is being reported, and that must not fail
        return frozenset()
