"""A mail as it is read from any file format: its fields, and what it holds in the order in which it is shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from asky.reading.mail.quotes import MailPassage


@dataclass(frozen=True, slots=True)
class MailText:
    """A text of the mail, in passages by who wrote them; `kind` is `plain` or `html`."""

    kind: str
    passages: list[MailPassage]


@dataclass(frozen=True, slots=True)
class MailFile:
    """A file in the mail; `kind` is what its heading says, such as `Attachment`."""

    name: str
    data: bytes
    kind: str = "Attachment"


@dataclass(frozen=True, slots=True)
class MailNote:
    """A line that stands for something in the mail that is no text, or is text of its own kind."""

    text: str


@dataclass(frozen=True, slots=True)
class MailEvent:
    """The lines of a calendar in the mail; `method` is what it is sent for, such as `REQUEST`."""

    text: str
    method: str


@dataclass(frozen=True, slots=True)
class InnerMail:
    """A mail that is attached to the mail."""

    mail: Mail


MailItem = MailText | MailFile | MailNote | MailEvent | InnerMail


@dataclass(slots=True)
class Mail:
    """A mail. `fields` are shown above its text, by their names; `unread` is `(part, reason)` of what was not read.

    `answers` are the ids of the mails before it, the last one first, and `thread` is that of the first, as far as the
    mail says; `topic` is what its thread is called, if that is stated.
    """

    fields: dict[str, str] = field(default_factory=dict)
    subject: str = ""
    sender: str = ""
    time: datetime | None = None
    identity: str = ""
    answers: tuple[str, ...] = ()
    thread: str = ""
    topic: str = ""
    items: list[MailItem] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    unread: list[tuple[str, str]] = field(default_factory=list)
    is_encrypted: bool = False

    def metadata(self) -> dict[str, str]:
        """Return what is stored about the mail beside its text; `thread` is the same for all mails of one thread."""
        return {
            "subject": self.subject,
            "from": self.fields.get("From", ""),
            "to": self.fields.get("To", ""),
            "date": self.time.isoformat() if self.time else "",
            "message_id": self.identity,
            "thread": self.thread or self.identity,
            "topic": self.topic,
        }

    def texts(self) -> list[MailText]:
        """Return the texts of the mail itself."""
        return [item for item in self.items if isinstance(item, MailText)]
