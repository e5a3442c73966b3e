"""Spending limits of a run: tokens, money and time, per run and per day.

A limit is checked before each call and, except for time, never cuts a call short. So a run spends at most its limit
plus the call in progress when it was reached; and a call whose prompt alone is sure to exceed it is not made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from asky.errors import BudgetExceeded, ConfigError
from asky.llm.port import Message, ModelUsage, ToolSpec
from asky.llm.tokens import TokenCounter, min_tokens

if TYPE_CHECKING:
    from asky.llm.endpoint.endpoint import Prices

# Assumed needs of a call until calls of the run have shown them: a reply of some length, and the tokens that a search
# adds to the prompt of the next call.
REPLY_TOKENS = 800
_GROWTH_TOKENS = 1_500


@dataclass(frozen=True, slots=True)
class BudgetLimits:
    """Limits on the spending of a run, and of all runs of a day together; `None` is no limit.

    Raises `ValueError` for a limit that is negative or not a number.
    """

    max_tokens: int | None = None
    max_cost_usd: float | None = None
    max_time_s: float | None = None
    max_tokens_per_day: int | None = None
    max_cost_per_day_usd: float | None = None

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise ValueError(f"{name} must be at least 0, not {value}")

    @property
    def cap_cost(self) -> bool:
        """Return whether any limit is on money."""
        return self.max_cost_usd is not None or self.max_cost_per_day_usd is not None

    @property
    def cap_day(self) -> bool:
        """Return whether any limit is per day."""
        return self.max_tokens_per_day is not None or self.max_cost_per_day_usd is not None


class SpentTotal(Protocol):
    """An amount spent, prompts and replies together."""

    @property
    def tokens(self) -> int: ...
    @property
    def cost_usd(self) -> float: ...


@dataclass(frozen=True, slots=True)
class _Meter:
    """One limit and the amount spent of it; `unit` is a field of `_Amount`."""

    unit: str
    spent: float
    allowed: float
    name: str
    flag: str

    def refuse(self, minimum: _Amount) -> BudgetExceeded | None:
        """Return why a call that spends `minimum` or more may not be made; `None` if it may."""
        show, needed = _SHOWN[self.unit], getattr(minimum, self.unit)
        limit, left = f"the limit of {show(self.allowed)} {self.name}", self.allowed - self.spent
        if left <= 0:
            message = f"{limit} is reached: {show(self.spent)} spent"
        elif needed > left:
            message = f"{limit} leaves {show(left)}, and the prompt alone takes {show(needed)} or more"
        else:
            return None
        return BudgetExceeded(message, hint=f"raise it with {self.flag}")


@dataclass(frozen=True, slots=True)
class _Amount:
    """The expected spending of calls."""

    tokens: float
    cost_usd: float
    seconds: float


class RunBudget:
    """The budget of one run: a `Budget`. Calls are checked and recorded one after the other.

    `spent_today` returns the spending of all other runs since the day began. It is called before each call, because
    other processes spend too. `clock` is in seconds; the run's time counts from the creation of this object, plus any
    time added. Raises `ConfigError` if a limit on money is set and there are no prices.
    """

    def __init__(
        self,
        limits: BudgetLimits,
        *,
        prices: Prices | None,
        counter: TokenCounter,
        spent_today: Callable[[], SpentTotal],
        clock: Callable[[], float],
    ) -> None:
        if limits.cap_cost and prices is None:
            raise ConfigError(
                "a cost limit is set, but the price of this model is unknown",
                hint="set its prices in models.toml (0 where it costs nothing), or use --max-tokens instead",
            )
        self._limits = limits
        self._prices = prices
        self._counter = counter
        self._spent_today = spent_today
        self._clock = clock
        self._started = clock()
        self._earlier_s = 0.0
        self._tokens = 0
        self._cost_usd = 0.0
        self._maxima = _Maxima()
        self._last_prompt: tuple[Sequence[Message], Sequence[ToolSpec]] = ((), ())
        self._checked_at: float | None = None
        self._counting = Lock()  # concurrent calls are counted in threads

    @property
    def tokens(self) -> int:
        """Return the tokens of the calls so far."""
        return self._tokens

    @property
    def cost_usd(self) -> float:
        """Return the known cost of the calls so far, in US dollars."""
        return self._cost_usd

    def deadline_s(self) -> float | None:
        """Return the seconds until the run's time is over, never negative; `None` without such a limit."""
        allowed = self._limits.max_time_s
        return None if allowed is None else max(0.0, allowed - self._elapsed())

    def check(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> None:
        """Raise `BudgetExceeded` if a limit is reached, or leaves less than `messages` cost at least.

        Otherwise the call may be made. The error names the limit, the amount spent or left, and the amount allowed; of
        several limits, the first in the order of `BudgetLimits`.
        """
        meters = self._meters()
        minimum = self._minimum(messages) if meters else _Amount(0, 0, 0)
        for meter in meters:
            if (error := meter.refuse(minimum)) is not None:
                raise error
        now = self._clock()
        if self._checked_at is not None:
            self._maxima.note_turn(now - self._checked_at)
        self._last_prompt, self._checked_at = (tuple(messages), tuple(tools)), now

    def nearly_spent(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> bool:
        """Return whether the budget allows only one more call, which must then be the answer.

        A call is expected to use its prompt and a reply like the longest of the run so far (800 tokens at least); the
        one after it the same reply again, after a prompt that has grown as much as it ever did in this run (1,500
        tokens at least). For time, a turn and a call are expected to last as long as the slowest so far.
        """
        if self._limits == BudgetLimits():
            return False
        need = self._need(messages, tools)
        return any(meter.spent + getattr(need, meter.unit) > meter.allowed for meter in self._meters())

    def record(self, usage: ModelUsage) -> None:
        """Record the usage of the call checked last; an estimate counts like a report."""
        messages, tools = self._last_prompt
        self._counter.learn(messages, tools, usage)
        if self._checked_at is not None:
            self._maxima.note_call(usage, self._clock() - self._checked_at)
        self.add(usage)

    def add(self, usage: ModelUsage) -> None:
        """Record the usage of a call outside the checked sequence, which is not used to predict others."""
        with self._counting:
            self._tokens += max(0, usage.prompt_tokens) + max(0, usage.completion_tokens)
            self._cost_usd += max(0.0, self._cost_of(usage))

    def add_time(self, seconds: float) -> None:
        """Add the time that the run took before this object was created."""
        self._earlier_s += seconds

    def record_partial(self, text: str) -> ModelUsage:
        """Record the call checked last, which ended without a report after `text`; return the estimate.

        The endpoint has read the prompt and written at least that much.
        """
        messages, tools = self._last_prompt
        usage = ModelUsage(self._counter.count(messages, tools), self._counter.count_text(text), estimated=True)
        if self._prices is not None:
            usage = ModelUsage(usage.prompt_tokens, usage.completion_tokens, self._cost_of(usage), estimated=True)
        self.record(usage)
        return usage

    def _meters(self) -> list[_Meter]:
        """Return a meter for each limit that is set, in the order of `BudgetLimits`."""
        limits = self._limits
        today = self._spent_today() if limits.cap_day else None
        tokens_today = self._tokens + (today.tokens if today else 0)
        cost_today = self._cost_usd + (today.cost_usd if today else 0.0)
        meters = (
            ("tokens", self._tokens, limits.max_tokens, "for this run", "--max-tokens"),
            ("cost_usd", self._cost_usd, limits.max_cost_usd, "for this run", "--max-cost"),
            ("seconds", self._elapsed(), limits.max_time_s, "for this run", "--max-time"),
            ("tokens", tokens_today, limits.max_tokens_per_day, "for today", "budget.max_tokens_per_day"),
            ("cost_usd", cost_today, limits.max_cost_per_day_usd, "for today", "budget.max_cost_per_day_usd"),
        )
        return [
            _Meter(unit, spent, allowed, name, flag)
            for unit, spent, allowed, name, flag in meters
            if allowed is not None
        ]

    def _minimum(self, messages: Sequence[Message]) -> _Amount:
        """Return the least cost of a call: all of its prompt may be in the endpoint's cache, and its reply empty."""
        tokens = min_tokens(messages)
        calls = [ModelUsage(tokens, cached_tokens=cached) for cached in (0, tokens)]
        return _Amount(tokens, min(map(self._cost_of, calls)), 0)

    def _need(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> _Amount:
        """Return the expected cost of the next call and one more after it."""
        prompt, maxima = self._counter.count(messages, tools), self._maxima
        calls = [ModelUsage(prompt + grown, maxima.reply_tokens) for grown in (0, maxima.growth_tokens)]
        tokens = sum(each.prompt_tokens + each.completion_tokens for each in calls)
        return _Amount(tokens, sum(map(self._cost_of, calls)), maxima.turn_s + maxima.call_s)

    def _cost_of(self, usage: ModelUsage) -> float:
        if usage.cost_usd is not None:
            return usage.cost_usd
        if self._prices is None:
            return 0.0
        return self._prices.cost_usd(usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens)

    def _elapsed(self) -> float:
        return self._earlier_s + self._clock() - self._started


class _Maxima:
    """The maxima over the calls of this run, used to predict the next one."""

    def __init__(self) -> None:
        self.reply_tokens = REPLY_TOKENS
        self.growth_tokens = _GROWTH_TOKENS
        self.call_s = 0.0
        self.turn_s = 0.0
        self._prompt_tokens: int | None = None

    def note_turn(self, seconds: float) -> None:
        """Record the time from one check to the next: a call and the tools after it."""
        self.turn_s = max(self.turn_s, seconds)

    def note_call(self, usage: ModelUsage, seconds: float) -> None:
        """Record the usage and the duration of a call."""
        if self._prompt_tokens is not None:
            self.growth_tokens = max(self.growth_tokens, usage.prompt_tokens - self._prompt_tokens)
        self._prompt_tokens = usage.prompt_tokens
        self.reply_tokens = max(self.reply_tokens, usage.completion_tokens)
        self.call_s = max(self.call_s, seconds)


def _dollars(value: float) -> str:
    digits = 2 if value >= 0.1 or value <= 0 else 4 if value >= 0.001 else 7
    return f"{value:.{digits}f} USD"


_SHOWN: Mapping[str, Callable[[float], str]] = {
    "tokens": lambda value: f"{value:,.0f} token{'' if value == 1 else 's'}",
    "cost_usd": _dollars,
    "seconds": lambda value: f"{value:.1f} s",
}
