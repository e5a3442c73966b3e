"""Containers of Office before 2007 (OLE): an old document, or a new one behind a password."""

from __future__ import annotations

import io

from asky.errors import SourceUnreadable
from asky.reading.detection import HEAD_BYTES, media_type_of
from asky.reading.formats import format_of
from asky.reading.limits import ReadLimits
from asky.reading.process.worker import read as read_as
from asky.values import Document

OLE_MAGIC = b"\xd0\xcf\x11\xe0"
"""The first bytes of the container."""

_ENCRYPTED = ("EncryptedPackage", "EncryptionInfo")
_OLD = (
    ("WordDocument", "Word", "docx"),
    ("PowerPoint Document", "PowerPoint", "pptx"),
    ("MatOST", "Works", "docx"),
)
_OTHERS = ((b"PK\x03\x04", ".docx"), (b"{\\rtf", ".rtf"), (b"MIME-Version", ".mht"))
_WORD_XML = (
    b"http://schemas.microsoft.com/office/word/2003/wordml",
    b"http://schemas.microsoft.com/office/2006/xmlPackage",
)
_FLAGS_AT, _IS_ENCRYPTED = 11, 0x01  # the second byte of the flags of a FIB ([MS-DOC] 2.5.2): fEncrypted


def read(data: bytes, name: str) -> Document:
    """Return the text of a file with the suffix of an old document whose content is of another format.

    Word opens such files too: RTF, web pages and new documents called `.doc`. Raises SourceUnreadable for an old
    document itself: encrypted, or unsupported with a way to convert it.
    """
    if data.startswith(OLE_MAGIC):
        raise not_an_archive(data, name)
    head = data[:HEAD_BYTES]
    if any(sign in head for sign in _WORD_XML):
        convert = "soffice --headless --convert-to docx FILE"
        raise SourceUnreadable(f"{name}: in the XML format of Word; convert it: {convert}", verdict="unsupported")
    stem = name.rpartition("/")[2].partition(".")[0] or "document"
    suffix = next((suffix for start, suffix in _OTHERS if head.startswith(start)), "")
    has_reader = not suffix or format_of(f"{stem}{suffix}") is not None
    media_type = media_type_of(f"{stem}{suffix}", head) if has_reader else None
    if media_type is None:
        raise SourceUnreadable(f"{name}: its content does not match its name", verdict="unsupported")
    return read_as(data, name=name, media_type=media_type, max_chars=ReadLimits().max_chars)


def not_an_archive(data: bytes, name: str) -> SourceUnreadable:
    """Return why a container is not read: encrypted behind a password, unsupported if it is an old document."""
    streams, is_locked = _streams(data)
    if any(each in streams for each in _ENCRYPTED) or is_locked:
        return SourceUnreadable(f"{name}: needs a password", verdict="encrypted", hint="save it without a password")
    for stream, program, suffix in _OLD:
        if stream in streams:
            convert = f"soffice --headless --convert-to {suffix} FILE"
            message = f"{name}: in the format of {program} before 2007; convert it: {convert}"
            return SourceUnreadable(message, verdict="unsupported")
    return SourceUnreadable(
        f"{name}: encrypted, or in the format of Office before 2007", verdict="encrypted", hint="save it again"
    )


def _streams(data: bytes) -> tuple[frozenset[str], bool]:
    """Return the names of the outermost streams, and whether an old document of Word is behind a password."""
    import olefile

    try:
        with olefile.OleFileIO(io.BytesIO(data)) as container:
            names = frozenset(str(each[0]) for each in container.listdir())
            head = container.openstream("WordDocument").read(_FLAGS_AT + 1) if "WordDocument" in names else b""
    except Exception:  # noqa: BLE001 - the library raises whatever a damaged container makes it meet
        return frozenset(), False
    return names, len(head) > _FLAGS_AT and bool(head[_FLAGS_AT] & _IS_ENCRYPTED)
