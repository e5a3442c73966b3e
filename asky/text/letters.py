"""Letters as a reader takes them: without accents, and without look-alikes of other scripts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType

LOOKALIKES: Mapping[str, str] = MappingProxyType(
    dict(zip("асԁеһіјӏкорԛѕтԝхуъьвгнмпѵѡαινορτυχ", "acdehijlkopqstwxybbbrhmnvwaivoptux", strict=True))
)
"""Letters that pass for Latin ones in common fonts. Source: Unicode Technical Standard 39, confusables."""

# Letters with a stroke or a tail, and ligatures, which Unicode does not decompose.
_VARIANTS = {"ı": "i", "ȷ": "j", "ł": "l", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "ŋ": "n", "ɑ": "a"}
_VARIANTS |= {"ɡ": "g", "þ": "th", "æ": "ae", "œ": "oe"}
_PLAIN = str.maketrans({**LOOKALIKES, **_VARIANTS})
# Not the Greek ones, which formulas and names of substances mix with Latin letters.
_CYRILLIC = {each: latin for each, latin in LOOKALIKES.items() if each >= "\u0400"}
_ONE_SCRIPT = str.maketrans({**_CYRILLIC, **{each.upper(): latin.upper() for each, latin in _CYRILLIC.items()}})
_LETTERS = re.compile(r"[^\W\d_]+")
_LATIN = re.compile("[A-Za-z]")
_USUAL_PUNCTUATION = frozenset("“”‘’‚„‹›«»–—…·¿¡§°€£¥№、。・「」『』")
_FRACTION_SLASH = "\u2044"
_ACCENTS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")
_UNWRITTEN = frozenset({"Mn", "Me", "Cf"})


def without_accents(text: str) -> str:
    """Return `text` in compatibility form, without combining marks and format characters; its case stays."""
    if text.isascii():
        return text
    return "".join(each for each in unicodedata.normalize("NFKD", text) if unicodedata.category(each) not in _UNWRITTEN)


def fold(text: str) -> str:
    """Return `text` so that spellings that look alike are equal: for comparison, not for display.

    It is casefolded and without accents, and look-alike letters of other scripts are the Latin ones.
    """
    return without_accents(text).casefold().translate(_PLAIN)


def with_usual_characters(text: str, also: str = "") -> str:
    """Return `text` with nothing but letters, digits, spaces and usual punctuation, and the characters of `also`.

    Letters are in compatibility form (`𝐦ａｐ` is `map`) and have no accent that makes no letter of its own; Cyrillic
    ones beside Latin ones are the Latin ones that they look like.
    """
    if text.isascii():
        return text
    kept = set(also)
    usual = "".join(each if each in kept else _usual(each) for each in unicodedata.normalize("NFC", text))
    return _LETTERS.sub(lambda found: _in_one_script(found[0]), usual)


def _usual(character: str) -> str:
    """Return what stays of one character."""
    plain = unicodedata.normalize("NFKC", character).replace(_FRACTION_SLASH, "/")
    return "".join(filter(_is_usual, plain))


def _is_usual(character: str) -> bool:
    if character.isascii() or character in _USUAL_PUNCTUATION:
        return True
    category = unicodedata.category(character)
    return category[0] == "L" or category in ("Nd", "Zs") or (category[0] == "M" and not _ACCENTS.match(character))


def _in_one_script(letters: str) -> str:
    return letters.translate(_ONE_SCRIPT) if not letters.isascii() and _LATIN.search(letters) else letters
