from __future__ import annotations

import calendar
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.search.dates import iso_date

TODAY = date(2026, 11, 22)


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2026-03-03", "2026-03-03"),
        ("2026-03-03T09:00:00", "2026-03-03"),
        ("2026-03-03T00:00:00.000Z", "2026-03-03"),
        ("2026-03-03 09:00:00+02:00", "2026-03-03"),
        ("2026/3/3", "2026-03-03"),
        ("2026-03", "2026-03"),
        ("2026", "2026"),
        (2026, "2026"),
        ("Tue, 03 Mar 2026 10:00:00 GMT", "2026-03-03"),
        ("Mar 3, 2026", "2026-03-03"),
        ("March 3rd, 2026", "2026-03-03"),
        ("3 March 2026", "2026-03-03"),
        ("Sept. 30, 2025", "2025-09-30"),
        ("2026 Mar 3", "2026-03-03"),
        ("2026 Mar", "2026-03"),
        ("March 2026", "2026-03"),
        ("2025 Dec-2026 Jan", "2025-12"),
        ("3 days ago", "2026-11-19"),
        ("1 week ago", "2026-11-15"),
        ("an hour ago", "2026-11-22"),
        ("2 months ago", "2026-09"),
        ("a year ago", "2025"),
    ],
)
def test_dates_are_read_as_exactly_as_they_are_given(text: object, iso: str) -> None:
    assert iso_date(text, TODAY) == iso


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "2026-13-01",
        "2026-02-30",
        "0001-01-01",
        "Foo 3, 2026",
        "9999 years ago",
        "03/04/2026",
        None,
        True,
        7,
        2.5,
        [],
    ],
)
def test_what_is_no_date_is_none(text: object) -> None:
    assert iso_date(text, TODAY) is None


def test_what_is_relative_needs_a_day_to_count_from() -> None:
    assert iso_date("3 days ago") is None


@given(st.dates(date(1000, 1, 1), date(2999, 12, 31)))
def test_every_day_is_read_in_every_form(day: date) -> None:
    month = calendar.month_name[day.month]
    forms = (day.isoformat(), f"{month} {day.day}, {day.year:04}", f"{day.year:04} {month[:3]} {day.day}")
    assert {iso_date(form) for form in forms} == {day.isoformat()}


@given(st.text(max_size=60))
def test_any_text_is_a_date_or_none(text: str) -> None:
    found = iso_date(text, TODAY)
    assert found is None or len(found) in (4, 7, 10)
