"""What an answer says of its run: the sources that were shown, what was passed over, and what it used."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from asky.values import Citation, Evidence, Source, Usage

if TYPE_CHECKING:
    from asky.chat.run_state import RunState
    from asky.llm.port import ModelUsage


def shown_sources(shown: Iterable[Evidence], citations: Iterable[Citation]) -> tuple[tuple[Source, float, bool], ...]:
    """Every source that was shown, by its best passage's score, and whether the answer cites it."""
    cited = {each.source.id for each in citations}
    found: dict[str, tuple[Source, float, bool]] = {}
    for each in shown:
        score = max(each.score or 0.0, found[each.source.id][1] if each.source.id in found else 0.0)
        found[each.source.id] = (each.source, score, each.source.id in cited)
    return tuple(sorted(found.values(), key=lambda item: -item[1]))


def passed_over(before: Iterable[tuple[str, str]], state: RunState) -> tuple[tuple[str, str], ...]:
    """What could not be read or was passed over, and why: `before` the run, and in it if it was not used after all."""
    used = {each.source.url for each in state.research.shown.values()}
    found = dict(before) | {url: why for url, why in state.rejected if url not in used}
    return tuple(found.items())


def usage_of(calls: Sequence[ModelUsage], state: RunState, seconds: float) -> Usage:
    """What the run used; what it cost is not known where that of one call is not."""
    costs = [each.cost_usd for each in calls]
    web = state.use
    return Usage(
        llm_calls=len(calls),
        prompt_tokens=sum(each.prompt_tokens for each in calls),
        completion_tokens=sum(each.completion_tokens for each in calls),
        cost_usd=None if not costs or None in costs else math.fsum(each for each in costs if each is not None),
        searches=len(state.research.queries) + (web.searches if web else 0),
        fetches=web.fetches if web else 0,
        cache_hits=web.cache_hits if web else 0,
        seconds=seconds,
    )
