"""Validation of session names."""

from __future__ import annotations

import unicodedata
from itertools import zip_longest

from asky.errors import UsageError

_JOINERS = "\u200c\u200d"


def checked_name(name: str) -> str:
    """Return `name`, composed (NFC), if it is a valid session name. Raises `UsageError`.

    Joiners and non-joiners are allowed where its script or an emoji needs them.
    """
    from asky.text.scrub import scrub  # 10 ms: for a new name only

    composed = unicodedata.normalize("NFC", name)
    refused = "".join(
        char
        for char, clean in zip_longest(composed, scrub(composed)[: len(composed)])
        if char != clean or char in "/\\\ufffd" or not (char.isprintable() or char in _JOINERS)
    )
    if refused or not composed or len(composed) > 80 or composed != composed.strip():
        which = f"; U+{ord(refused[0]):04X} is not allowed" if refused and refused[0] not in "/\\" else ""
        hint = f"use up to 80 printable characters without slashes, and no space around them{which}"
        raise UsageError(f"not a session name: {name[:80]!r}", hint=hint)
    return composed
