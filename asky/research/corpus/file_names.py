"""The words of a file's name and folders, as search sees them."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from asky.text.terms import content_terms

# A file system allows 255 bytes for each name: these are the words of two such names.
_MAX_WORDS = 80
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_PART = re.compile(r"[^\W_]+")
# Where `camelCase`, `HTTPServer` and `utf8` have inner words; the word as it is written stays in front of them.
_INNER = re.compile(r"[A-Z]{2,}(?=[A-Z][a-z]{2})|[A-Z]?[a-z]{2,}|[A-Z]{2,}")
_MIN_INNER = 2
# Numbers that order files (`01-intro`, `3. Methods`), and names that programs make up (hashes, UUIDs).
_NUMBERING = re.compile(r"\d{1,3}[\W_]+(?=[^\W\d_])")
_MADE_UP = re.compile(r"(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,}", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,3}")


def name_words(relative: str, title: str | None = None) -> str:
    """Return the words of the path `relative`, from the file's name up to its outermost folder, without its suffix.

    Names are split at what is not a letter or digit; a word in camel case is followed by its parts. A name whose words
    are all in `title`, or in a name before it, adds nothing; neither does a number of up to three digits that leads it
    or is all of it, or a hash. Bytes that are not UTF-8 separate words. At most 80 words.
    """
    path = PurePosixPath(relative)
    covered = set(content_terms(title or ""))
    found: list[str] = []
    for name in (path.stem, *reversed(path.parts[:-1])):
        parts = _words_of(name)
        terms = set(content_terms(" ".join(parts)))
        if not terms <= covered:
            found += parts
            covered |= terms
    return " ".join(found[:_MAX_WORDS])


def _words_of(name: str) -> list[str]:
    numbering = _NUMBERING.match(name)
    found: list[str] = []
    for part in _PART.findall(_UUID.sub(" ", name[numbering.end() if numbering else 0 :])):
        if _MADE_UP.fullmatch(part):
            continue
        inner = _INNER.findall(part)
        found.append(part)
        if len(inner) >= _MIN_INNER and not part.islower() and not part.isupper():
            found += inner
    return [] if len(found) == 1 and _NUMBER.fullmatch(found[0]) else found
