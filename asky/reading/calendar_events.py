"""Calendars (`.ics`): one line per event or task, every value with its name, in the order of the file.

Source: RFC 5545, 3.1 (unfolding), 3.3.4 and 3.3.5 (dates), 3.3.11 (escapes), 3.8 (properties).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from asky.errors import SourceUnreadable
from asky.reading.charset import decode
from asky.reading.text_builder import TextBuilder
from asky.text.scrub import scrub_counted
from asky.values import Document

_NAMES = {
    "SUMMARY": "Summary",
    "DTSTART": "Start",
    "DTEND": "End",
    "DUE": "Due",
    "LOCATION": "Location",
    "DESCRIPTION": "Description",
    "ORGANIZER": "Organizer",
    "ATTENDEE": "Attendee",
    "STATUS": "Status",
    "RRULE": "Repeats",
    "CATEGORIES": "Categories",
}
_ITEMS = ("VEVENT", "VTODO", "VJOURNAL")
_FOLD = re.compile(r"\r?\n[ \t]")
_PROPERTY = re.compile(r"([A-Za-z-]+)((?:;[^:\"]*(?:\"[^\"]*\"[^:\"]*)*)?):(.*)")
_COMMON_NAME = re.compile(r";CN=\"?([^\";:]+)", re.IGNORECASE)
_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(?:\d\d)?(Z?))?")
_ESCAPE = re.compile(r"\\([nN,;\\])")


def read(data: bytes, name: str) -> Document:
    """Return the events and tasks of a calendar, one per line: `Summary: ...; Start: 2024-09-04 14:15; ...`.

    Times are as written, with UTC where the calendar says so. Raises `SourceUnreadable` if it has no event and no task.
    """
    text, invisible = scrub_counted(decode(data))
    builder = TextBuilder(invisible)
    items = list(_items(_FOLD.sub("", text)))
    for item in items:
        builder.add("; ".join(f"{label}: {value}" for label, value in item.items()) + "\n")
    if not items:
        raise SourceUnreadable(f"{name} has no events")
    title = re.search(r"^X-WR-CALNAME:(.+)$", text, re.MULTILINE)
    return builder.build("text/calendar", title=_value("SUMMARY", "", title[1]) if title else None)


def _items(text: str) -> Iterator[dict[str, str]]:
    """Yield the properties of each event and task by their shown names; of several with one name, all values."""
    item: dict[str, str] | None = None
    depth = 0  # of components within the item, such as alarms
    for line in text.splitlines():
        found = _PROPERTY.fullmatch(line.strip())
        if found is None:
            continue
        key, parameters, raw = found[1].upper(), found[2], found[3]
        if key == "BEGIN":
            depth += item is not None
            item = {} if item is None and raw.upper() in _ITEMS else item
        elif key == "END":
            if item and not depth:
                yield item
            item = item if depth else None
            depth = max(0, depth - 1)
        elif item is not None and not depth and key in _NAMES and (value := _value(key, parameters, raw)):
            label = _NAMES[key]
            item[label] = f"{item[label]}, {value}" if label in item else value


def _value(key: str, parameters: str, raw: str) -> str:
    """Return a value on one line, without `;`, which divides values in the text."""
    if key in ("DTSTART", "DTEND", "DUE") and (time := _TIME.match(raw)):
        day = f"{time[1]}-{time[2]}-{time[3]}"
        return f"{day} {time[4]}:{time[5]}{' UTC' if time[6] else ''}" if time[4] else day
    if key in ("ORGANIZER", "ATTENDEE"):
        named = _COMMON_NAME.search(parameters)
        return named[1].strip() if named else raw.removeprefix("mailto:").removeprefix("MAILTO:")
    plain = _ESCAPE.sub(lambda match: " " if match[1] in "nN" else match[1], raw)
    return " ".join(plain.replace(";", ",").split())
