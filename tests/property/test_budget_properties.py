from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from asky.errors import BudgetExceeded
from asky.llm.budget import BudgetLimits, RunBudget
from asky.llm.endpoint.endpoint import Prices
from asky.llm.port import Message, ModelUsage
from asky.llm.tokens import TokenCounter, min_tokens
from asky.storage.runs import Spent

PRICE = st.floats(0, 1_000)
PRICES = st.builds(Prices, PRICE, PRICE, st.none() | PRICE)
TOKENS = st.integers(0, 50_000)
LIMITS = st.builds(
    BudgetLimits,
    st.none() | st.integers(0, 200_000),
    st.none() | st.floats(0, 20),
    st.none() | st.floats(0, 600),
    st.none() | st.integers(0, 400_000),
    st.none() | st.floats(0, 40),
)
PROMPTS = st.integers(0, 3_000).map(lambda words: [Message("user", "word " * words)])


class Runs(RuleBasedStateMachine):
    """Two runs of one day at once: whatever they are asked, at whatever price, limits hold."""

    @initialize(limits=LIMITS, prices=PRICES)
    def start(self, limits: BudgetLimits, prices: Prices) -> None:
        self.limits, self.prices, self.now = limits, prices, 0.0
        self.spent = [[0, 0.0], [0, 0.0]]
        self.last = [[0, 0.0], [0, 0.0]]
        self.budgets = [self._budget(limits, prices, number) for number in (0, 1)]

    def _budget(self, limits: BudgetLimits, prices: Prices, number: int) -> RunBudget:
        def others() -> Spent:
            tokens, cost = self.spent[1 - number]
            return Spent(int(tokens), cost)

        counter = TokenCounter()
        return RunBudget(limits, prices=prices, counter=counter, spent_today=others, clock=lambda: self.now)

    @rule(
        number=st.sampled_from([0, 1]),
        prompt=PROMPTS,
        usage=st.tuples(TOKENS, TOKENS, TOKENS),
        latency=st.floats(0, 300),
        estimated=st.booleans(),
    )
    def call(
        self, number: int, prompt: list[Message], usage: tuple[int, int, int], latency: float, estimated: bool
    ) -> None:
        budget = self.budgets[number]
        if self._reached(number) or self._cannot_pay(number, prompt):
            with pytest.raises(BudgetExceeded):
                budget.check(prompt, ())
            return
        budget.check(prompt, ())  # room for a call means that it is made
        budget.nearly_spent(prompt, ())
        self.now += latency
        used = ModelUsage(usage[0], usage[1], estimated=estimated, cached_tokens=usage[2])
        budget.record(used)
        cost = self.prices.cost_usd(used.prompt_tokens, used.completion_tokens, used.cached_tokens)
        self.last[number] = [usage[0] + usage[1], cost]
        self.spent[number][0] += usage[0] + usage[1]
        self.spent[number][1] += cost
        self._check_totals(number)

    def _reached(self, number: int) -> bool:
        return any(spent >= allowed for spent, allowed, _ in self._limits(number, 0, 0.0))

    def _cannot_pay(self, number: int, prompt: list[Message]) -> bool:
        """Whether the prompt alone, however cheap, goes over a limit."""
        least = min_tokens(prompt)
        cost = min(self.prices.cost_usd(least, 0), self.prices.cost_usd(least, 0, least))
        return any(needed > allowed - spent for spent, allowed, needed in self._limits(number, least, cost))

    def _limits(self, number: int, tokens: int, cost: float) -> list[tuple[float, float, float]]:
        """What is spent and allowed of each limit, and what of `tokens` and `cost` goes with it."""
        limits, own = self.limits, self.spent[number]
        day = [sum(each[index] for each in self.spent) for index in (0, 1)]
        rows = (
            (own[0], limits.max_tokens, tokens),
            (own[1], limits.max_cost_usd, cost),
            (self.now, limits.max_time_s, 0.0),
            (day[0], limits.max_tokens_per_day, tokens),
            (day[1], limits.max_cost_per_day_usd, cost),
        )
        return [(spent, allowed, needed) for spent, allowed, needed in rows if allowed is not None]

    def _check_totals(self, number: int) -> None:
        """Nothing is over its limit by more than the call that has just ended."""
        limits, last = self.limits, self.last[number]
        for index, own, day in (
            (0, limits.max_tokens, limits.max_tokens_per_day),
            (1, limits.max_cost_usd, limits.max_cost_per_day_usd),
        ):
            before = self.spent[number][index] - last[index]
            assert own is None or before <= own + 1e-9
            assert day is None or sum(each[index] for each in self.spent) - last[index] <= day + 1e-9


TestRuns = pytest.mark.slow(Runs.TestCase)


@given(
    prompts=st.lists(st.integers(0, 30_000), min_size=1, max_size=30),
    replies=st.lists(st.integers(0, 800), min_size=30, max_size=30),
    limit=st.integers(0, 200_000),
)
def test_a_run_that_heeds_the_warning_ends_with_an_answer_within_its_limit(
    prompts: list[int], replies: list[int], limit: int
) -> None:
    """As long as replies and growth are not larger than they were before, the answer is paid for."""
    budget = RunBudget(
        BudgetLimits(max_tokens=limit),
        prices=None,
        counter=TokenCounter(),
        spent_today=Spent,
        clock=lambda: 0.0,
    )
    prompt, longest, has_called = 0, 800, False
    for grown, reply in zip(prompts, replies, strict=False):
        grown = grown % 1_500
        prompt += grown
        messages = [Message("user", "w " * (prompt // 4))]  # counted as less than half of what is reported
        try:
            budget.check(messages, ())
        except BudgetExceeded:
            assert budget.tokens >= limit or budget.tokens + min_tokens(messages) > limit
            return
        used = min(prompt // 4 * 2, 10**6)
        if budget.nearly_spent(messages, ()):
            budget.record(ModelUsage(used, min(reply, longest)))  # the answer
            assert budget.tokens <= limit or not has_called  # one call is made whatever the limit is
            return
        budget.record(ModelUsage(used, min(reply, longest)))
        has_called = True
        assert budget.tokens <= limit
