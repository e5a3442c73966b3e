"""The archive of an EPUB: what is checked before anything is unpacked, and the files in it by their path."""

from __future__ import annotations

import io
import posixpath
import re
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import PurePosixPath
from urllib.parse import unquote

from asky.errors import SourceUnreadable
from asky.reading.limits import MIB

CONTAINER = "META-INF/container.xml"
# Generous for a book, and small for a child that may use 1 GiB.
_MAX_ENTRIES = 2000
_MAX_UNPACKED_BYTES = 100 * MIB
_MAX_FILE_BYTES = 32 * MIB  # of one of them
_MAX_RATIO = 100
# Below this any ratio is harmless, and an image of one colour compresses better than 1,000 to 1.
_RATIO_COUNTS_FROM = 10 * MIB
_ENCRYPTION = "META-INF/encryption.xml"
_ENCRYPTION_BYTES = 4 * MIB
_METHOD = re.compile(r"<[\w:]*EncryptionMethod\b[^>]*\bAlgorithm\s*=\s*[\"']([^\"']*)")
# These obfuscate fonts only; the text is readable.
_FONT_METHODS = {"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"}
_FAULTS = (zipfile.BadZipFile, zipfile.LargeZipFile, OSError, ValueError, NotImplementedError, EOFError, zlib.error)
_BLOCK_BYTES = 4096  # of packed data; a bomb makes 4 MiB of them
# Source: PKWARE's APPNOTE.TXT, 4.3.7: where the lengths of name and extra field stand in the header of a file.
_HEADER_BYTES, _NAME_LENGTH, _EXTRA_LENGTH = 30, slice(26, 28), slice(28, 30)


class BookArchive:
    """The files of a book. `read` unpacks one; paths that differ in case or composition only are found too."""

    def __init__(self, archive: zipfile.ZipFile, data: bytes) -> None:
        self._archive, self._data = archive, data
        self._names = {_key(entry.filename): entry for entry in reversed(archive.infolist())}
        self._names.update({entry.filename: entry for entry in archive.infolist()})

    def __contains__(self, path: str) -> bool:
        return path in self._names or _key(path) in self._names

    def read(self, path: str) -> tuple[bytes, bool]:
        """Return the content of a file, and whether it is whole; a damaged one is read as far as it can be unpacked.

        Raises KeyError if there is no such file, ValueError if it is too large to be read.
        """
        entry = self._names.get(path) or self._names[_key(path)]
        if entry.file_size > _MAX_FILE_BYTES:
            raise ValueError(f"{path} is too large")
        try:
            return self._archive.read(entry), True
        except _FAULTS:
            return self._unpacked(entry), False

    def _unpacked(self, entry: zipfile.ZipInfo) -> bytes:
        """Return what a file becomes, whatever its checksum says."""
        header = self._data[entry.header_offset : entry.header_offset + _HEADER_BYTES]
        lengths = (int.from_bytes(header[part], "little") for part in (_NAME_LENGTH, _EXTRA_LENGTH))
        start = entry.header_offset + _HEADER_BYTES + sum(lengths)
        packed = self._data[start : start + entry.compress_size]
        if entry.compress_type == zipfile.ZIP_STORED:
            return packed
        unpacker, found = zlib.decompressobj(-zlib.MAX_WBITS), bytearray()
        try:
            for at in range(0, len(packed), _BLOCK_BYTES):  # in blocks: what stands before the fault is kept
                found += unpacker.decompress(packed[at : at + _BLOCK_BYTES])
                if len(found) >= entry.file_size:
                    break
        except zlib.error:
            pass
        return bytes(found[: entry.file_size])


@contextmanager
def open_archive(data: bytes, name: str) -> Iterator[BookArchive]:
    """Open the archive of a book.

    Raises SourceUnreadable: too_large (a zip bomb), encrypted (a password or DRM), unsupported (another kind of zip),
    failed (damaged, or with paths outside the book).
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check_entries(archive.infolist(), len(data), name)
            _check_encryption(archive, name)
            yield BookArchive(archive, data)
    except _FAULTS as error:
        raise SourceUnreadable(f"{name}: not a readable zip archive ({error})") from None


def resolved(base: str, address: str) -> tuple[str, str]:
    """Return the path and the fragment that an address in the file `base` leads to; "" for one outside the book."""
    path, _, fragment = address.strip().partition("#")
    if not path:
        return base, unquote(fragment)
    if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:", path):
        return "", ""
    joined = posixpath.normpath(posixpath.join("/", posixpath.dirname(base), unquote(path.partition("?")[0])))
    return joined.lstrip("/"), unquote(fragment)


def _key(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()


def _check_entries(entries: Sequence[zipfile.ZipInfo], packed: int, name: str) -> None:
    unpacked = sum(entry.file_size for entry in entries)
    if len(entries) > _MAX_ENTRIES:
        raise SourceUnreadable(
            f"{name}: {len(entries):,} files in it, the limit is {_MAX_ENTRIES:,}", verdict="too_large"
        )
    if unpacked > _MAX_UNPACKED_BYTES or (unpacked > _RATIO_COUNTS_FROM and unpacked > _MAX_RATIO * packed):
        raise SourceUnreadable(
            f"{name}: unpacks from {packed:,} to {unpacked:,} bytes, which is too much for a book",
            verdict="too_large",
        )
    for entry in entries:
        path = PurePosixPath(entry.filename.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts:
            raise SourceUnreadable(f"{name}: a file in it has a path outside the book")
    if any(entry.flag_bits & 1 for entry in entries):
        raise SourceUnreadable(f"{name}: needs a password", verdict="encrypted")
    if not any(entry.filename == CONTAINER for entry in entries):
        raise SourceUnreadable(
            f"{name}: a zip archive, but not an EPUB ({CONTAINER} is missing)", verdict="unsupported"
        )


def _check_encryption(archive: zipfile.ZipFile, name: str) -> None:
    if _ENCRYPTION not in archive.namelist():
        return
    with archive.open(_ENCRYPTION) as file:
        methods = _METHOD.findall(file.read(_ENCRYPTION_BYTES).decode("utf-8", "replace"))
    if any(method not in _FONT_METHODS for method in methods):
        raise SourceUnreadable(f"{name}: locked by DRM", verdict="encrypted")
