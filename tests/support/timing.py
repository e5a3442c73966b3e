"""How the time of a piece of work grows, whatever else the machine does."""

from __future__ import annotations

import time
import timeit
from collections.abc import Callable

_SHORTEST_S = 0.002  # less is as much the clock's doing as the work's
_MOST_ROUNDS = 5


def cpu_s(work: Callable[[], object], *, rounds: int = 1) -> float:
    """The least CPU time that `work` takes in this thread, without garbage collection, which depends on others."""
    return min(timeit.repeat(work, timer=time.thread_time, number=1, repeat=rounds))


def check_linear(work: Callable[[int], object], size: int, *, times: int = 8) -> None:
    """Fail where `work`, on `times` the `size`, takes nearer to the square of `times` as long than to `times` as long.

    Both are measured in turn, because others slow the machine down for a while, and one round that is good is enough.
    Beside other work, linear work has taken 26 times as long for 8 times as much: the larger text no longer fits into
    the share of the cache that is left.
    """
    limit = times**1.7
    ratios = []
    for _ in range(_MOST_ROUNDS):
        short = max(cpu_s(lambda: work(size), rounds=2), _SHORTEST_S)
        ratios.append(cpu_s(lambda: work(size * times)) / short)
        if ratios[-1] < limit:
            return
    raise AssertionError(f"{times} times as much takes {min(ratios):.0f} times as long, {limit:.0f} at most expected")
