"""The models that read pairs of texts: by the names that the configuration has for them."""

from __future__ import annotations

from functools import partial
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


def make_reader(chosen: ReaderSettings, own: Path) -> ChosenReader:
    """Return the reader; `own` is the folder of downloaded models. None is opened before it reads."""
    shipped = ShippedReader()

    def named(model: str, calibration: Calibration | None = None) -> PairReader:
        if model == BUILT_IN:
            return shipped
        return NamedReader(model, partial(open_cross_encoder, model, own=own), calibration)

    answers = named(chosen.answers, Calibration(chosen.answer_scale, chosen.answer_offset))
    same = chosen.verdicts == chosen.answers
    verdicts = answers if same else named(chosen.verdicts)
    return ChosenReader(chosen.answers, chosen.verdicts, answers.answers, verdicts.verdicts)


def make_reranker(model: str, own: Path) -> Reranker:
    """Return what orders search results by that cross-encoder."""
    return Reranker(NamedReader(model, partial(open_cross_encoder, model, own=own)).answers)
