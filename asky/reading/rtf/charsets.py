"""The characters of fonts in RTF: code pages, and the signs of fonts that are no alphabets."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from types import MappingProxyType

DEFAULT = "cp1252"
SYMBOL = "symbol"

# The numbers of \fcharset (RTF 1.9.1, font table).
_CHARSETS: Mapping[int, str] = MappingProxyType(
    {
        0: "cp1252",
        2: SYMBOL,
        77: "mac_roman",
        128: "cp932",
        129: "cp949",
        130: "johab",
        134: "cp936",
        136: "cp950",
        161: "cp1253",
        162: "cp1254",
        163: "cp1258",
        177: "cp1255",
        178: "cp1256",
        186: "cp1257",
        204: "cp1251",
        222: "cp874",
        238: "cp1250",
        254: "cp437",
        255: "cp850",
    }
)
_PAGES: Mapping[int, str] = MappingProxyType({10000: "mac_roman", 65001: "utf-8", 42: SYMBOL, 708: "iso8859_6"})
_GREEK = str.maketrans(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖαβχδεφγηιϕκλμνοπθρστυϖωξψζ"
)
_SIGNS = str.maketrans({"\xb7": "•", "\xa7": "•", "\xd8": "•", "\xfc": "✓", "\xb0": "°", "\xb1": "±", "\xb4": "×"})
_PRIVATE = 0xF000  # where programs put the signs of such fonts


def of_font(charset: int, default: str) -> str:
    """Return the codec of a font by its `\\fcharset`; `default` if it says nothing."""
    return _CHARSETS.get(charset, default)


def of_page(number: int) -> str:
    """Return the codec of a code page; that of Windows in the west if there is none."""
    name = _PAGES.get(number, f"cp{number}")
    if name == SYMBOL:
        return name
    try:
        return codecs.lookup(name).name
    except LookupError:
        return DEFAULT


def decoded(data: bytes, codec: str, *, is_greek: bool) -> str:
    """Return the characters of bytes in a font; `is_greek` says that a font of signs is Symbol."""
    if codec == SYMBOL:
        return signs(data.decode("latin-1"), is_greek=is_greek)
    return data.decode(codec, "replace")


def signs(text: str, *, is_greek: bool) -> str:
    """Return the characters that a font of signs shows for others, as far as they are known."""
    shown = "".join(chr(ord(each) - _PRIVATE) if _PRIVATE <= ord(each) <= _PRIVATE + 0xFF else each for each in text)
    return shown.translate(_SIGNS).translate(_GREEK) if is_greek else shown.translate(_SIGNS)
