"""Pages of the cache as JSON objects."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from asky.app.schemas.damage import damaged_objects
from asky.evidence.unread import unread_fields

if TYPE_CHECKING:
    from collections.abc import Sequence

    from asky.app.cache import CachedPage, CacheStats
    from asky.app.records import Listing
    from asky.values import UnreadFile


def pages_object(pages: Listing[CachedPage]) -> dict[str, Any]:
    """Return pages of the cache as an `asky.pages/1` object."""
    described = [_page_object(each) for each in pages.found]
    return {"schema": "asky.pages/1", "pages": described, "damaged": damaged_objects(pages.damaged)}


def page_object(page: CachedPage, text: str | None, unread: Sequence[UnreadFile]) -> dict[str, Any]:
    """Return a page of the cache with its links, its text and what is `unread` of it as an `asky.page/1` object."""
    links = [{"url": link.url, "text": link.text, "start": link.start} for link in page.links]
    return {"schema": "asky.page/1", **_page_object(page), "links": links, "text": text, **unread_fields(unread)}


def _page_object(page: CachedPage) -> dict[str, Any]:
    from asky.app.cache import utc_time  # 35 ms: only for pages

    return {
        "url": page.url,
        "final_url": page.final_url,
        "source_id": page.source_id,
        "state": page.state,
        "failure": page.failure,
        "bytes": page.bytes,
        "links": len(page.links),
        "is_cut": page.is_cut,
        "fetched_at": utc_time(page.fetched_at),
        "expires_at": utc_time(page.expires_at),
    }


def cache_object(stats: CacheStats) -> dict[str, Any]:
    """Return the contents of the cache as an `asky.cache/1` object."""
    return {"schema": "asky.cache/1", **asdict(stats)}
