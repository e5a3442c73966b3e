"""What a message holds, in the order in which a mail program shows it: texts, files, invitations, attached mails."""

from __future__ import annotations

import re

from asky.errors import SourceUnreadable
from asky.reading import calendar_events
from asky.reading.formats import FORMATS
from asky.reading.mail.alternatives import is_html_better
from asky.reading.mail.charsets import Charsets
from asky.reading.mail.headers import addresses, base64_bytes, decoded, thread_of, time_of
from asky.reading.mail.html_lines import html_lines
from asky.reading.mail.lines import enriched_text, plain_lines
from asky.reading.mail.mime import MimePart, PartBudget, leaves, parse, uu_bytes
from asky.reading.mail.quotes import passages_of
from asky.reading.mail.values import InnerMail, Mail, MailEvent, MailFile, MailItem, MailNote, MailText

MAX_INNER = 10
"""How deep mails in mails are read."""
FIELDS = ("From", "To", "Cc", "Bcc", "Date", "Subject")
"""The header fields that are shown."""

LOGO_BYTES = 10 * 1024
"""Of a picture that a mail's HTML places: smaller ones are logos, icons, and pictures that count readers."""
_ENCRYPTED = "[encrypted, not read]"
_SIGNATURES = ("application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature")
_SEALED = ("application/pkcs7-mime", "application/x-pkcs7-mime")
_MESSAGES = ("message/rfc822", "message/global", "message/news")
_EVENTS = ("text/calendar", "application/ics", "text/x-vcalendar")
_ENRICHED = ("text/enriched", "text/richtext")
_OTHER_FORMS = ("text/x-amp-html", "text/watch-html")  # of a text that is there as HTML too
_SUFFIXES = {"text/rtf": ".rtf", "application/rtf": ".rtf", "text/vcard": ".vcf", "text/x-vcard": ".vcf"}
_NOT_SHOWN = frozenset({*_EVENTS, *_SUFFIXES, "text/rfc822-headers"})  # as they stand
_METHOD = re.compile(rb"^METHOD:([A-Za-z]{1,20})", re.MULTILINE)
_PGP = "-----BEGIN PGP MESSAGE-----"
_PLACED = re.compile(r"cid:([^\"'>\s)]{1,300})")
_UU_FILE = re.compile(r"^begin [0-7]{3,4} (\S[^\n]*)\n(?=[!-`]{5})", re.MULTILINE)


def read_mail(data: bytes, charsets: Charsets, level: int = 0) -> Mail:
    """Return the mail in the bytes of a message. What is beyond the limits is named in `unread`."""
    budget = PartBudget()
    part = parse(data, charsets, budget)
    mail = _with_fields(part, charsets)
    reader = PartReader(charsets, level)
    is_text = part.media_type.startswith("text/") and part.disposition != "attachment"
    mail.items = reader.text(part) if is_text and part.media_type not in _NOT_SHOWN else reader.items(part)
    mail.files, mail.is_encrypted = list(dict.fromkeys(reader.files)), reader.is_encrypted
    mail.unread = [*budget.unread, *reader.unread]
    return mail


def _with_fields(part: MimePart, charsets: Charsets) -> Mail:
    values = {name: decoded(part.value(name), charsets) for name in FIELDS}
    senders = addresses(part.value("From") or part.value("Sender"), lambda name: decoded(name, charsets))
    index = base64_bytes(part.value("Thread-Index").encode("ascii", "ignore"))
    answers, thread = thread_of(part.value("References"), part.value("In-Reply-To"), index)
    return Mail(
        fields={name: value for name, value in values.items() if value},
        subject=values["Subject"],
        sender=next((name or address for name, address in senders), ""),
        time=time_of(values["Date"]),
        identity=part.value("Message-ID"),
        answers=answers,
        thread=thread,
        topic=decoded(part.value("Thread-Topic"), charsets),
    )


