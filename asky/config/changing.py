"""Changes to the user's configuration files, validated before the old file is replaced."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from asky.config.checks import find_contradictions
from asky.config.conversion import WrongValue, convert, parse_text
from asky.config.documents import parse_toml
from asky.config.editing import set_in_text
from asky.config.keys import KeyPath, Leaf, dotted, find, leaves, nearest
from asky.config.layers import Origin
from asky.config.loader import Config, check_user_text, load_config
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


def with_values(config: Config, values: Mapping[str, str], *, environ: Mapping[str, str], cwd: Path) -> Config:
    """Return `config` with the dotted keys of `values` set as by flags, each parsed as in a variable.

    A key may leave out the tables before it (`retrieval.dense_weight`) if no other key ends like this. Raises
    `ConfigError` for an unknown key, a wrong value, and values that contradict each other or `config`.
    """
    origins = dict(config.origins)
    changed = config
    for key, text in values.items():
        path, leaf = _known_key(full_key(key))
        changed = _with_value(changed, path, _value(dotted(path), leaf, text, environ=environ, cwd=cwd))
        origins[dotted(path)] = Origin("flag", "command line")
    for path, problem in find_contradictions(changed):
        raise ConfigError(f"{dotted(path)}: {problem}")
    return replace(changed, origins=MappingProxyType(origins))


def full_key(key: str) -> str:
    """Return the whole name of a key whose first tables may be left out; one that is unknown is returned unchanged."""
    path = _parse_key(key)
    if find(path) is not None:
        return key
    ends = [each for each, _ in leaves() if each[-len(path) :] == path and "NAME" not in each]
    return dotted(ends[0]) if len(ends) == 1 and len(path) > 1 else key


def _with_value(settings: Any, path: KeyPath, value: object) -> Any:
    """Return the frozen `settings` with the value at `path`; on the way, members of families are replaced too."""
    name, rest = path[0], path[1:]
    if isinstance(settings, Mapping):
        if name not in settings:
            raise ConfigError(f"there is no {name} in the configuration to vary")
        return MappingProxyType({**settings, name: _with_value(settings[name], rest, value)})
    return replace(settings, **{name: _with_value(getattr(settings, name), rest, value) if rest else value})


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
