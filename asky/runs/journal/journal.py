"""The journal of one run: its external inputs, step by step, from which it is resumed or replayed.

A step is on disk before its data is used. The steps recorded by an earlier process are replayed first, instead of the
calls that they record. A live run then continues and appends its own steps; a replayed run ends without contacting any
host.

| kind | key | data |
|---|---|---|
| `begun` | | the question, the model and the limits |
| `searched` | a hash of service and request | the results of one search service |
| `researched` | a node and its cycle | what a node of the research agent has found |
| `prepared` | | the first messages and the tools |
| `called` | a hash of the request | the reply, or the error and the text received before it |
| `summarised` | a hash of the request | the reply with the summary of a page |
| `ran` | tool, arguments and number | the result of a tool |
| `counted` | | the number of passages and sources searched |
| `judged` | | verdicts of a model on the claims, or why there are none |
| `compared` | | warnings about sources that changed since an earlier turn |
| `finished` | | how the run ended |
| `set aside` | | the usage of a call that is made again |

In addition, each step holds the changes of the run's state (`state`), and the budget decisions and user notes since the
step before (`met`).
"""

from __future__ import annotations

import json
import time
from collections import Counter, deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import anyio

from asky.concurrency import in_thread
from asky.errors import AskyError, BudgetExceeded, StorageError
from asky.evidence.codec import decode_evidence, encode_evidence
from asky.llm.arguments import canonical
from asky.llm.codec import (
    decode_error,
    decode_reply,
    decode_result,
    digest,
    encode_error,
    encode_message,
    encode_reply,
    encode_result,
    encode_tool,
)
from asky.llm.port import ModelUsage, Reply, TextDelta
from asky.llm.spending import note_spending, spending_of
from asky.llm.tools import Tool, ToolResult
from asky.runs.journal.steps import QUARANTINED, quarantine_step, replayable_steps, used_by
from asky.storage.scope import Scope
from asky.storage.steps import Step

if TYPE_CHECKING:
    from asky.llm.port import ChatModel, Message, ToolChoice, ToolSpec
    from asky.llm.spending import Budget
    from asky.research.run import ResearchRun
    from asky.runs.journal.allowlist import AllowlistEntry
    from asky.storage.documents import DocumentStore
    from asky.storage.runs import RunStore
    from asky.values import Evidence

Phase = Literal["writing", "checking", "mending", "ending"]  # as recorded in `cancelled_in`; `mending` is the revision
StopReason = Literal["time", "cancelled"]

_STEP_NAMES = {
    "called": "model call",
    "ran": "tool call",
    "prepared": "preparation",
    "counted": "count",
    "compared": "comparison",
    "replaced": "replacement",
    "judged": "judgement",
}


class StepMissing(Exception):
    """A replayed run needs a step that its journal lacks. Not an `AskyError`: nothing may take it for a failed call."""


