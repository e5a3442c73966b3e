"""Dates as papers print them."""

from __future__ import annotations

import re
from collections.abc import Sequence

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(?P<{}>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE = re.compile(
    rf"\b(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+{_MONTH.format('m1')}\s*,?\s+(?P<y1>\d{{4}})"
    rf"|{_MONTH.format('m2')}\s+(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\s*,?\s+(?P<y2>\d{{4}})"
    rf"|{_MONTH.format('m3')}\s*,?\s+(?P<y3>\d{{4}})"
    r"|(?P<y4>\d{4})-(?P<n4>\d{2})-(?P<day4>\d{2}))\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<![\d.,:/-])(1[89]\d\d|20\d\d)(?![\d:/-]|\.\d)")
_PUBLISHED = re.compile(r"\b(?:published|publication date|available online|accepted)\b", re.IGNORECASE)
_DATED = re.compile(r"\b(?:dated?|draft version|version|submitted|received|revised)\b", re.IGNORECASE)
_COPYRIGHT = re.compile(r"copyright|©|\(c\)", re.IGNORECASE)
_VENUE = re.compile(
    r"proceedings|conference|workshop|journal|volume|vol\.|press|©|copyright|symposium|\bno\.|\d\(\d+\)|pages",
    re.IGNORECASE,
)
_SHORT_CHARS = 40


def find_date(text: str) -> str | None:
    """Return the first date in `text` as an ISO date or month; `None` if there is none."""
    for match in _DATE.finditer(text):
        year = match["y1"] or match["y2"] or match["y3"] or match["y4"]
        name = match["m1"] or match["m2"] or match["m3"]
        month = _MONTHS.index(name.lower()) + 1 if name else int(match["n4"])
        day = int(match["day"] or match["day2"] or match["day4"] or 0)
        if "1700" < year < "2100" and 1 <= month <= 12 and day <= 31:
            return f"{year}-{month:02}-{day:02}" if day else f"{year}-{month:02}"
    return None


def year_in(lines: Sequence[str], edges: Sequence[str], subject: str) -> str | None:
    """Return the date of publication that a first page states, as exactly as it does.

    In this order: a line that says published, one that says dated or draft, a short line that is only a date, the year
    of a copyright, and that of a venue in the head or foot (`edges`) or in the file's `subject`.
    """
    for said in (_PUBLISHED, _DATED):
        for line in lines:
            match = said.search(line) if len(line) < 4 * _SHORT_CHARS else None
            if match and (found := find_date(line[match.end() :])):
                return found
    for line in lines[:40]:
        match = _DATE.search(line) if len(line.strip()) < _SHORT_CHARS else None
        if match and len(match.group()) > 0.7 * len(line.strip(" ().")):
            return find_date(line)
    for line in [*lines, subject]:
        if _COPYRIGHT.search(line) and (match := _YEAR.search(line)):
            return match[1]
    for line in [*edges, subject]:
        if _VENUE.search(line) and (match := _YEAR.search(line)):
            return match[1]
    return None
