"""The names of sources: titles, aliases and the names of their files, made of the rows of sources alone."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import PurePosixPath

from asky.text.titles import Words, fold, forms_of, head_of

_MAX_ALIASES = 50
_BETWEEN = "; "  # aliases are joined so in a source's metadata
_SOURCE = (
    "SELECT title, path, iif(json_valid(metadata), json_extract(metadata, '$.aliases'), NULL) AS aliases"
    " FROM source WHERE document_id IS NOT NULL AND id = ?"
)


def fill_names(connection: sqlite3.Connection) -> None:
    """Store the names of all sources, in place of those that are stored."""
    connection.execute("DELETE FROM source_name")
    for (source_id,) in connection.execute("SELECT id FROM source ORDER BY rowid").fetchall():
        with suppress(sqlite3.OperationalError):  # a damaged row has no names until it is repaired
            put_names(connection, source_id)


def put_names(connection: sqlite3.Connection, source_id: str) -> None:
    """Store the names of one source, in place of its old ones; one without a document has none."""
    connection.execute("DELETE FROM source_name WHERE source_id = ?", (source_id,))
    connection.executemany(
        "INSERT INTO source_name(folded, source_id, name, head, words) VALUES (?,?,?,?,?)",
        [
            (fold(words), source_id, " ".join(words), head_of(words), len(words))
            for words in names_of(connection, source_id)
        ],
    )


def names_of(connection: sqlite3.Connection, source_id: str) -> list[Words]:
    """Return the names that a source should have, each once without regard to case: the forms of its title first."""
    row = connection.execute(_SOURCE, (source_id,)).fetchone()
    if row is None:
        return []
    title, path, aliases = row
    names = [title, *str(aliases or "").split(_BETWEEN)[:_MAX_ALIASES]]
    written = [form for name in names for form in forms_of(name)]
    if path:
        written += forms_of(PurePosixPath(path).stem)
    distinct: dict[str, Words] = {}
    for words in written:
        distinct.setdefault(fold(words), words)
    return list(distinct.values())
