"""What of the parts of a mail is read, in which order, and what is only named."""

from __future__ import annotations

import base64
import time

import pytest

from asky.errors import SourceUnreadable
from asky.reading.mail.message import read
from asky.reading.text_builder import UNREAD_PARTS
from asky.values import Document
from tests.support.mails import HEAD, joined, mail, part, whole

PICTURE = 'Content-Disposition: inline; filename="dock.png"\n'
STUB = "Your program shows no HTML. Please read this message in your browser."
PAGE = "<html><head><title>x</title><style>p {color: red}</style></head><body><p>{}</p></body></html>"
EVENT = "BEGIN:VCALENDAR\n{}BEGIN:VEVENT\nSUMMARY:Keel inspection\nLOCATION:Dry dock 2\nEND:VEVENT\nEND:VCALENDAR\n"


def page(text: str) -> bytes:
    return part(PAGE.replace("{}", text), "text/html; charset=utf-8")


def file(name: str, data: bytes, content: str = "application/octet-stream") -> bytes:
    fields = f'Content-Disposition: attachment; filename="{name}"\nContent-Transfer-Encoding: base64\n'
    return part(base64.encodebytes(data), content, fields)


def text_of(data: bytes) -> str:
    """Return what is below the header lines."""
    return read(data, "a.eml").text.partition("\n\n")[2]


def unread(document: Document) -> str:
    return document.metadata.get(UNREAD_PARTS, "")


def test_a_mail_has_its_header_lines_above_its_text() -> None:
    head = (
        "From: Ada Byrne <ada@x.test>\nTo: bob@x.test\nDate: Fri, 01 Mar 2024 10:00:00 +0000\n"
        "Subject: =?utf-8?q?The_m=C3=BChle?=\n"
    )
    document = read(mail("It burned.\n", head=head), "a.eml")
    assert document.text == (
        "From: Ada Byrne <ada@x.test>\nTo: bob@x.test\nDate: Fri, 01 Mar 2024 10:00:00 +0000 (2024-03-01)\n"
        "Subject: The mühle\n\nIt burned.\n\n"
    )
    assert document.title == "The mühle"
    assert document.metadata == {
        "author": "Ada Byrne",
        "published": "2024-03-01",
        "subject": "The mühle",
        "from": "Ada Byrne <ada@x.test>",
        "to": "bob@x.test",
        "date": "2024-03-01T10:00:00+00:00",
    }
    assert [(each.level, each.heading) for each in document.sections] == [(1, "The mühle")]


def test_long_lists_of_recipients_are_cut() -> None:
    head = HEAD.replace("bob@x.test", ", ".join(f"p{n}@x.test" for n in range(900)))
    assert "@x.test, and 738 more" in read(mail("x", head=head), "a.eml").text.split("\n")[1]


NEWSLETTER = """<html><head><title>News</title><style>.m {width: 50%}</style></head><body>
<div style="display:none;font-size:1px;max-height:0px;opacity:0">What is new</div>
<div style="max-height:0;overflow:hidden">and this</div><span style="font-size:1px;color:#fff">hidden words</span>
<table role="presentation" border="0"><tr><td style="font-size:0px"><div style="font-size:13px">The sauna opens.</div>
</td></tr><tr><td style="font-size:0"><table><tr><td><p style="font-size:13px">The café is closed.</p></td></tr></table>
</td></tr></table><table border="1"><tr><th>Item</th><th>Price</th></tr><tr><td>Rope</td><td>12</td></tr>
<tr><td><p>Paint</p><p>red</p></td>
<td>40<span style="display:none">41</span></td></tr></table><!--[if mso]>no<![endif]--><ul><li>One</li></ul>
<p>You signed up. <a href="x">Unsubscribe</a></p><img src="https://x.test/t.gif" width="1" height="1"></body></html>"""


def test_all_that_a_newsletter_shows_is_read_and_what_it_hides_is_not() -> None:
    said = text_of(mail(NEWSLETTER, "text/html; charset=utf-8"))
    assert [line for line in said.split("\n") if line] == [
        "The sauna opens.",
        "The café is closed.",
        "Item; Price",
        "Item: Rope; Price: 12",
        "Item: Paint red; Price: 40",
        "- One",
        "You signed up. Unsubscribe",
    ]


