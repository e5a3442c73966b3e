"""A web page that has been read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from asky.values import Document, Source


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page as it is in the cache. `source.uri` is its canonical address, `source.url` the one to show.

    `was_cached` says that nothing was fetched for it now; `is_stale` that it could not be fetched and is what it was
    before; `is_cut` that the page was longer than what is read of one.
    """

    source: Source
    document_id: int
    document: Document
    was_cached: bool
    is_cut: bool = False
    is_stale: bool = False


ReadPage = Callable[[str], Awaitable[WebPage]]
"""Reads the page at an address, from the cache where it can. Raises what `asky.net.fetching` and the readers raise."""
