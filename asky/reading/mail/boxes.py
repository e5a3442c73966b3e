"""Files that hold mails: a message, a mailbox of many (mbox), a message of Apple Mail (emlx)."""

from __future__ import annotations

import re

from asky.reading.detection import MAIL_FIELDS, MBOX_LINE

_BARE_CHARS = 8  # of a separator without address and date, as Thunderbird writes it
_FIELD = re.compile(rb"[!-9;-~]{1,80}[ \t]*:|>From ")
_QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)
_EMLX = re.compile(rb"\s{0,8}(\d{1,10})[ \t]*\r?\n(?=[!-9;-~]{1,80}:|From )")
_PLIST = (b"<?xml", b"<!DOCTYPE plist", b"<plist")


def messages_in(data: bytes, name: str) -> list[bytes]:
    """Return the messages in a file, in order. A message may begin with the line that parts those of a mailbox.

    Such a line stands at the start of the file or below an empty one, states a date, and a header field follows it. The
    `>` before a line `From ` of a text was added by whoever wrote the mailbox.
    """
    data = data.removeprefix(b"\xef\xbb\xbf")
    apple = _EMLX.match(data) if name.lower().endswith(".emlx") or data[:1].isdigit() else None
    if apple:
        return [_without_plist(data, apple)]
    start = len(data) - len(data.lstrip(b"\r\n")) if data[:1] in (b"\r", b"\n") else 0
    first_line = data.find(b"\n", start) + 1
    if not data.startswith(b"From ", start) or not first_line:
        return [data]
    starts, texts = [start], [first_line]
    at = data.find(b"\nFrom ", first_line)
    while at >= 0:
        below = data.find(b"\n", at + 1) + 1
        if not below:
            break
        if data[at - 1 : at] == b"\n" or data[at - 2 : at] == b"\n\r":
            line = data[at + 1 : below - 1].rstrip(b"\r")
            field = _FIELD.match(data, below)
            is_certain = field is not None and field[0].rstrip(b": \t").lower() in MAIL_FIELDS
            if field and MBOX_LINE.fullmatch(line) and (is_certain or len(line) > _BARE_CHARS):
                starts.append(at + 1)
                texts.append(below)
        at = data.find(b"\nFrom ", at + 1)
    ends = [*starts[1:], len(data)]
    return [_unescaped(data[text:end]) for text, end in zip(texts, ends, strict=True)]


def _unescaped(message: bytes) -> bytes:
    return _QUOTED_FROM.sub(rb"\1", message) if b"\n>From " in message or b"\n>>" in message else message


def _without_plist(data: bytes, apple: re.Match[bytes]) -> bytes:
    """Return the message in a file of Apple Mail: its first line states the length, what follows is a property list."""
    end = apple.end() + int(apple[1])
    if end <= len(data) and data[end:].lstrip().startswith(_PLIST):
        return data[apple.end() : end]
    plist = data.rfind(b"<?xml version", apple.end())
    return data[apple.end() : plist if plist > 0 and b"<plist" in data[plist : plist + 400] else len(data)]
