"""Contacts (`.vcf`): one line for each, every value with its name. Source: RFC 6350, 3 (format) and 6 (properties)."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator

from asky.errors import SourceUnreadable
from asky.reading.charset import decode
from asky.reading.text_builder import TextBuilder
from asky.values import Document

_NAMES = {
    "FN": "Name",
    "NICKNAME": "Nickname",
    "ORG": "Organization",
    "TITLE": "Title",
    "ROLE": "Role",
    "TEL": "Phone",
    "EMAIL": "Email",
    "ADR": "Address",
    "BDAY": "Birthday",
    "ANNIVERSARY": "Anniversary",
    "URL": "Web page",
    "NOTE": "Note",
    "CATEGORIES": "Categories",
}
_FOLD = re.compile(r"\r?\n[ \t]")
_SOFT_BREAK = re.compile(r"=\r?\n")
_LINE = re.compile(r"(?:[\w-]{1,60}\.)?([A-Za-z-]{1,60})((?:;[^:\n]{0,500})?):(.*)")
_KIND = re.compile(r"(?:TYPE=)?\"?(home|work|cell|mobile|fax)\b", re.IGNORECASE)
_ESCAPE = re.compile(r"\\([nN,;:\\])")
_PARTS = re.compile(r"(?<!\\);")


def read(data: bytes, name: str) -> Document:
    """Return the contacts of a file, one per line: `Name: Ada Byrne; Phone (work): 555 0101; ...`.

    Raises SourceUnreadable if there is none.
    """
    builder = TextBuilder()
    contacts = list(_contacts(decode(data)))
    for contact in contacts:
        builder.add("; ".join(f"{label}: {', '.join(values)}" for label, values in contact.items()) + "\n")
    if not contacts:
        raise SourceUnreadable(f"{name}: no contacts in it", verdict="empty")
    return builder.build("text/vcard", title=contacts[0].get("Name", [""])[0] if len(contacts) == 1 else None)


def _contacts(text: str) -> Iterator[dict[str, list[str]]]:
    if "QUOTED-PRINTABLE" in text.upper():
        text = _SOFT_BREAK.sub("", text)
    contact: dict[str, list[str]] = {}
    for line in _FOLD.sub("", text).splitlines():
        found = _LINE.fullmatch(line.strip())
        if found is None:
            continue
        key = found[1].upper()
        if key == "BEGIN":
            contact = {}
        elif key == "END" and contact:
            yield contact
            contact = {}
        elif key in _NAMES and (value := _value(key, found[2], found[3])):
            kind = _KIND.search(found[2]) if key in ("TEL", "EMAIL", "ADR") else None
            values = contact.setdefault(f"{_NAMES[key]} ({kind[1].lower()})" if kind else _NAMES[key], [])
            if value not in values:
                values.append(value)


def _value(key: str, parameters: str, raw: str) -> str:
    """Return a value on one line, without `;`, which divides values in the text."""
    if "QUOTED-PRINTABLE" in parameters.upper():
        raw = decode(binascii.a2b_qp(raw.encode("utf-8", "replace")))
    if key in ("ADR", "ORG"):
        raw = ", ".join(part.strip() for part in _PARTS.split(raw) if part.strip())
    plain = _ESCAPE.sub(lambda match: " " if match[1] in "nN" else match[1], raw.removeprefix("tel:"))
    return " ".join(plain.replace(";", ",").split())
