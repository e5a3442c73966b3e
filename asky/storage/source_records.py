"""What became of sources in the runs of the agent: failures to reach them, and how much each gave, by field.

The records outlive the runs, so that a later run asks the better sources first. Both tables are bounded.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

from asky.storage.database import Database
from asky.text.scrub import one_line

MAX_FAILURES = 2_000
"""Failures kept; the oldest are removed first."""

MAX_USES = 1_000
"""Pairs of a field and a source kept; the least recently used are removed first."""

_MAX_URL_CHARS = 1_000
_MAX_MESSAGE_CHARS = 300
_MAX_NAME_CHARS = 100
_USERINFO = re.compile(r"(?<=//)[^/?#@\s]*@")
_Z = 1.96
"""For the lower end of a 95 % interval. Source: E. B. Wilson, 1927, "Probable inference"."""


@dataclass(frozen=True, slots=True)
class AccessFailure:
    """A source that could not be used. `error_type` is the code, the verdict or the reason of the error.

    `at` is an ISO 8601 time, and `run` the id of the run, if known, which may have been removed.
    """

    url: str
    source_name: str
    error_type: str
    error_message: str
    at: str
    run: str | None = None


@dataclass(frozen=True, slots=True)
class SourceUse:
    """How a source did in a field, over all queries: `results` found, of which some were `used`, and `new_facts` found.

    `failures` are queries without an answer; they count among the `queries`.
    """

    queries: int = 0
    results: int = 0
    used: int = 0
    new_facts: int = 0
    failures: int = 0

    @property
    def score(self) -> float:
        """Return how good the source is, in [0, 1): what it surely gives, so that one lucky query proves little.

        The share of good results is the mean of those that were used and of new facts per result, times the share of
        queries that were answered; the score is the lower end of its interval over that many queries.
        """
        if not self.results or not self.queries:
            return 0.0
        good = (min(self.used, self.results) + min(self.new_facts, self.results)) / (2 * self.results)
        answered = max(0, self.queries - self.failures) / self.queries
        return _lower_end(good * answered, self.queries)


class SourceRecords:
    """The repository of those records. `mask` hides the secrets of the process in addresses and messages."""

    def __init__(self, database: Database, *, mask: Callable[[str], str] = str) -> None:
        self._db = database
        self._mask = mask

    def record_access_failure(
        self, url: str, source_name: str, error_type: str, error_message: str, *, run: str | None = None
    ) -> None:
        """Record that `url` could not be used: on one line, cut, and without secrets or a user name in the address."""
        shown_url = _USERINFO.sub("", one_line(self._mask(url), None))[:_MAX_URL_CHARS]
        message = one_line(self._mask(error_message), None)[:_MAX_MESSAGE_CHARS]
        names = (source_name[:_MAX_NAME_CHARS], error_type[:_MAX_NAME_CHARS])
        with self._db.write() as connection:
            connection.execute(
                "INSERT INTO access_failure(at, run_id, url, source_name, error_type, error_message)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (self._db.clock(), run, shown_url, *names, message),
            )
            connection.execute(
                "DELETE FROM access_failure WHERE id <= (SELECT max(id) FROM access_failure) - ?", (MAX_FAILURES,)
            )

    def failures(self, *, limit: int | None = None, run: str | None = None) -> list[AccessFailure]:
        """Return the failures of all runs, or of one, the newest first."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT * FROM access_failure WHERE ? IS NULL OR run_id = ? ORDER BY id DESC LIMIT ?",
                (run, run, -1 if limit is None else limit),
            )
            return [_failure(row) for row in rows]

    def note_use(
        self,
        domain: str,
        source_name: str,
        *,
        queries: int = 0,
        results: int = 0,
        used: int = 0,
        new_facts: int = 0,
        failures: int = 0,
    ) -> None:
        """Add to the counts of a source in a field; see `SourceUse`."""
        added = (queries, results, used, new_facts, failures)
        with self._db.write() as connection:
            connection.execute(
                "INSERT INTO source_use VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
                " queries = queries + excluded.queries, results = results + excluded.results,"
                " used = used + excluded.used, new_facts = new_facts + excluded.new_facts,"
                " failures = failures + excluded.failures, used_at = excluded.used_at",
                (domain[:_MAX_NAME_CHARS], source_name[:_MAX_NAME_CHARS], *added, self._db.clock()),
            )
            connection.execute(
                "DELETE FROM source_use WHERE (domain, source_name) IN (SELECT domain, source_name FROM source_use"
                " ORDER BY used_at DESC, domain, source_name LIMIT -1 OFFSET ?)",
                (MAX_USES,),
            )

    def uses(self, domain: str) -> dict[str, SourceUse]:
        """Return the counts of each source in a field, by name."""
        with self._db.read() as connection:
            rows = connection.execute("SELECT * FROM source_use WHERE domain = ? ORDER BY source_name", (domain,))
            return {
                row["source_name"]: SourceUse(
                    row["queries"], row["results"], row["used"], row["new_facts"], row["failures"]
                )
                for row in rows
            }

    def get_ranked_sources(self, domain: str) -> list[tuple[str, float]]:
        """Return the sources that were asked in a field with their scores in [0, 1): best first, equal ones by name."""
        scores = ((name, use.score) for name, use in self.uses(domain).items())
        return sorted(scores, key=lambda each: (-each[1], each[0]))

    def forget_failures(self) -> None:
        """Delete all failures, and so the addresses that runs have tried."""
        with self._db.write() as connection:
            connection.execute("DELETE FROM access_failure")


def _failure(row: sqlite3.Row) -> AccessFailure:
    return AccessFailure(
        url=row["url"],
        source_name=row["source_name"],
        error_type=row["error_type"],
        error_message=row["error_message"],
        at=row["at"],
        run=row["run_id"],
    )


def _lower_end(share: float, count: int) -> float:
    """Return the lower end of the interval of a share that was seen in `count` trials."""
    z2 = _Z * _Z
    middle = share + z2 / (2 * count)
    spread = _Z * math.sqrt((share * (1 - share) + z2 / (4 * count)) / count)
    return max(0.0, (middle - spread) / (1 + z2 / count))
