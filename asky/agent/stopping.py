"""When a run stops: rules over the history of its cycles, and budgets, which always win over the rule.

`docs/concepts/stopping.md` has what each rule saves and how often it is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Protocol

from asky.agent.saturation import SaturationMetrics, should_stop
from asky.errors import UsageError
from asky.text.counting import counted

_NOT_YET = "Saturation not yet reached, continuing research"
_ALL_PASSED = "All four measures of saturation are past their thresholds"


@dataclass(frozen=True, slots=True, kw_only=True)
class CycleRecord:
    """What a cycle did, and what is known after it. Cycles count from 1; items are distinct, see `asky.agent.items`.

    `fetches` are the sources that the cycle tried to read, those that failed included. `new_entities` and `new_facts`
    are what it added to the totals `entities` and `facts`; `facts_seen_once` and `facts_seen_twice` are how many facts
    exactly one and exactly two sources state. `sources` are those read so far that state a fact; a source and its
    reprints are one. `unread` are the sources that searches have offered so far and that were neither tried nor
    rejected.
    """

    cycle: int
    fetches: int
    new_entities: int
    entities: int
    new_facts: int
    facts: int
    facts_seen_once: int
    facts_seen_twice: int
    sources: int
    unread: int
    metrics: SaturationMetrics

    @property
    def novelty(self) -> float:
        """Return the share of new items among all entities and facts found so far, in [0, 1]."""
        return (self.new_entities + self.new_facts) / max(self.entities + self.facts, 1)


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a run stops, and why or why not, in words for the user."""

    should_stop: bool
    reason: str


class StoppingRule(Protocol):
    """Decides after each cycle whether the run goes on."""

    def decide(self, history: Sequence[CycleRecord]) -> Decision:
        """Return the decision after the last cycle of `history`, which is in order; never to stop before the first."""


@dataclass(frozen=True, slots=True)
class AnyMeasure:
    """Stops as soon as any one measure of the last cycle is past its threshold: `should_stop`."""

    def decide(self, history: Sequence[CycleRecord]) -> Decision:
        """Return the decision after the last cycle of `history`."""
        return Decision(*should_stop(history[-1].metrics)) if history else Decision(False, _NOT_YET)


@dataclass(frozen=True, slots=True)
class AllMeasures:
    """Stops when all four measures of the last cycle are past their thresholds."""

    def decide(self, history: Sequence[CycleRecord]) -> Decision:
        """Return the decision after the last cycle of `history`."""
        if history and all(history[-1].metrics.passed()):
            return Decision(True, _ALL_PASSED)
        return Decision(False, _NOT_YET)


@dataclass(frozen=True, slots=True)
class Windowed:
    """Stops when the novelty of each of the last `cycles` cycles is below `novelty_below`; the first never counts."""

    novelty_below: float = 0.1
    cycles: int = 2

    def decide(self, history: Sequence[CycleRecord]) -> Decision:
        """Return the decision after the last cycle of `history`."""
        last = history[1:][-self.cycles :]
        if len(last) == self.cycles and all(each.novelty < self.novelty_below for each in last):
            window = f"each of the last {counted(self.cycles, 'cycle')}"
            return Decision(True, f"Little is new: {window} added less than {self.novelty_below:.0%} of what is known")
        return Decision(False, _NOT_YET)


@dataclass(frozen=True, slots=True)
class Estimated:
    """Stops when less than an estimated `unread_below` of the facts is left in unread sources: `estimate_unread`.

    It never stops after one cycle; a run without a single fact is given up after `fruitless_cycles`.
    """

    unread_below: float = 0.055
    fruitless_cycles: int = 3

    def decide(self, history: Sequence[CycleRecord]) -> Decision:
        """Return the decision after the last cycle of `history`."""
        if len(history) < _MIN_CYCLES:
            return Decision(False, _NOT_YET)
        if not history[-1].facts:
            has_tried = len(history) >= self.fruitless_cycles
            return Decision(has_tried, f"No facts were found in {counted(len(history), 'cycle')}")
        unread, sources = estimate_unread(history), history[-1].unread
        should_stop = unread < self.unread_below
        if not sources:
            return Decision(should_stop, "Everything that the searches offered has been read")
        adds = f"would add an estimated {unread:.0%} of the facts"
        left = f"{counted(sources, 'source')} that {'was' if sources == 1 else 'were'} not read {adds}"
        return Decision(should_stop, f"Little is left: {left}" if should_stop else left)


