"""Cached web addresses and targets of adapters: the source of their text, their links, and when to request them again.

A page's text is the document of a source like any other; the cache holds that source through its own collection, and so
does every session that used it. Removing a page here therefore never affects what a session can cite. Sources of
adapters are private, and not in that collection.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from asky.errors import StorageError, StoreDamaged
from asky.storage.corpus import CorpusStore
from asky.storage.database import Database
from asky.storage.stored_json import FAILURE, LINKS, SUMMARY, stored_json
from asky.values import Failure, Link, Unreadable

CACHE_COLLECTION = "web cache"
"""The collection that holds every page of the cache."""


@dataclass(frozen=True, slots=True)
class PageRow:
    """One address. Times are in seconds since 1970; `bytes` is the size of its text in UTF-8.

    `source_id` is `None` for an address that could not be read, and `failure` then gives the reason, and for the target
    of an adapter that is a list. The `etag` of a target is a digest of the command that read it.
    """

    url: str
    final_url: str
    fetched_at: float
    expires_at: float
    used_at: float
    source_id: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    links: tuple[Link, ...] = ()
    is_cut: bool = False
    bytes: int = 0
    failure: Failure | None = None

    def fresh_until(self, ttl_s: float) -> float:
        """Return when the page expires: at the latest `ttl_s` after it was fetched, whatever the setting was then.

        A failed address keeps the expiry set when it failed.
        """
        return self.expires_at if self.failure is not None else min(self.expires_at, self.fetched_at + ttl_s)


@dataclass(frozen=True, slots=True)
class PageCounts:
    """Pages with a text, how many of them are stale, addresses that could not be read, and bytes of text."""

    pages: int
    stale: int
    failures: int
    bytes: int


class PageTable:
    """The repository of pages."""

    def __init__(self, database: Database, corpus: CorpusStore) -> None:
        self._db = database
        self._corpus = corpus

    def get(self, url: str) -> PageRow | None:
        """Return the row of a canonical address."""
        with self._db.read() as connection:
            row = connection.execute("SELECT * FROM page WHERE url = ?", (url,)).fetchone()
        return _page(row) if row is not None else None

    def put(self, row: PageRow) -> None:
        """Store the row of an address, replacing the old one."""
        with self._db.write() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO page(url, source_id, final_url, etag, last_modified, links, is_cut, bytes,"
                " failure, fetched_at, expires_at, used_at) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
                (
                    row.url, row.source_id, row.final_url, row.etag, row.last_modified,
                    json.dumps([(each.url, each.text, each.start) for each in row.links], ensure_ascii=False),
                    row.is_cut, row.bytes, _failure_text(row.failure), row.fetched_at, row.expires_at, row.used_at,
                ),
            )  # fmt: skip

    def renew(self, url: str, *, fetched_at: float, expires_at: float) -> None:
        """Mark an unchanged page as fresh again."""
        with self._db.write() as connection:
            connection.execute(
                "UPDATE page SET fetched_at = ?, expires_at = ?, used_at = ? WHERE url = ?",
                (fetched_at, expires_at, fetched_at, url),
            )

    def summary(self, source_id: str, document_id: int) -> str | None:
        """Return the summary of a page's text, if there is one of this version."""
        with self._db.read() as connection:
            row = connection.execute(
                "SELECT summary FROM page WHERE source_id = ? AND summary IS NOT NULL LIMIT 1", (source_id,)
            ).fetchone()
        kept = stored_json(row["summary"], SUMMARY, f"the summary of {source_id}") if row is not None else None
        return str(kept["text"]) if kept is not None and kept["document"] == document_id else None

    def keep_summary(self, source_id: str, document_id: int, text: str) -> None:
        """Store the summary of a page's text."""
        with self._db.write() as connection:
            connection.execute(
                "UPDATE page SET summary = ? WHERE source_id = ?",
                (json.dumps({"document": document_id, "text": text}, ensure_ascii=False), source_id),
            )

    def note_use(self, urls: Iterable[str], now: float) -> None:
        """Record the use of pages, so that others are removed first when space is short.

        A store that cannot be written is not an error.
        """
        with suppress(StorageError), self._db.write() as connection:
            connection.executemany("UPDATE page SET used_at = ? WHERE url = ?", [(now, url) for url in urls])

    def pages(self, *, matching: str = "", limit: int | None = None) -> list[PageRow]:
        """Return the addresses that contain `matching`, last used first."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT * FROM page WHERE instr(url, ?) > 0 OR ? = '' ORDER BY used_at DESC, url LIMIT ?",
                (matching, matching, -1 if limit is None else limit),
            )
            return [_page(row) for row in rows]

    def of_files(self, collection_ids: Iterable[int]) -> list[PageRow]:
        """Return the rows of targets of adapters whose texts these collections hold, by URL."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT DISTINCT page.* FROM page JOIN source ON source.id = page.source_id JOIN collection_source AS c"
                " ON c.source_id = source.id WHERE source.kind = 'file'"
                " AND c.collection_id IN (SELECT value FROM json_each(?)) ORDER BY page.url",
                (json.dumps(list(collection_ids)),),
            )
            return [_page(row) for row in rows]

    def listed(self, *, matching: str = "", limit: int | None = None) -> list[PageRow | Unreadable]:
        """Return the rows of `pages`, with an `Unreadable` in place of an error."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT CAST(url AS BLOB) AS url FROM page WHERE instr(url, ?) > 0 OR ? = ''"
                " ORDER BY used_at DESC, url LIMIT ?",
                (matching, matching, -1 if limit is None else limit),
            ).fetchall()
        found = (self._readable(row["url"]) for row in rows)
        return [each for each in found if each is not None]

    def _readable(self, url: bytes) -> PageRow | Unreadable | None:
        try:
            with self._db.read() as connection:
                row = connection.execute("SELECT * FROM page WHERE url = CAST(? AS TEXT)", (url,)).fetchone()
            return _page(row) if row is not None else None  # None: removed meanwhile
        except StoreDamaged as error:
            return Unreadable(url.decode("utf-8", "replace"), error.message)

    def counts(self, now: float, *, ttl_s: float = math.inf) -> PageCounts:
        """Return the counts of the cache; stale means not fresh by `PageRow.fresh_until`."""
        with self._db.read() as connection:
            row = connection.execute(
                "SELECT count(source_id),"
                " count(CASE WHEN source_id IS NOT NULL AND min(expires_at, fetched_at + ?) <= ? THEN 1 END),"
                " count(failure), coalesce(sum(bytes), 0) FROM page",
                (ttl_s, now),
            ).fetchone()
        return PageCounts(*row)

    def remove(self, urls: Sequence[str]) -> int:
        """Delete addresses, and the texts that nothing else holds; return how many addresses existed."""
        with self._db.write() as connection:
            rows = connection.execute(
                "DELETE FROM page WHERE url IN (SELECT value FROM json_each(?)) RETURNING source_id",
                (json.dumps(list(urls)),),
            ).fetchall()
            left = connection.execute("SELECT id FROM collection WHERE name = ?", (CACHE_COLLECTION,)).fetchone()
            sources = {row["source_id"] for row in rows if row["source_id"] is not None}
            unused = [
                each
                for each in sorted(sources)
                if not connection.execute("SELECT 1 FROM page WHERE source_id = ? LIMIT 1", (each,)).fetchone()
            ]
            if left is not None:
                self._corpus.remove_sources(left["id"], unused)
        return len(rows)

    def outdated(self, now: float, *, keep_s: float, max_bytes: int) -> list[str]:
        """Return the addresses to delete: those that cannot be revalidated or were stale for `keep_s`, and, least
        recently used first, those beyond `max_bytes` of text.
        """
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT url, bytes, expires_at,"
                " failure IS NULL AND (etag IS NOT NULL OR last_modified IS NOT NULL) AS renewable"
                " FROM page ORDER BY used_at DESC, url"
            ).fetchall()
        gone: list[str] = []
        held = 0
        for row in rows:
            is_over = row["expires_at"] + (keep_s if row["renewable"] else 0) <= now
            if is_over or held + row["bytes"] > max_bytes:
                gone.append(row["url"])
            else:
                held += row["bytes"]
        return gone


class SearchTable:
    """Cached search results: JSON under a key that covers the whole request."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def get(self, key: str, now: float) -> str | None:
        """Return the results of a search, unless they have expired."""
        with self._db.read() as connection:
            row = connection.execute(
                "SELECT results FROM search WHERE key = ? AND expires_at > ?", (key, now)
            ).fetchone()
        return row["results"] if row is not None else None

    def put(self, key: str, results: str, *, expires_at: float) -> None:
        """Store the results of a search."""
        with self._db.write() as connection:
            connection.execute("INSERT OR REPLACE INTO search VALUES (?, ?, ?)", (key, results, expires_at))

    def remove(self, now: float | None = None) -> int:
        """Delete expired results, or everything; return how many searches were deleted."""
        with self._db.write() as connection:
            if now is None:
                return connection.execute("DELETE FROM search").rowcount
            return connection.execute("DELETE FROM search WHERE expires_at <= ?", (now,)).rowcount


def _page(row: sqlite3.Row) -> PageRow:
    return PageRow(
        url=row["url"],
        final_url=row["final_url"],
        fetched_at=row["fetched_at"],
        expires_at=row["expires_at"],
        used_at=row["used_at"],
        source_id=row["source_id"],
        etag=row["etag"],
        last_modified=row["last_modified"],
        links=tuple(Link(*each) for each in stored_json(row["links"], LINKS, f"the links of {row['url']}")),
        is_cut=bool(row["is_cut"]),
        bytes=row["bytes"],
        failure=Failure(**stored_json(row["failure"], FAILURE, f"the failure of {row['url']}"))
        if row["failure"]
        else None,
    )


def _failure_text(failure: Failure | None) -> str | None:
    if failure is None:
        return None
    return json.dumps(
        {
            "subject": failure.subject,
            "code": failure.code,
            "message": failure.message,
            "hint": failure.hint,
            "retryable": failure.retryable,
        }
    )
