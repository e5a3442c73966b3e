"""A check of zip archives before a parser opens them: how many entries they have, and how large they become."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Collection

from asky.errors import SourceUnreadable
from asky.reading.limits import MIB

# Generous for a document, and small for a child that may use 1 GiB.
_MAX_ENTRIES = 5_000
_MAX_UNPACKED_BYTES = 200 * MIB
_MAX_RATIO = 200
_RATIO_COUNTS_FROM = 20 * MIB  # below this any ratio is harmless
_BLOCK_BYTES = MIB


def check_zip(data: bytes, name: str, *, needs: Collection[str] = ()) -> None:
    """Raise SourceUnreadable unless `data` is a zip archive of ordinary size that holds the entries `needs`.

    too_large for a bomb, whatever size its directory declares; encrypted; unsupported for another kind of archive;
    failed if it is damaged.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            fault = _fault(archive, len(data), needs)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError, RuntimeError) as error:
        raise SourceUnreadable(f"{name}: a damaged archive ({error})") from None
    if fault is not None:
        verdict, reason = fault
        raise SourceUnreadable(f"{name}: {reason}", verdict=verdict)


def _fault(archive: zipfile.ZipFile, size: int, needs: Collection[str]) -> tuple[str, str] | None:
    """Return the verdict and the reason why an archive is not opened, or `None`."""
    entries = archive.infolist()
    if any(entry.flag_bits & 1 for entry in entries):
        return "encrypted", "needs a password"
    if not set(needs) <= {entry.filename for entry in entries}:
        return "unsupported", "its content does not match its name"
    limit = min(_MAX_UNPACKED_BYTES, max(_RATIO_COUNTS_FROM, size * _MAX_RATIO))
    if len(entries) > _MAX_ENTRIES or _unpacked(archive, entries, limit) > limit:
        return "too_large", "unpacks to far more than its size"
    return None


def _unpacked(archive: zipfile.ZipFile, entries: list[zipfile.ZipInfo], limit: int) -> int:
    """Return the bytes that the entries become, counted while they are unpacked; beyond `limit` counting stops."""
    total = sum(entry.file_size for entry in entries)
    if total > limit:
        return total
    total = 0
    for entry in entries:
        with archive.open(entry) as stream:
            while block := stream.read(_BLOCK_BYTES):
                total += len(block)
                if total > limit:
                    return total
    return total
