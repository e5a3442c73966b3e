"""Conversion of the services' dates to ISO 8601."""

from __future__ import annotations

import re
from datetime import date, timedelta

from asky.search.port import Recency

_MONTHS = {
    name: number
    for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), start=1)  # noqa: SIM905 - shorter
}
_NAME = r"(?P<month>[A-Za-z]{3})[a-z]{0,6}\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})"
_ISO = re.compile(rf"{_YEAR}(?:[-/.](?P<number>\d{{1,2}})(?:[-/.](?P<day>\d{{1,2}}))?)?(?![\d-])")
_FORMS = tuple(
    re.compile(form)
    for form in (
        rf"{_NAME}\s+{_DAY},?\s+{_YEAR}\b",  # March 3, 2026
        rf"(?:[A-Za-z]{{3,9}},?\s+)?{_DAY}[\s-]+{_NAME},?[\s-]+{_YEAR}\b",  # Tue, 03 Mar 2026 10:00:00 GMT
        rf"{_YEAR}\s+{_NAME}(?:\s+{_DAY})?(?!\w)",  # 2026 Mar 3
        rf"{_NAME}\s+{_YEAR}\b",  # March 2026
    )
)
_RECENT_DAYS: dict[Recency, int] = {"day": 1, "week": 7, "month": 31, "year": 366}
_AGO = re.compile(
    r"(?P<count>\d{1,4}|an?)\s+(?P<unit>second|min|minute|hour|day|week|month|year)s?\s+ago\b", re.IGNORECASE
)


def iso_date(value: object, today: date | None = None) -> str | None:
    """Return `value` as an ISO 8601 date, year and month, or year, as exact as given; `None` if it is no date.

    Reads ISO dates and times, `March 3, 2026`, `Tue, 03 Mar 2026 10:00:00 GMT`, `2026 Mar 3`, `Mar 2026`, and, if
    `today` is given, `3 days ago`. A number is a year. English only, whatever the locale.
    """
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str):
        return None
    text = text.strip()[:100]
    for form in _FORMS:
        match = form.match(text)
        number = _MONTHS.get(match["month"].lower()) if match else None
        if match and number:
            return _dated(match["year"], str(number), match.groupdict().get("day"))
    if match := _ISO.match(text):  # the last of them: a year may begin other forms
        return _dated(match["year"], match["number"], match["day"])
    ago = _AGO.match(text) if today is not None else None
    return _before(today, ago) if today is not None and ago else None


def _dated(year: str, month: str | None, day: str | None) -> str | None:
    try:
        when = date(int(year), int(month or 1), int(day or 1))
    except ValueError:
        return None
    if not 1000 <= when.year < 3000:
        return None
    return when.isoformat() if day else when.isoformat()[:7] if month else year


def _before(today: date, ago: re.Match[str]) -> str | None:
    count = int(ago["count"]) if ago["count"].isdecimal() else 1
    unit = ago["unit"].lower()
    days = {"day": 1, "week": 7, "month": 30.44, "year": 365.25}.get(unit, 0) * count
    try:
        when = today - timedelta(days=days)
    except OverflowError:
        return None
    return when.isoformat()[: {"month": 7, "year": 4}.get(unit, 10)]


def first_day_of(recency: Recency, today: date) -> date:
    """Return the first day covered by `recency`."""
    return today - timedelta(days=_RECENT_DAYS[recency])


def recency_since(first: date, today: date) -> Recency | None:
    """Return the shortest recency that covers everything from `first` on; `None` if none does."""
    return next((recency for recency in _RECENT_DAYS if first_day_of(recency, today) <= first), None)


def shorter(one: Recency | None, other: Recency | None) -> Recency | None:
    """Return the shorter of the two; `None` stands for no limit."""
    return next((recency for recency in _RECENT_DAYS if recency in (one, other)), None)
