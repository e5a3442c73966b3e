"""Subtitles: sentences after the times at which they begin."""

from __future__ import annotations

import pytest

from asky.reading.markup.xml_file import read as read_xml
from asky.reading.timed.subtitles import read
from tests.support.files import check_document

SRT = """1
00:00:01,000 --> 00:00:03,000
The <i>lamp</i> room is forty

2
00:00:03,000 --> 00:00:05,500 X1:10 X2:20
{\\an8}metres above the sea.

3
00:01:10,000 --> 00:01:12,000
ADA: Who lit it?

4
00:01:12,100 --> 00:01:14,000
- I did.
- At dusk.
"""
VTT = """WEBVTT - talk
Kind: captions

STYLE
::cue { color: red }

NOTE for the editor
of two lines

intro
00:01.000 --> 00:03.000 align:start position:0%
<v.loud Ada Lind>The lamp room is <c.red>forty</c></v>

00:03.000 --> 00:05.000
<v Ada Lind>metres &amp; more above the sea.

00:05.500 --> 00:07.000
<v Bo>And the tower?

NOTE hidden

chapter two
00:20.000 --> 00:21.000
Good night.
"""
ROLLING = """WEBVTT
Kind: captions

00:00:00.000 --> 00:00:02.000 align:start position:0%
%s
the<00:00:00.200><c> lamp</c><00:00:00.500><c> room</c>

00:00:02.000 --> 00:00:02.010 align:start position:0%
the lamp room
%s

00:00:02.010 --> 00:00:04.000 align:start position:0%
the lamp room
is<00:00:02.200><c> forty</c><c> metres</c>

00:00:04.000 --> 00:00:04.010 align:start position:0%
is forty metres
%s

00:00:04.010 --> 00:00:06.000 align:start position:0%
is forty metres
above the sea
""".replace("%s", " ")
SBV = "0:00:00.599,0:00:04.160\n>> ADA: Hi, I am Ada and\nthis is Bo.\n\n0:00:04.160,0:00:06.770\n>> BO: Hello.\n"
ASS = """[Script Info]
Title: x
[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Comment: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,not shown
Dialogue: 0,0:01:05.00,0:01:06.00,Default,,0,0,0,,{\\p1}m 0 0 l 1 1
Dialogue: 0,0:01:02.50,0:01:04.00,Default,Ada,0,0,0,,{\\i1}The lamp,{\\i0} at\\Nnight.
"""
TTML = """<tt xmlns="http://www.w3.org/ns/ttml"><head><styling><style/></styling></head><body><div begin="10s">
<p begin="00:00:01.000" end="00:00:03.000">The lamp<br/>is <span>lit</span></p><p begin="3s" end="5s">at dusk.</p>
</div></body></tt>"""


def text_of(text: str, name: str = "a.srt") -> str:
    document = read(text.encode(), name)
    check_document(document)
    return document.text


def test_cues_are_joined_to_sentences_and_speakers_begin_a_line() -> None:
    assert text_of(SRT) == (
        "[00:00:01] The lamp room is forty metres above the sea.\n[00:01:10] ADA: Who lit it?\n"
        "[00:01:12] - I did.\n[00:01:12] - At dusk.\n"
    )
    assert text_of(SRT.replace("\n", "\r\n")) == text_of(SRT)
    assert text_of(SRT.replace("\n\n", "\n")) == text_of(SRT)


def test_voices_are_named_and_notes_and_styles_are_not_said() -> None:
    assert text_of(VTT, "a.vtt") == (
        "[00:00:01] Ada Lind: The lamp room is forty metres & more above the sea.\n[00:00:05] Bo: And the tower?\n"
        "[00:00:20] Good night.\n"
    )


def test_captions_that_roll_stand_once() -> None:
    assert text_of(ROLLING, "a.vtt") == "[00:00:00] the lamp room is forty metres above the sea\n"


def test_what_is_said_twice_stands_twice() -> None:
    cues = [f"{number}\n00:00:0{number},000 --> 00:00:0{number},900\n{said}\n" for number, said in
            enumerate(["No.", "No.", "Go home now.", "I will.", "The boat is here."], start=1)]  # fmt: skip
    assert text_of("\n".join(cues)) == "[00:00:01] No. No. Go home now. I will. The boat is here.\n"


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        (SBV, "a.sbv", "[00:00:00] ADA: Hi, I am Ada and this is Bo.\n[00:00:04] BO: Hello.\n"),
        (ASS, "a.ass", "[00:01:02] Ada: The lamp, at night.\n"),
        ("[ti:Song]\n[00:12.00]Light the lamp\n[00:15.50]at dusk", "a.lrc", "[00:00:12] Light the lamp at dusk\n"),
    ],
)
def test_other_formats_of_subtitles_read_alike(text: str, name: str, expected: str) -> None:
    assert text_of(text, name) == expected


def test_ttml_counts_from_the_part_it_is_in() -> None:
    assert read_xml(TTML.encode(), "a.ttml").text == "[00:00:11] The lamp is lit at dusk.\n"


def test_a_long_talk_without_full_stops_has_paragraphs() -> None:
    cues = [
        f"{n}\n00:{n // 60:02}:{n % 60:02},000 --> 00:{n // 60:02}:{n % 60:02},990\nand so on {n}\n"
        for n in range(1, 400)
    ]
    lines = text_of("\n".join(cues)).splitlines()
    assert 5 < len(lines) < 20
    assert max(map(len, lines)) < 700


def test_what_has_no_cues_is_plain_text() -> None:
    assert text_of("Just a note --> about lamps.\n") == "Just a note --> about lamps.\n"
