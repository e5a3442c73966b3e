"""Text and JSON that steer no terminal: without escape sequences, or with them escaped."""

from __future__ import annotations

import json
import math
import re

_CONTROLS = re.compile(
    r"""
      \x1b\][^\x07\x1b\x80-\x9f]*(?:\x07|\x1b\\|\x9c)         # OSC: titles, links, clipboard
    | \x9d[^\x07\x1b\x80-\x9f]*(?:\x07|\x1b\\|\x9c)
    | (?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x80-\x9f]*(?:\x1b\\|\x9c)   # DCS, SOS, PM, APC
    | (?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]                        # CSI: colours, cursor, clearing
    | \x1b[ -/]*[0-~]                                         # two-character escapes, unterminated strings
    | [\x00-\x08\x0b-\x1f\x7f-\x9f]                           # C0 but tab and newline, DEL, C1
    | [\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]          # bidirectional controls
    | [\U000e0000-\U000e007f]                                 # tag characters
    """,
    re.VERBOSE,
)


# JSON itself escapes the rest of the controls.
_UNSEEN_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")


def plain(text: str) -> str:
    """Return `text` without anything that steers a terminal or hides in it; line breaks and tabs stay.

    Removed are escape sequences with their content, control characters, bidirectional controls and tag characters. A
    sequence without its end loses only its introducer, so that it cannot swallow what follows it.
    """
    return _CONTROLS.sub("", text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """Return `plain` text with every run of white space as one space."""
    return " ".join(plain(text).split())


def json_text(value: object) -> str:
    """Return `value` as one line of JSON in ASCII: exact in any locale, and nothing in it can steer a terminal.

    NaN and the infinities, which JSON has not, become null.
    """
    try:
        return _dump(value)
    except ValueError:  # looked for only then: nearly no value has one
        return _dump(_without_non_finite(value))


def json_document(value: object) -> str:
    """Return `value` as JSON for a file that people read: letters as they are, what steers a terminal escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=2) + "\n"
    return _UNSEEN_IN_JSON.sub(lambda found: json.dumps(found[0])[1:-1], text)


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def _without_non_finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _without_non_finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_non_finite(each) for each in value]
    return value