class PartReader:
    """Reads the parts of one message. `files` are the names of those in it, `unread` what is only named."""

    def __init__(self, charsets: Charsets, level: int = 0) -> None:
        self.files: list[str] = []
        self.unread: list[tuple[str, str]] = []
        self.is_encrypted = False
        self._charsets = charsets
        self._level = level
        self._events: set[str] = set()
        self._placed: set[str] = set()  # the ids of the pictures that the HTML places

    def items(self, part: MimePart) -> list[MailItem]:
        """Return what a part holds, in order."""
        kind = part.media_type
        if kind == "multipart/alternative":
            return self._best(part)
        if kind == "multipart/encrypted":
            return self._seal()
        if kind == "multipart/signed":
            self.files += [f"{self._name_of(each)} (signature)" for each in part.parts[1:]]
            return self.items(part.parts[0])
        if kind == "multipart/related":
            return [item for each in self._root_first(part) for item in self.items(each)]
        if kind.startswith("multipart/"):
            return [item for each in part.parts for item in self.items(each)]
        return self._leaf(part, kind)

    def _leaf(self, part: MimePart, kind: str) -> list[MailItem]:
        name = part.file_name(self._charsets)
        is_file = part.disposition == "attachment" or bool(name)
        if kind in _MESSAGES or (is_file and name.lower().endswith(".eml")):
            return self._inner(part)
        if kind in ("text/rfc822-headers", "message/rfc822-headers"):
            return self._inner(part)
        if kind in _EVENTS or (is_file and name.lower().endswith(".ics")):
            return self._event(part, name)
        if kind in _SIGNATURES:
            self.files.append(f"{self._name_of(part)} (signature)")
            return []
        if kind in _SEALED:
            return self._sealed(part)
        if kind == "application/ms-tnef" or name.lower() == "winmail.dat":
            self.files.append(self._name_of(part))
            self.unread.append((self._name_of(part), "formatting and files that Outlook packed (TNEF)"))
            return []
        if kind == "message/external-body":
            self.unread.append((name or part.parameter("name") or "a file", "kept elsewhere"))
            return []
        if kind == "application/x-skipped":
            return []
        if kind == "message/partial":
            number, total = part.parameter("number") or "?", part.parameter("total") or "?"
            self.unread.append((f"the other parts of part {number} of {total}", "they are other messages"))
        if kind.startswith(("image/", "audio/", "video/")):
            return self._picture(part, name)
        if not is_file and kind.startswith(("text/", "message/")) and kind not in _SUFFIXES:
            return self.text(part)
        return self._file(part)

    # texts

    def text(self, part: MimePart) -> list[MailItem]:
        """Return what a part of text says, whatever its name."""
        kind = part.media_type
        text = self._charsets.text(part.data(), part.charset)
        if kind == "text/html":
            self._placed.update(_PLACED.findall(text))
            return self.html(text)
        if kind in _ENRICHED:
            text = enriched_text(text)
        if _PGP in text:
            if text.partition(_PGP)[0].strip():
                self.unread.append(("a part of the text", "encrypted"))
                text = text.partition(_PGP)[0]
            else:
                return self._seal()
        text, files = self._without_uuencoded(text)
        is_flowed = part.parameter("format").lower() == "flowed"
        lines = plain_lines(text, flowed=is_flowed, without_space=part.parameter("delsp").lower() == "yes")
        return [*([MailText("plain", passages)] if (passages := passages_of(lines)) else []), *files]

    def html(self, text: str) -> list[MailItem]:
        """Return the text of HTML."""
        passages = passages_of(html_lines(text))
        return [MailText("html", passages)] if passages else []

    def _without_uuencoded(self, text: str) -> tuple[str, list[MailItem]]:
        """Return a text without the files that are encoded in it, and these."""
        files: list[MailItem] = []
        pieces, at = [], 0
        found = _UU_FILE.search(text) if "begin " in text else None
        while found:
            end = text.find("\nend", found.end())
            if end < 0:
                break
            name = found[1].strip()
            self.files.append(name)
            files.append(MailFile(name, uu_bytes(text[found.start() : end].encode("ascii", "replace"))))
            pieces.append(text[at : found.start()])
            at = end + 4
            found = _UU_FILE.search(text, at)
        return "".join([*pieces, text[at:]]), files

    def _best(self, part: MimePart) -> list[MailItem]:
        """Return the better text of several that say the same, with the files of all."""
        sources = {id(each): _main_text(each) for each in part.parts}
        plain = next((each for each in part.parts if _kind(sources[id(each)]) == "text/plain"), None)
        page = next((each for each in reversed(part.parts) if _kind(sources[id(each)]) == "text/html"), None)
        chosen = plain or page
        if plain is not None and page is not None:
            texts = [self._all_text(each) for each in (plain, page)]
            self._placed.update(_PLACED.findall(texts[1]))  # they are no more, if the plain text is chosen
            chosen = page if is_html_better(*texts) else plain
        if chosen is None:
            texted = [each for each in part.parts if sources[id(each)] is not None]
            chosen = next(iter(texted), None)
        items = self.items(chosen) if chosen is not None else []
        names = set(self.files)
        for each in part.parts:
            if each is not chosen:
                others = [item for leaf in leaves(each) if not _says_the_same(leaf) for item in self.items(leaf)]
                items += [item for item in others if not (isinstance(item, MailFile) and item.name in names)]
        if page is not None and not any(isinstance(item, MailText) for item in items) and chosen is plain:
            items = [*self.items(page), *items]
        return items

    def _all_text(self, part: MimePart) -> str:
        shown = filter(_is_shown_text, leaves(part))
        return "\n".join(self._charsets.text(leaf.data(), leaf.charset) for leaf in shown)

    # files and mails

    def _name_of(self, part: MimePart) -> str:
        return part.file_name(self._charsets) or _default_name(part.media_type)

    def _file(self, part: MimePart) -> list[MailItem]:
        name = self._name_of(part)
        self.files.append(name)
        return [MailFile(name, part.data())]

    def _picture(self, part: MimePart, name: str) -> list[MailItem]:
        """Return what stands for a picture: nothing if it belongs to the design, else its name where it is shown."""
        data = part.data()
        is_placed = part.value("content-id").strip("<> ") in self._placed and bool(self._placed)
        if is_placed and part.disposition != "attachment" and len(data) < LOGO_BYTES:
            return []
        name = name or _default_name(part.media_type)
        self.files.append(name)
        what = {"ima": "picture", "aud": "sound", "vid": "video"}[part.media_type[:3]]
        shown = [MailNote(f"[{what.capitalize()}: {name}]")] if part.disposition == "inline" and not is_placed else []
        return [*shown, MailFile(name, b"" if media_is_unread(name) else data)]

    def _inner(self, part: MimePart) -> list[MailItem]:
        name = part.file_name(self._charsets) or "a message"
        if self._level >= MAX_INNER:
            self.unread.append((name, "too deep within other messages"))
            return []
        return [InnerMail(read_mail(part.data(), self._charsets, self._level + 1))]

    def _event(self, part: MimePart, name: str) -> list[MailItem]:
        data = self._charsets.text(part.data(), part.charset or "utf-8").encode("utf-8", "replace")
        return self.event(data, name, part.parameter("method").upper())

    def event(self, data: bytes, name: str, method: str = "") -> list[MailItem]:
        """Return the events of a calendar, unless the message had them before."""
        name = name or "invite.ics"
        try:
            text = calendar_events.read(data, name).text.strip()
        except SourceUnreadable as error:
            self.unread.append((name, error.message.removeprefix(f"{name}: ").removeprefix(f"{name} ")))
            return []
        if text in self._events:
            return []
        self._events.add(text)
        stated = _METHOD.search(data)
        return [MailEvent(text, stated[1].decode().upper() if stated else method)]

    # what cannot be read

    def _seal(self) -> list[MailItem]:
        self.is_encrypted = True
        self.unread.append(("the message", "encrypted"))
        return [MailNote(_ENCRYPTED)]

    def _sealed(self, part: MimePart) -> list[MailItem]:
        name = self._name_of(part)
        if part.parameter("smime-type").lower() in ("signed-data", "certs-only", "compressed-data"):
            self.files.append(name)
            self.unread.append((name, "a message packed with its signature (S/MIME)"))
            return []
        return self._seal()

    def _root_first(self, part: MimePart) -> list[MimePart]:
        start = part.parameter("start").strip("<> ")
        root = next((each for each in part.parts if start and each.value("content-id").strip("<> ") == start), None)
        root = root or next((each for each in part.parts if _main_text(each) is not None), part.parts[0])
        return [root, *(each for each in part.parts if each is not root)]


