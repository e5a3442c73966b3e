"""The values of a configuration with their origins, for display."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from asky.config.keys import Family, KeyPath, KeyTable, children, dotted
from asky.config.layers import Origin
from asky.config.loader import Config
from asky.config.schema import Settings
from asky.config.secrets import MASK, names_secret, scrub


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """A key, its value in JSON types with secrets masked, and its origin; `None` if nothing set it."""

    key: str
    value: Any
    origin: Origin | None


def list_values(config: Config, environ: Mapping[str, str]) -> Iterator[ConfigEntry]:
    """Yield the entries of `config` in schema order; a key without any value is left out."""
    for path, value in _walk(config, Settings, ()):
        if value is not None and value != () and value != {}:
            name = dotted(path)
            masked = MASK if names_secret(path[-1]) else mask_value(value, environ)
            yield ConfigEntry(name, masked, config.origins.get(name))
        elif dotted(path) in config.origins:
            yield ConfigEntry(dotted(path), mask_value(value, environ), config.origins[dotted(path)])


def _walk(owner: Any, cls: type, path: KeyPath) -> Iterator[tuple[KeyPath, Any]]:
    for name, node in children(cls).items():
        value = getattr(owner, name)
        if isinstance(node, KeyTable):
            yield from _walk(value, node.cls, (*path, name))
        elif isinstance(node, Family):
            for member, table in value.items():
                yield from _walk(table, node.cls, (*path, name, member))
        else:
            yield (*path, name), value


def mask_value(value: Any, environ: Mapping[str, str]) -> Any:
    """Return `value` in JSON types, with the secrets of `environ` masked."""
    if isinstance(value, (tuple, list)):
        return [mask_value(item, environ) for item in value]
    if isinstance(value, Mapping):
        return {name: MASK if names_secret(name) else mask_value(item, environ) for name, item in value.items()}
    return scrub(str(value), environ) if isinstance(value, (str, Path)) else value
