"""Opens everything from a configuration: the only module that knows which concrete part stands behind each port.

Parts are made on first use, so that a command pays for what it touches: `session list` opens SQLite and nothing else.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import cached_property, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from asky.config.models import read_api_key
from asky.config.paths import Paths, ensure_private_dir, resolve_paths
from asky.errors import UsageError
from asky.events import Event, Listener, Warned, ignore
from asky.storage.corpus import CorpusStore
from asky.storage.database import Database
from asky.storage.documents import DocumentStore
from asky.storage.findings import FindingStore
from asky.storage.runs import RunStore
from asky.storage.sessions import SessionStore

if TYPE_CHECKING:
    from asky.chat.answering import Answerer
    from asky.chat.custom_tools import CustomTools
    from asky.config.loader import Config
    from asky.llm.endpoint import Endpoint, Prices
    from asky.llm.openai_compatible import OpenAICompatibleModel
    from asky.llm.port import ChatModel
    from asky.llm.probe import Abilities
    from asky.llm.spending import Budget
    from asky.llm.tokens import TokenCounter
    from asky.reading.pool import ReaderPool
    from asky.research.acquire import Acquirer
    from asky.research.adapters import SourceAdapters
    from asky.research.embeddings import EmbeddingClient
    from asky.research.ingest import Ingester
    from asky.research.local_files import LocalRoots
    from asky.research.vector_store import VectorStore
    from asky.storage.endpoints import EndpointFacts
    from asky.storage.lexical import LexicalIndex
    from asky.storage.pages import PageTable, SearchTable
    from asky.storage.text_vectors import TextVectorTable
    from asky.wiring.web import WebParts

_MIB = 1024 * 1024


class Services:
    """The parts of one process. Use it as a context manager: leaving it closes what was opened."""

    def __init__(
        self, config: Config, environ: Mapping[str, str], *, listener: Listener = ignore, offline: bool = False
    ) -> None:
        self.config = config
        self.offline = offline
        self.warned: list[str] = []
        self._environ = environ
        self._listener = listener
        self.paths: Paths = resolve_paths(environ)
        self._tokenizers: dict[str, Callable[[str], int]] = {}

    def __enter__(self) -> Services:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what was opened: the index first, because it notes in a file that it was left clean."""
        made = vars(self)
        with ExitStack() as closing:  # last in, first out, and each is closed whatever befalls the others
            for name in ("database", "readers", "vectors", "web"):
                if name in made:
                    closing.callback(made[name].close)

    def listener(self, event: Event) -> None:
        """Hand `event` on, and remember what was warned of: it belongs to the answer."""
        if isinstance(event, Warned) and event.message not in self.warned:
            self.warned.append(event.message)
        self._listener(event)

    # storage

    @cached_property
    def database(self) -> Database:
        """The store's file, opened and migrated."""
        ensure_private_dir(self.paths.data)
        return Database(self.paths.data / "asky.db")

    @cached_property
    def documents(self) -> DocumentStore:
        return DocumentStore(self.database)

    @cached_property
    def corpus(self) -> CorpusStore:
        return CorpusStore(self.database, self.documents)

    @cached_property
    def runs(self) -> RunStore:
        return RunStore(self.database)

    @cached_property
    def sessions(self) -> SessionStore:
        return SessionStore(self.database)

    @cached_property
    def findings(self) -> FindingStore:
        return FindingStore(self.database)

    @cached_property
    def pages(self) -> PageTable:
        from asky.storage.pages import PageTable

        return PageTable(self.database, self.corpus)

    @cached_property
    def searches(self) -> SearchTable:
        from asky.storage.pages import SearchTable

        return SearchTable(self.database)

    @cached_property
    def text_vectors(self) -> TextVectorTable:
        from asky.storage.text_vectors import TextVectorTable

        return TextVectorTable(self.database)

    @cached_property
    def lexical(self) -> LexicalIndex:
        from asky.storage.lexical import LexicalIndex

        return LexicalIndex(self.database)

    # research

    @cached_property
    def embedder(self) -> EmbeddingClient:
        """The embedding model. Raises `NotConfigured` where there is none on this machine."""
        from asky.research.embeddings import EmbeddingClient, EmbeddingSettings

        chosen = self.config.research.embedding
        ensure_private_dir(self.paths.cache / "models")
        return EmbeddingClient(
            EmbeddingSettings(
                model=chosen.model,
                device=chosen.device,
                precision=chosen.precision,
                batch_size=chosen.batch_size,
                local_files_only=chosen.local_files_only,
                cache_dir=self.paths.cache / "models",
            ),
            listener=self.listener,
        )

    @cached_property
    def vectors(self) -> VectorStore:
        """Search, over whatever has been added."""
        from asky.research.vector_store import Tables, VectorStore
        from asky.storage.chunks import ChunkTable
        from asky.storage.vectors import VectorTable

        tables = Tables(
            self.documents,
            ChunkTable(self.database),
            self.lexical,
            VectorTable(self.database),
            self.findings,
            self.text_vectors,
        )
        return VectorStore(
            tables,
            embedder=lambda: self.embedder,
            index_folder=self.paths.data / "chroma",
            settings=self.config.research.retrieval,
            listener=self.listener,
        )

    @cached_property
    def readers(self) -> ReaderPool:
        """The processes that parse files; none is started before the first file."""
        from asky.reading.limits import ReadLimits
        from asky.reading.pool import ReaderPool

        chosen = self.config.research.reading
        limits = ReadLimits(
            max_bytes=chosen.max_file_mb * _MIB, timeout_s=chosen.timeout_s, memory_bytes=chosen.memory_mb * _MIB
        )
        return ReaderPool(limits, workers=chosen.workers)

    @cached_property
    def ingester(self) -> Ingester:
        """Puts documents into the store."""
        from asky.research.chunker import ChunkSettings
        from asky.research.ingest import Ingester

        chosen = self.config.research.chunking
        return Ingester(
            self.database,
            self.corpus,
            self.vectors,
            chunking=ChunkSettings(chosen.max_tokens, chosen.overlap_tokens),
        )

    @cached_property
    def acquirer(self) -> Acquirer:
        """Reads sources into the corpus."""
        from asky.research.acquire import Acquirer

        chosen = self.config.research.reading
        return Acquirer(
            self.database,
            self.corpus,
            self.vectors,
            self.ingester,
            self.readers,
            max_file_bytes=chosen.max_file_mb * _MIB,
            workers=chosen.workers,
            listener=self.listener,
        )

    def roots(self, granted: Sequence[Path] = ()) -> LocalRoots:
        """The folders that may be read: those of the configuration that are there, and `granted` for this run."""
        from asky.research.local_files import LocalRoots

        configured = []
        for each in self.config.research.local_document_roots:
            if os.path.exists(each):  # noqa: PTH110 - False, not an error, in a folder that may not be searched
                configured.append(each)
            else:
                self.listener(Warned(f"{each} is not there", hint="research.local_document_roots names it"))
        return LocalRoots([*granted, *configured], denied=own_folders(self.paths))

    def only(self, paths: Sequence[Path]) -> LocalRoots:
        """Just these folders and files, for reading what the user named."""
        from asky.research.local_files import LocalRoots

        return LocalRoots(paths, denied=own_folders(self.paths))

    def adapters(self, roots: LocalRoots) -> SourceAdapters:
        """Where local targets and those with a configured prefix are read."""
        from asky.research.adapters import AdapterSettings, SourceAdapters

        configured = [
            AdapterSettings(
                name=name,
                prefix=each.prefix,
                tool=each.tool,
                discover_tool=each.discover_tool,
                read_tool=each.read_tool,
                timeout_s=each.timeout_s,
            )
            for name, each in self.config.research.source_adapters.items()
        ]
        return SourceAdapters(
            configured,
            roots,
            read_document=self.readers.read,
            max_file_bytes=self.config.research.reading.max_file_mb * _MIB,
        )

    @cached_property
    def web(self) -> WebParts:
        """The web, as far as it is set up."""
        from asky.wiring.web import WebParts

        return WebParts(self, self._environ, offline=self.offline)

    # models

    def model(self, name: str | None) -> ChatModel:
        """The model called `name`, or the default one.

        Raises `NotConfigured` for a name that means no model, and where the variable of its key is not set.
        """
        if self.config.model(name).provider is None:
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
        return self.vectors.embed_texts(texts)  # opened when the first sentence is scored, not with the model

    def endpoint(self, name: str | None) -> Endpoint:
        """Where the model called `name`, or the default one, is reached, with its key. Raises what `model` does."""
        from asky.llm.endpoint import Endpoint

        chosen = self.config.model(name)
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
        )

    @cached_property
    def endpoint_facts(self) -> EndpointFacts:
        from asky.storage.endpoints import EndpointFacts

        return EndpointFacts(self.database)

    def prices(self, name: str | None) -> Prices | None:
        """What the model called `name` costs, where its entry says so."""
        from asky.llm.endpoint import Prices

        model = self.config.model(name).model
        if model.input_price is None or model.output_price is None:
            return None
        return Prices(model.input_price, model.output_price, model.cached_input_price)

    def counter(self, name: str | None) -> TokenCounter:
        """Counts the prompts of one run: with the model's own tokenizer where its entry names one."""
        from asky.llm.tokens import TokenCounter

        path = self.config.model(name).model.tokenizer
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

        if self.config.model(name).provider is None:
            return NoBudget()
        return RunBudget(
            Limits(**{key: value or None for key, value in asdict(self.config.budget).items()}),
            prices=self.prices(name),
            counter=self.counter(name),
            spent_today=lambda: self.runs.spent_today(apart_from=run_id),
            clock=time.monotonic,
        )

    def answerer(self, name: str | None) -> Answerer:
        """Answers questions with the model called `name`, or the default one. Raises what `model` does."""
        from asky.chat.answering import Answerer

        self.budget(name, "")  # a limit that cannot be counted is said before anything is read
        settings = replace(self.config.research, max_turns=self.config.max_turns(self.config.model(name)))
        return Answerer(
            self.model(name),
            lambda: self.vectors,
            self.corpus,
            self.runs,
            self.sessions,
            settings=settings,
            listener=self.listener,
            warned=self.warned,
            budget=lambda run_id: self.budget(name, run_id),
            offers_tools=self.config.model(name).tools,
            prices=self.prices(name),
            counter=lambda: self.counter(name),
            web=lambda: self.web,
            custom_tools=self._custom_tools(),
            given=self._given(),
        )

    def _given(self) -> dict[str, Any]:
        """What the command line said, by dotted key, and whether it keeps off the web."""
        flags = [key for key, origin in self.config.origins.items() if origin.layer == "flag"]
        return {key: reduce(getattr, key.split("."), self.config) for key in flags} | {"offline": self.offline}

    def _custom_tools(self) -> CustomTools | None:
        if not any(tool.enabled for tool in self.config.tools.values()):
            return None
        from asky.chat.custom_tools import CustomTools

        return CustomTools(self.config.tools, self._environ)


def own_folders(paths: Paths) -> list[Path]:
    """asky's own folders, which are never read as documents."""
    return [paths.config, paths.data, paths.cache, paths.state]
