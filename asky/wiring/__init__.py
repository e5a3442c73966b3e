"""Opens everything from a configuration: the only module that knows which concrete part stands behind each port.

Parts are made on first use, so that a command pays for what it touches: `session list` opens SQLite and nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from asky.config.paths import Paths, ensure_private_dir, resolve_paths
from asky.events import Event, Listener, Warned, ignore
from asky.storage.corpus import CorpusStore
from asky.storage.database import Database
from asky.storage.documents import DocumentStore
from asky.storage.findings import FindingStore
from asky.storage.runs import RunStore
from asky.storage.session_removal import SessionRemoval
from asky.storage.sessions import SessionStore

if TYPE_CHECKING:
    from asky.chat.answering import Answerer
    from asky.config.loader import Config
    from asky.llm.endpoint import Endpoint
    from asky.llm.probe import Abilities
    from asky.llm.tokens import TokenCounter
    from asky.reading.pool import ReaderPool
    from asky.research.acquire import Acquirer
    from asky.research.adapters import SourceAdapters
    from asky.research.embeddings import EmbeddingClient
    from asky.research.ingest import Ingester
    from asky.research.local_files import LocalRoots
    from asky.research.vector_store import VectorStore
    from asky.storage.lexical import LexicalIndex
    from asky.storage.pages import PageTable, SearchTable
    from asky.storage.text_vectors import TextVectorTable
    from asky.wiring.models import ModelParts
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

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The keys that this process could send, to any model or search service."""
        from asky.config.redaction import key_values

        return tuple(key_values(self.config, self._environ))

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
    def session_removal(self) -> SessionRemoval:
        return SessionRemoval(self.database, self.corpus, self.documents)

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

    @cached_property
    def models(self) -> ModelParts:
        """The models, and what belongs to them."""
        from asky.wiring.models import ModelParts

        return ModelParts(self, self._environ)

    def answerer(self, name: str | None) -> Answerer:
        """See `ModelParts.answerer`."""
        return self.models.answerer(name)

    def counter(self, name: str | None) -> TokenCounter:
        """See `ModelParts.counter`."""
        return self.models.counter(name)

    def endpoint(self, name: str | None) -> Endpoint:
        """See `ModelParts.endpoint`."""
        return self.models.endpoint(name)

    async def probe(self, name: str | None) -> Abilities:
        """See `ModelParts.probe`."""
        return await self.models.probe(name)


def own_folders(paths: Paths) -> list[Path]:
    """asky's own folders, which are never read as documents."""
    return [paths.config, paths.data, paths.cache, paths.state]
