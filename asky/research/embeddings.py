"""Local text embedding.

The default model is inside asky. A model that is named is run by onnxruntime if it has a graph in the ONNX format, and
else by sentence-transformers, which also takes large jobs to a GPU.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from asky.errors import ConfigError, NotConfigured
from asky.events import Listener, Warned, ignore
from asky.research.embedding import packaged
from asky.research.embedding.models import find_model_folder, hash_weights, is_folder, model_name, onnx_file
from asky.research.embedding.recipe import EmbeddingModel, Recipe, describe, read_recipe
from asky.research.embedding.tokens import ModelTokenizer
from asky.text.counting import counted

if TYPE_CHECKING:
    from asky.research.embedding.embedder import Progress
    from asky.research.embedding.onnx_backend import Encoded, OnnxEncoder
    from asky.research.embedding.torch_backend import TorchEncoder
    from asky.research.vector_store_common import Vectors

DEFAULT_MODEL = "all-MiniLM-L6-v2"
# The number of texts that justifies the 5 to 8 s to import torch and sentence-transformers for a GPU: as many as one
# core of the measured machine embeds in that time.
_GPU_TEXTS = 300


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """The model to run and its options.

    `model` is a name (`all-MiniLM-L6-v2`, `BAAI/bge-small-en-v1.5`) or the path of a folder, absolute or beginning with
    `.` or `~`. `device` is `auto`, `cpu`, `mps`, `cuda` or `cuda:N`; the model inside asky runs on the CPU.
    `batch_size` is the maximum number of texts per batch, `own_models` the folder of downloaded models. Raises
    `ConfigError` for any other value.
    """

    model: str = DEFAULT_MODEL
    device: str = "auto"
    batch_size: int = 32
    local_files_only: bool = False
    own_models: str | None = None

    def __post_init__(self) -> None:
        if self.device.split(":")[0] not in ("auto", "cpu", "cuda", "mps"):
            raise ConfigError(f"{self.device!r} is not a device for embeddings", hint="use auto, cpu, cuda or mps")
        if self.batch_size < 1:
            raise ConfigError(f"a batch of {self.batch_size} texts is too small", hint="use 1 or more")

    @property
    def is_packaged(self) -> bool:
        """Return whether the model is the one inside asky."""
        return self.model in packaged.NAMES

    def encode(self) -> dict[str, Any]:
        """Return the settings as JSON for another process, whose current folder may be another one."""
        model = str(Path(self.model).expanduser().resolve()) if is_folder(self.model) else self.model
        return {**asdict(self), "model": model}

    @classmethod
    def decode(cls, data: dict[str, Any]) -> EmbeddingSettings:
        """Return the settings that `encode` encoded."""
        return cls(**data)


@dataclass(frozen=True, slots=True)
class EmbeddingUsage:
    """A client's usage so far. `tokens` were read by the model; `truncated` texts were longer than its window."""

    texts: int = 0
    tokens: int = 0
    batches: int = 0
    truncated: int = 0
    seconds: float = 0.0

    def describe(self) -> str:
        """Return the usage in one line."""
        cut = f", {self.truncated:,} of them cut" if self.truncated else ""
        amount = f"{counted(self.tokens, 'token')}, {counted(self.batches, 'batch', 'batches')}"
        return f"embedded {counted(self.texts, 'text')}{cut} ({amount}) in {self.seconds:.2f} s"


