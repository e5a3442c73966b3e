"""Raised and lowered text of PDFs keeps its meaning."""

from __future__ import annotations

import pymupdf
import pytest

from asky.reading.pdf import read


def printed(paragraph: str) -> str:
    """Return the text read from a PDF of one paragraph with `<sup>` and `<sub>`."""
    document = pymupdf.open()
    document.new_page().insert_htmlbox(pymupdf.Rect(50, 50, 550, 300), f"<p>{paragraph}</p>")
    return read(document.tobytes(), "a.pdf").text


def typeset(*pieces: tuple[str, float, float]) -> str:
    """Return the text read from a PDF of one line; each piece has its text, its size and its rise in points."""
    document = pymupdf.open()
    page = document.new_page()
    x = 60.0
    for text, size, rise in pieces:
        page.insert_text((x, 100 - rise), text, fontsize=size, fontname="tiro")
        x += pymupdf.get_text_length(text, "tiro", size)
    return read(document.tobytes(), "a.pdf").text


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("There are 10<sup>6.6</sup> NEOs.", "There are 10^6.6 NEOs."),
        ("It is 3.5 × 10<sup>−13</sup> at most.", "It is 3.5 × 10^-13 at most."),
        ("A plot of 5 m<sup>2</sup> and 7 km<sup>2</sup>.", "A plot of 5 m^2 and 7 km^2."),
        ("It moves at 5 km s<sup>−1</sup> or 3 pixel<sup>−1</sup>.", "It moves at 5 km s^-1 or 3 pixel^-1."),
        ("With R<sup>2</sup> and χ<sup>2</sup> of 3.", "With R^2 and χ^2 of 3."),
        ("All of 2<sup>n</sup> or (1 + x)<sup>n−1</sup> terms.", "All of 2^n or (1 + x)^(n−1) terms."),
        ("And sin<sup>2</sup> x + cos<sup>2</sup> x.", "And sin^2 x + cos^2 x."),
        ("So x<sub>i</sub><sup>2</sup> grows.", "So xi^2 grows."),
        ("The ion SO<sub>4</sub><sup>2−</sup> is here.", "The ion SO4^2− is here."),
        ("So x<sup>2</sup>5 is odd.", "So x^2 5 is odd."),
        ("It is 101<sub>2</sub> in base 2.", "It is 101_2 in base 2."),
        ("Then log<sub>2</sub>8 is 3.", "Then log_2 8 is 3."),
        ("Add 3<sup>1</sup>/<sub>2</sub> cups of it.", "Add 3 1/2 cups of it."),
    ],
)
def test_an_exponent_has_a_sign(written: str, expected: str) -> None:
    assert printed(written) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("Emissions of CO<sub>2</sub> and H<sub>2</sub>SO<sub>4</sub> fell.", "Emissions of CO2 and H2SO4 fell."),
        ("The 2<sup>nd</sup> and the 19<sup>e</sup> of Brand<sup>®</sup>.", "The 2nd and the 19e of Brand®."),
        ("Much Ca<sup>2+</sup> and Na<sup>+</sup> at 20<sup>°</sup>C.", "Much Ca2+ and Na+ at 20°C."),
        ("A value of 12.5<sup>a</sup> is high.", "A value of 12.5a is high."),
        ("Of <sup>14</sup>C and more.", "Of 14C and more."),
        ("This is the evidence.<sup>3</sup> We go on.", "This is the evidence. We go on."),
        ("It was so in 1998<sup>4</sup> and later.", "It was so in 1998 and later."),
        ("It rose by 12.<sup>5</sup> Then it fell.", "It rose by 12. Then it fell."),
        ("As others found [66]<sup>3</sup>, it holds.", "As others found [66], it holds."),
        ("It is the law<sup>5</sup> and some of<sup>6</sup> it.", "It is the law5 and some of6 it."),
        ("Set in L<sup>A</sup>TEX by us.", "Set in LATEX by us."),
    ],
)
def test_what_is_no_exponent_has_none(written: str, expected: str) -> None:
    assert printed(written) == expected


def test_size_and_base_line_both_count() -> None:
    assert typeset(("There are 10", 10, 0), ("6.6", 7, 3.6), (" of them.", 10, 0)) == "There are 10^6.6 of them."
    assert typeset(("There are 10", 10, 0), ("6.6", 7, 0), (" of them.", 10, 0)) == "There are 106.6 of them."
    assert typeset(("There are 10", 10, 0), ("6.6", 10, 0.5), (" of them.", 10, 0)) == "There are 106.6 of them."


def test_a_raised_number_at_the_start_of_a_line_hides_no_exponent_behind_it() -> None:
    line = (("3", 6, 3), ("Of 10", 9, 0), ("5", 6, 3), (" stars some are seen.", 9, 0))
    assert typeset(*line).endswith("Of 10^5 stars some are seen.")
