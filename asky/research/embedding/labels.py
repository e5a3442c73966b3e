"""What the outputs of a model that reads pairs mean, by the labels in its configuration; an order is never assumed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

ModelUse = Literal["answers", "verdicts", "embedding"]
"""What a model can do: say how well a text answers a question, judge a claim, or make vectors."""

_UNNAMED = re.compile(r"(label|class)?[ _-]*\d+")
_YES = ("entail", "relevant", "answer", "yes", "true", "positive")
_ENTAILED = ("entail", "support")
_CONTRADICTED = ("contradict", "refut")


@dataclass(frozen=True, slots=True)
class VerdictOutputs:
    """The outputs of an entailment model; `contradicted` is `None` where no label says it."""

    entailed: int
    contradicted: int | None


def labels_of(config: Any) -> tuple[str, ...]:
    """Return the lower-case labels of the outputs in order, as in `config.json`; a model that scores has one.

    Raises `ValueError` for a model that does not classify texts.
    """
    architectures = (config.get("architectures") or ()) if isinstance(config, Mapping) else ()
    if not any("ForSequenceClassification" in str(each) for each in architectures):
        raise ValueError("it does not classify texts")
    named = config.get("id2label") or {"0": "LABEL_0", "1": "LABEL_1"}  # what is left out stands for two
    try:
        by_number = {int(number): str(each).strip().lower() for number, each in named.items()}
        return tuple(by_number[number] for number in range(len(named)))
    except (AttributeError, TypeError, ValueError, KeyError):
        raise ValueError("id2label in its config.json does not number the labels from 0") from None


def answer_output(labels: Sequence[str]) -> int:
    """Return the output that says that a text answers a question. Raises `ValueError` if none does."""
    if len(labels) == 1:
        return 0
    _require_names(labels)
    found = [at for at, each in enumerate(labels) if each.startswith(_YES)]
    if any(each.startswith(_CONTRADICTED) for each in labels):
        raise ValueError("it judges claims, and does not say whether a text answers a question")
    if len(found) != 1:
        raise ValueError(f"of its labels {_shown(labels)} not exactly one says that a text answers a question")
    return found[0]


def verdict_outputs(labels: Sequence[str]) -> VerdictOutputs:
    """Return the outputs that say that evidence entails and contradicts a claim. Raises `ValueError` if none does."""
    if len(labels) == 1:
        raise ValueError("it has a single output: it scores pairs, and does not tell what follows from a text")
    _require_names(labels)
    entailed = [at for at, each in enumerate(labels) if each.startswith(_ENTAILED)]
    contradicted = [at for at, each in enumerate(labels) if each.startswith(_CONTRADICTED)]
    if len(entailed) != 1 or len(contradicted) > 1:
        raise ValueError(f"of its labels {_shown(labels)} not exactly one is named entailment")
    return VerdictOutputs(entailed[0], contradicted[0] if contradicted else None)


def uses_of(config: Any, *, has_modules: bool) -> tuple[ModelUse, ...]:
    """Return what a model with this `config.json` can do. `has_modules` says that it has a `modules.json` too.

    Raises `ValueError` for a model of which asky has no use.
    """
    try:
        labels = labels_of(config)
    except ValueError:
        if has_modules:
            return ("embedding",)
        raise
    uses: list[ModelUse] = []
    problems: list[str] = []
    for use, read in (("answers", answer_output), ("verdicts", verdict_outputs)):
        try:
            read(labels)
        except ValueError as error:
            problems.append(str(error))
        else:
            uses.append(use)  # type: ignore[arg-type] # both are of `ModelUse`
    if not uses:
        raise ValueError(problems[0])
    return tuple(uses)


def _require_names(labels: Sequence[str]) -> None:
    if any(_UNNAMED.fullmatch(each) for each in labels):
        raise ValueError(
            f"its labels {_shown(labels)} do not say what they mean, and their order differs between models"
        )


def _shown(labels: Sequence[str]) -> str:
    return ", ".join(labels)
