from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.text.scrub import one_line, scrub, scrub_in_place, scrub_marked, strip_sequences
from tests.support.files import FORBIDDEN

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()))


@given(ANY_TEXT)
def test_scrubbed_text_holds_nothing_forbidden_and_scrubbing_again_changes_nothing(text: str) -> None:
    clean = scrub(text)
    assert FORBIDDEN.search(clean) is None
    assert scrub(clean) == clean
    clean.encode("utf-8")


@given(st.text(alphabet=st.characters(exclude_categories=("Cs", "Cc"))))
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert scrub(FORBIDDEN.sub("", text)) == FORBIDDEN.sub("", text)


def test_nul_and_lone_surrogates_become_one_replacement_each() -> None:
    assert scrub("a\x00b\ud800c\udfff") == "a\ufffdb\ufffdc\ufffd"


def test_terminal_controls_bidi_controls_and_tag_characters_are_removed() -> None:
    assert scrub("a\x1b[2J\x07\x9b31m\u202eb\u2066c\u2069\U000e0041d") == "a[2J31mbcd"


def test_every_line_end_becomes_lf_and_tab_and_form_feed_stay() -> None:
    assert scrub("a\r\nb\rc\x0bd\x85e\n\tf\f") == "a\nb\nc\nd\ne\n\tf\f"


def test_marks_that_languages_need_stay() -> None:
    text = "\u200fשלום\u200e می\u200cخواهم naïve 👩\u200d🔬"
    assert scrub(text) == text


@given(ANY_TEXT)
def test_scrubbing_in_place_moves_no_character(text: str) -> None:
    clean = scrub_in_place(text)
    assert len(clean) == len(text)
    assert all(new == old or FORBIDDEN.match(old) for new, old in zip(clean, text, strict=True))
    clean.encode("utf-8")


def test_scrubbing_in_place_keeps_line_ends() -> None:
    assert scrub_in_place("a\r\nb\x00\x1b[2J\u202ec\ud800") == "a\r\nb\ufffd [2J c\ufffd"


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


def test_sequences_that_never_end_take_a_bounded_time() -> None:
    for piece in ("\x1b]", "\x9d", "\x1bP", "\x1b[", "\x1b[1;", "\x9d]", "\x1b]0;a"):
        started = time.process_time()
        strip_sequences(piece * (200_000 // len(piece)))
        assert time.process_time() - started < 2  # measured: at most 0.1; quadratic time would be minutes


SEQUENCES = st.sampled_from(
    ("\x1b]0;pwn\x07", "\x1b[31m", "\x9b", "\x1b]", "\x1b\\", "\r", "\n", "\x1b(B", "\x9d0;", "a")
)


@given(st.lists(st.one_of(SEQUENCES, ANY_TEXT)))
def test_marked_text_is_the_scrubbed_text_but_for_what_sequences_left(pieces: list[str]) -> None:
    clean, marked = scrub_marked("".join(pieces))
    assert clean == scrub("".join(pieces))
    assert len(marked) == len(clean)
    assert all(mark in (char, "\x7f") for mark, char in zip(marked, clean, strict=True))