@dataclass(slots=True)
class RunState:
    """The state of one run.

    `new_warnings` are the warnings of this process, a list that grows; `earlier_warnings` and `earlier_s` are the
    warnings of the processes before it and the seconds that they took. The other fields belong to the web: `rejected`
    holds addresses with the reason why they were not used, `allowlist` the addresses that may be fetched, `web_use` the
    numbers of searches, fetches and cache hits, and `sent_queries` the queries that passed the query leak guard.
    """

    research: ResearchRun
    new_warnings: Sequence[str] = ()
    earlier_warnings: list[str] = field(default_factory=list)
    earlier_s: float = 0.0
    has_sources: bool = False
    rejected: list[tuple[str, str]] = field(default_factory=list)
    allowlist: list[AllowlistEntry] = field(default_factory=list)
    sent_queries: list[str] = field(default_factory=list)
    web_use: Any = None
    _started: float = field(default_factory=time.monotonic)
    _recorded_shown: dict[str, Evidence] = field(default_factory=dict)
    _recorded_lengths: dict[str, int] = field(default_factory=dict)
    _unsaved_shown: dict[str, Evidence] = field(default_factory=dict)
    _unsaved_lengths: dict[str, int] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """The seconds that the run has taken in all of its processes."""
        return self.earlier_s + time.monotonic() - self._started

    @property
    def warnings(self) -> list[str]:
        """The warnings of all processes of the run, in order, each once."""
        return list(dict.fromkeys([*self.earlier_warnings, *self.new_warnings]))

    def elapsed_and_warnings(self) -> tuple[float, list[str]]:
        """Return `seconds` and `warnings`."""
        return self.seconds, self.warnings

    def changes(self) -> dict[str, Any]:
        """Return the changes since the last `mark_recorded` as JSON; until that is called, each result repeats them."""
        run = self.research
        shown = {key: each for key, each in run.shown.items() if self._recorded_shown.get(key) is not each}
        self._unsaved_shown = shown
        return {
            "seconds": round(self.seconds, 3),
            "has_sources": self.has_sources,
            "question": run.question,
            "collections": run.scope.collections,
            "sources": run.scope.sources,
            "use": asdict(self.web_use) if self.web_use is not None else None,
            "shown": [encode_evidence(each) for each in shown.values()],
            "queries": self._new("queries", run.queries),
            "private_notes": self._new("private_notes", run.private_notes),
            "noted": self._new("noted", run.noted),
            "warned": self._new("warned", self.warnings),
            "rejected": self._new("rejected", self.rejected),
            "offers": self._new("offers", self.allowlist),
            "sent": self._new("sent", self.sent_queries),
        }

    def _new(self, name: str, items: Sequence[Any]) -> list[Any]:
        begin = self._recorded_lengths.get(name, 0)
        new = list(items[begin:])  # read once: tools append from other threads
        self._unsaved_lengths[name] = begin + len(new)
        return new

    def mark_recorded(self) -> None:
        """Note that the last result of `changes` is on disk."""
        self._recorded_shown.update(self._unsaved_shown)
        self._recorded_lengths.update(self._unsaved_lengths)

    def restore(self, changes: Iterable[Mapping[str, Any]], documents: DocumentStore) -> None:
        """Apply recorded changes, in their order; `documents` holds the texts of the passages shown."""
        run = self.research
        for each in changes:
            self.earlier_s, self.has_sources = each["seconds"], each["has_sources"]
            run.question = each["question"]
            run.scope = Scope(_tuple(each["collections"]), _tuple(each["sources"]))
            run.shown |= {found.key: found for found in decode_evidence(each["shown"], documents)}
            run.queries += each["queries"]
            run.private_notes += each["private_notes"]
            run.noted += each.get("noted", ())  # missing from steps of an earlier version, as those that were sent
            self.earlier_warnings += each["warned"]
            self.rejected += [(url, why) for url, why in each["rejected"]]
            self.allowlist += each["offers"]
            self.sent_queries += each.get("sent", ())
            if each["use"] is not None:
                self._restore_web_use(each["use"])
        for found in run.shown.values():
            run.keys.hold(found.key, found.sha256, found.span)
        self._recorded_shown = dict(run.shown)
        self._recorded_lengths = {
            "queries": len(run.queries),
            "private_notes": len(run.private_notes),
            "noted": len(run.noted),
            "warned": len(self.earlier_warnings),
            "rejected": len(self.rejected),
            "offers": len(self.allowlist),
            "sent": len(self.sent_queries),
        }

    def _restore_web_use(self, encoded: Mapping[str, int]) -> None:
        from asky.research.web.ledger import WebUse  # only for questions that use the web

        self.web_use = WebUse(**encoded)


def _tuple(found: Sequence[Any] | None) -> tuple[Any, ...] | None:
    return None if found is None else tuple(found)


