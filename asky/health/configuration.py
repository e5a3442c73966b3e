"""Checks of the models and tools that a valid configuration names. Nothing is contacted, loaded or run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from urllib.parse import urlsplit

from asky.config.custom_tools import find_missing_programs
from asky.config.loader import Config
from asky.config.models import read_api_key
from asky.config.secrets import scrub
from asky.errors import AskyError, NotConfigured
from asky.health.check import Check, note, ok, problem
from asky.net.addresses import is_loopback
from asky.research.embedding import packaged
from asky.research.embedding.models import find_model_folder
from asky.research.embedding.recipe import read_recipe
from asky.research.embeddings import EmbeddingClient, EmbeddingSettings

_ANSWERING, _TOOLS, _EMBEDDING = "default model", "tools", "embedding model"
_KEY = "research.embedding.model"


def check_answering(config: Config, environ: Mapping[str, str]) -> Check:
    """Check that the key of the default model is set, if it needs one; the key itself is not tried. `config` must be
    valid.
    """
    chosen = config.model()
    provider = chosen.provider
    if provider is None:
        return ok(_ANSWERING, f"{chosen.name}, which quotes sentences and needs no key and no network")
    where = scrub(f"{chosen.name} at {provider.base_url}", environ)
    try:
        key = read_api_key(chosen, environ)
    except NotConfigured as error:
        return problem(_ANSWERING, error.message, error.hint)
    if key is None:
        return ok(_ANSWERING, f"{where}, no key needed; `asky models test` checks it")
    parts = urlsplit(provider.base_url)
    if parts.scheme.lower() == "http" and not is_loopback(parts.hostname or ""):
        return note(
            _ANSWERING, f"{where}: {chosen.api_key_env} is sent there without encryption", "use an https address"
        )
    return ok(_ANSWERING, f"{where}, {chosen.api_key_env} is set; `asky models test` checks it")


def check_programs(config: Config, environ: Mapping[str, str]) -> Iterator[Check]:
    """Yield a problem for each enabled tool whose program is missing, or one line for all; nothing if no tools are
    configured.
    """
    missing = list(find_missing_programs(config.tools, environ))
    for each in missing:
        yield problem(_TOOLS, each.message, each.hint)
    enabled = [name for name, tool in config.tools.items() if tool.enabled]
    if config.tools and not missing:
        off = len(config.tools) - len(enabled)
        yield ok(_TOOLS, (", ".join(enabled) or "none enabled") + (f"; {off} not enabled" if off and enabled else ""))


def check_model(config: Config, *, fingerprints: Sequence[str], models: Path) -> Check:
    """Check that the configured embedding model is available, and that stored vectors have the same fingerprint.

    `fingerprints` are those of the stored vectors, if any, and `models` is the folder of downloaded models. Without
    a model asky searches by keywords only. That is a problem if the corpus has vectors or the user chose the missing
    model, and otherwise a note.
    """
    chosen = config.research.embedding
    settings = EmbeddingSettings(**{**asdict(chosen), "local_files_only": True, "own_models": str(models)})
    try:
        if settings.is_packaged:
            packaged.check_files(fully=True)
        elif read_recipe(find_model_folder(chosen.model, local_files_only=True, own=models)).dim is None:
            return ok(_EMBEDDING, chosen.model)  # only opening it would tell more
        return _compare(chosen.model, EmbeddingClient(settings).fingerprint, fingerprints)
    except AskyError as error:
        return _missing(config, error, needed=bool(fingerprints))


def _compare(model: str, fingerprint: str, fingerprints: Sequence[str]) -> Check:
    if fingerprints and fingerprint not in fingerprints:
        return note(
            _EMBEDDING,
            f"{model}, but the stored vectors come from another model",
            "`asky corpus sync --all` embeds the documents with this one",
        )
    return ok(_EMBEDDING, model)


def _missing(config: Config, error: AskyError, *, needed: bool) -> Check:
    chosen, origin = config.research.embedding, config.origins.get(_KEY)
    if needed or (origin is not None and origin.layer != "packaged"):
        return problem(_EMBEDDING, f"{error.message}; asky searches by keywords only", error.hint)
    download = "" if chosen.local_files_only else "; it is downloaded on first use"
    return note(_EMBEDDING, f"{chosen.model} is not on this machine{download}", error.hint)
