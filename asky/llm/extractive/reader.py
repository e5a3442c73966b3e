"""The reader as the built-in model uses it: which units answer a question, and how likely they do."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from asky.llm.extractive.questions import ParsedQuestion
from asky.llm.extractive.scoring import ScoredUnit, Scorer
from asky.llm.extractive.units import RECORDS, PassageText, Unit
from asky.text.languages import languages_of

if TYPE_CHECKING:
    import numpy as np

ReadUnits = Callable[[Sequence[tuple[str, str, str]]], "np.ndarray"]
"""Returns the logit of "this unit answers this question" for each question, unit and context, `float32[n]`."""

# As the reader was trained; see `tools/reader/records.py`.
_TITLE_WORDS, _BEFORE_WORDS = 12, 18
_UNIT_WORDS = 80


@dataclass(frozen=True, slots=True)
class _Weights:
    """Of the reader's logit and of coverage in the log odds of an answer, and what is taken off."""

    reader: float
    coverage: float
    off: float


# Source: docs/concepts/extractive-model.md. Records resemble each other, and the reader tells them apart less well.
_OF_PROSE = _Weights(1.0, 2.5, 0.2)
_OF_RECORDS = _Weights(0.6, 6.0, 2.0)
_OF_RANK = 0.4
"""What the logarithm of a passage's place takes off: nothing of the first, .55 of the fourth.

Search knows a whole collection, the reader a unit. Of 100 questions of ClapNQ without an answer this declines 56 in
place of 44, of 30 of MultiHop-RAG 28 in place of 25, and of 100 that are asked of other documents 96 in place of 92; of
those with an answer no set loses more than one in a hundred.
"""
_TEMPERED, _TAKEN_OFF, _LEAST = 0.47, 0.97, 1e-9  # of log odds; what is certain stays finite
_PASSAGES = 5  # whose language is looked at


def reads(question: str, passages: Sequence[PassageText]) -> bool:
    """Return whether question and passages may be English, which is what the reader reads."""
    asked = languages_of(question)
    said = languages_of(" ".join(each.text for each in passages[:_PASSAGES]))
    return bool(asked) and "en" in asked and "en" in said


def read_candidates(
    question: ParsedQuestion, near: Sequence[ScoredUnit], scorer: Scorer, read: ReadUnits
) -> list[ScoredUnit]:
    """Return units by how likely they answer, which is their `score` too; ties keep their order.

    Raises what `read` raises.
    """
    if not near:
        return []
    text = scorer.respelled(question.text)
    items = [
        (text, _cut(each.unit.labelled or each.unit.quote, _UNIT_WORDS), _context(each.unit, scorer)) for each in near
    ]
    logits = read(items).tolist()
    shares = [_share(each, logit) for each, logit in zip(near, logits, strict=True)]
    judged = [replace(each, score=share, likely=share) for each, share in zip(near, shares, strict=True)]
    return sorted(judged, key=lambda each: -each.score)


def confidence(likely: float) -> float:
    """Return how often an answer whose best unit is this likely is right, in [0, 1], if half the questions have one.

    Learned on the sets of `tests/quality/confidence.py`; docs/concepts/extractive-model.md has what it is worth.
    """
    odds = math.log(max(_LEAST, likely) / max(_LEAST, 1 - likely))
    return 1 / (1 + math.exp(_TAKEN_OFF - _TEMPERED * odds))


def _share(scored: ScoredUnit, logit: float) -> float:
    weights = _OF_RECORDS if scored.unit.kind in RECORDS else _OF_PROSE
    off = weights.off + _OF_RANK * math.log(1 + scored.unit.passage)
    return 1 / (1 + math.exp(off - weights.reader * logit - weights.coverage * scored.coverage))


def _context(unit: Unit, scorer: Scorer) -> str:
    """Return what a unit stands below and behind: the nearest heading or the title, and the unit before it."""
    title = unit.heading or unit.section.rpartition(" › ")[2] or scorer.title_of(unit)
    before = scorer.before(unit)
    parts = (_cut(title, _TITLE_WORDS), _cut(before.quote, _BEFORE_WORDS) if before is not None else "")
    return " | ".join(dict.fromkeys(part for part in parts if part))


def _cut(text: str, count: int) -> str:
    return " ".join(text.split()[:count])
