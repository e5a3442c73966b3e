"""Tokens and cost of a call, whatever its endpoint reports."""

from __future__ import annotations

from typing import Any

import pytest

from asky.llm.endpoint.endpoint import Prices
from asky.llm.endpoint.reported_usage import usage_of
from asky.llm.port import Message, ModelUsage

ASKED = (Message("user", "When did the mill by the river burn? " * 10),)


def usage(reported: Any, prices: Prices | None = None) -> ModelUsage:
    return usage_of(reported, prices, messages=ASKED, tools=(), generated="It burned in 1911.")


def test_what_is_reported_counts() -> None:
    reported = {"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 60}}
    assert usage(reported, Prices(2.0, 10.0, 0.5)) == ModelUsage(100, 5, (40 * 2 + 60 * 0.5 + 5 * 10) / 1e6, False, 60)
    assert usage(reported, Prices(2.0, 10.0)).cost_usd == pytest.approx((100 * 2 + 5 * 10) / 1e6)
    assert usage(reported).cost_usd is None
    assert usage(reported, Prices(0, 0)).cost_usd == 0.0


def test_tokens_of_thinking_that_only_the_total_holds_are_paid() -> None:
    assert usage({"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 400}).completion_tokens == 300
    assert usage({"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 7}).completion_tokens == 5


@pytest.mark.parametrize(
    "reported",
    [
        None,
        {},
        {"prompt_tokens": None},
        {"prompt_tokens": "12", "completion_tokens": [1]},
        {"prompt_tokens": -3, "completion_tokens": True},
        {"prompt_tokens": 0, "completion_tokens": 0},
        {"prompt_tokens": float("nan"), "completion_tokens": float("inf")},
    ],
)
def test_what_is_not_reported_is_estimated_and_says_so(reported: Any) -> None:
    found = usage(reported, Prices(1, 1))
    assert found.estimated
    assert 80 <= found.prompt_tokens <= 400
    assert found.cost_usd
    assert found.completion_tokens < 50


def test_more_cannot_be_cached_than_was_sent() -> None:
    assert usage({"prompt_tokens": 10, "completion_tokens": 1, "prompt_cache_hit_tokens": 90}).cached_tokens == 10
