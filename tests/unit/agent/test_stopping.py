from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asky.agent.saturation import SaturationMetrics
from asky.agent.stopping import (
    DEFAULT_RULE,
    RULES,
    AllMeasures,
    AnyMeasure,
    Budgets,
    CycleRecord,
    Decision,
    Estimated,
    Spending,
    StoppingRule,
    Windowed,
    decide,
    estimate_unread,
    stopping_rule,
)
from asky.errors import UsageError

GOING_ON = SaturationMetrics(0.5, 0.5, 0.0, 0.2)
RECORD = CycleRecord(
    cycle=1,
    fetches=5,
    new_entities=0,
    entities=20,
    new_facts=8,
    facts=80,
    facts_seen_once=20,
    facts_seen_twice=9,
    sources=10,
    unread=10,
    metrics=GOING_ON,
)


def novel(*added: int) -> list[CycleRecord]:
    """Cycles that add so many facts, all with 80 facts and 20 entities in the end."""
    return [replace(RECORD, cycle=cycle, new_facts=new) for cycle, new in enumerate(added, 1)]


@pytest.mark.parametrize("name", RULES)
def test_no_rule_stops_before_the_first_cycle(name: str) -> None:
    assert not stopping_rule(name).decide([]).should_stop


def test_rules_have_names_and_an_unknown_one_is_refused() -> None:
    assert stopping_rule() is RULES[DEFAULT_RULE]
    assert (RULES["any"], RULES["all"]) == (AnyMeasure(), AllMeasures())
    assert (RULES["windowed"], RULES["estimated"]) == (Windowed(0.1, 2), Estimated(0.055, 3))
    with pytest.raises(UsageError, match="no stopping rule 'never'") as raised:
        stopping_rule("never")
    assert raised.value.hint == "choose one of estimated, windowed, any, all"


def test_any_measure_stops_by_the_last_cycle_alone() -> None:
    done = replace(RECORD, metrics=replace(GOING_ON, new_facts_ratio=0.01))
    assert AnyMeasure().decide([RECORD, done]) == Decision(
        True, "Fact saturation reached (<5% new facts in last cycle)"
    )
    assert AnyMeasure().decide([done, RECORD]) == Decision(False, "Saturation not yet reached, continuing research")


def test_all_measures_have_to_be_past_their_thresholds() -> None:
    done = SaturationMetrics(0.0, 0.0, 1.0, 1.0)
    assert AllMeasures().decide([replace(RECORD, metrics=done)]).should_stop
    for name, value in (("new_entities_ratio", 0.1), ("new_facts_ratio", 0.1), ("citation_circularity", 0.1)):
        assert not AllMeasures().decide([replace(RECORD, metrics=replace(done, **{name: value}))]).should_stop
    assert not AllMeasures().decide([replace(RECORD, metrics=done), RECORD]).should_stop


def test_novelty_is_the_share_of_new_items() -> None:
    assert replace(RECORD, new_entities=2).novelty == 0.1
    assert replace(RECORD, new_entities=0, entities=0, new_facts=0, facts=0).novelty == 0


@pytest.mark.parametrize(
    ("added", "stops"),
    [((9, 9), False), ((80, 9, 9), True), ((80, 10, 9), False), ((80, 9, 10), False), ((80, 9, 9, 10), False)],
)
def test_a_window_of_little_novelty_stops_and_the_first_cycle_never_counts(added: tuple[int, ...], stops: bool) -> None:
    assert Windowed(0.1, 2).decide(novel(*added)).should_stop == stops


def test_a_window_says_how_little_was_new() -> None:
    reason = Windowed(0.1, 2).decide(novel(80, 1, 1)).reason
    assert reason == "Little is new: each of the last 2 cycles added less than 10% of what is known"


def test_unread_facts_are_estimated_from_those_seen_once_and_twice() -> None:
    # unseen = 9/10 * 20 * 19 / (2 * 10) = 17.1; a source has 20 / (10 * 17.1 + 20) of them; all 10 read had facts, so
    # 10 unread ones add 17.1 * (1 - (1 - 20 / 191) ** 10) = 11.44, of 91.44
    assert estimate_unread([replace(RECORD, fetches=10)]) == pytest.approx(0.1251, abs=5e-5)


def test_only_as_many_unread_sources_count_as_have_stated_facts_lately() -> None:
    history = [replace(RECORD, sources=6, fetches=6), replace(RECORD, sources=8), replace(RECORD, sources=10)]
    # 4 of 10 tried in the last two cycles: 4 of the 10 unread add 17.1 * (1 - (171 / 191) ** 4) = 6.11
    assert estimate_unread(history) == pytest.approx(6.113 / 86.113, abs=5e-5)


