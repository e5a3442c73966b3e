"""Runs a model with sentence-transformers: on a GPU, and where a model can't be exported."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from asky.errors import AskyError, NotConfigured
from asky.research.embedding_onnx import Encoded
from asky.research.embedding_recipe import Recipe
from asky.research.embedding_tokens import ModelTokenizer
from asky.research.telemetry import rule_out_telemetry

_GPU_NODES = ("/dev/nvidiactl", "/dev/dxg")  # what the drivers of NVIDIA and of WSL put there
_WINDOW_BATCHES = 16  # batches between two reports of progress; the library sorts the texts of that many by length


def choose_device(device: str) -> str:
    """The device for large jobs: `auto` is a CUDA GPU where there is one, and else the CPU.

    Raises `NotConfigured` when a device was named that torch can't use. torch is imported only where a GPU may be.
    """
    if device == "cpu" or (device == "auto" and not any(Path(node).exists() for node in _GPU_NODES)):
        return "cpu"
    import torch  # 1.5 s: only where a GPU was asked for or is likely

    usable = torch.backends.mps.is_available() if device == "mps" else torch.cuda.is_available()
    if usable:
        return "cuda" if device == "auto" else device
    if device == "auto":
        return "cpu"
    raise NotConfigured(f"torch can't use the device {device} for embeddings", hint="set the device to auto or cpu")


class TorchEncoder:
    """An open model."""

    def __init__(self, source: Path, recipe: Recipe, *, device: str, batch_size: int) -> None:
        """Raises `NotConfigured` when the model needs code or packages that are not here."""
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        rule_out_telemetry()
        try:
            from sentence_transformers import SentenceTransformer  # 8 s: only where onnxruntime can't do it

            self._model: Any = SentenceTransformer(str(source), device=device, local_files_only=True)
        except (ImportError, OSError, ValueError, RuntimeError, KeyError) as error:
            reason = str(error).strip().split("\n", 1)[0]
            raise NotConfigured(f"the embedding model in {source} can't be opened: {reason}") from error
        self._batch_size = batch_size
        self.dim = int(self._model.get_embedding_dimension())
        definition = self._model.tokenizer.backend_tokenizer.to_str()
        self.tokenizer = ModelTokenizer(definition, window=self._model.max_seq_length or recipe.window)

    def encode(self, texts: Sequence[str], prefix: str, progress: Callable[[int], None]) -> Encoded:
        """As `OnnxEncoder.encode`, with batches of `batch_size`."""
        vectors = np.empty((len(texts), self.dim), dtype=np.float32)
        size = self._batch_size * _WINDOW_BATCHES
        tokens = truncated = 0
        for start in range(0, len(texts), size):
            part = list(texts[start : start + size])
            ids, cut = self.tokenizer.encode([prefix + text for text in part])
            vectors[start : start + len(part)] = self._run(part, prefix)
            tokens += sum(len(row) for row in ids)
            truncated += cut
            progress(len(part))
        return Encoded(vectors, tokens, -(-len(texts) // self._batch_size), truncated)

    def _run(self, texts: list[str], prefix: str) -> npt.NDArray[np.float32]:
        vectors: npt.NDArray[np.float32] = self._model.encode(
            texts,
            prompt=prefix,  # also where empty: the library would put the model's default there
            batch_size=self._batch_size,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        if not (np.abs(np.linalg.norm(vectors, axis=1) - 1.0) < 1e-3).all():  # false for NaN too
            raise AskyError("the embedding model gave a vector that is not finite", hint="change the model")
        return vectors
