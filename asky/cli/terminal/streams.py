"""The standard streams of the process, made safe to use before anything else happens."""

from __future__ import annotations

import codecs
import os
import sys

_STAND_INS = str.maketrans(
    {**dict.fromkeys("“”„«»", '"'), **dict.fromkeys("‘’", "'"), **dict.fromkeys("–—•─━═", "-")}
    | {"│": "|", "▌": ">", "›": ">", "⚠": "!", "✓": "v", "…": "...", "→": "->", "█": "#", "░": "."}
)


def harden_streams() -> bool:
    """Make the standard streams safe to print any text to, whatever the locale is and however asky was started.

    A closed descriptor is opened on the null device, because the next file that is opened would take its number and
    receive what is meant for the stream. Of what the locale cannot show, quotation marks, dashes and our own signs get
    stand-ins in ASCII, and other characters become `?`. Return whether stdout was open.
    """
    is_open = True
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            is_open = is_open and number != 1
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - lives as long as the process
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    codecs.register_error("stand_in", _stand_in)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="stand_in")
    return is_open


def _stand_in(error: UnicodeError) -> tuple[str, int]:
    """Replace what cannot be encoded, as an error handler of `codecs`."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    unencodable = error.object[error.start : error.end].translate(_STAND_INS)
    return "".join(each if each.isascii() else "?" for each in unencodable), error.end
