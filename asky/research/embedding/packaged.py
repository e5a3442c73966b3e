"""The embedding model that asky ships in `asky/models`: it needs no other package, no conversion and no network.

`python -m tools.embedding_model` makes it from the published weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from asky.research.embedding import shipped
from asky.research.embedding.recipe import EmbeddingModel
from asky.research.embedding.shipped import ShippedFile

NAMES = frozenset({"all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"})
FOLDER = Path(__file__).parents[2] / "models" / "all-MiniLM-L6-v2"
GRAPH_FILE, WEIGHTS_FILE, TOKENIZER_FILE = "model.onnx", "weights.bin", "tokenizer.json"


FILES: Mapping[str, ShippedFile] = MappingProxyType(
    {
        GRAPH_FILE: ShippedFile(0x68C746E7, "a241ffdf4439359c340d15f74a00d07068cad11ebca4be662f27d88d8f0f27ff"),
        WEIGHTS_FILE: ShippedFile(0xA5AB5BC7, "6a511575425d18872a8d1c3a7396a5a0e5070f3ddba53385fe3ebf9c97aa1744"),
        TOKENIZER_FILE: ShippedFile(0x0B2E9C36, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
    }
)
PAD_ID = 0
MODEL = EmbeddingModel(
    fingerprint=f"all-MiniLM-L6-v2:384:mean:l2:w256:int8:{FILES[GRAPH_FILE].sha256[:8]}:{FILES[WEIGHTS_FILE].sha256[:16]}",
    dim=384,
    window=256,
    lower_case=False,
    query_prefix="",
    document_prefix="",
)


def check_files(folder: Path = FOLDER, *, fully: bool = False) -> None:
    """Compare the files of the model with what was shipped; see `asky.research.embedding.shipped`."""
    shipped.check_files(folder, FILES, called="embedding model", fully=fully)
