"""A question on its way from the command line to the answerer: its sources, its session, its preloaded documents."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from asky.chat.answering import Mode, Question
from asky.cli.last_session import find_last
from asky.cli.running import Stopped
from asky.cli.workbench import Workbench
from asky.errors import AskyError, StorageError, UsageError
from asky.storage.corpus import DEFAULT_COLLECTION
from asky.storage.scope import Scope
from asky.storage.sessions import own_collection
from asky.values import Answer, Document, Source, source_id

if TYPE_CHECKING:
    from asky.chat.answering import Answerer
    from asky.chat.plan import Plan, WebPlan
    from asky.chat.web_access import WebAccess
    from asky.cli.web import WebWish
    from asky.research.memory import Reach
    from asky.storage.sessions import Session

_SIGNS_OF_A_PATH = frozenset("/\\~:")
_ASK_AGAIN = "ask again: that is asked with its model, or with one that you choose with -m"


class Asking:
    """Collects what a question is asked of, and asks it.

    `model` is the name under which the user chose one; the built-in model is not kept for later questions unless it was
    chosen, as there may be another by then. `memory` says whose findings are recalled. `session` is the last asked in.
    """

    def __init__(
        self, bench: Workbench, answerer: Answerer, mode: Mode, web: WebWish | None = None, model: str | None = None
    ) -> None:
        self._bench = bench
        self._answerer = answerer
        self._mode: Mode = mode
        self._web = web
        self._model = model or (answerer.model.name if answerer.model.host is not None else None)
        self.memory: Reach = "session"
        self.session: Session | None = None
        self._collections: list[int] = []
        self._granted: list[Path] = []
        self._rejected: list[tuple[str, str]] = []

    def add_collection(self, collection_id: int) -> None:
        """Answer from this collection."""
        if collection_id not in self._collections:
            self._collections.append(collection_id)

    def grant(self, path: Path) -> None:
        """Let the question name what is beneath this folder, or this file."""
        self._granted.append(path)

    def add_folder(self, path: Path) -> None:
        """Answer from a folder or file, brought up to date first; what cannot be read is listed with the answer."""
        from asky.cli.documents import sync_folder  # the reading of files: only where one is named

        collection_id, report = sync_folder(self._bench, path)
        self.grant(path)
        self.add_collection(collection_id)
        self._rejected += [(each.path, f"{each.verdict}: {each.why}") for each in report.problems]

    def ask(self, text: str, context: str | None, asked_in: Session | str | None, resume: bool) -> Answer:
        """The stored answer. It is asked in that session, or in the one of that name, which is made on first use.

        Raises `UsageError` if there is nothing to answer from, where the session is gone, and where one of that name
        has been begun with another model since it was looked up, and `Stopped`, with what
        there is of the answer as its value, on Ctrl-C. A session that was made for a question which could not be asked
        is gone then, unless others have come to use it.
        """
        sessions, found = self._bench.services.sessions, find_last(self._bench, asked_in, resume)
        if found is not None and not found.messages:
            sessions.share(found.id)
        name = asked_in if isinstance(asked_in, str) else None
        session = found or sessions.open(name, mode=self._mode)
        if name is not None and session.settings.get("model", self._model) != self._model:
            raise UsageError(f"the session {session.name} was begun elsewhere meanwhile", hint=_ASK_AGAIN)
        self.session = session
        try:
            question = self._question(session, text, context)
        except BaseException:
            if found is None:
                with suppress(StorageError):  # it may be the store that has failed
                    self._bench.services.session_removal.discard_unused(session)
            raise
        kept: list[Answer] = []
        try:
            self._bench.run(lambda: self._answerer.answer(question, session, keep=kept.append))
        except Stopped as stop:
            stop.value = kept[-1] if kept else None
            raise
        except AskyError as error:
            self._name_partial(error, session, text)
            raise
        return kept[-1]

    def _question(self, session: Session, text: str, context: str | None) -> Question:
        """The question with all that it is asked of, which is read first."""
        if context is not None:
            self._add_text(session, context)
        shown = self._preload(session, text)
        access = self._web_access(session, text)
        scope = Scope(tuple(dict.fromkeys([*session.collections, *self._collections])))
        if access is None:
            self._require_sources(scope, session)
        self._bench.services.sessions.add_collections(session.id, self._collections)
        self._remember(session)
        return Question(text, shown, self._mode, scope, tuple(self._rejected), access, self.memory)

    def _remember(self, session: Session) -> None:
        """Let later questions of the session take over how this one is asked."""
        settings: dict[str, object] = {"web": self._web is not None, "model": self._model}
        if self._web is not None:
            settings |= {"sites": self._web.sites, "since": self._web.since, "shortlist": self._web.shortlist}
        self._bench.services.sessions.remember(session.id, mode=self._mode, settings=settings)

    def _name_partial(self, error: AskyError, session: Session, text: str) -> None:
        """Have the hint of `error` say where what had been written of the answer can be read."""
        runs = self._bench.services.runs
        with suppress(StorageError):  # it may be the store that has failed
            for run in runs.recent(limit=1, session_id=session.id):
                if run.question == text and any(entry.data.get("partial") for entry in runs.ledger(run.id)):
                    where = f"`asky runs show {run.id}` has what had been written"
                    error.hint = f"{error.hint}; {where}" if error.hint else where

    def plan(self, text: str, context: str | None, session_name: str | None, resume: bool) -> Plan:
        """What asking `text` would do, of the collections so far, those of the session, and what would be read first.

        That are the folders which were granted, what the question names, and a `context`. Raises as `ask` does for
        folders and sources that are not there.
        """
        from asky.chat.conversation import earlier_questions, in_context  # for a dry run only

        shown, named = text, tuple[str, ...]()
        if self._may_name_files(text):
            from asky.cli.preloading import find_named  # 15 ms, and most questions name no file

            found = find_named(self._bench.services, self._granted, text)
            shown, named = found.shown, found.readable
        unread = [*map(str, self._granted), *named, *(["standard input"] if context else [])]
        session = find_last(self._bench, session_name, resume)
        wanted = dict.fromkeys([*(session.collections if session is not None else ()), *self._collections])
        scope = Scope(tuple(wanted))
        said = self._bench.services.sessions.messages(session.id) if session is not None else []
        web = self._web_plan(text, in_context(shown, earlier_questions(said)))
        if not unread and web is None:
            self._require_sources(scope, session)
        return self._answerer.plan(Question(text, shown, self._mode, scope), unread, web, said)

    def _web_plan(self, text: str, shown: str) -> WebPlan | None:
        if self._web is None:
            return None
        from asky.cli.web import plan_web  # for questions to the web only

        may_choose = self._answerer.may_choose(self._mode)
        return plan_web(self._bench.services, self._web, text, shown, self._mode, may_choose=may_choose)

    def _web_access(self, session: Session, text: str) -> WebAccess | None:
        """How the question may use the web; `None` where it may not, or where there is nothing to use it with.

        Raises `NotConfigured` where the web was asked for and no search service is set up.
        """
        if self._web is None:
            return None
        from asky.cli.web import web_access  # for questions to the web only

        access = web_access(self._bench.services, self._web, session, text, self._mode)
        if access is not None:
            self.add_collection(access.collection_id)
        return access

    def _require_sources(self, scope: Scope, session: Session | None) -> None:
        """Raise `UsageError` if there is nothing to answer from and the model or the mode needs something."""
        talks = self._answerer.model.host is not None and self._mode != "research"
        if talks or self._bench.services.corpus.count_sources(scope):
            return
        from asky.cli.web import nothing_to_ask  # for a question that is refused only

        named = bool(self._granted) or not self._is_default_alone()
        raise nothing_to_ask(self._bench.services, self._web, session, self._mode, names_documents=named)

    def _is_default_alone(self) -> bool:
        """Whether no collection was named: the default one is there unless others are."""
        corpus = self._bench.services.corpus
        default = {corpus.collection(DEFAULT_COLLECTION)} if DEFAULT_COLLECTION in corpus.collections() else set()
        return set(self._collections) <= default

    def _add_text(self, session: Session, text: str) -> None:
        """Piped text becomes a source of the session."""
        from asky.text.scrub import scrub_in_place  # only where something is piped in

        clean = scrub_in_place(text)
        uri = f"stdin:{hashlib.sha256(clean.encode()).hexdigest()}"
        source = Source(source_id(uri), "file", uri, "standard input")
        collection_id = self._bench.services.corpus.collection(own_collection(session.id), create=True)
        self._bench.services.acquirer.add_text(source, Document(clean, "text/plain"), collection_id)
        self.add_collection(collection_id)

    def _preload(self, session: Session, text: str) -> str:
        """Read the local files and folders that the question names; returns the question as the model may see it."""
        if not self._may_name_files(text):
            return text
        from asky.cli.preloading import preload  # 15 ms, and most questions name no file

        preloaded = preload(self._bench, self._granted, session, text)
        if preloaded.collection_id is not None:
            self.add_collection(preloaded.collection_id)
        self._rejected += preloaded.rejected
        return preloaded.shown

    def _may_name_files(self, text: str) -> bool:
        research = self._bench.services.config.research
        may_read = self._granted or research.local_document_roots or research.source_adapters
        return bool(may_read or _SIGNS_OF_A_PATH.intersection(text))
