"""The model that a name means: an alias of `models.toml`, or `PROVIDER:MODEL_ID`, with all that applies to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from asky.config.schema import EXTRACTIVE, Model, Provider, Settings
from asky.errors import NotConfigured

_LONGEST_NAME = 300


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """A model with its provider, which is `None` for the one that is built in.

    `name` is the alias, or the name as it was written; `model` holds what its own table says and nothing else, which is
    little without an alias. The properties say what applies.
    """

    name: str
    model: Model
    provider: Provider | None
    is_alias: bool

    @property
    def context_tokens(self) -> int | None:
        """The size of the context; `None` where the model has none. It is assumed where the model names none."""
        if self.model.context_tokens is not None or self.provider is None:
            return self.model.context_tokens
        return self.provider.context_tokens

    @property
    def tools(self) -> bool:
        own = self.model.tools
        return own if own is not None else self.provider is None or self.provider.tools

    @property
    def text_tool_calls(self) -> bool:
        own = self.model.text_tool_calls
        return own if own is not None else self.provider is not None and self.provider.text_tool_calls

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The provider's parameters, each replaced by the model's own of that name."""
        shared = {} if self.provider is None else self.provider.parameters
        return MappingProxyType({**shared, **self.model.parameters})

    @property
    def api_key_env(self) -> str | None:
        """Name of the variable that holds the key; `None` where none is sent."""
        return None if self.provider is None else self.provider.api_key_env

    def has_key(self, environ: Mapping[str, str]) -> bool | None:
        """Whether the variable of the key is set; `None` where no key is sent."""
        return None if self.api_key_env is None else bool(environ.get(self.api_key_env, "").strip())


def choose_model(settings: Settings, name: str, *, asked_by: str | None = None) -> ChosenModel:
    """The model called `name`. An alias goes first; `PROVIDER:MODEL_ID` is split at its first colon.

    `asked_by` is the file or variable that named it, for the message. Raises `NotConfigured` where there is no such
    alias or provider; whether a key is set does not matter here.
    """
    own = settings.models.get(name)
    if own is not None:
        return ChosenModel(name, own, settings.providers.get(own.provider), is_alias=True)
    provider, colon, id_ = name.partition(":")
    if provider in settings.providers and is_model_id(id_):
        return ChosenModel(name, Model(provider=provider, id=id_), settings.providers[provider], is_alias=False)
    where = f"{asked_by}: " if asked_by is not None else ""
    shown = name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] + "..."
    if not colon:
        raise NotConfigured(f"{where}there is no model called {shown!r}", hint=_models_hint(settings, name))
    if provider in settings.providers:
        raise NotConfigured(f"{where}{shown!r} names no model of {provider}", hint=f"write {provider}:MODEL_ID")
    raise NotConfigured(
        f"{where}there is no model called {shown!r}, and no provider {provider[:_LONGEST_NAME]!r}",
        hint=_providers_hint(settings, provider, id_),
    )


def is_model_id(text: str) -> bool:
    """Whether `text` can be what an endpoint calls a model: printable, without white space; colons and slashes are."""
    return 0 < len(text) <= _LONGEST_NAME and text.isprintable() and not any(c.isspace() for c in text)


def read_api_key(chosen: ChosenModel, environ: Mapping[str, str]) -> str | None:
    """The key for `chosen`, or `None` where none is sent.

    Raises `NotConfigured` where the variable is not set, or holds what cannot be sent in a header; the message names
    the variable and never its value.
    """
    variable = chosen.api_key_env
    if variable is None:
        return None
    key = environ.get(variable, "").strip()
    if not key:
        raise NotConfigured(
            f"{chosen.name} needs a key of {chosen.model.provider}: the variable {variable} is not set",
            hint=f"export {variable}=..., or choose another model with -m; `asky models list` shows them",
        )
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise NotConfigured(
            f"the value of {variable} cannot be a key: it holds white space or other characters that no key has",
            hint=f"set {variable} again, to the key alone",
        )
    return key


def _models_hint(settings: Settings, name: str) -> str:
    close = _close(name, settings.models)
    if close:
        return f"did you mean {close[0]}? `asky models list` shows them all"
    if name in settings.providers:
        return f"{name} is a provider: write {name}:MODEL_ID"
    return f"known models: {', '.join(sorted(settings.models))}; or write PROVIDER:MODEL_ID"


def _providers_hint(settings: Settings, provider: str, id_: str) -> str:
    close = _close(provider, settings.providers)
    if close:
        return f"did you mean {close[0]}:{id_[:_LONGEST_NAME]}?"
    if provider == EXTRACTIVE:
        return "extractive is one model: write extractive alone"
    return f"known providers: {', '.join(sorted(settings.providers))}"


def _close(name: str, known: Mapping[str, Any]) -> list[str]:
    from difflib import get_close_matches  # only where something is wrong already

    return get_close_matches(name[:_LONGEST_NAME], known, n=1)
