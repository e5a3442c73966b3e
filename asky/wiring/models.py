"""The models of a process: how each is reached, what it costs, and what answers with it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from asky.config.models import read_api_key
from asky.errors import UsageError

if TYPE_CHECKING:
    from asky.chat.answering import Answerer
    from asky.chat.custom_tools import CustomTools
    from asky.llm.endpoint import Endpoint, Prices
    from asky.llm.openai_compatible import OpenAICompatibleModel
    from asky.llm.port import ChatModel
    from asky.llm.probe import Abilities
    from asky.llm.spending import Budget
    from asky.llm.tokens import TokenCounter
    from asky.storage.endpoints import EndpointFacts
    from asky.wiring import Services


class ModelParts:
    """The models of one process, by the names of the configuration; `None` is the default one."""

    def __init__(self, services: Services, environ: Mapping[str, str]) -> None:
        self._services = services
        self._config = services.config
        self._environ = environ
        self._tokenizers: dict[str, Callable[[str], int]] = {}

    def model(self, name: str | None) -> ChatModel:
        """The model called `name`, or the default one.

        Raises `NotConfigured` for a name that means no model, and where the variable of its key is not set.
        """
        if self._config.model(name).provider is None:
            from asky.evidence.passages import parse_passages
            from asky.llm.extractive import ExtractiveModel

            return ExtractiveModel(read_passages=parse_passages, embed=self._embed)
        return self._remote_model(name)

    def _remote_model(self, name: str | None) -> OpenAICompatibleModel:
        from asky.llm.openai_compatible import OpenAICompatibleModel
        from asky.net.http import client_factory

        endpoint = self.endpoint(name)
        return OpenAICompatibleModel(endpoint, client=client_factory(endpoint.base_url), memory=self.endpoint_facts)

    async def probe(self, name: str | None) -> Abilities:
        """Find out anew what the endpoint of the model called `name`, or the default one, can do.

        Raises what `endpoint` does; an error of the endpoint itself is in the result.
        """
        from asky.concurrency import in_thread  # anyio: for what is asynchronous only
        from asky.llm.probe import probe

        model = self._remote_model(name)
        await in_thread(self.endpoint_facts.forget, model.endpoint.base_url, model.endpoint.model_id)
        return await probe(model)

    def _embed(self, texts: Sequence[str]) -> Any:
        return self._services.vectors.embed_texts(texts)  # opened when the first sentence is scored, not with the model

    def endpoint(self, name: str | None) -> Endpoint:
        """Where the model called `name`, or the default one, is reached, with its key. Raises what `model` does."""
        from asky.llm.endpoint import Endpoint

        chosen = self._config.model(name)
        model, provider, context_tokens = chosen.model, chosen.provider, chosen.context_tokens
        if provider is None or model.id is None or context_tokens is None:
            raise UsageError(f"{chosen.name} answers within asky and has no endpoint")
        return Endpoint(
            alias=chosen.name,
            provider=model.provider,
            base_url=provider.base_url.rstrip("/"),
            model_id=model.id,
            api_key=read_api_key(chosen, self._environ),
            context_tokens=context_tokens,
            max_output_tokens=model.max_output_tokens,
            parameters=chosen.parameters,
            prices=self.prices(name),
            tools=chosen.tools,
            text_tool_calls=chosen.text_tool_calls,
            timeouts=provider.timeouts,
            api_key_env=provider.api_key_env,
            other_keys=self._services.keys,
        )

    @cached_property
    def endpoint_facts(self) -> EndpointFacts:
        from asky.storage.endpoints import EndpointFacts

        return EndpointFacts(self._services.database)

    def prices(self, name: str | None) -> Prices | None:
        """What the model called `name` costs, where its entry says so."""
        from asky.llm.endpoint import Prices

        model = self._config.model(name).model
        if model.input_price is None or model.output_price is None:
            return None
        return Prices(model.input_price, model.output_price, model.cached_input_price)

    def counter(self, name: str | None) -> TokenCounter:
        """Counts the prompts of one run: with the model's own tokenizer where its entry names one."""
        from asky.llm.tokens import TokenCounter

        path = self._config.model(name).model.tokenizer
        return TokenCounter(self._tokenizer(path) if path is not None else None)

    def _tokenizer(self, path: str) -> Callable[[str], int]:
        """The tokenizer of that file, read once and not before something is counted."""
        known = self._tokenizers

        def count(text: str) -> int:
            if path not in known:
                from asky.llm.tokenizer import load_tokenizer

                known[path] = load_tokenizer(Path(path))
            return known[path](text)

        return count

    def budget(self, name: str | None, run_id: str) -> Budget:
        """What a run of the model called `name` may spend. Raises `ConfigError` for a price limit without a price."""
        from asky.llm.budget import Limits, RunBudget
        from asky.llm.spending import NoBudget

        if self._config.model(name).provider is None:
            return NoBudget()
        return RunBudget(
            Limits(**{key: value or None for key, value in asdict(self._config.budget).items()}),
            prices=self.prices(name),
            counter=self.counter(name),
            spent_today=lambda: self._services.runs.spent_today(apart_from=run_id),
            clock=time.monotonic,
        )

    def answerer(self, name: str | None) -> Answerer:
        """Answers questions with the model called `name`, or the default one. Raises what `model` does."""
        from asky.chat.answering import Answerer

        self.budget(name, "")  # a limit that cannot be counted is said before anything is read
        chosen, services = self._config.model(name), self._services
        settings = replace(self._config.research, max_turns=self._config.max_turns(chosen))
        return Answerer(
            self.model(name),
            lambda: services.vectors,
            services.corpus,
            services.runs,
            services.sessions,
            settings=settings,
            listener=services.listener,
            warned=services.warned,
            budget=lambda run_id: self.budget(name, run_id),
            offers_tools=chosen.tools,
            prices=self.prices(name),
            counter=lambda: self.counter(name),
            web=lambda: services.web,
            custom_tools=self._custom_tools(),
            given=self._given(),
        )

    def _given(self) -> dict[str, Any]:
        """What the command line said, by dotted key, and whether it keeps off the web."""
        flags = [key for key, origin in self._config.origins.items() if origin.layer == "flag"]
        given = {key: reduce(getattr, key.split("."), self._config) for key in flags}
        return given | {"offline": self._services.offline}

    def _custom_tools(self) -> CustomTools | None:
        if not any(tool.enabled for tool in self._config.tools.values()):
            return None
        from asky.chat.custom_tools import CustomTools

        return CustomTools(self._config.tools, self._environ, self._services.keys)
