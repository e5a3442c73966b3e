"""Local text embedding.

A model is exported once to ONNX and then run by onnxruntime, which needs neither torch nor sentence-transformers and
starts in a quarter of a second. sentence-transformers runs models that can't be exported, and large jobs on a GPU.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from asky.errors import ConfigError, NotConfigured
from asky.events import Listener, StageFinished, StageStarted, Warned, ignore
from asky.research.embedding.cache import (
    TOKENIZER_FILE,
    ExportedModel,
    ExportFailed,
    Precision,
    UnusableExport,
    exported,
    known_weights_hash,
    read_exported,
)
from asky.research.embedding.models import find_model_folder, is_folder, model_key, model_name
from asky.research.embedding.recipe import EmbeddingModel, describe, read_recipe
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
_PREPARING = "preparing the search model, once"


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """The model to run and its options.

    `model` is a name (`all-MiniLM-L6-v2`, `BAAI/bge-small-en-v1.5`) or the path of a folder, absolute or beginning with
    `.` or `~`. `device` is `auto`, `cpu`, `mps`, `cuda` or `cuda:N`. `batch_size` is the maximum number of texts per
    batch. `int8` is 1.9 times as fast and slightly less accurate. Exported models are stored below `cache_dir`. Raises
    `ConfigError` for any other value.
    """

    cache_dir: Path
    model: str = DEFAULT_MODEL
    device: str = "auto"
    batch_size: int = 32
    precision: Precision = "fp32"
    local_files_only: bool = False

    def __post_init__(self) -> None:
        if self.device.split(":")[0] not in ("auto", "cpu", "cuda", "mps"):
            raise ConfigError(f"{self.device!r} is not a device for embeddings", hint="use auto, cpu, cuda or mps")
        if self.precision not in ("fp32", "int8"):
            raise ConfigError(f"{self.precision!r} is not a precision for embeddings", hint="use fp32 or int8")
        if self.precision == "int8" and self.device not in ("auto", "cpu"):
            raise ConfigError(f"int8 embeddings run on the CPU, not on {self.device}", hint="set the device to cpu")
        if self.batch_size < 1:
            raise ConfigError(f"a batch of {self.batch_size} texts is too small", hint="use 1 or more")

    def encode(self) -> dict[str, Any]:
        """Return the settings as JSON for another process, whose current folder may be another one."""
        model = str(Path(self.model).expanduser().resolve()) if is_folder(self.model) else self.model
        return {**asdict(self), "model": model, "cache_dir": str(self.cache_dir.absolute())}

    @classmethod
    def decode(cls, data: dict[str, Any]) -> EmbeddingSettings:
        """Return the settings that `encode` encoded."""
        return cls(**{**data, "cache_dir": Path(data["cache_dir"])})


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

    Every method and property may raise `NotConfigured` if the model cannot be found. `listener` is notified of a
    download, of the one-time export, of a rebuilt cache and of truncated texts. Thread-safe.
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
        self._model: EmbeddingModel | None = None
        self._exported: ExportedModel | None = None
        self._tokenizer: ModelTokenizer | None = None
        self._encoder: OnnxEncoder | TorchEncoder | None = None
        self._gpu_encoder: TorchEncoder | None = None
        self._gpu_tried = False

    @property
    def dim(self) -> int:
        return self._known().dim

    @property
    def fingerprint(self) -> str:
        """Return the fingerprint. Cheap after the export: read from the cache, without opening the model."""
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
                model = self._known()
                self._tokenizer = self._encoder.tokenizer if self._encoder else self._read_tokenizer(model)
            return self._tokenizer

    @property
    def device(self) -> str:
        """Return the device for large jobs. Small ones run on the CPU, where starting costs less than the work."""
        from asky.research.embedding.torch_backend import choose_device  # imports numpy

        return "cpu" if self._settings.precision == "int8" else choose_device(self._settings.device)

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
        """Embed `text` with the prepared model and return the usage; `None` if no model has been prepared.

        Nothing is prepared, downloaded or written. Raises `UnusableExport`.
        """
        found = read_exported(self._folder)
        if found is None:
            return None
        encoder = self._open_onnx(self._folder, found)
        started = time.monotonic()
        encoded = encoder.encode([text], "", lambda _: None)
        return EmbeddingUsage(1, encoded.tokens, encoded.batches, encoded.truncated, time.monotonic() - started)

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

    def _known(self) -> EmbeddingModel:
        """Return the properties of the model; opens it only if there is no export."""
        with self._lock:
            if self._model is None:
                with suppress(UnusableExport):
                    found = read_exported(self._folder)
                    self._model = found.model if found else None
            if self._model is None:
                self._small_encoder()
            assert self._model is not None
            return self._model

    def _read_tokenizer(self, model: EmbeddingModel) -> ModelTokenizer:
        """Return the tokenizer of the export; if that is unusable, open the model, which exports it again."""
        try:
            definition = (self._folder / TOKENIZER_FILE).read_text("utf-8")
            tokenizer = ModelTokenizer(definition, window=model.window, lower_case=model.lower_case)
            tokenizer.count([""])
        except Exception:  # noqa: BLE001 - tokenizers raises bare Exceptions for what it can't read
            return self._small_encoder().tokenizer
        return tokenizer

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
                self._encoder = self._open_exported() or self._export() or self._open_torch("cpu")
            return self._encoder

    @property
    def _folder(self) -> Path:
        return self._settings.cache_dir / model_key(self._settings.model) / self._settings.precision

    def _open_exported(self) -> OnnxEncoder | None:
        """Return the cached model, or `None` if there is no usable one."""
        try:
            self._exported = read_exported(self._folder)
            return self._open_onnx(self._folder, self._exported) if self._exported else None
        except UnusableExport as error:
            self._warn(f"the prepared search model in {self._folder} {error}: it is prepared again")
            return None

    def _export(self) -> OnnxEncoder | None:
        """Export and open the model; return `None` if it can't be exported."""
        source = self._find()
        if not read_recipe(source).exportable:
            return None
        started = time.monotonic()
        self._listener(StageStarted(_PREPARING))
        try:
            with exported(
                self._folder,
                source,
                name=model_name(self._settings.model),
                precision=self._settings.precision,
                rejected=self._exported,
                warn=self._warn,
            ) as folder:
                encoder = self._open_onnx(folder, read_exported(folder))
        except (ExportFailed, UnusableExport) as error:
            self._warn(f"preparing the search model {error}: it is used as it is, which is slower")
            return None
        finally:
            self._listener(StageFinished(_PREPARING, time.monotonic() - started))
        return encoder

    def _open_onnx(self, folder: Path, made: ExportedModel | None) -> OnnxEncoder:
        from asky.research.embedding.onnx_backend import OnnxEncoder  # imports numpy

        if made is None:
            raise UnusableExport("was removed by another process")
        encoder = OnnxEncoder(folder, made, batch_size=self._settings.batch_size)
        self._model = made.model
        return encoder

    def _open_torch(self, device: str) -> TorchEncoder:
        from asky.research.embedding.torch_backend import TorchEncoder  # imports numpy

        source = self._find()
        recipe = read_recipe(source)
        encoder = TorchEncoder(source, recipe, device=device, batch_size=self._settings.batch_size)
        weights_sha256 = known_weights_hash(source, self._folder.parent)
        name = model_name(self._settings.model)
        self._model = describe(recipe, name=name, dim=encoder.dim, precision="fp32", weights_sha256=weights_sha256)
        return encoder

    def _find(self) -> Path:
        return find_model_folder(
            self._settings.model,
            local_files_only=self._settings.local_files_only,
            listener=self._listener,
        )

    def _warn(self, message: str, hint: str | None = None) -> None:
        self._listener(Warned(message, hint))
