"""What a mail quotes or passes on is set apart from the words of its sender, under who wrote it."""

from __future__ import annotations

import pytest

from asky.reading.mail.attributions import attribution
from asky.reading.mail.html_lines import html_lines
from asky.reading.mail.lines import plain_lines
from asky.reading.mail.message import read
from asky.reading.mail.quotes import passages_of
from tests.support.mails import HEAD, mail

ADA = "Quoted from Ada Byrne, 2 March 2026"


def parted(text: str) -> list[tuple[str, str]]:
    """Return the passages of a plain text, each with what it is named; the sender's own are named ""."""
    found = passages_of(plain_lines(text))
    return [(each.origin.label if each.origin else "", " ".join(each.text().split())) for each in found]


def parted_html(html: str) -> list[tuple[str, str]]:
    found = passages_of(html_lines(html))
    return [(each.origin.label if each.origin else "", " ".join(each.text().split())) for each in found]


@pytest.mark.parametrize(
    "line",
    [
        "On Mon, 2 Mar 2026 at 09:00, Ada Byrne <ada@x.test> wrote:",
        "On Mon, Mar 2, 2026 at 9:00 AM Ada Byrne <ada@x.test> wrote:",
        "On Mar 2, 2026, at 09:00, Ada Byrne <ada@x.test> wrote:",
        'On Monday, 2 March 2026, 09:00:12 CET, "Ada Byrne" <ada@x.test> wrote:',
        "Am Mo., 2. März 2026 um 09:00 Uhr schrieb Ada Byrne <ada@x.test>:",
        "Am 02.03.26 um 09:00 schrieb Ada Byrne:",
        "Le lun. 2 mars 2026 à 09:00, Ada Byrne <ada@x.test> a écrit :",
        "El lun, 2 mar 2026 a las 9:00, Ada Byrne (<ada@x.test>) escribió:",
        "Il giorno lun 2 mar 2026 alle ore 09:00 Ada Byrne <ada@x.test> ha scritto:",
        "Op ma 2 mrt. 2026 om 09:00 schreef Ada Byrne <ada@x.test>:",
        "Em seg., 2 de mar. de 2026 às 09:00, Ada Byrne <ada@x.test> escreveu:",
        "Den man. 2. mar. 2026 kl. 09.00 skrev Ada Byrne <ada@x.test>:",
        "2026-03-02 9:00 GMT+01:00 Ada Byrne <ada@x.test>:",
        "Ada Byrne <ada@x.test> wrote on 2 March 2026:",
        "2026年3月2日(月) 9:00 Ada Byrne <ada@x.test>:",
        "Quoting Ada Byrne <ada@x.test>:",
        "Ada Byrne wrote:",
    ],
)
def test_the_line_above_a_quote_names_its_author_in_many_languages(line: str) -> None:
    found = attribution(line)
    assert found is not None
    assert found.who == "Ada Byrne"
    assert not found.when or "2" in found.when
    assert [name for name, _ in parted(f"Yes.\n\n{line}\n> The dock is long.\n")] == ["", found.label]
    assert ("", "Yes.") in parted(f"Yes.\n\n{line}\n\n> The dock is long.\n")


@pytest.mark.parametrize(
    "line",
    [
        "Please note the following:",
        "These are the mails that I wrote:",
        "See ada@x.test for more.",
        "Dates:",
        "",
        "you wrote:",
    ],
)
def test_other_lines_name_no_author(line: str) -> None:
    assert attribution(line) is None


@pytest.mark.parametrize(
    "text",
    [
        "Your ferry:\n\nFrom: Kiel\nTo: Gothenburg\nDate: 19 July 2026\n\nPlease come early.\n",
        "About your mail:\n\n  Date: x\n  From: Ada <a@x.test>\n  To: b\n  Subject: y\n\nIt did not arrive.\n",
        "Name: Ada\nDate: Monday\nSubject: rope\n\nPlease call.\n",
    ],
)
def test_other_fields_in_a_text_begin_no_mail(text: str) -> None:
    assert [name for name, _ in parted(text)] == [""]


