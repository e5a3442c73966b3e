"""Values that no command could read: bytes that are no text, JSON of another shape, records that do not unpack.

A check of the file's structure does not see them: to SQLite any bytes are a value.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any, Literal

from asky.errors import StoreDamaged
from asky.storage.corpus import source_of
from asky.storage.database import Database
from asky.storage.record_shapes import shape_of
from asky.storage.steps import unpacked_step
from asky.storage.stored_json import SHAPES, json_fault

Mend = Literal["replaced", "default", "emptied", "made anew", "taken out", "cut off", "unsaid"]
"""What takes the place of a damaged value: its text with a sign for what is no text, what its column has in a new row,
nothing, what another table says; or the row is taken out with it, of a record with all that comes after it, and of a
transcript with all calls of that turn and their results, none of which can be without the others."""

# Nothing points at their rows, and what is lost with one is a thing that happened, was cached, or is found out again.
_LEAVES = {"ledger", "passage", "page", "search", "endpoint", "collection_root", "spending"}
_NAMED_BY = ("name", "title")
_WORK = ("call", "tool")  # the roles of messages that are there for models alone
_TURN = f"({{0}}) OR (role IN {_WORK} AND run_id = (SELECT run_id FROM message WHERE {{0}}))"
_TYPES: Mapping[str, Any] = MappingProxyType({"TEXT": str, "INTEGER": int, "REAL": int | float})


@dataclass(frozen=True, slots=True)
class Damage:
    """A value that cannot be read. `row` says which row in words, `why` what is wrong, `run` whose record it is in.

    `mend` is what a repair would do, `None` where it can do nothing: the value holds rows together.
    """

    table: str
    column: str
    row: str
    why: str
    mend: Mend | None
    run: str | None = None


class NoText(bytes):
    """What a column holds as text and is not UTF-8."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column; `is_needed` where nothing may not be in it, `is_reference` where a row of another table must be."""

    name: str
    type: str
    is_needed: bool
    default: str | None
    is_key: bool
    is_reference: bool


@dataclass(frozen=True, slots=True)
class Table:
    """A table and its columns."""

    name: str
    columns: tuple[Column, ...]
    address: tuple[str, ...]
    """The columns that find a row: its number, or its key where it has none."""


@dataclass(frozen=True, slots=True)
class Found:
    """A damaged value where it was found. `address` are the values of the columns that find its row."""

    damage: Damage
    table: Table
    column: Column
    value: Any
    address: tuple[Any, ...]


@contextmanager
def any_text(connection: sqlite3.Connection) -> Iterator[None]:
    """Have texts that are not UTF-8 come as `NoText` and not as an error."""
    usual = connection.text_factory
    connection.text_factory = _text
    try:
        yield
    finally:
        connection.text_factory = usual


def _text(data: bytes) -> str | NoText:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return NoText(data)


def find_damage(database: Database) -> list[Found]:
    """Every damaged value of the store, in order of table and row. Reads all texts; holds one row at a time."""
    with database.read() as connection:
        tables = _tables(connection)
        with any_text(connection):
            return [each for table in tables for each in _damaged(connection, table)]


def found_again(connection: sqlite3.Connection, found: Found) -> Found | None:
    """What was found, as it is now; `None` where that value is not damaged any more. Within `any_text`."""
    again = list(_damaged(connection, found.table, *place(found)))
    return next((each for each in again if each.column == found.column), None)


def place(found: Found, *, all_mended: bool = False) -> tuple[str, list[Any]]:
    """The condition that finds the row, and its parameters; or one for all rows that its mend takes out with it."""
    names, values, mend = found.table.address, found.address, found.damage.mend if all_mended else None
    marks = ["CAST(? AS TEXT)" if isinstance(each, NoText) else "?" for each in values]
    signs = [">=" if mend == "cut off" and name == "ordinal" else "=" for name in names]
    where = " AND ".join(f"{name} {sign} {mark}" for name, sign, mark in zip(names, signs, marks, strict=True))
    parameters = [bytes(each) if isinstance(each, NoText) else each for each in values]
    return (_TURN.format(where), [*parameters, *parameters]) if mend == "unsaid" else (where, parameters)


