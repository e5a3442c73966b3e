"""Copies of the stored vectors in files that processes map into memory, and so share.

SQLite holds the truth. A file is a copy of the packs of one space whose ids lie in a range, and is used only while the
store has the very same packs: as many, with the same sum of stamps. What no file holds is read from SQLite, so a full
disk, a read-only folder, a deleted or damaged file cost time and memory, and nothing else.

Files are written under another name and renamed, private, by one process at a time. The vectors of removed documents
are overwritten in place with zeros, by the process that removes them when it ends, or else by the next search; other
processes may be reading the file meanwhile, to which such a row has the id -1.

A file, little-endian: the header; at 4096 the vectors, float32[rows, dim]; then the ids of their chunks, int64[rows];
then int64[packs, 4]: the id, document, rows and stamp of each pack, the document -1 if it was removed.
"""

from __future__ import annotations

import array
import hashlib
import mmap
import os
import struct
import sys
import threading
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from asky.errors import AskyError
from asky.storage.database import Database

MIN_ROWS = 20_000
"""The number of vectors from which on they are copied into a file. Reading as many from SQLite takes 50 ms of CPU."""

_FILE_ROWS = 100_000  # 154 MB of 384 numbers: what a kill can lose of the work
_MAGIC = b"askyvec1"
_HEADER = struct.Struct("<8sIIQqqQQ")
_CHECKSUM = struct.Struct("<I")
_VECTORS_AT = 4096
_PACK_FIELDS = 4
_REMOVED = -1
_ONES = b"\xff"  # of which -1 consists
_NO_END = (1 << 63) - 1
_LOCK_TIMEOUT_S = 20.0  # another process is copying a million vectors, which takes 10 s
_SUFFIX = ".vectors"
_UNWRITABLE = (OSError, NotImplementedError)  # the latter on a file system without locks
Buffer = memoryview | bytearray | bytes


class _Header(NamedTuple):
    """What a file holds: `packs` packs with ids above `after` and up to `last`; `kept` of them, with the sum `stamps`
    of theirs, are not removed.
    """

    dim: int
    packs: int
    rows: int
    after: int
    last: int
    kept: int
    stamps: int

    @property
    def ids_at(self) -> int:
        return _VECTORS_AT + (4 * self.dim * self.rows + 7) // 8 * 8

    @property
    def packs_at(self) -> int:
        return self.ids_at + 8 * self.rows

    @property
    def size(self) -> int:
        return self.packs_at + 8 * _PACK_FIELDS * self.packs

    def to_bytes(self) -> bytes:
        fields = _HEADER.pack(_MAGIC, *self)
        return fields + _CHECKSUM.pack(zlib.crc32(fields))


@dataclass(frozen=True, slots=True)
class VectorBlock:
    """Vectors of some packs, in order of insertion, as buffers.

    `vectors` is float32[n, dim], `ids` int64[n], -1 for a removed chunk, and `packs` int64[m, 4]: the id, document,
    rows and stamp of each pack. `is_mapped` says whether processes share the memory.
    """

    vectors: Buffer
    ids: Buffer
    packs: Buffer
    is_mapped: bool


