"""Which part of the corpus a question is asked of."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scope:
    """Which sources a question is asked of: those of `collections`, and of them only `sources` where given.

    `None` stands for no restriction; an empty tuple for nothing at all.
    """

    collections: tuple[int, ...] | None = None
    sources: tuple[str, ...] | None = None

    def documents(self) -> tuple[str, list[object]]:
        """An SQL query of the ids of the documents in scope, and its parameters."""
        rows, parameters = self.rows()
        return f"SELECT s.document_id {rows}", parameters

    def rows(self) -> tuple[str, list[object]]:
        """What follows on SELECT in a query of the sources in scope that have a document, as `s`; and its parameters.

        A source comes as often as it is in a collection of the scope.
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
