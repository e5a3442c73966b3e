"""Setting damage aside: what cannot be read goes to a file beside the store, and something readable takes its place."""

from __future__ import annotations

import base64
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from asky.errors import StorageError
from asky.storage.damage import Damage, Found, NoText, any_text, known_source, readable, scan
from asky.storage.database import Database


def set_damage_aside(database: Database, folder: Path) -> tuple[Path | None, list[Damage]]:
    """Write each damaged row that can be mended to a new file of `folder`, then mend it; all of them or none.

    Returns the file, which only the user can read, a JSON object a line, and what was mended; no file where that is
    nothing. The ledger of a run says what of its record was set aside. Raises `StorageError` where the file cannot be
    written; then nothing was changed.
    """
    with database.write() as connection:
        found = _mendable(scan(connection))
        if not found:
            return None, []
        with any_text(connection):
            path = _write(folder, database.clock(), (line for each in found for line in _kept(connection, each)))
            for each in found:
                with suppress(sqlite3.IntegrityError):  # it would break another rule, and stays as it is
                    _mend(connection, each)
        _tell_ledgers(connection, database.clock(), path.name, found)
        return path, [each.damage for each in found]


def _mendable(found: Iterable[Found]) -> list[Found]:
    """What can be mended; of the damaged steps of a run only the first, which takes the others with it."""
    cut: set[Any] = set()
    chosen = []
    for each in found:
        run = each.address[0] if each.damage.mend == "cut off" else None
        if each.damage.mend is not None and (run is None or run not in cut):
            chosen.append(each)
            cut.add(run)
    return chosen


def _mend(connection: sqlite3.Connection, found: Found) -> None:
    table, column, mend = found.table, found.column, found.damage.mend
    where, address = _where(found)
    if mend in ("taken out", "cut off"):
        connection.execute(f'DELETE FROM "{table.name}" WHERE {where}', address)
        return
    if mend == "default":
        assert column.default is not None
        new: str | None = column.default.strip("'")
    elif mend == "replaced":
        new = readable(found.value)
    elif mend == "made anew":
        row = connection.execute(f'SELECT * FROM "{table.name}" WHERE {where}', address).fetchone()
        new = known_source(connection, row) if row is not None else None
    else:
        new = None
    connection.execute(f'UPDATE "{table.name}" SET "{column.name}" = ? WHERE {where}', [new, *address])


def _tell_ledgers(connection: sqlite3.Connection, now: str, file: str, found: Sequence[Found]) -> None:
    """Have the ledger of each run say what of its record was set aside, and where to."""
    connection.executemany(
        "INSERT INTO ledger(run_id, at, kind, data) SELECT id, ?, 'set_aside', ? FROM run WHERE id = ?",
        [
            (now, json.dumps({"table": each.table, "column": each.column, "row": each.row, "file": file}), each.run)
            for each in dict.fromkeys(one.damage for one in found)
            if each.run is not None
        ],
    )


def _where(found: Found) -> tuple[str, list[Any]]:
    """The condition that finds the row, and its parameters; of a step, that and the later ones of its run."""
    names, values = found.table.address, found.address
    marks = ["CAST(? AS TEXT)" if isinstance(each, NoText) else "?" for each in values]
    signs = [">=" if found.damage.mend == "cut off" and name == "ordinal" else "=" for name in names]
    conditions = (f"{name} {sign} {mark}" for name, sign, mark in zip(names, signs, marks, strict=True))
    return " AND ".join(conditions), [bytes(each) if isinstance(each, NoText) else each for each in values]


def _kept(connection: sqlite3.Connection, found: Found) -> Iterator[str]:
    """The rows that a mend touches, whole, as lines of JSON; bytes and texts that are none in base 64."""
    where, address = _where(found)
    for row in connection.execute(f'SELECT * FROM "{found.table.name}" WHERE {where}', address):
        whole = {name: _portable(row[name]) for name in row.keys()}  # noqa: SIM118 - a Row's own names
        about = {"table": found.table.name, "column": found.column.name, "why": found.damage.why}
        yield json.dumps({**about, "mend": found.damage.mend, "row": whole}, ensure_ascii=False) + "\n"


def _portable(value: Any) -> Any:
    if isinstance(value, bytes):
        kind = "text" if isinstance(value, NoText) else "bytes"
        return {kind: base64.b64encode(value).decode()}
    return value


def _write(folder: Path, now: str, lines: Iterable[str]) -> Path:
    """A new file with these lines, on disk when this returns."""
    time = now[:19].replace("-", "").replace(":", "").replace("T", "-")
    number = 1
    while True:
        path = folder / f"asky.db.set-aside-{time}{'' if number == 1 else f'-{number}'}.jsonl"
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            number += 1
            continue
        except OSError as error:
            raise StorageError(f"cannot write {path}: {error.strerror}") from error
        try:
            with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor
                file.writelines(line.encode("utf-8", "surrogatepass") for line in lines)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            path.unlink(missing_ok=True)
            raise StorageError(f"cannot write {path}: {error.strerror}; nothing was changed") from error
        return path
