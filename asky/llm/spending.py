"""What a run spends, as those who make its calls see it: the budget that they heed, and what a failed call had used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from asky.errors import AskyError
from asky.llm.port import Message, ModelUsage, ToolSpec


class Budget(Protocol):
    """What a run may still spend."""

    def check(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> None:
        """Raise `BudgetExceeded` when the next call, which would send these, may not be made."""
        ...

    def nearly_spent(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> bool:
        """Whether the next call should be the last one, so that it ends with an answer."""
        ...

    def record(self, usage: ModelUsage) -> None:
        """Take note of what the call used that was checked last."""
        ...

    def add(self, usage: ModelUsage) -> None:
        """Take note of what a call used that was made beside those that are checked, one after the other."""
        ...

    def add_time(self, seconds: float) -> None:
        """Take note of what the run had taken before this object was made, in a process that is gone."""
        ...

    def record_partial(self, text: str) -> ModelUsage:
        """Take note of the call that was checked last and ended without a report after `text`; returns the estimate."""
        ...

    def deadline_s(self) -> float | None:
        """Seconds from now until the time is over; `None` without such a limit."""
        ...


class NoBudget:
    """A budget without limits."""

    def check(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> None:
        """Every call may be made."""

    def nearly_spent(
        self,
        messages: Sequence[Message],  # noqa: ARG002 - the port's parameters
        tools: Sequence[ToolSpec],  # noqa: ARG002 - the port's parameters
    ) -> bool:
        """Never."""
        return False

    def record(self, usage: ModelUsage) -> None:
        """Nothing to count."""

    def add(self, usage: ModelUsage) -> None:
        """Nothing to count."""

    def add_time(self, seconds: float) -> None:
        """Nothing to count."""

    def record_partial(self, text: str) -> ModelUsage:  # noqa: ARG002 - the port's parameter
        """Nothing to count."""
        return ModelUsage(estimated=True)

    def deadline_s(self) -> float | None:
        """Never."""
        return None


def add_usage(earlier: ModelUsage | None, usage: ModelUsage) -> ModelUsage:
    """Two tries of one call together: an estimate, for no endpoint has reported it of one prompt."""
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
    """Let `error`, an `AskyError` or a cancellation that ends a call, carry what the call had used."""
    vars(error)["spent"] = usage


def spending_of(error: BaseException) -> ModelUsage | None:
    """What the call that `error` ended had used, `None` where its model did not say."""
    spent = getattr(error, "spent", None)
    return spent if isinstance(spent, ModelUsage) else None


def count_failed(budget: Budget, error: BaseException, text: str) -> ModelUsage | None:
    """Count in `budget` the call that `error`, an `AskyError` or a cancellation, ended after `text`.

    Returns what was counted: what the model says of the call; else an estimate where text came of it or somebody
    stopped it; and `None` for a call that failed before anybody would charge for it.
    """
    spent = spending_of(error)
    if spent is None and (text or not isinstance(error, AskyError)):
        return budget.record_partial(text)
    if spent is None or not spent.prompt_tokens + spent.completion_tokens:
        return None
    budget.record(spent)
    return spent
