"""Checks of the models and tools that a valid configuration names. Nothing is contacted, loaded or run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import urlsplit

from asky.config.custom_tools import find_missing_programs
from asky.config.loader import Config
from asky.config.models import read_api_key
from asky.config.paths import model_folder
from asky.config.secrets import scrub
from asky.errors import AskyError, NotConfigured
from asky.health.check import Check, note, ok, problem
from asky.net.addresses import is_loopback
from asky.research.embedding.cache import UnusableExport, read_exported
from asky.research.embedding.models import find_model_folder, model_key

_ANSWERING, _TOOLS, _EMBEDDING = "default model", "tools", "embedding model"
_KEY = "research.embedding.model"
_HINT = "`pip install 'asky[offline]'` installs the default model"


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


def check_model(config: Config, environ: Mapping[str, str], *, fingerprints: Sequence[str]) -> Check:
    """Check that the configured embedding model is available, and that stored vectors have the same fingerprint.

    `fingerprints` are those of the stored vectors, if any. Without a model asky searches by keywords only. That is a
    problem if the corpus has vectors or the user chose the missing model, and otherwise a note.
    """
    model = config.research.embedding.model
    try:
        exported, damage = _exported(config, environ)
        if exported is not None:
            return _compare(model, exported, fingerprints)
        source = find_model_folder(model, local_files_only=True)
    except AskyError as error:
        return _missing(config, error, needed=bool(fingerprints))
    if damage is not None:
        return note(_EMBEDDING, f"the prepared copy of {model} {damage}", "it is prepared again on its next use")
    return ok(_EMBEDDING, f"{model} ({source})")


def _exported(config: Config, environ: Mapping[str, str]) -> tuple[str | None, str | None]:
    """Return the fingerprint of the model's prepared copy, `None` if there is none, and why that copy is unusable, if
    it is.
    """
    chosen = config.research.embedding
    try:
        found = read_exported(model_folder(environ) / model_key(chosen.model) / chosen.precision)
    except UnusableExport as error:
        return None, error.message
    return (None if found is None else found.model.fingerprint), None


def _compare(model: str, fingerprint: str, fingerprints: Sequence[str]) -> Check:
    if fingerprints and fingerprint not in fingerprints:
        return note(
            _EMBEDDING,
            f"{model}, but the stored vectors come from another model",
            "`asky corpus sync --all` embeds the documents with this one",
        )
    return ok(_EMBEDDING, f"{model}, prepared for use")


def _missing(config: Config, error: AskyError, *, needed: bool) -> Check:
    chosen, origin = config.research.embedding, config.origins.get(_KEY)
    if needed or (origin is not None and origin.layer != "packaged"):
        return problem(_EMBEDDING, f"{error.message}; asky searches by keywords only", error.hint or _HINT)
    download = "" if chosen.local_files_only else "; it is downloaded on first use"
    return note(_EMBEDDING, f"{chosen.model} is not on this machine{download}", _HINT)
