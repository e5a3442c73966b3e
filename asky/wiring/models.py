"""The models of a process: their endpoints, their prices, and the answerers that use them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from asky.agent.modes import AGENT
from asky.chat.answering import Answerer
from asky.concurrency import in_thread
from asky.config.models import choose_model, read_api_key
from asky.errors import UsageError
from asky.evidence.passages import parse_passages
from asky.llm.budget import BudgetLimits, RunBudget
from asky.llm.endpoint.endpoint import Endpoint, Prices
from asky.llm.endpoint.model_list import list_models
from asky.llm.spending import Budget, NoBudget
from asky.llm.tokenizer import load_tokenizer
from asky.llm.tokens import TokenCounter
from asky.net.http import client_factory
from asky.notes.modes import NOTES
from asky.papers.modes import PAPERS
from asky.research.reader.port import BUILT_IN
from asky.storage.endpoints import EndpointFacts

if TYPE_CHECKING:
    from asky.agent.worker import AgentWorker
    from asky.chat.custom_tools import CustomTools
    from asky.config.limits import RunLimits
    from asky.llm.endpoint.openai_compatible import OpenAICompatibleModel
    from asky.llm.endpoint.probe import Abilities
    from asky.llm.port import ChatModel
    from asky.notes.research import NoteWorker
    from asky.notes.tools import NoteTools
    from asky.papers.research import PaperWorker
    from asky.research.judging.judge import ClaimJudge
    from asky.runs.driver import BaseRunWorker
    from asky.wiring import Services


class ModelParts:
    """The models of one process, by their configured names; `None` is the default model."""

    def __init__(self, services: Services, environ: Mapping[str, str]) -> None:
        self._services = services
        self._config = services.config
        self._environ = environ
        self._tokenizers: dict[str, Callable[[str], int]] = {}

    def model(self, name: str | None) -> ChatModel:
        """Return the model called `name`, or the default one.

        Raises `NotConfigured` if there is no such model, or the variable of its key is not set.
        """
        if self._config.model(name).provider is None:
            return self.built_in()
        return self._remote_model(name)

    def built_in(self) -> ChatModel:
        """Return the model that quotes."""
        from asky.llm.extractive import model as extractive  # 45 ms with the stemmer: not for an endpoint

        settings = extractive.ExtractiveSettings(min_confidence=self._config.answer.min_confidence)
        return extractive.ExtractiveModel(read_passages=parse_passages, read=self._read, settings=settings)

    def _read(self, items: Sequence[tuple[str, str, str]]) -> Any:
        return self._services.reader.answers(items)  # its modules take 60 ms: not before something is read

    def _remote_model(self, name: str | None) -> OpenAICompatibleModel:
        from asky.llm.endpoint.openai_compatible import OpenAICompatibleModel

        endpoint = self.endpoint(name)
        return OpenAICompatibleModel(endpoint, client=client_factory(endpoint.base_url), memory=self.endpoint_facts)

    async def probe(self, name: str | None) -> Abilities:
        """Test what the endpoint of the model `name`, or of the default one, can do, ignoring stored results.

        Raises as `endpoint` does; an error of the endpoint itself is in the result.
        """
        from asky.llm.endpoint.probe import probe

        model = self._remote_model(name)
        await in_thread(self.endpoint_facts.forget, model.endpoint.base_url, model.endpoint.model_id)
        return await probe(model)

    async def ask_official_client(self, name: str | None, request: Mapping[str, Any]) -> str | None:
        """Send `request` to the model `name` with the official client; see `asky.llm.endpoint.official`."""
        from asky.llm.endpoint.official import ask_official_client

        return await in_thread(ask_official_client, self.endpoint(name), request)

    def list_ids(self, provider: str) -> tuple[str, ...]:
        """Return the ids of the models that the endpoint of `provider` lists, sorted.

        Raises `NotConfigured` if there is no such provider or its key is not set, and what `list_models` raises.
        """
        chosen = choose_model(self._config, f"{provider}:any")
        assert chosen.provider is not None
        return list_models(chosen.provider.base_url, read_api_key(chosen, self._environ))

    def endpoint(self, name: str | None) -> Endpoint:
        """Return the endpoint of the model `name`, or of the default one, with its key. Raises as `model` does."""
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
        return EndpointFacts(self._services.database)

    def prices(self, name: str | None) -> Prices | None:
        """Return the prices of the model `name`, or `None` if its entry has none."""
        model = self._config.model(name).model
        if model.input_price is None or model.output_price is None:
            return None
        return Prices(model.input_price, model.output_price, model.cached_input_price)

    def counter(self, name: str | None) -> TokenCounter:
        """Return the token counter of one run, using the model's own tokenizer if its entry names one."""
        path = self._config.model(name).model.tokenizer
        return TokenCounter(self._tokenizer(path) if path is not None else None)

    def _tokenizer(self, path: str) -> Callable[[str], int]:
        """Return a function that counts with the tokenizer in that file, which is loaded once, on first use."""
        cache = self._tokenizers

        def count(text: str) -> int:
            if path not in cache:
                cache[path] = load_tokenizer(Path(path))
            return cache[path](text)

        return count

    def budget(self, name: str | None, limits: RunLimits, run_id: str = "") -> Budget:
        """Return the budget of a run of the model `name`: the configured limits, overridden by `limits`.

        Raises `ConfigError` if there is a cost limit but no price.
        """
        if self._config.model(name).provider is None:
            return NoBudget()
        chosen = asdict(limits.within(self._config.budget))
        return RunBudget(
            BudgetLimits(**{key: value or None for key, value in chosen.items()}),
            prices=self.prices(name),
            counter=self.counter(name),
            spent_today=lambda: self._services.runs.spent_today(excluding=run_id),
            clock=time.monotonic,
        )

    def answerer(self, name: str | None, limits: RunLimits) -> Answerer:
        """Return the answerer of the model `name`, or of the default one, for runs with these `limits`.

        Raises as `model` and `budget` do, before anything is read.
        """
        services = self._services
        return Answerer(
            **self._worker_parts(name, limits),
            prices=self.prices(name),
            web=lambda access: services.web(offline=access.offline),
            custom_tools=self._custom_tools(),
            note_tools=partial(self._note_tools, name) if self._config.notes.vault is not None else None,
            targets=services.offered_targets if self._config.research.source_adapters else None,
        )

    def paper_worker(self, name: str | None, limits: RunLimits) -> PaperWorker:
        """Return the worker that answers from the paper library with the model `name`; see `answerer`."""
        from asky.papers.research import PaperWorker

        library = self._services.papers
        return PaperWorker(**self._worker_parts(name, limits), catalog=library, on_end=library.keep_state)

    def note_worker(self, name: str | None, limits: RunLimits) -> NoteWorker:
        """Return the worker that researches notes with the model `name`; see `answerer`."""
        from asky.notes.research import NoteWorker

        services = self._services
        return NoteWorker(
            **self._worker_parts(name, limits),
            vault=services.notes.search(),
            web=lambda access: services.web(offline=access.offline),
            prepare_reader=services.readers.prepare,
            on_end=services.notes.keep,
        )

    def agent_worker(self, name: str | None, limits: RunLimits) -> AgentWorker:
        """Return the worker that researches questions with the model `name`; see `answerer`."""
        from asky.agent.domains import domains_of
        from asky.agent.obstacles import ObstacleHandler
        from asky.agent.worker import AgentWorker

        services = self._services
        return AgentWorker(
            **self._worker_parts(name, limits),
            quoter=self.built_in(),
            web=lambda access: services.web(offline=access.offline, obstacles=self._config.agent.obstacles),
            limits=lambda context: context.limits.within(self._config.budget),
            domains=domains_of(self._config.agent.domains),
            obstacles=lambda run_id: ObstacleHandler(self._config.agent.obstacles, services.source_records, run=run_id),
            records=services.source_records,
            checkpoints=services.paths.state / "agent" / "checkpoints.db",
            report=lambda run_id: services.agent.keep_report(run_id).encode(),
        )

    def worker(self, mode: str, name: str | None, limits: RunLimits) -> BaseRunWorker:
        """Return what executes runs of `mode`; see `answerer`."""
        makers = {PAPERS: self.paper_worker, NOTES: self.note_worker, AGENT: self.agent_worker}
        return makers.get(mode, self.answerer)(name, limits)

    def _worker_parts(self, name: str | None, limits: RunLimits) -> dict[str, Any]:
        self.budget(name, limits)  # raises for an unusable limit before anything is read
        chosen, services = self._config.model(name), self._services
        return {
            "model": self.model(name),
            "store": lambda: services.vectors,
            "corpus": services.corpus,
            "runs": services.runs,
            "sessions": services.sessions,
            "settings": replace(self._config.research, max_turns=limits.turns or self._config.max_turns(chosen)),
            "budget": lambda context: self.budget(name, context.limits, context.id),
            "offers_tools": chosen.tools,
            "counter": lambda: self.counter(name),
            "judge": self._judge(),
            "claim_reader": services.claim_reader,
        }

    def _judge(self) -> ClaimJudge | None:
        """Return what reads the claims of answers beside the rules, if the configuration asks for one."""
        if self._config.verify.chat:
            from asky.research.judging.chat_judge import ChatJudge

            return ChatJudge()
        name = self._config.research.reader.verdicts
        if name == BUILT_IN:
            return None
        from asky.research.judging.entailment_judge import EntailmentJudge

        return EntailmentJudge(name, lambda items: self._services.reader.verdicts(items))

    def _note_tools(self, name: str | None) -> NoteTools:
        from asky.notes.tools import NoteTools

        services, chosen = self._services, self._config.notes
        return NoteTools(
            lambda: services.notes,
            lambda: services.vectors,
            services.corpus,
            services.runs,
            model=chosen.model or name,
            approves_queries=chosen.approve_queries,
        )

    def _custom_tools(self) -> CustomTools | None:
        if not any(tool.enabled for tool in self._config.tools.values()):
            return None
        from asky.chat.custom_tools import CustomTools

        return CustomTools(self._config.tools, self._environ, self._services.keys, self._services.programs)
