from __future__ import annotations

from typing import Any

import pytest

from asky.evidence.marks import shown_verdict
from asky.evidence.quotes import Quotable, find_quote, parts_of, quoted_spans
from asky.values import Span
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


def claim(quotation: dict[str, int] | None, verdict: str = "supported") -> dict[str, Any]:
    return {"verdict": verdict, "checks": {"quotation": quotation}}


def place(n: int, start: int, end: int) -> dict[str, int]:
    return {"n": n, "start": start, "end": end}


def test_quotations_from_a_passage_are_merged_and_stand_in_order() -> None:
    claims = [claim(place(1, *each)) for each in ((40, 50), (0, 10), (5, 20), (20, 25), (6, 7))]
    claims += [claim(place(2, 60, 70)), claim(None), {"verdict": "uncited", "checks": {}}]
    assert quoted_spans(claims, 1, 100) == [Span(0, 25), Span(40, 50)]
    assert quoted_spans(claims, 2, 100) == [Span(60, 70)]
    assert quoted_spans(claims, 3, 100) == []


@pytest.mark.parametrize("bad", [(-1, 5), (5, 5), (7, 3), (90, 101), (200, 300)])
def test_a_quotation_outside_of_its_passage_is_left_out(bad: tuple[int, int]) -> None:
    assert quoted_spans([claim(place(1, *bad))], 1, 100) == []


def test_a_text_is_cut_at_its_quotations() -> None:
    assert list(parts_of("abcdef", [Span(0, 1), Span(2, 4)])) == [
        ("a", True), ("b", False), ("cd", True), ("ef", False),
    ]  # fmt: skip
    assert list(parts_of("abc", [])) == [("abc", False)]
    assert list(parts_of("abc", [Span(1, 3)])) == [("a", False), ("bc", True)]
    assert list(parts_of("", [])) == []


@pytest.mark.parametrize(
    ("verdict", "quotation", "shown"),
    [
        ("supported", place(1, 0, 5), "quoted"),
        ("supported", None, "supported"),
        ("contradicted", place(1, 0, 5), "contradicted"),
        ("unsupported", None, "unsupported"),
    ],
)
def test_only_a_supported_claim_is_called_quoted(verdict: str, quotation: dict[str, int] | None, shown: str) -> None:
    assert shown_verdict(claim(quotation, verdict)) == shown


def test_a_claim_of_an_older_answer_has_its_verdict() -> None:
    assert shown_verdict({"verdict": "supported", "checks": {}}) == "supported"


def test_a_row_of_a_table_is_found_by_its_cells_with_the_names_of_their_columns() -> None:
    table = "Mills.\n\n| | Built | Wheel |\n|---|---|---|\n| Clare | 1820 | *over*shot |\n| Ennis | 1790 | |\n"
    found = find_quote("Clare; Built: 1820; Wheel: overshot", table)
    assert found is not None
    assert table[found.start : found.end] == "| Clare | 1820 | *over*shot |"
    assert find_quote("Built: 1790", table) is not None
    assert find_quote("Clare; Built: 1790", table) is None
    assert find_quote("Wheel: 1820", table) is None


def test_a_row_whose_head_was_cut_off_is_found_with_the_names_of_its_columns() -> None:
    passage = Quotable("Clare | 1820\nEnnis | 1790\n", columns="Mill | Built")
    assert passage.find("Mill: Ennis; Built: 1790") == Span(13, 25)
    assert passage.find("Mill: Ennis; Built: 1820") is None
