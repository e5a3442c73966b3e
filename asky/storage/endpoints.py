"""Learned facts about endpoints: which parameters they refuse. They save the next process the same refusal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from asky.errors import StorageError, StoreDamaged
from asky.storage.database import Database
from asky.storage.stored_json import stored_json, template_of


class EndpointFacts:
    """The repository of those facts; an `asky.llm.endpoint.endpoint.EndpointMemory`.

    Losing them only costs a repeated request, so a store that cannot be written is not an error, and unreadable facts
    count as unknown.
    """

    def __init__(self, database: Database) -> None:
        self._db = database

    def recall(self, base_url: str, model_id: str) -> Mapping[str, Any]:
        """Return the facts by name; empty if nothing is known."""
        try:
            with self._db.read() as connection:
                row = connection.execute(
                    "SELECT facts FROM endpoint WHERE base_url = ? AND model_id = ?", (base_url, model_id)
                ).fetchone()
            what = f"what was learned about {base_url}"
            return dict(stored_json(row["facts"], template_of("endpoint", "facts"), what)) if row else {}
        except StoreDamaged:  # it is learned again, and then replaced
            return {}

    def remember(self, base_url: str, model_id: str, facts: Mapping[str, Any]) -> None:
        """Add `facts`, JSON values by name, replacing older ones of the same names."""
        with suppress(StorageError), self._db.write() as connection:
            known = dict(self.recall(base_url, model_id))
            connection.execute(
                "INSERT OR REPLACE INTO endpoint(base_url, model_id, facts, changed_at) VALUES (?,?,?,?)",
                (base_url, model_id, json.dumps(known | dict(facts), sort_keys=True), self._db.clock()),
            )

    def forget(self, base_url: str, model_id: str) -> None:
        """Delete the facts about an endpoint, so that they are learned again."""
        with suppress(StorageError), self._db.write() as connection:
            connection.execute("DELETE FROM endpoint WHERE base_url = ? AND model_id = ?", (base_url, model_id))
