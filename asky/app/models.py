"""Models: list, describe and test them.

No value of a key is ever returned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from asky.app.failures import ErrorReport, masked
from asky.concurrency import in_thread
from asky.config.changing import set_value
from asky.config.keys import KeyPath, dotted
from asky.config.listing import mask_value
from asky.config.models import ChosenModel, choose_model
from asky.errors import AskyError, NotConfigured, ProviderError, TimedOut, Unreachable
from asky.text.printable import one_line

if TYPE_CHECKING:
    from asky.config.layers import Origin
    from asky.config.loader import Config
    from asky.llm.endpoint.available import AvailableProvider as AvailableProvider
    from asky.llm.endpoint.probe import Abilities
    from asky.wiring import Services

_MODEL_KEYS = ("max_output_tokens", "input_price", "output_price", "cached_input_price")
_MODEL_KEYS_LAST = ("max_turns", "source_shortlist_enabled")
_MAYBE_OUR_FAULT = (NotConfigured, ProviderError, TimedOut, Unreachable)
"""Errors that may be asky's own fault, so another client is tried; a refused key or rate limit is the endpoint's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedModel:
    """An alias of models.toml. `context_is_assumed` says that no entry sets the size of its context."""

    alias: str
    is_default: bool
    provider: str
    id: str | None
    base_url: str | None
    context_tokens: int | None
    context_is_assumed: bool
    max_output_tokens: int | None
    prices: Mapping[str, float | None] | None
    api_key_env: str | None
    key_is_set: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedProvider:
    """A provider of models.toml; `key_is_set` is `None` if it needs no key."""

    name: str
    base_url: str
    api_key_env: str | None
    key_is_set: bool | None


@dataclass(frozen=True, slots=True)
class ModelCatalog:
    """All aliases and providers, and the name of the default model, which need not be an alias."""

    default: str
    models: Sequence[ListedModel]
    providers: Sequence[ListedProvider]


@dataclass(frozen=True, slots=True)
class ModelProperty:
    """A property of a model, its value as JSON types, and where it was set.

    `origin` is `None` for a default and for a property that no key can set; `is_key` tells them apart.
    """

    name: str
    value: Any
    origin: Origin | None
    is_key: bool


@dataclass(frozen=True, slots=True)
class ModelDetails:
    """A model with all its properties."""

    alias: str
    is_default: bool
    properties: Sequence[ModelProperty]


@dataclass(frozen=True, slots=True)
class DefaultModel:
    """The default model, where it was set, and notes for the user."""

    name: str
    origin: Origin | None
    notes: Sequence[str]


@dataclass(frozen=True, slots=True)
class OfficialReply:
    """The result of repeating a failed request with the official openai client; `failure` is `None` on success."""

    failure: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTarget:
    """The model that a test calls, and its host, which is `None` for the built-in model: that one is not called.

    `context_tokens` and `text_tool_calls` are the configured values.
    """

    alias: str
    provider: str
    id: str | None = None
    host: str | None = None
    context_tokens: int | None = None
    text_tool_calls: bool = False
    is_alias: bool = False


@dataclass(frozen=True, slots=True)
class ModelTrial:
    """The result of a test; `abilities` is `None` for the built-in model.

    `error` is what ended the test, `report` the same with secrets masked. `official` is the result of another client.
    """

    target: ModelTarget
    abilities: Abilities | None = None
    report: ErrorReport | None = None
    official: OfficialReply | None = None

    @property
    def error(self) -> AskyError | None:
        """The error that ended the test, or `None`."""
        return self.abilities.error if self.abilities is not None else None

    @property
    def may_be_our_fault(self) -> bool:
        """`True` if the failure may be asky's own, and there is another client to find that out with: openai."""
        return isinstance(self.error, _MAYBE_OUR_FAULT) and find_spec("openai") is not None


def set_default(name: str, *, environ: Mapping[str, str], cwd: Path) -> Path:
    """Make the model `name` the default in the user's own models.toml, and return that file.

    The next start reads it. Raises `ConfigError` if no model has that name.
    """
    return set_value("default", name, environ=environ, cwd=cwd)


