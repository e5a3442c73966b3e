"""The trained reader as a graph for onnxruntime, with weights of 8 bits."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx

from asky.research.reader.pairs import WINDOW
from tools.encoder_graph import (
    DIM,
    LAYERS,
    Array,
    Graph,
    embeddings,
    finished,
    layer,
    mask_of,
    padding_bias,
    save_graph,
)
from tools.reader.records import LABELS

INPUTS = ("input_ids", "token_type_ids", "attention_mask")


def build(weights: Mapping[str, Array], layers: int = LAYERS) -> onnx.ModelProto:
    """Return the graph: from `INPUTS` to `answers`, `float32[pairs]`, and `verdicts`, `float32[pairs, 3]`.

    Of the last layer only the first token of a pair is computed, which alone the heads read.
    """
    graph = Graph()
    body = {name.removeprefix("bert."): weight for name, weight in weights.items()}
    mask = mask_of(graph)
    x = embeddings(graph, body, WINDOW, INPUTS[1])
    bias = padding_bias(graph, mask)
    for number in range(layers):
        x = layer(graph, body, f"encoder.layer.{number}", x, bias, first=number == layers - 1)
    first = graph.node("Reshape", [x, graph.integers(-1, DIM)], "first")
    answer = graph.node("MatMul", [first, graph.tensor("a.weight", body["a.weight"].T)], "answer.product")
    answer = graph.node("Add", [answer, graph.tensor("a.bias", body["a.bias"])], "answer.logit")
    graph.node("Reshape", [answer, graph.integers(-1)], "answers")
    verdict = graph.node("MatMul", [first, graph.tensor("b.weight", body["b.weight"].T)], "verdict.product")
    graph.node("Add", [verdict, graph.tensor("b.bias", body["b.bias"])], "verdicts")
    return finished(graph, "asky-reader", INPUTS, {"answers": None, "verdicts": len(LABELS)})


def export(weights: Mapping[str, Array], folder: Path, layers: int = LAYERS) -> None:
    """Write the graph and the weights of the reader into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    given = {name: np.asarray(weight, np.float32) for name, weight in weights.items()}
    save_graph(build(given, layers), folder / "model.onnx", folder / "weights.bin")