def test_answers_between_the_lines_of_a_quote_keep_their_place() -> None:
    text = """Hello,

On Mon, 2 Mar 2026 at 09:00, Ada Byrne <ada@x.test>
wrote:

> When does it come?

On Friday.

> And how long is it? Bob Moe wrote:
>
> > It is 24 m.

Right.
"""
    assert parted(text) == [
        ("", "Hello,"),
        (ADA, "When does it come?"),
        ("", "On Friday."),
        (ADA, "And how long is it? Bob Moe wrote:"),
        ("Quoted message", "It is 24 m."),
        ("", "Right."),
    ]


@pytest.mark.parametrize(
    ("begin", "label"),
    [
        ("---------- Forwarded message ---------\nFrom: {}\nDate: {}\nSubject: Dock\nTo: <b@x.test>", "Forwarded"),
        ("Begin forwarded message:\n\nFrom: {}\nSubject: Dock\nDate: {}\nTo: b@x.test", "Forwarded"),
        ("-------- Weitergeleitete Nachricht --------\nBetreff: Dock\nDatum: {1}\nVon: {0}\nAn: b@x.test", "Forwarded"),
        ("-----Original Message-----\nFrom: {}\nSent: {}\nTo: Bob\nSubject: RE: Dock", "Quoted"),
        ("________________________________\nVon: {}\nGesendet: {}\nAn: Bob\nBetreff: AW: Dock", "Quoted"),
        ("*From:* {}\n*Sent:* {}\n*To:* Bob\n*Subject:* Dock", "Quoted"),
        ("De : {}\nEnvoyé : {}\nÀ : Bob\nObjet : Dock", "Quoted"),
    ],
)
def test_a_mail_that_is_passed_on_in_the_text_is_under_its_own_author(begin: str, label: str) -> None:
    begin = begin.replace("{0}", "{}").replace("{1}", "{}") if "{0}" not in begin else begin
    head = begin.format("Ada Byrne <ada@x.test>", "Mon, 2 Mar 2026 09:00:00 +0100")
    text = f"Please see.\n\n{head}\n\nThe dock is long.\n"
    assert parted(text) == [("", "Please see."), (f"{label} from Ada Byrne, 2 March 2026", "The dock is long.")]


GMAIL = (
    '<div>Yes.</div><div class="gmail_quote"><div class="gmail_attr">On Mon, Mar 2, 2026 at 9:00 AM Ada Byrne &lt;'
    '<a href="mailto:ada@x.test">ada@x.test</a>&gt; wrote:<br></div><blockquote class="gmail_quote"><p>The dock.</p>'
    "</blockquote></div>"
)
OUTLOOK = (
    '<p>Yes.</p><div style="border:none;border-top:solid 1pt"><p><b>From:</b> Ada Byrne &lt;ada@x.test&gt;<br>'
    "<b>Sent:</b> Monday, March 2, 2026 9:00 AM<br><b>To:</b> Bob<br><b>Subject:</b> Dock</p></div><p>The dock.</p>"
)
THUNDERBIRD = (
    '<p>Yes.</p><div class="moz-cite-prefix">On 2026-03-02 09:00, Ada Byrne wrote:<br></div>'
    '<blockquote type="cite" cite="mid:x"><p>The dock.</p></blockquote>'
)
APPLE = (
    '<div>Yes.</div><div><br><blockquote type="cite"><div>On Mar 2, 2026, at 09:00, Ada Byrne &lt;ada@x.test&gt; wrote:'
    "</div><br><div>The dock.</div></blockquote></div>"
)
WEB = (
    "<p>Yes.</p><p>Am 2.3.2026 schrieb Ada Byrne &lt;ada@x.test&gt;:</p>"
    '<blockquote style="margin:0">The dock.</blockquote>'
)


@pytest.mark.parametrize("html", [GMAIL, OUTLOOK, THUNDERBIRD, APPLE, WEB])
def test_the_quotes_of_html_are_found_as_programs_mark_them(html: str) -> None:
    assert parted_html(html) == [("", "Yes."), (ADA, "The dock.")]


def test_a_quotation_of_something_else_is_the_words_of_the_sender() -> None:
    assert parted_html("<p>As the poet says</p><blockquote>All is water.</blockquote>") == [
        ("", "As the poet says All is water.")
    ]


