"""Merges layers of TOML, variables and flags into one `Config` that records where each value came from.

    packaged  <  user's config folder  <  project .asky.toml  <  ASKY_* variables  <  flags

A later layer replaces a value; lists are replaced whole. Either every layer is valid or nothing is applied.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType

from asky.config.documents import TomlDocument, parse_document, parse_toml
from asky.config.endpoints import usable_base_url
from asky.config.keys import build
from asky.config.layers import FOREIGN_BASE_URL, LayerReader, Origin
from asky.config.models import ChosenModel, choose_model
from asky.config.packaged import packaged_text
from asky.config.paths import user_file
from asky.config.schema import FILES, Settings
from asky.errors import AskyError, ConfigError, NotConfigured

PROJECT_FILE = ".asky.toml"


@dataclass(frozen=True, slots=True)
class Config(Settings):
    """The configuration. `origins` maps each dotted key that was set to the last layer that set it."""

    origins: Mapping[str, Origin] = field(default_factory=dict)

    @property
    def is_default_chosen(self) -> bool:
        """`True` once anybody has chosen the default model; until then it is the one that asky brings."""
        origin = self.origins.get("default")
        return origin is not None and origin.layer != "packaged"

    def model(self, name: str | None = None) -> ChosenModel:
        """Return the model called `name`, an alias or `PROVIDER:MODEL_ID`, or the default one.

        Raises `NotConfigured` if there is none of that name, and `ConfigError` if `OPENAI_BASE_URL` gives the model's
        provider an invalid address.
        """
        origin = self.origins.get("default")
        requested_by = origin.source if not name and origin is not None else None
        chosen = choose_model(self, name or self.default, requested_by=requested_by)
        if chosen.provider is not None and not chosen.provider.base_url:
            raise ConfigError(
                f"{FOREIGN_BASE_URL}: not a valid address of a model",
                hint='it must look like "http://localhost:8000/v1", without a user name, a password, ? or #',
            )
        return chosen

    def max_turns(self, chosen: ChosenModel) -> int:
        """Return the maximum number of model calls in a run: the flag's, else the model's, else the general one."""
        origin = self.origins.get("research.max_turns")
        if chosen.model.max_turns is None or (origin is not None and origin.layer == "flag"):
            return self.research.max_turns
        return chosen.model.max_turns


def load_config(*, environ: Mapping[str, str], cwd: Path, flags: Mapping[str, object] | None = None) -> Config:
    """Load the configuration for a process with this environment in the folder `cwd`.

    `flags` maps dotted keys to values of the TOML type; they come from the command line and win. Reads files, writes
    none. Raises `ConfigError` for the first error anywhere: a file that is not TOML, an unknown key, a wrong type, a
    key that a project file may not set. `check_config` lists them all.
    """
    reading = _read_layers(environ, cwd, flags or {})
    if reading.problems:
        raise reading.problems[0]
    return _config(reading)


def check_config(*, environ: Mapping[str, str], cwd: Path) -> list[AskyError]:
    """Return all errors in the configuration, in the order of the layers; empty if it is valid.

    A default model that does not exist counts; a key that is not set does not.
    """
    reading = _read_layers(environ, cwd, {})
    if not reading.problems:
        try:
            _config(reading).model()
        except (ConfigError, NotConfigured) as error:
            return [error]
    return list(reading.problems)


def find_key_variables(*, environ: Mapping[str, str], cwd: Path) -> frozenset[str]:
    """Return the variables that hold keys of providers and search services, as far as the configuration can be read.

    It need not be valid. Raises `ConfigError` if the folders of the configuration cannot be determined.
    """
    values = _read_layers(environ, cwd, {}).values
    return frozenset(
        name for path, name in values.items() if path[0] in ("providers", "search") and path[-1] == "api_key_env"
    )


def find_project_file(*, environ: Mapping[str, str], cwd: Path) -> Path | None:
    """Return the nearest `.asky.toml` in `cwd` or a folder above it, up to the home folder or the root, or `None`."""
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
    reading = LayerReader(environ, path.parent)
    _read_packaged(reading)
    reading.add_document("user", parse_document(path, text), path.name)
    reading.finish()
    if reading.problems:
        raise reading.problems[0]


def _read_layers(environ: Mapping[str, str], cwd: Path, flags: Mapping[str, object]) -> LayerReader:
    reading = LayerReader(environ, cwd)
    _read_packaged(reading)
    for name in FILES:
        reading.add_file("user", user_file(environ, name), name)
    project = find_project_file(environ=environ, cwd=cwd)
    if project is not None:
        reading.add_file("project", project, "research.toml")
    if address := environ.get(FOREIGN_BASE_URL, "").strip():
        reading.add_foreign_variable(FOREIGN_BASE_URL, ("providers", "openai", "base_url"), usable_base_url(address))
    if model := environ.get("RESEARCH_MODEL", "").strip():
        reading.add_foreign_variable("RESEARCH_MODEL", ("notes", "model"), model)
    for variable in sorted(environ):
        if variable.startswith("ASKY_") and environ[variable]:
            reading.add_variable(variable, environ[variable])
    for key, value in flags.items():
        reading.add_flag(key, value)
    reading.finish()
    return reading


def _read_packaged(reading: LayerReader) -> None:
    for name in FILES:
        reading.add_document("packaged", TomlDocument(Path(name), parse_toml(packaged_text(name)), {}), name)


def _config(reading: LayerReader) -> Config:
    settings: Settings = build(reading.values)
    tables = {field.name: getattr(settings, field.name) for field in fields(settings)}
    return Config(**tables, origins=MappingProxyType(reading.origins()))
