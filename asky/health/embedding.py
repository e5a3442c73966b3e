"""The check that the embedding model runs, by embedding one text."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from asky.errors import AskyError
from asky.health.check import Check, ok, problem
from asky.research.embeddings import EmbeddingClient, EmbeddingSettings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from asky.config.loader import Config

_NAME = "embedding"
_TEXT = "Which passages answer the question? The nearest ones, by their meaning and by their words."


def check_embedding(config: Config, models: Path) -> Iterator[Check]:
    """Embed a sentence, and report the speed; `models` is the folder of downloaded ones.

    A model that only sentence-transformers can run is not tried.
    """
    chosen = {**asdict(config.research.embedding), "local_files_only": True, "own_models": str(models)}
    settings = EmbeddingSettings(**chosen)
    try:
        usage = EmbeddingClient(settings).measure(_TEXT)
    except AskyError as error:
        yield problem(_NAME, f"the model does not run: {error.message}; asky searches by keywords only", error.hint)
    else:
        if usage is not None:
            speed = f"{usage.tokens / max(usage.seconds, 1e-6):,.0f} a second, one text at a time"
            yield ok(_NAME, f"{usage.tokens} tokens in {usage.seconds * 1000:.0f} ms ({speed})")
