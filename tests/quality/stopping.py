"""What stopping rules save and how often they are wrong, over synthetic worlds: `python -m tests.quality.stopping`.

Every rule is compared with a run of five cycles in the same worlds, and with one to the end of the budget.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, quantiles
from types import MappingProxyType

from asky.agent.stopping import AllMeasures, AnyMeasure, Estimated, StoppingRule, Windowed
from asky.evaluation.intervals import Interval, bootstrap
from tests.support.worlds import DEVELOPMENT, FIXED_CYCLES, HARDER, HELD_OUT, Ranges, Run, make_world, run_world

SETS: Mapping[str, tuple[range, Ranges]] = MappingProxyType(
    {
        "development": (range(200), DEVELOPMENT),
        "held out": (range(20_000, 20_200), HELD_OUT),
        "harder": (range(20_000, 20_200), HARDER),
        "more like development": (range(50_000, 51_500), DEVELOPMENT),
        "more like held out": (range(60_000, 61_500), HELD_OUT),
    }
)
"""Seeds and ranges of worlds. The default was chosen on the first set; an interval over 200 worlds is wide."""
ENOUGH = 0.9
"""The part of what a run to the end of the budget finds that a run should have found when it stops."""

Stop = Callable[[Run], int]
"""After how many cycles a run ends."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one rule over some worlds.

    `recall` is a mean; `gain` is its difference to that of five cycles, and `fetches` the share of their fetches, both
    with intervals; `early` is the share of worlds in which it stopped too early, with budget left. `recalls` and
    `fetch_ratios` have a value for each world: the part of what is found in the end, and the share of the fetches.
    """

    recall: float
    gain: Interval
    fetches: Interval
    early: float
    recalls: tuple[float, ...]
    fetch_ratios: tuple[float, ...]


def worlds(seeds: Sequence[int], ranges: Ranges) -> list[Run]:
    """The runs through the worlds of `seeds`."""
    return [run_world(make_world(seed, ranges)) for seed in seeds]


def measure(runs: Sequence[Run], stop: Stop) -> Figures:
    """The figures of what ends runs."""
    cycles = [stop(run) for run in runs]
    usual = fmean(run.fetches(FIXED_CYCLES) for run in runs)
    final = [found(run, number) / (run.recall[-1] or 1.0) for run, number in zip(runs, cycles, strict=True)]
    tried = [run.fetches(number) for run, number in zip(runs, cycles, strict=True)]
    return Figures(
        recall=fmean(found(run, number) for run, number in zip(runs, cycles, strict=True)),
        gain=bootstrap(
            [found(run, number) - found(run, FIXED_CYCLES) for run, number in zip(runs, cycles, strict=True)]
        ),
        fetches=bootstrap([number / usual for number in tried]),
        early=fmean(
            number < len(run.records) and part < ENOUGH for run, number, part in zip(runs, cycles, final, strict=True)
        ),
        recalls=tuple(final),
        fetch_ratios=tuple(number / run.fetches(FIXED_CYCLES) for run, number in zip(runs, tried, strict=True)),
    )


def found(run: Run, cycles: int) -> float:
    """The recall of a run after so many cycles, or at its end."""
    return run.recall[min(cycles, len(run.recall)) - 1]


def ruled(rule: StoppingRule) -> Stop:
    """Ends a run when `rule` says so."""
    return lambda run: run.stopped_by(rule)


def fixed(cycles: int) -> Stop:
    """Ends a run after so many cycles."""
    return lambda run: min(cycles, len(run.records))


def all_stops() -> Iterator[tuple[str, Stop]]:
    """What is compared, with names."""
    yield from ((f"{cycles} cycles", fixed(cycles)) for cycles in (3, 4, 5, 6, 8, 10))
    yield "any", ruled(AnyMeasure())
    yield "all", ruled(AllMeasures())
    for below, cycles in ((0.05, 1), (0.05, 2), (0.1, 2), (0.1, 3), (0.15, 2), (0.2, 2)):
        yield f"windowed, {below}, {cycles}", ruled(Windowed(below, cycles))
    for below in (0.02, 0.03, 0.05, 0.055, 0.06, 0.08, 0.1, 0.15):
        yield f"estimated, {below}", ruled(Estimated(below))


def main() -> None:
    write = sys.stdout.write
    for name, (seeds, ranges) in SETS.items():
        runs = worlds(seeds, ranges)
        write(f"\n{name}: {len(runs)} worlds\n")
        for label, stop in all_stops():
            each = measure(runs, stop)
            write(f"{label:20} recall {each.recall:.3f}  {each.gain}  fetches {each.fetches}  early {each.early:.3f}\n")
        best = measure(runs, ruled(Estimated()))
        write(f"default: fetches {_spread(best.fetch_ratios)}  recall {_spread(best.recalls)}\n")
        for kind in dict.fromkeys(run.world.kind for run in runs):
            some = [run for run in runs if run.world.kind == kind]
            each, usual = measure(some, ruled(Estimated())), measure(some, fixed(FIXED_CYCLES))
            write(
                f"  {kind:9} {len(some):3}  recall {each.recall:.3f} fetches {each.fetches.mean:.2f}"
                f" early {each.early * len(some):.0f}, five cycles {usual.recall:.3f} {usual.early * len(some):.0f}\n"
            )


def _spread(values: Sequence[float]) -> str:
    cuts = quantiles(values, n=20, method="inclusive")
    return "  ".join(
        f"{name} {cuts[at]:.2f}" for name, at in (("5 %", 0), ("25 %", 4), ("50 %", 9), ("75 %", 14), ("95 %", 18))
    )


if __name__ == "__main__":
    main()
