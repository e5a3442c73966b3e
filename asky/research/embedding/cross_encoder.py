"""Models that read two texts together: natural language inference and cross-encoders.

A folder with `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json` is run with onnxruntime, any other with
sentence-transformers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from asky.errors import NotConfigured
from asky.events import Listener, ignore
from asky.research.embedding.models import find_model_folder, is_folder, onnx_file
from asky.research.embedding.onnx_backend import open_session, padded
from asky.research.embedding.torch_backend import require_sentence_transformers

Pair = tuple[str, str]
Outputs = npt.NDArray[np.float32]

_KIND = "NLI model or cross-encoder"
_MAX_WINDOW = 512
"""In tokens. Models of this kind were trained on pairs of at most so many, also those that can read more."""
_BATCH = 16


@dataclass(frozen=True, slots=True)
class CrossEncoder:
    """An open model. `labels` are the lower-case names of its outputs, in order; a model that scores has one.

    `read` returns the outputs for pairs of texts, `float32[n, len(labels)]`, before softmax or sigmoid; of a pair that
    is too long for the model, the longer text is cut.
    """

    labels: tuple[str, ...]
    read: Callable[[Sequence[Pair]], Outputs]


def open_cross_encoder(model: str, *, local_files_only: bool, listener: Listener = ignore) -> CrossEncoder:
    """Open the model of that name or folder.

    Raises `NotConfigured` if it is not on this machine and can't be downloaded, or is of another kind.
    """
    folder = Path(model).expanduser() if is_folder(model) and onnx_file(Path(model).expanduser()) else None
    folder = folder or find_model_folder(model, local_files_only=local_files_only, listener=listener, kind=_KIND)
    try:
        labels = _labels(json.loads((folder / "config.json").read_text("utf-8")))
        return CrossEncoder(labels, _reader(folder, len(labels)))
    except (OSError, ValueError, KeyError, TypeError, ImportError, RuntimeError) as error:
        reason = str(error).strip().split("\n", 1)[0]
        raise NotConfigured(f"the {_KIND} in {folder} can't be opened: {reason}") from error


def _labels(config: dict[str, Any]) -> tuple[str, ...]:
    if not any("ForSequenceClassification" in each for each in config.get("architectures") or ()):
        raise ValueError("it does not classify texts")
    named = config.get("id2label") or {}
    return tuple(str(named[each]).lower() for each in sorted(named, key=int)) or ("label_0", "label_1")


def _reader(folder: Path, outputs: int) -> Callable[[Sequence[Pair]], Outputs]:
    file = onnx_file(folder)
    run = _onnx_runner(folder, file) if file is not None else _torch_runner(folder)

    def read(pairs: Sequence[Pair]) -> Outputs:
        found = np.empty((len(pairs), outputs), dtype=np.float32)
        order = sorted(range(len(pairs)), key=lambda at: -len(pairs[at][0]) - len(pairs[at][1]))
        for start in range(0, len(order), _BATCH):
            rows = order[start : start + _BATCH]
            found[rows] = run([pairs[row] for row in rows])
        return found

    return read


def _onnx_runner(folder: Path, file: Path) -> Callable[[Sequence[Pair]], Any]:
    from tokenizers import Tokenizer  # only if a model is used

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    config = json.loads((folder / "config.json").read_text("utf-8"))
    window = min(config.get("max_position_embeddings", _MAX_WINDOW), _MAX_WINDOW)
    tokenizer.no_padding()
    tokenizer.enable_truncation(window, strategy="longest_first")
    session = open_session(file, optimize=True)
    inputs = {each.name for each in session.get_inputs()}
    pad_id = int(config.get("pad_token_id") or 0)

    def run(pairs: Sequence[Pair]) -> Any:
        encoded = tokenizer.encode_batch(list(pairs))
        ids, mask = padded([each.ids for each in encoded], pad_id)
        types, _ = padded([each.type_ids for each in encoded], 0)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        return session.run(None, {name: value for name, value in given.items() if name in inputs})[0]

    return run


def _torch_runner(folder: Path) -> Callable[[Sequence[Pair]], Any]:
    require_sentence_transformers(folder)
    import torch  # 1.5 s: only where onnxruntime can't do it
    from sentence_transformers import CrossEncoder as Model

    model = Model(str(folder), device="cpu", local_files_only=True, activation_fn=torch.nn.Identity())
    model.max_length = min(model.max_length or _MAX_WINDOW, _MAX_WINDOW)

    def run(pairs: Sequence[Pair]) -> Any:
        found = model.predict([list(each) for each in pairs], show_progress_bar=False, convert_to_numpy=True)
        return found.reshape(len(pairs), -1)

    return run
