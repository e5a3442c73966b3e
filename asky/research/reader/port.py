"""The reader as its users see it, whichever models stand behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]

BUILT_IN = "builtin"
"""What the configuration calls the reader that asky ships."""


class PairReader(Protocol):
    """Reads questions with units of documents, and claims with evidence. Thread-safe.

    Both raise `NotConfigured` if their model is not on this machine, is damaged or is of another kind.
    """

    def answers(self, items: Sequence[tuple[str, str, str]], /) -> Floats:
        """Return the logit of "this unit answers this question" for each question, unit and context, `float32[n]`."""
        ...

    def verdicts(self, items: Sequence[tuple[str, str]], /) -> Floats:
        """Return the logits of entailed, contradicted and neither for each claim and evidence, `float32[n, 3]`."""
        ...


@dataclass(frozen=True, slots=True)
class ChosenReader:
    """A `PairReader` of two models, by the names that they have in the configuration; see `BUILT_IN`."""

    answer_model: str
    verdict_model: str
    answers: Callable[[Sequence[tuple[str, str, str]]], Floats]
    verdicts: Callable[[Sequence[tuple[str, str]]], Floats]
