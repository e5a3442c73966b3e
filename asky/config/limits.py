"""Limits of one run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asky.config.schema import BudgetSettings

_KEYS: Mapping[str, str] = MappingProxyType(
    {
        "turns": "research.max_turns",
        "tokens": "budget.max_tokens",
        "cost_usd": "budget.max_cost_usd",
        "time_s": "budget.max_time_s",
    }
)


@dataclass(frozen=True, slots=True)
class RunLimits:
    """The limits of one run: `None` leaves a limit to the configuration, 0 means no limit.

    `turns` are model calls, `tokens` those of prompts and replies together, `cost_usd` US dollars, `time_s` seconds.
    """

    turns: int | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    time_s: float | None = None

    def as_settings(self) -> dict[str, object]:
        """Return the limits that are set, by their configuration keys."""
        return {key: getattr(self, name) for name, key in _KEYS.items() if getattr(self, name) is not None}

    def within(self, budget: BudgetSettings) -> BudgetSettings:
        """Return the configured `budget`, with its limits replaced by those that are set here."""
        return replace(
            budget,
            max_tokens=budget.max_tokens if self.tokens is None else self.tokens,
            max_cost_usd=budget.max_cost_usd if self.cost_usd is None else self.cost_usd,
            max_time_s=budget.max_time_s if self.time_s is None else self.time_s,
        )

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> RunLimits:
        """Return the limits that `as_settings` stored in `settings`; other keys are ignored."""
        return cls(**{name: settings[key] for name, key in _KEYS.items() if key in settings})
