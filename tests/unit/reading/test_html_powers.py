"""The exponents of a web page."""

from __future__ import annotations

import pytest

from asky.reading.html.page import read
from asky.reading.html.powers import with_powers
from tests.support.timing import check_linear


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("There are 10<sup>6.6</sup> of them", "There are 10^6.6 of them"),
        ("There are <b>10</b><sup class='e'>&minus;3</sup> of them", "There are 10^-3 of them"),
        ("A plot of 5 m<sup>2</sup>, with <i>R</i><sup>2</sup> of 1", "A plot of 5 m^2, with R^2 of 1"),
        ("So <i>x<sub>i</sub></i><sup>2</sup> and x<sub>i</sub><sup>2</sup>", "So xi^2 and xi^2"),
        ("All of 2<sup><i>n</i>−1</sup> terms", "All of 2^(n−1) terms"),
        ("So a &lt; b<sup>2</sup> &amp; c", "So a < b^2 & c"),
        ("Of 101<sub>2</sub> and log<sub>2</sub>8", "Of 101_2 and log_2 8"),
        ("Much CO<sub>2</sub> and Ca<sup>2+</sup> on the 2<sup>nd</sup>", "Much CO2 and Ca2+ on the 2nd"),
        ("A fact.<sup>3</sup> Another<sup>4</sup> fact", "A fact.3 Another4 fact"),
        ("An age<sup>a</sup> of 20.02 (6.16)<sup>b</sup>", "An agea of 20.02 (6.16)b"),
    ],
)
def test_a_superscript_that_is_an_exponent_has_a_sign(written: str, expected: str) -> None:
    page = f"<article><h1>On numbers</h1><p>{written}.</p><p>{'More text is here. ' * 20}</p></article>"
    assert f"{expected}.\n" in read(page.encode(), "a.html").text
    assert f"{expected}." in read(f"<p>{written}.<p>And so on.".encode(), "a.html").text


def test_an_exponent_has_its_base_in_the_same_block() -> None:
    assert "^" not in with_powers("<p>In all 10</p><p><sup>6</sup> is the note.</p>")
    assert "^" not in with_powers("<td>10</td><td><sup>6</sup></td>")


@pytest.mark.parametrize(
    "piece", ["10<sup>6</sup>", "<sup>", "<sup>1</sup>", "<sub><i>", "<sup <", "&amp;<sup>2</sup>"]
)
def test_the_time_is_linear_in_the_page(piece: str) -> None:
    check_linear(lambda chars: with_powers("<sup>1</sup>" + piece * (chars // len(piece))), 15_000)