class EmbeddingClient:
    """An `Embedder` that runs a sentence-transformers model. Nothing is read or imported before the first use.

    Every method and property may raise `NotConfigured` if the model cannot be found or is damaged. `listener` is
    notified of a download and of truncated texts. Thread-safe.
    """

    def __init__(
        self,
        settings: EmbeddingSettings,
        *,
        listener: Listener = ignore,
    ) -> None:
        self._settings = settings
        self._listener = listener
        self._lock = threading.RLock()
        self._usage = EmbeddingUsage()
        self._source: _Source | None = None
        self._tokenizer: ModelTokenizer | None = None
        self._encoder: OnnxEncoder | TorchEncoder | None = None
        self._gpu_encoder: TorchEncoder | None = None
        self._gpu_tried = False

    @property
    def dim(self) -> int:
        return self._known().dim

    @property
    def fingerprint(self) -> str:
        """Return the fingerprint. Cheap: the model is not opened, unless no configuration file says its dimension."""
        return self._known().fingerprint

    @property
    def max_tokens(self) -> int:
        model, tokenizer = self._known(), self.tokenizer
        return min(tokenizer.available_tokens(model.query_prefix), tokenizer.available_tokens(model.document_prefix))

    @property
    def tokenizer(self) -> ModelTokenizer:
        """Return the tokenizer. As cheap as `fingerprint`: chunking does not open the model."""
        with self._lock:
            if self._tokenizer is None:
                source = self._located()
                read = source.read_tokenizer() if source.model is not None else None
                self._tokenizer = read or self._small_encoder().tokenizer
            return self._tokenizer

    @property
    def device(self) -> str:
        """Return the device for large jobs. Small ones run on the CPU, where starting costs less than the work."""
        from asky.research.embedding.torch_backend import choose_device  # imports numpy

        return "cpu" if self._settings.is_packaged else choose_device(self._settings.device)

    @property
    def usage(self) -> EmbeddingUsage:
        with self._lock:
            return self._usage

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, without special tokens."""
        return self.tokenizer.count(texts)

    def embed(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """Embed like `Embedder.embed`. Truncated texts are counted in `usage` and reported once per call.

        Raises `AskyError` if the model returns a vector that is not finite, and whatever `progress` raises.
        """
        if isinstance(texts, str):
            raise TypeError("embed takes a sequence of texts")
        done = 0

        def advance(texts_done: int) -> None:
            nonlocal done
            done += texts_done
            if progress:
                progress(done, len(texts))

        return self._embed(texts, self._known().document_prefix, advance)

    def embed_query(self, text: str) -> Vectors:
        """Embed like `Embedder.embed_query`. Raises as `embed` does."""
        vector: Vectors = self.embed_queries([text])[0]
        return vector

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed like `Embedder.embed_queries`. Raises as `embed` does."""
        return self._embed(texts, self._known().query_prefix, lambda _: None)

    def measure(self, text: str) -> EmbeddingUsage | None:
        """Embed `text` and return the usage; `None` for a model that only sentence-transformers can run."""
        if self._located().graph is None:
            return None
        self.embed([text])
        return self.usage

    def _embed(self, texts: Sequence[str], prefix: str, advance: Callable[[int], None]) -> Vectors:
        encoder = self._encoder_for(len(texts))
        started = time.monotonic()
        encoded = encoder.encode(texts, prefix, advance)
        self._count(len(texts), encoded, time.monotonic() - started)
        if encoded.truncated:
            self._warn(f"{encoded.truncated} of {len(texts)} texts were longer than the embedding model's window: cut")
        return encoded.vectors

    def _count(self, texts: int, encoded: Encoded, seconds: float) -> None:
        with self._lock:
            self._usage = EmbeddingUsage(
                texts=self._usage.texts + texts,
                tokens=self._usage.tokens + encoded.tokens,
                batches=self._usage.batches + encoded.batches,
                truncated=self._usage.truncated + encoded.truncated,
                seconds=self._usage.seconds + seconds,
            )

    def _located(self) -> _Source:
        with self._lock:
            if self._source is None:
                settings = self._settings
                self._source = _packaged() if settings.is_packaged else _named(settings, self._listener)
            return self._source

    def _known(self) -> EmbeddingModel:
        """Return the properties of the model; opens it only if its configuration does not say them."""
        with self._lock:
            if self._located().model is None:
                self._small_encoder()
            model = self._located().model
            assert model is not None
            return model

    def _encoder_for(self, texts: int) -> OnnxEncoder | TorchEncoder:
        with self._lock:
            if texts >= _GPU_TEXTS and not self._gpu_tried:
                self._gpu_tried = True
                self._gpu_encoder = self._open_gpu()
            return self._gpu_encoder or self._small_encoder()

    def _open_gpu(self) -> TorchEncoder | None:
        try:
            return self._open_torch(self.device) if self.device != "cpu" else None
        except NotConfigured as error:
            self._warn(f"{error}: the CPU embeds instead")
            return None

    def _small_encoder(self) -> OnnxEncoder | TorchEncoder:
        with self._lock:
            if self._encoder is None:
                self._encoder = self._open_onnx() or self._open_torch("cpu")
            return self._encoder

    def _open_onnx(self) -> OnnxEncoder | None:
        """Open the model's graph; `None` if it has none."""
        source = self._located()
        if source.graph is None or source.model is None:
            return None
        from asky.research.embedding.onnx_backend import OnnxEncoder  # imports numpy

        return OnnxEncoder(
            source.graph,
            self.tokenizer,
            dim=source.model.dim,
            pad_id=source.recipe.pad_id if source.recipe else packaged.PAD_ID,
            pooling=source.recipe.pooling if source.recipe else None,
            batch_size=self._settings.batch_size,
        )

    def _open_torch(self, device: str) -> TorchEncoder:
        from asky.research.embedding.torch_backend import TorchEncoder  # imports numpy

        source = self._located()
        assert source.recipe is not None  # the model inside asky has a graph
        encoder = TorchEncoder(source.folder, source.recipe, device=device, batch_size=self._settings.batch_size)
        self._source = replace(source, model=_describe(self._settings, source.folder, source.recipe, encoder.dim))
        return encoder

    def _warn(self, message: str, hint: str | None = None) -> None:
        self._listener(Warned(message, hint))


@dataclass(frozen=True, slots=True)
class _Source:
    """Where a model is and what is known of it. Without `recipe` it is the one inside asky.

    `model` is `None` where only opening it tells its dimension, `graph` where it has no file in the ONNX format.
    """

    folder: Path
    recipe: Recipe | None
    model: EmbeddingModel | None
    graph: Path | None

    def read_tokenizer(self) -> ModelTokenizer | None:
        """Return the tokenizer of a model whose properties are known; `None` if it is in no file of its own."""
        assert self.model is not None
        file = self.folder / (self.recipe.transformer if self.recipe else "") / packaged.TOKENIZER_FILE
        try:
            tokenizer = ModelTokenizer(
                file.read_text("utf-8"), window=self.model.window, lower_case=self.model.lower_case
            )
            tokenizer.count([""])
        except Exception:  # noqa: BLE001 - tokenizers raises bare Exceptions for what it can't read
            return None
        return tokenizer


def _packaged() -> _Source:
    packaged.check_files()
    return _Source(packaged.FOLDER, None, packaged.MODEL, packaged.FOLDER / packaged.GRAPH_FILE)


def _named(settings: EmbeddingSettings, listener: Listener) -> _Source:
    own = Path(settings.own_models) if settings.own_models else None
    folder = find_model_folder(settings.model, local_files_only=settings.local_files_only, own=own, listener=listener)
    recipe = read_recipe(folder)
    model = _describe(settings, folder, recipe, recipe.dim) if recipe.dim is not None else None
    return _Source(folder, recipe, model, onnx_file(folder) if recipe.plain and not recipe.transformer else None)


def _describe(settings: EmbeddingSettings, folder: Path, recipe: Recipe, dim: int) -> EmbeddingModel:
    weights = hash_weights(folder)
    return describe(recipe, name=model_name(settings.model), dim=dim, precision="fp32", weights_sha256=weights)
