from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from asky.errors import BudgetExceeded, ConfigError
from asky.llm.budget import BudgetLimits, RunBudget
from asky.llm.endpoint.endpoint import Prices
from asky.llm.port import Message, ModelUsage
from asky.llm.tokens import TokenCounter

QUESTION = [Message("user", "What is a tide?")]
PRICES = Prices(1.0, 10.0, cached_input=0.1)


@dataclass
class Day:
    tokens: int = 0
    cost_usd: float = 0.0


class Run:
    """A budget, the clock it looks at, and what others spend."""

    def __init__(self, limits: BudgetLimits, prices: Prices | None = PRICES) -> None:
        self.now = 50.0
        self.others = Day()
        self.budget = RunBudget(
            limits,
            prices=prices,
            counter=TokenCounter(),
            spent_today=lambda: self.others,
            clock=lambda: self.now,
        )

    def call(self, prompt: int, completion: int, *, seconds: float = 0.0, cached: int = 0) -> None:
        self.budget.check(QUESTION, ())
        self.now += seconds
        self.budget.record(ModelUsage(prompt, completion, cached_tokens=cached))

    def refusal(self) -> BudgetExceeded:
        with pytest.raises(BudgetExceeded) as caught:
            self.budget.check(QUESTION, ())
        return caught.value

    def nearly_spent(self) -> bool:
        return self.budget.nearly_spent(QUESTION, ())


def test_without_limits_everything_may_be_spent() -> None:
    run = Run(BudgetLimits(), prices=None)
    for _ in range(50):
        run.call(1_000_000, 100_000, seconds=3600)
    assert not run.nearly_spent()
    assert run.budget.deadline_s() is None


def test_a_call_may_go_over_the_limit_and_the_next_one_is_refused_with_the_figures() -> None:
    run = Run(BudgetLimits(max_tokens=5_010))
    run.call(4_000, 999)
    run.call(4_000, 1_000)
    error = run.refusal()
    assert error.message == "the limit of 5,010 tokens for this run is reached: 9,999 tokens spent"
    assert error.hint == "raise it with --max-tokens"
    assert error.exit_code == 10


LONG = [Message("system", "Answer."), Message("user", "The moon pulls on the water. " * 200)]  # 1,400 tokens
LEAST = 1_402


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (BudgetLimits(max_tokens=LEAST - 1), "1,401 tokens for this run leaves 1,401 tokens,"),
        (BudgetLimits(max_tokens_per_day=100), "100 tokens for today leaves 100 tokens,"),
        (BudgetLimits(max_cost_usd=0.0001), "0.0001000 USD for this run leaves 0.0001000 USD,"),
        (BudgetLimits(max_cost_per_day_usd=0.0001), "0.0001000 USD for today leaves"),
    ],
)
def test_a_call_whose_prompt_alone_goes_over_a_limit_is_not_made(limits: BudgetLimits, words: str) -> None:
    run = Run(limits)
    with pytest.raises(BudgetExceeded) as caught:
        run.budget.check(LONG, ())
    assert words in caught.value.message
    assert "the prompt alone takes" in caught.value.message
    assert "raise it with" in str(caught.value.hint)
    run.budget.check(QUESTION, ())


def test_what_is_left_of_a_limit_counts_for_the_next_prompt() -> None:
    run = Run(BudgetLimits(max_tokens=5_000))
    run.call(3_000, 500)
    run.budget.check(LONG, ())
    run.budget.record(ModelUsage(100, 10))
    with pytest.raises(BudgetExceeded, match="leaves 1,390 tokens, and the prompt alone takes 1,402 tokens or more"):
        run.budget.check(LONG, ())


