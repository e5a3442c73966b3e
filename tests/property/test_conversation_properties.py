"""Long conversations with much looked up: no prompt outgrows the model, and no question gets lost."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import anyio
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from asky.errors import ContextOverflow
from asky.llm.port import Message, ModelUsage, Reply, ToolSpec
from asky.llm.tokens import TokenCounter
from asky.llm.tools import Tool, ToolRegistry, ToolResult
from asky.research.writing.history import earlier_messages, fit_earlier, session_messages
from asky.research.writing.tool_loop import LoopSettings, run_loop
from asky.research.writing.transcript import Transcript
from asky.storage.sessions import StoredMessage
from asky.values import Answer, Usage
from tests.support.examples import examples
from tests.support.models import ScriptedModel, calls, tool_call

TURNS = examples(50)
RESULT_TOKENS = 20_000
LOOKUP = ToolSpec("lookup", "Look it up.", {"type": "object", "properties": {"q": {"type": "string"}}})
WORDS = ("tide", "moon", "the", "pull", "gravitational", "7,319", "sea-level", "of", "Æsir", "[P7f3a]", "\n\n")
_TOKEN = re.compile(r"[A-Za-z]{1,6}|[0-9]{1,3}|[^\sA-Za-z0-9]")  # a tokenizer that has nothing to do with the counter


@lru_cache(maxsize=1000)
def tokens_in(text: str) -> int:
    return len(_TOKEN.findall(text))


def tokens_of(messages: Sequence[Message]) -> int:
    return sum(tokens_in(each.content) + 4 for each in messages)


class Strict(ScriptedModel):
    """Refuses what is too long, as an endpoint does."""

    def __init__(self, context_tokens: int, *script: Any) -> None:
        super().__init__(*script)
        self.context_tokens = context_tokens  # type: ignore[misc]  # each of them has its own

    async def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec], **options: Any) -> Any:
        if tokens_of(messages) > self.context_tokens:
            raise ContextOverflow("too long", limit_tokens=self.context_tokens)
        async for item in super().stream(messages, tools, **options):
            counted = ModelUsage(tokens_of(messages) + 60, 10)  # the tool's specification too
            yield replace(item, usage=counted) if isinstance(item, Reply) else item


@pytest.mark.slow
@settings(max_examples=2, deadline=None, phases=[Phase.explicit] if settings.default.derandomize else tuple(Phase))
@example(60_000, ["tide", "tide", "[P7f3a]"], 1)  # one takes seconds; `make fuzz` looks at others
@given(
    st.sampled_from([24_000, 60_000, 128_000]),
    st.lists(st.sampled_from(WORDS), min_size=3, max_size=40),
    st.integers(1, 2),
)
def test_many_turns_with_long_results_never_exceed_the_window_and_keep_every_question(
    context_tokens: int, words: list[str], searches: int
) -> None:
    text = " ".join(words * (RESULT_TOKENS // len(words) + 1))

    async def lookup(_arguments: Mapping[str, Any]) -> ToolResult:
        return ToolResult(text, "much")

    registry = ToolRegistry([Tool(LOOKUP, lookup)])
    stored: list[StoredMessage] = []
    asked: list[str] = []

    async def turn(number: int) -> None:
        asked.append(f"Question {number}: what of {words[number % len(words)]!r}?")
        share = context_tokens * 2 // 5
        earlier = fit_earlier(earlier_messages(stored, ["lookup"]), share, TokenCounter(), max_question_tokens=share)
        transcript = Transcript([Message("system", "Answer."), *earlier, Message("user", asked[-1])])
        script = [calls(tool_call("lookup", {"q": str(each)}, call_id=f"c{each}")) for each in range(searches)]
        model = Strict(context_tokens, *script, f"Answer {number}. " + "It is so. " * 80)
        result = await run_loop(model, transcript, registry, settings=LoopSettings(max_turns=searches + 2))
        for messages, _ in model.sent:
            assert tokens_of(messages) <= context_tokens
            assert [each.content for each in messages if each.role == "user"] == asked
        answer = Answer(
            "run", "lab", "research", asked[-1], "m", result.reply_text, (), (), (), (),
            Usage(0, 0, 0, None, 0, 0, 0, 0.0), None,
        )  # fmt: skip
        kept = session_messages(asked[-1], asked[-1], transcript.work, answer)
        assert sum(each.content == text for each in kept) == searches
        stored.extend(StoredMessage(each.role, each.content, each.data, "run", "2026") for each in kept)

    for number in range(TURNS):
        anyio.run(turn, number)
    assert len(asked) == TURNS
