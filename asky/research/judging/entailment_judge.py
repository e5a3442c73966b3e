"""The reader that gives verdicts as the judge of claims: on this machine, without a chat.

A passage is read in windows of sentences, and the one that supports a claim most decides, as in SummaC (Laban et al.,
"SummaC: Re-Visiting NLI-based Models for Inconsistency Detection in Summarization", TACL 10, 2022).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from asky.concurrency import in_thread
from asky.research.judging.judge import CitedClaim, ModelVerdict, ModelVerdicts
from asky.text.sentences import iter_sentences

if TYPE_CHECKING:
    from asky.llm.port import ChatModel
    from asky.llm.spending import Budget
    from asky.research.reader.port import Floats
    from asky.values import Verdict

SUPPORTED_FROM = 0.5
PARTIAL_FROM = 0.25
CONTRADICTED_FROM = 0.5
"""The least probabilities. More likely than not is the natural threshold of a classifier: measure your own model."""

_WINDOW_WORDS = 220
"""About 300 tokens, so that a claim fits beside it into a window of 512."""


class EntailmentJudge:
    """Reads each claim against its passages; `read` returns what `PairReader.verdicts` does, by the model `name`."""

    asks_model = False

    def __init__(self, name: str, read: Callable[[Sequence[tuple[str, str]]], Floats]) -> None:
        self.name = name
        self._read = read

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
        import numpy as np  # with the model

        pairs = [
            (each.number, (each.text, window))
            for each in claims
            for passage in each.passages
            for window in _windows(passage.text)
        ]
        logits = self._read([pair for _, pair in pairs])
        best: dict[int, tuple[float, float]] = {}
        for (number, _), row in zip(pairs, logits, strict=True):
            powers = np.exp(row - row.max())
            supported, contradicted, _ = (float(each) for each in powers / powers.sum())
            known = best.get(number, (0.0, 0.0))
            best[number] = (max(known[0], supported), max(known[1], contradicted))
        return {number: ModelVerdict(_verdict(*found), found[0]) for number, found in best.items()}


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
