"""The names under which papers are cited."""

from __future__ import annotations

import re

from asky.values import Source

PAPER_URI = "paper:"
"""What the URI of a paper's text begins with, before the id of the paper."""

OF_NOTES = "#notes"
"""What the URI of the user's notes on a paper ends with."""

_VERSION = re.compile(r"v[1-9]\d{0,3}$")


def paper_name(source: Source) -> str | None:
    """Return the name under which a paper's text is cited, such as `2509.10446v1`; `None` for any other source."""
    if not source.uri.startswith(PAPER_URI) or "#" in source.uri:
        return None
    id_ = source.uri.removeprefix(PAPER_URI)
    _, found, version = (source.url or "").rpartition(id_)
    return id_ + version if found and _VERSION.fullmatch(version) else id_


def noted_paper(source: Source) -> str | None:
    """Return the id of the paper that a source has the user's notes on; `None` for any other source."""
    is_of_notes = source.uri.startswith(PAPER_URI) and source.uri.endswith(OF_NOTES)
    return source.uri.removeprefix(PAPER_URI).removesuffix(OF_NOTES) if is_of_notes else None
