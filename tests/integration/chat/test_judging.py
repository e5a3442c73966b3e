"""Answers whose claims a model reads, beside the rules."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from asky.errors import NotConfigured, ProviderError
from asky.events import StageFinished
from asky.research.embedding.cross_encoder import CrossEncoder, Pair
from asky.research.judging.chat_judge import ChatJudge
from asky.research.judging.entailment_judge import EntailmentJudge
from asky.research.reader.named import NamedReader
from tests.integration.chat.recorded_runs import Room, room, same_again
from tests.integration.chat.test_answering import Citing

__all__ = ["room"]

SAID = "The moon raises two tides a day [{key}]. The sun raises smaller tides [{key}]."


class Judging(Citing):
    """Answers, then judges with `replies`, one a call."""

    def __init__(self, *replies: Any, answer: str = SAID) -> None:
        super().__init__(answer)
        self._replies = list(replies)
        self.judged: list[str] = []

    async def stream(self, messages, tools, **options):
        if options.get("schema") is None:
            async for item in super().stream(messages, tools, **options):
                yield item
            return
        self.judged.append(messages[-1].content)
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        script, self._script = self._script, (*self._script, reply if isinstance(reply, str) else json.dumps(reply))
        async for item in super(Citing, self).stream(messages, tools, **options):
            yield item
        self._script = script


def verdicts(*each: tuple[str, float, str]) -> Mapping[str, Any]:
    return {
        "verdicts": [
            {"statement": number, "verdict": verdict, "support": support, "reason": reason}
            for number, (verdict, support, reason) in enumerate(each, start=1)
        ]
    }


def test_the_chat_model_judges_and_the_verdict_of_the_rules_stays_beside_it(room: Room) -> None:
    room.judge = ChatJudge()
    model = Judging(verdicts(("supported", 1, ""), ("contradicted", 0.1, "the passage says larger")))
    answer = room.ask(model)
    first, second = answer.claims
    assert (first.verdict, first.score, first.checks["rules"], first.checks["judged_by"]) == (
        "supported",
        1.0,
        "supported",
        "scripted",
    )
    assert (second.verdict, second.checks["rules"], second.checks["reason"]) == (
        "contradicted",
        "supported",
        "the passage says larger",
    )
    assert answer.text.endswith("tides [1]. ⚠ contradicted")
    assert [answer.text[each.span.start : each.span.end] for each in answer.claims] == [
        each.text for each in answer.claims
    ]
    assert answer.usage.llm_calls == 3
    assert "The sun raises smaller tides" in model.judged[0]
    assert [each.summary for each in room.store.heard if isinstance(each, StageFinished) and each.stage == "judge"] == [
        "2 sentences by scripted"
    ]


def test_what_the_rules_marked_is_unmarked_if_the_judge_supports_it(room: Room) -> None:
    room.judge = ChatJudge()
    said = "The moon raises two tides a day [{key}]. Whales sing in the deep sea at night [{key}]."
    answer = room.ask(Judging(verdicts(("supported", 1, ""), ("supported", 0.9, "")), answer=said))
    assert answer.claims[1].checks["rules"] == "unsupported"
    assert "⚠" not in answer.text


def test_a_judged_run_plays_again_with_the_verdicts_of_its_time(room: Room) -> None:
    room.judge = ChatJudge()
    answer = room.ask(Judging(verdicts(("supported", 1, ""), ("partial", 0.5, "smaller than what"))))
    assert "judged" in room.kinds()
    room.judge = None
    same_again(room, answer)


def test_a_run_from_before_there_was_a_judge_plays_again_without_one(room: Room) -> None:
    answer = room.ask(Citing(SAID))
    room.judge = ChatJudge()
    same_again(room, answer)


def test_a_run_that_was_killed_after_the_verdicts_does_not_ask_for_them_again(room: Room) -> None:
    room.judge = ChatJudge()
    answer = room.ask(Judging(verdicts(("supported", 1, ""), ("partial", 0.5, "smaller than what"))))
    room.crash_after(room.kinds().index("judged") + 1)
    again = Judging()
    assert room.resume(again).claims == answer.claims
    assert again.judged == []


def test_verdicts_that_cannot_be_used_are_asked_for_once_more_and_then_the_rules_hold(room: Room) -> None:
    room.judge = ChatJudge()
    short = verdicts(("supported", 1, ""))
    model = Judging(short, {"verdicts": [{"statement": 9, "verdict": "supported", "support": 1, "reason": ""}]})
    answer = room.ask(model)
    assert [each.verdict for each in answer.claims] == ["supported", "supported"]
    assert "judged_by" not in answer.claims[0].checks
    assert any("scripted did not judge the sentences" in each for each in answer.warnings)
    same_again(room, answer)


def test_a_judge_that_cannot_be_reached_costs_no_answer(room: Room) -> None:
    room.judge = ChatJudge()
    answer = room.ask(Judging(ProviderError("overloaded")))
    assert answer.stopped_by is None
    assert any("verdicts are by rules: overloaded" in each for each in answer.warnings)


class Entailing:
    """A model whose outputs are those that `says` has for the first word of the claim."""

    def __init__(self, says: Mapping[str, Sequence[float]], labels: tuple[str, ...]) -> None:
        self.says, self.labels, self.pairs = says, labels, list[Pair]()

    def open(self) -> CrossEncoder:
        return CrossEncoder(self.labels, self._read)

    def _read(self, pairs: Sequence[Pair]) -> Any:
        self.pairs += pairs
        return np.array([self.says[" ".join(claim.split()[:2])] for _, claim in pairs], dtype=np.float32)


def test_a_local_model_judges_without_a_call(room: Room) -> None:
    says = {"The moon": (-3.0, 0.0, 4.0), "The sun": (4.0, 0.0, -3.0)}
    local = Entailing(says, ("contradiction", "neutral", "entailment"))
    room.judge = EntailmentJudge("nli", NamedReader("nli", local.open).verdicts)
    answer = room.ask(Citing(SAID))
    assert [each.verdict for each in answer.claims] == ["supported", "contradicted"]
    assert {each.checks["judged_by"] for each in answer.claims} == {"nli"}
    assert answer.usage.llm_calls == 2
    assert all("tides" in passage for passage, _ in local.pairs)
    room.judge = None
    same_again(room, answer)


def test_a_local_model_that_is_not_there_is_a_warning(room: Room) -> None:
    def absent() -> CrossEncoder:
        raise NotConfigured("the NLI model or cross-encoder nli is not on this machine")

    room.judge = EntailmentJudge("nli", NamedReader("nli", absent).verdicts)
    answer = room.ask(Citing(SAID))
    assert [each.verdict for each in answer.claims] == ["supported", "supported"]
    assert any("nli did not judge the sentences" in each for each in answer.warnings)
