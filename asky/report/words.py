"""Times in words."""

from __future__ import annotations

import re

_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_TIME = re.compile(r"(\d{4})-(0[1-9]|1[0-2])-(\d\d)T(\d\d:\d\d)[^+]*Z?")


def day_and_time(time: str) -> str:
    """`14 March 2026, 09:15 UTC` of a time as the store writes it; any other as it stands."""
    found = _TIME.fullmatch(time)
    if found is None:
        return time
    year, month, day, clock = found.groups()
    return f"{int(day)} {_MONTHS[int(month) - 1]} {year}, {clock} UTC"
