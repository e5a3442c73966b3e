"""A question on its way from the command line to the answerer: its sources, its session, its preloaded documents."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from asky.chat.answering import Mode, Question
from asky.cli.running import Stopped
from asky.cli.workbench import Workbench
from asky.errors import UsageError
from asky.storage.scope import Scope
from asky.values import Answer, Document, Source, source_id

if TYPE_CHECKING:
    from asky.chat.answering import Answerer
    from asky.chat.plan import Plan
    from asky.storage.sessions import Session

_SIGNS_OF_A_PATH = frozenset("/\\~:")


class Asking:
    """Collects what a question is asked of, and asks it."""

    def __init__(self, bench: Workbench, answerer: Answerer, mode: Mode) -> None:
        self._bench = bench
        self._answerer = answerer
        self._mode: Mode = mode
        self._collections: list[int] = []
        self._granted: list[Path] = []
        self._rejected: list[tuple[str, str]] = []

    def add_collection(self, collection_id: int) -> None:
        """Answer from this collection."""
        if collection_id not in self._collections:
            self._collections.append(collection_id)

    def add_folder(self, path: Path) -> None:
        """Answer from a folder or file, brought up to date first; what cannot be read is listed with the answer."""
        from asky.cli.documents import sync_folder  # the reading of files: only where one is named

        collection_id, report = sync_folder(self._bench, path)
        self._granted.append(path)
        self.add_collection(collection_id)
        self._rejected += [(each.path, f"{each.verdict}: {each.why}") for each in report.problems]

    def ask(self, text: str, context: str | None, session_name: str | None, resume: bool) -> Answer:
        """The stored answer.

        Raises `UsageError` if there is nothing to answer from, and `Stopped`, with what there is of the answer as its
        value, on Ctrl-C.
        """
        session = self._session(session_name, resume)
        if context is not None:
            self._add_text(session, context)
        shown = self._preload(session, text)
        services = self._bench.services
        services.sessions.add_collections(session.id, self._collections)
        wanted = tuple(dict.fromkeys([*session.collections, *self._collections]))
        scope = Scope(wanted)
        self._require_sources(scope)
        question = Question(text, shown, self._mode, scope, tuple(self._rejected))
        kept: list[Answer] = []
        try:
            self._bench.run(lambda: self._answerer.answer(question, session, keep=kept.append))
        except Stopped as stop:
            stop.value = kept[-1] if kept else None
            raise
        return kept[-1]

    def plan(self, text: str, unread: Sequence[str], session_name: str | None, resume: bool) -> Plan:
        """What asking `text` would do, of the collections so far, those of the session, and what is `unread`."""
        sessions = self._bench.services.sessions
        recent = sessions.recent(limit=1) if resume else []
        session = recent[0] if recent else sessions.find(session_name) if session_name is not None else None
        wanted = dict.fromkeys([*(session.collections if session is not None else ()), *self._collections])
        scope = Scope(tuple(wanted))
        if not unread:
            self._require_sources(scope)
        return self._answerer.plan(Question(text, text, self._mode, scope), unread)

    def _require_sources(self, scope: Scope) -> None:
        """Raise `UsageError` if there is nothing to answer from and the model or the mode needs something."""
        talks = self._answerer.model.host is not None and self._mode != "research"
        if not talks and not self._bench.services.corpus.count_sources(scope):
            raise UsageError(
                "there is nothing to answer from",
                hint="name documents with -d PATH, or keep them with `asky corpus add PATH`",
            )

    def _session(self, name: str | None, resume: bool) -> Session:
        sessions = self._bench.services.sessions
        if resume:
            last = sessions.recent(limit=1)
            if not last:
                raise UsageError("there is no session to continue", hint="leave -c out to begin one")
            return last[0]
        return sessions.open(name, mode=self._mode)

    def _add_text(self, session: Session, text: str) -> None:
        """Piped text becomes a source of the session."""
        from asky.text.scrub import scrub_in_place  # only where something is piped in

        clean = scrub_in_place(text)
        uri = f"stdin:{hashlib.sha256(clean.encode()).hexdigest()}"
        source = Source(source_id(uri), "file", uri, "standard input")
        collection_id = self._bench.services.corpus.collection(f"session {session.id}", create=True)
        self._bench.services.acquirer.add_text(source, Document(clean, "text/plain"), collection_id)
        self.add_collection(collection_id)

    def _preload(self, session: Session, text: str) -> str:
        """Read the local files and folders that the question names; returns the question as the model may see it."""
        research = self._bench.services.config.research
        may_name_files = self._granted or research.local_document_roots or research.source_adapters
        if not may_name_files and not _SIGNS_OF_A_PATH.intersection(text):
            return text
        from asky.cli.preloading import preload  # 15 ms, and most questions name no file

        preloaded = preload(self._bench, self._granted, session, text)
        if preloaded.collection_id is not None:
            self.add_collection(preloaded.collection_id)
        self._rejected += preloaded.rejected
        return preloaded.shown
