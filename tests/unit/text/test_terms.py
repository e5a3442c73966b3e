from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.text.terms import STOP_WORDS, content_terms, stem, words
from tests.support.timing import check_linear


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't use State-of-the-art!", ["don't", "use", "state-of-the-art"]),
        ("typographic don’t, non\u2011breaking", ["typographic", "don't", "non-breaking"]),
        ("1,400 km at 3.5% of v1.2.3", ["1,400", "km", "at", "3.5%", "of", "v1.2.3"]),
        ("ends with 12. Then, 13, too", ["ends", "with", "12", "then", "13", "too"]),
        ("C++ and C# and issue#12", ["c++", "and", "c#", "and", "issue", "12"]),
        ("max_bytes of os.path", ["max", "bytes", "of", "os", "path"]),
        ("co\u00adoperate ﬁne Straße", ["cooperate", "fine", "strasse"]),
        ("हिन्दी में e\u0301te\u0301", ["हिन्दी", "में", "été"]),
        ("東京タワー は", ["東京タワー", "は"]),
        ("-- '' . , % _ \u0000 \ud800", []),
        ("", []),
    ],
)
def test_words_are_cut_normalised_and_casefolded(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The dogs were running to the dog", ["dog", "run", "dog"]),
        ("O’Neil's state-of-the-art covid-19 test", ["o'neil", "state", "art", "covid", "19", "test"]),
        ("1,400 people, 1,2,3 and 10-20%", ["1400", "peopl", "1", "2", "3", "10", "20"]),
        ("東京タワーX1", ["東京", "京タ", "タワ", "ワー", "x1"]),
        ("日", ["日"]),
        ("what is it not?", []),
    ],
)
def test_content_terms_are_stems_without_stop_words_in_order_with_duplicates(text: str, expected: list[str]) -> None:
    assert content_terms(text) == expected


def test_stop_words_are_in_the_form_that_words_gives() -> None:
    assert all(words(stop) == [stop] for stop in STOP_WORDS)


def test_a_stem_is_the_same_from_every_thread() -> None:
    vocabulary = [f"{prefix}{suffix}" for prefix in ("relat", "organis", "nation") for suffix in ("ing", "ed", "ally")]
    alone = [stem(word) for word in vocabulary]
    with ThreadPoolExecutor(8) as pool:
        assert all(result == alone for result in pool.map(lambda _: [stem(word) for word in vocabulary], range(50)))


@pytest.mark.parametrize("unit", ["a", "a-", "1,", "1,1", "y", "\u0301", "a'", "東", "c++", "a\u0301", "+#%'"])
def test_hostile_text_takes_linear_time(unit: str) -> None:
    check_linear(lambda chars: content_terms(unit * (chars // len(unit))), 5_000)


@given(st.text())
def test_every_word_is_casefolded_and_not_empty(text: str) -> None:
    assert all(word and word == word.casefold() for word in words(text))


@given(st.lists(st.text("abcdefgh", min_size=1)))
def test_words_that_spaces_separate_come_back_as_they_are(plain: list[str]) -> None:
    assert words(" ".join(plain)) == plain