class RunJournal:
    """The journal and the `state` of the run that `research` belongs to. `steps` are those recorded so far, in order.

    Without `is_live` the run is replayed: nothing is called, and no step is added. `new_warnings` are the warnings of
    this process. `ending` is the data of the `finished` step, empty for a run that has not ended. `on_stale` receives
    the usage of each recorded call that is discarded. All methods are called from one event loop; the steps of tools
    that run concurrently are found in any order.
    """

    def __init__(
        self,
        runs: RunStore,
        research: ResearchRun,
        steps: Sequence[Step] = (),
        *,
        new_warnings: Sequence[str] = (),
        is_live: bool = True,
        on_stale: Callable[[ModelUsage], None],
    ) -> None:
        self.is_live = is_live
        self.on_stale = on_stale
        self.phase: Phase = "writing"
        self.last_call: Literal["made", "replayed", "recorded"] = "made"  # how the budget counts it
        self.estimate: ModelUsage | None = None  # of the last call, if it ended without reported usage
        self._runs = runs
        self._run_id = research.run_id
        self.state = RunState(research, new_warnings)
        self._steps = replayable_steps(steps) if steps else []
        self._model_calls = deque(each for each in self._steps if each.kind == "called")
        self._other_steps: dict[tuple[str, str], deque[Step]] = {}
        for each in self._steps:
            if each.kind != "called":
                self._other_steps.setdefault((each.kind, each.key), deque()).append(each)
        finished = self._other_steps.get(("finished", ""))
        self.ending: Mapping[str, Any] = finished[0].data if finished else {}
        self._all_steps = list(steps)
        self._tool_calls: Counter[str] = Counter()
        self._note_reads = 0
        self._inputs: dict[str, Any] = {}
        self._unsaved_inputs: dict[str, Any] = {}
        for each in steps:
            self._inputs |= each.data.get("met", {})
        self._is_restored = not steps
        self._adding = anyio.Lock()
        self._cancel_for: dict[StopReason, Callable[[], None]] = {}

    # recorded steps

    def restore(self, documents: DocumentStore) -> None:
        """Restore the state of the run as of its last step."""
        self.state.restore((each.data["state"] for each in self._all_steps if "state" in each.data), documents)
        self._is_restored = True

    def side_usage(self) -> list[ModelUsage]:
        """Return the usage of calls outside the tool loop: of summaries, and of calls that are made again."""
        return used_by(each for each in self._all_steps if each.kind in ("summarised", QUARANTINED))

    def recorded(self, kind: str) -> list[Step]:
        """Return all recorded steps of that kind, also those that `next_step` has returned, in order."""
        return [each for each in self._all_steps if each.kind == kind]

    @property
    def is_replaying(self) -> bool:
        """True if the next model call is answered from the journal."""
        return not self.is_live or bool(self._model_calls)

    async def next_step(self, kind: str, key: str = "") -> Mapping[str, Any] | None:
        """Remove and return the data of the next step of that kind and key; `None` if a live run has no such step.

        Raises `StepMissing` if a replayed run has none.
        """
        found = self._other_steps.get((kind, key))
        if found:
            return found.popleft().data
        if not self.is_live:
            await self._raise_missing(kind)
        return None

    async def next_call(self, key: str) -> Mapping[str, Any] | None:
        """Remove and return the data of the next model call; `None` if a live run has to make it.

        If the request of a live run differs from the recorded one, the calls recorded from there on, and their tool
        results, are discarded. Answers of search services are kept for the same searches until all recorded calls have
        been replayed; searches after that are sent again. Raises `StepMissing` as `next_step` does.
        """
        if self._model_calls and self._model_calls[0].key == key:
            return self._model_calls.popleft().data
        if not self.is_live:
            await self._raise_missing("called")
        if self._model_calls:
            stale = [
                *self._model_calls,
                *(each for (kind, _), found in self._other_steps.items() if kind == "ran" for each in found),
            ]
            self._model_calls.clear()
            self._drop("ran")
            await in_thread(self._runs.steps.replace, self._run_id, [quarantine_step(each) for each in stale])
            for used in used_by(stale):
                self.on_stale(used)
        else:
            self._drop("searched")
        return None

    def _drop(self, kind: str) -> None:
        self._other_steps = {name: found for name, found in self._other_steps.items() if name[0] != kind}

    async def _raise_missing(self, kind: str) -> NoReturn:
        """Stop if the recorded run was stopped here; else raise `StepMissing`."""
        await self.stop_if_recorded()
        at = self._model_calls[0].ordinal if self._model_calls else len(self._all_steps) - 1
        expects = "the run continued differently" if self._model_calls else "the run ended"
        raise StepMissing(f"{_STEP_NAMES.get(kind, kind)} that was not recorded: {expects} at step {at}")

    def tool_call_key(self, name: str, arguments: str) -> str:
        """Return the key of the next call of a tool; equal calls get different keys, numbered in order."""
        same = digest(name, arguments)
        self._tool_calls[same] += 1
        return f"{same[:32]}-{self._tool_calls[same]}"

    # stops

    def on_stop(self, reason: StopReason, cancel: Callable[[], None]) -> None:
        """Register the function that stops a replayed run where the recorded one ran out of time or was cancelled."""
        self._cancel_for[reason] = cancel

    def time_limit(self, seconds: float | None) -> anyio.CancelScope:
        """Return a cancel scope that ends a live run after `seconds`, and a replayed one where its time ran out."""
        scope = anyio.move_on_after(seconds if self.is_live else None)
        self.on_stop("time", scope.cancel)
        return scope

    async def stop_for(self, reason: StopReason) -> NoReturn:
        """Stop the replayed run, for the reason that stopped the recorded one."""
        self._cancel_for[reason]()
        await anyio.sleep_forever()
        raise AssertionError("sleeping in a cancelled scope raises")

    @property
    def recorded_stop(self) -> StopReason | None:
        """The reason why the recorded run was stopped, if in this phase and if all recorded calls were replayed."""
        if self.is_live or self._model_calls:
            return None
        if self.phase == "writing" and self.ending.get("allowed_s") is not None:
            return "time"
        if self.phase == "mending" and self.ending.get("mended_late"):
            return "time"
        return "cancelled" if self.ending.get("cancelled_in") == self.phase else None

    async def stop_if_recorded(self) -> None:
        """Stop here if the recorded run was stopped here; else do nothing."""
        if reason := self.recorded_stop:
            await self.stop_for(reason)

    async def enter(self, phase: Phase) -> None:
        """Begin a phase; a replayed run stops here if the recorded one was stopped in it."""
        self.phase = phase
        await self.stop_if_recorded()

    # budget decisions and notes

    def decide(self, name: str, decide: Callable[[], Any]) -> Any:
        """Return the recorded decision of that name while replaying, else the result of `decide()`, which is recorded.

        `None` is not recorded: a missing decision is `None`.
        """
        if self.is_replaying:
            return self._inputs.get(name)
        found = decide()
        self.record_input(name, found)
        return found

    def next_notes(self, new: Callable[[], Sequence[str]]) -> Sequence[str]:
        """Return the user's notes since the last call, in order: recorded ones, then in a live run those of `new()`.

        Notes are the user's own words, so queries may repeat them as they may repeat the question.
        """
        self._note_reads += 1
        name = f"notes {self._note_reads}"
        notes: list[str] = list(self._inputs.get(name) or ())
        if not self.is_replaying and (received := new()):
            self.state.research.question = "\n".join([self.state.research.question, *received])
            notes += received
            self.record_input(name, notes)
        return notes

    def record_input(self, name: str, found: Any) -> None:
        """Record a budget decision or notes with the next step; `None` only to replace a value of the same name."""
        if found is not None or self._inputs.get(name) is not None:
            self._inputs[name] = self._unsaved_inputs[name] = found

    # model and budget

    def wrap(self, model: ChatModel, budget: Budget, context_tokens: int) -> tuple[ChatModel, Budget]:
        """Return `model` and `budget` wrapped by this journal; see `JournaledModel` and `JournaledBudget`."""
        return JournaledModel(model, self, budget, context_tokens), JournaledBudget(budget, self)

    # appending

    async def add(self, kind: str, key: str, data: Mapping[str, Any], *, used: ModelUsage | None = None) -> None:
        """Append a step and, if `used` is given, a ledger entry with this usage; both are on disk on return."""
        with anyio.CancelScope(shield=True):
            async with self._adding:  # changes are recorded in their order
                step = self._step(kind, key, data)
                await in_thread(self._commit, step, used)
                self._mark_recorded(step)  # only now: the changes of a step that failed belong to the next one

    def add_last(self, data: Mapping[str, Any]) -> None:
        """Append the `finished` step in the open transaction."""
        self._commit(self._step("finished", "", data), None)

    def add_state(self) -> None:
        """Append a step with only the state of a run that fails, in the open transaction."""
        self._commit(self._step(QUARANTINED, "", {}), None)

    def _step(self, kind: str, key: str, data: Mapping[str, Any]) -> Step:
        state = {"state": self.state.changes()} if self._is_restored else {}  # before `restore` it is empty
        inputs = {"met": dict(self._unsaved_inputs)} if self._unsaved_inputs else {}
        return Step(0, kind, key, {**data, **state, **inputs})

    def _mark_recorded(self, step: Step) -> None:
        self.state.mark_recorded()
        for name, found in step.data.get("met", {}).items():
            if self._unsaved_inputs[name] is found:  # it may have been replaced meanwhile
                del self._unsaved_inputs[name]

    def _commit(self, step: Step, used: ModelUsage | None) -> None:
        with self._runs.steps.together():
            self._runs.steps.add(self._run_id, step.kind, step.key, step.data)
            if used is not None:
                self._runs.record(self._run_id, "called", asdict(used))


