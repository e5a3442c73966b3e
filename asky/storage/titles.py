"""The names of sources, looked up by the words of a text, and the links of a passage to other sources.

They are kept beside the rows of sources, in the same transaction, and made of those alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from asky.storage.database import Database
from asky.storage.scope import Scope
from asky.storage.source_names import fill_names, names_of
from asky.text.titles import Words, fold, title_words
from asky.values import Span

MAX_BEARERS = 20
"""The number of sources of one name above which the name says nothing about which of them is meant."""

MAX_COUNTED = 50
"""The number of passages with a name up to which they are counted.

Source: nDCG@10 of three sets is the same as with all counted, and what counting costs is bounded.
"""


@dataclass(frozen=True, slots=True)
class Named:
    """A document with one of the names that were looked up, as it is written there."""

    words: Words
    document_id: int


class TitleTable:
    """The repository of names."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def longest(self, heads: Iterable[str]) -> dict[str, int]:
        """Return the number of words of the longest name that begins with each of `heads`; see `head_of`."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT value, (SELECT max(words) FROM source_name WHERE head = value) AS longest FROM json_each(?)",
                (_json(heads),),
            )
            return {row["value"]: row["longest"] for row in rows if row["longest"] is not None}

    def bearers(self, names: Iterable[str], scope: Scope) -> dict[str, list[Named]]:
        """Return the documents in scope by their folded names; one of more than `MAX_BEARERS` is left out."""
        in_scope, parameters = scope.rows()
        with self._db.read() as connection:
            rows = connection.execute(
                "WITH asked AS (SELECT value AS folded FROM json_each(?) WHERE"
                f" (SELECT count(*) FROM (SELECT 1 FROM source_name WHERE folded = value LIMIT {MAX_BEARERS + 1}))"
                f" BETWEEN 1 AND {MAX_BEARERS})"
                f" SELECT DISTINCT t.folded, t.name, s.document_id {_of_names(in_scope)}"
                " ORDER BY t.name, s.document_id",
                [_json(names), *parameters],
            )
            found: dict[str, list[Named]] = {}
            for row in rows:
                found.setdefault(row["folded"], []).append(Named(tuple(row["name"].split()), row["document_id"]))
            return found

    def mentions(self, words: Words) -> int:
        """Return how many passages of the store have these words one after another; counts up to `MAX_COUNTED`."""
        phrase = " ".join(words).replace('"', "")
        with self._db.read() as connection:
            sql = f"SELECT count(*) FROM (SELECT 1 FROM chunk_fts WHERE chunk_fts MATCH ? LIMIT {MAX_COUNTED})"
            return int(connection.execute(sql, (f'text : "{phrase}"',)).fetchone()[0])

    def links_in(self, document_id: int, span: Span) -> list[str]:
        """Return the names of the notes that a document has links to in `span`, as they are written, in order."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT target FROM note_link WHERE document_id = ? AND start >= ? AND start < ? ORDER BY start",
                (document_id, span.start, span.end),
            )
            return list(dict.fromkeys(row["target"] for row in rows if row["target"]))

    def addresses_in(self, document_id: int, span: Span) -> list[str]:
        """Return the addresses that a page has links to in `span`, in order."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT json_extract(link.value, '$[0]') AS url FROM source JOIN page ON page.source_id = source.id"
                " JOIN json_each(iif(json_valid(page.links), page.links, '[]')) AS link WHERE source.document_id = ?"
                " AND json_extract(link.value, '$[2]') >= ? AND json_extract(link.value, '$[2]') < ?",
                (document_id, span.start, span.end),
            )
            return list(dict.fromkeys(row["url"] for row in rows))

    def pages_at(self, addresses: Iterable[str], scope: Scope) -> list[Named]:
        """Return the documents in scope that were read at canonical addresses, with their titles."""
        in_scope, parameters = scope.rows()
        with self._db.read() as connection:
            rows = connection.execute(
                f"SELECT DISTINCT s.title, s.document_id {in_scope} AND s.id IN"
                " (SELECT source_id FROM page WHERE url IN (SELECT value FROM json_each(?))) ORDER BY s.document_id",
                [*parameters, _json(addresses)],
            )
            return [Named(title_words(row["title"]), row["document_id"]) for row in rows]

    def rebuild(self) -> None:
        """Make the names of all sources anew."""
        with self._db.write() as connection:
            fill_names(connection)

    def is_complete(self) -> bool:
        """Return whether the names are those of the stored sources; reads all of them."""
        with self._db.read() as connection:
            stored = {tuple(row) for row in connection.execute("SELECT source_id, folded, name FROM source_name")}
            sources = connection.execute("SELECT id FROM source").fetchall()
            made = {(id_, fold(each), " ".join(each)) for (id_,) in sources for each in names_of(connection, id_)}
        return stored == made


def _of_names(in_scope: str) -> str:
    """Return the SQL after SELECT for the sources in scope, as `s`, with those of their names that are in `asked`."""
    named = "FROM asked CROSS JOIN source_name AS t ON t.folded = asked.folded CROSS JOIN source AS s"
    return in_scope.replace("FROM source AS s", f"{named} ON s.id = t.source_id", 1)


def _json(values: Iterable[str]) -> str:
    return json.dumps(list(dict.fromkeys(values)))
