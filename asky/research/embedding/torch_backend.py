"""Runs a model with sentence-transformers: on a GPU, or if it is no graph in the ONNX format."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from asky.errors import AskyError, NotConfigured
from asky.installation import install_hint
from asky.research.embedding.onnx_backend import Encoded
from asky.research.embedding.recipe import Recipe
from asky.research.embedding.tokens import ModelTokenizer
from asky.research.telemetry import rule_out_telemetry

_GPU_NODES = ("/dev/nvidiactl", "/dev/dxg")  # created by the drivers of NVIDIA and of WSL
_WINDOW_BATCHES = 16  # batches between two progress reports; the library sorts that many texts by length


def choose_device(device: str) -> str:
    """Return the device for large jobs: `auto` is a CUDA GPU if there is one, else the CPU.

    Raises `NotConfigured` if a named device can't be used by torch. torch is imported only if a GPU is likely.
    """
    if device == "cpu" or (device == "auto" and not any(Path(node).exists() for node in _GPU_NODES)):
        return "cpu"
    try:
        import torch  # 1.5 s: only where a GPU was asked for or is likely
    except ImportError:
        if device == "auto":
            return "cpu"
        raise NotConfigured(
            f"embeddings on {device} need torch", hint=install_hint("installs it", extra="transformers")
        ) from None

    usable = torch.backends.mps.is_available() if device == "mps" else torch.cuda.is_available()
    if usable:
        return "cuda" if device == "auto" else device
    if device == "auto":
        return "cpu"
    raise NotConfigured(f"torch can't use the device {device} for embeddings", hint="set the device to auto or cpu")


def require_sentence_transformers(model: Path) -> None:
    """Prepare sentence-transformers: no network, no telemetry, no progress bars of its own.

    Raises `NotConfigured` if the extra is missing that runs the model in the folder `model`.
    """
    if importlib.util.find_spec("sentence_transformers") is None:
        raise NotConfigured(
            f"the model in {model} has no file in the ONNX format; only sentence-transformers can run it",
            hint=install_hint("installs it", extra="transformers"),
        )
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    rule_out_telemetry()
    from transformers.utils import logging  # with the library that is imported next

    logging.disable_progress_bar()


class TorchEncoder:
    """A loaded model."""

    def __init__(self, source: Path, recipe: Recipe, *, device: str, batch_size: int) -> None:
        """Load the model. Raises `NotConfigured` if it needs code or packages that are missing."""
        require_sentence_transformers(source)
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
        """Embed like `OnnxEncoder.encode`, with batches of `batch_size`."""
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
            prompt=prefix,  # even if empty: the library would use the model's default
            batch_size=self._batch_size,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        if not (np.abs(np.linalg.norm(vectors, axis=1) - 1.0) < 1e-3).all():  # false for NaN too
            raise AskyError("the embedding model returned a vector that is not finite", hint="choose another model")
        return vectors
