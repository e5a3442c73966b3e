"""Bullets and signs of fonts of pictures in PDFs."""

from __future__ import annotations

import pytest

from asky.reading.pdf import read
from tests.support.pdf_forms import pdf_of_signs


@pytest.mark.parametrize(
    ("font", "code", "shown"),
    [
        ("Wingdings-Regular", 0xF0A7, "-"),
        ("ABCDEF+Wingdings", 0xF0D8, "-"),
        ("SymbolMT", 0xF0B7, "-"),
        ("Wingdings-Regular", 0xF04A, "☺"),
        ("Wingdings-Regular", 0xF0FE, "☑"),
        ("Wingdings-Regular", 0xA8, "☐"),
        ("Wingdings2", 0xF050, "✓"),
        ("Webdings", 0xF03E, "-"),
        ("Custom", 0xF0B7, "-"),
    ],
)
def test_a_sign_before_an_item_is_a_bullet_or_what_it_shows(font: str, code: int, shown: str) -> None:
    document = read(pdf_of_signs([("", code, "Life jackets"), ("", code, "Flares")], font), "a.pdf")
    assert document.text == f"{shown} Life jackets\n{shown} Flares"


def test_signs_within_a_line_are_read_as_what_they_show() -> None:
    lines = [("Paid:", 0xF0FC, "in May"), ("North", 0xF0E0, "South"), ("Nothing", 0xF03E, "said")]
    text = read(pdf_of_signs(lines, "Wingdings-Regular"), "a.pdf").text
    assert [" ".join(line.split()) for line in text.splitlines() if line] == [
        "Paid: ✓ in May",
        "North → South",
        "Nothing said",
    ]


def test_greek_letters_of_symbol_are_letters() -> None:
    text = read(pdf_of_signs([("The angle", 0xF061, "is small")], "SymbolMT"), "a.pdf").text
    assert " ".join(text.split()) == "The angle α is small"
