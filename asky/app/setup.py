"""First steps: the search services that need no key."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from asky.config.changing import set_value
from asky.search.catalog import check_packages, configured, keyless

if TYPE_CHECKING:
    from asky.config.loader import Config


def keyless_services() -> dict[str, str]:
    """Return the search services that need no key, by name, with a line on each; see `asky.search.catalog.keyless`."""
    return keyless()


def services_in_use(config: Config, environ: Mapping[str, str]) -> Sequence[str]:
    """Return the names of the services that questions search with now. Raises `ConfigError` for an unknown name."""
    return configured(config.search, environ)


def use_services(names: Sequence[str], *, environ: Mapping[str, str], cwd: Path) -> Path:
    """Search with these services from now on, and return the user's file that says so.

    The next start reads it. Raises `ConfigError` for an unknown name, and `NotConfigured` for a service whose package
    is not installed.
    """
    check_packages(names)
    return set_value("search.providers", json.dumps(list(names)), environ=environ, cwd=cwd)
