"""Mail: messages and mailboxes, each message with its header lines above its text."""

from __future__ import annotations

from collections.abc import Sequence

from asky.errors import SourceUnreadable
from asky.reading.mail.boxes import messages_in
from asky.reading.mail.charsets import Charsets
from asky.reading.mail.contents import read_mail
from asky.reading.mail.threads import Threads, headings, join_threads
from asky.reading.mail.values import InnerMail, Mail, MailEvent, MailFile, MailText
from asky.reading.mail.writer import MailWriter
from asky.reading.text_builder import TextBuilder
from asky.values import Document

_MEDIA_TYPE = "message/rfc822"


def read(data: bytes, name: str) -> Document:
    """Return the text of a message, or of all messages of a mailbox, each a section named after its subject.

    Subject, sender, recipients, date, id and thread of each are the metadata of its section, and of a single message
    those of the document too. Of each, all texts that a mail program shows are there in order; what it quotes is a
    section of its own, and a quote of a message in the same mailbox is one line. Files in it are read by the readers of
    their formats, below it. Raises SourceUnreadable: encrypted if there is no other text.
    """
    charsets = Charsets()
    return document_of([read_mail(each, charsets) for each in messages_in(data, name)], name)


def document_of(mails: Sequence[Mail], name: str) -> Document:
    """Return the document of the mails in a file."""
    if mails and all(mail.is_encrypted and not _has_text(mail) for mail in mails):
        raise SourceUnreadable(f"{name}: encrypted", verdict="encrypted")
    join_threads(mails)
    builder = TextBuilder()
    writer = MailWriter(builder, Threads(mails))
    for mail, heading in zip(mails, headings(mails), strict=True):
        writer.write(mail, heading)
    only = mails[0] if len(mails) == 1 else None
    metadata = (
        {
            "author": only.sender,
            "published": only.time.date().isoformat() if only.time else None,
            **only.metadata(),
        }
        if only
        else None
    )
    return builder.build(_MEDIA_TYPE, title=only.subject if only else None, metadata=metadata)


def _has_text(mail: Mail) -> bool:
    return any(isinstance(item, (MailText, MailFile, MailEvent, InnerMail)) for item in mail.items)
