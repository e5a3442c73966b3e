"""Results that fit, whatever they hold."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asky.mcp.paging import MAX_TOKENS, count_tokens, cut_text, page_of, shortened, text_page, within_limit

LONG = "the tide rises twice a day " * 400
RARE = "\u0e81\u0e82\u0e84" * 3_000


def test_pages_of_a_list_follow_each_other() -> None:
    everything: dict[str, Any] = {"items": list(range(7))}
    seen: list[int] = []
    offset: int | None = 0
    while offset is not None:
        rest = {"items": everything["items"][offset:][:4]}
        page = page_of(rest, "items", offset=offset, limit=3)
        seen += page["items"]
        offset = page["next_offset"]
    assert seen == everything["items"]


def test_a_page_of_long_items_has_fewer_but_one_at_least() -> None:
    page = page_of({"items": [LONG] * 40}, "items", offset=0, limit=30)
    assert count_tokens(page) <= MAX_TOKENS
    assert page["next_offset"] == len(page["items"]) >= 1
    assert len(page_of({"items": [LONG * 20] * 2}, "items", offset=5, limit=2)["items"]) == 1


@pytest.mark.parametrize("text", ["", "short", LONG * 20, RARE, "a" * 100_000, "\n" * 30_000, '"\\' * 10_000])
def test_parts_of_a_text_make_the_text(text: str) -> None:
    read, offset = "", 0
    while offset is not None:
        page = text_page({"text": text}, "text", offset=offset)
        assert count_tokens(page) <= MAX_TOKENS
        read, offset = read + page["text"], page["next_offset"]
    assert read == text


def test_lists_are_shortened_in_their_order_and_that_is_said() -> None:
    value = {"rejected": [LONG] * 3, "claims": [LONG] * 30, "answer": "yes"}
    kept = shortened(value, ("rejected", "claims"))
    assert count_tokens({**kept, "left_out": {}}) <= MAX_TOKENS
    assert kept["rejected"] == []
    assert kept["left_out"] == {"rejected": 3, "claims": 30 - len(kept["claims"])}
    assert 0 < len(kept["claims"]) < 30
    assert shortened({"claims": ["x"]}, ("claims",)) == {"claims": ["x"]}


@settings(max_examples=30)
@given(st.lists(st.text(max_size=40), max_size=5), st.integers(1, 4_000))
def test_nothing_is_over_the_limit(texts: list[str], times: int) -> None:
    value = {f"key{number}": text * times for number, text in enumerate(texts)}
    assert count_tokens(within_limit(value)) <= MAX_TOKENS + 100  # for what is said to be left out
    assert within_limit({"answer": "short"}) == {"answer": "short"}


def test_a_cut_loses_at_most_a_tenth() -> None:
    assert count_tokens(cut_text(LONG * 20, 10_000)) > 8_000
