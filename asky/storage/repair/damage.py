"""Detection and quarantine of values that no command can read.

SQLite accepts any bytes as a value, so its integrity check does not notice invalid UTF-8 or invalid JSON.
"""

from __future__ import annotations

import base64
import json
import os
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from asky.errors import StorageError
from asky.storage.database import Database
from asky.storage.steps import unpacked_step
from asky.storage.stored_json import json_fault, template_of

Repair = Literal["replaced", "emptied", "taken out"]
"""What a repair does to a value: replace invalid bytes with �, reset it to its default, or remove its row.

A step is removed together with later steps, which depend on it; a model's call together with the calls and results of
its turn.
"""

# Tables whose rows nothing refers to: a lost row is a past event, a cached value, or can be found out again.
_REMOVABLE = {
    "step",
    "ledger",
    "passage",
    "page",
    "search",
    "endpoint",
    "collection_root",
    "spending",
    "event",
    "source_name",
}
_TYPES: Mapping[str, Any] = MappingProxyType({"TEXT": str, "INTEGER": int, "REAL": int | float})


@dataclass(frozen=True, slots=True)
class Damage:
    """A value that cannot be read: `row` describes its row, `why` the fault, and `run` is the run whose record it
    belongs to.

    `repair` is what a repair would do; `None` if it can do nothing because other rows depend on the value.
    """

    table: str
    column: str
    row: str
    why: str
    repair: Repair | None
    run: str | None
    default: str | None
    address: tuple[tuple[str, Any], ...]
    """The columns that identify the row, and their values."""


class _InvalidText(bytes):
    """The bytes of a text column that are not UTF-8."""


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    type: str
    is_required: bool
    default: str | None
    is_key: bool
    is_reference: bool


@dataclass(frozen=True, slots=True)
class _Table:
    name: str
    columns: tuple[_Column, ...]
    address: tuple[str, ...]


def find_damage(database: Database) -> list[Damage]:
    """Return every damaged value of the store, in order of table and row. Reads all texts, one row at a time."""
    with database.read() as connection:
        tables = _tables(connection)
        with _raw_text(connection):
            return [each for table in tables for each in _find_in_table(connection, table, database.ledger_entries)]


def quarantine(database: Database, folder: Path) -> tuple[Path | None, list[Damage]]:
    """Write the damaged rows that can be repaired to a new file in `folder`, and repair them, in one transaction.

    Return the file (JSON lines, readable only by the user) and the repaired values; `(None, [])` if there are none. A
    value whose repair would violate a constraint is left unchanged. The ledger of each affected run records what was
    removed. Raises `StorageError` if the file cannot be written; nothing is changed then.
    """
    path, repaired, lines = None, [], []
    try:
        with database.write() as connection:
            tables = _tables(connection)
            with _raw_text(connection):
                for each in [
                    each for table in tables for each in _find_in_table(connection, table, database.ledger_entries)
                ]:
                    kept = list(_backup_lines(connection, each))
                    if kept and _apply_repair(connection, each):  # an earlier repair may have removed it
                        repaired.append(each)
                        lines += kept
            if repaired:
                path = _write_backup(folder, database.clock(), lines)
                _record_in_ledgers(connection, database.clock(), path.name, repaired)
    except BaseException:  # not committed: the file would record changes that were never made
        if path is not None:
            path.unlink(missing_ok=True)
        raise
    return path, repaired


@contextmanager
def _raw_text(connection: sqlite3.Connection) -> Iterator[None]:
    """Return invalid UTF-8 as `_InvalidText` instead of raising an error, while the context is open."""
    usual = connection.text_factory
    connection.text_factory = _decode
    try:
        yield
    finally:
        connection.text_factory = usual


def _decode(data: bytes) -> str | _InvalidText:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return _InvalidText(data)


def _as_text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


# find


def _tables(connection: sqlite3.Connection) -> list[_Table]:
    """Return the tables that asky itself writes to; those of the full-text index have a separate check."""
    rows = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*'"
        " AND name NOT GLOB 'chunk_fts*' ORDER BY name"
    ).fetchall()
    return [_table(connection, row["name"], has_number="WITHOUT ROWID" not in row["sql"].upper()) for row in rows]


def _table(connection: sqlite3.Connection, name: str, *, has_number: bool) -> _Table:
    references = {row["from"] for row in connection.execute("SELECT * FROM pragma_foreign_key_list(?)", (name,))}
    columns = tuple(
        _Column(
            row["name"], row["type"].upper(), bool(row["notnull"] or row["pk"]), row["dflt_value"], row["pk"] > 0,
            row["name"] in references,
        )
        for row in connection.execute("SELECT * FROM pragma_table_info(?)", (name,))
    )  # fmt: skip
    return _Table(name, columns, ("rowid",) if has_number else tuple(each.name for each in columns if each.is_key))


def _find_in_table(
    connection: sqlite3.Connection, table: _Table, ledger_entries: Mapping[str, Any]
) -> Iterator[Damage]:
    read = [each for each in table.columns if each.type != "BLOB" or table.name == "step"]
    names = ", ".join([*table.address, *(f'"{each.name}"' for each in read)])
    for values in connection.execute(f'SELECT {names} FROM "{table.name}" ORDER BY {", ".join(table.address)}'):
        address = tuple(zip(table.address, values, strict=False))
        row = dict(zip((each.name for each in read), values[len(address) :], strict=True))
        for column in read:
            template = template_of(table.name, column.name, row.get("kind", row.get("role")), ledger_entries)
            if why := _fault(column, row[column.name], template):
                run = row.get("id" if table.name == "run" else "run_id")
                yield Damage(
                    table.name, column.name, _describe_row(table, row, address), why,
                    _choose_repair(table, column, row[column.name], template), run if isinstance(run, str) else None,
                    column.default, address,
                )  # fmt: skip


