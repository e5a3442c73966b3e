from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.text.scrub import one_line, scrub, scrub_counted, scrub_in_place, scrub_marked, strip_sequences
from tests.support.files import FORBIDDEN
from tests.support.timing import check_linear

HIDING = "".join(map(chr, (0x034F, 0x061C, 0x180B, 0x180E, *range(0x200B, 0x2010), *range(0xFE00, 0xFE10), 0xE0100)))
ANY_TEXT = st.one_of(
    st.text(alphabet=st.characters(exclude_categories=())),
    st.text(
        alphabet="aZ09# -\t\n\r\f\x1b\x00[mبیกខကकᠠא字あ가각❤☀👩🔬\u00ad\u115f\u1160\u2060\u3164\U000e0041\U000e01ef"
        + HIDING
    ),
)


@given(ANY_TEXT)
def test_scrubbed_text_holds_nothing_forbidden_and_scrubbing_again_changes_nothing(text: str) -> None:
    clean = scrub(text)
    assert FORBIDDEN.search(clean) is None
    assert scrub(clean) == clean
    clean.encode("utf-8")


@given(st.text(alphabet=st.characters(exclude_categories=("Cs", "Cc", "Cf", "Mn", "Cn", "Lo"))))
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert scrub(text) == text
    assert scrub_in_place(text) == text


def test_nul_and_lone_surrogates_become_one_replacement_each() -> None:
    assert scrub("a\x00b\ud800c\udfff") == "a\ufffdb\ufffdc\ufffd"


def test_terminal_controls_bidi_controls_and_tag_characters_are_removed() -> None:
    assert scrub("a\x1b[2J\x07\x9b31m\u202eb\u2066c\u2069\U000e0041d") == "a[2J31mbcd"


def test_every_line_end_becomes_lf_and_tab_and_form_feed_stay() -> None:
    assert scrub("a\r\nb\rc\x0bd\x85e\n\tf\f") == "a\nb\nc\nd\ne\n\tf\f"


@pytest.mark.parametrize(
    "text",
    [
        "\u200fשלום\u200e C++\u200e.",
        "می\u200cخواهم کتاب\u200cها",
        "\u200dه ه\u200d",
        "क्\u200dष र्\u200cय ශ්\u200dරී",
        "ภาษา\u200bไทย ភាសា\u200bខ្មែរ မြန်မာ\u200bစာ ພາສາ\u200bລາວ",
        "ᠠ\u180b ᠭ\u180eᠠ ᠭ\u180b\u180eᠠ",
        "👩\u200d🔬 ❤\ufe0f\u200d🔥 👩🏽\u200d🚀 🏳\ufe0f\u200d🌈 🏃\u200d➡\ufe0f",
        "1\ufe0f\u20e3 ©\ufe0f ☀\ufe0e ™\ufe0f",
        "葛\U000e0100城 邊\U000e0101 神\ufe00 0\ufe00 ∩\ufe00 \u201c\ufe01",
        "דְ\u034f",
        "\u115fᅡ ᄀ\u1160",
    ],
)
def test_marks_that_a_script_needs_stay(text: str) -> None:
    assert scrub(text) == text
    assert scrub_counted(text) == (text, 0)
    assert scrub_in_place(text) == text


@given(st.text(alphabet="abcXYZéяλ", min_size=1), st.text(alphabet=HIDING + "\u00ad\u2060\ufeff\U000e0041", min_size=1))
def test_nothing_can_be_hidden_between_letters(word: str, message: str) -> None:
    spread = "".join(f"{letter}{hidden}" for letter, hidden in zip(word, itertools.cycle(message), strict=False))
    letters = re.sub("[\u061c\u200e\u200f]", "", scrub(f"{spread}z{message}z"))  # these stay beside other scripts
    assert letters == f"{word}zz"


@pytest.mark.parametrize(
    ("text", "clean", "count"),
    [
        ("ig\u200bno\u200cre\u200d all\ufeff \u2060of it", "ignore all of it", 5),
        ("a" + "".join(chr(0xE0100 + byte) for byte in b"ignore") + "b", "ab", 6),
        ("😀" + "\ufe0f" * 9 + "".join(chr(0xE0100 + byte) for byte in b"x"), "😀\ufe0f", 9),
        ("字\U000e0100\U000e0101\U000e0102", "字\U000e0100", 2),
        ("می\u200c\u200d\u200c\u200bخواهم", "می\u200cخواهم", 3),
        ("👩\u200d\u200d🔬", "👩🔬", 2),
        ("👩\u200dplain", "👩plain", 1),
        ("ไ\u200b\u200bท", "ไ\u200bท", 1),
        ("a\u200eb\u200fc\u061cd", "abcd", 3),
        ("\u200e\u200f\u200eשלום", "\u200eשלום", 2),
        ("a\u3164b\uffa0c\u115fd\u1160", "a b c d ", 4),
        ("a\u034fb", "ab", 1),
        ("字\ufe07☀\ufe03", "字☀", 2),
        ("fine\u180e\u2063\u206f\U000e0041", "fine", 4),
        ("re\u00adtriev\u00adal", "retrieval", 0),
        ("an impor\u00ad\ntant line, impor\u00ad \r\ntant", "an impor-\ntant line, impor- \ntant", 0),
        ("the page ends impor\u00ad", "the page ends impor-", 0),
        (" \u00ad\n\u00ad", " \n", 0),
    ],
)
def test_what_no_script_needs_where_it_stands_is_removed_and_counted(text: str, clean: str, count: int) -> None:
    assert scrub_counted(text) == (clean, count)
    assert scrub(clean) == clean