class ModelService:
    """Describes and tests the models of the configuration. A model is an alias, or `PROVIDER:MODEL_ID`."""

    def __init__(self, config: Config, environ: Mapping[str, str], services: Callable[[], Services]) -> None:
        self._config = config
        self._environ = environ
        self._services = services  # opens the store: only for tests

    def list(self) -> ModelCatalog:
        """Return all aliases and providers, and the default model if it is no alias but usable."""
        config = self._config
        chosen = [choose_model(config, name) for name in config.models]
        if config.default not in config.models:
            with suppress(NotConfigured):  # the edge reports it
                chosen.append(choose_model(config, config.default))
        return ModelCatalog(config.default, [self._listed(each) for each in chosen], list(self._providers()))

    def show(self, name: str) -> ModelDetails:
        """Return all properties of the model `name` that have a value, with secrets masked.

        Raises `NotConfigured` if there is no such model.
        """
        chosen = self._config.model(name)
        return ModelDetails(chosen.name, chosen.name == self._config.default, list(self._properties(chosen)))

    def default(self, requested: str | None = None) -> DefaultModel:
        """Return the default model. Its notes say if it is not `requested`, or if it cannot be used."""
        origin = self._config.origins.get("default")
        return DefaultModel(self._config.default, origin, list(self._notes_on_default(requested)))

    def find_available(self) -> Sequence[AvailableProvider]:
        """Return the providers that could answer now; see `asky.llm.endpoint.available.find_available`."""
        from asky.llm.endpoint.available import find_available  # loads ssl, which a list does not need

        return find_available(self._config.providers, self._environ)

    async def list_ids(self, provider: str) -> tuple[str, ...]:
        """Return the ids of the models that the endpoint of `provider` lists, sorted.

        Raises `NotConfigured` if there is no such provider or its key is not set, and as
        `asky.llm.endpoint.model_list.list_models`.
        """
        return await in_thread(self._services().models.list_ids, provider)

    def target(self, name: str | None = None) -> ModelTarget:
        """Return the model that `test` would call, by default the default model, and its host.

        Raises `NotConfigured` if there is no such model, or the variable of its key is not set.
        """
        chosen = self._config.model(name)
        if chosen.provider is None:
            return ModelTarget(alias=chosen.name, provider="extractive")
        endpoint = self._services().models.endpoint(name)
        return ModelTarget(
            alias=endpoint.alias,
            provider=endpoint.provider,
            id=endpoint.model_id,
            host=endpoint.host,
            context_tokens=endpoint.context_tokens,
            text_tool_calls=endpoint.text_tool_calls,
            is_alias=chosen.is_alias,
        )

    async def test(self, name: str | None = None) -> ModelTrial:
        """Make a tiny real call to the model `name`, by default the default model, and return what its endpoint can do.

        Raises as `target` does; an error of the endpoint is in the result.
        """
        target = self.target(name)
        if target.host is None:
            return ModelTrial(target)
        mask = self._services().mask
        found = await self._services().models.probe(name)
        found = replace(found, warnings=tuple(map(mask, found.warnings)))
        if found.error is None:
            return ModelTrial(target, found)
        error = found.error
        return ModelTrial(
            target, found, masked(ErrorReport(error.exit_code, error.code, error.message, error.hint), mask)
        )

    async def ask_official_client(self, trial: ModelTrial) -> ModelTrial:
        """Return `trial` with the result of repeating its failed request with the official openai client.

        There is one attempt of at most a minute.
        """
        assert trial.abilities is not None
        failure = await self._services().models.ask_official_client(trial.target.alias, trial.abilities.request)
        return replace(trial, official=OfficialReply(failure))

    def _listed(self, chosen: ChosenModel) -> ListedModel:
        model = chosen.model
        prices = {"input": model.input_price, "output": model.output_price, "cached_input": model.cached_input_price}
        return ListedModel(
            alias=chosen.name,
            is_default=chosen.name == self._config.default,
            provider=model.provider,
            id=model.id,
            base_url=None if chosen.provider is None else mask_value(chosen.provider.base_url, self._environ),
            context_tokens=chosen.context_tokens,
            context_is_assumed=model.context_tokens is None and chosen.provider is not None,
            max_output_tokens=model.max_output_tokens,
            prices=prices if model.input_price is not None else None,
            api_key_env=chosen.api_key_env,
            key_is_set=chosen.has_key(self._environ),
        )

    def _providers(self) -> Iterator[ListedProvider]:
        for name, each in self._config.providers.items():
            variable = each.api_key_env
            yield ListedProvider(
                name=name,
                base_url=mask_value(each.base_url, self._environ),
                api_key_env=variable,
                key_is_set=None if variable is None else bool(self._environ.get(variable, "").strip()),
            )

    def _properties(self, chosen: ChosenModel) -> Iterator[ModelProperty]:
        for name, value, paths in _values(chosen, self._environ):
            if value is not None and value != {}:
                origins = [self._config.origins.get(dotted(path)) for path in paths]
                origin = next((each for each in origins if each is not None), None)
                yield ModelProperty(name, mask_value(value, self._environ), origin, bool(paths))

    def _notes_on_default(self, requested: str | None) -> Iterator[str]:
        config = self._config
        if requested is not None and config.default != requested:
            yield f"note: here it is overridden by {one_line(str(config.origins['default']))}"
        try:
            chosen = config.model(requested)
        except AskyError as error:
            yield f"note: {error.message}"
            return
        if chosen.has_key(self._environ) is False:
            yield f"note: its key is not set: export {chosen.api_key_env}=..."


def _values(chosen: ChosenModel, environ: Mapping[str, str]) -> Iterator[tuple[str, Any, Sequence[KeyPath]]]:
    """Yield name, value and the keys that may have set it, highest precedence first."""
    model, provider = chosen.model, chosen.provider
    own, shared = ("models", chosen.name), ("providers", model.provider)
    yield "provider", model.provider, [(*own, "provider")] if chosen.is_alias else []
    yield "id", model.id, [(*own, "id")] if chosen.is_alias else []
    if provider is not None:
        yield "base_url", provider.base_url, [(*shared, "base_url")]
        yield "api_key_env", provider.api_key_env, [(*shared, "api_key_env")]
        yield "key_is_set", chosen.has_key(environ), []
    yield "context_tokens", chosen.context_tokens, [(*own, "context_tokens"), (*shared, "context_tokens")]
    for name in _MODEL_KEYS:
        yield name, getattr(model, name), [(*own, name)]
    if provider is not None:
        for name in ("tools", "text_tool_calls"):
            yield name, getattr(chosen, name), [(*own, name), (*shared, name)]
        yield "parameters", chosen.parameters, [(*own, "parameters"), (*shared, "parameters")]
    for name in _MODEL_KEYS_LAST:
        yield name, getattr(model, name), [(*own, name)]
    if provider is not None:
        for field in fields(provider.timeouts):
            path = (*shared, "timeouts", field.name)
            yield dotted(path[-2:]), getattr(provider.timeouts, field.name), [path]
