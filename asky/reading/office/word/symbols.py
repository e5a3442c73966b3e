"""Characters of the fonts of signs (Symbol, Wingdings): what they show, as Unicode has it."""

from __future__ import annotations

_PRIVATE = 0xF000
_UPPER = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ"
_LOWER = "αβχδεφγηιϕκλμνοπθρστυϖωξψζ"
_SYMBOL = {
    **{0x41 + place: sign for place, sign in enumerate(_UPPER)},
    **{0x61 + place: sign for place, sign in enumerate(_LOWER)},
    **dict(zip(b"\x22\x24\x27\x2a\x2d\x40\x5c\x5e\x7e", "∀∃∍∗−≅∴⊥∼", strict=True)),
    **dict(zip(range(0xA1, 0xB0), "ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓", strict=True)),
    **dict(zip(range(0xB0, 0xC0), "°±″≥×∝∂•÷≠≡≈…⏐⎯↵", strict=True)),
    **dict(zip(range(0xC0, 0xD0), "ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉", strict=True)),
    **dict(zip(range(0xD0, 0xE0), "∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓", strict=True)),
    **dict(zip(range(0xE0, 0xE6), "◊⟨®©™∑", strict=True)),
    **dict(zip((0xF1, 0xF2), "⟩∫", strict=True)),
}
_WINGDINGS = {
    **dict(zip(b"\x22\x28\x2a\x46\x4a\x4b\x4c\x6c\x6e\x6f\x71\x72\x75\x76\x78", "✂☎✉☞☺😐☹●■☐❑❒◆❖☒", strict=True)),
    **dict(zip((0x9F, 0xA7, 0xA8, 0xD8, 0xDF, 0xE0, 0xE1, 0xE2), "•▪☐➢←→↑↓", strict=True)),
    **dict(zip((0xE8, 0xEF, 0xF0, 0xF1, 0xF2, 0xFB, 0xFC, 0xFD, 0xFE), "➔⇦⇨⇧⇩✗✓☒☑", strict=True)),
}
_WINGDINGS_2 = dict(zip((0x4F, 0x50, 0x51, 0x52, 0x53, 0x54, 0xA3), "✗✓☒☑☒☒☐", strict=True))
_WEBDINGS = {0x61: "✓", 0x72: "✗"}
_FONTS = {"symbol": _SYMBOL, "wingdings": _WINGDINGS, "wingdings 2": _WINGDINGS_2, "webdings": _WEBDINGS}
_PICTORIAL = ("wingdings", "webdings", "dingbats")


def sign(code: str, font: str) -> str:
    """Return the character with a code, in hexadecimal, of a font; "" for a picture that no word stands for."""
    try:
        place = int(code, 16)
    except ValueError:
        return ""
    if not 0 < place <= 0x10FFFF or 0xD800 <= place < 0xE000:
        return ""
    return _shown(place, font.lower())


def without_private(text: str, font: str) -> str:
    """Return text in which signs are coded in the private area of Unicode, as Word does, with what they show."""
    return "".join(_shown(ord(each), font.lower()) if _PRIVATE <= ord(each) < _PRIVATE + 256 else each for each in text)


def has_private(text: str) -> bool:
    """Return whether a text has characters that only a font of signs explains."""
    return not text.isascii() and any(_PRIVATE <= ord(each) < _PRIVATE + 256 for each in text)


def _shown(place: int, font: str) -> str:
    is_private = _PRIVATE <= place < _PRIVATE + 256
    code = place - _PRIVATE if is_private else place
    signs = _FONTS.get(font)
    if signs is None:
        return "" if is_private or font.startswith(_PICTORIAL) else chr(place)
    found = signs.get(code)
    if found is None and font == "symbol" and 0x20 <= code < 0x7F:
        return chr(code)
    return found or ""
