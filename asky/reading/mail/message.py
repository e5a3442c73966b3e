"""Mail: `.eml` files and mailboxes, each message with its header lines above its text."""

from __future__ import annotations

import email
import email.policy
import re
from email.message import EmailMessage
from email.utils import getaddresses, parsedate_to_datetime

from asky.reading.html import page
from asky.reading.text_builder import TextBuilder
from asky.values import Document

_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_MESSAGE = re.compile(rb"^From [^\n]*\n", re.MULTILINE)
_MAX_PARTS = 200


def read(data: bytes, name: str) -> Document:
    """Return the text of a message, or of all messages of a mailbox, each a section named after its subject.

    The plain text of a message is preferred to its HTML. Attachments are named, and not read.
    """
    raw = _MESSAGE.split(data)[1:] if name.lower().endswith(".mbox") or _MESSAGE.match(data) else [data]
    builder = TextBuilder()
    messages = [email.message_from_bytes(each, policy=email.policy.default) for each in raw]
    for message in messages:
        builder.mark_heading(_header(message, "Subject") or "(no subject)", 1)
        _add(builder, message)
    first = messages[0] if len(messages) == 1 else None
    return builder.build(
        "message/rfc822",
        title=_header(first, "Subject") if first is not None else None,
        metadata={"author": _sender(first), "published": _date(first)} if first is not None else None,
    )


def _add(builder: TextBuilder, message: EmailMessage) -> None:
    for header in _HEADERS:
        if value := _header(message, header):
            builder.add(f"{header}: {value}\n")
    attachments = [part.get_filename() or part.get_content_type() for part in _parts(message) if part.is_attachment()]
    if attachments:
        builder.add(f"Attachments: {', '.join(attachments)}\n")
    builder.add(f"\n{_body(message).strip()}\n\n")


def _parts(message: EmailMessage) -> list[EmailMessage]:
    return [part for _, part in zip(range(_MAX_PARTS), message.walk(), strict=False)]


def _body(message: EmailMessage) -> str:
    try:
        part = message.get_body(("plain", "html"))
        text = str(part.get_content()) if part is not None else ""
    except (LookupError, ValueError, TypeError, AttributeError):  # an unknown charset, or parts that are no parts
        payload = message.get_payload(decode=True)
        return payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""
    if part is not None and part.get_content_subtype() == "html":
        return page.read(text.encode(), "mail", None).text
    return text


def _header(message: EmailMessage, header: str) -> str:
    try:
        return " ".join(str(message[header] or "").split())
    except (ValueError, IndexError, AttributeError, TypeError):  # the parser of structured headers fails on some
        return ""


def _sender(message: EmailMessage) -> str:
    found = getaddresses([_header(message, "From")])
    return found[0][0] or found[0][1] if found else ""


def _date(message: EmailMessage) -> str | None:
    try:
        return parsedate_to_datetime(_header(message, "Date")).date().isoformat()
    except (ValueError, TypeError, IndexError):
        return None
