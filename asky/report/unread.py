"""What could not be read of the documents behind a report, as a short list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from asky.evidence.unread import describe_fields
from asky.report.markup import Html, tag


def unread_section(made: Mapping[str, Any], *, level: int) -> Html:
    """Render what was not read as an object with `unread_fields` says, below a heading of `level`; empty if all was."""
    lines = describe_fields(made)
    if not lines:
        return Html()
    rows = (tag("li", each, dir="auto") for each in lines)
    return tag("section", tag(f"h{level}", "Not read"), tag("ul", *rows), class_="judged")
