"""Resolution of model names: an alias of `models.toml`, or `PROVIDER:MODEL_ID`, with its effective settings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from asky.config.schema import EXTRACTIVE, Model, Provider, Settings
from asky.errors import NotConfigured

_MAX_NAME_CHARS = 300
_OLLAMA_TAG = re.compile(r"latest|\d+(?:\.\d+)?[bm](?:-[\w.-]+)?", re.IGNORECASE)  # of `qwen3:8b`
# Who makes the models whose names begin so, and who passes on those of others.
_MAKERS: Mapping[str, str] = MappingProxyType(
    {"gpt": "openai", "o1": "openai", "o3": "openai", "o4": "openai", "claude": "anthropic", "gemini": "gemini"}
)
_RESELLERS = ("openrouter", "fireworks")


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """A model with its provider, which is `None` for the built-in one.

    `name` is the alias, or the name as written; `model` holds only the settings of its own table, which are few without
    an alias. The properties give the effective settings.
    """

    name: str
    model: Model
    provider: Provider | None
    is_alias: bool

    @property
    def context_tokens(self) -> int | None:
        """Return the context size, with a default if the model names none; `None` if the model has no context."""
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
        """Return the provider's parameters, overridden by the model's own."""
        shared = {} if self.provider is None else self.provider.parameters
        return MappingProxyType({**shared, **self.model.parameters})

    @property
    def api_key_env(self) -> str | None:
        """Return the name of the variable that holds the key; `None` if no key is sent."""
        return None if self.provider is None else self.provider.api_key_env

    def has_key(self, environ: Mapping[str, str]) -> bool | None:
        """Return whether the variable of the key is set; `None` if no key is sent."""
        return None if self.api_key_env is None else bool(environ.get(self.api_key_env, "").strip())


def choose_model(settings: Settings, name: str, *, requested_by: str | None = None) -> ChosenModel:
    """Return the model called `name`. An alias takes precedence; `PROVIDER:MODEL_ID` is split at its first colon.

    `requested_by` is the file or variable that named it, for the message. Raises `NotConfigured` if there is no such
    alias or provider; whether a key is set is not checked.
    """
    own = settings.models.get(name)
    if own is not None:
        return ChosenModel(name, own, settings.providers.get(own.provider), is_alias=True)
    provider, colon, id_ = name.partition(":")
    if provider in settings.providers and is_model_id(id_):
        return ChosenModel(name, Model(provider=provider, id=id_), settings.providers[provider], is_alias=False)
    where = f"{requested_by}: " if requested_by is not None else ""
    shown = name if len(name) <= _MAX_NAME_CHARS else name[:_MAX_NAME_CHARS] + "..."
    if not colon:
        raise NotConfigured(f"{where}there is no model called {shown!r}", hint=_models_hint(settings, name))
    if provider in settings.providers:
        raise NotConfigured(f"{where}{shown!r} names no model of {provider}", hint=f"write {provider}:MODEL_ID")
    raise NotConfigured(
        f"{where}there is no model called {shown!r}, and no provider {provider[:_MAX_NAME_CHARS]!r}",
        hint=_providers_hint(settings, provider, id_),
    )


def is_model_id(text: str) -> bool:
    """Return whether `text` can be a model id: printable, without white space; colons and slashes are allowed."""
    return 0 < len(text) <= _MAX_NAME_CHARS and text.isprintable() and not any(c.isspace() for c in text)


def read_api_key(chosen: ChosenModel, environ: Mapping[str, str]) -> str | None:
    """Return the key for `chosen`, or `None` if none is sent.

    Raises `NotConfigured` if the variable is not set, or its value cannot be sent in a header; the message names the
    variable and never its value.
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
            f"the value of {variable} is not a valid key: it contains white space or other invalid characters",
            hint=f"set {variable} to the key alone",
        )
    return key


def _models_hint(settings: Settings, name: str) -> str:
    close = _close(name, settings.models)
    if close:
        return f"did you mean {close[0]}? `asky models list` shows them all"
    if name in settings.providers:
        return f"{name} is a provider: write {name}:MODEL_ID"
    makers = [each for start, each in _MAKERS.items() if name.lower().startswith(start)]
    able = [each for each in (_RESELLERS if "/" in name else makers) if each in settings.providers]
    if able:
        shown = name[:_MAX_NAME_CHARS]
        return f"write it with a provider that has it: {' or '.join(f'{each}:{shown}' for each in able)}"
    return (
        f"known models: {', '.join(sorted(settings.models))}; or write PROVIDER:MODEL_ID with one of the providers"
        f" {', '.join(sorted(settings.providers))}"
    )


def _providers_hint(settings: Settings, provider: str, id_: str) -> str:
    if provider != EXTRACTIVE and "ollama" in settings.providers and _OLLAMA_TAG.fullmatch(id_):
        return f"a model of Ollama is ollama:{provider[:_MAX_NAME_CHARS]}:{id_}"
    close = _close(provider, settings.providers)
    if close:
        return f"did you mean {close[0]}:{id_[:_MAX_NAME_CHARS]}?"
    if provider == EXTRACTIVE:
        return "extractive is one model: write extractive alone"
    return f"known providers: {', '.join(sorted(settings.providers))}"


def _close(name: str, known: Mapping[str, Any]) -> list[str]:
    from difflib import get_close_matches  # only if there is an error already

    return get_close_matches(name[:_MAX_NAME_CHARS], known, n=1)