def test_a_prompt_that_may_fit_is_not_refused() -> None:
    Run(BudgetLimits(max_tokens=LEAST)).budget.check(LONG, ())
    Run(BudgetLimits(max_cost_usd=LEAST * 0.1e-6 * 1.01)).budget.check(LONG, ())  # all of it may be cached
    Run(BudgetLimits(max_cost_usd=0.000001), prices=Prices(0.0, 10.0)).budget.check(LONG, ())
    Run(BudgetLimits(max_time_s=0.1)).budget.check(LONG, ())


def test_a_cache_that_costs_more_than_the_prompt_makes_no_call_too_dear() -> None:
    prices = Prices(1.0, 10.0, cached_input=50.0)
    Run(BudgetLimits(max_cost_usd=LEAST * 1e-6 * 1.01), prices=prices).budget.check(LONG, ())


def test_money_is_counted_by_the_prices_with_cached_tokens_at_theirs() -> None:
    run = Run(BudgetLimits(max_cost_usd=0.05))
    run.call(10_000, 1_000, cached=8_000)
    assert run.budget.cost_usd == pytest.approx(0.002 + 0.0008 + 0.01)
    run.call(10_000, 3_000)
    assert "0.05" in run.refusal().message
    assert "--max-cost" in str(run.refusal().hint)


def test_the_cost_that_an_adapter_reports_comes_before_our_own() -> None:
    run = Run(BudgetLimits(max_cost_usd=1.0))
    run.budget.check(QUESTION, ())
    run.budget.record(ModelUsage(10, 10, cost_usd=0.75))
    assert run.budget.cost_usd == 0.75


def test_a_limit_of_zero_allows_no_call() -> None:
    assert "0 tokens" in Run(BudgetLimits(max_tokens=0)).refusal().message
    assert "0.00 USD" in Run(BudgetLimits(max_cost_usd=0)).refusal().message
    assert "0.0 s" in Run(BudgetLimits(max_time_s=0)).refusal().message


def test_a_free_model_spends_nothing_of_a_limit_of_money() -> None:
    run = Run(BudgetLimits(max_cost_usd=0.01), prices=Prices(0.0, 0.0))
    for _ in range(20):
        run.call(100_000, 10_000)
    assert not run.nearly_spent()


@pytest.mark.parametrize("limits", [BudgetLimits(max_cost_usd=1.0), BudgetLimits(max_cost_per_day_usd=1.0)])
def test_a_limit_of_money_for_a_model_without_prices_is_refused_at_once(limits: BudgetLimits) -> None:
    with pytest.raises(ConfigError) as caught:
        Run(limits, prices=None)
    assert caught.value.exit_code == 2
    assert "--max-tokens" in str(caught.value.hint)


@pytest.mark.parametrize("value", [-1, math.nan, -math.inf])
def test_a_limit_that_is_none_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="max_cost_usd"):
        BudgetLimits(max_cost_usd=value)


def test_gathering_ends_while_there_is_room_for_one_more_answer() -> None:
    run = Run(BudgetLimits(max_tokens=20_000))
    assert not run.nearly_spent()
    run.call(4_000, 500)
    assert not run.nearly_spent()
    run.call(6_000, 500)
    run.budget.check(QUESTION, ())
    long = [Message("user", "word " * 6_000)]
    assert run.budget.nearly_spent(long, ())


def test_money_can_be_what_ends_the_gathering() -> None:
    run = Run(BudgetLimits(max_tokens=1_000_000, max_cost_usd=0.02))
    run.call(2_000, 200)
    assert run.nearly_spent()
    run.budget.check(QUESTION, ())


def test_slow_calls_end_the_gathering_before_the_time_is_over() -> None:
    run = Run(BudgetLimits(max_time_s=30))
    run.call(100, 10, seconds=8)
    run.now += 2  # a tool
    run.budget.check(QUESTION, ())
    assert not run.nearly_spent()
    run.now += 8
    run.budget.record(ModelUsage(100, 10))
    assert run.nearly_spent()
    assert run.budget.deadline_s() == pytest.approx(12)
    run.now += 40
    assert run.budget.deadline_s() == 0
    assert run.refusal().message == "the limit of 30.0 s for this run is reached: 58.0 s spent"