MakeData = Callable[[], Awaitable[Mapping[str, Any]]]
"""Returns the data of a step as JSON."""


async def get_or_record(journal: RunJournal, kind: str, make: MakeData) -> Mapping[str, Any]:
    """Return the data of the only step of that kind: from the journal, else from `make()`, recorded now."""
    found = await journal.next_step(kind)
    if found is None:
        found = await make()
        await journal.add(kind, "", found)
    return found


class JournaledModel:
    """The model of a run: recorded calls are answered from the journal, others are made by `inner` and recorded.

    `context_tokens` is the context size that the run began with, so that replayed prompts are shortened as before.
    """

    def __init__(self, inner: ChatModel, journal: RunJournal, budget: Budget, context_tokens: int) -> None:
        self.name = inner.name
        self.host = inner.host
        self.context_tokens = context_tokens
        self._inner = inner
        self._journal = journal
        self._budget = budget

    async def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        tool_choice: ToolChoice = "auto",
        schema: Mapping[str, Any] | None = None,
    ) -> AsyncGenerator[TextDelta | Reply, None]:
        """See `ChatModel.stream`. Also raises `StepMissing`."""
        journal, key = self._journal, call_key(self.name, messages, tools, tool_choice, schema)
        try:
            step = await journal.next_call(key)
        except anyio.get_cancelled_exc_class() as error:
            note_spending(error, ModelUsage())  # a replayed run that ended before this call
            raise
        journal.last_call, journal.estimate = "replayed" if step is not None else "made", None
        if step is not None:
            text = step["reply"]["message"]["content"] if "reply" in step else step["text"]
            if text:
                yield TextDelta(text)
            if "reply" in step:
                yield decode_reply(step["reply"])
            else:
                await self._replay_failure(step)
            return
        written: list[str] = []
        made = self._inner.stream(messages, tools, tool_choice=tool_choice, schema=schema)
        try:
            async with aclosing(made) as stream:
                async for item in stream:
                    if isinstance(item, TextDelta):
                        written.append(item.text)
                    else:
                        data = {"reply": encode_reply(item), "usage": asdict(item.usage)}
                        await journal.add("called", key, data, used=item.usage)
                    yield item
        except (AskyError, anyio.get_cancelled_exc_class()) as error:
            with anyio.CancelScope(shield=True):
                await self._record_failure(key, "".join(written), error)
            raise

    async def _record_failure(self, key: str, text: str, error: BaseException) -> None:
        """Record a call without a reply, and its usage: an estimate if none was reported."""
        journal, used = self._journal, spending_of(error)
        is_estimated = used is None and bool(text or not isinstance(error, AskyError))
        if is_estimated:
            used = journal.estimate = await in_thread(self._budget.record_partial, text)
            journal.last_call = "recorded"
        end = {"error": encode_error(error)} if isinstance(error, AskyError) else {"cut": True}
        usage = asdict(used) if used is not None else None
        is_counted = used is not None and (is_estimated or used.prompt_tokens + used.completion_tokens > 0)
        data = {"text": text, "usage": usage, "is_estimated": is_estimated, **end}
        await journal.add("called", key, data, used=used if is_counted else None)

    async def _replay_failure(self, step: Mapping[str, Any]) -> None:
        """Fail as the recorded call did, or stop as it was stopped."""
        used = ModelUsage(**step["usage"]) if step["usage"] is not None else None
        if step["is_estimated"]:
            self._journal.estimate = used
        if "error" in step:
            error = decode_error(step["error"])
            if used is not None and not step["is_estimated"]:
                note_spending(error, used)
            raise error
        try:
            await self._journal.stop_for(self._journal.recorded_stop or "time")
        except anyio.get_cancelled_exc_class() as error:
            if not step["is_estimated"]:
                note_spending(error, used or ModelUsage())
            raise


