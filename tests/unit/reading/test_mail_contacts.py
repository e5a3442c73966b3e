"""Contacts."""

from __future__ import annotations

import pytest

from asky.errors import SourceUnreadable
from asky.reading.mail.contacts import read
from asky.reading.mail.message import read as read_mail
from tests.support.mails import joined, part, whole

ADA = (
    "BEGIN:VCARD\r\nVERSION:3.0\r\nN:Byrne;Ada;;;\r\nFN:Ada Byrne\r\nORG:Harbour\\, North;Office\r\n"
    "TEL;TYPE=WORK,VOICE:555 0101\r\nitem1.EMAIL;TYPE=INTERNET;TYPE=HOME:ada@x.test\r\n"
    "ADR;TYPE=HOME:;;Quay 1;Skår;;1234;\r\nNOTE:Has a boat\\; comes\r\n  on Mondays.\r\nPHOTO;ENCODING=b:aaaa\r\n"
    "END:VCARD\r\n"
)
SHOWN = (
    "Name: Ada Byrne; Organization: Harbour, North, Office; Phone (work): 555 0101; Email (home): ada@x.test; "
    "Address (home): Quay 1, Skår, 1234; Note: Has a boat, comes on Mondays.\n"
)


def test_each_contact_is_a_line_of_named_values() -> None:
    assert read(ADA.encode(), "a.vcf").text == SHOWN
    old = "BEGIN:VCARD\nFN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:J=C3=B8rgen =\n=C3=85s\nTEL;CELL:1\nEND:VCARD\n"
    assert read((ADA + old).encode(), "a.vcf").text == f"{SHOWN}Name: Jørgen Ås; Phone (cell): 1\n"


def test_a_contact_that_is_attached_is_read() -> None:
    fields = 'Content-Disposition: attachment; filename="ada.vcf"\n'
    data = whole(joined(part("Here."), part(ADA, "text/vcard; charset=utf-8", fields)))
    assert f"Attachment: ada.vcf\n\n{SHOWN}" in read_mail(data, "a.eml").text


def test_what_holds_no_contact_is_said() -> None:
    with pytest.raises(SourceUnreadable, match="no contacts"):
        read(b"BEGIN:VCARD\nEND:VCARD\n", "a.vcf")
