"""The graph of the encoder of all-MiniLM-L6-v2 for onnxruntime, with weights of 8 bits: what both shipped models are.

The same weights give the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

Array = npt.NDArray[Any]

DIM, HEADS, LAYERS = 384, 12, 6
_EPSILON = 1e-12
FUSED = "com.microsoft"  # operators of onnxruntime that do the work of several
_EXTERNAL_BYTES = 1024  # tensors of at least so many stand in the file of weights

# Where a processor has no instruction for it, onnxruntime adds products of unsigned and signed bytes in pairs to 16
# bits. That holds 2 * 127 * 127 and not 2 * 255 * 127: so half of an unsigned byte is used, and vectors are the same
# everywhere.
_WEIGHT_MAX = 127
_ACTIVATION_MAX = 63
_ZERO_POINT = 64


class Graph:
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
            self.node("MatMulIntegerToFloat", [each, weights, size, scales, zero], f"{each}.product", domain=FUSED)
            for each, size in ((rounded, unit), (off, self.number(part)))
        ]
        return self.node("Mul", [self.node("Add", products, f"{name}.product"), step], f"{name}.output")


def embeddings(graph: Graph, weights: Mapping[str, Array], window: int, types: str | None = None) -> str:
    """Add the normalised sum of word, place and type of each token: of type 0, or those of the input `types`."""
    words = weights["embeddings.word_embeddings.weight"]
    scale = np.abs(words).max(axis=1, keepdims=True) / 127  # a row is looked up, not multiplied: all 8 bits
    table = graph.tensor("words", np.round(words / scale).astype(np.int8))
    rows = graph.node("Gather", [table, "input_ids"], "word.bytes")
    rows = graph.node("Cast", [rows], "word.floats", to=TensorProto.FLOAT)
    scales = graph.node("Gather", [graph.tensor("words.scale", scale.astype(np.float32)), "input_ids"], "word.scales")
    rows = graph.node("Mul", [rows, scales], "word.rows")
    places, kinds = (weights[f"embeddings.{name}_embeddings.weight"] for name in ("position", "token_type"))
    places = places[:window] if types else places[:window] + kinds[0]
    length = graph.node("Shape", ["input_ids"], "length", start=1, end=2)
    used = graph.node("Slice", [graph.tensor("places", places), graph.integers(0), length], "places.used")
    both = graph.node("Add", [rows, used], "embeddings.sum")
    if types:
        typed = graph.node("Gather", [graph.tensor("types", kinds), types], "type.rows")
        both = graph.node("Add", [both, typed], "embeddings.typed")
    names = [f"embeddings.LayerNorm.{each}" for each in ("weight", "bias")]
    inputs = [both, *(graph.tensor(name, weights[name]) for name in names)]
    return graph.node("LayerNormalization", inputs, "embeddings", axis=-1, epsilon=_EPSILON)


def layer(graph: Graph, weights: Mapping[str, Array], name: str, x: str, bias: str, *, first: bool = False) -> str:
    """Add a layer of the encoder; with `first`, only what it makes of the first token of each text."""

    def of(part: str) -> Array:
        found: Array = weights[f"{name}.{part}"]
        return found

    def add_and_norm(output: str, before: str, part: str) -> str:
        inputs = [output, before]
        inputs += [graph.tensor(f"{name}.{part}.{each}", of(f"{part}.LayerNorm.{each}")) for each in ("weight", "bias")]
        inputs.append(graph.tensor(f"{name}.{part}.added", of(f"{part}.dense.bias")))
        return graph.node("SkipLayerNormalization", inputs, f"{name}.{part}", domain=FUSED, epsilon=_EPSILON)

    scale = (DIM / HEADS) ** -0.5  # of the products of queries and keys; here it costs nothing
    kinds = {"query": scale, "key": 1.0, "value": 1.0}

    def maps(names: Sequence[str], x: str, output: str) -> str:
        joined = np.concatenate([of(f"attention.self.{kind}.weight").T * kinds[kind] for kind in names], axis=1)
        bias = np.concatenate([of(f"attention.self.{kind}.bias") * kinds[kind] for kind in names])
        mapped = graph.linear(x, joined.astype(np.float32), f"{name}.{output}")
        added = graph.tensor(f"{name}.{output}.bias", bias.astype(np.float32))
        return graph.node("Add", [mapped, added], f"{name}.{len(names)}" if first else f"{name}.three")

    parts = [f"{name}.{kind}" for kind in kinds]
    if first:
        both = maps(("key", "value"), x, "kv")
        x = graph.node("Slice", [x, *(graph.integers(each) for each in (0, 1, 1))], f"{name}.first")
        parts[0] = maps(("query",), x, "q")
        graph.nodes.append(helper.make_node("Split", [both, graph.integers(*[DIM] * 2)], parts[1:], axis=-1))
    else:
        three = maps(tuple(kinds), x, "qkv")
        graph.nodes.append(helper.make_node("Split", [three, graph.integers(*[DIM] * 3)], parts, axis=-1))
    heads = graph.integers(0, 0, HEADS, DIM // HEADS)
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
    context = graph.node("Reshape", [context, graph.integers(0, 0, DIM)], f"{name}.context.joined")
    output = graph.linear(context, of("attention.output.dense.weight").T, f"{name}.attention.dense")
    x = add_and_norm(output, x, "attention.output")
    wide = graph.linear(x, of("intermediate.dense.weight").T, f"{name}.wide")
    inputs = [wide, graph.tensor(f"{name}.wide.bias", of("intermediate.dense.bias"))]
    wide = graph.node("BiasGelu", inputs, f"{name}.gelu", domain=FUSED)
    output = graph.linear(wide, of("output.dense.weight").T, f"{name}.narrow")
    return add_and_norm(output, x, "output")


def save_graph(model: onnx.ModelProto, graph: Path, weights: Path) -> None:
    """Write a model as its graph and, in a file of its own in the same folder, its weights, which can be mapped."""
    weights.unlink(missing_ok=True)  # onnx appends to it
    onnx.save(
        model,
        str(graph),
        save_as_external_data=True,
        all_tensors_to_one_file=True,
        location=weights.name,
        size_threshold=_EXTERNAL_BYTES,
    )
    weights.chmod(0o644)


def mask_of(graph: Graph) -> str:
    """Add the input `attention_mask` as numbers."""
    return graph.node("Cast", ["attention_mask"], "mask", to=TensorProto.FLOAT)


def padding_bias(graph: Graph, mask: str) -> str:
    """Add what is added to the scores of attention: nothing, or for padding a large negative number."""
    bias = graph.node("Sub", [mask, graph.number(1.0)], "padding")
    bias = graph.node("Mul", [bias, graph.number(1e9)], "padding.large")
    return graph.node("Unsqueeze", [bias, graph.integers(1, 2)], "padding.bias")


def finished(graph: Graph, name: str, inputs: Sequence[str], outputs: Mapping[str, int | None]) -> onnx.ModelProto:
    """Return the model: its inputs are `int64[texts, tokens]`, its outputs `float32[texts, width]` or `[texts]`."""
    given = [helper.make_tensor_value_info(each, TensorProto.INT64, ["texts", "tokens"]) for each in inputs]
    made = [
        helper.make_tensor_value_info(each, TensorProto.FLOAT, ["texts", *([width] if width else [])])
        for each, width in outputs.items()
    ]
    graph_ = helper.make_graph(graph.nodes, name, given, made, list(graph.tensors.values()))
    versions = [helper.make_opsetid("", 18), helper.make_opsetid(FUSED, 1)]
    return helper.make_model(graph_, opset_imports=versions, ir_version=8, producer_name="asky")
