"""Messages that Outlook saved (`.msg`): the properties of a mail in a compound file.

Sources: MS-OXMSG (storages and streams), MS-OXPROPS (the numbers of properties), MS-OXCMSG (bodies and attachments).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from asky.errors import SourceUnreadable
from asky.reading.embedded.file import FileReader
from asky.reading.mail.alternatives import is_html_better
from asky.reading.mail.charsets import Charsets
from asky.reading.mail.contents import LOGO_BYTES, MAX_INNER, PartReader, read_mail
from asky.reading.mail.headers import thread_of
from asky.reading.mail.lines import plain_lines
from asky.reading.mail.message import document_of
from asky.reading.mail.packed_rtf import unpacked
from asky.reading.mail.quotes import passages_of
from asky.reading.mail.values import InnerMail, Mail, MailFile, MailItem, MailText
from asky.values import Document

if TYPE_CHECKING:
    from olefile import OleFileIO

_MAX_FILES = 200
_STREAM = "__substg1.0_{:04X}{:04X}"
_PROPERTIES = "__properties_version1.0"
_STRING, _STRING8, _BINARY, _OBJECT = 0x1F, 0x1E, 0x102, 0x0D
_INTEGER, _TIME = 0x03, 0x40
_ENTRY = struct.Struct("<HHIQ")
# Bytes before the entries of the properties: of a message, of one in it, of an attachment or recipient (2.4.1).
_HEADERS = {"message": 32, "inner": 24, "other": 8}
_EPOCH = datetime(1601, 1, 1, tzinfo=timezone.utc)

SUBJECT, BODY, HTML, PACKED_RTF = 0x0037, 0x1000, 0x1013, 0x1009
HEADERS, SENT, DELIVERED = 0x007D, 0x0039, 0x0E06
SENDER_NAME, SENDER_ADDRESS, SENDER_SMTP = 0x0C1A, 0x0C1F, 0x5D01
FOR_NAME, FOR_ADDRESS, FOR_SMTP = 0x0042, 0x0065, 0x5D02
NAME, ADDRESS, SMTP, RECIPIENT_TYPE = 0x3001, 0x3003, 0x39FE, 0x0C15
FILE_NAME, SHORT_NAME, FILE_DATA, METHOD, CONTENT_ID, MIME_TYPE = 0x3707, 0x3704, 0x3701, 0x3705, 0x3712, 0x370E
CODE_PAGE, TEXT_CODE_PAGE = 0x3FFD, 0x3FDE
MESSAGE_ID, ANSWERED, REFERENCES, CLASS = 0x1035, 0x1042, 0x1039, 0x001A
TOPIC, INDEX = 0x0070, 0x0071
_KINDS = {1: "To", 2: "Cc", 3: "Bcc"}
_INNER_METHOD = 5


def read(data: bytes, name: str) -> Document:
    """Return the text of a message that Outlook saved, as that of other mails.

    Raises SourceUnreadable: failed if it is no message, encrypted if there is no other text.
    """
    import olefile  # 30 ms: only if such a file is read

    try:
        file = olefile.OleFileIO(data)
    except (OSError, ValueError, IndexError, struct.error) as error:
        raise SourceUnreadable(f"{name}: damaged ({error})") from error
    if not file.exists(_PROPERTIES):
        raise SourceUnreadable(f"{name}: no mail in it", verdict="unsupported")
    return document_of([_mail(_Storage(file, ()), Charsets(), 0)], name)


@dataclass(frozen=True, slots=True)
class _Storage:
    """A message, a recipient or an attachment: a folder of the compound file."""

    file: OleFileIO
    path: tuple[str, ...]

    def stream(self, name: str) -> bytes:
        path = [*self.path, name]
        try:
            return self.file.openstream(path).read() if self.file.exists(path) else b""
        except (OSError, ValueError, IndexError, struct.error):
            return b""

    def has(self, name: str) -> bool:
        return bool(self.file.exists([*self.path, name]))

    def numbers(self, kind: str) -> dict[int, int]:
        """Return the properties that have their value in the table."""
        data = self.stream(_PROPERTIES)[_HEADERS[kind] :]
        usable = data[: len(data) // _ENTRY.size * _ENTRY.size]
        return {number: value for type_, number, _, value in _ENTRY.iter_unpack(usable) if type_ in (_INTEGER, _TIME)}

    def inner(self, prefix: str) -> Iterator[_Storage]:
        """Yield the storages in this one whose name begins so, in order."""
        depth = len(self.path)
        found = {
            tuple(path[: depth + 1])
            for path in self.file.listdir(streams=True, storages=False)
            if tuple(path[:depth]) == self.path and len(path) > depth + 1 and path[depth].startswith(prefix)
        }
        for path in sorted(found):
            yield _Storage(self.file, path)


class _Properties:
    """The values of a storage, decoded."""

    def __init__(self, storage: _Storage, kind: str, charsets: Charsets, page: str = "") -> None:
        self._storage = storage
        self._charsets = charsets
        self.numbers = storage.numbers(kind)
        own = self.numbers.get(CODE_PAGE, 0) & 0xFFFFFFFF
        self.page = f"cp{own}" if own else page

    def text(self, *numbers: int) -> str:
        """Return the first text of these properties that there is."""
        for number in numbers:
            if data := self._storage.stream(_STREAM.format(number, _STRING)):
                return data.decode("utf-16-le", "replace").rstrip("\x00")
            if data := self._storage.stream(_STREAM.format(number, _STRING8)):
                return self._charsets.text(data.rstrip(b"\x00"), self.page)
        return ""

    def data(self, number: int) -> bytes:
        return self._storage.stream(_STREAM.format(number, _BINARY))

    def time(self, *numbers: int) -> datetime | None:
        for number in numbers:
            if ticks := self.numbers.get(number):
                try:
                    return _EPOCH + timedelta(microseconds=ticks // 10)
                except OverflowError:
                    continue
        return None


def _mail(storage: _Storage, charsets: Charsets, level: int) -> Mail:
    values = _Properties(storage, "inner" if storage.path else "message", charsets)
    headers = values.text(HEADERS)
    # The header lines as they were sent, where there are any: of the folder for what was sent there are none.
    mail = read_mail(f"{headers.strip()}\n\n".encode("utf-8", "replace"), charsets) if headers.strip() else Mail()
    mail.items = []
    mail.subject = values.text(SUBJECT) or mail.subject
    sender = _named(values.text(FOR_NAME, SENDER_NAME), values.text(FOR_SMTP, SENDER_SMTP, FOR_ADDRESS, SENDER_ADDRESS))
    mail.sender = mail.sender or values.text(FOR_NAME, SENDER_NAME) or sender
    mail.time = mail.time or values.time(SENT, DELIVERED)
    recipients = _recipients(storage, charsets, values.page)
    shown = {
        "From": mail.fields.get("From") or sender,
        **{kind: mail.fields.get(kind) or recipients.get(kind, "") for kind in _KINDS.values()},
        "Date": mail.fields.get("Date") or (f"{mail.time:%a, %d %b %Y %H:%M:%S %z}" if mail.time else ""),
        "Subject": mail.subject,
    }
    mail.fields = {name: value for name, value in shown.items() if value}
    mail.identity = mail.identity or values.text(MESSAGE_ID)
    mail.topic = mail.topic or values.text(TOPIC)
    if not mail.thread:
        mail.answers, mail.thread = thread_of(values.text(REFERENCES), values.text(ANSWERED), values.data(INDEX))
    reader = PartReader(charsets, level)
    mail.items = _texts(values, charsets, reader, mail)
    for attached in list(storage.inner("__attach_version1.0_"))[:_MAX_FILES]:
        mail.items += _attached(attached, charsets, values.page, reader, mail, level)
    if values.text(CLASS).lower().startswith("ipm.note.smime") and not mail.texts():
        mail.is_encrypted = True
        mail.items, mail.unread = [], [("the message", "encrypted")]
    return mail


def _texts(values: _Properties, charsets: Charsets, reader: PartReader, mail: Mail) -> list[MailItem]:
    """Return the better of the texts of a message: plain, HTML, or RTF if there is no other."""
    plain = values.text(BODY)
    page = values.numbers.get(TEXT_CODE_PAGE, 0) & 0xFFFFFFFF
    data = values.data(HTML)
    html = charsets.text(data, f"cp{page}" if page else values.page) if data else values.text(HTML)
    if html and (not plain.strip() or is_html_better(plain, html)) and (found := reader.html(html)):
        return found
    if not plain.strip() and (packed := values.data(PACKED_RTF)):
        document = FileReader().read(unpacked(packed), "text.rtf")
        if isinstance(document, str):
            mail.unread.append(("the text, which is RTF", document))
        else:
            plain = document.text
    passages = passages_of(plain_lines(plain))
    return [MailText("plain", passages)] if passages else []


def _attached(
    storage: _Storage, charsets: Charsets, page: str, reader: PartReader, mail: Mail, level: int
) -> Sequence[MailItem]:
    values = _Properties(storage, "other", charsets, page)
    name = values.text(FILE_NAME, SHORT_NAME, NAME) or "attachment"
    if values.numbers.get(METHOD, 0) & 0xFFFFFFFF == _INNER_METHOD:
        inner = _Storage(storage.file, (*storage.path, _STREAM.format(FILE_DATA, _OBJECT)))
        if level >= MAX_INNER:
            mail.unread.append((name, "too deep within other messages"))
            return []
        return [InnerMail(_mail(inner, charsets, level + 1))] if inner.has(_PROPERTIES) else []
    data = values.data(FILE_DATA)
    if values.text(CONTENT_ID) and values.text(MIME_TYPE).startswith("image/") and len(data) < LOGO_BYTES:
        return []
    mail.files.append(name)
    if not data:
        mail.unread.append((name, "its content is not in the message"))
        return []
    return reader.event(data, name) if name.lower().endswith(".ics") else [MailFile(name, data)]


def _recipients(storage: _Storage, charsets: Charsets, page: str) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for each in storage.inner("__recip_version1.0_"):
        values = _Properties(each, "other", charsets, page)
        kind = _KINDS.get(values.numbers.get(RECIPIENT_TYPE, 1) & 0xF, "To")
        found.setdefault(kind, []).append(_named(values.text(NAME), values.text(SMTP, ADDRESS)))
    return {kind: ", ".join(filter(None, names)) for kind, names in found.items()}


def _named(name: str, address: str) -> str:
    """Return a name with its address, but for the address of a user of one server, which nobody writes to."""
    address = address if "@" in address else ""
    return f"{name} <{address}>" if name and address and name != address else name or address
