"""asky answers questions from sources and shows the passages behind each answer.

The names below are the public API; `asky.values` and `asky.app.requests` have the rest. Each is imported on first use,
so that `import asky` costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asky.app.asky import Asky
    from asky.app.requests import AskRequest
    from asky.app.sync import SyncAsky
    from asky.config.loader import Config, load_config
    from asky.errors import AskyError
    from asky.events import Event
    from asky.values import Answer, Citation, Hit, Source
    from asky.version import __version__ as __version__

__all__ = [
    "Answer",
    "AskRequest",
    "Asky",
    "AskyError",
    "Citation",
    "Config",
    "Event",
    "Hit",
    "Source",
    "SyncAsky",
    "load_config",
]

_HOMES: Mapping[str, str] = MappingProxyType(
    {
        "AskRequest": "asky.app.requests",
        "Asky": "asky.app.asky",
        "AskyError": "asky.errors",
        "Config": "asky.config.loader",
        "Event": "asky.events",
        "SyncAsky": "asky.app.sync",
        "__version__": "asky.version",
        "load_config": "asky.config.loader",
    }
)


def __getattr__(name: str) -> object:
    if name not in __all__ and name not in _HOMES:
        raise AttributeError(f"module 'asky' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES.get(name, "asky.values")), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
