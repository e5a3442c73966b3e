"""What a question would do, without doing it: which model, which hosts, how many calls, and what they may cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from asky.chat.prompts import CONVERSATION_PROMPT, LEAN_PROMPT, research_system_prompt
from asky.llm.budget import REPLY_TOKENS
from asky.llm.port import Message, ModelUsage, ToolSpec
from asky.llm.tokens import TokenCounter

if TYPE_CHECKING:
    from asky.llm.endpoint import Prices
    from asky.llm.port import ChatModel

_USUAL_SEARCHES = 1


@dataclass(frozen=True, slots=True)
class Estimate:
    """Calls, and the tokens of all of them together; `cost_usd` is `None` without a known price."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class Plan:
    """`hosts` are the ones that would be reached; `usual` is a run with one search, `most` one that uses every turn.

    `sources` are in the corpus; `unread` names what would be read first.
    """

    model: str
    hosts: tuple[str, ...]
    mode: str
    sources: int
    unread: tuple[str, ...]
    tools: tuple[str, ...]
    usual: Estimate
    most: Estimate


def make_plan(
    model: ChatModel,
    question: str,
    *,
    mode: str,
    sources: int,
    unread: Sequence[str],
    tools: Sequence[ToolSpec],
    max_turns: int,
    passage_tokens: int,
    prices: Prices | None,
) -> Plan:
    """The plan for `question` over `sources` sources and what is `unread`.

    A prompt grows by `passage_tokens` with each search before it.
    """
    has_sources = sources > 0 or bool(unread)
    searching = has_sources and (mode != "lean" or model.host is None)
    offered = tuple(tools) if searching else ()
    system = research_system_prompt(offered, sources_summary="") if searching else CONVERSATION_PROMPT
    if has_sources and not searching:
        system = LEAN_PROMPT
    first = TokenCounter().count([Message("system", system), Message("user", question)], offered)
    if has_sources and not searching:
        first += passage_tokens
    free = model.host is None

    def estimate(calls: int) -> Estimate:
        # each call sends what the ones before it sent, what their searches brought, and their replies
        grown = [first + each * (passage_tokens + REPLY_TOKENS) for each in range(calls)]
        prompt = sum(min(tokens, model.context_tokens) for tokens in grown)
        usage = ModelUsage(prompt, calls * REPLY_TOKENS)
        cost = 0.0 if free else prices.cost_usd(usage.prompt_tokens, usage.completion_tokens) if prices else None
        return Estimate(calls, prompt, usage.completion_tokens, cost)

    return Plan(
        model=model.name,
        hosts=() if model.host is None else (model.host,),
        mode=mode,
        sources=sources,
        unread=tuple(unread),
        tools=tuple(spec.name for spec in offered),
        usual=estimate(min(1 + _USUAL_SEARCHES, max_turns) if searching else 1),
        most=estimate(max_turns if searching else 1),
    )
