"""Days and times: what a claim says of opening hours, compared with a record of hours by day."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from asky.evidence.verification.records import CLOCK_RANGE

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY_MINUTES = 24 * 60
_MIDWEEK, _SATURDAY = range(4), 5  # the days that "weekdays" and "weekends" mean for everybody
_MIN_DAYS = 2

_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_TIME = r"(\d{1,2})(?::(\d{1,2}))?\s?(?:(a|p)\.?\s?m\b\.?)?"
_TO = r"(?:to|until|till|through|thru|-|–|—)"
_NOON = re.compile(r"\b(?:12 )?(midnight|noon)\b", re.IGNORECASE)
_TIMES = re.compile(rf"(?<![\d$]){_TIME}\s?(?:{_TO}|and)\s?{_TIME}(?!\d)", re.IGNORECASE)
_UNTIL = re.compile(rf"\b(?:until|till|to|closes at)\s{_TIME}(?!\d)", re.IGNORECASE)
_DAY_SPEC = re.compile(
    rf"\b({_DAY})\s?{_TO}\s?({_DAY})\b|\b({_DAY})\b"
    r"|\b(weekdays?)\b|\b(weekends?)\b|\b(every ?day|daily|(?:seven|7) days a week|all week|each day)\b",
    re.IGNORECASE,
)
_NOT_COMPARED = re.compile(
    r"\b(?:except|exception|but|other|happy|most|typically|generally|var(?:y|ies|ying)|different)\b|\d or \d",
    re.IGNORECASE,
)


class Times(NamedTuple):
    """The minutes of the day at which something opens, `None` if not said, and at which it closes."""

    opening: int | None
    closing: int


def hours_of(texts: Mapping[str, str]) -> dict[int, Times | None]:
    """Return the times by day, Monday 0, from values by name; empty if they are no hours; `None` for a closed day."""
    found = {DAYS.index(name.lower()): CLOCK_RANGE.search(text) for name, text in texts.items() if name.lower() in DAYS}
    if len(found) < _MIN_DAYS:
        return {}
    return {
        day: Times(_clock(match[1], match[2]), _clock(match[3], match[4])) if match else None
        for day, match in found.items()
    }


def differing_days(claim: str, hours: Mapping[int, Times | None]) -> Iterator[int]:
    """Yield the days for which `claim` says other times than `hours`, in the claim's order."""
    if _NOT_COMPARED.search(claim):
        return
    for days, said in _said(claim):
        for day in days:
            held = hours.get(day)
            if held is None or not _agree(held, said):
                yield day


def _said(claim: str) -> Iterator[tuple[list[int], Times]]:
    """Yield the days and the times said of them: "Monday to Friday from 9 to 5 pm", or "9 am to 5 pm on Mondays"."""
    claim = _NOON.sub(lambda match: "12 am" if match[1].lower() == "midnight" else "12 pm", claim)
    times = [(match.span(), _range(match)) for match in _TIMES.finditer(claim) if _is_clock(match)]
    taken = [span for span, _ in times]
    times += [
        (match.span(), Times(None, _minutes(match[1], match[2], match[3])))
        for match in _UNTIL.finditer(claim)
        if match[3] and not any(start <= match.start() < end for start, end in taken)
    ]
    found: list[tuple[int, list[int] | Times]] = [(span[0], said) for span, said in times]
    found += [(match.start(), _days(match)) for match in _DAY_SPEC.finditer(claim)]
    found.sort(key=lambda each: each[0])
    yield from _paired([each for _, each in found]) if times else ()


def _paired(found: list[list[int] | Times]) -> Iterator[tuple[list[int], Times]]:
    """Yield each time with the days before it, or with those after it where a time comes first."""
    days: list[int] = []
    held: Times | None = None
    days_first = not isinstance(found[0], Times)
    for each in found:
        if not isinstance(each, Times):
            days = days + each
        elif days_first:
            yield days, each
            days = []
        else:
            if held is not None:
                yield days, held
            held, days = each, []
    if held is not None:
        yield days, held


def _is_clock(match: re.Match[str]) -> bool:
    return bool(match[3] or match[6] or (match[2] and match[5]))


def _range(match: re.Match[str]) -> Times:
    return Times(_minutes(match[1], match[2], match[3] or match[6]), _minutes(match[4], match[5], match[6]))


def _minutes(hour: str, minute: str | None, half: str | None) -> int:
    hours = int(hour) % 12 + (12 if half.lower() == "p" else 0) if half else int(hour)
    return hours * 60 + int(minute or 0)


def _clock(hour: str, minute: str) -> int:
    return int(hour) * 60 + int(minute)


def _agree(held: Times, said: Times) -> bool:
    pairs = [(held.closing, said.closing)]
    if said.opening is not None and held.opening is not None:
        pairs.append((held.opening, said.opening))
    return all((one - other) % _DAY_MINUTES == 0 for one, other in pairs)


def _days(match: re.Match[str]) -> list[int]:
    if match[1]:
        first, last = (DAYS.index(match[n].lower().rstrip("s")) for n in (1, 2))
        return list(range(first, last + 1)) if first <= last else [*range(first, 7), *range(last + 1)]
    if match[3]:
        return [DAYS.index(match[3].lower().rstrip("s"))]
    return list(_MIDWEEK) if match[4] else [_SATURDAY] if match[5] else list(range(7))
