"""A prompt that an endpoint cut is noticed from what it reports, and one that it read whole is not."""

from __future__ import annotations

import pytest

from asky.llm.endpoint.request import ModelRequest
from asky.llm.endpoint.truncation import PromptWatch
from asky.llm.port import Message, ModelUsage, ToolCall, ToolSpec
from asky.llm.tokens import TokenCounter, min_tokens

PROSE = (
    "The semidiurnal tide, which Whewell charted in 1836, rises twice a day near Portland because the moon pulls on "
    "the water. "
)
PROSE_TOKENS = 31
"""In cl100k, Llama 3 and Gemma 3; o200k and DeepSeek have 30, Qwen 3.6 has 33, Tekken 32, Llama 2 34, Claude 2 29."""
SYSTEM = Message("system", "Answer from passages. " * 100)
TOOL = ToolSpec("search", "Search the sources.", {"type": "object"})


def ask(*messages: Message, tools: tuple[ToolSpec, ...] = (TOOL,), **more: str) -> ModelRequest:
    return ModelRequest((SYSTEM, *messages), tools, **more)  # type: ignore[arg-type] # the one choice that a test makes


def passages(tokens: int) -> str:
    return PROSE * (tokens // PROSE_TOKENS)


def user(tokens: int) -> Message:
    return Message("user", passages(tokens))


def called(tokens: int, raw: dict[str, str] | None = None) -> tuple[Message, Message]:
    """A call of a tool, and a result of so many tokens."""
    call = Message("assistant", "", (ToolCall("c1", "search", '{"query": "tides"}'),), raw=raw)
    return call, Message("tool", passages(tokens), tool_call_id="c1")


def judge(watch: PromptWatch, asked: ModelRequest, read: int, cached: int = 0) -> str | None:
    return watch.judge("mill", asked, ModelUsage(read, 10, cached_tokens=cached))


@pytest.mark.parametrize(
    ("tokens", "read"),
    [(9_000, 4_096), (9_000, 2_050), (9_000, 2_051), (6_000, 4_095), (4_700, 4_096), (2_500, 2_048), (40_000, 32_768)],
)
def test_a_prompt_that_was_cut_to_a_context_is_noticed(tokens: int, read: int) -> None:
    warning = judge(PromptWatch(), ask(user(tokens), tools=()), read)
    assert warning is not None
    assert f"mill reports {read:,} tokens for a prompt of" in warning
    assert "if it counts right" in warning
    assert "its context is smaller than configured" in warning


def test_a_prompt_that_was_cut_to_any_size_is_noticed_where_that_is_certain() -> None:
    assert "of at least " in (judge(PromptWatch(), ask(user(6_000)), 4_300) or "")
    assert judge(PromptWatch(), ask(user(6_000)), 5_900) is None


@pytest.mark.parametrize("tokens_of_prose", [29, 30, 31, 32, 33, 34])
def test_a_prompt_that_was_read_whole_is_not_suspected_whatever_its_size(tokens_of_prose: int) -> None:
    for times in (40, 61, 150, 333):
        whole = ModelRequest((Message("user", PROSE * times),), ())
        for extra in (0, 1, 7, 1_500):  # of templates and tools
            assert judge(PromptWatch(), whole, tokens_of_prose * times + extra) is None
    for context in (2_048, 4_096, 8_192, 16_384):  # by chance
        whole = ModelRequest((Message("user", PROSE * (context // tokens_of_prose)),), ())
        for read in (context - 1, context, context + 2):
            assert judge(PromptWatch(), whole, read) is None


def test_what_was_read_before_is_part_of_what_there_is_to_read() -> None:
    """A conversation that hits a limit between its calls: neither report is below what the texts have at least."""
    tools = (ToolSpec("search", "x " * 3_000, {"type": "object"}),)
    first = ask(user(1_000), tools=tools)
    watch = PromptWatch()
    assert judge(watch, first, 4_500) is None
    second = ask(user(1_000), *called(3_000), tools=tools)
    assert min_tokens(second.messages) < 4_700
    assert judge(watch, second, 4_700) is not None
    assert judge(PromptWatch(), second, 4_700) is None


def test_a_conversation_that_grows_and_is_read_whole_is_not_suspected() -> None:
    watch = PromptWatch()
    messages, read = [user(500)], 1_900
    for _ in range(12):
        assert judge(watch, ask(*messages), read) is None
        messages += called(1_200)
        read += 1_200 + 30


@pytest.mark.parametrize("change", ["choice", "tools", "compacted", "thoughts", "other"])
def test_what_was_read_before_says_nothing_of_another_prompt(change: str) -> None:
    thoughts = {"role": "assistant", "content": "", "reasoning_content": "Let me think. " * 900}
    begun = (user(1_000), *called(3_000, thoughts if change == "thoughts" else None))
    watch = PromptWatch()
    assert judge(watch, ask(*begun), 9_000) is None
    answer = Message("user", "Answer now.")
    asked = {
        "choice": ask(*begun, answer, tool_choice="none"),
        "tools": ask(*begun, answer, tools=()),
        "compacted": ask(user(1_000), *called(2_900), answer),
        "thoughts": ask(*begun, answer),
        "other": ask(user(4_000), answer),
    }[change]
    assert judge(watch, asked, 4_600) is None


def test_an_endpoint_that_counts_only_what_was_not_in_its_cache_is_not_blamed() -> None:
    watch = PromptWatch()
    assert judge(watch, ask(user(2_000)), 3_000) is None
    longer = (user(2_000), *called(5_000))
    assert judge(watch, ask(*longer), 5_060) is None
    assert judge(watch, ask(*longer, Message("user", "Answer now.")), 12) is None
    assert judge(PromptWatch(), ask(user(2_000)), 90) is None  # all but the question was in its cache
    assert judge(PromptWatch(), ask(user(9_000)), 1_100, cached=1_100) is None


def test_a_cut_that_leaves_nothing_but_the_last_message_is_noticed() -> None:
    watch = PromptWatch()
    assert judge(watch, ask(user(200)), 1_600) is None
    assert judge(watch, ask(user(200), *called(6_000)), 1_700) is not None


def test_an_estimate_is_not_judged_and_does_not_disturb() -> None:
    watch = PromptWatch()
    assert watch.judge("mill", ask(user(9_000)), ModelUsage(2_048, 1, estimated=True)) is None
    assert judge(watch, ask(user(1_000)), 1_500) is None
    assert watch.judge("mill", ask(user(1_000)), ModelUsage(5, 1, estimated=True)) is None
    assert judge(watch, ask(user(1_000), *called(3_000)), 2_050) is not None


def test_a_line_of_one_sign_is_not_taken_for_many_tokens() -> None:
    assert judge(PromptWatch(), ModelRequest((Message("user", "=" * 50_000),), ()), 1_100) is None
    assert TokenCounter().count_text("=" * 50_000) > 1_100
