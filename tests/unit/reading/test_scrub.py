from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from asky.reading.scrub import one_line, scrub, scrub_in_place
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
