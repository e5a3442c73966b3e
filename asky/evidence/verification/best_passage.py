"""Choice of the passage that decides about a claim that cites none of them itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from asky.evidence.verification.claim_reader import ClaimReader
from asky.evidence.verification.meaning import ClaimCheck, Ruled, decide
from asky.evidence.verification.rules import check_by_rules
from asky.evidence.verification.support import Passage

_SHARES = ("window", "together", "pairs")
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


def judge_claim(
    claim: str, passages: Iterable[Passage], *, written: str = "", reader: ClaimReader | None = None
) -> JudgedPassage | None:
    """Return the passage that decides about `claim`, and its verdict; `None` without passages.

    `written` is the claim with its links and addresses; `reader` is as in `verify_claim`, and reads once for all.

    It is the one that has the claim word for word; else the one with most of it among those that support or contradict
    it, or else among all; of equal ones the first. What the reader calls a contradiction counts only if no passage
    supports the claim. Passages after one that has it word for word are not looked at.
    """
    ruled: list[Ruled] = []
    for passage in passages:
        ruled.append(check_by_rules(claim, [passage], written=written))
        if ruled[-1].check.checks.get("quotation"):
            break
    judged = [JudgedPassage(index, check) for index, check in enumerate(decide(ruled, reader))]
    by_rules = [each for each in judged if each.check.checks.get("contradicted_by") != "meaning"]
    supports = any(each.check.verdict == "supported" for each in judged)
    deciding = [each for each in (by_rules if supports else judged) if each.check.verdict in _DECIDES]
    return max(deciding or judged, key=lambda each: (each.is_quoted, each.likeness), default=None)
