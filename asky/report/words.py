"""Times in words."""

from __future__ import annotations

import re

_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_TIME = re.compile(r"(\d{4})-(0[1-9]|1[0-2])-(\d\d)T(\d\d:\d\d)[^+]*Z?")


def day_and_time(time: str) -> str:
    """Format a timestamp of the store as `14 March 2026, 09:15 UTC`; return any other text unchanged."""
    found = _TIME.fullmatch(time)
    if found is None:
        return time
    year, month, day, clock = found.groups()
    return f"{int(day)} {_MONTHS[int(month) - 1]} {year}, {clock} UTC"
