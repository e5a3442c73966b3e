"""A budget that leaves a trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asky.llm.port import Message, ModelUsage, ToolSpec
    from asky.llm.spending import Budget


@dataclass(frozen=True, slots=True)
class RecordedBudget:
    """A `Budget` whose every call is told to `note` as soon as it has ended, before anything else is done."""

    inner: Budget
    note: Callable[[ModelUsage], None]

    def check(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> None:
        """See `Budget.check`."""
        self.inner.check(messages, tools)

    def nearly_spent(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> bool:
        """See `Budget.nearly_spent`."""
        return self.inner.nearly_spent(messages, tools)

    def record(self, usage: ModelUsage) -> None:
        """See `Budget.record`."""
        self.inner.record(usage)
        self.note(usage)

    def add(self, usage: ModelUsage) -> None:
        """See `Budget.add`."""
        self.inner.add(usage)
        self.note(usage)

    def record_partial(self, text: str) -> ModelUsage:
        """See `Budget.record_partial`."""
        usage = self.inner.record_partial(text)
        self.note(usage)
        return usage

    def deadline_s(self) -> float | None:
        """See `Budget.deadline_s`."""
        return self.inner.deadline_s()
