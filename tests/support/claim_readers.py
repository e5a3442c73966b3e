"""Readers of claims for tests: one written by hand, and what every reader does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pytest

from asky.evidence.verification.claim_reader import ClaimReader

Floats = npt.NDArray[np.float32]
Read = Callable[[Sequence[tuple[str, str]]], Floats]

PAIRS = [
    ("The ferry leaves at noon.", "The ferry leaves at noon."),
    ("", ""),
    ("🦆", "🦆"),
    ("港口在1984年开放。", "The harbour opened in 1984."),
    ("a very long claim " * 400, "a very long passage " * 4_000),
    ("[SEP] is [CLS]", "[PAD]"),
]


@dataclass(slots=True)
class KnowingReader:
    """A reader that knows by heart what some evidence says of some claims; of all else it says nothing.

    `knows` has words of a claim, words of evidence, and the label: `entailed` or `contradicted`. Each call is a list of
    pairs in `calls`.
    """

    knows: Sequence[tuple[str, str, str]] = ()
    calls: list[list[tuple[str, str]]] = field(default_factory=list)

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        self.calls.append(list(pairs))
        return np.array([self._logits(*pair) for pair in pairs], dtype=np.float32).reshape(-1, 3)

    def _logits(self, claim: str, evidence: str) -> tuple[float, float, float]:
        labels = {label for said, held, label in self.knows if said in claim and held in evidence}
        return (6.0 * ("entailed" in labels), 6.0 * ("contradicted" in labels), 3.0)

    @property
    def reader(self) -> ClaimReader:
        return ClaimReader(self)


class ClaimReaderContract:
    """A test class inherits this and gives the fixture `read`."""

    def test_three_finite_logits_a_pair_in_order(self, read: Read) -> None:
        logits = read(PAIRS)
        assert (logits.shape, logits.dtype) == ((len(PAIRS), 3), np.float32)
        assert np.isfinite(logits).all()
        backwards = read(PAIRS[::-1])[::-1]
        assert backwards == pytest.approx(logits, abs=0.2)  # quantisation sees the batch

    def test_no_pairs_give_no_logits(self, read: Read) -> None:
        assert read([]).shape == (0, 3)
