"""Runs once more: taken up where they were interrupted, or played again from their record alone."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import anyio

from asky.chat.answering import Answerer, no_budget
from asky.chat.begun import Begun, unpack_begun
from asky.chat.recording import Missing, usable_steps
from asky.concurrency import in_thread
from asky.errors import ReplayMissed, StoreDamaged, UsageError
from asky.events import Event, Warned
from asky.evidence.answer import answer_json
from asky.storage.sessions import Session, SessionStore
from asky.text.scrub import one_line

if TYPE_CHECKING:
    from asky.llm.port import Message, Reply, TextDelta, ToolChoice, ToolSpec
    from asky.storage.runs import Run, RunStore
    from asky.storage.steps import Step
    from asky.values import Answer

_ASKED_WRONGLY = ("usage", "config")


def recorded_beginning(runs: RunStore, run: Run) -> Begun:
    """What `run` began with. Raises `UsageError` where nothing was recorded."""
    return _beginning(run, runs.steps.of(run.id))


def _beginning(run: Run, steps: Sequence[Step]) -> Begun:
    if not steps:
        raise UsageError(
            f"run {run.id} was not recorded: it was made by an earlier asky, or its record was damaged and set aside",
            hint="`asky runs show` has its ledger",
        )
    first = steps[0]
    try:
        if first.kind == "begun" and first.ordinal == 0:
            return unpack_begun(first.data)
    except (KeyError, TypeError, ValueError) as error:
        raise _without_beginning(run) from error
    raise _without_beginning(run)


def _without_beginning(run: Run) -> StoreDamaged:
    message = f"the record of run {run.id} is damaged: what the run began with is not there"
    return StoreDamaged(message, hint="`asky runs show` has its answer and its ledger; ask again for a new one")


def is_withdrawn(sessions: SessionStore, run: Run) -> bool:
    """Whether the user took the turn of `run` back."""
    said = sessions.messages(run.session_id) if run.session_id is not None else ()
    return any(each.run_id == run.id and each.is_withdrawn for each in said)


def require_resumable(runs: RunStore, sessions: SessionStore, run: Run) -> Begun:
    """What `run` began with, where it can be taken up. Raises `UsageError` where it cannot."""
    if run.status == "finished":
        raise UsageError(f"run {run.id} has finished", hint=f"`asky runs show {run.id}` prints its answer")
    if run.status == "running":
        raise UsageError(f"run {run.id} is still running", hint="wait for it, or stop its process")
    if is_withdrawn(sessions, run):
        raise UsageError(f"run {run.id} was taken back: nothing goes on with it", hint="ask its question again")
    begun = recorded_beginning(runs, run)
    failed = [each.data for each in runs.ledger(run.id) if each.kind == "failed"]
    if run.status == "failed" and failed and failed[-1].get("code") in _ASKED_WRONGLY:
        raise UsageError(f"run {run.id} would fail again: {failed[-1].get('message')}", hint="ask again, otherwise")
    if unknown := _unknown_settings(begun):
        raise UsageError(
            f"run {run.id} began with a setting that there is not: {one_line(unknown[0])}",
            hint="it was recorded by another version of asky, or changed; ask its question again",
        )
    return begun


def _unknown_settings(begun: Begun) -> list[str]:
    """What the command line said that nothing understands now."""
    from asky.config.keys import Leaf, find  # where a run is taken up

    names = [name for name in begun.given if name != "offline"]
    return [name for name in names if not isinstance(find(tuple(name.split("."))), Leaf)]


async def resume(answerer: Answerer, run: Run, session: Session, *, keep: Callable[[Answer], None]) -> None:
    """Go on with `run`, which was interrupted, cancelled or has failed, and hand the stored answer to `keep`.

    What is on record is not asked for again; a call that was cut off is. Raises what `Answerer.answer` does, and
    `UsageError` for a run that cannot be taken up or that began with another model.
    """
    runs = answerer.runs
    begun = await in_thread(require_resumable, runs, answerer.sessions, run)
    if answerer.model.name != begun.model:
        raise UsageError(f"run {run.id} began with the model {begun.model}, not {answerer.model.name}")

    def take_up() -> list[Step]:
        with ExitStack() as failing:
            with runs.steps.together():
                runs.take_up(run.id)
                failing.callback(runs.let_go, run.id)
                usable, changed = usable_steps(runs.steps.of(run.id))
                _say_searches(runs, run, usable)
                runs.steps.replace(run.id, changed)
                runs.record(run.id, "resumed", {"was": run.status, "steps": len(usable)})
            failing.pop_all()
        return usable

    with anyio.CancelScope(shield=True):  # a run that was taken up is to end
        steps = await in_thread(take_up)
    await answerer.work(begun, session, run, keep, steps)


def _say_searches(runs: RunStore, run: Run, steps: Sequence[Step]) -> None:
    """Have the ledger say what was searched for by a process that was killed before it could."""
    if not any(each.kind == "searched" for each in steps):
        return
    from asky.chat.recorded_searches import unsaid_searches  # for questions to the web only
    from asky.research.web_ledger import SEARCHED

    for entry in unsaid_searches(steps, runs.ledger(run.id)):
        runs.record(run.id, SEARCHED, entry)


async def replay(answerer: Answerer, run: Run) -> Answer:
    """The answer of `run` once more, from its record: nothing is sent, searched, read, embedded or stored.

    `answerer` lends the store; its model is not used. Raises `UsageError` for a run without an answer or a record, and
    `ReplayMissed` where the record lacks something, or what comes of it is not the stored answer.
    """
    steps = await in_thread(answerer.runs.steps.of, run.id)
    if run.answer is None:
        hint = f"`asky runs resume {run.id}` goes on with it" if run.status not in ("running", "finished") else None
        raise UsageError(f"run {run.id} has no answer to play again: it is {run.status}", hint=hint)
    begun = _beginning(run, steps)

    def hear(event: Event) -> None:
        if isinstance(event, Warned):
            answerer.listener(event)

    model = _Absent(begun.model, begun.host, begun.context_tokens)
    player = replace(answerer, model=model, listener=hear, budget=no_budget, web=None, custom_tools=None)
    session = Session(run.session_id or "", begun.session, run.mode, "", "")
    kept: list[Answer] = []
    try:
        await player.work(begun, session, run, kept.append, steps, is_live=False)
    except Missing as missing:
        raise _missed(run, str(missing)) from missing
    _require_same(run, answer_json(kept[-1]))
    return kept[-1]


def _missed(run: Run, what: str) -> ReplayMissed:
    return ReplayMissed(
        f"run {run.id} cannot be played again: {what}", hint="it was recorded by another version of asky, or changed"
    )


def _require_same(run: Run, played: Mapping[str, Any]) -> None:
    stored = run.answer or {}
    plain = json.loads(json.dumps(played))
    other = [name for name, value in stored.items() if name not in plain or not _holds(plain[name], value)]
    if other:
        raise _missed(run, f"it comes to another answer, in {', '.join(other)}")


def _holds(played: Any, stored: Any) -> bool:
    """Whether `played` is `stored`, apart from fields that objects have got since it was."""
    if isinstance(stored, dict) and isinstance(played, dict):
        return all(name in played and _holds(played[name], value) for name, value in stored.items())
    if isinstance(stored, list) and isinstance(played, list):
        return len(stored) == len(played) and all(map(_holds, played, stored))
    return bool(stored == played)


@dataclass(frozen=True, slots=True)
class _Absent:
    """A model that is only remembered."""

    name: str
    host: str | None
    context_tokens: int

    def stream(
        self,
        messages: Sequence[Message],  # noqa: ARG002 - the port's parameters
        tools: Sequence[ToolSpec],  # noqa: ARG002
        *,
        tool_choice: ToolChoice = "auto",  # noqa: ARG002
        schema: Mapping[str, Any] | None = None,  # noqa: ARG002
    ) -> AsyncGenerator[TextDelta | Reply, None]:
        """Raises `Missing`: a record that is played lets no call through."""
        raise Missing("a model call")
