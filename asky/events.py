"""What a run says while it runs: one tagged union that the terminal, logs and servers all listen to.

A listener is a plain callable `Listener`; it must return quickly and must not raise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

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
    """A stage of the evidence path begins; `total` counts its items where that is known."""

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
    """A stage ended after `seconds`; `summary` is one line for people."""

    stage: str
    seconds: float
    summary: str = ""


@dataclass(frozen=True, slots=True)
class FileRead:
    """One local file got its verdict; `why` explains any verdict but `indexed` and `unchanged`."""

    path: str
    verdict: FileVerdict
    why: str | None = None


@dataclass(frozen=True, slots=True)
class QuerySent:
    """A query is about to leave the machine for these services, `name (host)` each.

    `is_private` says that the run can read private documents, whose words the query could hold.
    """

    query: str
    services: tuple[str, ...]
    is_private: bool


@dataclass(frozen=True, slots=True)
class WebSearched:
    """Search services were asked: the words that left the machine, who got them, and what came of it.

    `services` are `name (host)`; none means that the answer was kept from before. `failures` are of single services.
    """

    queries: tuple[str, ...]
    services: tuple[str, ...]
    found: int
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, slots=True)
class PageRead:
    """An address on the web got its verdict: `fetched`, `cached`, `stale`, or why it was not read."""

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
    """What was streamed since the last of these is not the answer: tools are called first, or it is written again.

    `text` is the model's own wording of it.
    """

    text: str


@dataclass(frozen=True, slots=True)
class Warned:
    """Something the user should know; the run goes on."""

    message: str
    hint: str | None = None


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
)
Listener = Callable[[Event], None]


def ignore(event: Event) -> None:
    """A listener that hears nothing."""
