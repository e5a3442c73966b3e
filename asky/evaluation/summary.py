"""Figures over all questions of a variant, and how far two variants are apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from asky.evaluation.abstention import CurvePoint, precision_at, precision_curve
from asky.evaluation.intervals import Interval, Ratio, paired_difference, ratio_interval
from asky.evaluation.scoring import MEASURES, Scored

PRECISION_AT = "precision_at_70"
"""The precision when 70 % of the answerable questions are answered: a point of the curve, so without an interval."""
_SHARE = 0.7


@dataclass(frozen=True, slots=True)
class Figure:
    """The value of a measure with its interval, and the number of questions that it is over."""

    interval: Interval
    questions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantSummary:
    """The figures of one variant by measure, and its differences to the first one, of which there are none for that."""

    figures: Mapping[str, Figure]
    differences: Mapping[str, Interval]
    curve: tuple[CurvePoint, ...]
    precision_at_70: float | None


def summarize(scored: Sequence[Scored], first: Sequence[Scored] | None = None) -> VariantSummary:
    """Return the figures of the scored questions, and the differences to those of the variant `first`, paired by id."""
    curve = precision_curve(scored)
    columns = {name: _column(scored, name) for name in MEASURES}
    figures = {
        name: Figure(ratio_interval(column), sum(bool(each[1]) for each in column))
        for name, column in columns.items()
        if any(each[1] for each in column)
    }
    return VariantSummary(
        figures=figures,
        differences={} if first is None else differences(scored, first),
        curve=curve,
        precision_at_70=precision_at(curve, _SHARE),
    )


def differences(ours: Sequence[Scored], theirs: Sequence[Scored]) -> dict[str, Interval]:
    """Return the difference of each measure over the questions that both have; ours minus theirs."""
    others = {each.id: each for each in theirs}
    paired = [(each, others[each.id]) for each in ours if each.id in others]
    found = {}
    for name in MEASURES:
        column = [_column(side, name) for side in ([one for one, _ in paired], [other for _, other in paired])]
        if all(any(each[1] for each in side) for side in column):
            found[name] = paired_difference(*column)
    return found


def _column(scored: Sequence[Scored], name: str) -> list[Ratio]:
    return [each.ratios.get(name, (0.0, 0.0)) for each in scored]
