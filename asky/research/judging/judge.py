"""Judges of claims: what they receive, what they return, and how an answer takes on their verdicts.

The check by rules (`asky.evidence.verification`) compares words and numbers; a judge reads. Its verdict becomes that of
the claim, and the verdict of the rules stays in `checks["rules"]`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from asky.evidence.marks import MARKED, mark
from asky.evidence.plain_text import plain_text
from asky.llm.port import ModelUsage
from asky.values import Span, Verdict

if TYPE_CHECKING:
    from asky.evidence.verification.checked_reply import CheckedReply
    from asky.llm.port import ChatModel
    from asky.llm.spending import Budget
    from asky.values import Claim, Evidence


@dataclass(frozen=True, slots=True)
class CitedClaim:
    """A claim in plain text, with the passages that it cites; `number` is its place among the claims, from 0."""

    number: int
    text: str
    passages: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class ModelVerdict:
    """The verdict on one claim. `score` in [0, 1] says how far the passages support it; `reason` may be empty."""

    verdict: Verdict
    score: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ModelVerdicts:
    """The verdicts `by` the model of that name on the claims with these numbers, and the usage of its calls, if any."""

    by: str
    verdicts: Mapping[int, ModelVerdict]
    calls: tuple[ModelUsage, ...] = ()

    def encode(self) -> dict[str, Any]:
        """Return the verdicts as JSON."""
        verdicts = {str(number): asdict(each) for number, each in self.verdicts.items()}
        return {"by": self.by, "verdicts": verdicts, "calls": [asdict(each) for each in self.calls]}

    @classmethod
    def decode(cls, data: Mapping[str, Any]) -> ModelVerdicts:
        """Return the verdicts that `encode` returned as JSON."""
        verdicts = {int(number): ModelVerdict(**each) for number, each in data["verdicts"].items()}
        return cls(data["by"], verdicts, tuple(ModelUsage(**each) for each in data["calls"]))


class ClaimJudge(Protocol):
    """Reads claims with the passages that they cite. `asks_model` says that it sends them to the run's chat model."""

    @property
    def asks_model(self) -> bool: ...

    def name_for(self, model: ChatModel) -> str | None:
        """Return the name of what judges the answers of `model`, `None` if it judges none of them."""
        ...

    async def judge(
        self, claims: Sequence[CitedClaim], model: ChatModel, *, budget: Budget, marker: str
    ) -> ModelVerdicts:
        """Return verdicts on claims, not necessarily on all. `model` wrote the answer; `marker` fences passages.

        Raises an `AskyError` if there can be none.
        """
        ...


def cited_claims(checked: CheckedReply, shown: Mapping[str, Evidence]) -> list[CitedClaim]:
    """Return the claims of an answer that cite passages, in order."""
    passages = {citation.n: shown[citation.key] for citation in checked.citations}
    return [
        CitedClaim(number, plain_text(claim.text), tuple(passages[n] for n in claim.citations))
        for number, claim in enumerate(checked.claims)
        if claim.citations
    ]


def with_judgements(checked: CheckedReply, judgements: ModelVerdicts) -> CheckedReply:
    """Return the answer with these verdicts in place of the earlier ones, and marked accordingly.

    The checks of a claim that was judged say who judged it (`judged_by`), and for what reason, if there is one.
    """
    claims = [
        _judged(claim, judgements.verdicts[number], judgements.by) if number in judgements.verdicts else claim
        for number, claim in enumerate(checked.claims)
    ]
    text, claims = _marked_again(checked.text, checked.claims, claims)
    return replace(checked, text=text, claims=tuple(claims))


def _judged(claim: Claim, judgement: ModelVerdict, by: str) -> Claim:
    reason = {"reason": judgement.reason} if judgement.reason else {}
    checks = {"rules": claim.verdict, **claim.checks, "judged_by": by, **reason}
    return replace(claim, verdict=judgement.verdict, score=round(judgement.score, 3), checks=checks)


def _marked_again(text: str, before: Sequence[Claim], after: Sequence[Claim]) -> tuple[str, list[Claim]]:
    """Return `text`, which has the marks of `before`, with those of `after`, and the claims with their spans in it."""
    parts: list[str] = []
    moved: list[Claim] = []
    position = shift = 0
    for old, new in zip(before, after, strict=True):
        moved.append(replace(new, span=Span(new.span.start + shift, new.span.end + shift)))
        removed = mark(old.verdict) if old.verdict in MARKED else ""
        added = mark(new.verdict) if new.verdict in MARKED else ""
        parts += [text[position : old.span.end], added]
        position = old.span.end + len(removed)
        shift += len(added) - len(removed)
    return "".join([*parts, text[position:]]), moved
