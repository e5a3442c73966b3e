from __future__ import annotations

import pytest

from asky.values import Span
from tests.quality.spans import span_recall


def test_span_recall_counts_overlapping_spans_once_and_other_documents_never() -> None:
    found = [("d", Span(0, 6)), ("d", Span(4, 8)), ("e", Span(8, 10))]
    assert span_recall(found, [("d", Span(2, 12))]) == pytest.approx(6 / 10)  # characters 2 to 7


def test_span_recall_weighs_gold_spans_by_their_length() -> None:
    gold = [("d", Span(0, 30)), ("e", Span(0, 10))]
    assert span_recall([("d", Span(0, 100))], gold) == pytest.approx(0.75)


def test_span_recall_refuses_empty_gold() -> None:
    with pytest.raises(ValueError, match="no gold character"):
        span_recall([], [("d", Span(3, 3))])
