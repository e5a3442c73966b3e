"""A conversation: its session and the options of its next question."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from asky.app.inputs import (
    describe_unchanged,
    folder_collection,
    kept_documents,
    report_notes,
    require_documents,
    session_documents,
    sync_folder,
)
from asky.app.requests import Notes, ResolvedAsk, check_resolved, find_session, lacks_model, model_notes, resolve_in
from asky.errors import ConfigError, UsageError
from asky.events import Listener, ignore
from asky.runs.access import BUILT_IN, Access, naming_session
from asky.search.service_table import configured
from asky.storage.corpus import DEFAULT_COLLECTION
from asky.storage.session_names import checked_name
from asky.text.scrub import one_line
from asky.values import decline

if TYPE_CHECKING:
    from asky.app.ask import ChatService
    from asky.app.requests import AskRequest, DocumentName
    from asky.runs.context import RunHandle
    from asky.storage.runs import Run
    from asky.storage.sessions import Session
    from asky.values import Approve
    from asky.wiring import Services

_MAX_RUNS_SEARCHED = 50  # for the last one that has an answer
WebUse = Literal["on", "addresses only", "off"]
"""`addresses only`: no search service is set up, so that only addresses in a question are read."""


@dataclass(frozen=True, slots=True)
class ConversationStatus:
    """The options of the next question, and what the session has used so far.

    `cost_usd` is `None` if no price is known; `session` is `None` before the first question.
    """

    model: str
    mode: str
    session: str | None
    web: WebUse
    tokens: int = 0
    cost_usd: float | None = None


class Conversation:
    """The state between two questions of a conversation.

    `typed` holds only the options chosen in this conversation, as a request without a question. It is never merged with
    the settings of a session: otherwise the model of one session could receive the documents of another that it must
    not see. `notify` receives notes for the user.
    """

    def __init__(
        self, chat: Callable[[], ChatService], services: Services, typed: AskRequest, notify: Callable[[str], None]
    ) -> None:
        self.typed = typed
        self._chat = chat
        self._services = services
        self._run_id: str | None = None
        self._notify = notify
        self._usage: tuple[int, float | None] = (0, None)
        self.session = find_session(services.sessions, typed)
        self._resolved = resolve_in(typed, self.session, services)
        check_resolved(self._resolved)
        with naming_session(self.session, typed.model):
            services.config.model(self._resolved.model)  # raises now if the model is gone
        self._name = self.session.name if self.session is not None else _checked(typed.session)
        self._notify_model()
        self.update_usage()

    @property
    def resolved(self) -> ResolvedAsk:
        """The resolved options of the next question: those chosen here, then the settings of the session."""
        return self._resolved

    @property
    def uses_web(self) -> bool:
        """`True` if the next question may use the web."""
        return self._resolved.web is not None

    @property
    def lacks_model(self) -> bool:
        """`True` if the built-in model answers because no other one is configured."""
        return lacks_model(self._resolved, self._services.config)

    @property
    def model_name(self) -> str:
        """The name of the model that answers the next question."""
        return self._services.config.model(self._resolved.model).name

    @property
    def uses_built_in(self) -> bool:
        """`True` if the built-in model answers the next question."""
        return self.model_name == BUILT_IN

    @property
    def session_name(self) -> str | None:
        """The name of the session, or `None` while it has none."""
        return self._name

    def type(self, **changes: Any) -> None:
        """Change options of the conversation, by the names of the fields of `AskRequest`."""
        self.typed = replace(self.typed, **changes)
        self._resolved = resolve_in(self.typed, self.session, self._services)

    def choose_model(self, name: str) -> None:
        """Use the model `name` from now on. Raises if it cannot be used, for example because its key is not set."""
        answerer = self._services.models.answerer(name, self.typed.limits)
        Access(offline=self.typed.offline).require_model(answerer.model)
        self.type(model=name)

    def can_search(self) -> bool:
        """Return whether a search service is set up, or the conversation is offline and needs none."""
        return self.typed.offline or bool(configured(self._services.config.search, self._services.environ))

    @property
    def web(self) -> WebUse:
        """How the next question may use the web."""
        if not self.uses_web:
            return "off"
        with suppress(ConfigError):  # the next question reports it
            return "on" if self.can_search() else "addresses only"
        return "on"

    def type_web(self, **changes: Any) -> None:
        """Change web options of the conversation, by the names of the fields of `WebOptions`."""
        self.type(web=replace(self.typed.web, **changes))

    @asynccontextmanager
    async def start(
        self,
        question: str,
        *,
        queries: Sequence[str] = (),
        listen: Listener = ignore,
        notes: Notes = tuple,
        approve: Approve = decline,
    ) -> AsyncIterator[RunHandle]:
        """Ask `question` in the background of the body, with `queries` to search for if any; see `ChatService.start`.

        Call `follow` when it has ended.
        """
        self._run_id = None
        request = self.request(question, queries)
        async with self._chat().start(
            request, listen=listen, notes=notes, approve=approve, joined=self.session, named_model=self.model_name
        ) as run:
            self._run_id = run.id
            yield run

    def request(self, question: str, queries: Sequence[str] = ()) -> AskRequest:
        """Return the request for `question`, with `queries` to search for if there are any.

        Options about the web or about recalled findings are left out if this question uses neither; they stay for later
        ones.
        """
        session = self.session.id if self.session is not None else self._name
        web = replace(self.typed.web, queries=tuple(queries)) if queries else self.typed.web
        if not self.uses_web:
            web = replace(web, sites=(), since=None)
        recall = self.typed.recall if self._resolved.mode == "research" else "session"
        return replace(
            self.typed,
            question=question,
            session=session,
            resume_last=False,
            web=web,
            recall=recall,
            note_tools=True,
        )

    # the session

    def join(self, session: Session | None, *, name: str | None = None) -> None:
        """Continue in `session`, or in a new one called `name`, with that session's settings, and notify the user.

        Options chosen here are kept, except the documents. Raises as `Config.model` does if the session's model is
        gone.
        """
        previous = self.model_name
        web_is_off = session is not None and session.settings.get("web") is False
        allowed = None if web_is_off and self.typed.web.allowed else self.typed.web.allowed
        typed = replace(
            self.typed, documents=(), collections=(), web=replace(self.typed.web, allowed=allowed), session=None
        )
        resolved = resolve_in(typed, session, self._services)
        self._services.config.model(resolved.model)
        self._name = session.name if session is not None else _checked(name)
        self.typed, self._resolved, self.session = typed, resolved, session
        self.update_usage()
        kind = "the session" if session is not None else "the new session"
        self._notify(f"now in {kind} {one_line(self._name or '')}")
        self._notify_model(previous=previous)

    def find(self, name: str) -> Session | None:
        """Return the session with that name or id, or `None`. Raises `UsageError` if `name` is not a valid name."""
        found = self._services.sessions.find(name)
        if found is None:
            checked_name(name)
        return found

    def look_up(self) -> Session | None:
        """Return the current state of the session, or `None` if it does not exist.

        The session is found by its id. The user is notified if another process has renamed, removed or created it, or
        has changed its model. A removed session is created again under its name by the next question; raises
        `UsageError` if that name has been taken.
        """
        sessions, before = self._services.sessions, self.session
        if before is None:
            found = sessions.find(self._name) if self._name is not None else None
            if found is not None:
                self._notify(f"continuing the session {one_line(found.name)}: {found.messages} messages")
                self._resolved = resolve_in(self.typed, found, self._services)
                self._notify_model()
        else:
            found = sessions.find(before.id)
            if found is None:
                self._handle_removal(before)
            else:
                self._refresh(before, found)
        self.session = found
        self._name = found.name if found is not None else self._name
        return found

    def _refresh(self, before: Session, found: Session) -> None:
        if found.name != self._name:
            self._notify(f"the session {one_line(before.name)} was renamed to {one_line(found.name)}")
        if found.settings != before.settings or found.mode != before.mode:
            previous = self.model_name
            self._resolved = resolve_in(self.typed, found, self._services)
            self._notify_model(previous=previous)

    def _handle_removal(self, removed: Session) -> None:
        name = one_line(removed.name)
        self.session = None
        self._resolved = resolve_in(self.typed, None, self._services)
        if self._services.sessions.find(removed.name) is not None:
            self._name = None
            raise UsageError(
                f"the session {name} was removed, and another session now has its name",
                hint=f"/session {name} continues that one; your next question starts a new one",
            )
        self._notify(f"the session {name} was removed; your next question creates it again")

    def open_session(self) -> Session:
        """Return the session, created if necessary. Raises as `look_up` does."""
        found = self.look_up() or self._services.sessions.open(self._name, mode=self._resolved.mode)
        self._name, self.session = found.name, found
        return found

    def require_session(self) -> Session:
        """Return the session. Raises `UsageError` before the first question, and if the session has been removed."""
        if self.session is None:
            raise UsageError("no question has been asked in this chat yet")
        found = self._services.sessions.find(self.session.id)
        if found is None:
            raise UsageError(f"the session {self.session.name} was removed", hint="your next question creates it again")
        return found

    def follow(self) -> None:
        """Continue in the session of the last run; a question that could not be asked has created no session."""
        run_session = self._session_of(self._run_id) if self._run_id is not None else None
        if run_session is not None:
            self.session, self._name = run_session, run_session.name
            self._resolved = resolve_in(self.typed, run_session, self._services)
        self.update_usage()

    def _session_of(self, run_id: str) -> Session | None:
        try:
            run = self._services.runs.find(run_id)
        except UsageError:  # it has not started
            return None
        return self._services.sessions.find(run.session_id) if run.session_id is not None else None

    def last_run(self, *parts: str) -> Run:
        """Return the session's last run that has an answer and was not undone. Raises `UsageError` if there is none.

        With `parts` of an `asky.answer/1` object, such as `citations`, it is the last one whose answer has any of them,
        and the user is told if that is an earlier one; if none has, it is the last one.
        """
        services, session = self._services, self.require_session()
        withdrawn = {each.run_id for each in services.sessions.messages(session.id) if each.is_withdrawn}
        found = services.runs.recent(limit=_MAX_RUNS_SEARCHED + len(withdrawn), session_id=session.id)
        answers = [(run, run.answer) for run in found if run.answer is not None and run.id not in withdrawn]
        if not answers:
            raise UsageError("there is no answer in this session yet")
        having = (run for run, answer in answers if not parts or any(answer[part] for part in parts))
        chosen = next(having, answers[0][0])
        if chosen is not answers[0][0]:
            self._notify(f"the last answer cites nothing; this is the one to “{one_line(chosen.question)}”")
        return chosen

    def update_usage(self) -> None:
        """Update the tokens and the cost of the session."""
        if self.session is None:
            self._usage = (0, None)
            return
        services = self._services
        spent = services.runs.spent_by_run(services.sessions.run_ids(self.session.id)).values()
        costs = [cost for _, cost in spent if cost is not None]
        self._usage = (sum(tokens for tokens, _ in spent), sum(costs) if costs else None)

    def status(self) -> ConversationStatus:
        """Return the options of the next question and the totals of the session."""
        tokens, cost_usd = self._usage
        return ConversationStatus(self.model_name, self._resolved.mode, self._name, self.web, tokens, cost_usd)

    def _notify_model(self, *, previous: str | None = None) -> None:
        for note in model_notes(self._resolved, self._services.config, previous=previous):
            self._notify(note)

    # documents

    def check_documents(self) -> None:
        """Raise `UsageError` if a named document or collection does not exist."""
        require_documents(self._services, self.typed.documents)
        for name in self.typed.collections:
            self._services.corpus.collection(name)

    def documents(self) -> list[str]:
        """Return the documents of the next question: names of collections, and `folder PATH` for a path."""
        corpus = self._services.corpus
        typed, earlier = self.typed, session_documents(self._services, self.session)
        named = [*(folder_collection(each) for each in typed.documents), *typed.collections]
        kept = kept_documents(self._services) if typed.default_documents and not earlier and not named else None
        if kept is not None:
            named = [DEFAULT_COLLECTION]
        names = corpus.names(earlier) if typed.default_documents else ()
        return [each for each in dict.fromkeys([*names, *named]) if not each.startswith("session ")]

    async def add_documents(self, paths: Sequence[DocumentName]) -> None:
        """Read these files, folders and targets and use them for the following questions; notify the user about them.

        Raises as `sync_folder` does.
        """
        collections = []
        for path in paths:
            collection_id, report = await sync_folder(self._services, path)
            collections.append(collection_id)
            for note in report_notes(report, changes_only=True):
                self._services.listener(note)
            if not report.verdicts.get("indexed") and not report.removed:
                self._notify(f"{path}: {describe_unchanged(report)}")
        session = self.open_session()
        self._services.sessions.add_collections(session.id, collections)
        self.session = self._services.sessions.find(session.id)
        self.type(documents=tuple(dict.fromkeys([*self.typed.documents, *paths])))

    # editing the transcript

    def last_question(self) -> str:
        """Return the last question that was not undone. Raises `UsageError` if there is none."""
        last = self._services.sessions.last_question(self.require_session().id)
        if last is None:
            raise UsageError("there is no question to undo in this session")
        return last.content

    def undo(self) -> str:
        """Undo the last turn and return its question. Raises `UsageError` if there is none."""
        session, sessions = self.require_session(), self._services.sessions
        last = sessions.last_question(session.id)
        if last is None or last.run_id is None:
            raise UsageError("there is no question to undo in this session")
        sessions.withdraw(session.id, last.run_id)
        return last.content


def _checked(name: str | None) -> str | None:
    return checked_name(name) if name is not None else None
