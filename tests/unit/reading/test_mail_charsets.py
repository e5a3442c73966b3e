"""Letters of mails: charsets that are declared wrongly, under other names or not at all."""

from __future__ import annotations

import base64

import pytest

from asky.reading.mail.charsets import Charsets, encoding_of
from asky.reading.mail.headers import decoded
from asky.reading.mail.message import read
from tests.support.mails import HEAD, joined, mail, part, whole

NORSE = "Nøkkelen til kjølebuen henger på kroken."


@pytest.mark.parametrize(
    ("text", "encoding", "declared"),
    [
        (NORSE, "cp1252", None),
        (NORSE, "cp1252", "utf-8"),
        (NORSE, "cp1252", "us-ascii"),
        (NORSE, "cp1252", "x-unknown"),
        (NORSE, "utf-8", "iso-8859-1"),
        (NORSE, "utf-8", "us-ascii"),
        (NORSE, "cp850", "cp-850"),
        (NORSE, "cp850", "IBM850"),
        ("“Größe” – 5 €", "cp1252", "iso-8859-1"),
        ("Größe", "utf-7", "unicode-1-1-utf-7"),
        ("简体中文邮件開", "gbk", "gb2312"),
        ("日本語のメール", "iso2022_jp", "iso-2022-jp"),
        ("日本語のメール①", "cp932", "shift_jis"),
        ("日本語のメール", "euc_jp", "x-euc-jp"),
        ("한국어 편지", "cp949", "ks_c_5601-1987"),
        ("Привет, как дела?", "koi8-r", "koi8-r"),
        ("Привет, как дела? Встреча завтра.", "cp1251", None),
    ],
)
def test_a_text_is_read_in_the_charset_that_fits(text: str, encoding: str, declared: str | None) -> None:
    assert Charsets().text(text.encode(encoding), declared) == text
    body = mail(text.encode(encoding), f"text/plain; charset={declared}" if declared else "text/plain")
    assert text in read(body, "a.eml").text


@pytest.mark.parametrize(
    "name", ["rot13", "base64", "hex", "unicode_escape", "idna", "undefined", "nope", "\x00", "a" * 999]
)
def test_what_is_no_charset_of_texts_is_no_charset(name: str) -> None:
    assert encoding_of(name) is None


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("=?utf-8?q?The_m=C3=BChle?= burned", "The mühle burned"),
        ("=?utf-8?B?w7w=?= =?utf-8?B?w7w=?=", "üü"),
        ("=?utf-8?B?4pw=?= =?utf-8?B?kw==?= yes", "✓ yes"),  # one character in two words
        ("=?utf-8?Q?a?= =?iso-8859-1?Q?=FC?= b", "aü b"),
        ("(=?iso-8859-1*de?Q?M=FChle?=)", "(Mühle)"),
        ("=?x-unknown?Q?M=FChle?=", "Mühle"),
        ("=?utf-8?B?!!?= =?utf-8?Q?=ZZ?= =?broken", "=ZZ =?broken"),
        ("plain", "plain"),
    ],
)
def test_words_of_header_lines_are_decoded(value: str, wanted: str) -> None:
    assert decoded(value, Charsets()) == wanted


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_raw_letters_in_header_lines_are_read(encoding: str) -> None:
    data = mail("x", head="From: Jørgen Ås <j@x.test>\nSubject: Ny nøkkel\n").decode().encode(encoding)
    document = read(data, "a.eml")
    assert (document.title, document.metadata["author"]) == ("Ny nøkkel", "Jørgen Ås")


@pytest.mark.parametrize(
    "field",
    [
        "filename*=utf-8''n%C3%B8kkel.txt",
        "filename*0*=utf-8''n%C3%B8; filename*1=kkel.txt",
        'filename="=?utf-8?q?n=C3=B8kkel=2Etxt?="',
        'filename="nøkkel.txt"',
        r'filename="C:\\Users\\ada\\nøkkel.txt"',
    ],
)
def test_file_names_are_decoded(field: str) -> None:
    data = whole(joined(part("x"), part("Filed.", fields=f"Content-Disposition: attachment; {field}\n")))
    assert "Attachment: nøkkel.txt\n\nFiled." in read(data, "a.eml").text


def test_senders_with_a_comma_in_their_name_are_whole() -> None:
    name = base64.b64encode("Byrne, Ada Ø".encode()).decode()
    document = read(mail("x", head=HEAD.replace("Ada Byrne", f"=?utf-8?B?{name}?=")), "a.eml")
    assert document.metadata["author"] == "Byrne, Ada Ø"