_MIN_CYCLES = 2
_WINDOW = 2


def estimate_unread(history: Sequence[CycleRecord]) -> float:
    """Return the estimated share, in [0, 1], that the sources offered but not read hold of all facts in reach.

    How many facts are unseen is estimated from how many facts one source states and how many two: sources that overlap
    little leave much unseen. Of these, the unread sources are expected to state as many as so many more sources would,
    if the same part of them states facts as of those tried in the last two cycles. What no search has offered yet is
    beyond the estimate.

    Source: the bias-corrected estimator for incidence data of Chao, "Estimating the population size for
    capture-recapture data with unequal catchability", Biometrics 43, 1987; sample-based extrapolation of Colwell et
    al., "Models and estimators linking individual-based and sample-based rarefaction, extrapolation and comparison of
    assemblages", Journal of Plant Ecology 5, 2012.
    """
    last = history[-1]
    if not last.facts:
        return 0.0
    unseen = _unseen_facts(last)
    if not unseen:
        return 0.0
    per_source = last.facts_seen_once / (last.sources * unseen + last.facts_seen_once)
    added: float = unseen * (1 - (1 - per_source) ** _useful_unread(history))
    return added / (last.facts + added)


def _unseen_facts(last: CycleRecord) -> float:
    once, twice, sources = last.facts_seen_once, last.facts_seen_twice, last.sources
    if sources < 2:
        return once  # one source shows no overlap: as much again is a guess
    return (sources - 1) / sources * once * (once - 1) / (2 * (twice + 1))


def _useful_unread(history: Sequence[CycleRecord]) -> float:
    window = history[-_WINDOW:]
    before = history[-_WINDOW - 1].sources if len(history) > _WINDOW else 0
    tried = sum(each.fetches for each in window)
    return history[-1].unread * (history[-1].sources - before) / max(tried, 1)


RULES: Mapping[str, StoppingRule] = MappingProxyType(
    {"estimated": Estimated(), "windowed": Windowed(), "any": AnyMeasure(), "all": AllMeasures()}
)
"""The rules by their names in the configuration."""

DEFAULT_RULE = "estimated"
"""Source: the 200 worlds of development in docs/concepts/stopping.md, where its threshold was chosen too."""


def stopping_rule(name: str = DEFAULT_RULE) -> StoppingRule:
    """Return the rule of that name. Raises `UsageError` if there is none."""
    if name not in RULES:
        raise UsageError(f"there is no stopping rule {name!r}", hint=f"choose one of {', '.join(RULES)}")
    return RULES[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What a run has spent so far: completed cycles, sources tried, tokens, US dollars, and seconds."""

    cycles: int = 0
    fetches: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    time_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """The most that a run may spend, as in `Spending`; 0 means no limit.

    Raises `ValueError` for a limit that is negative or not a number.
    """

    cycles: int = 0
    fetches: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    time_s: float = 0.0

    def __post_init__(self) -> None:
        for each in fields(self):
            if not getattr(self, each.name) >= 0:
                raise ValueError(f"{each.name} must be at least 0, not {getattr(self, each.name)}")

    def exceeded(self, spent: Spending) -> str | None:
        """Return why a run that has spent this much may spend no more: the first limit reached; `None` if it may."""
        amounts = {
            "cycles": counted(self.cycles, "cycle"),
            "fetches": f"{counted(self.fetches, 'source')} read",
            "tokens": counted(self.tokens, "token"),
            "cost_usd": f"${self.cost_usd:,.2f}",
            "time_s": f"{self.time_s:,.0f} seconds",
        }
        for name, amount in amounts.items():
            if 0 < getattr(self, name) <= getattr(spent, name):
                return f"the limit of {amount} was reached"
        return None


def decide(rule: StoppingRule, history: Sequence[CycleRecord], budgets: Budgets, spent: Spending) -> Decision:
    """Return the decision of the budgets if one is used up, whatever the rule says; else that of the rule."""
    reason = budgets.exceeded(spent)
    return Decision(True, reason) if reason else rule.decide(history)
