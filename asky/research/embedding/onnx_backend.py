"""Runs a model that is a graph in the ONNX format, with only onnxruntime and tokenizers."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from asky.errors import AskyError, NotConfigured
from asky.research.embedding.tokens import ModelTokenizer
from asky.research.telemetry import rule_out_telemetry

# Tokens per batch, padding included. Measured with the model inside asky on chunks of 60 to 190 words, two threads,
# texts per CPU second: 41 at 512 tokens, 36 at 1,024, 31 at 2,048. A small batch stays in the processor's cache and
# needs less padding, and the runtime keeps 35 MB for it, not 75.
_BATCH_TOKENS = 512
_WINDOW_TEXTS = 1024  # sorted by length together: bounds the memory for token ids


@dataclass(frozen=True, slots=True)
class Encoded:
    """`vectors` is `float32[n, dim]`; `tokens` were read, in `batches`; `truncated` texts were cut to the window."""

    vectors: npt.NDArray[np.float32]
    tokens: int
    batches: int
    truncated: int


class OnnxEncoder:
    """A loaded model. Thread-safe.

    As many batches are computed at once as there are processors, for all callers together: the runtime keeps the memory
    that the most batches at once have ever needed.
    """

    def __init__(
        self, graph: Path, tokenizer: ModelTokenizer, *, dim: int, pad_id: int, pooling: str | None, batch_size: int
    ) -> None:
        """Open the file `graph`. With `pooling`, `mean` or `cls`, its first output has a vector for each token.

        Without it, that output is a unit vector for each text, and the graph is already optimised. Raises
        `NotConfigured` if it can't be opened.
        """
        self.dim = dim
        self.tokenizer = tokenizer
        self._pad_id = pad_id
        self._pooling = pooling
        self._batch_size = batch_size
        self._workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(self._workers, thread_name_prefix="embed")  # it starts threads as it needs them
        self._processors = threading.BoundedSemaphore(self._workers)
        try:
            self._session = open_session(graph, optimize=pooling is not None)
            self._inputs = {each.name for each in self._session.get_inputs()}
        except Exception as error:  # onnxruntime raises bare Exceptions for damaged files
            reason = str(error).strip().split("\n", 1)[0]
            raise NotConfigured(f"the embedding model {graph} can't be opened: {reason}") from error

    def encode(self, texts: Sequence[str], prefix: str, progress: Callable[[int], None]) -> Encoded:
        """Embed each of `texts`, after `prefix`, in batches of similar length; report the size of each to `progress`.

        Raises `AskyError` for a vector that is not finite, and whatever `progress` raises.
        """
        vectors = np.empty((len(texts), self.dim), dtype=np.float32)
        tokens = batches = truncated = 0
        for start in range(0, len(texts), _WINDOW_TEXTS):
            ids, cut = self.tokenizer.encode([prefix + text for text in texts[start : start + _WINDOW_TEXTS]])
            rows = list(_batches([len(row) for row in ids], self._batch_size))
            self._fill(vectors[start : start + len(ids)], ids, rows, progress)
            tokens += sum(len(row) for row in ids)
            batches += len(rows)
            truncated += cut
        return Encoded(vectors, tokens, batches, truncated)

    def _fill(
        self,
        vectors: npt.NDArray[np.float32],
        ids: Sequence[Sequence[int]],
        batches: Sequence[Sequence[int]],
        progress: Callable[[int], None],
    ) -> None:
        def fill(batch: Sequence[int]) -> int:
            vectors[batch] = self._run([ids[row] for row in batch])
            return len(batch)

        if len(batches) == 1 or self._workers == 1:
            for batch in batches:
                progress(fill(batch))
            return
        # One thread per batch scales better than several threads inside one: they never wait for each other. A caller
        # hands out no more batches at a time than there are threads, so that callers take turns.
        waiting = iter(batches)
        running: set[Future[int]] = set()
        try:
            while running := running | {
                self._pool.submit(fill, batch) for batch in islice(waiting, self._workers - len(running))
            }:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for each in done:
                    progress(each.result())
        finally:
            for each in running:
                each.cancel()
            wait(running)

    def _run(self, ids: Sequence[Sequence[int]]) -> npt.NDArray[np.float32]:
        input_ids, mask = padded(ids, self._pad_id)
        given = {"input_ids": input_ids, "attention_mask": mask, "token_type_ids": np.zeros_like(input_ids)}
        given = {name: value for name, value in given.items() if name in self._inputs}
        with self._processors:
            vectors: npt.NDArray[np.float32] = self._session.run(None, given)[0]
        if self._pooling is not None:
            vectors = _pooled(vectors, mask, self._pooling)
        if not (np.abs(np.linalg.norm(vectors, axis=1) - 1.0) < 1e-3).all():  # false for NaN too
            raise AskyError(
                "the embedding model returned a vector that is not finite",
                hint="install it again, or choose another model",
            )
        return vectors


def open_session(path: Path, *, optimize: bool = False) -> Any:
    """Return an onnxruntime session on one thread, for a graph that is optimised already or, with `optimize`, is then.

    Optimising takes 0.3 s of CPU for a model of 90 MB.
    """
    rule_out_telemetry()
    import onnxruntime as ort  # 0.03 s, and only where vectors are made

    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.enable_mem_pattern = False  # a plan for each shape, which batches hardly share: 12 MB for no speed
    levels = ort.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimize else levels.ORT_DISABLE_ALL
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _pooled(tokens: npt.NDArray[np.float32], mask: npt.NDArray[np.int64], pooling: str) -> npt.NDArray[np.float32]:
    """Return one unit vector per text, from those of its tokens, `float32[texts, tokens, dim]`."""
    sums = tokens[:, 0] if pooling == "cls" else (tokens * mask[:, :, None]).sum(axis=1, dtype=np.float32)
    vectors: npt.NDArray[np.float32] = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    return vectors


def padded(ids: Sequence[Sequence[int]], pad_id: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return token ids and attention mask, both `int64[len(ids), longest]`."""
    longest = max(len(row) for row in ids)
    input_ids = np.full((len(ids), longest), pad_id, dtype=np.int64)
    mask = np.zeros((len(ids), longest), dtype=np.int64)
    for i, row in enumerate(ids):
        input_ids[i, : len(row)] = row
        mask[i, : len(row)] = 1
    return input_ids, mask


def _batches(lengths: Sequence[int], batch_size: int) -> Iterator[list[int]]:
    """Yield the positions of `lengths`, longest first, with at most `batch_size` texts and `_BATCH_TOKENS` tokens per
    batch.
    """
    batch: list[int] = []
    for position in sorted(range(len(lengths)), key=lambda position: -lengths[position]):
        if batch and (len(batch) == batch_size or (len(batch) + 1) * lengths[batch[0]] > _BATCH_TOKENS):
            yield batch
            batch = []
        batch.append(position)
    if batch:
        yield batch
