"""The check that the embedding model runs, by embedding one text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asky.config.paths import model_folder
from asky.errors import AskyError
from asky.health.check import Check, note, ok, problem
from asky.research.embedding.cache import UnusableExport
from asky.research.embeddings import EmbeddingClient, EmbeddingSettings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from asky.config.loader import Config
    from asky.config.paths import model_folder

_NAME = "embedding"
_TEXT = "Which passages answer the question? The nearest ones, by their meaning and by their words."


def check_embedding(config: Config, environ: Mapping[str, str]) -> Iterator[Check]:
    """Embed a sentence, and report the speed. A model that has not been prepared yet is not tried."""
    chosen = config.research.embedding
    settings = EmbeddingSettings(
        model_folder(environ), chosen.model, chosen.device, chosen.batch_size, chosen.precision, local_files_only=True
    )
    try:
        usage = EmbeddingClient(settings).measure(_TEXT)
    except UnusableExport as error:
        yield note(_NAME, f"the prepared copy of {chosen.model} {error}", "it is prepared again on its next use")
    except AskyError as error:
        yield problem(_NAME, f"the model does not run: {error.message}; asky searches by keywords only", error.hint)
    else:
        if usage is not None:
            speed = f"{usage.tokens / max(usage.seconds, 1e-6):,.0f} a second, one text at a time"
            yield ok(_NAME, f"{usage.tokens} tokens in {usage.seconds * 1000:.0f} ms ({speed})")
