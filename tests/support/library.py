"""asky as a library, over a store of its own and without an embedding model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from asky.app.asky import Asky
from asky.config.loader import load_config
from asky.events import Event, Listener, Noted, ignore


def open_asky(
    tmp_path: Path, listen: Listener = ignore, *, settings: Mapping[str, object] = MappingProxyType({})
) -> Asky:
    """Return the use cases over the store below `tmp_path`, with `settings` of the configuration."""
    environ = {"HOME": str(tmp_path), "ASKY_HOME": str(tmp_path / "asky")}
    flags = {"research.embedding.model": str(tmp_path / "no model"), **settings}
    return Asky.open(load_config(environ=environ, cwd=tmp_path, flags=flags), environ=environ, listen=listen)


def notes_of(heard: list[Event]) -> list[str]:
    """Return what was told to somebody who does not ask for details."""
    return [each.message for each in heard if isinstance(each, Noted) and not each.is_detail]