@pytest.mark.parametrize(
    "changes",
    [
        {"unread": 0},
        {"facts": 0, "facts_seen_once": 0, "facts_seen_twice": 0},
        {"facts_seen_once": 1},
        {"facts_seen_once": 0},
    ],
)
def test_nothing_is_left_where_nothing_is_offered_or_all_is_seen_twice(changes: dict[str, int]) -> None:
    assert estimate_unread([replace(RECORD, **changes)]) == 0


def test_one_source_says_nothing_about_overlap() -> None:
    one = replace(RECORD, sources=1, facts=20, facts_seen_twice=0, fetches=1, unread=1)
    assert estimate_unread([one]) == pytest.approx(10 / 30)  # 20 unseen, half of them in another source


def test_the_estimate_stops_below_its_threshold_and_never_after_one_cycle() -> None:
    history = [RECORD, replace(RECORD, cycle=2)]
    unread = estimate_unread(history)
    assert Estimated(unread).decide(history) == Decision(
        False, "10 sources that were not read would add an estimated 13% of the facts"
    )
    assert Estimated(1.0).decide(history).reason.startswith("Little is left: 10 sources")
    assert Estimated().decide([RECORD, replace(RECORD, cycle=2, unread=0)]) == Decision(
        True, "Everything that the searches offered has been read"
    )
    assert Estimated(unread + 1e-9).decide(history).should_stop
    assert not Estimated(1.0).decide(history[:1]).should_stop


def test_a_run_without_facts_goes_on_for_three_cycles() -> None:
    nothing = replace(RECORD, facts=0, new_facts=0, facts_seen_once=0, facts_seen_twice=0, sources=0)
    assert [Estimated().decide([nothing] * cycles).should_stop for cycles in (1, 2, 3)] == [False, False, True]
    assert Estimated().decide([nothing] * 3).reason == "No facts were found in 3 cycles"


@pytest.mark.parametrize(
    ("spent", "reason"),
    [
        (Spending(cycles=20), "the limit of 20 cycles was reached"),
        (Spending(fetches=30), "the limit of 30 sources read was reached"),
        (Spending(tokens=1000), "the limit of 1,000 tokens was reached"),
        (Spending(cost_usd=0.5), "the limit of $0.50 was reached"),
        (Spending(time_s=60.5), "the limit of 60 seconds was reached"),
        (Spending(cycles=99, time_s=99), "the limit of 20 cycles was reached"),
        (Spending(cycles=19, fetches=29, tokens=999, cost_usd=0.49, time_s=59), None),
    ],
)
def test_a_budget_that_is_used_up_says_which(spent: Spending, reason: str | None) -> None:
    budgets = Budgets(cycles=20, fetches=30, tokens=1000, cost_usd=0.5, time_s=60)
    assert budgets.exceeded(spent) == reason


def test_no_limit_is_never_reached_and_none_is_negative() -> None:
    assert Budgets().exceeded(Spending(cycles=10**6, tokens=10**9)) is None
    for limit in (-1, float("nan")):
        with pytest.raises(ValueError, match="time_s must be at least 0"):
            Budgets(time_s=limit)


@settings(max_examples=30)
@given(st.sampled_from(sorted(RULES)), st.integers(1, 30))
def test_what_always_adds_new_facts_is_stopped_by_the_budget_alone(name: str, cycles: int) -> None:
    history: list[CycleRecord] = []
    decision, rule, budgets = Decision(False, ""), stopping_rule(name), Budgets(cycles=cycles)
    while not decision.should_stop:
        history.append(endless(len(history) + 1))
        decision = decide(rule, history, budgets, Spending(cycles=len(history)))
    assert len(history) == cycles
    assert decision.reason == f"the limit of {cycles} cycle{'s' if cycles > 1 else ''} was reached"


def endless(cycle: int) -> CycleRecord:
    """A cycle that has five sources, each with ten facts that no other states, and is offered ten more."""
    facts = 50 * cycle
    return replace(
        RECORD,
        cycle=cycle,
        new_entities=facts // 2,
        entities=facts,
        new_facts=facts // 2,
        facts=facts,
        facts_seen_once=facts,
        facts_seen_twice=0,
        sources=5 * cycle,
        unread=10,
        metrics=SaturationMetrics(0.5, 0.5, 0.0, 0.3),
    )


def test_a_budget_wins_over_a_rule_that_goes_on_and_names_itself_before_one_that_stops() -> None:
    stopping: StoppingRule = Windowed(1.1, 1)
    history = novel(80, 9)
    assert decide(stopping, history, Budgets(cycles=2), Spending(cycles=2)).reason.endswith("2 cycles was reached")
    assert decide(stopping, history, Budgets(cycles=3), Spending(cycles=2)) == stopping.decide(history)
