"""Exports a sentence-transformers model as one ONNX graph, from token ids to unit vectors, and checks it against torch.

Runs in a separate process (`python -m asky.research.embedding.export`): torch and transformers take seconds to import
and hundreds of megabytes, and the process that embeds never needs them.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from asky.errors import AskyError
from asky.research.embedding.cache import (
    MODEL_FILE,
    PROBE_TEXT,
    TOKENIZER_FILE,
    ExportedModel,
    Precision,
    hash_weights,
    write_meta,
)
from asky.research.embedding.onnx_backend import open_session, padded
from asky.research.embedding.recipe import Recipe, describe, read_recipe
from asky.research.embedding.tokens import ModelTokenizer
from asky.research.telemetry import rule_out_telemetry

_OPSET = 17
# Cosine of each probe's vector with that of torch. Measured with all-MiniLM-L6-v2: 1.0000 in fp32, at least .99 in
# int8.
_MIN_COSINE = {"fp32": 0.9999, "int8": 0.97}
_PROBES = (
    "",
    "retrieval",
    PROBE_TEXT,
    "The mitochondrion is the organelle in which most of a cell's energy carriers are made. It has two membranes.",
    "日本語の文章とカタカナ、それに emoji 👩‍👩‍👧 and ÀÉÎÕÜ ß ø.",
    "def f(x: int) -> int:\n    return {'a': 1}.get(x, -3.5e-7)  # https://example.org/a?b=c&d=%20",
    "A sentence that is longer than the window. " * 200,
)


class _SentenceModel(torch.nn.Module):  # type: ignore[misc]  # torch is not followed by the type checker
    def __init__(self, model: torch.nn.Module, pooling: str) -> None:
        super().__init__()
        self.model = model
        self.pooling = pooling

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        hidden = self.model(input_ids=input_ids, attention_mask=attention_mask)[0]
        if self.pooling == "cls":
            pooled = hidden[:, 0]
        else:
            mask = attention_mask.unsqueeze(-1).to(hidden.dtype)
            pooled = (hidden * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
        return torch.nn.functional.normalize(pooled, p=2.0, dim=1)


def export(source: Path, target: Path, *, name: str, precision: Precision) -> None:
    """Fill the empty folder `target` from the model in `source`. Raises `AskyError` if the check fails."""
    rule_out_telemetry()
    recipe = read_recipe(source)
    folder = source / recipe.transformer
    tokenizer, pad_id = _export_tokenizer(folder, target, recipe)
    model = _SentenceModel(_load_model(folder), recipe.pooling).eval()
    _export_graph(model, target, precision)
    probe = _check(model, target, tokenizer, pad_id, _MIN_COSINE[precision])
    model_made = describe(recipe, name=name, dim=len(probe), precision=precision, weights_sha256=hash_weights(source))
    write_meta(target, source, ExportedModel(model_made, pad_id, probe))


def _export_tokenizer(folder: Path, target: Path, recipe: Recipe) -> tuple[ModelTokenizer, int]:
    from transformers import AutoTokenizer

    original = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
    backend = getattr(original, "backend_tokenizer", None)
    if backend is None:
        raise AskyError("the model's tokenizer has no fast form")
    (target / TOKENIZER_FILE).write_text(backend.to_str(), "utf-8")
    tokenizer = ModelTokenizer(backend.to_str(), window=recipe.window, lower_case=recipe.lower_case)
    texts = [probe.lower() if recipe.lower_case else probe for probe in _PROBES]
    expected = [original(text, truncation=True, max_length=recipe.window)["input_ids"] for text in texts]
    if tokenizer.encode(_PROBES)[0] != expected:
        raise AskyError("the model's tokenizer can't be reproduced")
    return tokenizer, int(original.pad_token_id or 0)


def _load_model(folder: Path) -> torch.nn.Module:
    from transformers import AutoModel

    model: torch.nn.Module = AutoModel.from_pretrained(
        str(folder), local_files_only=True, attn_implementation="eager", dtype=torch.float32
    )
    return model


def _export_graph(model: torch.nn.Module, target: Path, precision: Precision) -> None:
    raw = target / "raw.onnx"
    # Padding in the example keeps the tracer from dropping the attention mask.
    example = (torch.tensor([[5, 6, 7, 8], [9, 10, 0, 0]]), torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]]))
    batch = {0: "batch", 1: "tokens"}
    with torch.no_grad():
        torch.onnx.export(
            model,
            example,
            str(raw),
            input_names=["input_ids", "attention_mask"],
            output_names=["vectors"],
            dynamic_axes={"input_ids": batch, "attention_mask": batch, "vectors": {0: "batch"}},
            opset_version=_OPSET,
            dynamo=False,  # the newer exporter needs one more package and gives the same graph
        )
    if precision == "int8":
        _quantize(raw)
    open_session(raw, optimized=target / MODEL_FILE)
    raw.unlink()


def _quantize(path: Path) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantized = path.with_suffix(".int8")
    quantize_dynamic(
        str(path), str(quantized), per_channel=True, weight_type=QuantType.QInt8, op_types_to_quantize=["MatMul"]
    )
    quantized.replace(path)


def _check(
    model: torch.nn.Module, target: Path, tokenizer: ModelTokenizer, pad_id: int, min_cosine: float
) -> tuple[float, ...]:
    """Compare both models on the probes, alone and padded to a batch; return the vector of `PROBE_TEXT`."""
    ids = tokenizer.encode(_PROBES)[0]
    alone = np.concatenate([_torch_vectors(model, [row], pad_id) for row in ids])
    session = open_session(target / MODEL_FILE)
    batched = _onnx_vectors(session, ids, pad_id)
    for made in (batched, np.concatenate([_onnx_vectors(session, [row], pad_id) for row in ids])):
        cosines = (alone * made).sum(axis=1)
        if not (cosines > min_cosine).all():
            raise AskyError(f"the exported model differs from torch: cosine {float(cosines.min()):.5f}")
    return tuple(float(value) for value in _onnx_vectors(session, [ids[_PROBES.index(PROBE_TEXT)]], pad_id)[0])


def _torch_vectors(model: torch.nn.Module, ids: Sequence[Sequence[int]], pad_id: int) -> npt.NDArray[np.float32]:
    input_ids, mask = padded(ids, pad_id)
    with torch.no_grad():
        vectors: npt.NDArray[np.float32] = model(torch.from_numpy(input_ids), torch.from_numpy(mask)).numpy()
    return vectors


def _onnx_vectors(session: Any, ids: Sequence[Sequence[int]], pad_id: int) -> npt.NDArray[np.float32]:
    input_ids, mask = padded(ids, pad_id)
    vectors: npt.NDArray[np.float32] = session.run(None, {"input_ids": input_ids, "attention_mask": mask})[0]
    return vectors


def main(arguments: Sequence[str]) -> int:
    """Export `SOURCE TARGET NAME PRECISION`; return exit code 0, or 1 with the reason as the last line on stderr."""
    from transformers.utils import logging

    source, target, name, precision = arguments
    warnings.simplefilter("ignore")  # of the tracer and the exporter: the check below validates the result
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        export(Path(source), Path(target), name=name, precision="int8" if precision == "int8" else "fp32")
    except Exception as error:  # noqa: BLE001 - the boundary of the process: the caller goes on with torch
        sys.stderr.write(f"{type(error).__name__}: {' '.join(str(error).split())[:500]}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
