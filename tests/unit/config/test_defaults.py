"""What a part does when it is told nothing is what the configuration says."""

from __future__ import annotations

import inspect

from asky.config.schema import Chunking, Embedding, ReadingSettings, SourceAdapter
from asky.reading.limits import MIB, ReadLimits
from asky.reading.process.pool import ReaderPool
from asky.research.adapters import AdapterSettings
from asky.research.chunker import ChunkSettings
from asky.research.embeddings import EmbeddingSettings


def test_parts_without_settings_behave_as_those_of_the_default_configuration() -> None:
    chunking, embedding, reading = Chunking(), Embedding(), ReadingSettings()
    assert ChunkSettings() == ChunkSettings(chunking.max_tokens, chunking.overlap_tokens)
    assert EmbeddingSettings() == EmbeddingSettings(
        model=embedding.model,
        device=embedding.device,
        batch_size=embedding.batch_size,
        local_files_only=embedding.local_files_only,
    )
    assert ReadLimits() == ReadLimits(
        max_bytes=reading.max_file_mb * MIB, timeout_s=reading.timeout_s, memory_bytes=reading.memory_mb * MIB
    )
    assert inspect.signature(ReaderPool).parameters["workers"].default == reading.workers
    configured = SourceAdapter("wiki://", tool=("cat",))
    assert AdapterSettings("wiki", "wiki://", tool=("cat",)).timeout_s == configured.timeout_s
