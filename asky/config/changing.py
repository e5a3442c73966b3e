"""Changes to the user's configuration files, validated before the old file is replaced."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
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

_ALIAS_DEPTH = 2  # models.ALIAS
_PLACE = re.compile(r"^(?::\d+){0,2}: ")


def set_value(key: str, text: str, *, environ: Mapping[str, str], cwd: Path) -> Path:
    """Set the dotted `key` in the user's file to `text`, parsed as in a variable; return the file.

    `models.ALIAS` takes a whole model, `PROVIDER:MODEL_ID`. Comments and the rest of the file stay. Raises
    `ConfigError` for an unknown key, a wrong value, or a file that would not be a valid configuration, and
    `NotConfigured` for a model that does not exist; the file is then unchanged.
    """
    alias = _alias_of(key)
    if alias is not None:
        values: dict[KeyPath, Any] = dict(_model_values(alias, text, load_config(environ=environ, cwd=cwd)))
    else:
        path, leaf = _known_key(key)
        values = {path: _value(key, leaf, text, environ=environ, cwd=cwd)}
        if path == ("default",):
            load_config(environ={**environ, "ASKY_MODEL": ""}, cwd=cwd).model(values[path])  # raises unless it exists
    top = next(iter(values))[0]
    file = user_file(environ, next(name for name, tops in FILES.items() if top in tops))

    def change(old: str | None) -> str:
        if old is not None:
            check_user_text(file, old, environ=environ)
        new = old or ""
        for path, value in values.items():
            new = set_in_text(new, path, value, file=file)
        _check_change(file, new, key, environ=environ)
        return new

    update_private(file, change)
    return file


def _alias_of(key: str) -> str | None:
    """Return the alias that `models.ALIAS` names as a whole, or `None` for any other key."""
    path = _parse_key(key)
    return path[1] if len(path) == _ALIAS_DEPTH and path[0] == "models" else None


def _model_values(alias: str, text: str, config: Config) -> Iterator[tuple[KeyPath, str]]:
    """Yield the keys and values of an alias for `PROVIDER:MODEL_ID`. Raises `NotConfigured` if there is none."""
    model = config.model(text.strip()).model
    yield ("models", alias, "provider"), model.provider
    if model.id is not None:
        yield ("models", alias, "id"), model.id


def _check_change(file: Path, text: str, key: str, *, environ: Mapping[str, str]) -> None:
    """Raise `ConfigError` if `text`, which is not in `file` yet, is no valid configuration; it names no line of it."""
    try:
        check_user_text(file, text, environ=environ)
    except ConfigError as error:
        path, message = _parse_key(key), _PLACE.sub("", error.message.removeprefix(str(file)))
        hint = error.hint
        if path[0] == "models" and len(path) > _ALIAS_DEPTH and "missing" in message:
            hint = f"`asky config set {dotted(path[:_ALIAS_DEPTH])} PROVIDER:MODEL_ID` makes the alias first"
        raise ConfigError(f"{key} was not set: {message}", hint=hint) from None


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
