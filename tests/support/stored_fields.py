"""Every field of the JSON in a store, and what a fault may make of one: nothing, or a value of another type.

Of the fields of one name in rows of one kind one is enough, as they have the same readers.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from asky.chat.entries import CHAT_ENTRIES
from asky.storage.stored_json import COLUMNS, fits, template_of

KINDS = {("ledger", "data"): "kind", ("message", "data"): "role"}
"""The columns whose fields hang on another column of the row."""
Way = tuple[str | int, ...]
"""The names and places that lead from a JSON value to one in it."""

_OTHERS = (None, 7, 0.5, "x", True, ["x"], {"x": 1})
_GONE = object()


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table that holds `value` as JSON in a column; `where` finds it. `kind` is what kind of row it is."""

    table: str
    column: str
    kind: str
    where: str
    address: tuple[Any, ...]
    value: Any

    def fits(self, value: object) -> bool:
        """Whether `value` could stand there."""
        return fits(value, template_of(self.table, self.column, self.kind, CHAT_ENTRIES))


@dataclass(frozen=True, slots=True)
class Change:
    """A field of a row that is gone, or has another value."""

    row: Row
    way: Way
    new: Any

    def apply(self, value: Any) -> Any:
        """`value` with that change; its own objects are changed."""
        if not self.way:
            return deepcopy(self.new)
        *way, last = self.way
        holder = value
        for each in way:
            holder = holder[each]
        if self.new is _GONE:
            del holder[last]
        else:
            holder[last] = deepcopy(self.new)
        return value

    @property
    def fits(self) -> bool:
        """Whether readers can do with it."""
        return self.row.fits(self.apply(deepcopy(self.row.value)))

    def is_apart_from(self, other: Change) -> bool:
        """Whether both can be made, in any order."""
        if self.row is not other.row:
            return True
        both = min(len(self.way), len(other.way))
        in_list = any(isinstance(each.way[-1], int) and each.new is _GONE for each in (self, other) if each.way)
        return self.way[:both] != other.way[:both] and not in_list

    def __repr__(self) -> str:
        new = "gone" if self.new is _GONE else json.dumps(self.new)
        return f"<{self.row.table}.{self.row.column} {self.row.kind} {'.'.join(map(str, self.way))}: {new}>"


def all_changes(file: Path) -> list[Change]:
    """What can be made of the fields in a store."""
    found: dict[object, tuple[Row, Way]] = {}
    with closing(sqlite3.connect(file)) as connection:
        for table, column in (*COLUMNS, *KINDS):
            for row in _rows(connection, table, column):
                for way, name in _ways(row.value):
                    found.setdefault((table, column, row.kind, name, type(_at(row.value, way))), (row, way))
    return [change for row, way in found.values() for change in _changes(row, way)]


def write_changes(connection: sqlite3.Connection, changes: Iterable[Change]) -> None:
    """Make these changes, whatever triggers say: the disk asks none."""
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    values: dict[int, tuple[Row, Any]] = {}
    for each in changes:
        _, value = values.get(id(each.row), (each.row, deepcopy(each.row.value)))
        values[id(each.row)] = each.row, each.apply(value)
    for row, value in values.values():
        connection.execute(
            f"UPDATE {row.table} SET {row.column} = ? WHERE {row.where}", [json.dumps(value), *row.address]
        )


def _rows(connection: sqlite3.Connection, table: str, column: str) -> Iterator[Row]:
    facts = connection.execute("SELECT name, pk FROM pragma_table_info(?) WHERE pk ORDER BY pk", (table,)).fetchall()
    keys = [name for name, _ in facts]
    kind = KINDS.get((table, column), "''")
    where = " AND ".join(f"{each} = ?" for each in keys)
    for stored, kind_of, *address in connection.execute(f"SELECT {column}, {kind}, {', '.join(keys)} FROM {table}"):
        if stored:
            yield Row(table, column, kind_of, where, tuple(address), json.loads(stored))


def _ways(value: Any, way: Way = (), name: str = "") -> Iterator[tuple[Way, str]]:
    """The way to each value in a JSON value, and a name that is the same for all members of a list of equals."""
    yield way, name
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _ways(each, (*way, key), f"{name}.{key}")
    elif isinstance(value, list):
        are_equal = len({type(each) for each in value}) == 1 and not isinstance(value[0], str)
        for index, each in enumerate(value):
            yield from _ways(each, (*way, index), f"{name}[{'' if are_equal else index}]")


def _at(value: Any, way: Way) -> Any:
    for each in way:
        value = value[each]
    return value


def _changes(row: Row, way: Way) -> Iterator[Change]:
    if way:
        yield Change(row, way, _GONE)
    for other in _OTHERS:
        if type(other) is not type(_at(row.value, way)):
            yield Change(row, way, other)