def journaled_tool(tool: Tool, journal: RunJournal) -> Tool:
    """Return `tool` with recorded calls answered from the journal, and other calls recorded."""

    async def run(arguments: Mapping[str, Any]) -> ToolResult:
        key = journal.tool_call_key(tool.spec.name, canonical(json.dumps(dict(arguments))))
        step = await journal.next_step("ran", key)
        if step is not None:
            if "error" in step:
                raise decode_error(step["error"])
            return decode_result(step["result"])
        try:
            result = await tool.run(arguments)
        except StorageError:
            raise  # ends the run
        except AskyError as error:
            await journal.add("ran", key, {"error": encode_error(error)})
            raise
        await journal.add("ran", key, {"result": encode_result(result)})
        return result

    return Tool(tool.spec, run)


@dataclass(slots=True)
class JournaledBudget:
    """The budget of a run: its decisions about recorded calls come from the journal."""

    inner: Budget
    journal: RunJournal
    _decisions: int = 0

    def check(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> None:
        """See `Budget.check`."""

        def exceeded() -> Mapping[str, Any] | None:
            try:
                self.inner.check(messages, tools)
            except BudgetExceeded as error:
                return {"message": error.message, "hint": error.hint}
            return None

        if (found := self.journal.decide(self._name(), exceeded)) is not None:
            raise BudgetExceeded(found["message"], hint=found["hint"])

    def nearly_spent(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> bool:
        """See `Budget.nearly_spent`."""
        return bool(self.journal.decide(self._name(), lambda: self.inner.nearly_spent(messages, tools) or None))

    def _name(self) -> str:
        self._decisions += 1
        return f"limit {self._decisions}"

    def record(self, usage: ModelUsage) -> None:
        """See `Budget.record`."""
        if self.journal.last_call == "made":
            self.inner.record(usage)
        elif self.journal.last_call == "replayed":
            self.inner.add(usage)

    def add(self, usage: ModelUsage) -> None:
        """See `Budget.add`."""
        self.inner.add(usage)

    def record_partial(self, text: str) -> ModelUsage:
        """See `Budget.record_partial`."""
        estimate = self.journal.estimate
        if estimate is None:
            return self.inner.record_partial(text)
        if self.journal.last_call == "replayed":
            self.inner.add(estimate)
        return estimate

    def add_time(self, seconds: float) -> None:
        """See `Budget.add_time`."""
        self.inner.add_time(seconds)

    def deadline_s(self) -> float | None:
        """See `Budget.deadline_s`; `None` for a replayed run, whose time does not count."""
        return self.inner.deadline_s() if self.journal.is_live else None


def call_key(
    model: str,
    messages: Sequence[Message],
    tools: Sequence[ToolSpec],
    tool_choice: ToolChoice,
    schema: Mapping[str, Any] | None,
) -> str:
    """Return the hash of a request to the model called `model`."""
    return digest(
        model, [encode_message(each) for each in messages], [encode_tool(each) for each in tools], tool_choice, schema
    )
