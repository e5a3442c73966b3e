"""The names under which papers are cited."""

from __future__ import annotations

import re

from asky.values import Source

PAPER_URI = "paper:"
"""What the URI of a paper's text begins with, before the id of the paper."""

_VERSION = re.compile(r"v[1-9]\d{0,3}$")


def paper_name(source: Source) -> str | None:
    """Return the name under which a paper's text is cited, such as `2509.10446v1`; `None` for any other source."""
    if not source.uri.startswith(PAPER_URI) or "#" in source.uri:
        return None
    id_ = source.uri.removeprefix(PAPER_URI)
    _, found, version = (source.url or "").rpartition(id_)
    return id_ + version if found and _VERSION.fullmatch(version) else id_
