"""Changes to the user's configuration files, validated before the old file is replaced."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from asky.config.conversion import WrongValue, convert, parse_text
from asky.config.documents import parse_toml
from asky.config.editing import set_in_text
from asky.config.keys import KeyPath, Leaf, dotted, find, nearest
from asky.config.loader import check_user_text, load_config
from asky.config.paths import expand_user, update_private, user_file
from asky.config.schema import FILES
from asky.errors import ConfigError


def set_value(key: str, text: str, *, environ: Mapping[str, str], cwd: Path) -> Path:
    """Set the dotted `key` in the user's file to `text`, parsed as in a variable; return the file.

    Comments and the rest of the file stay. Raises `ConfigError` for an unknown key, a wrong value, or a file that would
    not be a valid configuration, and `NotConfigured` for a default model that does not exist; the file is then
    unchanged.
    """
    path, leaf = _known_key(key)
    value = _value(key, leaf, text, environ=environ, cwd=cwd)
    if path == ("default",):
        load_config(environ={**environ, "ASKY_MODEL": ""}, cwd=cwd).model(value)  # raises unless it exists
    file = user_file(environ, next(name for name, tops in FILES.items() if path[0] in tops))

    def change(old: str | None) -> str:
        if old is not None:
            check_user_text(file, old, environ=environ)
        new = set_in_text(old or "", path, value, file=file)
        check_user_text(file, new, environ=environ)
        return new

    update_private(file, change)
    return file


def _known_key(key: str) -> tuple[KeyPath, Leaf]:
    path = _parse_key(key)
    node = find(path)
    if isinstance(node, Leaf):
        return path, node
    if node is not None:
        raise ConfigError(f"{key} is a table, not a key", hint="see: asky config show")
    close = nearest(path)
    raise ConfigError(f"unknown key {key}", hint=f"did you mean {dotted(close)}?" if close else "see: asky config show")


def _parse_key(key: str) -> KeyPath:
    try:
        data: Any = parse_toml(f"{key} = 0")
    except (ValueError, RecursionError):
        data = {key: 0}
    path: list[str] = []
    while isinstance(data, dict) and data:
        name, data = next(iter(data.items()))
        path.append(name)
    return tuple(path)


def _value(key: str, leaf: Leaf, text: str, *, environ: Mapping[str, str], cwd: Path) -> Any:
    def expand(written: str) -> Path:
        return cwd / expand_user(written, environ)

    try:
        return convert(leaf, parse_text(leaf, text), expand)
    except WrongValue as error:
        raise ConfigError(f"{key}: {error}", hint=error.hint) from None
