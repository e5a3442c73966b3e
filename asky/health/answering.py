"""The model that answers where none is named: which it is, and whether its key is set. Nothing is reached."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from asky.config.loader import Config
from asky.config.models import read_api_key
from asky.config.secrets import scrub
from asky.errors import NotConfigured
from asky.health.check import Check, note, ok, problem
from asky.net.http import is_loopback

_NAME = "default model"


def check_answering(config: Config, environ: Mapping[str, str]) -> Check:
    """Whether the default model of a valid `config` has the key that it needs; the key itself is not tried."""
    chosen = config.model()
    provider = chosen.provider
    if provider is None:
        return ok(_NAME, f"{chosen.name}, which quotes sentences and needs no key and no network")
    where = scrub(f"{chosen.name} at {provider.base_url}", environ)
    try:
        key = read_api_key(chosen, environ)
    except NotConfigured as error:
        return problem(_NAME, error.message, error.hint)
    if key is None:
        return ok(_NAME, f"{where}, no key needed; `asky models test` tries it")
    parts = urlsplit(provider.base_url)
    if parts.scheme.lower() == "http" and not is_loopback(parts.hostname or ""):
        return note(_NAME, f"{where}: {chosen.api_key_env} is sent there without encryption", "use an https address")
    return ok(_NAME, f"{where}, {chosen.api_key_env} is set; `asky models test` tries it")