def _fault(column: _Column, value: object, template: Any) -> str | None:
    """Return what is wrong with a value, or `None`."""
    if value is None:
        return "it is missing" if column.is_required else None
    if column.type == "BLOB":
        try:
            unpacked_step(value)
        except ValueError as error:
            return str(error)
        return None
    if isinstance(value, _InvalidText):
        return "it is not UTF-8"
    if template is not None:
        return None if value == "" and not column.is_required else json_fault(value, template)
    return None if isinstance(value, _TYPES.get(column.type, object)) else f"it is not {column.type.lower()}"


def _describe_row(table: _Table, row: Mapping[str, Any], address: tuple[tuple[str, Any], ...]) -> str:
    """Describe the row by its key, with its run or its name."""
    keys = [each.name for each in table.columns if each.is_key]
    words = " ".join(_as_text(row[each]) for each in keys) or str(address[0][1])
    if "run_id" not in keys and isinstance(run := row.get("run_id"), str):
        return f"{words} of run {run}"
    name = row.get("name", row.get("title"))
    return f"{words} ({name})" if isinstance(name, str) else words


def _choose_repair(table: _Table, column: _Column, value: object, template: Any) -> Repair | None:
    default = None if template is None or column.default is None else column.default.strip("'")
    if table.name in ("step", "ledger"):
        return "taken out"  # a record is never rewritten
    if column.is_reference and not column.is_key:
        return None if column.is_required else "emptied"
    if not column.is_key:
        if isinstance(value, _InvalidText) and (template is None or json_fault(_as_text(value), template) is None):
            return "replaced"
        if not column.is_required or (default is not None and json_fault(default, template) is None):
            return "emptied"
    return "taken out" if table.name in _REMOVABLE or default is not None else None


# repair


def _row_filter(found: Damage) -> tuple[str, list[Any]]:
    """Return a condition, and its parameters, that selects the row and those removed with it."""
    where = " AND ".join(
        f"{name} {'>=' if (found.table, name) == ('step', 'ordinal') else '='}"
        f" {'CAST(? AS TEXT)' if isinstance(value, _InvalidText) else '?'}"
        for name, value in found.address
    )
    parameters = [bytes(value) if isinstance(value, _InvalidText) else value for _, value in found.address]
    if (found.table, found.repair) != ("message", "taken out"):
        return where, parameters
    of_turn = f"role IN ('call', 'tool') AND run_id = (SELECT run_id FROM message WHERE {where})"
    return f"({where}) OR ({of_turn})", [*parameters, *parameters]


def _backup_lines(connection: sqlite3.Connection, found: Damage) -> Iterator[str]:
    """Yield the complete rows that a repair changes, as lines of JSON; bytes and invalid texts are in base 64."""
    where, parameters = _row_filter(found)
    about = {"table": found.table, "column": found.column, "why": found.why, "mend": found.repair}
    for row in connection.execute(f'SELECT * FROM "{found.table}" WHERE {where}', parameters):
        whole = {name: _json_value(row[name]) for name in row.keys()}  # noqa: SIM118 - a Row's own names
        yield json.dumps({**about, "row": whole}, ensure_ascii=False) + "\n"


def _json_value(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"text" if isinstance(value, _InvalidText) else "bytes": base64.b64encode(value).decode()}
    return value


def _apply_repair(connection: sqlite3.Connection, found: Damage) -> bool:
    """Apply the repair; return `False` if it would violate a constraint."""
    where, parameters = _row_filter(found)
    try:
        if found.repair == "taken out":
            connection.execute(f'DELETE FROM "{found.table}" WHERE {where}', parameters)
        elif found.repair == "emptied":
            new = found.default or "NULL"
            connection.execute(f'UPDATE "{found.table}" SET "{found.column}" = {new} WHERE {where}', parameters)
        elif found.repair == "replaced":
            (value,) = connection.execute(
                f'SELECT "{found.column}" FROM "{found.table}" WHERE {where}', parameters
            ).fetchone()
            connection.execute(
                f'UPDATE "{found.table}" SET "{found.column}" = ? WHERE {where}', [_as_text(value), *parameters]
            )
    except sqlite3.IntegrityError:
        return False
    return found.repair is not None


def _record_in_ledgers(connection: sqlite3.Connection, now: str, file: str, repaired: Iterable[Damage]) -> None:
    """Record in the ledger of each run what was removed from its record, and the file that has it."""
    connection.executemany(
        "INSERT INTO ledger(run_id, at, kind, data) SELECT id, ?, 'set_aside', ? FROM run WHERE id = ?",
        [
            (now, json.dumps({"table": each.table, "column": each.column, "row": each.row, "file": file}), each.run)
            for each in repaired
            if each.run is not None
        ],
    )


def _write_backup(folder: Path, now: str, lines: Iterable[str]) -> Path:
    """Write the lines to a new file in `folder`, and flush it to disk."""
    path = None
    try:
        descriptor, name = tempfile.mkstemp(".jsonl", f"asky.db.set-aside-{now[:19].replace(':', '')}-", folder)
        path = Path(name)
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(line.encode("utf-8", "surrogatepass") for line in lines)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        if path is not None:
            path.unlink(missing_ok=True)
        raise StorageError(f"cannot write to {folder}: {error.strerror}; nothing was changed") from error
    return path
