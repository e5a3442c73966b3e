"""How saturated a run is after a cycle, and whether any one measure would end it.

`asky.agent.stopping` decides with the history of a run; `should_stop` is one of its rules.
"""

from __future__ import annotations

from dataclasses import dataclass

NEW_ENTITIES_BELOW = 0.05
NEW_FACTS_BELOW = 0.05
COVERAGE_ABOVE = 0.95
CIRCULARITY_ABOVE = 0.80
"""The thresholds of `should_stop`; a value that equals one does not pass it. `docs/concepts/stopping.md` has what they
cost."""

_ENTITIES = "Entity saturation reached (<5% new entities in last cycle)"
_FACTS = "Fact saturation reached (<5% new facts in last cycle)"
_COVERAGE = "Source coverage complete (>95% of available sources queried)"
_CIRCULARITY = "High citation circularity (>80% circular references)"
_NOT_YET = "Saturation not yet reached, continuing research"


@dataclass(frozen=True, slots=True)
class SaturationMetrics:
    """Four shares, each in [0, 1], after a cycle.

    The first two are what the cycle has added of all items found so far; then the share of citations that lead back to
    sources already known, and the share of the available sources that were queried; those that cannot be read are
    neither.
    """

    new_entities_ratio: float
    new_facts_ratio: float
    citation_circularity: float
    source_coverage: float

    def passed(self) -> tuple[str | None, ...]:
        """Return the reason of each measure that is past its threshold, else `None`, in the order of `should_stop`."""
        return (
            _ENTITIES if self.new_entities_ratio < NEW_ENTITIES_BELOW else None,
            _FACTS if self.new_facts_ratio < NEW_FACTS_BELOW else None,
            _COVERAGE if self.source_coverage > COVERAGE_ABOVE else None,
            _CIRCULARITY if self.citation_circularity > CIRCULARITY_ABOVE else None,
        )


def calculate_saturation(
    entities_before: int,
    entities_after: int,
    facts_before: int,
    facts_after: int,
    circular_citations: int,
    total_citations: int,
    sources_queried: int,
    sources_available: int,
) -> SaturationMetrics:
    """Return the measures of a cycle from counts of distinct items before and after it.

    A share of nothing is 0, so a run that has found nothing adds nothing; a first cycle that has found something has
    added all of it. More sources queried than available, as when one has gone, count as all.

    Raises `ValueError` for a negative count, one of items that falls, or more circular citations than citations.
    """
    new_entities, new_facts = entities_after - entities_before, facts_after - facts_before
    others = total_citations - circular_citations
    counts = (entities_before, facts_before, circular_citations, sources_queried, sources_available)
    if min(new_entities, new_facts, others, *counts) < 0:
        raise ValueError(f"impossible counts: {new_entities=}, {new_facts=}, {others=}, others: {counts}")
    return SaturationMetrics(
        new_entities_ratio=_share(new_entities, entities_after),
        new_facts_ratio=_share(new_facts, facts_after),
        citation_circularity=_share(circular_citations, total_citations),
        source_coverage=min(_share(sources_queried, sources_available), 1.0),
    )


def should_stop(metrics: SaturationMetrics) -> tuple[bool, str]:
    """Return whether any one measure is past its threshold, with the reason of the first that is."""
    reason = next(filter(None, metrics.passed()), None)
    return reason is not None, reason or _NOT_YET


def _share(part: int, whole: int) -> float:
    return part / max(whole, 1)
