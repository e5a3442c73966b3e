"""The embedding model that asky ships in `asky/models`: it needs no other package, no conversion and no network.

`python -m tools.embedding_model` makes it from the published weights.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from asky.errors import NotConfigured
from asky.research.embedding.recipe import EmbeddingModel

NAMES = frozenset({"all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"})
FOLDER = Path(__file__).parents[2] / "models" / "all-MiniLM-L6-v2"
GRAPH_FILE, WEIGHTS_FILE, TOKENIZER_FILE = "model.onnx", "weights.bin", "tokenizer.json"


@dataclass(frozen=True, slots=True)
class ShippedFile:
    """What a file of the model has to be."""

    crc32: int
    sha256: str


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
    """Compare the files of the model in `folder` with what was shipped: by their CRC-32, 5 ms, or fully by SHA-256.

    Raises `NotConfigured` for one that is missing, cut short or exchanged.
    """
    for name, shipped in FILES.items():
        crc32, sha256 = 0, hashlib.sha256()
        try:
            with (folder / name).open("rb") as file:
                while block := file.read(1 << 20):
                    crc32 = zlib.crc32(block, crc32)
                    if fully:
                        sha256.update(block)
        except OSError as error:
            raise _damaged(f"{folder / name}: {error.strerror}") from error
        if crc32 != shipped.crc32 or (fully and sha256.hexdigest() != shipped.sha256):
            raise _damaged(f"{folder / name} is not the file that was shipped")


def _damaged(problem: str) -> NotConfigured:
    return NotConfigured(f"the embedding model is damaged: {problem}", hint="install asky again")
