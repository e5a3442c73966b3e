from __future__ import annotations

import io
import json
import os
import re
from typing import TextIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.cli.terminal.terminal import Terminal, is_smart, json_document, json_text, one_line, plain, wants_color
from tests.support.terminals import on_terminal

UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")


class TerminalStream(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b]0;owned\x07title", "title"),
        ("\x1b]52;c;cm0gLXJmIC8=\x1b\\clip", "clip"),
        ("\x1b]8;;http://evil/\x07link\x1b]8;;\x07", "link"),
        ("\x9d0;owned\x9ctitle", "title"),
        ("\x1bPq#0;2;0;0;0\x1b\\sixel", "sixel"),
        ("\x1b_apc\x1b\\x\x1b^pm\x9cy\x1bXsos\x1b\\z", "xyz"),
        ("\x1b[2J\x1b[1;31mred\x1b[0m\x9b5mblink", "redblink"),
        ("\x1bc\x1b(0reset\x1b7", "reset"),
        ("bell\x07back\x08nul\x00del\x7f", "bellbacknuldel"),
        ("over\rwrite", "overwrite"),
        ("dos\r\nline\n", "dos\nline\n"),
        ("tab\tstays", "tab\tstays"),
        ("abc\u202edcba\u2066x\u2069\u200f\u061c", "abcdcbax"),
        ("tag\U000e0041\U000e007fs", "tags"),
        ("\x85\x84next", "next"),
        ("\x1b]0;no end, but text follows", "0;no end, but text follows"),
        ("\x1b", ""),
        ("łódź 日本 🏴 e\u0301", "łódź 日本 🏴 e\u0301"),
    ],
)
def test_what_steers_a_terminal_is_removed_and_text_stays(hostile: str, shown: str) -> None:
    assert plain(hostile) == shown


@given(st.text(st.one_of(st.characters(), st.sampled_from("\x1b\x9b\x9d]P[;\\\x07\x9c0m")), max_size=60))
def test_nothing_unsafe_ever_passes(text: str) -> None:
    assert not UNSAFE.search(plain(text))
    assert json.loads(json_text(text)) == text
    assert json_text(text).isascii()
    assert not UNSAFE.search(json_text(text))
    assert json.loads(json_document(text)) == text
    assert not UNSAFE.search(json_document(text))


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_json_has_not_is_null_and_the_rest_stays(number: float) -> None:
    value = {"hits": [{"score": number, "rank": 1}, (0.5, number)], "top": number, "text": "NaN"}
    shown = {"hits": [{"score": None, "rank": 1}, [0.5, None]], "top": None, "text": "NaN"}
    assert json.loads(json_text(value)) == shown


@given(st.text(st.characters(exclude_categories=("Cc", "Cf", "Cs")), max_size=60))
def test_ordinary_text_is_unchanged(text: str) -> None:
    assert plain(text) == text


@pytest.mark.parametrize("unit", ["\x1b]", "\x9d", "\x1bP", "\x90", "\x1b[", "\x1b[0", "\x9b;", "\x1b("])
def test_a_long_run_of_unfinished_sequences_takes_linear_time(unit: str) -> None:
    def cost(times: int) -> float:
        before = os.times().user
        plain(unit * times)
        return os.times().user - before

    assert cost(200_000) < 2.0  # a quadratic scan would take minutes


def test_one_line_folds_every_kind_of_line_break() -> None:
    assert one_line(" a\nb\r\n\tc\u2028d ") == "a b c d"


def test_colour_follows_the_setting_then_the_environment_then_the_stream() -> None:
    tty, pipe = TerminalStream(), io.StringIO()
    term = {"TERM": "xterm"}
    assert wants_color("auto", tty, term)
    assert not wants_color("auto", pipe, term)
    assert not wants_color("auto", tty, {**term, "NO_COLOR": "1"})
    assert wants_color("auto", tty, {**term, "NO_COLOR": ""})
    assert not wants_color("auto", tty, {"TERM": "dumb"})
    assert not wants_color("auto", tty, {})
    assert wants_color("always", pipe, {"NO_COLOR": "1"})
    assert not wants_color("never", tty, term)
    assert is_smart(tty, term)


def test_answers_go_to_out_and_the_rest_to_err_unless_quiet() -> None:
    out, err = io.StringIO(), io.StringIO()
    terminal = Terminal(out=out, err=err, environ={})
    terminal.write("par\x1b[2Jt ")
    terminal.line("line\x07")
    terminal.json({"a": "\u202eé"})
    terminal.note("note\x1b[0m")
    assert out.getvalue() == 'part line\n{"a":"\\u202e\\u00e9"}\n'
    assert err.getvalue() == "note\n"

    quiet = Terminal(out=out, err=io.StringIO(), environ={}, quiet=True)
    quiet.note("x")
    assert quiet.err.getvalue() == ""  # type: ignore[attr-defined] # a StringIO


def test_paint_needs_colour() -> None:
    err = io.StringIO()
    terminal = Terminal(out=io.StringIO(), err=err, environ={})
    assert terminal.paint("a\x1b[2J", 1) == "a"
    assert (
        Terminal(out=io.StringIO(), err=err, environ={}, color="always").paint("a\x1b[2J", 1, 31)
        == "\x1b[1;31ma\x1b[0m"
    )


def test_a_line_without_a_style_is_sent_without_one() -> None:
    out = io.StringIO()
    terminal = Terminal(out=out, err=out, environ={}, color="always")
    terminal.line("The moon")
    terminal.line("pulls", 1)
    assert out.getvalue() == "The moon\n\x1b[1mpulls\x1b[0m\n"


def test_parts_of_a_text_keep_their_styles_over_the_rows_they_are_folded_into() -> None:
    parts = [("  The moon ", ()), ("pulls  on the sea\n\n  twice a", (1,)), (" day.", ())]

    def write(stream: TextIO) -> None:
        Terminal(out=stream, err=stream, environ={"TERM": "xterm"}).parts(parts)

    assert on_terminal(20, write) == (
        "  The moon \x1b[1mpulls  on\x1b[0m\n  \x1b[1mthe sea\x1b[0m\n\n  \x1b[1mtwice a\x1b[0m day.\n"
    )
