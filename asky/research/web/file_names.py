"""The names of private files, which stay out of the queries to search services."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from asky.values import PRIVATE_KINDS

if TYPE_CHECKING:
    from asky.values import Source


def private_file_names(sources: Iterable[Source]) -> list[str]:
    """Return the names of the files among `sources`, without their folders, each once."""
    paths = (each.path for each in sources if each.kind in PRIVATE_KINDS)
    return list(dict.fromkeys(PurePath(path).name for path in paths if path))


def without_file_names(text: str, names: Sequence[str]) -> str:
    """Return `text` without the file `names` in it, however they are capitalized, and without quotes around them.

    A name without a suffix is removed only if it is quoted: `README` and the like are also ordinary words.
    """
    text = unicodedata.normalize("NFC", text)
    folded = text.casefold()
    found = (unicodedata.normalize("NFC", each) for each in names)
    present = sorted((each for each in found if each and each.casefold() in folded), key=len, reverse=True)
    for name in present:
        quoted = rf'"{re.escape(name)}"'
        anywhere = rf"""["“«`]?(?:[^\s"“«`]*[/\\])?(?<!\w){re.escape(name)}(?!\w)["”»`]?(?:['’]s\b)?"""
        text = re.sub(anywhere if PurePath(name).suffix else quoted, _without_joining, text, flags=re.IGNORECASE)
    return " ".join(text.split()) if present else text


def _without_joining(found: re.Match[str]) -> str:
    """Return what stands for a removed name: the letters around it make no word or address that was not there."""
    return " " if found.string[found.end() : found.end() + 1].isalnum() else ""