def test_headings_of_html_are_sections_below_the_mail() -> None:
    document = read(mail("<h1>News</h1><p>One.</p><h2>More</h2><p>Two.</p>", "text/html"), "a.eml")
    assert [(each.level, each.heading) for each in document.sections] == [(1, "Dock"), (2, "News"), (3, "More")]


def test_texts_around_pictures_and_files_are_in_order() -> None:
    data = whole(
        joined(
            part("Here is the dock:"),
            part(b"x", "image/png", PICTURE),
            part("It is 24 metres long."),
            file("list.txt", b"Rope and paint."),
            part("Ada"),
        )
    )
    document = read(data, "a.eml")
    said = document.text
    wanted = ["Here is the dock:", "[Picture: dock.png]", "24 metres", "[Attachment: list.txt]", "Ada\n", "Rope and"]
    places = [said.index(each, said.index("\n\n")) for each in wanted]
    assert places == sorted(places)
    assert "Attachments: dock.png, list.txt\n" in said
    assert "dock.png" in unread(document)
    assert "list.txt" not in unread(document)
    assert [section.heading for section in document.sections] == ["Dock", "Attachment: list.txt"]


@pytest.mark.parametrize(
    ("plain", "html", "is_html"),
    [
        (STUB, "The sauna opens on 9 November.", True),
        ("Dear all, see below.", "Dear all, the sauna opens on 9 November at four and closes in May.", True),
        ("", "The sauna opens.", True),
        (" \n", "The sauna opens.", True),
        ("The sauna opens on 9 November.", "The sauna opens on <b>9&nbsp;November</b>.", False),
        (
            "The sauna opens on 9 November <https://x.test/long/address>.",
            '<a href="x">The sauna</a> opens on 9 November',
            False,
        ),
        (" ".join(f"word{n}" for n in range(200)), "Please read the plain text.", False),
    ],
)
def test_of_plain_text_and_html_the_one_that_says_more_is_read(plain: str, html: str, is_html: bool) -> None:
    body = whole(joined(part(plain), page(f"{html} MARK"), kind="alternative"))
    assert ("MARK" in text_of(body)) is is_html


def test_text_around_a_file_in_the_html_alternative_is_read_and_so_is_the_file() -> None:
    inner = joined(page("First half."), file("a.txt", b"Filed text."), page("Second half."), boundary="c")
    said = text_of(whole(joined(part("First half. Second half."), inner, kind="alternative")))
    assert said.count("First half.") == said.count("Second half.") == said.count("Filed text.") == 1
    said = text_of(whole(joined(part(STUB), inner, kind="alternative")))
    assert said.index("First half.") < said.index("Second half.") < said.index("Filed text.")


def test_pictures_of_the_design_are_not_named_but_what_they_stand_for_is_said() -> None:
    html = '<p>Hi</p><img src="cid:logo@x" alt="image001.png"><img src="cid:dock@x" alt="the new dock">'
    pictures = [
        part(b"x" * size, "image/png", f"Content-ID: <{name}@x>\n") for name, size in (("logo", 9), ("dock", 20_000))
    ]
    document = read(whole(joined(page(html), *pictures, kind="related")), "a.eml")
    assert "[Picture: the new dock]" in document.text
    assert "image001" not in document.text
    assert unread(document).count("png") == 1


@pytest.mark.parametrize("is_outside", [True, False])
def test_logos_of_html_that_was_not_chosen_are_not_named_either(is_outside: bool) -> None:
    logo = part(b"x", "image/png", 'Content-ID: <logo@x>\nContent-Disposition: inline; filename="logo.png"\n')
    html = page('The dock is long.<img src="cid:logo@x">')
    if is_outside:
        root = joined(joined(part("The dock is long."), html, kind="alternative", boundary="c"), logo, kind="related")
    else:
        root = joined(part("The dock is long."), joined(html, logo, kind="related", boundary="c"), kind="alternative")
    document = read(whole(root), "a.eml")
    assert "logo" not in document.text
    assert not unread(document)


def test_an_invitation_is_read_once_even_if_it_is_also_attached() -> None:
    event = EVENT.format("METHOD:REQUEST\n")
    calendar = part(event, "text/calendar; charset=utf-8; method=REQUEST")
    alternative = joined(part("Please come."), page("Please come."), calendar, kind="alternative", boundary="c")
    said = text_of(whole(joined(alternative, file("invite.ics", event.encode(), "application/ics"))))
    assert said.count("Keel inspection") == 1
    assert said.startswith("Please come.\n\nInvitation:\n\n")
    assert "Cancelled event:" in text_of(mail(EVENT.format("METHOD:CANCEL\n"), "text/calendar"))


