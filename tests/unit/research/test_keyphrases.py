from __future__ import annotations

import pytest

from asky.research.shortlist.keyphrases import MAX_WORDS, keyphrases

PROSE = (
    "Serverless functions start slowly because of library loading. Library loading dominates the cold start of "
    "serverless functions, and most of the loaded libraries are never used. "
)


def test_the_phrases_are_what_the_text_is_about() -> None:
    phrases = [phrase.lower() for phrase in keyphrases(PROSE * 3, limit=5)]

    assert len(phrases) == 5
    assert any("library loading" in phrase for phrase in phrases)
    assert all(len(phrase.split()) <= 2 for phrase in phrases)


@pytest.mark.parametrize("text", ["", "   ", "12 34", "?! ...", "x" * 100_000])
def test_text_without_words_has_no_phrases(text: str) -> None:
    assert keyphrases(text, limit=5) == ()


def test_no_phrase_is_wanted() -> None:
    assert keyphrases(PROSE, limit=0) == ()


def test_only_the_beginning_of_a_long_text_is_read() -> None:
    beginning = PROSE * (MAX_WORDS // len(PROSE.split()) + 1)

    assert keyphrases(beginning + "Zebras graze. " * 3000, limit=20) == keyphrases(beginning, limit=20)
