"""Zip archives of one form only: files stored as they are, nothing else in them, every byte settled by the content.

Such an archive is the same wherever and whenever it is made, every tool opens it, and reading it back needs no trust in
it: what is not byte for byte as `pack` would write it is refused, before any content is read. So nothing is compressed,
encrypted, hidden, doubled, linked or named like a path to somewhere else.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

MAX_BYTES = 256 * 1024 * 1024
MAX_FILES = 10_000

_NAME = re.compile(rb"[A-Za-z0-9_-]+(?:/[A-Za-z0-9_-]+)?\.[a-z]+")
_MAX_NAME_BYTES = 100
_BLOCK_BYTES = 1024 * 1024
_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_VERSION, _UNIX, _MODE = 20, 3, 0o100644
_FIRST_DAY = 0x0021  # 1980-01-01, the first that a zip archive can name


class ArchiveRefused(ValueError):
    """The archive is not of this module's form; the message says in one line of ASCII why."""


@dataclass(frozen=True, slots=True)
class Member:
    """A file of an archive: its content is the `size` bytes from the offset `start`."""

    name: str
    start: int
    size: int
    crc: int


def pack(files: Sequence[tuple[str, bytes]]) -> bytes:
    """The archive of the files, by name and content, in their order.

    Raises `ValueError` for a name that is none (letters, digits, `_` and `-`, at most one folder, a suffix) or comes
    twice, and for more than `MAX_FILES` or `MAX_BYTES`.
    """
    names = [name.encode() for name, _ in files]
    if len(set(names)) < len(names) or not all(_is_name(name) for name in names):
        raise ValueError("not names that are each a file's own")
    if len(files) > MAX_FILES or sum(len(data) + 300 for _, data in files) > MAX_BYTES:
        raise ValueError("too much for an archive")
    parts, directory, offset = [], [], 0
    for name, (_, data) in zip(names, files, strict=True):
        crc = zlib.crc32(data)
        local = _local(name, crc, len(data))
        parts += [local, data]
        directory.append(_central(name, crc, len(data), offset))
        offset += len(local) + len(data)
    listed = b"".join(directory)
    return b"".join([*parts, listed, _end(len(files), len(listed), offset)])


def members(file: BinaryIO) -> list[Member]:
    """The files of an archive that was opened for reading and seeking, in their order. Reads at most 2 MiB.

    Raises `ArchiveRefused` for what `pack` would not have written. The contents are not looked at.
    """
    size = file.seek(0, 2)
    if size > MAX_BYTES:
        raise ArchiveRefused(f"it has {size} bytes; at most {MAX_BYTES} are read")
    count, listed, offset = _read_end(file, size)
    file.seek(offset)
    directory = file.read(listed)
    found: list[Member] = []
    position = start = 0
    while position < len(directory):
        member, entry = _read_entry(directory, position, start)
        file.seek(start)
        local = _local(member.name.encode(), member.crc, member.size)
        if file.read(len(local)) != local:
            raise ArchiveRefused(f"the header of {member.name} is not as asky writes it")
        found.append(member)
        position += len(entry)
        start = member.start + member.size
    if start != offset or len(found) != count:
        raise ArchiveRefused("its files do not fill it")
    if len({each.name for each in found}) < len(found):
        raise ArchiveRefused("it has two files of one name")
    return found


def blocks(file: BinaryIO, member: Member) -> Iterator[bytes]:
    """The content of a member, a MiB at a time. Raises `ArchiveRefused` at the end, if it is cut or has another CRC."""
    crc, left = 0, member.size
    file.seek(member.start)
    while left and (block := file.read(min(_BLOCK_BYTES, left))):
        left -= len(block)
        crc = zlib.crc32(block, crc)
        yield block
    if left or crc != member.crc:
        raise ArchiveRefused(f"{member.name}: damaged: its CRC is another")


def _read_end(file: BinaryIO, size: int) -> tuple[int, int, int]:
    """The number of files, and the length and the offset of the directory."""
    if size < _END.size:
        raise ArchiveRefused("it is no zip archive, or the end of one is missing")
    file.seek(size - _END.size)
    end = file.read(_END.size)
    signature, _, _, _, count, listed, offset, _ = _END.unpack(end)
    if signature != b"PK\x05\x06":
        raise ArchiveRefused("it is no zip archive as asky writes it, or the end of one is missing")
    if count > MAX_FILES:
        raise ArchiveRefused(f"it has {count} files; at most {MAX_FILES} are read")
    if end != _end(count, listed, offset) or offset + listed + _END.size != size:
        raise ArchiveRefused("its directory is not where and as asky writes it")
    if listed > count * (_CENTRAL.size + _MAX_NAME_BYTES):
        raise ArchiveRefused(f"its directory is too long for {count} files")
    return count, listed, offset


def _read_entry(directory: bytes, position: int, start: int) -> tuple[Member, bytes]:
    """The member whose entry of the directory begins at `position` and whose header stands at `start`."""
    if len(directory) - position < _CENTRAL.size:
        raise ArchiveRefused("its directory is cut off")
    fields = _CENTRAL.unpack_from(directory, position)
    flags, method, crc, size, name_bytes = fields[3], fields[4], fields[7], fields[9], fields[10]
    name = directory[position + _CENTRAL.size : position + _CENTRAL.size + name_bytes]
    if not _is_name(name):
        raise ArchiveRefused(f"it has a file by a name that asky does not use: {name[:60].decode('latin-1')!a}")
    text = name.decode()
    if flags & 1:
        raise ArchiveRefused(f"{text} is encrypted")
    if method:
        raise ArchiveRefused(f"{text} is compressed: asky stores files as they are")
    entry = _central(name, crc, size, start)
    if directory[position : position + len(entry)] != entry:
        raise ArchiveRefused(f"the directory's entry of {text} is not as asky writes it")
    return Member(text, start + _LOCAL.size + len(name), size, crc), entry


def _is_name(name: bytes) -> bool:
    return len(name) <= _MAX_NAME_BYTES and _NAME.fullmatch(name) is not None


def _local(name: bytes, crc: int, size: int) -> bytes:
    return _LOCAL.pack(b"PK\x03\x04", _VERSION, 0, 0, 0, _FIRST_DAY, crc, size, size, len(name), 0) + name


def _central(name: bytes, crc: int, size: int, offset: int) -> bytes:
    made_by = _UNIX << 8 | _VERSION
    head = (b"PK\x01\x02", made_by, _VERSION, 0, 0, 0, _FIRST_DAY, crc, size, size, len(name))
    return _CENTRAL.pack(*head, 0, 0, 0, 0, _MODE << 16, offset) + name


def _end(count: int, listed: int, offset: int) -> bytes:
    return _END.pack(b"PK\x05\x06", 0, 0, count, count, listed, offset, 0)
