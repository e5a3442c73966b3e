"""The precision of the answers that are given, against the share of questions that get one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from asky.evaluation.scoring import Scored


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What answering only from a `threshold` of confidence gives.

    `share` is that of the answerable questions which are answered, `precision` that of right answers among all given,
    to questions without an answer as well.
    """

    threshold: float
    share: float
    precision: float


def precision_curve(scored: Iterable[Scored]) -> tuple[CurvePoint, ...]:
    """Return a point for each confidence that an answer has, the highest first; equal ones are answered together.

    Answers that nothing judges do not count. Without a confidence for every answer given, or without an answerable
    question, there is no curve: it is empty.

    Source: the risk-coverage curve of El-Yaniv and Wiener 2010, with precision in place of risk.
    """
    judged = [each for each in scored if each.right is not None]
    given = [each for each in judged if each.answered]
    answerable = sum(each.answerable for each in judged)
    if not given or not answerable or any(each.confidence is None for each in given):
        return ()
    points, answered, right, total = list[CurvePoint](), 0, 0, 0
    by_confidence = sorted(given, key=_confidence, reverse=True)
    for threshold, together in groupby(by_confidence, key=_confidence):
        for each in together:
            total += 1
            answered += each.answerable
            right += each.answerable and bool(each.right)
        points.append(CurvePoint(threshold, answered / answerable, right / total))
    return tuple(points)


def precision_at(curve: Sequence[CurvePoint], share: float) -> float | None:
    """Return the precision at the highest threshold that answers `share` of the questions; `None` if none does."""
    return next((each.precision for each in curve if each.share >= share), None)


def _confidence(scored: Scored) -> float:
    return scored.confidence if scored.confidence is not None else 0.0
