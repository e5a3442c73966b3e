"""Ask, plan, resume and replay questions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from asky.app.inputs import (
    Inputs,
    find_named,
    may_name_files,
    names_files,
    pages_of,
    require_documents,
)
from asky.app.requests import Notes, ResolvedAsk, model_notes, resolve
from asky.app.web import WEB_LEFT_OUT, is_left_out, named_addresses, no_sources_error, plan_web, web_access
from asky.concurrency import in_thread
from asky.config.limits import RunLimits
from asky.errors import AskyError, ConfigError, NotConfigured, StorageError, UsageError
from asky.events import Listener, Noted, ignore
from asky.llm.tokens import TokenCounter
from asky.research.web.file_names import private_file_names
from asky.research.writing.history import contextual_query, earlier_questions
from asky.runs.access import BUILT_IN, Access
from asky.runs.context import Question, RunHandle, raise_for_outcome, run_context, running
from asky.storage.corpus import DEFAULT_COLLECTION
from asky.storage.scope import Scope
from asky.text.scrub import one_line
from asky.values import decline

if TYPE_CHECKING:
    from asky.app.requests import AskRequest
    from asky.chat.answering import Answerer
    from asky.chat.plan import Estimate as Estimate
    from asky.chat.plan import Plan as Plan
    from asky.chat.plan import WebPlan as WebPlan
    from asky.runs.context import RunContext, RunSpec
    from asky.storage.runs import Run
    from asky.storage.sessions import Session
    from asky.values import Answer, Approve, Clarify, UnreadFile
    from asky.wiring import Services

_ASK_AGAIN = "ask again to use the session's model, or choose one with -m"
_DEFAULTS = frozenset({"web", "model", "sites", "since", "shortlist"})  # settings that each question sets anew
_MAX_RUNS_SEARCHED = 1000  # for the last unfinished one


class ChatService:
    """Answers questions from documents and the web."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._context = partial(run_context, services.events, services.mask)

    def resolve(self, request: AskRequest) -> ResolvedAsk:
        """Return `request` with the settings of its session filled in, and its access rules.

        Nothing is written and no host is contacted. Raises `UsageError` if options contradict each other.
        """
        return resolve(request, self._services, self._has_own_text(request))

    def _has_own_text(self, request: AskRequest) -> bool:
        if request.attachments or request.documents:  # whether documents are named as well makes no difference
            return bool(request.attachments)
        return names_files(self._services, request.question)

    def model_notes(self, request: AskRequest) -> list[str]:
        """Return notes for the user if a different model answers than the one that answered before."""
        return list(model_notes(self.resolve(request), self._services.config))

    async def plan(self, request: AskRequest) -> Plan:
        """Return what asking would do, contact and spend; nothing is read, sent or stored.

        Raises as `ask` does for a missing model, folder or source.
        """
        return await in_thread(self._plan, request)

    @asynccontextmanager
    async def start(
        self,
        request: AskRequest,
        *,
        listen: Listener = ignore,
        notes: Notes = tuple,
        approve: Approve = decline,
        joined: Session | None = None,
        named_model: str | None = None,
    ) -> AsyncIterator[RunHandle]:
        """Answer `request` in the background of the body; leaving the body cancels the run if it has not finished.

        `listen` receives the events as they happen, in any thread; `notes` is called before each model call and returns
        what the user has typed since. `approve` asks the user whether search queries that may reveal a private document
        may be sent; by default they are refused. `joined` is the session of a conversation, which must still exist. The
        run emits a note if a different model answers than before; with `named_model`, the model that the conversation
        last named, only if it differs from that.
        """
        has_own_text = await in_thread(self._has_own_text, request)
        resolved = await in_thread(resolve, request, self._services, has_own_text)
        if joined is not None and resolved.session is None:
            raise _session_removed(joined)
        run_id = await in_thread(self._services.runs.new_id)
        session_id = resolved.session.id if resolved.session is not None else None
        context = self._context(run_id, session_id, resolved.access, request.limits, listen, notes, approve)
        async with running(context, partial(self._answer, resolved, context, named_model)) as run:
            yield run

    async def ask(self, request: AskRequest, *, listen: Listener = ignore, approve: Approve = decline) -> Answer:
        """Return the answer; it is stored with its evidence. See `start` for `listen` and `approve`.

        Raises `UsageError` if options contradict each other, documents are missing, or there is nothing to answer from;
        `NotConfigured` if a required model or search service is not set up; and what the model raises. If a limit ended
        the run early, the answer's `stopped_by` says which; `raise_for_outcome` turns that into an error.
        """
        async with self.start(request, listen=listen, approve=approve) as run:
            return await run.result()

    def named_addresses(self, question: str, session: str | None) -> tuple[str, ...]:
        """Return the addresses that a question in the session of that name, if there is one, has opened."""
        found = self._services.sessions.find(session) if session is not None else None
        stored = self._services.sessions.messages(found.id) if found is not None else ()
        return named_addresses(question, earlier_questions(stored))

    def raise_for_outcome(self, answer: Answer, *, strict: bool = False) -> None:
        """Raise an error if `answer` is incomplete or unreliable.

        `BudgetExceeded` means that a limit was reached, `NotEnoughEvidence` that the sources hold too little, and
        `UnsupportedClaim`, if `strict`, that a sentence is not supported by its sources.
        """
        raise_for_outcome(answer, self._services.runs, strict=strict)

    # answering

    async def _answer(
        self, resolved: ResolvedAsk, context: RunContext, named_model: str | None, on_answer: Callable[[Answer], None]
    ) -> None:
        answerer = await in_thread(self._answerer, resolved)
        for note in self._model_notes(resolved, named_model):
            context.emit(Noted(note))
        if resolved.has_own_text and await in_thread(is_left_out, self._services, resolved):
            context.emit(Noted(WEB_LEFT_OUT))
        inputs = Inputs(self._services, context.emit)
        for path in resolved.request.documents:
            await inputs.add_document(path)
        session, question = await self._prepare_or_discard(resolved, inputs, answerer)
        with anyio.CancelScope(shield=True):  # a session that was changed for a question must get its run
            await in_thread(self._remember, resolved, session, inputs, answerer)
        try:
            await answerer.answer(question, session, context, on_answer=on_answer)
        except AskyError as error:
            await in_thread(self._name_partial, error, context.id)
            raise

    def _answerer(self, resolved: ResolvedAsk) -> Answerer:
        """Return the answerer for the resolved model.

        Raises if the model may not see the sources of the run, or cannot follow the instructions of the request.
        """
        answerer = self._services.models.answerer(resolved.model, resolved.request.limits)
        resolved.access.require_model(answerer.model)
        if resolved.request.instructions and answerer.model.host is None:
            raise UsageError("the built-in model only quotes and takes no instructions", hint="choose a model with -m")
        return answerer

    def _model_notes(self, resolved: ResolvedAsk, named_model: str | None) -> Iterator[str]:
        config = self._services.config
        if named_model is None:
            yield from resolved.notes
        elif config.model(resolved.model).name != named_model:
            yield from model_notes(resolved, config, previous=named_model)

    async def _prepare_or_discard(
        self, resolved: ResolvedAsk, inputs: Inputs, answerer: Answerer
    ) -> tuple[Session, Question]:
        """Return the result of `_prepare`.

        If the run is cancelled meanwhile, discard the session that `_prepare` creates.
        """
        prepared: Future[tuple[Session, Question]] = Future()
        try:
            await in_thread(lambda: prepared.set_result(self._prepare(resolved, inputs, answerer)))
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):  # at once, or in the thread when that is done
                await in_thread(prepared.add_done_callback, lambda done: self._discard(resolved, done.result()[0]))
            raise
        return prepared.result()

    def _prepare(self, resolved: ResolvedAsk, inputs: Inputs, answerer: Answerer) -> tuple[Session, Question]:
        """Return the session, created if necessary, and the question with its documents and access to the web.

        If the question cannot be asked, a session created for it is deleted again, unless another process has used it.
        """
        request = resolved.request
        inputs.add_collections(
            request.collections,
            resolved.session,
            default_documents=request.default_documents,
            has_text=resolved.has_own_text,
        )
        session = self._open_session(resolved, answerer)
        try:
            inputs.add_texts(session, request)
            return session, self._question(resolved, session, inputs, answerer)
        except BaseException:
            self._discard(resolved, session)
            raise

    def _discard(self, resolved: ResolvedAsk, session: Session) -> None:
        if resolved.session is None:
            with suppress(StorageError):  # it may be the store that has failed
                self._services.session_removal.discard_unused(session)

    def _open_session(self, resolved: ResolvedAsk, answerer: Answerer) -> Session:
        sessions, found = self._services.sessions, resolved.session
        if found is not None:
            if not sessions.exists(found.id):  # reading documents may have taken minutes
                raise _session_removed(found)
            if not found.messages:
                sessions.share(found.id)
            return found
        session = sessions.open(resolved.request.session, mode=resolved.mode)
        model = _session_model(resolved, answerer)
        if resolved.request.session is not None and session.settings.get("model", model) != model:
            raise UsageError(f"the session {session.name} has just been started by another process", hint=_ASK_AGAIN)
        return session

    def _question(self, resolved: ResolvedAsk, session: Session, inputs: Inputs, answerer: Answerer) -> Question:
        services, request = self._services, resolved.request
        access = web_access(services, resolved, session, inputs.file_names) if resolved.web is not None else None
        if access is not None:
            inputs.add(access.collection_id)
        earlier = session.collections if request.default_documents else pages_of(services, session)
        scope = Scope(tuple(dict.fromkeys([*earlier, *inputs.collections])))
        unread = tuple(inputs.unread)
        if not inputs.updated.issuperset(scope.collections or ()):
            unread = inputs.unread_of(scope.collections or ())
        if access is None:
            self._require_sources(resolved, scope, inputs, answerer, unread)
        return Question(
            request.question,
            inputs.shown,
            resolved.mode,
            scope,
            tuple(inputs.rejected),
            access,
            request.recall,
            request.instructions,
            _task(request),
            unread,
        )

    def _remember(self, resolved: ResolvedAsk, session: Session, inputs: Inputs, answerer: Answerer) -> None:
        """Store the settings of this question as the defaults for later questions of the session.

        Raises `UsageError` if another question has changed the session's model since this one read it: the model of
        this run was not chosen for the messages added meanwhile.
        """
        sessions, web, model = self._services.sessions, resolved.web, _session_model(resolved, answerer)
        settings: dict[str, object] = {"web": web is not None, "model": model}
        if web is not None:
            settings |= {"sites": web.sites, "since": web.since, "shortlist": web.shortlist}
        expected = (model, session.settings.get("model", model))
        with ExitStack() as on_error, self._services.database.write():
            on_error.callback(self._discard, resolved, session)
            current = sessions.settings(session.id)
            if current is None:
                raise _session_removed(session)
            if resolved.request.model is None and current.get("model", model) not in expected:
                raise UsageError(
                    f"another model was used in the session {session.name} in the meantime", hint=_ASK_AGAIN
                )
            sessions.add_collections(session.id, inputs.collections)
            settings |= {name: value for name, value in current.items() if name not in _DEFAULTS}
            sessions.remember(session.id, mode=resolved.mode, settings=settings)
            on_error.pop_all()

    def _require_sources(
        self,
        resolved: ResolvedAsk,
        scope: Scope,
        inputs: Inputs,
        answerer: Answerer,
        unread: Sequence[UnreadFile] = (),
    ) -> None:
        """Raise `UsageError` if there is nothing to answer from and the model or the mode needs sources.

        Raises `SourceError` if there are documents, and none of them could be read.
        """
        can_chat = answerer.model.host is not None and resolved.mode != "research"
        if unread and (inputs.folders or inputs.targets or resolved.request.collections or not can_chat):
            inputs.require_readable(scope)
        if can_chat or self._services.corpus.count_sources(scope):
            return
        has_named = bool(inputs.folders or inputs.targets or resolved.has_own_text)
        named = has_named or not self._is_default_alone(inputs.collections)
        raise no_sources_error(self._services, resolved, names_documents=named)

    def _is_default_alone(self, collections: Sequence[int]) -> bool:
        """Return whether only the default collection is used: it is added if no other collection is named."""
        corpus = self._services.corpus
        default = {corpus.collection(DEFAULT_COLLECTION)} if DEFAULT_COLLECTION in corpus.collections() else set()
        return set(collections) <= default

    def _name_partial(self, error: AskyError, run_id: str) -> None:
        """Extend the hint of `error` with the command that shows the partial answer."""
        with suppress(StorageError):  # it may be the store that has failed
            if any(entry.data.get("partial") for entry in self._services.runs.ledger(run_id)):
                where = f"`asky runs show {run_id}` shows the partial answer"
                error.hint = f"{error.hint}; {where}" if error.hint else where

    # planning

    def _plan(self, request: AskRequest) -> Plan:
        services, resolved = self._services, self.resolve(request)
        answerer = self._answerer(resolved)
        session = resolved.session
        require_documents(services, request.documents)
        inputs = Inputs(services, ignore)
        inputs.folders += [each for each in request.documents if isinstance(each, Path)]
        inputs.targets += [each for each in request.documents if isinstance(each, str)]
        inputs.add_collections(
            request.collections,
            session,
            default_documents=request.default_documents,
            has_text=resolved.has_own_text,
        )
        earlier: Sequence[int] = ()
        if session is not None:
            earlier = session.collections if request.default_documents else pages_of(services, session)
        scope = Scope(tuple(dict.fromkeys([*earlier, *inputs.collections])))
        shown, named, names = request.question, tuple[str, ...](), private_file_names(services.corpus.sources(scope))
        if may_name_files(services, inputs.folders, request.question):
            found = find_named(services, inputs.folders, request.question)
            shown, named, names = found.shown, found.readable, [*names, *found.file_names]
        unread = [*map(str, inputs.folders), *inputs.targets, *named, *(each.name for each in request.attachments)]
        history = services.sessions.messages(session.id) if session is not None else []
        searched = contextual_query(shown, earlier_questions(history))
        may_choose = answerer.may_choose(resolved.mode)
        web = plan_web(services, resolved, searched, may_choose=may_choose, file_names=names)
        if not unread and web is None:
            self._require_sources(resolved, scope, inputs, answerer)
        return answerer.plan(
            Question(
                request.question, shown, resolved.mode, scope, instructions=request.instructions, task=_task(request)
            ),
            unread,
            web,
            history,
        )

    # resuming and replaying

    def find_unfinished(self, run_id: str | None) -> tuple[Run, RunSpec]:
        """Return the run to resume, by default the last unfinished one, and the settings it began with.

        Raises `UsageError` if there is none, or if the run cannot be resumed.
        """
        from asky.runs.journal import replay  # 14 ms: not for a question

        runs, sessions = self._services.runs, self._services.sessions
        if run_id is not None:
            run = runs.find(run_id)
        else:
            found = (
                each for each in runs.recent(limit=_MAX_RUNS_SEARCHED) if each.status not in ("finished", "running")
            )
            last = next((each for each in found if not replay.is_withdrawn(sessions, each)), None)
            if last is None:
                raise UsageError("no run was interrupted", hint="`asky runs list` shows how each run ended")
            run = last
        return run, replay.require_resumable(runs, sessions, run)

    @asynccontextmanager
    async def resume(
        self,
        run_id: str | None = None,
        *,
        listen: Listener = ignore,
        notes: Notes = tuple,
        approve: Approve = decline,
        clarify: Clarify | None = None,
    ) -> AsyncIterator[RunHandle]:
        """Resume a run that was interrupted, stopped or failed, by default the last one; see `start`.

        Recorded model replies and tool results are reused, not requested again. The run keeps its id, its session and
        its limits, including what it has already used of them. Raises as `find_unfinished` does.
        """
        services = self._services
        run, spec = await in_thread(self.find_unfinished, run_id)
        after = await in_thread(services.events.last, run.id)
        access, limits = Access.from_options(spec.options), RunLimits.from_settings(spec.options)
        context = self._context(run.id, run.session_id, access, limits, listen, notes, approve, clarify, after=after)
        async with running(context, partial(self._resume, run, spec, context)) as live:
            yield live

    async def _resume(self, run: Run, spec: RunSpec, context: RunContext, on_answer: Callable[[Answer], None]) -> None:
        from asky.runs.journal.replay import resume  # as above

        context.emit(Noted(f"resuming run {run.id}: “{one_line(run.question, None)}”"))
        session = await in_thread(self._session_of, run)
        worker = await in_thread(self._services.models.worker, run.mode, spec.model, context.limits)
        await resume(worker, run, session, context, on_answer=on_answer)

    def _session_of(self, run: Run) -> Session:
        session = self._services.sessions.find(run.session_id) if run.session_id is not None else None
        if session is None:
            raise UsageError(f"the session of run {run.id} was removed", hint="ask again")
        return session

    async def replay(self, run_id: str | None = None, *, listen: Listener = ignore) -> Answer:
        """Return the answer of a run, by default the last, reproduced from its record.

        Nothing is sent, searched, read or stored. Raises `UsageError` if the run has no answer or no record, and
        `ReplayMissed` if the record is incomplete or produces a different answer.
        """
        from asky.runs.journal.replay import replay  # as above

        run = await in_thread(self._services.runs.find, run_id)
        worker = await in_thread(self._services.models.worker, run.mode, BUILT_IN, RunLimits())
        return await replay(replace(worker, counter=self._counter(run)), run, listen=listen)

    def _counter(self, run: Run) -> Callable[[], TokenCounter]:
        """Return a factory for the token counter of `run`'s model, or of the default counter if that is gone."""
        try:
            self._services.models.counter(run.model)
        except (ConfigError, NotConfigured):
            return TokenCounter
        return lambda: self._services.models.counter(run.model)


def _task(request: AskRequest) -> dict[str, object]:
    return {"note_tools": True} if request.note_tools else {}


def _session_removed(session: Session) -> UsageError:
    return UsageError(f"the session {session.name} was removed in the meantime", hint="ask again to start a new one")


def _session_model(resolved: ResolvedAsk, answerer: Answerer) -> str | None:
    """Return the name of the model that later questions of the session use.

    `None` for the built-in model unless it was chosen explicitly: a default model may be configured later.
    """
    return resolved.chosen_model or (answerer.model.name if answerer.model.host is not None else None)
