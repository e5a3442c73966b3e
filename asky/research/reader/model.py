"""The reader that asky ships: a graph that reads pairs of texts, for both of its tasks.

`python -m tools.train_reader` makes it; `asky/models/reader/README.md` is its card.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from asky.errors import NotConfigured
from asky.research.embedding import packaged
from asky.research.embedding.onnx_backend import open_session, padded
from asky.research.embedding.shipped import ShippedFile, check_files
from asky.research.reader.pairs import Pair, PairEncoder

Floats = npt.NDArray[np.float32]

FOLDER = Path(__file__).parents[2] / "models" / "reader"
GRAPH_FILE, WEIGHTS_FILE = "model.onnx", "weights.bin"
FILES: Mapping[str, ShippedFile] = MappingProxyType(
    {
        GRAPH_FILE: ShippedFile(0x7819CE9A, "c9cd9aecb8ea08f2f8c387ba8fdf336777eb506c44edf6285c0df6016d6651c3"),
        WEIGHTS_FILE: ShippedFile(0x8F36093A, "ae4547c352924380cb29cdf2d248c4682b28bd2a192bae60b056bdced3031555"),
    }
)
INPUTS = ("input_ids", "token_type_ids", "attention_mask")
OUTPUTS = {"answers": 1, "verdicts": 2}  # with their dimensions
_HINT = "install asky again"
_BATCH_TOKENS = 768  # padding included


class ShippedReader:
    """The `PairReader` inside asky. Opened when it first reads. Thread-safe."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._lock = threading.Lock()

    def answers(self, items: Sequence[tuple[str, str, str]]) -> Floats:
        """Return the logit of "this unit answers this question" for each question, unit and context, `float32[n]`.

        Raises `NotConfigured` if the model can't be opened.
        """
        return self._read(self._encoder.questions(items), "answers")

    def verdicts(self, items: Sequence[tuple[str, str]]) -> Floats:
        """Return the logits of entailed, contradicted and neither for each claim and evidence, `float32[n, 3]`.

        Raises as `answers` does.
        """
        return self._read(self._encoder.claims(items), "verdicts")

    def _read(self, pairs: Sequence[Pair], output: str) -> Floats:
        width = (len(pairs), 3) if output == "verdicts" else (len(pairs),)
        found: Floats = np.empty(width, dtype=np.float32)
        for rows in batches([len(pair.ids) for pair in pairs]):
            ids, mask = padded([pairs[row].ids for row in rows], packaged.PAD_ID)
            types, _ = padded([pairs[row].types for row in rows], 0)
            given = dict(zip(INPUTS, (ids, types, mask), strict=True))
            with self._lock:  # the runtime keeps the memory that the most calls at once have needed
                found[rows] = self._session.run([output], given)[0]
        if not np.isfinite(found).all():
            raise NotConfigured("the reader is damaged: it returned a number that is not finite", hint=_HINT)
        return found

    @cached_property
    def _encoder(self) -> PairEncoder:
        packaged.check_files()
        return PairEncoder(packaged.FOLDER / packaged.TOKENIZER_FILE)

    @cached_property
    def _session(self) -> Any:
        check_shipped(self._folder)
        try:
            session = open_session(self._folder / GRAPH_FILE)
        except Exception as error:  # onnxruntime raises bare Exceptions for damaged files
            reason = str(error).strip().split("\n", 1)[0]
            raise NotConfigured(f"the reader {self._folder} can't be opened: {reason}", hint=_HINT) from error
        return session


def check_shipped(folder: Path = FOLDER, *, fully: bool = False) -> None:
    """Compare the files of the reader with what was shipped; see `asky.research.embedding.shipped`."""
    check_files(folder, FILES, called="reader", fully=fully)


def batches(lengths: Sequence[int]) -> list[list[int]]:
    """Return the positions of `lengths` in batches of like length, each of `_BATCH_TOKENS` at most with padding."""
    made: list[list[int]] = []
    for position in sorted(range(len(lengths)), key=lambda each: (lengths[each], each)):
        if made and (len(made[-1]) + 1) * lengths[position] <= _BATCH_TOKENS:
            made[-1].append(position)
        else:
            made.append([position])
    return made
