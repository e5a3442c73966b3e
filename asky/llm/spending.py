"""Spending of a run from the caller's side: the budget to respect, and the usage of failed calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from asky.errors import AskyError
from asky.llm.port import Message, ModelUsage, ToolSpec


class Budget(Protocol):
    """The remaining budget of a run."""

    def check(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> None:
        """Raise `BudgetExceeded` if the next call, which would send these, may not be made."""
        ...

    def nearly_spent(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> bool:
        """Return whether the next call should be the last one, so that it ends with an answer."""
        ...

    def record(self, usage: ModelUsage) -> None:
        """Record the usage of the call checked last."""
        ...

    def add(self, usage: ModelUsage) -> None:
        """Record the usage of a call outside the checked sequence."""
        ...

    def add_time(self, seconds: float) -> None:
        """Add the time that the run took before this object was created, in an earlier process."""
        ...

    def record_partial(self, text: str) -> ModelUsage:
        """Record the call checked last, which ended without a report after `text`; return the estimate."""
        ...

    def deadline_s(self) -> float | None:
        """Return the seconds until the time is over; `None` without such a limit."""
        ...


class NoBudget:
    """A budget without limits."""

    def check(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> None:
        """Allow every call."""

    def nearly_spent(
        self,
        messages: Sequence[Message],  # noqa: ARG002 - the port's parameters
        tools: Sequence[ToolSpec],  # noqa: ARG002 - the port's parameters
    ) -> bool:
        """Return `False`."""
        return False

    def record(self, usage: ModelUsage) -> None:
        """Do nothing."""

    def add(self, usage: ModelUsage) -> None:
        """Do nothing."""

    def add_time(self, seconds: float) -> None:
        """Do nothing."""

    def record_partial(self, text: str) -> ModelUsage:  # noqa: ARG002 - the port's parameter
        """Do nothing."""
        return ModelUsage(estimated=True)

    def deadline_s(self) -> float | None:
        """Return `None`."""
        return None


def add_usage(earlier: ModelUsage | None, usage: ModelUsage) -> ModelUsage:
    """Add the usage of two attempts of one call: an estimate, as no endpoint reported it for one prompt."""
    if earlier is None:
        return usage
    is_priced = earlier.cost_usd is not None and usage.cost_usd is not None
    return ModelUsage(
        earlier.prompt_tokens + usage.prompt_tokens,
        earlier.completion_tokens + usage.completion_tokens,
        (earlier.cost_usd or 0.0) + (usage.cost_usd or 0.0) if is_priced else None,
        estimated=True,
        cached_tokens=earlier.cached_tokens + usage.cached_tokens,
    )


def note_spending(error: BaseException, usage: ModelUsage) -> None:
    """Attach the usage of a call to `error`, the `AskyError` or cancellation that ended it."""
    vars(error)["spent"] = usage


def spending_of(error: BaseException) -> ModelUsage | None:
    """Return the usage of the call that `error` ended, `None` if its model reported none."""
    spent = getattr(error, "spent", None)
    return spent if isinstance(spent, ModelUsage) else None


def count_failed(budget: Budget, error: BaseException, text: str) -> ModelUsage | None:
    """Record in `budget` the call that `error`, an `AskyError` or a cancellation, ended after `text`.

    Returns what was recorded: the usage that the model reports; else an estimate if the call produced text or was
    stopped; and `None` for a call that failed before anyone would charge for it.
    """
    spent = spending_of(error)
    if spent is None and (text or not isinstance(error, AskyError)):
        return budget.record_partial(text)
    if spent is None or not spent.prompt_tokens + spent.completion_tokens:
        return None
    budget.record(spent)
    return spent
