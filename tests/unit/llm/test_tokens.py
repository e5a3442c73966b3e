from __future__ import annotations

import base64
import json
import random

from hypothesis import given
from hypothesis import strategies as st

from asky.llm.port import Message, ModelUsage, ToolCall, ToolSpec
from asky.llm.tokens import TokenCounter, count_bound, lower_bound

PROSE = "The sea rises and falls twice a day, because the moon pulls on the water and the earth turns below it. "
TOOL = ToolSpec("search", "Search the sources.", {"type": "object", "properties": {"query": {"type": "string"}}})


def user(text: str) -> list[Message]:
    return [Message("user", text)]


@given(st.text())
def test_the_bound_covers_every_byte_of_any_text(text: str) -> None:
    assert count_bound(user(text), ()) >= len(text.encode("utf-8", "surrogatepass"))


def test_the_bound_covers_tools_calls_and_what_an_endpoint_wants_back() -> None:
    call = ToolCall("c1", "search", json.dumps({"query": "x" * 500}))
    raw = {"role": "assistant", "content": None, "reasoning_content": "y" * 700}
    base = count_bound(user("?"), ())
    assert count_bound(user("?"), [TOOL]) > base + len(json.dumps(TOOL.parameters))
    assert count_bound([*user("?"), Message("assistant", "", (call,))], ()) > base + 500
    assert count_bound([*user("?"), Message("assistant", "", raw=raw)], ()) > base + 700


def test_a_count_is_between_the_bounds() -> None:
    """For prose, tokens of cl100k and o200k lie between a fifth and a quarter of the characters."""
    text = PROSE * 50
    count = TokenCounter().count(user(text), ())
    assert lower_bound(text) < len(text) / 4.3 < count < count_bound(user(text), ()) / 2


def test_text_that_tokenizers_cut_into_small_pieces_is_counted_high_enough() -> None:
    """The figures are those of cl100k."""
    noise = random.Random(1).randbytes(3000)
    known = {
        "我们在本文中提出了一种新的方法来回答问题，并且引用来源。" * 20: 500,
        "इस लेख में हम प्रश्नों के उत्तर देने की एक नई विधि प्रस्तुत करते हैं। " * 20: 1281,
        "በዚህ ጽሑፍ ውስጥ አዲስ ዘዴ እናቀርባለን። " * 20: 1321,
        "😀🎉👩‍👩‍👧🇩🇪❤️" * 50: 1350,
        noise.hex()[:2000]: 1105,
        "\n" * 2000: 63,
        '{"a": [1, 2, 3], "b": {"c": null}}\n' * 50: 1000,
        "| a | b |\n|---|---|\n" * 40: 400,
    }
    for text, tokens in known.items():
        assert TokenCounter().count_text(text) >= tokens, text[:20]
        assert lower_bound(text) <= tokens, text[:20]
    encoded = base64.b64encode(noise).decode()
    assert count_bound(user(encoded), ()) >= 2857


def test_a_line_of_one_character_is_not_taken_for_many_tokens_at_least() -> None:
    assert lower_bound("-" * 7000) == 0
    assert lower_bound(PROSE * 70) > len(PROSE * 70) // 8


def test_bytes_decide_whether_a_small_prompt_fits_and_a_count_whether_a_larger_one_does() -> None:
    counter = TokenCounter()
    text = PROSE * 100
    assert counter.fits(user(text), (), count_bound(user(text), ()))
    assert counter.fits(user(text), (), len(text) // 2)
    assert not counter.fits(user(text), (), len(text) // 5)


def test_reports_of_the_endpoint_correct_the_count() -> None:
    counter = TokenCounter()
    messages = user(PROSE * 50)
    before = counter.count(messages, ())
    counter.learn(messages, (), ModelUsage(1000, 10))
    after = counter.count(messages, ())
    assert 1000 <= after <= 1001 < before
    longer = [*messages, Message("assistant", PROSE * 50)]
    assert 1900 <= counter.count(longer, ()) <= 2001


def test_the_worst_report_counts_and_a_better_one_does_not_undo_it() -> None:
    counter = TokenCounter()
    messages = user(PROSE * 50)
    counter.learn(messages, (), ModelUsage(5000, 10))
    counter.learn(messages, (), ModelUsage(1000, 10))
    assert counter.count(messages, ()) >= 5000


def test_a_report_that_cannot_be_true_is_not_learnt_from() -> None:
    counter = TokenCounter()
    messages = user(PROSE * 50)
    before = counter.count(messages, ())
    counter.learn(messages, (), ModelUsage(100, 10))  # a prompt that was cut silently
    counter.learn(messages, (), ModelUsage(0, 0))
    counter.learn(messages, (), ModelUsage(900, 10, estimated=True))
    assert counter.count(messages, ()) == before


@given(st.lists(st.tuples(st.text(max_size=200), st.integers(-5, 10_000)), max_size=8))
def test_no_report_makes_a_count_fall_below_the_lower_bound(reports: list[tuple[str, int]]) -> None:
    counter = TokenCounter()
    for text, tokens in reports:
        counter.learn(user(text), (), ModelUsage(tokens, 1))
        assert counter.count(user(text), ()) >= lower_bound(text)
        assert counter.count_text(text) >= (1 if text else 0)