def test_controls_and_line_ends_do_not_count_as_invisible() -> None:
    assert scrub_counted("a\x1b\x00é\r\n\ud800\x85") == ("a\ufffdé\n\ufffd\n", 0)


@pytest.mark.parametrize(
    "piece", ["\u200d", "\ufe0f", "a\u200e", "\u200e", "字\U000e0100", "a\u00ad" + " " * 99, "\u1160"]
)
def test_any_run_of_invisible_characters_takes_linear_time(piece: str) -> None:
    check_linear(lambda chars: scrub(piece * (chars // len(piece))), 20_000)


@given(ANY_TEXT)
def test_scrubbing_in_place_moves_no_character(text: str) -> None:
    clean = scrub_in_place(text)
    assert len(clean) == len(text)
    assert all(new == old or new in " \ufffd" for new, old in zip(clean, text, strict=True))
    assert scrub_in_place(clean) == clean
    clean.encode("utf-8")


def test_scrubbing_in_place_keeps_line_ends() -> None:
    assert scrub_in_place("a\r\nb\x00\x1b[2J\u202ec\ud800") == "a\r\nb\ufffd [2J c\ufffd"


def test_scrubbing_in_place_leaves_words_whole_and_hides_nothing() -> None:
    assert scrub_in_place("re\u00adtrieval \u2060\u200b\U000e0041 می\u200cخواهم") == "re\u00adtrieval     می\u200cخواهم"


def test_one_line_collapses_and_shortens() -> None:
    assert one_line("  a\n\tb\x00 ") == "a b\ufffd"
    assert one_line("word " * 100, 20) == "word word word word…"
    assert one_line("x" * 10**6, 10) == "xxxxxxxxx…"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;pwn\x07Tides", "Tides"),
        ("\x1b]2;pwn\x1b\\Tides", "Tides"),
        ("\x9d0;pwn\x9cTides", "Tides"),
        ("\x1b]8;;http://x.y/\x1b\\a link\x1b]8;;\x1b\\ here", "a link here"),
        ("\x1b[1;31mred\x1b[0m \x9b4mline\x1b[m", "red line"),
        ("\x1b[2J\x1b[?25lgone", "gone"),
        ("\x1bP1$r0m\x1b\\a\x1b_app\x1b\\b", "ab"),
        ("\x1b(Bplain", "plain"),
        ("\x1b]0;never ended", "never ended"),
        ("\x1b]0;never\nended\x07", "never ended"),
        ("cut \x1b[31", "cut"),
        ("\x1bTides [31m]0;", "Tides [31m]0;"),
    ],
)
def test_one_line_takes_whole_escape_sequences_out(text: str, shown: str) -> None:
    assert one_line(text) == shown


def test_one_line_has_any_length_where_none_is_given() -> None:
    assert one_line("\x1b[1m" + "word " * 100, None) == "word " * 99 + "word"


@pytest.mark.parametrize("piece", ["\x1b]", "\x9d", "\x1bP", "\x1b[", "\x1b[1;", "\x9d]", "\x1b]0;a"])
def test_sequences_that_never_end_take_linear_time(piece: str) -> None:
    check_linear(lambda chars: strip_sequences(piece * (chars // len(piece))), 20_000)


SEQUENCES = st.sampled_from(
    (
        "\x1b]0;pwn\x07",
        "\x1b[31m",
        "\x9b",
        "\x1b]",
        "\x1b\\",
        "\r",
        "\n",
        "\x1b(B",
        "\x9d0;",
        "a",
        "ب",
        "\u200c",
        "\u00ad",
    )
)


@given(st.lists(st.one_of(SEQUENCES, ANY_TEXT)))
def test_marked_text_is_the_scrubbed_text_but_for_what_sequences_left(pieces: list[str]) -> None:
    clean, marked = scrub_marked("".join(pieces))
    assert clean == scrub("".join(pieces))
    assert len(marked) == len(clean)
    assert all(mark in (char, "\x7f") for mark, char in zip(marked, clean, strict=True))