def _damaged(
    connection: sqlite3.Connection, table: Table, where: str = "1", parameters: Sequence[Any] = ()
) -> Iterator[Found]:
    read = [each for each in table.columns if each.type != "BLOB" or (table.name, each.name) == ("step", "data")]
    read_names = [each.name for each in read]
    names = ", ".join([*table.address, *(f'"{each}"' for each in read_names)])
    order = ", ".join(table.address)
    for row in connection.execute(f'SELECT {names} FROM "{table.name}" WHERE {where} ORDER BY {order}', parameters):
        address, values = tuple(row[: len(table.address)]), row[len(table.address) :]
        by_name = dict(zip(read_names, values, strict=True))
        for column, value in zip(read, values, strict=True):
            if why := _fault(table.name, column, value, by_name):
                words = _row_in_words(table, by_name, address)
                mend = _chosen_mend(connection, table, column, value, by_name)
                run = by_name.get("id" if table.name == "run" else "run_id")
                damage = Damage(table.name, column.name, words, why, mend, run if isinstance(run, str) else None)
                yield Found(damage, table, column, value, address)


def _tables(connection: sqlite3.Connection) -> list[Table]:
    """The tables that hold what asky wrote; those of the full-text index have a check of their own."""
    rows = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*'"
        " AND name NOT GLOB 'chunk_fts*' ORDER BY name"
    ).fetchall()
    return [_table(connection, row["name"], "WITHOUT ROWID" in row["sql"].upper()) for row in rows]


def _table(connection: sqlite3.Connection, name: str, has_no_number: bool) -> Table:
    rows = connection.execute("SELECT * FROM pragma_table_info(?)", (name,)).fetchall()
    found = connection.execute('SELECT "from" FROM pragma_foreign_key_list(?)', (name,))
    references = {row["from"] for row in found}
    columns = tuple(
        Column(
            row["name"], row["type"].upper(), bool(row["notnull"] or row["pk"]), row["dflt_value"], row["pk"] > 0,
            row["name"] in references,
        )
        for row in rows
    )  # fmt: skip
    key = tuple(row["name"] for row in sorted(rows, key=lambda each: each["pk"]) if row["pk"])
    return Table(name, columns, key if has_no_number else ("rowid",))


def _fault(table: str, column: Column, value: object, row: Mapping[str, Any]) -> str | None:
    """What is wrong with a value, or `None`."""
    if value is None:
        return "it is missing" if column.is_needed else None
    if (table, column.name) == ("step", "data"):
        return _step_fault(value, row["kind"])
    shape = shape_of(table, column.name, row)
    if isinstance(value, NoText):
        return "it is not UTF-8"
    if shape is not None:
        return None if value == "" and not column.is_needed else json_fault(value, shape)
    expected = _TYPES.get(column.type)
    return None if expected is None or isinstance(value, expected) else f"it is no {column.type.lower()}"


def _step_fault(value: object, kind: object) -> str | None:
    try:
        unpacked_step(value, kind)
    except ValueError as error:
        return str(error)
    return None


def _row_in_words(table: Table, values: Mapping[str, Any], address: Sequence[Any]) -> str:
    """The row by its key, with the run that it is of, or its name."""
    key = {each.name: values.get(each.name) for each in table.columns if each.is_key} or {"": address[0]}
    words = " ".join(readable(each) if isinstance(each, bytes) else str(each) for each in key.values())
    if isinstance(run := values.get("run_id"), str) and "run_id" not in key:
        return f"{words} of run {run}"
    name = next((values[each] for each in _NAMED_BY if isinstance(values.get(each), str)), None)
    return f"{words} ({name})" if name else words


# what a repair would do


def _chosen_mend(
    connection: sqlite3.Connection, table: Table, column: Column, value: object, row: Mapping[str, Any]
) -> Mend | None:
    shape = shape_of(table.name, column.name, row)
    if table.name == "step":
        return "cut off"  # what comes later rests on it
    if table.name == "ledger":
        return "taken out"  # it is never rewritten
    if column.is_key:
        return "taken out" if table.name in _LEAVES else None
    if column.is_reference:
        return None if column.is_needed else "emptied"
    if isinstance(value, NoText) and (shape is None or json_fault(readable(value), shape) is None):
        return "replaced"
    if shape is not None and column.default is not None:
        return "default" if json_fault(column.default.strip("'"), shape) is None else "unsaid"
    if not column.is_needed:
        return "emptied"
    if table.name == "passage" and column.name == "source" and known_source(connection, row) is not None:
        return "made anew"
    return "taken out" if table.name in _LEAVES else None


def readable(value: bytes) -> str:
    """A text with a sign for each part that is none."""
    return value.decode("utf-8", "replace")


def known_source(connection: sqlite3.Connection, passage: Mapping[str, Any]) -> str | None:
    """What a new passage would keep of its source, where the store still has that."""
    row = connection.execute("SELECT * FROM source WHERE id = ?", (passage["source_id"],)).fetchone()
    try:
        text = json.dumps(asdict(source_of(row)), ensure_ascii=False) if row is not None else None
    except (StoreDamaged, TypeError):  # it is damaged too
        return None
    return text if text is not None and json_fault(text, SHAPES["passage", "source"]) is None else None