def media_is_unread(name: str) -> bool:
    """Return whether a file of this name has no reader whatever it holds."""
    return name.lower().endswith((".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".svg", ".heic"))


def _kind(part: MimePart | None) -> str:
    return "" if part is None else part.media_type


def _main_text(part: MimePart) -> MimePart | None:
    """Return the part that decides whether an alternative is plain or HTML: HTML, if there is any."""
    shown = [leaf for leaf in leaves(part) if _is_shown_text(leaf)]
    return next((leaf for leaf in shown if leaf.media_type == "text/html"), next(iter(shown), None))


def _is_shown_text(part: MimePart) -> bool:
    return (
        part.media_type.startswith("text/") and part.media_type not in _NOT_SHOWN and part.disposition != "attachment"
    ) or part.media_type in _OTHER_FORMS


def _says_the_same(part: MimePart) -> bool:
    """Return whether a part of an alternative that was not chosen is another form of its text."""
    return _is_shown_text(part) or (part.media_type in ("text/rtf", "application/rtf") and not part.disposition)


def _default_name(media_type: str) -> str:
    known = next((row.suffixes[0] for row in FORMATS if row.media_type == media_type and row.suffixes), "")
    suffix = known or _SUFFIXES.get(media_type) or f".{media_type.rpartition('/')[2].removeprefix('x-')[:20]}"
    return f"attachment{suffix}"
