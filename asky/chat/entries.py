"""The ledger entries of chat, in addition to those of every product.

These are their templates, see `asky.storage.stored_json`; the store is opened with those of all products.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from asky.runs.entries import RUN_ENTRIES
from asky.storage.stored_json import NUMBER, fits

_PROGRAM = {"tool": str, "argv": [str], "ended": str}
_ENDED = {"status": int | None, "output_bytes": int, "seconds": NUMBER}


def _is_program(value: Any) -> bool:
    return fits(value, _PROGRAM) and (value["ended"] == "not_started" or fits(value, _ENDED))


CHAT_ENTRIES: Mapping[str, Any] = MappingProxyType({**RUN_ENTRIES, "ran": _is_program})
