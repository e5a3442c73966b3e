"""A question on its way from the command line to the answerer: its sources, its session, its preloaded documents."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from asky.chat.answering import Mode, Question
from asky.cli.documents import sync_folder
from asky.cli.running import Stopped
from asky.cli.workbench import Workbench
from asky.errors import SourceError, UsageError
from asky.reading.scrub import scrub_in_place
from asky.research.local_targets import extract_local_source_targets, redact_local_targets
from asky.storage.scope import Scope
from asky.values import Answer, Document, Source, source_id

if TYPE_CHECKING:
    from asky.llm.port import ChatModel
    from asky.storage.sessions import Session


class Asking:
    """Collects what a question is asked of, and asks it."""

    def __init__(self, bench: Workbench, model: ChatModel, mode: Mode) -> None:
        self._bench = bench
        self._model = model
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
        if not services.corpus.sources(scope):
            raise UsageError(
                "there is nothing to answer from",
                hint="name documents with -d PATH, or keep them with `asky corpus add PATH`",
            )
        question = Question(text, shown, self._mode, scope, tuple(self._rejected))
        kept: list[Answer] = []
        answerer = services.answerer(self._model)
        try:
            self._bench.run(lambda: answerer.answer(question, session, keep=kept.append))
        except Stopped as stop:
            stop.value = kept[-1] if kept else None
            raise
        return kept[-1]

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
        clean = scrub_in_place(text)
        uri = f"stdin:{hashlib.sha256(clean.encode()).hexdigest()}"
        source = Source(source_id(uri), "file", uri, "standard input")
        collection_id = self._bench.services.corpus.collection(f"session {session.id}", create=True)
        self._bench.services.acquirer.add_text(source, Document(clean, "text/plain"), collection_id)
        self.add_collection(collection_id)

    def _preload(self, session: Session, text: str) -> str:
        """Read the local files and folders that the question names; returns the question as the model may see it."""
        services = self._bench.services
        roots = services.roots(self._granted)
        adapters = services.adapters(roots)
        targets = extract_local_source_targets(text, roots, adapters.prefixes)
        if not targets:
            return text
        collection_id = services.corpus.collection(f"session {session.id}", create=True)
        for target in targets:
            try:
                problems = services.acquirer.add_target(target.text, adapters, roots, collection_id)
                self._rejected += [(each.path, f"{each.verdict}: {each.why}") for each in problems]
            except SourceError as error:
                self._rejected.append((target.text, error.message))
                self._bench.terminal.note(error.message)
        self.add_collection(collection_id)
        return redact_local_targets(text, targets)
