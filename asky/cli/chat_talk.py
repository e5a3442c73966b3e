"""A conversation: what its next question is asked with, the session that it is kept in, and one turn of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from asky.cli.chat_status import Status
from asky.cli.last_session import find_last
from asky.cli.manner import join, leave_for, tell_model
from asky.cli.running import Stopped
from asky.cli.terminal import one_line
from asky.errors import UsageError
from asky.storage.session_names import checked_name
from asky.values import Answer

if TYPE_CHECKING:
    from asky.cli.asking import Asking
    from asky.cli.chat_typing import Keyboard
    from asky.cli.choices import Choices
    from asky.cli.viewing import View
    from asky.cli.workbench import Workbench
    from asky.events import Event, Listener
    from asky.storage.runs import Run
    from asky.storage.sessions import Session

_LOOKED_BACK = 50  # runs, for the last one that has an answer


class Stage:
    """The listener of a chat: hands each event to the view of the turn under way, or to the progress line."""

    def __init__(self, others: Listener) -> None:
        self.others = others
        self.view: View | None = None

    def __call__(self, event: Event) -> None:
        (self.view or self.others)(event)


class Talk:
    """What `asky chat` knows between two inputs. `keyboard` is there where notes can be typed to a running turn."""

    def __init__(self, bench: Workbench, stage: Stage, given: Choices) -> None:
        self.bench = bench
        self.keyboard: Keyboard | None = None
        self.answer: Answer | None = None
        self._stage = stage
        self._spent: tuple[int, float | None] = (0, None)
        self._queries: tuple[str, ...] = ()
        self.session = find_last(bench, given.session, given.resume)
        self._manner = join(bench, given, self.session)
        self.choices.check(is_followed=True)
        bench.services.config.model(self.choices.model)  # a model that is not there any more is said now
        self._name = self.session.name if self.session is not None else _checked(given.session)
        tell_model(bench, self._manner)
        self.count_spent()

    @property
    def choices(self) -> Choices:
        """How the next question is asked: as was typed in this chat, and else as the session says."""
        return self._manner.choices

    @property
    def typed(self) -> Choices:
        """What was typed in this chat alone."""
        return self._manner.typed

    def type(self, **changes: Any) -> None:
        """Take up what was typed, by the names of the fields of `Choices`."""
        self._manner = self._manner.typing(**changes)

    # the session

    def join(self, session: Session | None, *, name: str | None = None) -> None:
        """Go on in `session`, or in a new one called `name`, as its earlier questions were asked, and say so.

        Of what was typed, all but the documents goes with it. Raises what `Config.model` does where its model is gone.
        """
        config, left_model = self.bench.services.config, self.model_name
        manner = leave_for(self.bench, self._manner, session)
        config.model(manner.choices.model)
        self._name = session.name if session is not None else _checked(name)
        self._manner, self.session, self.answer = manner, session, None
        self.count_spent()
        where = "in the session" if session is not None else "a new session"
        self.bench.terminal.note(f"{where} {one_line(self._name or '')} now")
        tell_model(self.bench, manner, left=left_model)

    @property
    def model_name(self) -> str:
        """The name of the model that answers the next question."""
        return self.bench.services.config.model(self.choices.model).name

    def look_up(self) -> Session | None:
        """The session as it is now; `None` while there is none.

        It goes by its id: another process may have renamed or removed it, or made the one that was still to be made,
        and that is said. What was removed is begun anew, under its name. Raises `UsageError` where that has been taken.
        """
        sessions, terminal, before = self.bench.services.sessions, self.bench.terminal, self.session
        if before is None:
            found = sessions.find(self._name) if self._name is not None else None
            if found is not None:
                terminal.note(f"going on in the session {one_line(found.name)}: {found.messages} messages")
                self._manner = join(self.bench, self.typed, found)
                tell_model(self.bench, self._manner)
        else:
            found = sessions.find(before.id)
            if found is not None and found.name != self._name:
                terminal.note(f"the session {one_line(before.name)} is called {one_line(found.name)} now")
            elif found is None:
                self._forget(before)
        self.session = found
        self._name = found.name if found is not None else self._name
        return found

    def _forget(self, removed: Session) -> None:
        name = one_line(removed.name)
        self.session, self.answer = None, None
        if self.bench.services.sessions.find(removed.name) is not None:
            self._name = None
            raise UsageError(
                f"the session {name} was removed meanwhile, and another one has its name",
                hint=f"/session {name} goes on in that one; what you ask next begins a new one",
            )
        self.bench.terminal.note(f"the session {name} was removed meanwhile: a new one of that name begins")

    def open_session(self) -> Session:
        """The session, which is made where it is not there yet. Raises as `look_up` does."""
        found = self.look_up()
        if found is None:
            found = self.bench.services.sessions.open(self._name, mode=self.choices.mode)
        self._name = found.name
        self.session = found
        return found

    @property
    def session_name(self) -> str | None:
        """The name of the session; `None` while it has none."""
        return self._name

    def require_session(self) -> Session:
        """The session. Raises `UsageError` before the first question, and where it has been removed since."""
        if self.session is None:
            raise UsageError("nothing was asked in this chat yet")
        found = self.bench.services.sessions.find(self.session.id)
        if found is None:
            raise UsageError(f"the session {self.session.name} was removed meanwhile", hint="a question makes it anew")
        return found

    def last_run(self) -> Run:
        """The last run of the session that has an answer and was not taken back. Raises `UsageError` without one."""
        services, session = self.bench.services, self.require_session()
        taken_back = {each.run_id for each in services.sessions.messages(session.id) if each.is_withdrawn}
        for run in services.runs.recent(limit=_LOOKED_BACK + len(taken_back), session_id=session.id):
            if run.answer is not None and run.id not in taken_back:
                return run
        raise UsageError("there is no answer in this session yet")

    def count_spent(self) -> None:
        """Look up what the session has cost so far."""
        if self.session is None:
            self._spent = (0, None)
            return
        services = self.bench.services
        spent = services.runs.spent_by_run(services.sessions.run_ids(self.session.id)).values()
        costs = [cost for _, cost in spent if cost is not None]
        self._spent = (sum(tokens for tokens, _ in spent), sum(costs) if costs else None)

    def status(self) -> Status:
        """What the line below the prompt tells."""
        tokens, cost_usd = self._spent
        return Status(self.model_name, self.choices.mode, self._name, self.choices.uses_web, tokens, cost_usd)

    # a turn

    def check_documents(self) -> None:
        """Raise `UsageError` where a document or a collection that the command line names is not there."""
        self.bench.services.only(self.choices.docs)
        for name in self.choices.collection:
            self.bench.services.corpus.collection(name)

    def asking(self, *, notes: Callable[[], Sequence[str]] | None = None) -> Asking:
        """What asks a question as it is chosen now; documents that were named are not read yet."""
        from asky.cli.asking import Asking  # the research stack: not before the first question
        from asky.cli.choices import add_collections, open_answerer, web_wish

        answerer = open_answerer(self.bench, self.choices)
        if notes is not None:
            answerer = replace(answerer, notes=notes)
        wish = web_wish(self.bench, self.choices)
        if wish is not None and self._queries:
            wish = replace(wish, queries=self._queries)
        asking = Asking(self.bench, answerer, self.choices.mode, wish, self._manner.chosen_model)
        add_collections(asking, self.bench, self.choices, self.session)
        asking.memory = "all" if self.choices.all_sessions else "session"
        return asking

    def ask(self, question: str) -> None:
        """Ask, and print the answer as it comes.

        Raises what `Asking.ask` does; a turn that was stopped has printed what there was of its answer. An answer that
        is printed but cannot be trusted in full raises what `judge` does.
        """
        from asky.cli.judging import judge
        from asky.cli.viewing import open_view  # with the evidence layer: not before the first question

        terminal, services = self.bench.terminal, self.bench.services
        services.warned.clear()  # what earlier turns were warned of does not belong to this answer
        view = open_view(terminal, self._stage.others, os.environ, "text", waits=False, why="/why N")
        with closing(view):
            self._stage.view = view
            try:
                answer = self._answer(question, view)
            except Stopped as stop:
                if isinstance(stop.value, Answer):  # it may have been the reading of documents that was stopped
                    self._give(stop.value, view)
                raise
            finally:
                self._stage.view, self._queries = None, ()
                self.count_spent()
            self._give(answer, view)
        judge(answer, self.bench.services.runs, strict=False)

    def _give(self, answer: Answer, view: View) -> None:
        self.answer = answer
        if answer.text:
            view.give(answer)
            self.bench.terminal.out.flush()

    def _answer(self, question: str, view: View) -> Answer:
        self.look_up()  # which documents it is asked of depends on the session
        asking = self.asking(notes=lambda: self._take_notes(view))
        for path in self.choices.docs:
            asking.add_folder(path)
        manner = self._manner
        session = self.look_up()  # reading them may have taken minutes
        if self._manner is not manner:
            raise UsageError("the session was begun elsewhere meanwhile, and is asked otherwise", hint="ask again")
        try:
            return asking.ask(question, None, session or self._name, False)
        finally:
            self._keep_session(asking.session)

    def _keep_session(self, asked_in: Session | None) -> None:
        """Go on where a question was asked; one that could not be has left no new session."""
        found = self.bench.services.sessions.find(asked_in.id) if asked_in is not None else None
        if found is not None:
            self.session, self._name = found, found.name

    def _take_notes(self, view: View) -> Sequence[str]:
        """What was typed since the last model call, which is said where it is taken."""
        notes = self.keyboard.take() if self.keyboard is not None else ()
        if notes:
            view.close()  # ends the row under way
            self.bench.progress.clear()
        for note in notes:
            self.bench.terminal.note(f"note to the model: {note}")
        return notes

    # changing what was said

    def last_question(self) -> str:
        """The last question that was not taken back. Raises `UsageError` without one."""
        last = self.bench.services.sessions.last_question(self.require_session().id)
        if last is None:
            raise UsageError("there is no question to take back in this session")
        return last.content

    def undo(self) -> str:
        """Take the last turn back; returns its question. Raises `UsageError` without one."""
        session, sessions = self.require_session(), self.bench.services.sessions
        last = sessions.last_question(session.id)
        if last is None or last.run_id is None:
            raise UsageError("there is no question to take back in this session")
        sessions.withdraw(session.id, last.run_id)
        return last.content

    def search_for(self, queries: Sequence[str]) -> None:
        """Have the next question search for these, and not for what would be made of it; none changes nothing."""
        self._queries = tuple(queries)

    def add_docs(self, paths: Sequence[Path]) -> None:
        """Answer from these files and folders too, which are read now; what is in them is said.

        Raises what `sync_folder` does.
        """
        from asky.cli.documents import describe_unchanged, sync_folder

        collections = []
        for path in paths:
            collection_id, report = sync_folder(self.bench, path)
            collections.append(collection_id)
            if not report.verdicts.get("indexed") and not report.removed:  # of changes `sync_folder` has told
                self.bench.terminal.note(f"{path}: {describe_unchanged(report)}")
        session = self.open_session()
        self.bench.services.sessions.add_collections(session.id, collections)
        self.session = self.bench.services.sessions.find(session.id)
        self.type(docs=tuple(dict.fromkeys([*self.typed.docs, *paths])))


def _checked(name: str | None) -> str | None:
    return checked_name(name) if name is not None else None
