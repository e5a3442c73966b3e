from __future__ import annotations

import base64
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.llm.port import Message, ModelUsage, ToolCall, ToolSpec
from asky.llm.tokens import TokenCounter, count_bound, lower_bound
from tests.support.timing import check_linear

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


def test_no_tokenizer_needs_fewer_tokens_than_there_are_at_least() -> None:
    """The figures are the fewest of nine tokenizers of chat models: cl100k, o200k, Gemma 3, Llama 3 and so on."""
    fewest = {
        "I don't think it's what we're doing, they've said I'm wrong and you'll see he'd won't can't isn't. " * 30: 601,
        "<table> <tr> <td> a </td> <td> b </td> </tr> </table>\n<h1> Title </h1> <b> x </b> <code> y </code>\n"
        * 30: 990,
        "a + b = c; x < y > z >= w <= v != u == t && s || r\n" * 30: 720,
        "Trong bài viết này chúng tôi đề xuất một phương pháp mới để trả lời câu hỏi. " * 20: 361,
        "В этой статье мы предлагаем новый метод ответа на вопросы. " * 20: 221,
        "U.S. e.g. i.e., a.m. Ph.D. etc. et al. (see Fig. 3).\n" * 40: 1080,
    }
    for text, tokens in fewest.items():
        assert tokens / 2 < lower_bound(text) <= tokens, text[:20]


def test_most_of_the_tokens_of_prose_and_code_are_sure() -> None:
    """The figures are those of cl100k."""
    known = {
        "The semidiurnal tide, which Whewell charted in 1836, rises twice a day near Portland. " * 20: 481,
        "def read(self, size: int = -1) -> bytes:\n    return self._file.read(min(size, self.left))\n" * 20: 520,
    }
    for text, tokens in known.items():
        assert 0.65 * tokens < lower_bound(text) < tokens, text[:20]


@pytest.mark.parametrize("text", ["!", "!a", "x", "é", " ", "'", "1", "a'"])
def test_the_least_count_takes_time_in_proportion(text: str) -> None:
    check_linear(lambda times: lower_bound(text * times), 50_000)


def test_a_line_of_one_character_is_not_taken_for_many_tokens_at_least() -> None:
    assert lower_bound("-" * 7000) == 1
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
    counter.learn(messages, (), ModelUsage(1200, 10))
    after = counter.count(messages, ())
    assert 1200 <= after <= 1201 < before
    longer = [*messages, Message("assistant", PROSE * 50)]
    assert 2300 <= counter.count(longer, ()) <= 2401


def test_the_worst_report_counts_and_a_better_one_does_not_undo_it() -> None:
    counter = TokenCounter()
    messages = user(PROSE * 50)
    counter.learn(messages, (), ModelUsage(5000, 10))
    counter.learn(messages, (), ModelUsage(1200, 10))
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
