"""Texts of mails from their bytes: charsets that are declared wrongly, under other names, or not at all."""

from __future__ import annotations

import codecs
import re

from asky.reading.charset import decode

# What mail programs mean by a charset's name: the superset that they write (WHATWG Encoding Standard, "Names and
# labels"; Microsoft, "Code page identifiers"), or an encoding that Python knows under another name.
_MEANT = {
    "iso-8859-1": "cp1252",
    "latin1": "cp1252",
    "iso-8859-9": "cp1254",
    "iso-8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x-gbk": "gb18030",
    "hz-gb-2312": "hz",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "iso-2022-jp": "iso2022_jp_ext",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "big5": "cp950",
    "iso-8859-8-i": "iso-8859-8",
    "iso-8859-8-e": "iso-8859-8",
    "iso-8859-6-i": "iso-8859-6",
    "unicode-1-1-utf-7": "utf-7",
    "unicode-1-1-utf-8": "utf-8",
    "utf8mb4": "utf-8",
    "x-mac-roman": "mac_roman",
    "macintosh": "mac_roman",
    "x-mac-cyrillic": "mac_cyrillic",
}
_CODE_PAGE = re.compile(r"(?:cp|ibm|windows|x-cp|dos|ansi)[-_ ]?0*(\d{3,5})")
_NO_CHARSET = frozenset({"", "us-ascii", "ascii", "ansi_x3.4-1968", "x-unknown", "unknown-8bit", "unknown", "default"})
# Where bytes of these are UTF-8 with letters beyond ASCII, they are UTF-8: hardly any text in them is so by chance.
_ONE_BYTE = re.compile(r"iso-?8859|cp125|windows-?125|latin|mac|koi8|cp8[5-7]")
_NO_TEXTS = frozenset(
    {"unicode_escape", "raw_unicode_escape", "unicode-escape", "raw-unicode-escape", "punycode", "idna"}
)
_SEVEN_BIT = frozenset({"utf-7", "hz", "iso2022_jp_ext"})
# Letters of western languages, but for those that stand for Turkish ones as often; typographic signs.
_WESTERN = frozenset("àâäáãåæçèéêëìíîïñòóôöõøœùúûüßÀÂÄÁÃÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÖÕØŒÙÚÛÜ€…–—‘’“”„«»‹›•°§£©®¡¿\xa0´·")
_WESTERN_SHARE = 0.5  # of the letters of a text; a short one may have many, but Russian in Windows-1251 has all
# A guess takes 5 ms and more; a mailbox of thousands of messages without a charset is written by few programs.
_MAX_GUESSES = 200


class Charsets:
    """Decodes the texts of one file. No text is refused; what no charset fits has U+FFFD."""

    def __init__(self) -> None:
        self._guesses = 0

    def text(self, data: bytes, declared: str | None, beside: str | None = None) -> str:
        """Return a text as declared if all its bytes are so, else as UTF-8, in the charset `beside`, or by a guess."""
        name = encoding_of(declared)
        if data.isascii() and (name not in _SEVEN_BIT):
            return data.decode("ascii") if name is None or not name.startswith("utf-16") else self._wide(data, name)
        if name is None or _ONE_BYTE.match(name):
            try:
                return data.decode("utf-8")
            except UnicodeDecodeError:
                pass
        for each in filter(None, (name, encoding_of(beside))):
            try:
                return data.decode(each)
            except (UnicodeDecodeError, LookupError):
                continue
        if name in ("cp1252", "cp1254"):
            return data.decode("latin-1")  # as their specifications have it: five bytes of these mean nothing
        if name is None and (western := _western(data)):
            return western
        self._guesses += 1
        return decode(data) if self._guesses <= _MAX_GUESSES else data.decode("cp1252", "replace")

    def _wide(self, data: bytes, name: str) -> str:
        return data.decode(name if b"\x00" in data else "ascii", "replace")


def _western(data: bytes) -> str | None:
    """Return a text as Windows-1252 if it reads like a western language in it; `None` if not.

    A guess by frequencies takes the few such letters of a short mail for those of DOS or Mac.
    """
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        return None
    letters = sum(map(str.isalpha, text))
    others = [character for character in text if character > "\x7f"]
    is_western = all(character in _WESTERN for character in others)
    return text if is_western and sum(map(str.isalpha, others)) <= _WESTERN_SHARE * letters else None


def encoding_of(declared: str | None) -> str | None:
    """Return Python's name for the charset that is meant; `None` if it is unknown or says nothing."""
    name = (declared or "").strip(" \t\r\n\"'").lower()[:60]
    if name in _NO_CHARSET:
        return None
    page = _CODE_PAGE.fullmatch(name)
    if page:
        name = {"65001": "utf-8", "20127": "utf-8", "1200": "utf-16-le"}.get(page[1], f"cp{page[1]}")
        name = _MEANT.get({"936": "gbk", "949": "euc-kr", "950": "big5", "932": "shift_jis"}.get(page[1], name), name)
    name = _MEANT.get(name, name)
    try:
        b"a\0\0\0".decode(name)  # raises where the codec makes no text
        return None if codecs.lookup(name).name in _NO_TEXTS else name
    except (LookupError, UnicodeError, ValueError, TypeError):
        return encoding_of(name[2:]) if name.startswith("x-") else None
