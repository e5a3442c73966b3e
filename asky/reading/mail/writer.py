"""A mail as text: header lines, what its sender wrote, what is quoted, and the files in it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import groupby

from asky.reading.embedded.file import FileReader
from asky.reading.mail.attributions import Authorship
from asky.reading.mail.headers import day_of
from asky.reading.mail.lines import MailLine
from asky.reading.mail.quotes import MailPassage
from asky.reading.mail.threads import Threads
from asky.reading.mail.values import InnerMail, Mail, MailEvent, MailFile, MailItem, MailText
from asky.reading.tables.rows import add_table
from asky.reading.text_builder import TextBuilder
from asky.text.sentences import iter_sentences

END_OF_QUOTE = "[end of quote]"
"""The line between what is quoted and the words of the sender that follow it."""

_FIELD_CHARS = 2_000  # of a line with recipients
_METADATA_CHARS = 400  # of one value of a section's metadata
_ALL_METADATA_CHARS = 5_000_000  # of one mailbox, about 20,000 mails: half of what a reader may answer
_EXCERPT_CHARS = 120  # of a quote that is answered line by line
_EVENTS = {"REPLY": "Reply to an invitation", "CANCEL": "Cancelled event", "COUNTER": "Proposal of another time"}


class MailWriter:
    """Writes mails into `builder`, a file that is in several of them once."""

    def __init__(self, builder: TextBuilder, threads: Threads) -> None:
        self._builder = builder
        self._threads = threads
        self._files = FileReader()
        self._told = _ALL_METADATA_CHARS
        self._known: dict[bytes, str] = {}  # what was read of files, by their content

    def write(self, mail: Mail, heading: str, level: int = 1) -> None:
        """Write a mail as a section of that level; what stands below others in it has the level below."""
        self._builder.mark_heading(heading, level, metadata=self._metadata(mail))
        self._content(mail, level)

    def _metadata(self, mail: Mail) -> dict[str, str]:
        """Return the metadata of the section of a mail, none beyond what there is room for."""
        metadata = {name: _shortened(value, _METADATA_CHARS) for name, value in mail.metadata().items()}
        self._told -= sum(map(len, metadata.values()))
        return metadata if self._told > 0 else {}

    def _content(self, mail: Mail, level: int) -> None:
        builder = self._builder
        for name, value in mail.fields.items():
            builder.add(f"{name}: {_field(name, value, mail)}\n")
        if mail.files:
            builder.add(f"Attachments: {_shortened(', '.join(mail.files))}\n")
        builder.add("\n")
        later: list[MailItem] = []
        is_quoted = False
        for number, item in enumerate(mail.items):
            has_more = any(isinstance(each, MailText) for each in mail.items[number + 1 :])
            if isinstance(item, MailText):
                is_quoted = self._text(mail, item, level, is_quoted)
            elif isinstance(item, MailEvent):
                self._event(item, level)
            elif isinstance(item, (MailFile, InnerMail)):
                later.append(item)
                if has_more and isinstance(item, MailFile):
                    builder.add(f"[{item.kind}: {item.name}]\n\n" if item.data else "")
            else:
                builder.add(f"{item.text}\n\n")
        for item in later:
            if isinstance(item, InnerMail):
                self._attached(item.mail, level + 1)
            elif isinstance(item, MailFile):
                self._file(item, level + 1)
        for part, reason in mail.unread:
            builder.skip(part, reason)

    # text

    def _text(self, mail: Mail, text: MailText, level: int, is_quoted: bool) -> bool:
        """Write a text; return whether it ends with a quote."""
        passages = text.passages
        number = 0
        while number < len(passages):
            passage = passages[number]
            origin = passage.origin
            if origin is None:
                if is_quoted:
                    self._builder.mark_heading("", level + 1)
                    self._builder.add(f"{END_OF_QUOTE}\n\n")
                    is_quoted = False
                self._lines(passage.lines, level)
                number += 1
                continue
            folded = self._folded(mail, passages, number)
            if folded:
                note, number = folded
                if is_quoted:
                    self._builder.mark_heading("", level + 1)
                    is_quoted = False
                self._builder.add(f"{note}\n\n")
                continue
            self._begin_quote(origin, passage, level + 1)
            self._lines(passage.lines, level + 1)
            is_quoted = True
            number += 1
        return is_quoted

    def _begin_quote(self, origin: Authorship, passage: MailPassage, level: int) -> None:
        self._builder.mark_heading(origin.label, level)
        head = "".join(f"{line}\n" for line in passage.head)
        self._builder.add(f"{origin.label}:\n\n{head}\n" if head else f"{origin.label}:\n\n")

    def _folded(self, mail: Mail, passages: Sequence[MailPassage], number: int) -> tuple[str, int] | None:
        """Return the line for a quote of a mail that is in the file, and the number of the passage after it.

        It begins as quoted lines do, so that nobody takes it for the words of the sender.
        """
        first = self._threads.quoted(mail, passages[number])
        if first is None:
            return None
        end = number + 1
        others = {id(first)}
        while end < len(passages) and passages[end].origin is not None:
            further = self._threads.quoted(mail, passages[end])
            if further is None:
                break
            others.add(id(further))
            end += 1
        day = f" of {day_of(first.time)}" if first.time else ""
        by = f" by {first.sender}" if first.sender else ""
        if end < len(passages) and end == number + 1 and passages[end].origin is None:
            return f"> [Quotes the message{day}{by}: “{_excerpt(passages[number].text())}”]", end
        more = f", and {len(others) - 1} more" if len(others) > 1 else ""
        return f"> [Quotes the message{day}{by}{more}]", end

    def _lines(self, lines: Sequence[MailLine], level: int) -> None:
        for kind, group in groupby(lines, key=lambda line: 2 if line.rows else line.heading and 1):
            if kind == 0:
                self._builder.add("\n".join(line.text for line in group) + "\n")
                continue
            for line in group:
                if line.rows:
                    add_table(self._builder, line.rows)
                else:
                    self._builder.mark_heading(line.text, level + line.heading)
                    self._builder.add(f"{line.text}\n")
        self._builder.add("\n")

    # what is beside it

    def _event(self, event: MailEvent, level: int) -> None:
        name = _EVENTS.get(event.method, "Invitation" if event.method == "REQUEST" else "Calendar")
        self._builder.mark_heading(name, level + 1)
        self._builder.add(f"{name}:\n\n{event.text}\n\n")
        self._builder.mark_heading("", level + 1)

    def _attached(self, mail: Mail, level: int) -> None:
        heading = f"Attached message: {mail.subject or '(no subject)'}"
        self._builder.mark_heading(heading, level, metadata=self._metadata(mail))
        self._builder.add(f"{heading}\n\n")
        self._content(mail, level)

    def _file(self, file: MailFile, level: int) -> None:
        key = hashlib.sha256(file.data).digest()
        known = self._known.get(key)
        if known is not None:
            self._builder.mark_heading(f"{file.kind}: {file.name}", level)
            same = "read above" if known == file.name else f"read above as {known}"
            self._builder.add(f"{file.kind}: {file.name} ({same})\n\n")
        elif self._files.add(self._builder, file.data, file.name, level=level, kind=file.kind) is not None:
            self._known[key] = file.name


def _excerpt(text: str) -> str:
    """Return the first sentence of a quote, or what of it fits."""
    text = " ".join(text[: 4 * _EXCERPT_CHARS].split())
    first = next(iter_sentences(text), None)
    said = text[: first.end] if first else text
    if len(said) > _EXCERPT_CHARS:
        said = said[:_EXCERPT_CHARS].rpartition(" ")[0] or said[:_EXCERPT_CHARS]
    return said if len(said) == len(text) else f"{said} …"


def _field(name: str, value: str, mail: Mail) -> str:
    if name == "Date" and mail.time and (day := mail.time.date().isoformat()) not in value:
        return f"{value} ({day})"
    return _shortened(value)


def _shortened(value: str, most: int = _FIELD_CHARS) -> str:
    if len(value) <= most:
        return value
    kept = value[:most].rpartition(",")[0] or value[:most]
    return f"{kept}, and {value.count(',', len(kept)):,} more"
