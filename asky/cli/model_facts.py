"""What is known of models and providers, fit to be shown: no value of a key is among it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any

from asky.config.keys import KeyPath, dotted
from asky.config.layers import Origin
from asky.config.listing import mask_value
from asky.config.loader import Config
from asky.config.models import ChosenModel, choose_model
from asky.errors import NotConfigured

_OWN = ("max_output_tokens", "input_price", "output_price", "cached_input_price")
_OWN_LAST = ("max_turns", "source_shortlist_enabled")


@dataclass(frozen=True, slots=True)
class Fact:
    """A property of a model, its value in the types of JSON, and what set it.

    `origin` is `None` for a default and for what no key can set; `is_key` tells them apart.
    """

    name: str
    value: Any
    origin: Origin | None
    is_key: bool


def list_facts(config: Config, chosen: ChosenModel, environ: Mapping[str, str]) -> Iterator[Fact]:
    """All that applies to `chosen`, with secrets masked; what has no value is left out."""
    for name, value, paths in _values(chosen, environ):
        if value is not None and value != {}:
            origins = [config.origins.get(dotted(path)) for path in paths]
            origin = next((each for each in origins if each is not None), None)
            yield Fact(name, mask_value(value, environ), origin, bool(paths))


def _values(chosen: ChosenModel, environ: Mapping[str, str]) -> Iterator[tuple[str, Any, Sequence[KeyPath]]]:
    """Name, value and the keys that may have set it, the one that goes first in front."""
    model, provider = chosen.model, chosen.provider
    own, shared = ("models", chosen.name), ("providers", model.provider)
    yield "provider", model.provider, [(*own, "provider")] if chosen.is_alias else []
    yield "id", model.id, [(*own, "id")] if chosen.is_alias else []
    if provider is not None:
        yield "base_url", provider.base_url, [(*shared, "base_url")]
        yield "api_key_env", provider.api_key_env, [(*shared, "api_key_env")]
        yield "key_is_set", chosen.has_key(environ), []
    yield "context_tokens", chosen.context_tokens, [(*own, "context_tokens"), (*shared, "context_tokens")]
    for name in _OWN:
        yield name, getattr(model, name), [(*own, name)]
    if provider is not None:
        for name in ("tools", "text_tool_calls"):
            yield name, getattr(chosen, name), [(*own, name), (*shared, name)]
        yield "parameters", chosen.parameters, [(*own, "parameters"), (*shared, "parameters")]
    for name in _OWN_LAST:
        yield name, getattr(model, name), [(*own, name)]
    if provider is not None:
        for field in fields(provider.timeouts):
            path = (*shared, "timeouts", field.name)
            yield dotted(path[-2:]), getattr(provider.timeouts, field.name), [path]


def describe_models(config: Config, environ: Mapping[str, str]) -> list[dict[str, Any]]:
    """Every alias as an object of `asky.models/1`, and the default model where it is none of them but can be used."""
    chosen = [choose_model(config, name) for name in config.models]
    if config.default not in config.models:
        with suppress(NotConfigured):  # said by the command
            chosen.append(choose_model(config, config.default))
    return [_describe(config, each, environ) for each in chosen]


def _describe(config: Config, chosen: ChosenModel, environ: Mapping[str, str]) -> dict[str, Any]:
    model = chosen.model
    prices = {"input": model.input_price, "output": model.output_price, "cached_input": model.cached_input_price}
    return {
        "alias": chosen.name,
        "default": chosen.name == config.default,
        "provider": model.provider,
        "id": model.id,
        "base_url": None if chosen.provider is None else mask_value(chosen.provider.base_url, environ),
        "context_tokens": chosen.context_tokens,
        "context_is_assumed": model.context_tokens is None and chosen.provider is not None,
        "max_output_tokens": model.max_output_tokens,
        "prices": prices if model.input_price is not None else None,
        "api_key_env": chosen.api_key_env,
        "key_is_set": chosen.has_key(environ),
    }


def describe_providers(config: Config, environ: Mapping[str, str]) -> list[dict[str, Any]]:
    """Every provider as an object of `asky.models/1`."""
    return [
        {
            "name": name,
            "base_url": mask_value(each.base_url, environ),
            "api_key_env": each.api_key_env,
            "key_is_set": None if each.api_key_env is None else bool(environ.get(each.api_key_env, "").strip()),
        }
        for name, each in config.providers.items()
    ]
