"""What a file is, told by its name and its first bytes."""

from __future__ import annotations

import re

from asky.reading.charset import has_mark
from asky.reading.formats import OLE, RTF, SOURCE_CODE, Format, format_of, may_be_text

HEAD_BYTES = 8192
"""How many of the first bytes of a file are looked at."""

MBOX_LINE = re.compile(
    # RFC 4155: an address and the time as `asctime` writes it. Google writes a zone, Thunderbird "-" or nothing at all.
    rb"From (?:[ -]{0,3}|[^\r\n]{1,300}?[ ,](?:\d{4}-\d\d-\d\d"
    rb"|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? +(?:\d{1,2} +)?[A-Z][a-z]{2} ?)[^\r\n]{0,80})"
)
"""The line that parts the messages of a mailbox, without its end."""
MAIL_FIELDS = frozenset(
    b"return-path received delivered-to message-id from date to subject mime-version sender reply-to x-gm-thrid"
    b" dkim-signature authentication-results arc-seal envelope-to x-mozilla-status x-received".split()
)
"""Header fields that a mail may begin with, in lower case."""
_ONLY_IN_MAILS = frozenset(b"return-path received message-id mime-version delivered-to x-mozilla-status".split())
_FIELDS_OF_A_MAIL = 3
_FIELD = re.compile(rb"^([!-9;-~]{1,80})[ \t]*:", re.MULTILINE)
_EMPTY_LINE = re.compile(rb"\r?\n\r?\n")
_NO_FIELD = re.compile(rb"^(?![!-9;-~]{1,80}[ \t]*:|[ \t]|\r?$)", re.MULTILINE)
_IN_EVERY_MAIL = frozenset((b"from", b"date", b"subject"))
_BY_PROGRAMS = frozenset((b"message-id", b"mime-version"))
_OF_TRANSPORT = frozenset((b"received", b"return-path", b"delivered-to"))
# The version of a notebook follows its cells, beyond the bytes that are looked at.
_NOTEBOOK = re.compile(rb"\s{0,80}\{\s{0,80}\"(?:cells|worksheets|metadata|nbformat|nbformat_minor)\"\s{0,80}:")
_CELL = re.compile(rb"\"cell_type\"\s{0,80}:\s{0,80}\"(?:code|markdown|raw|heading)\"")
_IN_CELL = re.compile(rb"\"(?:source|input|outputs|execution_count|metadata)\"\s{0,80}:")

# Under these names, mails and notebooks are read as such if nothing else can be meant.
_SAVED_AS_TEXT = ("text/plain", "text/markdown", "application/json")
# What is read as it stands, so that the content of another kind, under such a name, would be read as its markup.
_PLAIN = (
    "text/plain",
    "text/markdown",
    "text/html",
    "text/csv",
    "application/json",
    "application/xml",
    "message/rfc822",
    "application/vnd.ms-excel",
)
# Documents of office programs whose XML is one file: it says in its first element what it is.
_OFFICE_XML = (
    (b"urn:schemas-microsoft-com:office:spreadsheet", "application/vnd.ms-excel"),
    (b"urn:oasis:names:tc:opendocument:xmlns:office", "application/vnd.oasis.opendocument.flat"),
    (b"http://schemas.microsoft.com/office/word/2003/wordml", "application/msword"),
    (b"http://schemas.microsoft.com/office/2006/xmlPackage", "application/msword"),
)
# Binary files whose first bytes may look like text; `_BINARY_SHARE` finds the others.
_BINARY_STARTS = (b"%PDF-", b"PK\x03\x04", b"PK\x05\x06")
# Viewers accept as many bytes before a PDF's signature (PDF Reference 1.7, appendix H.3, implementation note 13).
_MAGIC_WITHIN = 1024
_SIGN_BYTES = 20
_PRIVATE_KEY = b"PRIVATE KEY-----"
_CONTROLS = bytes(set(range(0x20)) - set(b"\t\n\v\f\r\x1b"))
# Random bytes contain 10 % of these and text none; a few stray ones are scrubbed instead.
_BINARY_SHARE = 0.02


