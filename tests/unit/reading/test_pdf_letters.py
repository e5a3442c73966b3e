"""Letters in PDFs as they are read: spaced headings, initials, accents, bullets, and ink that does not show."""

from __future__ import annotations

import pymupdf
import pytest

from asky.reading.pages.letters import compose_accents
from asky.reading.pdf import read
from tests.support.pdf_forms import pdf_page
from tests.unit.reading.test_pdf import typeset


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"(H A R B O U R   R U L E S) Tj", "HARBOUR RULES"),
        (b"6 Tc (HARBOUR RULES) Tj", "HARBOUR RULES"),
        (b"14 Tc (HARBOUR RULES) Tj", "HARBOUR RULES"),
        (b"(A B C D E F G H) Tj", "A B C D E F G H"),
        (b"(X X X X X X) Tj", "X X X X X X"),
    ],
)
def test_letter_spaced_words_are_closed_up(content: bytes, text: str) -> None:
    assert read(typeset(b"BT /F1 14 Tf 72 700 Td " + content + b" ET"), "a.pdf").text == text


def test_a_large_first_letter_belongs_to_its_word() -> None:
    def draw(page: pymupdf.Page) -> None:
        page.insert_text((60, 120), "T", fontsize=36)
        page.insert_text((84, 106), "he harbour is open from six in the morning to ten at")
        page.insert_text((84, 120), "night, and ships may enter at any time with a pilot.")

    text = read(pdf_page(draw), "a.pdf").text
    assert text.startswith("The harbour is open from six in the morning to ten at night, and ships")


@pytest.mark.parametrize(
    ("drawn", "read_as"),
    [
        ("G¨oteborg", "Göteborg"),
        ("cafe´", "café"),
        ("cafe\u0301 au lait", "café au lait"),
        ("na¨ıve", "naïve"),
        ("f´ and 5´", "f´ and 5´"),
    ],
)
def test_accents_stand_on_their_letters(drawn: str, read_as: str) -> None:
    assert compose_accents(drawn) == read_as


def test_ink_that_does_not_show_is_left_out_but_not_over_a_scan() -> None:
    def draw(page: pymupdf.Page) -> None:
        page.insert_text((60, 80), "Seen")
        page.insert_text((60, 120), "white on white", color=(1, 1, 1))
        page.insert_text((60, 160), "without ink", render_mode=3)
        page.draw_rect((60, 240, 300, 260), fill=(0, 0, 0.4))
        page.insert_text((64, 254), "White on blue", color=(1, 1, 1))

    data = pdf_page(draw)
    assert read(data, "a.pdf").text.split("\n\n") == ["Seen", "White on blue"]
    only = pdf_page(lambda page: page.insert_text((60, 160), "text of the scan", render_mode=3))
    assert read(only, "a.pdf").text == "text of the scan"

    def over_scan(page: pymupdf.Page) -> None:
        page.insert_image(page.rect, pixmap=pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 50, 50), 0))
        draw(page)

    assert "without ink" in read(pdf_page(over_scan), "a.pdf").text


def test_layers_that_are_off_and_slanted_water_marks_stand_in_no_sentence() -> None:
    def draw(page: pymupdf.Page) -> None:
        layer = page.parent.add_ocg("off", on=False)
        page.insert_text((60, 80), "in a layer that is off", oc=layer)
        turned = (pymupdf.Point(100, 700), pymupdf.Matrix(45))
        page.insert_text((100, 700), "DRAFT COPY", fontsize=50, morph=turned, color=(0.8, 0.8, 0.8))
        page.insert_text((60, 120), "The harbour is open.")

    assert read(pdf_page(draw), "a.pdf").text == "The harbour is open.\n\nDRAFT COPY"
