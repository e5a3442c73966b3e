"""Readers by name: a cross-encoder for answers, an entailment model for verdicts, as somebody published them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from asky.errors import NotConfigured
from asky.research.embedding.labels import answer_output, verdict_outputs

if TYPE_CHECKING:
    from asky.research.embedding.cross_encoder import CrossEncoder

Floats = npt.NDArray[np.float32]
Found = TypeVar("Found")

_NEVER = 30.0
"""How far the logit of a label that a model does not have lies below its others: a probability of 1e-13."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The logit that asky goes by is `scale` times that of the model, plus `offset`."""

    scale: float = 1.0
    offset: float = 0.0


class NamedReader:
    """Reads pairs with the model `name`, which `open_model` opens on first use. Thread-safe.

    Implements `PairReader`; a model can do one of its two tasks, or both, and raises `NotConfigured` for the other.
    """

    def __init__(
        self, name: str, open_model: Callable[[], CrossEncoder], calibration: Calibration | None = None
    ) -> None:
        self.name = name
        self._open_model = open_model
        self._calibration = calibration or Calibration()
        self._opening = threading.Lock()
        self._model: CrossEncoder | None = None

    def answers(self, items: Sequence[tuple[str, str, str]]) -> Floats:
        """See `PairReader.answers`: the logits of the model, calibrated; of one with labels, the log odds of its own.

        The context is read before the unit: such a model knows no third text.
        """
        model = self._opened()
        column = self._understood(answer_output, model.labels, "says whether a text answers a question")
        pairs = [(question, f"{context}\n{unit}" if context else unit) for question, unit, context in items]
        outputs = model.read(pairs)
        logits = outputs[:, column] if len(model.labels) == 1 else outputs[:, column] - _rest(outputs, (column,))
        found: Floats = (self._calibration.scale * logits + self._calibration.offset).astype(np.float32)
        return found

    def verdicts(self, items: Sequence[tuple[str, str]]) -> Floats:
        """See `PairReader.verdicts`. Without a label for it, nothing is contradicted; all other labels are neither."""
        model = self._opened()
        columns = self._understood(verdict_outputs, model.labels, "gives verdicts on claims")
        outputs = model.read([(evidence, claim) for claim, evidence in items])
        never = outputs.min(axis=1) - _NEVER if len(items) else np.empty(0, np.float32)
        named = [each for each in (columns.entailed, columns.contradicted) if each is not None]
        found: Floats = np.empty((len(items), 3), dtype=np.float32)
        found[:, 0] = outputs[:, columns.entailed]
        found[:, 1] = outputs[:, columns.contradicted] if columns.contradicted is not None else never
        found[:, 2] = _rest(outputs, named) if len(named) < len(model.labels) else never
        return found

    def _opened(self) -> CrossEncoder:
        with self._opening:
            self._model = self._model or self._open_model()
            return self._model

    def _understood(self, read: Callable[[Sequence[str]], Found], labels: Sequence[str], what: str) -> Found:
        try:
            return read(labels)
        except ValueError as error:
            raise NotConfigured(f"{self.name} is no model that {what}: {error}", hint="name another model") from error


def _rest(outputs: Floats, without: Sequence[int]) -> Floats:
    """Return the logit of all outputs but those, together."""
    others = np.delete(outputs, list(without), axis=1)
    found: Floats = np.logaddexp.reduce(others, axis=1)
    return found
