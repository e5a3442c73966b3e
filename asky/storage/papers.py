"""The table of the paper library: which source is which paper, and the files that papers were read from."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from asky.storage.corpus import source_of
from asky.storage.database import Database
from asky.values import Source

PaperStatus = Literal["complete", "no_text"]
"""Whether the text of a paper is there; `no_text` for a PDF whose pages are scanned or cannot be read."""


@dataclass(frozen=True, slots=True)
class PaperFile:
    """A file that a paper was read from, as it was then."""

    path: str
    size: int
    mtime_ns: int
    content_sha256: str


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper of the library.

    `id` is an arXiv id without its version, a DOI, or else a name made of author, year and title; `version` is the
    arXiv version that was read. `source` has the title, the authors and the text.
    """

    id: str
    version: int | None
    doi: str | None
    pmid: str | None
    status: PaperStatus
    source: Source
    summary_source: str | None = None
    added_at: str = ""

    @property
    def name(self) -> str:
        """Return the id as it is cited: with the version that was read, as in `2005.11401v4`."""
        return self.id if self.version is None else f"{self.id}v{self.version}"


class PaperTable:
    """The repository of papers."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def papers(self) -> list[Paper]:
        """Return all papers in order of their ids."""
        return self._select("1", ())

    def is_empty(self) -> bool:
        """Return whether there is no paper."""
        with self._db.read() as connection:
            return connection.execute("SELECT 1 FROM paper LIMIT 1").fetchone() is None

    def get(self, paper_id: str) -> Paper | None:
        """Return the paper with this id."""
        return next(iter(self._select("p.id = ?", (paper_id,))), None)

    def with_source(self, source_ids: Iterable[str]) -> dict[str, Paper]:
        """Return the papers of these sources, which hold their texts or summaries, by the id of the source."""
        wanted = tuple(set(source_ids))
        marks = ",".join("?" * len(wanted))
        found = self._select(f"p.content_source IN ({marks}) OR p.summary_source IN ({marks})", (*wanted, *wanted))
        return {id_: each for each in found for id_ in (each.source.id, each.summary_source) if id_ in wanted}

    def known_as(self, keys: Iterable[str]) -> Paper | None:
        """Return the paper with the first of these names that any paper has."""
        for key in keys:
            found = self._select("p.id = (SELECT paper_id FROM paper_alias WHERE key = ?)", (key,))
            if found:
                return found[0]
        return None

    def aliases(self, paper_id: str) -> list[str]:
        """Return the names of a paper, such as `arxiv:2005.11401`, sorted."""
        with self._db.read() as connection:
            rows = connection.execute("SELECT key FROM paper_alias WHERE paper_id = ? ORDER BY key", (paper_id,))
            return [row["key"] for row in rows]

    def files(self) -> dict[str, PaperFile]:
        """Return the files that papers were read from, by path."""
        with self._db.read() as connection:
            rows = connection.execute("SELECT path, size, mtime_ns, content_sha256 FROM paper_file")
            return {row["path"]: PaperFile(*row) for row in rows}

    def with_content(self, content_sha256: str) -> Paper | None:
        """Return the paper that was read from these bytes."""
        found = self._select("p.id IN (SELECT paper_id FROM paper_file WHERE content_sha256 = ?)", (content_sha256,))
        return found[0] if found else None

    def put(self, paper: Paper, aliases: Iterable[str] = ()) -> None:
        """Insert or update a paper, whose source is stored, and add to its names; those of other papers stay theirs."""
        with self._db.write() as connection:
            connection.execute(
                "INSERT INTO paper VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(id) DO UPDATE SET"
                " version=excluded.version, doi=coalesce(excluded.doi, doi), pmid=coalesce(excluded.pmid, pmid),"
                " status=excluded.status, content_source=excluded.content_source,"
                " summary_source=excluded.summary_source",
                (
                    paper.id, paper.version, paper.doi, paper.pmid, paper.status, paper.source.id,
                    paper.summary_source, paper.added_at or self._db.clock(),
                ),
            )  # fmt: skip
            connection.executemany(
                "INSERT OR IGNORE INTO paper_alias VALUES (?, ?)", [(each, paper.id) for each in aliases]
            )

    def put_file(self, file: PaperFile, paper_id: str) -> None:
        """Record that a file holds this paper."""
        with self._db.write() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO paper_file VALUES (?, ?, ?, ?, ?)",
                (file.path, file.size, file.mtime_ns, file.content_sha256, paper_id),
            )

    def remove(self, paper_id: str) -> None:
        """Delete the row of a paper; its sources stay."""
        with self._db.write() as connection:
            connection.execute("DELETE FROM paper WHERE id = ?", (paper_id,))

    def _select(self, condition: str, parameters: tuple[str, ...]) -> list[Paper]:
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT s.*, p.id AS paper_id, p.version, p.doi, p.pmid, p.status, p.summary_source, p.added_at"
                f" FROM paper AS p JOIN source AS s ON s.id = p.content_source WHERE {condition} ORDER BY p.id",
                parameters,
            )
            return [_paper_of(row) for row in rows]


def _paper_of(row: sqlite3.Row) -> Paper:
    return Paper(
        row["paper_id"], row["version"], row["doi"], row["pmid"], row["status"], source_of(row),
        row["summary_source"], row["added_at"],
    )  # fmt: skip
