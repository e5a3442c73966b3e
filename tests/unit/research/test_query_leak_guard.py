"""The guard of a model's search queries, beside private passages."""

from __future__ import annotations

import pytest

from asky.errors import SourceRefused
from asky.research.web.query_leak_guard import QueryLeakGuard

PRIVATE = ["Orla Quillon will move her laboratory to the old harbour warehouse before winter begins next year."]
FIRST_HALF, SECOND_HALF = "Orla Quillon will move her laboratory to the", "old harbour warehouse before winter begins"


def test_an_approved_query_is_remembered_as_the_first_half_of_a_quotation() -> None:
    guard = QueryLeakGuard([])
    with pytest.raises(SourceRefused, match="may reveal"):
        guard.require([FIRST_HALF], "", PRIVATE, [])
    guard.approve([FIRST_HALF])
    with pytest.raises(SourceRefused, match="repeats a private document"):
        guard.require([SECOND_HALF], "", PRIVATE, [])


def test_a_quotation_that_was_approved_does_not_keep_other_queries_from_being_sent() -> None:
    sent: list[str] = []
    guard = QueryLeakGuard(sent)
    guard.approve([f"{FIRST_HALF} {SECOND_HALF}"])
    guard.require(["tides of the north sea", f"{FIRST_HALF} {SECOND_HALF}"], "", PRIVATE, [])
    assert sent[1] == "tides of the north sea"
