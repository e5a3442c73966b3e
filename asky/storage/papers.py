"""The table of the paper library: which source is which paper, and the files that papers were read from."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from asky.storage.corpus import source_of
from asky.storage.database import Database
from asky.values import Source

PaperStatus = Literal["complete", "no_text", "no_pdf"]
"""Whether the text of a paper is there; `no_text` for a PDF whose pages are scanned, `no_pdf` for one without a PDF."""

_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "retraction": "RETRACTED",
        "withdrawal": "WITHDRAWN",
        "concern": "expression of concern",
        "correction": "corrected",
    }
)
_REGISTRIES: Mapping[str, str] = MappingProxyType(
    {
        "arxiv": "arXiv",
        "crossref": "Crossref",
        "openalex": "OpenAlex",
        "pubmed": "PubMed",
        "semantic_scholar": "Semantic Scholar",
    }
)
_SERIOUS = frozenset({"retraction", "withdrawal", "concern"})
_VERSION = re.compile(r"v([1-9]\d{0,3})\Z")


@dataclass(frozen=True, slots=True)
class PaperNotice:
    """A notice on a paper, as a registry has it: a retraction, withdrawal, concern, correction or newer version.

    `date` is an ISO 8601 date, or a part of one. `identifier` is that of the notice, or of the newer version.
    """

    kind: str
    date: str | None
    source: str
    identifier: str | None = None

    @property
    def text(self) -> str:
        """Return the notice in words, such as `RETRACTED (2021-03-01, Crossref)`."""
        if self.kind == "newer_version":
            return f"newer version {self.identifier} exists" if self.identifier else "a newer version exists"
        facts = ", ".join(filter(None, (self.date, _REGISTRIES.get(self.source, self.source))))
        return f"{_WORDS.get(self.kind, self.kind)} ({facts})"


@dataclass(frozen=True, slots=True)
class PaperFile:
    """A file that a paper was read from, as it was then; for an address, `path` is that, and the time is 0."""

    path: str
    size: int
    mtime_ns: int
    content_sha256: str


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper of the library.

    `id` is an arXiv id without its version, a DOI, or else a name made of author, year and title; `version` is the
    arXiv version that was read, or that was asked for and is not there yet. `source` has the title, the authors and the
    text; its kind is `paper` if the text is from an open address. `notices_checked_at` is `None` if nobody could say
    whether there are notices. `is_described` says that a registry or an export has told title and authors.
    """

    id: str
    version: int | None
    doi: str | None
    pmid: str | None
    status: PaperStatus
    source: Source
    summary_source: str | None = None
    added_at: str = ""
    notices: tuple[PaperNotice, ...] = ()
    notices_checked_at: str | None = None
    is_described: bool = False

    @property
    def name(self) -> str:
        """Return the id as it is cited: with the version that was read, as in `2005.11401v4`."""
        return self.id if self.version is None else f"{self.id}v{self.version}"

    @property
    def notice_texts(self) -> tuple[str, ...]:
        """Return what is to be said of the paper, gravest first: one notice of each kind, in words."""
        said: dict[str, str] = {}
        for each in self.notices:
            if not self._has(each):
                said.setdefault(each.kind, each.text)
        return tuple(said.values())

    @property
    def warning(self) -> str | None:
        """Return the gravest notice in words if the paper is taken back or in doubt, else `None`."""
        return next((each.text for each in self.notices if each.kind in _SERIOUS), None)

    def _has(self, notice: PaperNotice) -> bool:
        """Return whether the newer version that `notice` tells of is the one that is here."""
        found = _VERSION.search(notice.identifier or "") if notice.kind == "newer_version" else None
        return found is not None and int(found[1]) <= (self.version or 0)


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

    def with_file(self, path: str) -> Paper | None:
        """Return the paper that was read from the file or the address `path`."""
        found = self._select("p.id IN (SELECT paper_id FROM paper_file WHERE path = ?)", (path,))
        return found[0] if found else None

    def put(self, paper: Paper, aliases: Iterable[str] = ()) -> None:
        """Insert or update a paper, whose source is stored, and add to its names; those of other papers stay theirs."""
        with self._db.write() as connection:
            connection.execute(
                "INSERT INTO paper(id, version, doi, pmid, status, content_source, summary_source, added_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(id) DO UPDATE SET"
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

    def put_notices(self, paper_id: str, notices: Iterable[PaperNotice], *, is_checked: bool) -> None:
        """Store the notices on a paper, gravest first.

        If all who list notices were asked, they replace the earlier ones; else they come before those that differ.
        """
        with self._db.write() as connection:
            found = self._select("p.id = ?", (paper_id,))
            before = found[0].notices if found and not is_checked else ()
            connection.execute("DELETE FROM paper_notice WHERE paper_id = ?", (paper_id,))
            connection.executemany(
                "INSERT INTO paper_notice VALUES (?, ?, ?, ?, ?)",
                [
                    (paper_id, each.kind, each.date, each.source, each.identifier)
                    for each in dict.fromkeys((*notices, *before))
                ],
            )
            if is_checked:
                connection.execute("UPDATE paper SET notices_checked_at = ? WHERE id = ?", (self._db.clock(), paper_id))

    def open_up(self, paper_id: str) -> None:
        """Record that everybody may read the text of a paper: its bytes were found at an open address."""
        with self._db.write() as connection:
            connection.execute(
                "UPDATE source SET kind = 'paper' WHERE id IN"
                " (SELECT content_source FROM paper WHERE id = ?1 UNION ALL"
                " SELECT summary_source FROM paper WHERE id = ?1)",
                (paper_id,),
            )

    def remove(self, paper_id: str) -> None:
        """Delete the row of a paper; its sources stay."""
        with self._db.write() as connection:
            connection.execute("DELETE FROM paper WHERE id = ?", (paper_id,))

    def _select(self, condition: str, parameters: tuple[str, ...]) -> list[Paper]:
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT s.*, p.id AS paper_id, p.version, p.doi, p.pmid, p.status, p.summary_source, p.added_at,"
                " p.notices_checked_at, json_type(s.metadata, '$.of_the_work') AS work,"
                " (SELECT json_group_array(json_array(kind, date, source, identifier))"
                " FROM paper_notice WHERE paper_id = p.id) AS notices"
                f" FROM paper AS p JOIN source AS s ON s.id = p.content_source WHERE {condition} ORDER BY p.id",
                parameters,
            )
            return [_paper_of(row) for row in rows]


def _paper_of(row: sqlite3.Row) -> Paper:
    return Paper(
        row["paper_id"], row["version"], row["doi"], row["pmid"], row["status"], source_of(row),
        row["summary_source"], row["added_at"],
        tuple(PaperNotice(*each) for each in json.loads(row["notices"])) if row["notices"] != "[]" else (),
        row["notices_checked_at"], row["work"] is not None,
    )  # fmt: skip
