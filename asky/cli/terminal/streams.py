"""The standard streams of the process, made safe to use before anything else happens."""

from __future__ import annotations

import os
import sys


def harden_streams() -> bool:
    """Make the standard streams safe to print any text to, whatever the locale is and however asky was started.

    A closed descriptor is opened on the null device, because the next file that is opened would take its number and
    receive what is meant for the stream. Characters that the locale cannot show become `?`. Return whether stdout was
    open.
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
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    return is_open
