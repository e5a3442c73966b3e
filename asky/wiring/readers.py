"""The models that read pairs of texts: by the names that the configuration has for them."""

from __future__ import annotations

from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from asky.research.embedding.cross_encoder import open_cross_encoder
from asky.research.index.reranking import Reranker
from asky.research.reader.model import ShippedReader
from asky.research.reader.named import Calibration, NamedReader
from asky.research.reader.port import BUILT_IN, ChosenReader

if TYPE_CHECKING:
    from asky.config.schema import ReaderSettings
    from asky.research.reader.port import PairReader


class ReaderParts:
    """The reader, and what orders search results; `own` is the folder of downloaded models.

    None is opened before it reads.
    """

    def __init__(self, chosen: ReaderSettings, own: Path) -> None:
        self._chosen = chosen
        self._own = own
        self._shipped = ShippedReader()

    @cached_property
    def reader(self) -> ChosenReader:
        """What answers and gives verdicts, as the configuration names it."""
        chosen = self._chosen
        answers = self._named(chosen.answers, Calibration(chosen.answer_scale, chosen.answer_offset))
        verdicts = answers if chosen.verdicts == chosen.answers else self._named(chosen.verdicts)
        return ChosenReader(chosen.answers, chosen.verdicts, answers.answers, verdicts.verdicts)

    def reranker(self, model: str) -> Reranker:
        """Return what orders search results by that cross-encoder."""
        return Reranker(self._named(model).answers)

    def _named(self, model: str, calibration: Calibration | None = None) -> PairReader:
        if model == BUILT_IN:
            return self._shipped
        return NamedReader(model, partial(open_cross_encoder, model, own=self._own), calibration)
