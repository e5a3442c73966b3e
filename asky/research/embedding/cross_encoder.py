"""Models that read two texts together: natural language inference and cross-encoders.

A folder with a graph in the ONNX format and `tokenizer.json` is run with onnxruntime, any other with
sentence-transformers. None is downloaded here: `asky models get` does that, once, with consent.
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
from asky.research.embedding.labels import labels_of
from asky.research.embedding.models import find_local_model, is_folder, onnx_file
from asky.research.embedding.onnx_backend import open_session, padded
from asky.research.embedding.own_models import read_record
from asky.research.embedding.processor import this_processor
from asky.research.embedding.torch_backend import require_sentence_transformers

Pair = tuple[str, str]
Outputs = npt.NDArray[np.float32]

_KIND = "NLI model or cross-encoder"
_MAX_WINDOW = 512
"""In tokens. Models of this kind were trained on pairs of at most so many, also those that can read more."""

_MAX_CHARS = 20_000
"""Of one text: more than a window holds in any language, and a bound on the work of the tokenizer."""

_BATCH = 16


@dataclass(frozen=True, slots=True)
class CrossEncoder:
    """An open model. `labels` are the lower-case names of its outputs, in order; a model that scores has one.

    `read` returns the outputs for pairs of texts, `float32[n, len(labels)]`, before softmax or sigmoid; of a pair that
    is too long for the model, the longer text is cut. It raises `NotConfigured` if the files do not fit together.
    """

    labels: tuple[str, ...]
    read: Callable[[Sequence[Pair]], Outputs]


def open_cross_encoder(model: str, *, own: Path | None = None) -> CrossEncoder:
    """Open the model of that name or folder; `own` is the folder of the models that asky downloaded.

    Raises `NotConfigured` if it is not on this machine, is damaged, or is of another kind.
    """
    folder = find_local_model(model, own=own, kind=_KIND)
    if folder is None:
        raise NotConfigured(
            f"the {_KIND} {model} is not on this machine", hint=f"`asky models get {model}` downloads it"
        )
    record = None if is_folder(model) else read_record(folder)
    if record is not None:
        record.check()
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
        labels = labels_of(config)
        return CrossEncoder(labels, _reader(folder, config, labels))
    except NotConfigured:
        raise
    except Exception as error:  # onnxruntime and tokenizers raise bare Exceptions for damaged files
        raise NotConfigured(f"the {_KIND} in {folder} can't be opened: {_first_line(error)}") from error


def _reader(folder: Path, config: dict[str, Any], labels: Sequence[str]) -> Callable[[Sequence[Pair]], Outputs]:
    file = onnx_file(folder, processor=this_processor())
    run = _onnx_runner(folder, config, file) if file is not None else _torch_runner(folder)

    def read(pairs: Sequence[Pair]) -> Outputs:
        found = np.empty((len(pairs), len(labels)), dtype=np.float32)
        clean = [(_clean(first), _clean(second)) for first, second in pairs]
        order = sorted(range(len(clean)), key=lambda at: -len(clean[at][0]) - len(clean[at][1]))
        for start in range(0, len(order), _BATCH):
            rows = order[start : start + _BATCH]
            found[rows] = _checked(folder, run, [clean[row] for row in rows], len(labels))
        return found

    return read


def _checked(folder: Path, run: Callable[[Sequence[Pair]], Any], pairs: Sequence[Pair], width: int) -> Outputs:
    """Return the outputs for `pairs`. Raises `NotConfigured` for any that do not belong to such a model."""
    try:
        outputs: Outputs = np.asarray(run(pairs), dtype=np.float32).reshape(len(pairs), -1)
    except Exception as error:  # noqa: BLE001 - as above; a tokenizer of another model has ids that the graph does not know
        problem = _first_line(error)
    else:
        if outputs.shape[1] == width and np.isfinite(outputs).all():
            return outputs
        has = f"it has {outputs.shape[1]} outputs, and config.json names {width}"
        problem = has if outputs.shape[1] != width else "it returned a number that is not finite"
    raise NotConfigured(
        f"the {_KIND} in {folder} can't be used: {problem}", hint="its files do not belong together, or are damaged"
    )


def _onnx_runner(folder: Path, config: dict[str, Any], file: Path) -> Callable[[Sequence[Pair]], Any]:
    from tokenizers import Tokenizer  # only if a model is used

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    known = int(config.get("vocab_size") or 0)
    if known and tokenizer.get_vocab_size(with_added_tokens=False) > known:
        raise ValueError(f"its tokenizer is that of another model: the model knows {known:,} tokens")
    tokenizer.no_padding()
    tokenizer.enable_truncation(_window(folder, config), strategy="longest_first")
    tokenizer.encode_special_tokens = True  # "[SEP]" in a text is text
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


def _window(folder: Path, config: dict[str, Any]) -> int:
    """Return the tokens that the model reads at once, at most `_MAX_WINDOW`."""
    try:
        said = json.loads((folder / "tokenizer_config.json").read_text("utf-8")).get("model_max_length")
    except (OSError, ValueError, AttributeError):
        said = None
    limits = (said, config.get("max_position_embeddings"), _MAX_WINDOW)
    return min(int(each) for each in limits if isinstance(each, int | float) and 0 < each < 1e6)


def _torch_runner(folder: Path) -> Callable[[Sequence[Pair]], Any]:
    require_sentence_transformers(folder)
    import torch  # 1.5 s: only where onnxruntime can't do it
    from sentence_transformers import CrossEncoder as Model

    model = Model(str(folder), device="cpu", local_files_only=True, activation_fn=torch.nn.Identity())
    model.max_length = min(model.max_length or _MAX_WINDOW, _MAX_WINDOW)

    def run(pairs: Sequence[Pair]) -> Any:
        return model.predict([list(each) for each in pairs], show_progress_bar=False, convert_to_numpy=True)

    return run


def _clean(text: str) -> str:
    """Return `text` without what no tokenizer takes: a lone surrogate is read as a question mark."""
    return text[:_MAX_CHARS].encode("utf-8", "replace").decode("utf-8")


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0]
