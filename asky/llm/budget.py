"""What a run may spend: tokens, money and time, for itself and for the day.

A limit is checked before each call and never cuts one short, apart from time. So a run spends at most what its limit
says and the call that was under way when it was reached; and a call whose prompt alone is sure to go over it is not
made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from asky.errors import BudgetExceeded, ConfigError
from asky.llm.port import Message, ModelUsage, ToolSpec
from asky.llm.tokens import TokenCounter, least_tokens

if TYPE_CHECKING:
    from asky.llm.endpoint import Prices

# What a call is taken to need until calls of the run have shown it: a reply of some length, and what a search adds to
# the prompt of the next call.
REPLY_TOKENS = 800
_GROWTH_TOKENS = 1_500


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that a run, and all runs of a day together, may spend; `None` is no limit.

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
        """Whether any limit is one of money."""
        return self.max_cost_usd is not None or self.max_cost_per_day_usd is not None

    @property
    def cap_day(self) -> bool:
        """Whether any limit is one of the day."""
        return self.max_tokens_per_day is not None or self.max_cost_per_day_usd is not None


class Spent(Protocol):
    """What was spent, prompts and replies together."""

    @property
    def tokens(self) -> int: ...
    @property
    def cost_usd(self) -> float: ...


@dataclass(frozen=True, slots=True)
class _Meter:
    """One limit and what is spent of it; `unit` is a field of `_Need`."""

    unit: str
    spent: float
    allowed: float
    name: str
    flag: str

    def refuse(self, least: _Need) -> BudgetExceeded | None:
        """Why a call that spends `least` or more may not be made; `None` where it may."""
        show, needed = _SHOWN[self.unit], getattr(least, self.unit)
        limit, left = f"the limit of {show(self.allowed)} {self.name}", self.allowed - self.spent
        if left <= 0:
            message = f"{limit} is reached: {show(self.spent)} spent"
        elif needed > left:
            message = f"{limit} leaves {show(left)}, and the prompt alone takes {show(needed)} or more"
        else:
            return None
        return BudgetExceeded(message, hint=f"raise it with {self.flag}")


@dataclass(frozen=True, slots=True)
class _Need:
    """What calls spend."""

    tokens: float
    cost_usd: float
    seconds: float


class RunBudget:
    """The budget of one run: a `Budget`. Calls are checked and recorded one after the other.

    `spent_today` reads what all other runs have spent since the day began. It is called before each call, because other
    processes spend too. `clock` is in seconds; the run's time counts from the making of this object, unless more is
    added. Raises `ConfigError` when a limit of money is set and there are no prices to count it with.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        prices: Prices | None,
        counter: TokenCounter,
        spent_today: Callable[[], Spent],
        clock: Callable[[], float],
    ) -> None:
        if limits.cap_cost and prices is None:
            raise ConfigError(
                "a limit of cost is set, but the price of this model is not known",
                hint="set its prices in models.toml (0 where it costs nothing), or limit it with --max-tokens",
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
        self._habits = _Habits()
        self._asked: tuple[Sequence[Message], Sequence[ToolSpec]] = ((), ())
        self._checked_at: float | None = None
        self._counting = Lock()  # calls that are made beside each other are counted in threads

    @property
    def tokens(self) -> int:
        """Tokens of the calls so far."""
        return self._tokens

    @property
    def cost_usd(self) -> float:
        """Known cost of the calls so far, in US dollars."""
        return self._cost_usd

    def deadline_s(self) -> float | None:
        """Seconds from now until the run's time is over, never negative; `None` without such a limit."""
        allowed = self._limits.max_time_s
        return None if allowed is None else max(0.0, allowed - self._elapsed())

    def check(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> None:
        """Raise `BudgetExceeded` when a limit is reached, or has less room than `messages` take at the very least.

        Else the call may be made. The error names the limit, what is spent or left, and what is allowed; of several
        limits, the first in the order of `Limits`.
        """
        meters = self._meters()
        least = self._least(messages) if meters else _Need(0, 0, 0)
        for meter in meters:
            if (error := meter.refuse(least)) is not None:
                raise error
        now = self._clock()
        if self._checked_at is not None:
            self._habits.note_turn(now - self._checked_at)
        self._asked, self._checked_at = (tuple(messages), tuple(tools)), now

    def nearly_spent(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> bool:
        """Whether after the next call there would be no room for one more, which is to be the answer.

        A call is expected to use its prompt and a reply like the longest of the run so far (800 tokens at least); the
        one after it the same reply again, after a prompt that has grown as much as it ever did in this run (1,500
        tokens at least). As to time, a turn and a call are expected to last as long as the slowest so far.
        """
        if self._limits == Limits():
            return False
        need = self._need(messages, tools)
        return any(meter.spent + getattr(need, meter.unit) > meter.allowed for meter in self._meters())

    def record(self, usage: ModelUsage) -> None:
        """Count what the call used that was checked last; an estimate counts like a report."""
        messages, tools = self._asked
        self._counter.learn(messages, tools, usage)
        if self._checked_at is not None:
            self._habits.note_call(usage, self._clock() - self._checked_at)
        self.add(usage)

    def add(self, usage: ModelUsage) -> None:
        """Count what a call used that was made beside those that are checked, and is not like them."""
        with self._counting:
            self._tokens += max(0, usage.prompt_tokens) + max(0, usage.completion_tokens)
            self._cost_usd += max(0.0, self._cost_of(usage))

    def add_time(self, seconds: float) -> None:
        """Count what the run had taken before this object was made."""
        self._earlier_s += seconds

    def record_partial(self, text: str) -> ModelUsage:
        """Count the call that was checked last and ended without a report after `text`; returns the estimate.

        The endpoint has read the prompt and written at least that much.
        """
        messages, tools = self._asked
        usage = ModelUsage(self._counter.count(messages, tools), self._counter.count_text(text), estimated=True)
        if self._prices is not None:
            usage = ModelUsage(usage.prompt_tokens, usage.completion_tokens, self._cost_of(usage), estimated=True)
        self.record(usage)
        return usage

    def _meters(self) -> list[_Meter]:
        """A meter for each limit that is set, in the order of `Limits`."""
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

    def _least(self, messages: Sequence[Message]) -> _Need:
        """What a call is sure to spend: all of its prompt may be in the endpoint's cache, and its reply be nothing."""
        tokens = least_tokens(messages)
        calls = [ModelUsage(tokens, cached_tokens=cached) for cached in (0, tokens)]
        return _Need(tokens, min(map(self._cost_of, calls)), 0)

    def _need(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> _Need:
        """What the next call and one more after it are expected to spend."""
        prompt, habits = self._counter.count(messages, tools), self._habits
        calls = [ModelUsage(prompt + grown, habits.reply_tokens) for grown in (0, habits.growth_tokens)]
        tokens = sum(each.prompt_tokens + each.completion_tokens for each in calls)
        return _Need(tokens, sum(map(self._cost_of, calls)), habits.turn_s + habits.call_s)

    def _cost_of(self, usage: ModelUsage) -> float:
        if usage.cost_usd is not None:
            return usage.cost_usd
        if self._prices is None:
            return 0.0
        return self._prices.cost_usd(usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens)

    def _elapsed(self) -> float:
        return self._earlier_s + self._clock() - self._started


class _Habits:
    """The most that calls of this run have taken so far, as a guess at the next one."""

    def __init__(self) -> None:
        self.reply_tokens = REPLY_TOKENS
        self.growth_tokens = _GROWTH_TOKENS
        self.call_s = 0.0
        self.turn_s = 0.0
        self._prompt_tokens: int | None = None

    def note_turn(self, seconds: float) -> None:
        """From one check to the next: a call and the tools after it."""
        self.turn_s = max(self.turn_s, seconds)

    def note_call(self, usage: ModelUsage, seconds: float) -> None:
        """What a call used, and how long it took."""
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