def test_an_attached_mail_is_a_part_with_its_own_header_lines() -> None:
    inner = mail("The crane comes at noon.", head=HEAD.replace("Dock", "Crane").replace("Ada Byrne", "Leif Aas"))
    document = read(whole(joined(part("See below."), part(inner, "message/rfc822"))), "a.eml")
    assert [(each.level, each.heading) for each in document.sections] == [(1, "Dock"), (2, "Attached message: Crane")]
    assert "Attached message: Crane\n\nFrom: Leif Aas <ada@x.test>\n" in document.text
    assert "The crane comes at noon." in document.text


def test_the_mails_of_a_digest_are_read() -> None:
    parts = [b"\n" + mail(f"Text {n}.", head=HEAD.replace("Dock", f"Item {n}")) for n in (1, 2)]
    said = read(whole(joined(*parts, kind="digest")), "a.eml").text
    assert "Attached message: Item 1" in said
    assert "Text 2." in said


def test_a_report_has_its_text_its_lines_and_the_mail_that_came_back() -> None:
    status = part("Final-Recipient: rfc822; gone@x.test\nStatus: 5.1.1\n", "message/delivery-status")
    back = part(HEAD.replace("Dock", "Lost mail"), "text/rfc822-headers")
    said = text_of(whole(joined(part("It could not be delivered."), status, back, kind="report")))
    assert "It could not be delivered.\n\nFinal-Recipient: rfc822; gone@x.test\nStatus: 5.1.1\n" in said
    assert "Attached message: Lost mail" in said


@pytest.mark.parametrize("kind", ["application/pgp-signature", "application/pkcs7-signature"])
def test_a_signature_is_named_and_not_unread(kind: str) -> None:
    document = read(whole(joined(part("Signed text."), part(b"xx", f'{kind}; name="s.p7s"'), kind="signed")), "a.eml")
    assert "Attachments: s.p7s (signature)\n" in document.text
    assert "Signed text." in document.text
    assert not unread(document)


def test_the_armour_of_a_signed_text_is_left_out() -> None:
    signed = (
        "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nThe dock\n- - is long.\n"
        "-----BEGIN PGP SIGNATURE-----\n\nabcd\n-----END PGP SIGNATURE-----\nBye\n"
    )
    assert text_of(mail(signed)).split() == ["The", "dock", "-", "is", "long.", "Bye"]


@pytest.mark.parametrize(
    "body",
    [
        mail("MIIabc\n", 'application/pkcs7-mime; smime-type=enveloped-data; name="smime.p7m"'),
        whole(joined(part("Version: 1", "application/pgp-encrypted"), part("x"), kind="encrypted")),
        mail("-----BEGIN PGP MESSAGE-----\n\nabc\n-----END PGP MESSAGE-----\n"),
    ],
)
def test_an_encrypted_mail_is_said_to_be_encrypted(body: bytes) -> None:
    with pytest.raises(SourceUnreadable, match=r"a\.eml: encrypted") as raised:
        read(body, "a.eml")
    assert raised.value.verdict == "encrypted"
    box = b"From a@x Mon Mar  2 09:00:00 2026\n" + body + b"\nFrom b@x Tue Mar  3 09:00:00 2026\n" + mail("Open text.")
    document = read(box, "a.mbox")
    assert "[encrypted, not read]" in document.text
    assert "Open text." in document.text
    assert "encrypted" in unread(document)


def test_what_outlook_packed_and_what_is_kept_elsewhere_is_named() -> None:
    elsewhere = part("\n", 'message/external-body; access-type=URL; name="big.iso"')
    document = read(whole(joined(part("Hi"), file("winmail.dat", b"x", "application/ms-tnef"), elsewhere)), "a.eml")
    assert "winmail.dat: formatting and files that Outlook packed (TNEF)" in unread(document)
    assert "big.iso: kept elsewhere" in unread(document)


def test_files_in_the_text_are_taken_out_of_it() -> None:
    coded = "begin 644 note.txt\n/4F]P92!A;F0@<&%I;G0N\n`\nend\n"
    said = text_of(mail(f"See the list.\n\n{coded}\nAda\n"))
    assert "4F]P" not in said
    assert "Attachment: note.txt\n\nRope and paint" in said


