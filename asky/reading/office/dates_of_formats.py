"""Dates, times and durations by a format code: the date in ISO form, times and durations as the code has them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from asky.reading.office.digits import general

_MAX_DAYS = 2_958_466  # 9999-12-31 is the day before
_MAX_KNOWN = 4_096  # dates; most columns of dates have fewer
_LEAP_DAY = 60  # 29 February 1900, which never was, and which counts in the system of 1900
_SINCE_1904 = 1_462
_ZERO = date(1899, 12, 30).toordinal()
_DAY = 86_400
_MONTHS = "January February March April May June July August September October November December".split()  # noqa: SIM905
_WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()  # noqa: SIM905
_ENGLISH = 0x09  # the low ten bits of a language's number
_LANGUAGE_BITS = 0x3FF
_CALENDAR_SIGNS = ("年", "月", "日", "년", "월", "일")
_SYSTEM = (0xF800, 0xF400)  # the long date and the time of the computer's settings


class DateCode:
    """The section of a code that shows a date, a time or a duration."""

    def __init__(self, tokens: Sequence[tuple[str, str]], *, since_1904: bool = False) -> None:
        self._since_1904 = since_1904
        self._known: dict[int, str] = {}
        self._names_days = all(_is_english(text) for kind, text in tokens if kind == "locale")
        kept = [(kind, text.lower() if kind in ("date", "elapsed") else text) for kind, text in tokens]
        self._tokens = _with_minutes([each for each in kept if each[0] not in ("locale", "condition")])
        self._halves = any(kind == "half" for kind, _ in self._tokens)
        fractions = [text.partition(".")[2] for kind, text in self._tokens if kind in ("time", "elapsed")]
        self._places = max((min(len(each), 6) for each in fractions), default=0)
        self._parts = {text[0]: text for kind, text in self._tokens if kind == "date" and text[0] in "ymea"}
        days = [text for kind, text in self._tokens if kind == "date" and text[0] == "d"]
        self._has_day = any(len(text) < 3 for text in days)
        self._weekday = next((text for text in days if len(text) > 2), self._parts.pop("a", ""))
        if "e" in self._parts or any(kind == "date" and text[0] == "b" for kind, text in self._tokens):
            self._parts["y"] = "yyyy"
        self._has_elapsed = any(kind == "elapsed" for kind, _ in self._tokens)

    def show(self, value: float) -> str:
        """Return the date or time that is `value` days after the first; a number that is no date as it is."""
        if not abs(value) < _MAX_DAYS or (value < 0 and not self._has_elapsed):
            return general(value)
        unit = 10**self._places
        ticks = round(abs(value) * _DAY * unit)
        days, of_day = divmod(ticks, _DAY * unit)
        shown: list[str] = []
        dates = [number for number, (kind, _) in enumerate(self._tokens) if kind == "date"]
        for number, (kind, text) in enumerate(self._tokens):
            if kind == "date":
                shown.append(self._date(days) if number == dates[0] else "")
            elif kind == "elapsed":
                part, _, places = text.partition(".")
                seconds, rest = divmod(ticks, unit)
                amount = seconds // {"h": 3_600, "m": 60, "s": 1}[part[0]]
                shown.append(str(amount).rjust(len(part), "0"))
                shown.append(f".{str(rest).rjust(self._places, '0')[: len(places)]}" if places else "")
            elif kind == "time":
                shown.append(self._time(text, of_day, unit))
            elif kind == "half":
                half = "PM" if of_day >= _DAY * unit // 2 else "AM"
                shown.append(half[0] if len(text) == 3 else half)
            elif not (dates and (dates[0] < number < dates[-1] or text in _CALENDAR_SIGNS)):
                is_between = dates and number > dates[-1] and number + 1 < len(self._tokens) and text in ("T", ",")
                shown.append(" " if is_between else text)
        sign = "-" if value < 0 else ""
        return sign + " ".join("".join(shown).split())

    def _date(self, days: int) -> str:
        """Return what the code shows of a date, in ISO form as far as there is one."""
        if days not in self._known:
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            self._known[days] = self._written(days)
        return self._known[days]

    def _written(self, days: int) -> str:
        year, month, day, weekday = self._calendar(days)
        parts = self._parts
        name = _WEEKDAYS[weekday] if len(self._weekday) != 3 else _WEEKDAYS[weekday][:3]
        if not parts and not self._has_day:
            return name if self._weekday else ""
        if self._has_day and not parts:
            return str(day)
        if self._has_day:
            whole = f"{year:04}-{month:02}-{day:02}"
            return f"{name} {whole}" if self._weekday and self._names_days else whole
        if "m" in parts and "y" in parts:
            return f"{year:04}-{month:02}"
        if "m" in parts:
            code = parts["m"]
            if len(code) < 3:
                return str(month).rjust(len(code), "0")
            return _MONTHS[month - 1] if len(code) == 4 else _MONTHS[month - 1][: 1 if len(code) == 5 else 3]
        return f"{year:04}"

    def _calendar(self, days: int) -> tuple[int, int, int, int]:
        """Return year, month, day and weekday, from 0 for Monday, with the 29 February 1900 of the system of 1900."""
        weekday = (days + (_SINCE_1904 if self._since_1904 else 0) - 2) % 7
        if self._since_1904:
            days += _SINCE_1904
        elif days == _LEAP_DAY:
            return 1900, 2, 29, weekday
        elif days == 0:
            return 1900, 1, 0, weekday
        elif days < _LEAP_DAY:
            days += 1
        if days + _ZERO > date.max.toordinal():
            return 9999, 12, 31, weekday
        found = date.fromordinal(_ZERO + days)
        return found.year, found.month, found.day, weekday

    def _time(self, text: str, of_day: int, unit: int) -> str:
        seconds, rest = divmod(of_day, unit)
        part = text.partition(".")[0]
        hours, minutes = seconds // 3_600, seconds // 60 % 60
        amount = {"h": (hours + 11) % 12 + 1 if self._halves else hours, "m": minutes, "s": seconds % 60}[part[0]]
        shown = str(amount).rjust(min(len(part), 2), "0")
        places = len(text) - len(part) - 1
        return f"{shown}.{str(rest).rjust(self._places, '0')[:places]}" if places > 0 else shown


def _with_minutes(tokens: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the tokens with those of times as `time`: an `m` behind hours or before seconds is minutes."""
    found = list(tokens)
    stated = [number for number, (kind, _) in enumerate(found) if kind in ("date", "elapsed")]
    for place, number in enumerate(stated):
        kind, text = found[number]
        if kind != "date":
            continue
        before = found[stated[place - 1]][1] if place else ""
        after = found[stated[place + 1]][1] if place + 1 < len(stated) else ""
        is_minutes = text[0] == "m" and len(text) < 3 and (before[:1] == "h" or after[:1] == "s")
        if text[0] in "hs" or is_minutes:
            found[number] = ("time", text)
        elif text[0] == "g":
            found[number] = ("literal", "")
    return found


def _is_english(locale: str) -> bool:
    try:
        number = int(locale or "0", 16) & 0xFFFF
    except ValueError:
        return locale.lower().startswith("en")
    return number == 0 or number in _SYSTEM or number & _LANGUAGE_BITS == _ENGLISH
