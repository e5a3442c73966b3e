"""asky answers questions from sources that it can show.

The names below are the public API. Each is imported when it is first used, so that `import asky` costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asky.config.loader import Config, load_config
    from asky.errors import AskyError
    from asky.values import Answer, Citation, Claim, Document, Evidence, Hit, Source

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "AskyError",
    "Citation",
    "Claim",
    "Config",
    "Document",
    "Evidence",
    "Hit",
    "Source",
    "load_config",
]

_HOMES: Mapping[str, str] = MappingProxyType(
    {"AskyError": "asky.errors", "Config": "asky.config.loader", "load_config": "asky.config.loader"}
)


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'asky' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES.get(name, "asky.values")), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
