"""The chat model of a run as the judge of its own answer's claims, under a strict schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from asky.evidence.passages import fence, render_passages
from asky.llm.port import Message
from asky.llm.structured import ask_for_json
from asky.research.judging.judge import CitedClaim, ModelVerdict, ModelVerdicts
from asky.research.writing.templates import fill, template_text

if TYPE_CHECKING:
    from asky.llm.port import ChatModel
    from asky.llm.spending import Budget
    from asky.values import Evidence

_VERDICTS = ("supported", "partial", "unsupported", "contradicted")
_MAX_CLAIMS = 40
_MAX_CLAIM_CHARS = 1_000
_MAX_REASON_CHARS = 300
_CHARS_PER_TOKEN = 3
_PASSAGE_SHARE = 0.5
"""The part of the model's context that passages may fill."""

_ITEM: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "statement": {"type": "integer"},
        "verdict": {"type": "string", "enum": list(_VERDICTS)},
        "support": {"type": "number"},
        "reason": {"type": "string"},
    },
    "required": ["statement", "verdict", "support", "reason"],
    "additionalProperties": False,
}
_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"verdicts": {"type": "array", "items": _ITEM}},
    "required": ["verdicts"],
    "additionalProperties": False,
}


class ChatJudge:
    """Asks the model that wrote an answer, in one call, whether the cited passages say each of its claims.

    The built-in model quotes and is asked nothing. At most 40 claims are judged, as many as fit with their passages
    into half of the model's context; the rules' verdicts stand for the others.
    """

    asks_model = True

    def name_for(self, model: ChatModel) -> str | None:
        """Return the name of `model`, `None` for the built-in one."""
        return model.name if model.host is not None else None

    async def judge(
        self, claims: Sequence[CitedClaim], model: ChatModel, *, budget: Budget, marker: str
    ) -> ModelVerdicts:
        """See `ClaimJudge`; raises what `ask_for_json` raises."""
        fitting = _fitting(claims, round(model.context_tokens * _PASSAGE_SHARE * _CHARS_PER_TOKEN))
        if not fitting:
            return ModelVerdicts(model.name, {})
        passages = _passages(fitting)
        statements = [
            f"{number}. {each.text[:_MAX_CLAIM_CHARS]} ({', '.join(passage.key for passage in each.passages)})"
            for number, each in enumerate(fitting, start=1)
        ]
        values = {
            "PASSAGES": render_passages(list(passages.values()), marker=marker),
            "STATEMENTS": fence("\n".join(statements), marker, "statements"),
        }
        prompt = fill(template_text("asky.research.judging", "judge_v1.md"), values)
        read = _Reader(len(fitting)).read
        found = await ask_for_json(model, [Message("user", prompt)], _SCHEMA, validate=read, budget=budget)
        verdicts = {fitting[number - 1].number: each for number, each in found.value.items()}
        return ModelVerdicts(model.name, verdicts, found.calls)


def _fitting(claims: Sequence[CitedClaim], chars: int) -> list[CitedClaim]:
    """Return the first claims whose passages have at most so many characters together."""
    fitting: list[CitedClaim] = []
    for each in claims[:_MAX_CLAIMS]:
        if sum(len(passage.text) for passage in _passages([*fitting, each]).values()) > chars:
            break
        fitting.append(each)
    return fitting


def _passages(claims: Sequence[CitedClaim]) -> dict[str, Evidence]:
    return {passage.key: passage for each in claims for passage in each.passages}


class _Reader:
    """Reads the verdicts on so many statements, numbered from 1."""

    def __init__(self, statements: int) -> None:
        self._numbers = range(1, statements + 1)

    def read(self, value: Any) -> dict[int, ModelVerdict]:
        """Return the verdicts by number. Raises `ValueError` unless each statement has exactly one."""
        listed = value.get("verdicts") if isinstance(value, dict) else None
        if not isinstance(listed, list):
            raise ValueError('the value is not an object with an array "verdicts"')  # noqa: TRY004
        found: dict[int, ModelVerdict] = {}
        for each in listed:
            number, judgement = self._read_one(each)
            if number in found:
                raise ValueError(f"statement {number} has two verdicts")
            found[number] = judgement
        missing = [str(number) for number in self._numbers if number not in found]
        if missing:
            raise ValueError(f"statements without a verdict: {', '.join(missing)}")
        return found

    def _read_one(self, value: Any) -> tuple[int, ModelVerdict]:
        if not isinstance(value, dict):
            raise ValueError("a verdict is not an object")  # noqa: TRY004 - for `ask_for_json`
        number, verdict, support = value.get("statement"), value.get("verdict"), value.get("support")
        if isinstance(number, bool) or not isinstance(number, int) or number not in self._numbers:
            raise ValueError(f"there is no statement {number!r}")
        if verdict not in _VERDICTS:
            raise ValueError(f"statement {number} has no verdict of {', '.join(_VERDICTS)}")
        if isinstance(support, bool) or not isinstance(support, (int, float)) or not 0 <= support <= 1:
            raise ValueError(f"the support of statement {number} is not a number from 0 to 1")
        reason = value.get("reason")
        said = " ".join(reason.split())[:_MAX_REASON_CHARS] if isinstance(reason, str) else ""
        return number, ModelVerdict(verdict, float(support), said)
