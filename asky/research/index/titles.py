"""The names of sources, looked up by the words of a text, and the links of a passage to other sources.

They are kept beside the rows of sources, in the same transaction, and made of those alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

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

Place: TypeAlias = tuple[int, Span]
"""Characters of the document with an id."""

_DOCUMENT, _START, _END = (f"json_extract(place.value, '$[{at}]')" for at in range(3))


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

    def links_in(self, places: Sequence[Place]) -> list[list[str]]:
        """Return for each place the names of the notes that it has links to, as they are written, in order."""
        return self._listed(
            "SELECT place.key, link.target FROM json_each(?) AS place"
            f" JOIN note_link AS link ON link.document_id = {_DOCUMENT} AND link.start >= {_START}"
            f" AND link.start < {_END} WHERE link.target <> '' ORDER BY place.key, link.start",
            places,
        )

    def addresses_in(self, places: Sequence[Place]) -> list[list[str]]:
        """Return for each place of a page the addresses that it has links to, in order."""
        return self._listed(
            "SELECT place.key, json_extract(link.value, '$[0]') FROM json_each(?) AS place"
            f" CROSS JOIN source ON source.document_id = {_DOCUMENT} CROSS JOIN page ON page.source_id = source.id"
            " CROSS JOIN json_each(iif(json_valid(page.links), page.links, '[]')) AS link"
            f" WHERE json_extract(link.value, '$[2]') >= {_START} AND json_extract(link.value, '$[2]') < {_END}"
            " ORDER BY place.key, link.key",
            places,
        )

    def _listed(self, sql: str, places: Sequence[Place]) -> list[list[str]]:
        found: list[dict[str, None]] = [{} for _ in places]
        with self._db.read() as connection:
            wanted = json.dumps([(document_id, span.start, span.end) for document_id, span in places])
            for place, target in connection.execute(sql, (wanted,)):
                found[place][str(target)] = None
        return [list(each) for each in found]

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
