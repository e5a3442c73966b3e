"""Every key of the configuration: its type, its default and what it means. `asky.wiring` hands the values down.

A table of TOML is a frozen dataclass, a family of named tables is a `Mapping` from name to one, and anything else is a
value. `asky.config.keys` reads this file; the packaged `research.toml` and the reference page are generated from it.

    Settings
    +- research: Research              research.toml
    |  +- chunking: Chunking
    |  +- embedding: Embedding
    |  +- retrieval: Retrieval
    |  +- reading: Reading
    |  +- source_adapters: NAME -> SourceAdapter
    +- ui: Ui                          research.toml
    +- default: str                    models.toml
    +- models: NAME -> Model           models.toml
"""

# ruff: noqa: RUF009 - the calls in the dataclasses are `dataclasses.field`
from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

Device = Literal["auto", "cpu", "cuda"]
Precision = Literal["fp32", "int8"]
Engine = Literal["auto", "chroma", "exact"]
When = Literal["auto", "always", "never"]
Provider = Literal["extractive"]

_REQUIRED: Any = dataclasses.MISSING


def _key(
    default: Any, meaning: str, *, low: float | None = None, high: float | None = None, project: bool = False
) -> Any:
    """A key of a table.

    `low` and `high` bound a number, both included. `project` says that a project's `.asky.toml` may set the key: only
    where no value of it can run a program, reach other files or hosts, or lift a limit that protects the machine.
    """
    facts = {"meaning": meaning, "low": low, "high": high, "project": project}
    return dataclasses.field(default=default, metadata=facts)


def _table(factory: Any, meaning: str) -> Any:
    return dataclasses.field(default_factory=factory, metadata={"meaning": meaning})


@dataclass(frozen=True, slots=True)
class Chunking:
    max_tokens: int = _key(200, "Longest chunk, in tokens of the embedding model.", low=16, high=8192, project=True)
    overlap_tokens: int = _key(
        30,
        "Tokens that a chunk repeats from the one before it; at most half of max_tokens.",
        low=0,
        high=4096,
        project=True,
    )


@dataclass(frozen=True, slots=True)
class Embedding:
    model: str = _key("all-MiniLM-L6-v2", "A sentence-transformers model: a name on the Hugging Face hub, or a folder.")
    device: Device = _key("auto", "Where vectors are computed; auto takes CUDA where there is one.")
    precision: Precision = _key("fp32", "int8 computes faster on a CPU and ranks slightly differently.")
    batch_size: int = _key(32, "Texts that are embedded together.", low=1, high=1024)
    local_files_only: bool = _key(False, "Never download a model; use what is installed or cached.")


@dataclass(frozen=True, slots=True)
class Retrieval:
    engine: Engine = _key(
        "auto", "Dense search: an exact scan, Chroma, or the scan up to exact_max_chunks.", project=True
    )
    exact_max_chunks: int = _key(
        400_000, "Chunks in scope up to which auto scans exactly.", low=0, high=10_000_000, project=True
    )
    dense_weight: float = _key(
        0.7, "Weight of the dense score; the lexical score has the rest.", low=0, high=1, project=True
    )
    candidates: int = _key(200, "Best chunks of each leg that are ranked together.", low=1, high=10_000, project=True)
    embed_at_once: int = _key(
        128,
        "Passages that a question embeds at once where some are not embedded yet.",
        low=1,
        high=100_000,
        project=True,
    )


@dataclass(frozen=True, slots=True)
class Reading:
    max_file_mb: int = _key(64, "Largest file that is read, in megabytes.", low=1, high=4096)
    timeout_s: float = _key(20.0, "Longest time for reading one file, in seconds.", low=0.1, high=3600)
    memory_mb: int = _key(1024, "Most memory for reading one file, in megabytes.", low=128, high=1_048_576)
    workers: int = _key(2, "Files that are read at the same time.", low=1, high=64)


@dataclass(frozen=True, slots=True)
class SourceAdapter:
    """Programs that find and read the sources under one prefix: `tool` does both, or each has its own."""

    prefix: str = _key(_REQUIRED, 'Targets that start with this go to the adapter, such as "wiki://".')
    tool: tuple[str, ...] = _key((), "Program, with its arguments, that discovers and reads.")
    discover_tool: tuple[str, ...] = _key((), "Program, with its arguments, that lists the sources of a target.")
    read_tool: tuple[str, ...] = _key((), "Program, with its arguments, that reads one source.")
    timeout_s: float = _key(30.0, "Longest time for one call, in seconds.", low=0.1, high=3600)


@dataclass(frozen=True, slots=True)
class Research:
    local_document_roots: tuple[Path, ...] = _key((), "Folders and files whose documents may be read.")
    max_turns: int = _key(8, "Model calls in one run, at most.", low=1, high=200, project=True)
    passage_tokens: int = _key(
        6000, "Tokens of passages that one tool call may return.", low=100, high=1_000_000, project=True
    )
    max_passages: int = _key(12, "Passages that one tool call may return.", low=1, high=1000, project=True)
    chunking: Chunking = _table(Chunking, "How documents are cut into chunks.")
    embedding: Embedding = _table(Embedding, "The model that turns text into vectors.")
    retrieval: Retrieval = _table(Retrieval, "How chunks are ranked.")
    reading: Reading = _table(Reading, "What one file may cost; each is read in a process of its own.")
    source_adapters: Mapping[str, SourceAdapter] = _table(
        lambda: MappingProxyType({}), "Programs that provide sources other than files and web pages."
    )


@dataclass(frozen=True, slots=True)
class Ui:
    color: When = _key("auto", "Colour; auto colours a terminal unless NO_COLOR is set or TERM is dumb.", project=True)
    progress: bool = _key(True, "Show a progress line on a terminal.", project=True)


@dataclass(frozen=True, slots=True)
class Model:
    provider: Provider = _key(_REQUIRED, "Who answers; extractive quotes sentences and needs no key and no network.")


@dataclass(frozen=True, slots=True)
class Settings:
    """The root of the tree."""

    research: Research = _table(Research, "Reading, indexing and answering.")
    ui: Ui = _table(Ui, "What the terminal shows.")
    default: str = _key("extractive", "The model that answers where -m and ASKY_MODEL name none.")
    models: Mapping[str, Model] = _table(
        lambda: MappingProxyType({"extractive": Model(provider="extractive")}), "Models by the alias that -m takes."
    )


FILES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"research.toml": ("research", "ui"), "models.toml": ("default", "models")}
)
"""The top-level keys of each configuration file."""
