"""Opens everything from a configuration: the only package that knows which adapter stands behind each port.

Rule: nothing is opened before its first use, so that a command pays only for what it uses: `session list` opens SQLite
and nothing else.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

from asky.agent.entries import AGENT_ENTRIES
from asky.chat.entries import CHAT_ENTRIES
from asky.config.paths import Paths, ensure_private_dir, resolve_paths
from asky.config.redaction import key_values
from asky.config.secrets import MASK, scrubber
from asky.errors import NotConfigured
from asky.events import Event, Listener, Warned, emit, ignore
from asky.evidence.verification.claim_reader import ClaimReader
from asky.research.local.running import RunningPrograms
from asky.storage.corpus import CorpusStore
from asky.storage.database import Database
from asky.storage.documents import DocumentStore
from asky.storage.events import EventStore
from asky.storage.findings import FindingStore
from asky.storage.lexical import LexicalIndex
from asky.storage.pages import PageTable, SearchTable
from asky.storage.runs import RunStore
from asky.storage.session_removal import SessionRemoval
from asky.storage.sessions import SessionStore, own_collection
from asky.storage.source_records import SourceRecords
from asky.storage.text_vectors import TextVectorTable
from asky.storage.vector_files import VectorFiles

if TYPE_CHECKING:
    from asky.agent.records import AgentRecords
    from asky.agent.worker import AgentWorker
    from asky.config.limits import RunLimits
    from asky.config.loader import Config
    from asky.config.schema import Obstacles
    from asky.notes.service import NoteService
    from asky.papers.service import PaperService
    from asky.reading.process.pool import ReaderPool
    from asky.research.adapters import SourceAdapters
    from asky.research.corpus.acquire import Acquirer
    from asky.research.corpus.ingest import Ingester
    from asky.research.corpus.offered_targets import OfferedTargets
    from asky.research.corpus.targets import TargetAcquirer
    from asky.research.embeddings import EmbeddingClient, EmbeddingSettings, EmbeddingUsage
    from asky.research.index.background import BackgroundEmbedding
    from asky.research.local.files import LocalRoots
    from asky.research.reader.port import ChosenReader
    from asky.research.run import ResearchRun
    from asky.research.vector_store import VectorStore
    from asky.runs.starter import RunStarter, Worker
    from asky.wiring.models import ModelParts
    from asky.wiring.readers import ReaderParts
    from asky.wiring.web import WebParts

_MIB = 1024 * 1024
_HOUR_S = 3600.0


class Services:
    """The parts of one process, as a context manager: leaving it closes them."""

    def __init__(self, config: Config, environ: Mapping[str, str], *, listener: Listener = ignore) -> None:
        self.config = config
        self.environ = environ
        self._listener = listener
        self._is_closed = False
        self._opening = threading.Lock()
        self._webs: dict[tuple[bool, Obstacles | None], WebParts] = {}
        self.paths: Paths = resolve_paths(environ)
        self.programs = RunningPrograms()

    def __enter__(self) -> Services:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all open parts, the index first, because it records in a file that it was closed cleanly.

        Programs of the user that still run are ended before.
        """
        with self._opening:
            self._is_closed = True
        self.programs.close()
        opened = vars(self)
        with ExitStack() as closing:  # last in, first out; each is closed even if another fails
            for name in ("database", "readers", "vectors"):
                if name in opened:
                    closing.callback(opened[name].close)
            if "database" in opened and self.database.has_written:
                closing.callback(self.vector_files.forget_removed)
            for web in self._webs.values():
                closing.callback(web.close)

    def listener(self, event: Event) -> None:
        """Pass `event` to the current run, or else to the process's listener."""
        emit(event, self._listener)

    def mask(self, text: str) -> str:
        """Return `text` with the secrets of this process masked."""
        for key in self.keys:
            text = text.replace(key, MASK)
        return self._scrub(text)

    @cached_property
    def _scrub(self) -> Callable[[str], str]:
        return scrubber(self.environ)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """All keys that this process could send to a model or search service."""
        return tuple(key_values(self.config, self.environ))

    # storage

    @cached_property
    def database(self) -> Database:
        """The store's file, open and migrated."""
        ensure_private_dir(self.paths.data)
        return Database(self.paths.data / "asky.db", ledger_entries={**CHAT_ENTRIES, **AGENT_ENTRIES})

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
    def events(self) -> EventStore:
        return EventStore(self.database)

    @cached_property
    def sessions(self) -> SessionStore:
        return SessionStore(self.database)

    @cached_property
    def session_removal(self) -> SessionRemoval:
        return SessionRemoval(self.database, self.corpus, self.documents)

    @cached_property
    def findings(self) -> FindingStore:
        return FindingStore(self.database)

    @cached_property
    def pages(self) -> PageTable:
        return PageTable(self.database, self.corpus)

    @cached_property
    def searches(self) -> SearchTable:
        return SearchTable(self.database)

    @cached_property
    def source_records(self) -> SourceRecords:
        return SourceRecords(self.database, mask=self.mask)

    @cached_property
    def text_vectors(self) -> TextVectorTable:
        return TextVectorTable(self.database)

    @cached_property
    def vector_files(self) -> VectorFiles:
        """Copies of the vectors, which processes share."""
        return VectorFiles(self.paths.cache / "vectors", self.database)

    @cached_property
    def lexical(self) -> LexicalIndex:
        return LexicalIndex(self.database)

    # research

    @cached_property
    def embedder(self) -> EmbeddingClient:
        """The embedding model. Raises `NotConfigured` if there is none on this machine."""
        from asky.research.embeddings import EmbeddingClient

        return EmbeddingClient(self._embedding_settings, listener=self.listener)

    @cached_property
    def _embedding_settings(self) -> EmbeddingSettings:
        from asky.research.embeddings import EmbeddingSettings

        return EmbeddingSettings(**asdict(self.config.research.embedding), own_models=str(self.paths.models))

    def embedding_usage(self) -> EmbeddingUsage | None:
        """Return what this process has embedded so far, or `None` if no embedding model was opened."""
        opened: EmbeddingClient | None = vars(self).get("embedder")
        return opened.usage if opened is not None else None

    @cached_property
    def vectors(self) -> VectorStore:
        """Hybrid search over the whole corpus."""
        from asky.research.vector_store import Tables, VectorStore

        chosen = self.config.research.retrieval
        return VectorStore(
            Tables.of(self.database),
            embedder=lambda: self.embedder,
            index_folder=self.paths.data / "chroma",
            vector_files=self.vector_files,
            settings=chosen,
            listener=self.listener,
            background=self.background if chosen.embed_in_background else None,
            reranker=self._pairs.reranker(chosen.cross_encoder) if chosen.cross_encoder else None,
        )

    @property
    def reader(self) -> ChosenReader:
        """What reads questions with units, and claims with evidence; a `PairReader`."""
        return self._pairs.reader

    @property
    def claim_reader(self) -> ClaimReader:
        """What reads the claims that the rules of verification leave open; its model is opened when it first reads."""
        is_built_in = self.config.research.reader.verdicts == "builtin"
        return ClaimReader(lambda items: self.reader.verdicts(items), "en" if is_built_in else None)

    @cached_property
    def _pairs(self) -> ReaderParts:
        from asky.wiring.readers import ReaderParts  # imports numpy

        return ReaderParts(self.config.research.reader, self.paths.models)

    def sub_questions(self, query: str) -> tuple[str, ...]:
        """Return the questions that `query` asks one after the other, as the built-in model takes them apart."""
        from asky.llm.extractive.questions import sub_questions

        return sub_questions(query)

    @cached_property
    def background(self) -> BackgroundEmbedding:
        """The process that embeds what questions leave out."""
        from asky.research.index.background import BackgroundEmbedding

        store = self.database.path

        def command() -> list[str]:
            settings = json.dumps(self._embedding_settings.encode())
            return ["-m", "asky.wiring.embedding_process", str(store.absolute()), settings]

        return BackgroundEmbedding(store, command)

    @cached_property
    def readers(self) -> ReaderPool:
        """The processes that parse files; none is started before the first file."""
        from asky.reading.limits import ReadLimits
        from asky.reading.process.pool import ReaderPool

        chosen = self.config.research.reading
        limits = ReadLimits(
            max_bytes=chosen.max_file_mb * _MIB, timeout_s=chosen.timeout_s, memory_bytes=chosen.memory_mb * _MIB
        )
        with self._opening:
            if (opened := vars(self).get("readers")) is not None:  # by another thread meanwhile
                return cast("ReaderPool", opened)
            pool = ReaderPool(limits, workers=chosen.workers, listener=self.listener)
            if self._is_closed:  # by an abandoned thread: it must start no process
                pool.close()
            vars(self)["readers"] = pool  # where `close` looks
        return pool

    @cached_property
    def ingester(self) -> Ingester:
        """Writes documents into the store."""
        from asky.research.corpus.ingest import Ingester

        return Ingester(self.database, self.corpus, self.vectors, chunking=self.config.research.chunking)

    @cached_property
    def acquirer(self) -> Acquirer:
        """Reads sources into the corpus."""
        from asky.research.corpus.acquire import Acquirer

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

    @cached_property
    def target_acquirer(self) -> TargetAcquirer:
        """Reads single files and the sources of adapters into the corpus."""
        from asky.research.corpus.targets import TargetAcquirer

        return TargetAcquirer(
            self.pages,
            self.corpus,
            self.documents,
            self.ingester,
            ttl_s=self.config.research.cache.ttl_hours * _HOUR_S,
        )

    @cached_property
    def papers(self) -> PaperService:
        """The paper library."""
        from asky.papers.service import PaperService

        chosen = self.config.research.reading
        return PaperService(
            self.database,
            self.corpus,
            self.vectors,
            self.ingester,
            self.readers,
            folder=self.paths.data / "papers",
            roots=self.only,
            online=lambda: self.web().papers,
            summarizer=self.models.built_in,
            research=self._starter(self.models.paper_worker),
            max_file_bytes=chosen.max_file_mb * _MIB,
            workers=chosen.workers,
            listener=self.listener,
        )

    @cached_property
    def notes(self) -> NoteService:
        """The vault. Raises `NotConfigured` if there is none, and `UsageError` if it is not a folder."""
        from asky.notes.service import NoteService
        from asky.notes.vault import Vault
        from asky.notes.writer import NoteWriter

        chosen = self.config.notes
        if chosen.vault is None:
            raise NotConfigured("no vault is configured", hint="`asky config set notes.vault PATH`")
        return NoteService(
            Vault(chosen.vault, denied=own_folders(self.paths)),
            self.corpus,
            self.vectors,
            self.acquirer,
            self.readers,
            starter=self._starter(self.models.note_worker),
            writer=NoteWriter(self.paths.data / "notes"),
            model=chosen.model,
        )

    @cached_property
    def agent(self) -> AgentRecords:
        """The runs of the research agent."""
        from asky.agent.records import AgentRecords

        return AgentRecords(self.runs)

    @cached_property
    def agent_starter(self) -> RunStarter[AgentWorker]:
        """Starts runs of the research agent."""
        return self._starter(self.models.agent_worker)

    def _starter(self, worker: Callable[[str | None, RunLimits], Worker]) -> RunStarter[Worker]:
        from asky.runs.starter import RunStarter

        return RunStarter(worker, self.corpus, self.sessions, self.runs, self.events, self.mask)

    def roots(self, granted: Sequence[Path] = ()) -> LocalRoots:
        """Return the folders that may be read: `granted` for this run, and the configured ones that exist."""
        from asky.research.local.files import LocalRoots

        configured = []
        for each in self.config.research.local_document_roots:
            if os.path.exists(each):  # noqa: PTH110 - False, not an error, in a folder that may not be searched
                configured.append(each)
            else:
                self.listener(Warned(f"{each} does not exist", hint="it is listed in research.local_document_roots"))
        return LocalRoots([*granted, *configured], denied=own_folders(self.paths))

    def only(self, paths: Sequence[Path]) -> LocalRoots:
        """Return these folders and files as the only ones that may be read."""
        from asky.research.local.files import LocalRoots

        return LocalRoots(paths, denied=own_folders(self.paths))

    def adapters(self, granted: Sequence[Path] | None = ()) -> SourceAdapters:
        """Return the readers of local targets, in the folders of `roots`, and of targets with a configured prefix.

        With `None`, no local target is handled.
        """
        from asky.research.adapters import SourceAdapters

        return SourceAdapters.configured(
            self.config.research.source_adapters,
            self.config.tools,
            self.only(()) if granted is None else self.roots(granted),
            read_document=self.readers.read,
            max_file_bytes=self.config.research.reading.max_file_mb * _MIB,
            environ=self.environ,
            running=self.programs,
        )

    def offered_targets(self, run: ResearchRun) -> OfferedTargets | None:
        """Return the targets of adapters that the model of `run` may read, or `None` if its sources lead to none."""
        own = own_collection(run.session_id) if run.session_id is not None else None
        if own is None or own not in self.corpus.names(run.scope.collections or ()):
            return None
        collection_id = self.corpus.collection(own)
        if not any(row.links for row in self.pages.of_files(run.scope.collections or ())):
            return None
        adapters = self.adapters(None)
        return self.target_acquirer.offer(run, adapters, self.runs, collection_id, listener=self.listener)

    def web(self, *, offline: bool = False, obstacles: Obstacles | None = None) -> WebParts:
        """Return the web as it is configured, or with `offline` what is cached of it; see `WebParts`."""
        from asky.wiring.web import WebParts

        if (offline, obstacles) not in self._webs:
            self._webs[offline, obstacles] = WebParts(self, self.environ, offline=offline, obstacles=obstacles)
        return self._webs[offline, obstacles]

    # models

    @cached_property
    def models(self) -> ModelParts:
        """The models of this process."""
        from asky.wiring.models import ModelParts

        return ModelParts(self, self.environ)


def own_folders(paths: Paths) -> list[Path]:
    """Return asky's own folders, which are never read as documents."""
    return [paths.config, paths.data, paths.cache, paths.state]
