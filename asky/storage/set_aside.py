"""Setting damage aside: what cannot be read goes to a file beside the store, and something readable takes its place."""

from __future__ import annotations

import base64
import errno
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from asky.errors import StorageError
from asky.storage.damage import Damage, Found, NoText, any_text, found_again, known_source, place, readable
from asky.storage.database import Database


def set_damage_aside(database: Database, folder: Path, found: Sequence[Found]) -> tuple[Path | None, list[Damage]]:
    """Write what `find_damage` found and can be mended to a new file of `folder`, and mend it; all of that or nothing.

    Returns the file, which only the user can read, a JSON object a line, and what was mended; no file where that is
    nothing. What is sound again meanwhile, or would break another rule when mended, stays as it is and is in neither.
    The ledger of a run says what of its record was set aside. Raises `StorageError` where the file cannot be written;
    then nothing was changed.
    """
    path: Path | None = None
    try:
        with database.write() as connection:
            with any_text(connection):
                mended, lines = _mend_all(connection, found)
            if mended:
                now = database.clock()
                path, descriptor = _create(folder, now)
                _fill(path, descriptor, lines)
                _tell_ledgers(connection, now, path.name, mended)
    except BaseException:  # not committed: the file would tell of what did not happen
        if path is not None:
            with suppress(OSError):
                path.unlink()
        raise
    return path, mended


def _mend_all(connection: sqlite3.Connection, found: Iterable[Found]) -> tuple[list[Damage], list[str]]:
    """What was mended, and the rows that this touched, as they were before."""
    mended, lines = [], []
    for each in found:
        again = found_again(connection, each)  # a step may have gone with an earlier one of its run
        if again is None or again.damage.mend is None:
            continue
        kept = list(_kept(connection, again))
        try:
            _mend(connection, again)
        except sqlite3.IntegrityError:  # it would break another rule
            continue
        mended.append(again.damage)
        lines += kept
    return mended, lines


def _mend(connection: sqlite3.Connection, found: Found) -> None:
    table, column, mend = found.table, found.column, found.damage.mend
    where, address = place(found, all_mended=True)
    if mend in ("taken out", "cut off", "unsaid"):
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


def _tell_ledgers(connection: sqlite3.Connection, now: str, file: str, mended: Iterable[Damage]) -> None:
    """Have the ledger of each run say what of its record was set aside, and where to."""
    connection.executemany(
        "INSERT INTO ledger(run_id, at, kind, data) SELECT id, ?, 'set_aside', ? FROM run WHERE id = ?",
        [
            (now, json.dumps({"table": each.table, "column": each.column, "row": each.row, "file": file}), each.run)
            for each in dict.fromkeys(mended)
            if each.run is not None
        ],
    )


def _kept(connection: sqlite3.Connection, found: Found) -> Iterator[str]:
    """The rows that a mend touches, whole, as lines of JSON; bytes and texts that are none in base 64."""
    where, address = place(found, all_mended=True)
    for row in connection.execute(f'SELECT * FROM "{found.table.name}" WHERE {where}', address):
        whole = {name: _portable(row[name]) for name in row.keys()}  # noqa: SIM118 - a Row's own names
        about = {"table": found.table.name, "column": found.column.name, "why": found.damage.why}
        yield json.dumps({**about, "mend": found.damage.mend, "row": whole}, ensure_ascii=False) + "\n"


def _portable(value: Any) -> Any:
    if isinstance(value, bytes):
        kind = "text" if isinstance(value, NoText) else "bytes"
        return {kind: base64.b64encode(value).decode()}
    return value


def _create(folder: Path, now: str) -> tuple[Path, int]:
    """A new file of that folder, open for writing."""
    time = now[:19].replace("-", "").replace(":", "").replace("T", "-")
    number = 1
    while True:
        path = folder / f"asky.db.set-aside-{time}{'' if number == 1 else f'-{number}'}.jsonl"
        try:
            return path, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            number += 1
        except OSError as error:
            raise StorageError(f"cannot write {path}: {error.strerror}") from error


def _fill(path: Path, descriptor: int, lines: Iterable[str]) -> None:
    """Write the lines to that file; they and its name are on disk when this returns."""
    try:
        with open(descriptor, "wb") as file:
            file.writelines(line.encode("utf-8", "surrogatepass") for line in lines)
            file.flush()
            os.fsync(file.fileno())
        _sync_folder(path.parent)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}; nothing was changed") from error


def _sync_folder(folder: Path) -> None:
    """Have the names of new files on disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # what some file systems say to it
            raise
    finally:
        os.close(descriptor)
