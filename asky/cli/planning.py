"""The plan of a question in words, or as an object of the schema `asky.plan/1`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from asky.chat.plan import Estimate, Plan
from asky.cli.terminal import Terminal

if TYPE_CHECKING:
    from asky.config.schema import Budget


def print_plan(terminal: Terminal, plan: Plan, budget: Budget, *, as_json: bool) -> None:
    """Print what a question would do."""
    if as_json:
        terminal.json({"schema": "asky.plan/1", **asdict(plan), "limits": asdict(budget)})
        return
    for name, text in _rows(plan, budget):
        terminal.line(f"{name:<9} {text}")


def _rows(plan: Plan, budget: Budget) -> Iterator[tuple[str, str]]:
    yield "model", plan.model
    yield "hosts", ", ".join(plan.hosts) or "none: nothing leaves this machine"
    yield "mode", plan.mode
    yield "sources", _sources(plan)
    yield "tools", ", ".join(plan.tools) or "none"
    yield "usually", _estimate(plan.usual)
    if plan.most != plan.usual:
        yield "at most", _estimate(plan.most)
    limits = [f"{name} {value:,g}" for name, value in asdict(budget).items() if value]
    yield "limits", ", ".join(limits) or "none"


def _sources(plan: Plan) -> str:
    if plan.unread:
        return f"{plan.sources:,} in the corpus, and {', '.join(plan.unread)}, to be read first"
    return f"{plan.sources:,}"


def _estimate(estimate: Estimate) -> str:
    calls = f"{estimate.calls} call{'s' if estimate.calls > 1 else ''}"
    tokens = f"{estimate.prompt_tokens + estimate.completion_tokens:,} tokens"
    if estimate.cost_usd is None:
        return f"{calls}, {tokens}, at a price that is not known"
    return f"{calls}, {tokens}, {estimate.cost_usd:.4f} USD" if estimate.cost_usd else f"{calls}, no cost"