def test_the_time_that_a_run_took_before_is_part_of_its_time() -> None:
    run = Run(BudgetLimits(max_time_s=30))
    run.budget.add_time(22)
    run.now += 3
    assert run.budget.deadline_s() == pytest.approx(5)
    run.budget.check(QUESTION, ())
    run.now += 6
    assert run.budget.deadline_s() == 0
    assert run.refusal().message == "the limit of 30.0 s for this run is reached: 31.0 s spent"


def test_what_other_processes_spend_today_is_read_before_each_call() -> None:
    run = Run(BudgetLimits(max_tokens_per_day=100_000))
    run.call(1_000, 100)
    assert not run.nearly_spent()
    run.others.tokens = 97_000
    run.budget.check(QUESTION, ())
    assert run.nearly_spent()
    run.others.tokens = 98_900
    assert "100,000 tokens for today" in run.refusal().message
    assert run.refusal().hint == "raise it with budget.max_tokens_per_day"


def test_the_cost_of_the_day_is_limited_too() -> None:
    run = Run(BudgetLimits(max_cost_per_day_usd=2.0))
    run.others.cost_usd = 1.999
    run.call(1_000, 100)
    assert "2.00 USD for today" in run.refusal().message


def test_a_day_without_a_limit_is_not_read() -> None:
    def fail() -> Day:
        raise AssertionError

    limits = BudgetLimits(max_tokens=10, max_cost_usd=1.0, max_time_s=1.0)
    budget = RunBudget(limits, prices=PRICES, counter=TokenCounter(), spent_today=fail, clock=lambda: 0.0)
    budget.check(QUESTION, ())
    assert budget.nearly_spent(QUESTION, ())


def test_a_call_that_ended_without_a_report_counts_by_estimate() -> None:
    run = Run(BudgetLimits(max_tokens=2_000))
    run.budget.check([Message("user", "word " * 1_000)], ())
    usage = run.budget.record_partial("half of an answer " * 50)
    assert usage.estimated
    assert usage.prompt_tokens > 1_000
    assert usage.completion_tokens > 150
    assert usage.cost_usd == pytest.approx(PRICES.cost_usd(usage.prompt_tokens, usage.completion_tokens))
    assert run.budget.tokens == usage.prompt_tokens + usage.completion_tokens
    assert Run(BudgetLimits(), prices=None).budget.record_partial("x").cost_usd is None


def test_a_call_beside_the_others_is_counted_and_says_nothing_of_them() -> None:
    run = Run(BudgetLimits(max_tokens=100_000))
    run.call(1_000, 100)
    run.budget.add(ModelUsage(70_000, 9_000))
    assert run.budget.tokens == 80_100
    assert not run.nearly_spent()  # the calls of the run are small
    run.budget.add(ModelUsage(20_000, 0))
    assert "100,100 tokens spent" in run.refusal().message


def test_calls_that_end_at_the_same_time_are_all_counted() -> None:
    run = Run(BudgetLimits(max_tokens=10**9, max_cost_usd=10**6))

    def spend() -> None:
        for _ in range(2_000):
            run.budget.add(ModelUsage(3, 4, 0.5))

    with ThreadPoolExecutor(8) as pool:
        for _ in range(8):
            pool.submit(spend)
    assert run.budget.tokens == 7 * 16_000
    assert run.budget.cost_usd == 8_000


def test_nonsense_in_a_report_gives_nothing_back() -> None:
    run = Run(BudgetLimits(max_tokens=100, max_cost_usd=1.0))
    run.call(60, 0)
    run.budget.record(ModelUsage(-50, -50, cost_usd=-3.0))
    run.budget.record(ModelUsage(1, 1, cost_usd=math.nan))
    assert run.budget.tokens == 62
    assert run.budget.cost_usd > 0
