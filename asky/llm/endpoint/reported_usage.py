"""Usage of a call, as reported by its endpoint, or estimated if it reported nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from asky.llm.endpoint.endpoint import Prices
from asky.llm.port import Message, ModelUsage, ToolSpec
from asky.llm.tokens import TokenCounter


def usage_of(
    reported: Mapping[str, Any] | None,
    prices: Prices | None,
    *,
    messages: Sequence[Message],
    tools: Sequence[ToolSpec],
    generated: str,
) -> ModelUsage:
    """Return tokens and cost of a call that sent `messages` and `tools` and received `generated`.

    Missing counts are estimated upwards. If the total exceeds prompt and completion together, the rest was thinking,
    which is paid as completion. The cost is `None` without prices.
    """
    report = reported or {}
    prompt = _count(report.get("prompt_tokens"))
    completion = _count(report.get("completion_tokens"))
    total = _count(report.get("total_tokens"))
    cached = _cached(report)
    is_estimated = not prompt or completion is None
    if not prompt:
        prompt = TokenCounter().count(messages, tools)
    if completion is None:
        completion = TokenCounter().count_text(generated)
    elif total is not None and not is_estimated:
        completion = max(completion, total - prompt)
    cost = None if prices is None else prices.cost_usd(prompt, completion, cached)
    return ModelUsage(prompt, completion, cost, is_estimated, min(cached, prompt))


def _cached(report: Mapping[str, Any]) -> int:
    details = report.get("prompt_tokens_details")
    named = details.get("cached_tokens") if isinstance(details, Mapping) else None
    return _count(named) or _count(report.get("prompt_cache_hit_tokens")) or 0


def _count(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e12:
        return None
    return int(value)
