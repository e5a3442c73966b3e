"""The part of the corpus that a question is restricted to."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scope:
    """The sources to search: those of `collections`, restricted to `sources` if given.

    `None` stands for no restriction; an empty tuple for nothing at all.
    """

    collections: tuple[int, ...] | None = None
    sources: tuple[str, ...] | None = None

    def documents(self) -> tuple[str, list[object]]:
        """Return an SQL query of the ids of the documents in scope, and its parameters."""
        rows, parameters = self.rows()
        return f"SELECT s.document_id {rows}", parameters

    def rows(self) -> tuple[str, list[object]]:
        """Return the SQL after SELECT for the sources in scope that have a document, as `s`; and its parameters.

        A source occurs once for each collection of the scope that holds it.
        """
        sql = "FROM source AS s"
        conditions = ["s.document_id IS NOT NULL"]
        parameters: list[object] = []
        if self.collections is not None:
            marks = ",".join("?" * len(self.collections))
            sql += f" JOIN collection_source AS cs ON cs.source_id = s.id AND cs.collection_id IN ({marks})"
            parameters += list(self.collections)
        if self.sources is not None:
            conditions.append("s.id IN (SELECT value FROM json_each(?))")
            parameters.append(json.dumps(self.sources))
        return f"{sql} WHERE {' AND '.join(conditions)}", parameters
