from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.text.inline import inline_text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("**Bold** and *emphasis* and ***both***", "Bold and emphasis and both"),
        ("__bold__ _emphasis_ ~~gone~~ ==marked==", "bold emphasis gone marked"),
        ("[a link](https://x.test/a_(b)) here", "a link here"),
        ("![a picture](a.png) and ![[b.png|100]]", "a picture and 100"),
        ("[[Old mill]] and [[Old mill|the mill]]", "Old mill and the mill"),
        ("[[Old mill#History]]", "Old mill › History"),
        ("<https://x.test/a>", "https://x.test/a"),
        ("run `mill --start` now", "run mill --start now"),
        ("`**not bold**` and `snake_case`", "**not bold** and snake_case"),
        ("a claim[^1] and another[^note]", "a claim and another"),
        ("visible %%hidden%% text <!-- too -->", "visible  text "),
        ("a paragraph ^a1b2c3", "a paragraph"),
        (r"2 \* 3 \[x\]", "2 * 3 [x]"),
        ("snake_case and 2 * 3 * 4 and a_b_c", "snake_case and 2 * 3 * 4 and a_b_c"),
        ("plain text", "plain text"),
        ("**bold *and* more**", "bold and more"),
        ("5 ** 2 and x ** y", "5 ** 2 and x ** y"),
    ],
)
def test_inline_markup_becomes_the_text_that_a_reader_sees(source: str, text: str) -> None:
    assert inline_text(source) == text


@given(st.text(alphabet="*_`[]()|#!\\^=~% ab\n", max_size=60))
def test_no_text_is_too_odd(source: str) -> None:
    shown = inline_text(source)
    assert len(shown) <= len(source) + 2 * source.count("#")
