"""Events of a run as lines that a host shows while it waits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from asky.text.printable import one_line

_MAX_CHARS = 200


def progress_line(event: Mapping[str, Any]) -> str | None:
    """Return an `asky.event/1` object in a few words; `None` for pieces of the answer and for details."""
    line = event["message"]
    if line is None or event.get("is_detail"):
        return None
    return one_line(f"warning: {line}" if event["event"] == "warned" else line)[:_MAX_CHARS]