class VectorFiles:
    """The files of all spaces of a store, below `folder`. Thread-safe; each process opens its own."""

    def __init__(self, folder: Path, database: Database) -> None:
        self._folder = folder
        self._db = database
        self._lock = threading.Lock()
        self._mapped: dict[Path, tuple[int, mmap.mmap]] = {}

    def blocks(self, space_id: int) -> list[VectorBlock]:
        """Return all vectors of a space, in order of insertion: mapped from files, which are brought up to date first
        if that is worth it and possible, the rest read from SQLite.
        """
        with self._lock:
            space = self._space(space_id)
            if space is None:
                return []
            usable, stale = self._examine(space)
            if stale or any(rows >= MIN_ROWS for _, _, rows in self._gaps(space, usable)):
                with suppress(*_UNWRITABLE), self._updating(space) as is_ours:
                    if is_ours:
                        self._update(space)
                usable, _ = self._examine(space)
            current = {path for path, _ in usable}
            self._mapped = {path: mapped for path, mapped in self._mapped.items() if path in current}
            blocks = [(header.after, self._map(path, header)) for path, header in usable]
            blocks += [(after, self._read(space, after, last)) for after, last, _ in self._gaps(space, usable)]
            return [block for _, block in sorted(blocks, key=lambda each: each[0])]

    def forget_removed(self) -> None:
        """Overwrite the vectors of removed documents in all files of this store. What fails is left to a later call."""
        if not self._folder.is_dir():
            return
        with self._lock, suppress(AskyError, *_UNWRITABLE), self._db.read() as connection:
            spaces = [row["id"] for row in connection.execute("SELECT id FROM space")]
            for space in filter(None, map(self._space, spaces)):
                if self._examine(space)[1]:
                    with self._updating(space) as is_ours:
                        if is_ours:
                            self._clean(space)

    def clear(self) -> None:
        """Delete all files. Processes that have mapped one keep what they see."""
        with self._lock:
            self._mapped.clear()
            for path in self._folder.glob(f"*/*{_SUFFIX}*"):
                with suppress(OSError):
                    path.unlink()

    # what there is

    def _space(self, space_id: int) -> _Space | None:
        with self._db.read() as connection:
            row = connection.execute(
                "SELECT fingerprint, created_at, dim FROM space WHERE id = ?", (space_id,)
            ).fetchone()
        if row is None:
            return None
        # Two stores may share a cache folder: their spaces were created at different moments.
        name = hashlib.sha256(f"{row['fingerprint']}\n{row['created_at']}".encode()).hexdigest()[:16]
        return _Space(space_id, row["dim"], self._folder / name)

    def _examine(self, space: _Space) -> tuple[list[tuple[Path, _Header]], bool]:
        """Return the files that can be used, in order, and whether there are others."""
        usable: list[tuple[Path, _Header]] = []
        found = [(path, _read_header(path, space.dim)) for path in sorted(space.folder.glob(f"*{_SUFFIX}"))]
        known = sorted(((path, header) for path, header in found if header), key=lambda each: each[1].after)
        for path, header in known:
            overlaps = bool(usable) and header.after < usable[-1][1].last
            if not overlaps and self._count(space, header.after, header.last) == (header.kept, header.stamps):
                usable.append((path, header))
        return usable, len(usable) < len(found)

    def _count(self, space: _Space, after: int, last: int) -> tuple[int, int]:
        """Return the number of packs with ids above `after` and up to `last`, and the sum of their stamps."""
        with self._db.read() as connection:
            row = connection.execute(
                "SELECT count(*), coalesce(sum(stamp), 0) FROM vector_pack WHERE space_id = ? AND id > ? AND id <= ?",
                (space.id, after, last),
            ).fetchone()
        return row[0], row[1]

    def _gaps(self, space: _Space, usable: Sequence[tuple[Path, _Header]]) -> list[tuple[int, int, int]]:
        """Return the ranges of ids in no file, above a number and up to another, and how many vectors each has."""
        edges = [0, *(edge for _, header in usable for edge in (header.after, header.last)), _NO_END]
        gaps = []
        with self._db.read() as connection:
            for after, last in zip(edges[::2], edges[1::2], strict=True):
                (rows,) = connection.execute(
                    "SELECT coalesce(sum(length(chunk_ids)), 0) / 8 FROM vector_pack"
                    " WHERE space_id = ? AND id > ? AND id <= ?",
                    (space.id, after, last),
                ).fetchone()
                if rows:
                    gaps.append((after, last, rows))
        return gaps

    def _map(self, path: Path, header: _Header) -> VectorBlock:
        """Map a file, or take the map that there is: pages that were touched need not be found again."""
        with path.open("rb") as file:
            number = os.fstat(file.fileno()).st_ino
            before = self._mapped.get(path)
            if before is None or before[0] != number:
                mapped = mmap.mmap(file.fileno(), header.size, prot=mmap.PROT_READ)
                self._mapped[path] = before = (number, mapped)
        whole = memoryview(before[1])
        return VectorBlock(
            whole[_VECTORS_AT : _VECTORS_AT + 4 * header.dim * header.rows],
            whole[header.ids_at : header.packs_at],
            whole[header.packs_at : header.size],
            True,
        )

    def _read(self, space: _Space, after: int, last: int) -> VectorBlock:
        vectors, ids, packs = bytearray(), bytearray(), array.array("q")
        for id_, document, chunk_ids, rows, stamp in self._packs(space, after, last):
            vectors += rows
            ids += chunk_ids
            packs.extend((id_, document, len(chunk_ids) // 8, stamp))
        return VectorBlock(vectors, ids, _little(packs), False)

    def _packs(self, space: _Space, after: int, last: int) -> Iterator[tuple[int, int, bytes, bytes, int]]:
        with self._db.read() as connection:
            yield from connection.execute(
                "SELECT id, document_id, chunk_ids, vectors, stamp FROM vector_pack NOT INDEXED"
                " WHERE space_id = ? AND id > ? AND id <= ? ORDER BY id",
                (space.id, after, last),
            )

    # changing files

    @contextmanager
    def _updating(self, space: _Space) -> Iterator[bool]:
        """Be the only process that changes the files of a space. Yields `False` if another has been at it for long."""
        from filelock import FileLock, Timeout  # 20 ms: only where files are changed

        for folder in (self._folder, space.folder):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = FileLock(space.folder / "lock", timeout=_LOCK_TIMEOUT_S, mode=0o600)
        try:
            lock.acquire()
        except Timeout:
            yield False
            return
        try:
            yield True
        finally:
            lock.release()

    def _update(self, space: _Space) -> None:
        """Make the files hold all vectors, but for fewer than `MIN_ROWS`. Raises `OSError`, as if the disk is full."""
        for left_over in space.folder.glob(f"*{_SUFFIX}.new"):
            left_over.unlink()
        self._clean(space)
        usable, _ = self._examine(space)
        for after, last, rows in self._gaps(space, usable):
            if rows >= MIN_ROWS:
                _require_space(space.folder, rows * (4 * space.dim + 8))
                at = after
                while (written := self._write(space, at, last)) is not None:
                    at = written

    def _write(self, space: _Space, after: int, last: int) -> int | None:
        """Write a file of the packs in a range, from the first on; return the last that it holds, `None` if none."""
        ids, packs = bytearray(), array.array("q")
        path = space.folder / f"{after + 1:016x}{_SUFFIX}"
        temporary = path.with_name(f"{path.name}.new")
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            with os.fdopen(handle, "wb", buffering=1 << 20) as file:
                file.seek(_VECTORS_AT)
                for id_, document, chunk_ids, rows, stamp in self._packs(space, after, last):
                    file.write(rows)
                    ids += chunk_ids
                    packs.extend((id_, document, len(chunk_ids) // 8, stamp))
                    if len(ids) >= 8 * _FILE_ROWS:
                        break
                if not packs:
                    temporary.unlink()
                    return None
                count = len(packs) // _PACK_FIELDS
                stamps = sum(packs[3::_PACK_FIELDS])
                header = _Header(space.dim, count, len(ids) // 8, after, packs[-_PACK_FIELDS], count, stamps)
                if file.tell() != _VECTORS_AT + 4 * header.dim * header.rows:
                    raise OSError("the vectors of a pack have the wrong length")  # noqa: TRY301 - `asky doctor` says so
                file.seek(header.ids_at)
                file.write(ids)
                file.write(_little(packs))
                file.seek(0)
                file.write(header.to_bytes())
                file.flush()
                os.fsync(handle)
            temporary.replace(path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
        return header.last

    def _clean(self, space: _Space) -> None:
        """Overwrite what was removed from the store, and delete files that no longer hold anything of it."""
        reached = 0
        for path in sorted(space.folder.glob(f"*{_SUFFIX}")):  # in order of their first packs
            header = _read_header(path, space.dim)
            if header is None or header.after < reached:
                path.unlink()
                continue
            reached = header.last
            if self._count(space, header.after, header.last) != (header.kept, header.stamps):
                self._overwrite(space, path, header)

    def _overwrite(self, space: _Space, path: Path, header: _Header) -> None:
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT id, stamp FROM vector_pack WHERE space_id = ? AND id > ? AND id <= ?",
                (space.id, header.after, header.last),
            )
            stored = {(row["id"], row["stamp"]) for row in rows}
        with path.open("r+b") as file:  # not mapped: on a full disk a write to a map is a signal, not an error
            file.seek(header.packs_at)
            packs = array.array("q", file.read(8 * _PACK_FIELDS * header.packs))
            _native(packs)
            removed: list[tuple[int, int, int]] = []
            kept, stamps, row = 0, 0, 0
            for number in range(header.packs):
                id_, document, count, stamp = packs[_PACK_FIELDS * number : _PACK_FIELDS * (number + 1)]
                if (id_, stamp) in stored:
                    kept, stamps = kept + 1, stamps + stamp
                elif document != _REMOVED:
                    removed.append((number, row, count))
                row += count
            width = 4 * header.dim
            _write_all(file, ((_VECTORS_AT + width * first, bytes(width * count)) for _, first, count in removed))
            _write_all(file, ((header.ids_at + 8 * first, _ONES * (8 * count)) for _, first, count in removed))
            marks = ((header.packs_at + 8 * (_PACK_FIELDS * number + 1), _ONES * 8) for number, _, _ in removed)
            _write_all(file, [*marks, (0, header._replace(kept=kept, stamps=stamps).to_bytes())])
        if kept == 0 or kept != len(stored):  # or the store was replaced by another copy of it
            path.unlink()


class _Space(NamedTuple):
    id: int
    dim: int
    folder: Path


def _read_header(path: Path, dim: int) -> _Header | None:
    """Return the header of a file; `None` if it is not a complete file of vectors of this length."""
    length = _HEADER.size + _CHECKSUM.size
    try:
        with path.open("rb") as file:
            data, size = file.read(length), os.fstat(file.fileno()).st_size
    except OSError:
        return None
    if len(data) < length or zlib.crc32(data[: _HEADER.size]) != _CHECKSUM.unpack(data[_HEADER.size :])[0]:
        return None
    magic, *fields = _HEADER.unpack(data[: _HEADER.size])
    header = _Header(*fields)
    return header if magic == _MAGIC and header.dim == dim and header.size == size else None


def _write_all(file: BinaryIO, pieces: Iterable[tuple[int, bytes]]) -> None:
    """Write each piece at its place, and have them on disk before what is written next."""
    for at, data in pieces:
        file.seek(at)
        file.write(data)
    file.flush()
    os.fsync(file.fileno())


def _require_space(folder: Path, size: int) -> None:
    """Raise `OSError` unless the disk has room for `size` bytes, and as much again for whatever matters more."""
    found = os.statvfs(folder)
    if found.f_bavail * found.f_frsize < 2 * size:
        raise OSError("not enough space for a copy of the vectors")


def _native(numbers: array.array[int]) -> None:
    """Convert between little-endian numbers and those of this machine."""
    if sys.byteorder == "big":
        numbers.byteswap()


def _little(numbers: array.array[int]) -> bytes:
    copy = array.array("q", numbers)
    _native(copy)
    return copy.tobytes()
