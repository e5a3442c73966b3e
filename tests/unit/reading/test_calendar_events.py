from __future__ import annotations

import pytest

from asky.errors import SourceUnreadable
from asky.reading.calendar_events import read

CALENDAR = """BEGIN:VCALENDAR
X-WR-CALNAME:Annika
BEGIN:VTIMEZONE
BEGIN:STANDARD
DTSTART:19701025T030000
END:STANDARD
END:VTIMEZONE
BEGIN:VEVENT
UID:1@planner.example
DTSTART;TZID=Europe/London:20240904T141500
DTEND;TZID="Europe/London":20240904T144500Z
SUMMARY:Dentist\\, hygien
 ist
DESCRIPTION:bring; the card\\nand a pen
ATTENDEE;CN="Ann Lee":mailto:ann@x.example
ATTENDEE:mailto:ben@x.example
BEGIN:VALARM
DESCRIPTION:Reminder
END:VALARM
END:VEVENT
BEGIN:VTODO
SUMMARY:Pay the rent
DUE;VALUE=DATE:20240906
END:VTODO
END:VCALENDAR
"""


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_events_and_tasks_are_a_line_each(line_end: str) -> None:
    document = read(CALENDAR.replace("\n", line_end).encode(), "a.ics")
    assert document.text.splitlines() == [
        "Start: 2024-09-04 14:15; End: 2024-09-04 14:45 UTC; Summary: Dentist, hygienist; "
        "Description: bring, the card and a pen; Attendee: Ann Lee, ben@x.example",
        "Summary: Pay the rent; Due: 2024-09-06",
    ]
    assert document.title == "Annika"


@pytest.mark.parametrize("data", [b"", b"BEGIN:VCALENDAR\nEND:VCALENDAR", b"no calendar", b"BEGIN:VEVENT\nSUMMARY:x"])
def test_a_calendar_without_events_is_said_to_have_none(data: bytes) -> None:
    with pytest.raises(SourceUnreadable, match="has no events"):
        read(data, "a.ics")


def test_a_broken_calendar_keeps_what_can_be_read() -> None:
    data = b"BEGIN:VEVENT\nEND:VALARM\nBEGIN:VEVENT\nSUMMARY:a\nDTSTART:never\nEND:VEVENT\nEND:VEVENT\n:x\n"
    assert read(data, "a.ics").text == "Summary: a; Start: never\n"
