"""The events of a run: one tagged union for the terminal, logs and servers.

A listener is a plain callable `Listener`; it must return quickly and must not raise. Components shared by several runs
report through `emit`, which reaches the listener of the run that called them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from asky.values import Failure

FileVerdict = Literal[
    "indexed",
    "unchanged",
    "empty",
    "duplicate",
    "unsupported",
    "encrypted",
    "no_text_layer",
    "too_large",
    "timed_out",
    "refused",
    "failed",
]


@dataclass(frozen=True, slots=True)
class StageStarted:
    """A stage of the evidence path begins; `total` is its number of items if known."""

    stage: str
    total: int | None = None


@dataclass(frozen=True, slots=True)
class StageAdvanced:
    """`done` items of the stage's `total` are finished."""

    stage: str
    done: int
    total: int | None = None


@dataclass(frozen=True, slots=True)
class StageFinished:
    """A stage ended after `seconds`; `summary` is one line for display."""

    stage: str
    seconds: float
    summary: str = ""


@dataclass(frozen=True, slots=True)
class FileRead:
    """The verdict on a local file; `why` gives the reason.

    Of a file that is `indexed` or `unchanged`, `why` lists the parts that were not read, `name: reason; name: reason`.
    """

    path: str
    verdict: FileVerdict
    why: str | None = None


@dataclass(frozen=True, slots=True)
class QuerySent:
    """A query is about to be sent to these services, each given as `name (host)`.

    `is_private` means that the run can read private documents, whose words the query could contain.
    """

    query: str
    services: tuple[str, ...]
    is_private: bool


@dataclass(frozen=True, slots=True)
class WebSearched:
    """Search services were queried: the words that were sent, the services that received them, and the results.

    `services` are `name (host)`; without any, the results came from the cache. `failures` are of single services.
    """

    queries: tuple[str, ...]
    services: tuple[str, ...]
    found: int
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, slots=True)
class PageRead:
    """The verdict on a web address: `fetched`, `cached`, `stale`, or why it was not read."""

    url: str
    verdict: str
    why: str | None = None


@dataclass(frozen=True, slots=True)
class ModelCalled:
    """A model call begins."""

    model: str
    host: str | None
    turn: int


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """A tool call begins; `summary` names its argument in a few words."""

    call_id: str
    name: str
    summary: str


@dataclass(frozen=True, slots=True)
class ToolReturned:
    """A tool call ended, with a result or with a `failure`."""

    call_id: str
    name: str
    summary: str
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class TextStreamed:
    """The next piece of the answer as the reader should see it (keys already numbered)."""

    text: str


@dataclass(frozen=True, slots=True)
class TextDiscarded:
    """The text streamed since the last such event is not the answer: tools are called first, or it is written again.

    `text` is the discarded text as the model wrote it.
    """

    text: str


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning to the user; the run continues.

    Of several warnings about one `topic` a run keeps the first; without a topic, of several with the same message.
    `is_repeat` marks what the user is told elsewhere: by an earlier run of the session, by the command that began what
    goes on in the background, or by the text of the answer.
    """

    message: str
    hint: str | None = None
    topic: str | None = None
    is_repeat: bool = False


@dataclass(frozen=True, slots=True)
class Noted:
    """A message for the user that is not part of the answer; `is_detail` marks details that are hidden by default."""

    message: str
    is_detail: bool = False


@dataclass(frozen=True, slots=True)
class PhaseStarted:
    """An agent enters a phase of a cycle, which counts from 1; 0 before the first. `message` says it in plain words.

    The numbers are those of the run so far.
    """

    phase: str
    cycle: int
    sources_queried: int
    entities_found: int
    facts_found: int
    message: str


@dataclass(frozen=True, slots=True)
class ResearchPlanned:
    """An agent has decided what to find out, in the field `domain`."""

    sub_questions: tuple[str, ...]
    domain: str


@dataclass(frozen=True, slots=True)
class CycleEvaluated:
    """An agent has decided after a cycle whether to go on; ratios and `novelty` are in [0, 1].

    `novelty` is the share of new items among all that the cycle found.
    """

    cycle: int
    new_entities_ratio: float
    new_facts_ratio: float
    citation_circularity: float
    source_coverage: float
    novelty: float
    should_stop: bool
    reason: str


@dataclass(frozen=True, slots=True)
class ApprovalRequested:
    """The user is asked whether `queries` may be sent to these services, or `path` be changed; the other is empty."""

    queries: tuple[str, ...]
    services: tuple[str, ...]
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class ApprovalDecided:
    """The user has answered what was asked last, or nobody has in time."""

    is_approved: bool


@dataclass(frozen=True, slots=True)
class ClarificationAsked:
    """The user is asked what is meant."""

    question: str


@dataclass(frozen=True, slots=True)
class ClarificationAnswered:
    """The answer to what was asked last; `None` if nobody has answered."""

    text: str | None


Event = (
    StageStarted
    | StageAdvanced
    | StageFinished
    | FileRead
    | QuerySent
    | WebSearched
    | PageRead
    | ModelCalled
    | ToolCalled
    | ToolReturned
    | TextStreamed
    | TextDiscarded
    | Warned
    | Noted
    | PhaseStarted
    | ResearchPlanned
    | CycleEvaluated
    | ApprovalRequested
    | ApprovalDecided
    | ClarificationAsked
    | ClarificationAnswered
)
Listener = Callable[[Event], None]


def ignore(event: Event) -> None:
    """Ignore the event."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """An event of a run. `seq` counts from 1 without gaps; `at` is the time in UTC, ISO 8601 with microseconds."""

    run: str
    seq: int
    at: str
    event: Event


# For telemetry only, never for looking up services. Tasks and threads started by anyio inherit the value; events of any
# other thread go to the listener of the process.
_LISTENER: ContextVar[Listener | None] = ContextVar("asky_listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Deliver events emitted in this context to `listener`."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def emit(event: Event, otherwise: Listener = ignore) -> None:
    """Deliver `event` to the listener of the current run, or else to `otherwise`."""
    (_LISTENER.get() or otherwise)(event)


_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def event_name(event: Event | type[Event]) -> str:
    """Return the name of the event's class with words joined by `_`: `tool_called` for a `ToolCalled`."""
    cls = event if isinstance(event, type) else type(event)
    return _WORD.sub("_", cls.__name__).lower()


def event_fields(event: Event) -> dict[str, Any]:
    """Return the fields of `event` as JSON values, with tuples for lists."""
    return asdict(event)


def decode_event(name: str, fields: Mapping[str, Any]) -> Event:
    """Return the event with that name and those fields.

    Fields that this version does not know are left out. Raises `ValueError` for an unknown name or a missing field.
    """
    cls = next((each for each in get_args(Event) if event_name(each) == name), None)
    if cls is None:
        raise ValueError(f"unknown event {name!r}")
    try:
        event: Event = cls(**{key: _decoded(value) for key, value in _known(cls, fields).items()})
    except TypeError as error:
        raise ValueError(f"not a {name}: {error}") from None
    return event


def _decoded(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_decoded, value))
    return Failure(**_known(Failure, value)) if isinstance(value, dict) else value


def _known(cls: Any, fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: fields[key] for key in cls.__dataclass_fields__ if key in fields}
