"""A model for natural language inference, or a cross-encoder, as the judge of claims: on this machine, without a chat.

A passage is read in windows of sentences, and the one that supports a claim most decides, as in SummaC (Laban et al.,
"SummaC: Re-Visiting NLI-based Models for Inconsistency Detection in Summarization", TACL 10, 2022).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from asky.concurrency import in_thread
from asky.errors import NotConfigured
from asky.research.judging.judge import CitedClaim, ModelVerdict, ModelVerdicts
from asky.text.sentences import iter_sentences

if TYPE_CHECKING:
    from asky.llm.port import ChatModel
    from asky.llm.spending import Budget
    from asky.research.embedding.cross_encoder import CrossEncoder
    from asky.values import Verdict

SUPPORTED_FROM = 0.5
PARTIAL_FROM = 0.25
CONTRADICTED_FROM = 0.5
"""The least probabilities. More likely than not is the natural threshold of a classifier: measure your own model."""

_WINDOW_WORDS = 220
"""About 300 tokens, so that a claim fits beside it into a window of 512."""


class EntailmentJudge:
    """Reads each claim against its passages with the model `name`, which `open_model` opens on first use.

    Of a model with the labels `entailment` and `contradiction` both count; of one with another or a single output, its
    last output is the probability that the passage supports the claim.
    """

    asks_model = False

    def __init__(self, name: str, open_model: Callable[[], CrossEncoder]) -> None:
        self.name = name
        self._open_model = open_model
        self._model: CrossEncoder | None = None

    def name_for(self, model: ChatModel) -> str | None:  # noqa: ARG002 - whoever wrote the answer
        """Return the name of the model that reads."""
        return self.name

    async def judge(
        self,
        claims: Sequence[CitedClaim],
        model: ChatModel,  # noqa: ARG002 - the port's parameters
        *,
        budget: Budget,  # noqa: ARG002 - the port's parameters
        marker: str,  # noqa: ARG002 - the port's parameters
    ) -> ModelVerdicts:
        """See `ClaimJudge`; raises `NotConfigured` if the model can't be opened."""
        return ModelVerdicts(self.name, await in_thread(self.verdicts, claims))

    def verdicts(self, claims: Sequence[CitedClaim]) -> dict[int, ModelVerdict]:
        """Return the verdict on each claim, by its number."""
        model = self._model = self._model or self._open_model()
        support, contradiction = _columns(model.labels)
        pairs = [
            (each.number, (window, each.text))
            for each in claims
            for passage in each.passages
            for window in _windows(passage.text)
        ]
        best: dict[int, tuple[float, float]] = {}
        for (number, _), row in zip(pairs, model.read([pair for _, pair in pairs]), strict=True):
            shares = _probabilities([float(value) for value in row])
            against = shares[contradiction] if contradiction is not None else 0.0
            known = best.get(number, (0.0, 0.0))
            best[number] = (max(known[0], shares[support]), max(known[1], against))
        return {number: ModelVerdict(_verdict(*found), found[0]) for number, found in best.items()}


def _columns(labels: Sequence[str]) -> tuple[int, int | None]:
    """Return the outputs that say that a passage supports and that it contradicts a claim."""
    support = next((at for at, each in enumerate(labels) if each.startswith("entail")), None)
    contradiction = next((at for at, each in enumerate(labels) if each.startswith("contradict")), None)
    if support is not None:
        return support, contradiction
    if len(labels) > 2:
        raise NotConfigured(f"none of the labels {', '.join(labels)} is named entailment")
    return len(labels) - 1, None


def _probabilities(outputs: Sequence[float]) -> list[float]:
    """Return the softmax of the outputs, of a single one its logistic function."""
    if len(outputs) == 1:
        return [1 / (1 + math.exp(-max(-60.0, min(60.0, outputs[0]))))]
    highest = max(outputs)
    powers = [math.exp(each - highest) for each in outputs]
    return [each / math.fsum(powers) for each in powers]


def _verdict(support: float, contradiction: float) -> Verdict:
    if support >= SUPPORTED_FROM:
        return "supported"
    if contradiction >= CONTRADICTED_FROM:
        return "contradicted"
    return "partial" if support >= PARTIAL_FROM else "unsupported"


def _windows(text: str) -> list[str]:
    """Return the text in parts of whole sentences, each of about 220 words at most and at least one sentence."""
    windows, words = list[list[str]](), 0
    for each in iter_sentences(text):
        sentence = text[each.start : each.end].strip()
        count = len(sentence.split())
        if windows and words + count <= _WINDOW_WORDS:
            windows[-1].append(sentence)
            words += count
        elif sentence:
            windows.append([sentence])
            words = count
    return [" ".join(each) for each in windows]
