"""What may reach a terminal or a pipe, and how: every text that asky did not write itself passes `plain` or JSON."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import TextIO

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
    """`text` without anything that steers a terminal or hides in it; line breaks and tabs stay.

    Removed are escape sequences with their content, control characters, bidirectional controls and tag characters. A
    sequence without its end loses only its introducer, so that it cannot swallow what follows it.
    """
    return _CONTROLS.sub("", text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """`plain` text with every run of white space as one space."""
    return " ".join(plain(text).split())


def json_text(value: object) -> str:
    """`value` as one line of JSON in ASCII: exact in any locale, and nothing in it can steer a terminal.

    NaN and the infinities, which JSON has not, become null.
    """
    try:
        return _dump(value)
    except ValueError:  # looked for only then: nearly no value has one
        return _dump(_without_non_finite(value))


def json_document(value: object) -> str:
    """`value` as JSON for people to read in a file: letters as they are, what steers a terminal or hides escaped."""
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


def wants_color(setting: str, stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether to colour `stream`, for a `ui.color` of `auto`, `always` or `never`."""
    if setting != "auto":
        return setting == "always"
    return not environ.get("NO_COLOR") and is_smart(stream, environ)


def is_smart(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether `stream` is a terminal that can move its cursor."""
    return stream.isatty() and environ.get("TERM", "dumb") not in ("", "dumb")


class Terminal:
    """Where a command prints: answers to `out`, everything else to `err`."""

    def __init__(
        self,
        *,
        out: TextIO,
        err: TextIO,
        environ: Mapping[str, str],
        color: str = "auto",
        quiet: bool = False,
        verbose: bool = False,
    ) -> None:
        self.out = out
        self.err = err
        self.quiet = quiet
        self.verbose = verbose
        self.colored = wants_color(color, out, environ)

    def write(self, text: str) -> None:
        """Print a piece of an answer as `plain` text, without a line break of its own; it is seen at once."""
        self.out.write(plain(text))
        self.out.flush()

    def line(self, text: str = "") -> None:
        """Print a line of an answer as `plain` text."""
        self.out.write(plain(text) + "\n")

    def json(self, value: object) -> None:
        """Print `value` as one line of JSON."""
        self.out.write(json_text(value) + "\n")

    def note(self, text: str) -> None:
        """Tell the user something that is not part of the answer; silent under `-q`."""
        if not self.quiet:
            self.err.write(plain(text) + "\n")

    def detail(self, text: str) -> None:
        """Tell the user something that only `-v` asks for."""
        if self.verbose and not self.quiet:
            self.err.write(plain(text) + "\n")

    def paint(self, text: str, *codes: int) -> str:
        """`plain` text between the SGR `codes` where colour is wanted. Print it with `out.write`: `line` strips it."""
        body = plain(text)
        return f"\x1b[{';'.join(map(str, codes))}m{body}\x1b[0m" if self.colored and body else body
