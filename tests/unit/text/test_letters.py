"""Letters as a reader takes them."""

from __future__ import annotations

import pytest

from asky.text.letters import fold, with_usual_characters


@pytest.mark.parametrize(
    "spelling",
    [
        "quillonbrook",
        "Quillonbrook",
        "ＱＵＩＬＬＯＮＢＲＯＯＫ",
        "𝐐𝐮𝐢𝐥𝐥𝐨𝐧𝐛𝐫𝐨𝐨𝐤",
        "Quíllönbrøok",
        "Qui\u0301llonbroo\u0338k",
        "Quillоnbrооk",  # Cyrillic o
        "Quιllοnbrook",  # Greek iota and omicron
        "Quillon\u00adbrook",
        "Qu\u200billonbrook",
        "Quıllonbrook",
    ],
)
def test_spellings_that_look_alike_are_equal(spelling: str) -> None:
    assert fold(spelling) == "quillonbrook"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("tides 🌊🌊 of the moon ☃", "tides  of the moon "),
        ("ti☃des", "tides"),
        ("𝐦ａｐ of ﬁords", "map of fiords"),
        ("mа\u0440 of Москва", "map of Москва"),  # Cyrillic a and p among Latin letters
        ("t\u0336i\u0336des cafe\u0301", "tides café"),
        ("م\u200cی", "می"),
        ("½ of x² ≠ y", "1/2 of x2  y"),
        ("SIM-карта, α-helix, हिन्दी, “C++” – 5 €", "SIM-карта, α-helix, हिन्दी, “C++” – 5 €"),
    ],
)
def test_only_letters_digits_and_usual_punctuation_stay(text: str, kept: str) -> None:
    assert with_usual_characters(text) == kept


def test_characters_that_were_allowed_stay_as_they_are() -> None:
    assert with_usual_characters("⌘ K ☃", also="what does ⌘ K do") == "⌘ K "
