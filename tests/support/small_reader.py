"""Models that read pairs, made by hand: each word that they know adds a number to each of their outputs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
NLI = ("CONTRADICTION", "ENTAILMENT", "NEUTRAL")
WORDS: Mapping[str, Sequence[float]] = {"agrees": (0, 6, 0), "denies": (6, 0, 0), "moon": (0, 0, 4)}
"""What the words add to the outputs of an entailment model with the labels `NLI`."""

ANSWERING: Mapping[str, Sequence[float]] = {"quay": (5,), "moon": (-5,)}
"""What the words add to the one output of a cross-encoder."""


def save_small_reader(
    folder: Path,
    labels: Sequence[str] = ("LABEL_0",),
    words: Mapping[str, Sequence[float]] = ANSWERING,
    *,
    graphs: Sequence[str] = ("onnx/model.onnx",),
    **config: Any,
) -> Path:
    """Fill `folder` with such a model, and each of `graphs` with its graph."""
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = {word: at for at, word in enumerate([*SPECIAL, *words])}
    save_tokenizer(folder, vocabulary)
    settings = {
        "architectures": ["BertForSequenceClassification"],
        "id2label": {str(at): label for at, label in enumerate(labels)},
        "vocab_size": len(vocabulary),
        "max_position_embeddings": 64,
        "pad_token_id": 0,
    }
    (folder / "config.json").write_text(json.dumps({**settings, **config}), "utf-8")
    table = np.zeros((len(vocabulary), len(next(iter(words.values())))), dtype=np.float32)
    table[len(SPECIAL) :] = list(words.values())
    for each in graphs:
        (folder / each).parent.mkdir(exist_ok=True)
        (folder / each).write_bytes(_graph(table).SerializeToString())
    return folder


def save_tokenizer(folder: Path, vocabulary: Mapping[str, int]) -> None:
    """Write a `tokenizer.json` that takes texts apart at spaces and marks."""
    tokenizer = Tokenizer(models.WordLevel(dict(vocabulary), unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.save(str(folder / "tokenizer.json"))


def _graph(table: np.ndarray) -> onnx.ModelProto:
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["values"]),
        helper.make_node("Cast", ["attention_mask"], ["counted"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["counted", "last"], ["weights"]),
        helper.make_node("Mul", ["values", "weights"], ["weighted"]),
        helper.make_node("ReduceSum", ["weighted", "tokens"], ["logits"], keepdims=0),
    ]
    return _model(nodes, "logits", table, 2)


def _model(nodes: Sequence[onnx.NodeProto], output: str, table: np.ndarray, dimensions: int) -> onnx.ModelProto:
    """The model of these nodes, which may use `table` and the numbers of dimensions `last` and `tokens`."""
    numbers = {"table": table, "last": np.array([2]), "tokens": np.array([1])}
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
        for name in ("input_ids", "attention_mask")
    ]
    shape = ["batch", "length", table.shape[1]] if dimensions == 3 else ["batch", table.shape[1]]
    outputs = [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)]
    constants = [numpy_helper.from_array(value, name) for name, value in numbers.items()]
    graph = helper.make_graph(nodes, "small", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def save_small_embedder(folder: Path, *, kinds: Sequence[str] = ("Transformer", "Pooling", "Normalize")) -> Path:
    """Fills `folder` with a model that embeds a text as the mean of its words' vectors of four numbers."""
    words = {"quay": (1, 0, 0, 1), "moon": (0, 1, 0, 1), "ferry": (1, 0, 0, 0)}
    folder.mkdir(parents=True)
    vocabulary = {word: at for at, word in enumerate([*SPECIAL, *words])}
    save_tokenizer(folder, vocabulary)
    table = np.full((len(vocabulary), 4), 0.1, dtype=np.float32)
    table[len(SPECIAL) :] = list(words.values())
    graph = _model([helper.make_node("Gather", ["table", "input_ids"], ["vectors"])], "vectors", table, 3)
    (folder / "onnx").mkdir()
    (folder / "onnx/model.onnx").write_bytes(graph.SerializeToString())
    paths = ("", "1_Pooling", "2_Normalize")
    named = zip(paths, kinds, strict=True)
    modules = [{"path": path, "type": f"sentence_transformers.models.{kind}"} for path, kind in named]
    (folder / "1_Pooling").mkdir()
    for name, value in (
        ("config.json", {"architectures": ["BertModel"], "hidden_size": 4, "max_position_embeddings": 64}),
        ("modules.json", modules),
        ("1_Pooling/config.json", {"pooling_mode_mean_tokens": True}),
        ("sentence_bert_config.json", {"max_seq_length": 64}),
    ):
        (folder / name).write_text(json.dumps(value), "utf-8")
    return folder
