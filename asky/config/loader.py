"""Layers of TOML, variables and flags to one `Config` that knows where each value came from.

    packaged  <  user's config folder  <  project .asky.toml  <  ASKY_* variables  <  flags

A later layer replaces a value; lists are replaced whole. Either every layer is in order or nothing is applied.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from asky.config.documents import Document, parse_document, parse_toml
from asky.config.keys import build
from asky.config.layers import Origin, Reading
from asky.config.packaged import packaged_text
from asky.config.paths import user_file
from asky.config.schema import FILES, Model, Settings
from asky.errors import ConfigError

PROJECT_FILE = ".asky.toml"


@dataclass(frozen=True, slots=True)
class Config(Settings):
    """The configuration. `origins` maps each dotted key that a layer set to the layer that had the last word."""

    origins: Mapping[str, Origin] = field(default_factory=dict)

    def model(self, alias: str | None = None) -> tuple[str, Model]:
        """The model called `alias`, or the default one, with its alias. Raises `ConfigError` for an unknown alias."""
        name = alias or self.default
        if name in self.models:
            return name, self.models[name]
        origin = self.origins.get("default")
        where = f"{origin.source}: " if alias is None and origin is not None else ""
        known = ", ".join(sorted(self.models))
        raise ConfigError(f"{where}there is no model called {name!r}", hint=f"known models: {known}")


def load_config(*, environ: Mapping[str, str], cwd: Path, flags: Mapping[str, object] | None = None) -> Config:
    """The configuration for a process with this environment in the folder `cwd`.

    `flags` maps dotted keys to values of the type TOML would give; they come from the command line and win. Reads
    files, writes none. Raises `ConfigError` for the first thing that is wrong anywhere: a file that is not TOML, an
    unknown key, a wrong type, a key that a project file may not set. `check_config` lists them all.
    """
    reading = _read_layers(environ, cwd, flags or {})
    if reading.problems:
        raise reading.problems[0]
    return _config(reading)


def check_config(*, environ: Mapping[str, str], cwd: Path) -> list[ConfigError]:
    """Everything that is wrong with the configuration, in the order of the layers; empty where it is fine."""
    reading = _read_layers(environ, cwd, {})
    if not reading.problems:
        try:
            _config(reading).model()
        except ConfigError as error:
            return [error]
    return reading.problems


def find_project_file(*, environ: Mapping[str, str], cwd: Path) -> Path | None:
    """The nearest `.asky.toml` in `cwd` or a folder above it, up to the home folder or the root; `None` without one."""
    home = environ.get("HOME")
    for folder in (cwd, *cwd.parents):
        candidate = folder / PROJECT_FILE
        if os.path.isfile(candidate):  # noqa: PTH113 - False, not an error, in a folder that may not be searched
            return candidate
        if str(folder) == home:
            break
    return None


def check_user_text(path: Path, text: str, *, environ: Mapping[str, str]) -> None:
    """Check `text` as the content of the user's `path`, named as one of `FILES`. Raises the first `ConfigError`."""
    reading = Reading(environ, path.parent)
    _read_packaged(reading)
    reading.add_document("user", parse_document(path, text), path.name)
    reading.finish()
    if reading.problems:
        raise reading.problems[0]


def _read_layers(environ: Mapping[str, str], cwd: Path, flags: Mapping[str, object]) -> Reading:
    reading = Reading(environ, cwd)
    _read_packaged(reading)
    for name in FILES:
        reading.add_file("user", user_file(environ, name), name)
    project = find_project_file(environ=environ, cwd=cwd)
    if project is not None:
        reading.add_file("project", project, "research.toml")
    for variable in sorted(environ):
        if variable.startswith("ASKY_") and environ[variable]:
            reading.add_variable(variable, environ[variable])
    for key, value in flags.items():
        reading.add_flag(key, value)
    reading.finish()
    return reading


def _read_packaged(reading: Reading) -> None:
    for name in FILES:
        reading.add_document("packaged", Document(Path(name), parse_toml(packaged_text(name)), {}), name)


def _config(reading: Reading) -> Config:
    settings = build(reading.values)
    return Config(
        research=settings.research,
        ui=settings.ui,
        default=settings.default,
        models=settings.models,
        origins=MappingProxyType(reading.origins()),
    )
