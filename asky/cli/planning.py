"""The plan of a question, as text or as an `asky.plan/1` object."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from asky.app.schemas.run import plan_object
from asky.cli.terminal.terminal import Terminal, one_line
from asky.text.counting import counted

if TYPE_CHECKING:
    from asky.app.ask import Estimate, Plan, WebPlan
    from asky.config.schema import BudgetSettings


def print_plan(terminal: Terminal, plan: Plan, budget: BudgetSettings, *, as_json: bool) -> None:
    """Print the plan of a question."""
    if as_json:
        terminal.json(plan_object(plan, budget))
        return
    for name, text in _rows(plan, budget):
        terminal.line(f"{name:<9} {text}")


def _rows(plan: Plan, budget: BudgetSettings) -> Iterator[tuple[str, str]]:
    yield "model", plan.model
    yield "hosts", _hosts(plan)
    yield "mode", plan.mode
    yield "sources", _sources(plan)
    if plan.web is not None:
        yield "web", "; ".join(_web(plan.web))
    if plan.earlier_tokens:
        yield "session", f"{plan.earlier_tokens:,} tokens of earlier messages are sent with each call"
    yield "tools", ", ".join(plan.tools) or "none"
    yield "usually", _estimate(plan.usual)
    if plan.most != plan.usual:
        yield "at most", _estimate(plan.most)
    limits = [f"{name} {_number(value)}" for name, value in asdict(budget).items() if value]
    yield "limits", ", ".join(limits) or "none"


def _number(value: float) -> str:
    """Return `1,500,000`, `60` or `0.05`: all digits, and no exponent."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.9f}".rstrip("0").rstrip(".")


def _sources(plan: Plan) -> str:
    if plan.unread:
        return f"{plan.sources:,} in the corpus, and {', '.join(plan.unread)}, to be read first"
    return f"{plan.sources:,}"


def _hosts(plan: Plan) -> str:
    found = "those of the pages found" if plan.web is not None and not plan.web.is_offline else None
    return ", and ".join(part for part in (", ".join(plan.hosts), found) if part) or "none: nothing leaves this machine"


def _web(web: WebPlan) -> Iterator[str]:
    """Yield the planned steps on the web."""
    if web.is_offline:
        yield "cached pages only; nothing is fetched"
        return
    services = ", ".join(
        f"{each.name} at {each.host}" if each.host else f"{each.name} (not set up)" for each in web.services
    )
    if web.queries:
        yield f"search for {' and '.join(f'“{one_line(query)}”' for query in web.queries)} with {services}"
    if web.max_pages:
        which = "that are found" if web.queries else "that the question names or that they link to"
        yield f"read at most {web.max_pages} pages {which}"
    if web.finder is not None:
        yield f"ask {web.finder.name} at {web.finder.host} for open copies of papers"
    if web.wanted:
        yield f"use sources {', '.join(web.wanted)}"
    if web.may_search and web.services:
        yield "the model may search and read more" if web.queries else f"the model may search with {services} and read"


def _estimate(estimate: Estimate) -> str:
    calls = counted(estimate.calls, "call")
    tokens = f"{estimate.prompt_tokens + estimate.completion_tokens:,} tokens"
    if estimate.cost_usd is None:
        return f"{calls}, {tokens}, price unknown"
    return f"{calls}, {tokens}, {estimate.cost_usd:.4f} USD" if estimate.cost_usd else f"{calls}, no cost"
