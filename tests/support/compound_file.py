"""A small writer of compound files (MS-CFB, version 3): enough for the messages that Outlook saves."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from itertools import pairwise

_SECTOR, _MINI, _CUTOFF = 512, 64, 4096
_END, _FREE, _FAT, _NONE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD, 0xFFFFFFFF

Folder = dict[str, "bytes | Folder"]
"""Streams and folders by their names."""


@dataclass
class _Entry:
    name: str
    kind: int  # 1 a folder, 2 a stream, 5 the root
    data: bytes = b""
    children: list[int] = field(default_factory=list)
    child: int = _NONE
    right: int = _NONE
    start: int = _END
    size: int = 0


def compound_file(root: Folder) -> bytes:
    """Return a compound file with these streams and folders."""
    entries = [_Entry("Root Entry", 5)]
    _collect(root, 0, entries)
    for entry in entries:
        ordered = sorted(entry.children, key=lambda at: (len(entries[at].name), entries[at].name.upper()))
        entry.child = ordered[0] if ordered else _NONE  # a chain to the right is a search tree too
        for at, after in pairwise(ordered):
            entries[at].right = after
    sectors: list[bytes] = []
    fat: list[int] = []
    mini, mini_fat = b"", list[int]()
    for entry in entries:
        entry.size = len(entry.data)
        if entry.kind == 2 and entry.data and entry.size < _CUTOFF:
            count = -(-entry.size // _MINI)
            entry.start = len(mini_fat)
            mini_fat += [*range(entry.start + 1, entry.start + count), _END]
            mini += entry.data.ljust(count * _MINI, b"\0")
        elif entry.data:
            entry.start = _store(entry.data, sectors, fat)
    entries[0].size = len(mini)
    entries[0].start = _store(mini, sectors, fat) if mini else _END
    packed = struct.pack(f"<{len(mini_fat)}I", *mini_fat)
    mini_fat_start = _store(packed, sectors, fat, fill=b"\xff") if mini_fat else _END
    mini_fat_count = -(-len(packed) // _SECTOR)
    directory_start = _store(b"".join(map(_packed, entries)), sectors, fat)
    fat_count = 1
    while fat_count * (_SECTOR // 4) < len(fat) + fat_count:
        fat_count += 1
    fat_start = len(sectors)
    fat += [_FAT] * fat_count
    fat += [_FREE] * (fat_count * (_SECTOR // 4) - len(fat))
    table = struct.pack(f"<{len(fat)}I", *fat)
    difat = [*range(fat_start, fat_start + fat_count)]
    header = struct.pack(
        "<8s16sHHHHH6sIIIIIIIIII", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"", 0x3E, 3, 0xFFFE, 9, 6, b"", 0, fat_count,
        directory_start, 0, _CUTOFF, mini_fat_start, mini_fat_count, _END, 0, *difat[:1],
    )  # fmt: skip
    header += struct.pack(f"<{len(difat) - 1}I", *difat[1:])
    return header.ljust(_SECTOR, b"\xff") + b"".join(sectors) + table


def _collect(folder: Folder, at: int, entries: list[_Entry]) -> None:
    for name, content in folder.items():
        entries[at].children.append(len(entries))
        if isinstance(content, bytes):
            entries.append(_Entry(name, 2, content))
        else:
            entries.append(_Entry(name, 1))
            _collect(content, len(entries) - 1, entries)


def _store(data: bytes, sectors: list[bytes], fat: list[int], fill: bytes = b"\0") -> int:
    start = len(sectors)
    count = -(-len(data) // _SECTOR)
    padded = data.ljust(count * _SECTOR, fill)
    sectors += [padded[at : at + _SECTOR] for at in range(0, len(padded), _SECTOR)]
    fat += [*range(start + 1, start + count), _END]
    return start


def _packed(entry: _Entry) -> bytes:
    name = entry.name.encode("utf-16-le") + b"\0\0"
    return struct.pack(
        "<64sHBBIII16sIQQIQ", name, len(name), entry.kind, 1, _NONE, entry.right, entry.child, b"", 0, 0, 0,
        entry.start, entry.size,
    )  # fmt: skip
