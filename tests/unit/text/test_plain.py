"""Inline Markdown as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.text.plain import plain
from tests.support.timing import check_linear


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("A plain sentence.", "A plain sentence."),
        ("See [the guide](http://x.y/a_b) and ![a map](m.png).", "See the guide and a map."),
        ('[a](<http://x y> "title") [b] [c][1]', "a [b] [c][1]"),
        ("<https://x.y/z> <b>bold</b> a<br>b <!-- no -->c", "https://x.y/z bold a b c"),
        ("**Bold** and *it*, __b__ _i_ ***both*** ~~gone~~", "Bold and it, b i both gone"),
        ("snake_case_name 2 * 3 * 4 ~ _", "snake_case_name 2 * 3 * 4 ~ _"),
        ("Use `a * b * c` and `` x ` y `` and `[[Page]]`.", "Use a * b * c and x ` y and [[Page]]."),
        (r"\*not\* \[\[a\]\] 1\. C:\dir \_", r"*not* [[a]] 1. C:\dir _"),
        ("AT&amp;T &lt;b&gt; &copy; &nosuch;", "AT&T <b> © &nosuch;"),
        ("[[Page]] [[Page|an alias]] ![[Other page.png]] ![[icon.svg#icon|20]]", "Page an alias"),
        ("[[Page#Part]] [[#Part|x]] [[#Part]] [[Page#^37066d]] [[a/b/Page]]", "Page > Part x Part Page a/b/Page"),
        ("**[[Page_one_two|*alias*]]**", "*alias*"),
        ("It rains.[^1] It pours[^note].", "It rains. It pours."),
        ("[^1]: In winter three.\n[^b]: See [^1]: it.", "In winter three.\nSee : it."),
        ("Before %%a comment [[x]]%% after", "Before after"),
        ("a ==highlight with **bold** and [[Page]]== b", "a highlight with bold and Page b"),
        ("a == b and c == d; x ==== y", "a == b and c == d; x ==== y"),
        ("The last line ^37066d", "The last line"),
        ("one ^abc\ntwo^3 2^10", "one\ntwo^3 2^10"),
        ("100 % of 50%% and 5%", "100 % of 50%% and 5%"),
        ("*one\ntwo*  \nthree", "one\ntwo\nthree"),
        ("#tag and a - b", "#tag and a - b"),
        ("", ""),
        ("   ", ""),
        ("unclosed **bold [link](x `code [[wiki ==h", "unclosed **bold [link](x `code [[wiki ==h"),
        ("مرحبا **بالعالم** 🎉 [[日本|Japan]]", "مرحبا بالعالم 🎉 Japan"),
    ],
)
def test_markup_becomes_the_text_that_a_reader_sees(markdown: str, text: str) -> None:
    assert plain(markdown) == text


def test_a_long_text_is_read_line_by_line() -> None:
    assert plain("**a** [[b]]\n" * 1_000) == "a b\n" * 999 + "a b"


@given(st.text(alphabet="ab *_`[]()|#^%=~<>&\\!\n-", max_size=60))
def test_no_text_fails_and_words_stay(markdown: str) -> None:
    assert set(plain(markdown)) <= set(markdown) | {" ", ">", "\n"}


@pytest.mark.parametrize("unit", ["[", "[[", "*a ", "==a ", "%%", "`" * 3 + " ", "![[a|", "<a ", "_a_b", "[^", "&#"])
def test_hostile_markup_takes_linear_time(unit: str) -> None:
    check_linear(lambda count: plain(unit * count), 1_000)
