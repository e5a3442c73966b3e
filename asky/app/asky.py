"""asky as a library: one object with the services that the command line, a server and MCP offer."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from asky.errors import UsageError
from asky.events import Listener, ignore

if TYPE_CHECKING:
    from asky.app.agent.service import AgentService
    from asky.app.ask import ChatService
    from asky.app.cache import CacheService
    from asky.app.completion import CompletionService
    from asky.app.conversation import Conversation
    from asky.app.corpus import CorpusService
    from asky.app.diagnostics import DiagnosticsService
    from asky.app.evaluation.service import EvaluationService
    from asky.app.local_models import LocalModelService
    from asky.app.memory import MemoryService
    from asky.app.models import ModelService
    from asky.app.requests import AskRequest
    from asky.app.runs import RunService
    from asky.app.search import SearchService
    from asky.app.sessions import SessionService
    from asky.app.verify.service import VerifyService
    from asky.config.loader import Config
    from asky.notes.service import NoteService as NoteService
    from asky.papers.service import PaperService as PaperService
    from asky.research.embeddings import EmbeddingUsage
    from asky.wiring import Services


class Asky:
    """The use cases over one store, as a context manager; parts open on first use and close on exit.

    Several questions may run at once. After `close`, every use raises `UsageError`.
    """

    def __init__(self, config: Config, environ: Mapping[str, str], listen: Listener = ignore) -> None:
        self.config = config
        self._environ = environ
        self._listen = listen
        self._is_closed = False
        self._opening = threading.Lock()
        self._opened: Services | None = None
        self._closing = ExitStack()

    @classmethod
    def open(
        cls,
        config: Config | None = None,
        *,
        environ: Mapping[str, str] = os.environ,
        listen: Listener = ignore,
    ) -> Asky:
        """Return the use cases for `config`, by default the configuration of the environment and the current folder.

        `listen` receives events that belong to no run. Raises `ConfigError` if the configuration is invalid.
        """
        if config is None:
            from asky.config.loader import load_config

            config = load_config(environ=environ, cwd=Path.cwd())
        return cls(config, environ, listen)

    async def __aenter__(self) -> Asky:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __enter__(self) -> Asky:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all open parts. It may be called more than once."""
        if not self._is_closed:
            self._is_closed = True
            self._closing.close()

    @property
    def services(self) -> Services:
        """The parts behind the use cases. Raises `UsageError` after `close`."""
        self._require_open()
        return self._services

    @property
    def _services(self) -> Services:
        from asky.wiring import Services  # with SQLite

        with self._opening:
            if self._opened is None:
                self._opened = self._closing.enter_context(Services(self.config, self._environ, listener=self._listen))
            return self._opened

    def _require_open(self) -> None:
        if self._is_closed:
            raise UsageError("this Asky is closed", hint="open another one with Asky.open()")

    @cached_property
    def _chat(self) -> ChatService:
        from asky.app.ask import ChatService

        return ChatService(self._services)

    def converse(self, typed: AskRequest, notify: Callable[[str], None]) -> Conversation:
        """Return a conversation with the options in `typed`; `notify` receives notes for the user."""
        from asky.app.conversation import Conversation

        return Conversation(lambda: self.chat, self.services, typed, notify)

    def embedding_usage(self) -> EmbeddingUsage | None:
        """Return what was embedded so far in this process: texts, tokens, batches, truncated texts and seconds.

        `None` if nothing was: everything needed was embedded before, or there is no embedding model.
        """
        with self._opening:
            usage = self._opened.embedding_usage() if self._opened is not None else None
        return usage if usage is not None and usage.texts else None

    @property
    def chat(self) -> ChatService:
        """Questions and their answers."""
        _ = self.services
        return self._chat

    @cached_property
    def _runs(self) -> RunService:
        from asky.app.runs import RunService

        return RunService(self._services)

    @property
    def runs(self) -> RunService:
        """Past answers with their evidence."""
        _ = self.services
        return self._runs

    @cached_property
    def _sessions(self) -> SessionService:
        from asky.app.sessions import SessionService

        return SessionService(self._services)

    @property
    def sessions(self) -> SessionService:
        """Conversations."""
        _ = self.services
        return self._sessions

    @cached_property
    def _corpus(self) -> CorpusService:
        from asky.app.corpus import CorpusService

        return CorpusService(self._services)

    @property
    def corpus(self) -> CorpusService:
        """Stored documents."""
        _ = self.services
        return self._corpus

    @cached_property
    def _search(self) -> SearchService:
        from asky.app.search import SearchService

        return SearchService(self._services)

    @property
    def search(self) -> SearchService:
        """Passages that match a query."""
        _ = self.services
        return self._search

    @cached_property
    def _verify(self) -> VerifyService:
        from asky.app.verify.service import VerifyService

        return VerifyService(self._services)

    @property
    def verify(self) -> VerifyService:
        """Texts, judged sentence by sentence against documents."""
        _ = self.services
        return self._verify

    @cached_property
    def _cache(self) -> CacheService:
        from asky.app.cache import CacheService

        return CacheService(self._services)

    @property
    def cache(self) -> CacheService:
        """Cached web pages."""
        _ = self.services
        return self._cache

    @cached_property
    def _memory(self) -> MemoryService:
        from asky.app.memory import MemoryService

        return MemoryService(self._services)

    @property
    def memory(self) -> MemoryService:
        """Findings saved for later questions."""
        _ = self.services
        return self._memory

    @property
    def papers(self) -> PaperService:
        """The paper library."""
        return self.services.papers

    @property
    def notes(self) -> NoteService:
        """The vault. Raises `NotConfigured` if there is none."""
        return self.services.notes

    @cached_property
    def _agent(self) -> AgentService:
        from asky.app.agent.service import AgentService

        return AgentService(self._services, self._chat, self._runs)

    @property
    def agent(self) -> AgentService:
        """The research agent."""
        _ = self.services
        return self._agent

    @property
    def evaluation(self) -> EvaluationService:
        """Measures of search and answers on the user's own questions."""
        from asky.app.evaluation.service import EvaluationService

        self._require_open()
        return EvaluationService(self.config, self._environ, self._listen)

    @property
    def models(self) -> ModelService:
        """Models and providers, and tests of them."""
        from asky.app.models import ModelService

        self._require_open()
        return ModelService(self.config, self._environ, lambda: self.services)

    @property
    def local_models(self) -> LocalModelService:
        """Readers and other models that run on this machine."""
        from asky.app.local_models import LocalModelService

        self._require_open()
        return LocalModelService(self.config, self._environ)

    @property
    def diagnostics(self) -> DiagnosticsService:
        """Checks of the installation, the models, the search services and the store."""
        from asky.app.diagnostics import DiagnosticsService

        self._require_open()
        return DiagnosticsService(self._environ)

    @property
    def completion(self) -> CompletionService:
        """Names for shell completion."""
        from asky.app.completion import CompletionService

        self._require_open()
        return CompletionService(self.config, self._environ, lambda: self.services)