def test_a_quote_is_a_section_that_ends_with_it() -> None:
    text = "Yes.\n\nOn Mon, 2 Mar 2026, Ada Byrne <ada@x.test> wrote:\n> The dock?\n\nNo, the pier.\n"
    document = read(mail(text), "a.eml")
    quoted = next(each for each in document.sections if each.level == 2)
    assert quoted.heading == ADA
    assert document.text[quoted.start : quoted.end] == f"{ADA}:\n\nThe dock?\n\n"
    assert document.text[quoted.end :] == "[end of quote]\n\nNo, the pier.\n\n"


def box(*mails: bytes) -> bytes:
    return b"".join(b"From a@x Mon Mar  2 09:00:00 2026\n" + each + b"\n\n" for each in mails)


FIRST = mail(
    "The pontoon arrives on 17 June and is 24 metres long.\n\nThe crane costs 4,100 crowns.\n\nWhen do you come?\n",
    fields="Message-ID: <1@x>\n",
)


def answer(text: str) -> bytes:
    head = HEAD.replace("Ada Byrne", "Bob Moe").replace("2 Mar", "3 Mar").replace("Subject: ", "Subject: Re: ")
    return mail(text, head=head, fields="In-Reply-To: <1@x>\n")


def test_a_quote_of_a_mail_in_the_same_file_is_one_line() -> None:
    quote = "".join(f"> {line}\n" for line in FIRST.decode().partition("\n\n")[2].splitlines())
    text = read(box(FIRST, answer(f"Good.\n\nAda Byrne wrote:\n{quote}")), "a.mbox").text
    assert text.count("The pontoon arrives") == 1
    assert text.rstrip().endswith("Good.\n\n> [Quotes the message of 2 March 2026 by Ada Byrne]")


def test_what_is_answered_line_by_line_is_named_in_its_place() -> None:
    text = read(box(FIRST, answer("> When do you come?\n\nOn Friday.\n")), "a.mbox").text
    assert "> [Quotes the message of 2 March 2026 by Ada Byrne: “When do you come?”]\n\nOn Friday." in text
    quote = "> The crane costs 4,100 crowns.\n> \n> When do you come?\n\n"
    text = read(box(FIRST, answer(f"{quote}I know.\n")), "a.mbox").text
    assert "by Ada Byrne: “The crane costs 4,100 crowns. …”]\n\nI know." in text


def test_a_quote_of_another_text_stays() -> None:
    text = read(box(FIRST, answer("> The barge came at noon and left again.\n\nOh.\n")), "a.mbox").text
    assert "Quoted message:\n\nThe barge came at noon and left again.\n\n[end of quote]\n\nOh." in text


def test_mails_of_a_mailbox_are_called_by_subject_sender_and_day() -> None:
    def heads(*mails: bytes) -> list[str]:
        return [each.heading for each in read(box(*mails), "a.mbox").sections]

    later = answer("Good.").replace(b"09:00:00", b"11:30:00")
    assert heads(FIRST, answer("Good.")) == [
        "Dock (Ada Byrne, 2 March 2026)",
        "Re: Dock (Bob Moe, 3 March 2026)",
    ]
    assert heads(FIRST, answer("Good."), FIRST) == [
        "Dock (Ada Byrne, 2 March 2026, 09:00)",
        "Re: Dock (Bob Moe, 3 March 2026)",
        "Dock (Ada Byrne, 2 March 2026, 09:00)",
    ]
    assert heads(FIRST, answer("Good."), later)[1:] == [
        "Re: Dock (Bob Moe, 3 March 2026, 09:00)",
        "Re: Dock (Bob Moe, 3 March 2026, 11:30)",
    ]


def test_a_long_thread_takes_linear_time() -> None:
    mails = [FIRST]
    for _ in range(300):
        quote = "".join(f"> {line}\n" for line in mails[-1].decode().partition("\n\n")[2].splitlines()[:200])
        mails.append(answer(f"Number {len(mails)} says that the dock is fine.\n\nAda Byrne wrote:\n{quote}"))
    text = read(box(*mails), "a.mbox").text
    assert text.count("The pontoon arrives") < 250
