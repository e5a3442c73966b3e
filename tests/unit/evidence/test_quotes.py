from __future__ import annotations

import pytest

from asky.evidence.quotes import find_quote
from tests.support.timing import check_linear

TEXT = "He said: “The well-\nknown  co\u00adopera-\ntion of 10–20 cafés — in ﬁve **bold** cities [12] — ended.”"


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("The well-known", "The well-\nknown"),
        ("wellknown cooperation of", "well-\nknown  co\u00adopera-\ntion of"),
        ("  of\t10-20 ", "of 10–20"),
        ("10 - 20 cafe\u0301s", "10–20 cafés"),
        ("cafe\u0301s - in five", "cafés — in ﬁve"),
        ("cafés—in", "cafés — in"),
        ("in five", "in ﬁve"),
        ('He said: "The', "He said: “The"),
        ("bold cities [12]", "bold** cities [12]"),
        ("cities [12] --- ended.", "cities [12] — ended."),
        (TEXT, TEXT),
        ("bold", "bold"),
        ("the well-known", None),
        ("well known", None),
        ("cafésin", None),
        ("coop", None),
        ("cafe", None),
        ("ended. ”", None),
        ("not there", None),
        ("", None),
        (" \n", None),
        ("—", None),
    ],
)
def test_a_quotation_is_found_word_for_word_whatever_its_typography(quote: str, found: str | None) -> None:
    span = find_quote(quote, TEXT)
    assert (None if span is None else TEXT[span.start : span.end]) == found


def test_case_counts_unless_told_otherwise() -> None:
    assert find_quote("THE STRASSE", "the Straße") is None
    span = find_quote("THE STRASSE", "on the Straße now", ignore_case=True)
    assert span is not None
    assert (span.start, span.end) == (3, 13)


def test_the_first_occurrence_is_given() -> None:
    span = find_quote("a b", "ab a bc a b a b")
    assert span is not None
    assert span.start == 8


@pytest.mark.parametrize(
    ("quote", "end", "text"),
    [("a", "", "aa"), ("a ", "b", "a a "), ("- ", "", "- - "), ("ﷺ", "", "ﷺﷺ"), ("a\u0301", "b", "a\u0301" * 3)],
)
def test_hostile_quotations_and_texts_take_linear_time(quote: str, end: str, text: str) -> None:
    check_linear(lambda times: find_quote(quote * times + end, text * times, ignore_case=True), 1_000)
