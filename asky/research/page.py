"""A web page that has been read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from asky.values import Document, Source


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page as stored in the cache. `source.uri` is its canonical address, `source.url` the one to display.

    `was_cached` says that nothing was fetched now; `is_stale` that fetching failed and this is the older version;
    `is_cut` that the page exceeded the size limit and was truncated.
    """

    source: Source
    document_id: int
    document: Document
    was_cached: bool
    is_cut: bool = False
    is_stale: bool = False


ReadPage = Callable[[str], Awaitable[WebPage]]
"""Reads the page at an address, from the cache where it can. Raises what `asky.net.fetching` and the readers raise."""
