"""Validation of the table of a provider or a model. No message repeats a value: it may be a secret."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from asky.config.keys import KeyPath
from asky.config.schema import EXTRACTIVE, Model, Provider, Settings

_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,79}\Z")
_MAX_PART_CHARS = 16

OWNED_PARAMETERS: Mapping[str, str] = MappingProxyType(
    {
        "model": "the key id sets it",
        "max_tokens": "the key max_output_tokens sets it",
        "max_completion_tokens": "the key max_output_tokens sets it",
    }
    | dict.fromkeys(
        (
            "messages",
            "stream",
            "stream_options",
            "tools",
            "tool_choice",
            "functions",
            "function_call",
            "response_format",
            "n",
        ),
        "asky sets it",
    )
    | dict.fromkeys(
        ("api_key", "authorization", "headers", "extra_headers", "extra_query", "extra_body"),
        "keys come from the variable that api_key_env names",
    )
)
"""Names that `parameters` may not contain, in lower case, and the reasons."""


def find_endpoint_faults(settings: Settings) -> Iterator[tuple[KeyPath, str]]:
    """Yield the key at fault and the problem, for each fault of a provider or a model."""
    for name, provider in settings.providers.items():
        yield from _check_provider(("providers", name), provider)
    for name, model in settings.models.items():
        yield from _check_model(("models", name), model, settings.providers)


def base_url_fault(url: str) -> str | None:
    """Return why `url` cannot be the address of an endpoint; `None` if it can."""
    from urllib.parse import urlsplit  # 10 ms unless pathlib has loaded it: not at import

    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "not an address"
    if parts.scheme.lower() not in ("http", "https") or not host:
        return 'must be a web address, such as "http://localhost:8000/v1"'
    if parts.username is not None or parts.password is not None:
        return "must not contain a user name or password; api_key_env names the variable that holds the key"
    if parts.query or parts.fragment or "?" in url or "#" in url:
        return "must end before ? and #"
    if any(c.isspace() or not c.isprintable() for c in url):
        return "must not contain white space"
    return None


def usable_base_url(url: str) -> str:
    """Return `url`, or `""` if it cannot be an endpoint's address: an invalid one may be a secret and is dropped."""
    return "" if base_url_fault(url) else url


def _check_provider(path: KeyPath, provider: Provider) -> Iterator[tuple[KeyPath, str]]:
    name = path[-1]
    if name == EXTRACTIVE:
        yield path, "extractive is built in and has no endpoint"
    elif ":" in name or any(c.isspace() for c in name):
        yield path, "the name of a provider must not contain a colon or white space"
    if fault := base_url_fault(provider.base_url):
        yield (*path, "base_url"), fault
    if provider.api_key_env is not None and not _names_variable(provider.api_key_env):
        yield (*path, "api_key_env"), "must be the name of a variable in capitals, never a key itself"
    yield from _check_parameters(path, provider.parameters)


def _names_variable(text: str) -> bool:
    """Return whether `text` is a variable name in capitals and not a key that happens to be written in capitals."""
    if not _VARIABLE.match(text):
        return False
    return not any(len(part) > _MAX_PART_CHARS and not part.isalpha() for part in text.split("_"))


def _check_model(path: KeyPath, model: Model, providers: Mapping[str, Provider]) -> Iterator[tuple[KeyPath, str]]:
    if model.provider == EXTRACTIVE:
        if model.id is not None:
            yield (*path, "id"), "the provider extractive has no other models"
        return
    provider = providers.get(model.provider)
    if provider is None:
        from difflib import get_close_matches  # only if there is an error already

        close = get_close_matches(model.provider, (*providers, EXTRACTIVE), n=1)
        suggestion = f"; did you mean {close[0]}?" if close else ""
        yield (*path, "provider"), f"there is no provider of this name{suggestion}"
    if model.id is None:
        yield path, "the key id is missing: the endpoint's name for the model"
    if (model.input_price is None) != (model.output_price is None):
        yield path, "give input_price and output_price, or neither"
    if model.cached_input_price is not None and model.input_price is None:
        yield (*path, "cached_input_price"), "needs input_price and output_price"
    context_tokens = model.context_tokens or (provider.context_tokens if provider is not None else None)
    if model.max_output_tokens and context_tokens and model.max_output_tokens >= context_tokens:
        yield (*path, "max_output_tokens"), f"must be less than context_tokens, which is {context_tokens}"
    yield from _check_parameters(path, model.parameters)


def _check_parameters(path: KeyPath, parameters: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    for name in parameters:
        if reason := OWNED_PARAMETERS.get(name.lower()):
            yield (*path, "parameters"), f"{name} may not be set here: {reason}"
