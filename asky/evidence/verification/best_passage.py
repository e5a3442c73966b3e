"""Choice of the passage that decides about a claim that cites none of them itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from asky.evidence.verification.support import Passage
from asky.evidence.verification.verify import ClaimCheck, check_claim

_SHARES = ("window", "together", "pairs")
_NEARLY_ALL = 0.8
_DECIDES = ("supported", "contradicted")


@dataclass(frozen=True, slots=True)
class JudgedPassage:
    """The place of a passage among those that were compared, and what the claim's check against it found."""

    index: int
    check: ClaimCheck

    @property
    def is_quoted(self) -> bool:
        return bool(self.check.checks.get("quotation"))

    @property
    def likeness(self) -> float:
        """Return how much of the claim the passage has, in [0, 1], whatever the verdict."""
        shares = [self.check.checks.get(name, 0.0) for name in _SHARES]
        return sum(each for each in shares if isinstance(each, float)) / len(_SHARES)


def judge_claim(claim: str, passages: Iterable[Passage], *, written: str = "") -> JudgedPassage | None:
    """Return the passage that decides about `claim`, and its verdict; `None` without passages.

    `written` is the claim with its links and addresses.

    It is the one that has the claim word for word; else the one with most of it among those that support or contradict
    it, or else among all; of equal ones the first. Passages after one with nearly all of the claim are not looked at.
    """
    judged: list[JudgedPassage] = []
    for index, passage in enumerate(passages):
        judged.append(JudgedPassage(index, check_claim(claim, [passage], written=written)))
        if judged[-1].check.verdict == "supported" and judged[-1].likeness >= _NEARLY_ALL:
            break
    deciding = [each for each in judged if each.check.verdict in _DECIDES]
    return max(deciding or judged, key=lambda each: (each.is_quoted, each.likeness), default=None)