def media_type_of(name: str, head: bytes) -> str | None:
    """Return the media type of a file, from its name and its first bytes (`HEAD_BYTES` are enough).

    A file whose name says nothing is text if its bytes are. `None` means that there is no reader: bytes that are not
    text, or do not match the suffix (a zip named `.txt`, a web page named `.pdf`). UTF-16 and UTF-32 count as text only
    with a byte order mark. An empty `head` is consistent with any suffix.
    """
    row = format_of(name)
    if not may_be_text(name):
        return None
    if row is None:
        return _type_by_content(head)
    told = _type_by_sign(head) if row.media_type in _PLAIN else None
    if told is None and row.media_type in _SAVED_AS_TEXT:
        told = _type_saved_as_text(head)
    if told is not None and not (row.any_content and told == "text/html"):  # a page is read as a workbook
        return told
    if row.media_type == "application/xml":
        told = next((kind for sign, kind in _OFFICE_XML if sign in head), None)
        if told is not None:
            return told
    if not head or row.any_content:
        return row.media_type
    if row.module.startswith("asky.reading.office.") and head.startswith(OLE):
        return row.media_type  # its reader says what is the matter
    fits = _holds_magic(row, head) if row.magic else is_text(head)
    return row.media_type if fits else None


def _type_by_content(head: bytes) -> str | None:
    if not head or not is_text(head) or _PRIVATE_KEY in head:
        return None
    if head.startswith(b"#!"):
        return SOURCE_CODE
    if _is_mail(head):
        return "message/rfc822"
    return _type_by_sign(head) or _type_saved_as_text(head) or "text/plain"


def _type_by_sign(head: bytes) -> str | None:
    """Return the media type of text that says by its beginning what it is."""
    start = head[:_SIGN_BYTES].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype html", b"<html")) and is_text(head):
        return "text/html"
    if start.startswith(b"begin:vcalendar"):
        return "text/calendar"
    return "application/rtf" if head.startswith(RTF) else None


def _type_saved_as_text(head: bytes) -> str | None:
    """Return the media type of a mail or a notebook that somebody has saved as text, if it cannot be anything else."""
    if _NOTEBOOK.match(head) and _CELL.search(head) and _IN_CELL.search(head):
        return "application/x-ipynb+json"
    names, is_whole, is_pure = _header_fields(head)
    if not is_pure or not is_text(head):
        return None
    is_mail = names >= _IN_EVERY_MAIL and not names.isdisjoint(_BY_PROGRAMS)
    # What servers write above the rest may be longer than what is looked at.
    is_sent = not is_whole and len(names & _OF_TRANSPORT) > 1
    return "message/rfc822" if is_mail or is_sent else None


def _is_mail(head: bytes) -> bool:
    """Return whether a file that begins so is a mail or a mailbox.

    It begins with header fields, several of those that every mail has and one that only programs write.
    """
    names, _, _ = _header_fields(head)
    return len(names & MAIL_FIELDS) >= _FIELDS_OF_A_MAIL and not names.isdisjoint(_ONLY_IN_MAILS)


def _header_fields(head: bytes) -> tuple[frozenset[bytes], bool, bool]:
    """Return the names of the header fields that a file begins with, in lower case; none if it is no mail.

    Also whether all of them are in `head`, and whether nothing else stands between them.
    """
    head = head.removeprefix(b"\xef\xbb\xbf")
    line, _, below = head.partition(b"\n")
    fields = below if MBOX_LINE.fullmatch(line.rstrip(b"\r")) else head
    first = _FIELD.match(fields)
    if first is None or not (first[1].lower() in MAIL_FIELDS or first[1].lower().startswith((b"x-", b"arc-"))):
        return frozenset(), False, False
    end = _EMPTY_LINE.search(fields)
    stop = end.start() if end else fields.rfind(b"\n") + 1 or len(fields)
    names = frozenset(found[1].lower() for found in _FIELD.finditer(fields, 0, stop))
    is_whole = end is not None or len(head) < HEAD_BYTES
    return names, is_whole, _NO_FIELD.search(fields, 0, stop) is None


def _holds_magic(row: Format, head: bytes) -> bool:
    if row.media_type == "application/pdf":
        return row.magic in head[:_MAGIC_WITHIN]
    return head.startswith(row.magic)


def is_text(head: bytes) -> bool:
    """Return whether the first bytes of a file are text; UTF-16 and UTF-32 need a byte order mark."""
    if head.startswith(_BINARY_STARTS):
        return False
    if has_mark(head):
        return True
    head = head[:HEAD_BYTES]
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return controls <= _BINARY_SHARE * len(head)