def test_enriched_text_is_its_words() -> None:
    body = "<bold>The dock</bold> is\n<param>red</param>long.\n\nYes <<24 m>.\n"
    assert "The dock is long.\nYes <24 m>." in text_of(mail(body, "text/enriched"))


def test_flowed_text_is_joined() -> None:
    body = "The pontoon is \n24 metres \nlong.\n Indented.\n> Quoted \n> text.\n-- \nAda\n"
    said = text_of(mail(body, "text/plain; format=flowed"))
    assert "The pontoon is 24 metres long.\nIndented.\n" in said
    assert "Quoted text." in said
    said = text_of(mail("Donau \ndampf \nschiff\n", "text/plain; format=flowed; delsp=yes"))
    assert "Donaudampfschiff" in said


def test_a_file_in_two_mails_is_read_once_and_named_twice() -> None:
    one = whole(joined(part("First."), file("plan.txt", b"The dock is red.")))
    two = whole(joined(part("Second."), file("copy.txt", b"The dock is red.")))
    said = read(b"From a@x Mon Mar  2 2026\n" + one + b"\nFrom a@x Mon Mar  2 2026\n" + two, "a.mbox").text
    assert said.count("The dock is red.") == 1
    assert "Attachment: copy.txt (read above as plan.txt)" in said


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (
            whole(
                b'Content-Type: multipart/mixed; boundary="no"\n\n--b\nContent-Type: text/plain\n\nHello dock.\n--b--\n'
            ),
            "Hello dock.",
        ),
        (whole(b"Content-Type: multipart/mixed\n\nJust text.\n"), "Just text."),
        (whole(joined(part("Open end."))[:-6]), "Open end."),
        (mail("SGVsbG8gZG9jay4*!\n", "text/plain\nContent-Transfer-Encoding: base64"), "Hello dock."),
        (
            mail("Hello dock=2E=\n Yes=ZZ.", "text/plain\nContent-Transfer-Encoding: quoted-printable"),
            "Hello dock. Yes",
        ),
        (b"Subject: x\nnot a field\nHello dock.\n", "Hello dock."),
        (b"\n\nHello dock.", "Hello dock."),
        (b"Content-Type: text/plain\nSubject: x\n", "Subject: x"),
    ],
)
def test_a_damaged_mail_is_read_as_far_as_it_goes(data: bytes, wanted: str) -> None:
    assert wanted in read(data, "a.eml").text


def nested(depth: int) -> bytes:
    body = part("The innermost.")
    for number in range(depth):
        body = joined(body, boundary=f"b{number}")
    return whole(body)


def attached(depth: int) -> bytes:
    data = mail("The innermost.")
    for _ in range(depth):
        data = mail(data, "message/rfc822")
    return data


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (whole(joined(*(part(f"Text {n}.") for n in range(3_000)))), "2,000 more parts"),
        (nested(100), "too deep within other parts"),
        (attached(100), "too deep within other messages"),
        (HEAD.encode() + b"X-A: b\n" * 2_000_000 + b"\nHello.", "header lines: too many"),
        (mail(b"> " * 1_000_000), ""),
        (mail((">" * 500 + "x\n") * 5_000), ""),
        (mail("On Tue, a@x.test wrote:\n" * 100_000), ""),
        (mail("From: a\nDate: b\n" * 100_000), ""),
        (mail("<div>" * 100_000 + "deep", "text/html"), ""),
        (mail("<table border=1><tr><td>" * 20_000 + "deep", "text/html"), ""),
        (mail("begin 644 a\n" * 100_000), ""),
        (mail("=?utf-8?q?=41?= " * 50_000, head="Subject: " + "=?utf-8?b?/?= " * 100_000 + "\n"), ""),
        (whole(b'Content-Type: multipart/mixed; boundary=""\n\n' + b"--\n" * 500_000), ""),
        (b"From a@x Mon Mar  2 2026\n\n" * 100_000, ""),
    ],
    ids=range(14),
)
def test_hostile_mails_cost_little_and_what_is_left_out_is_named(data: bytes, named: str) -> None:
    began = time.process_time()
    document = read(data, "a.eml")
    assert time.process_time() - began < 6
    assert named in unread(document)
