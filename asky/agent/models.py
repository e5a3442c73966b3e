"""The values of the research agent: what it is asked, what it finds, and its state."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, TypedDict

from asky.config.limits import RunLimits

PrivacyMode = Literal["local_only", "cloud_allowed", "hybrid"]
"""Where a run may send what: nothing leaves the machine; everything may; or everything but private passages."""

PRIVACY_MODES: tuple[PrivacyMode, ...] = ("local_only", "cloud_allowed", "hybrid")

Phase = Literal[
    "starting", "clarify", "plan", "collect", "process", "analyze", "evaluate", "synthesize", "export", "finished"
]
"""The node that a run is in. Each but the first and the last is a node of the graph."""

USER_STOP = "User requested stop"
"""The reason to stop of a run that the user ended early; it still writes its report."""


@dataclass(frozen=True, slots=True)
class Entity:
    """Something with a name. `sources` are the addresses where it was found, in order, each once."""

    name: str
    entity_type: str
    sources: tuple[str, ...]
    first_seen: datetime
    mention_count: int = 1


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement with the passages that hold it, by their `keys`.

    `sources` are their addresses. `confidence` is in [0, 1]; it is `verified` if the check by rules supports it, and
    independent sources agree as the domain asks. `contradictions` are other statements that conflict with it.
    """

    statement: str
    sources: tuple[str, ...]
    keys: tuple[str, ...]
    confidence: float
    verified: bool
    contradictions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchRequest:
    """What a run of the agent is asked, and with what.

    `documents` are files and folders, and `collections` names of `asky corpus`; without either, and unless
    `default_documents` is false, the documents that are kept are a source. With `library`, `vault` and `web`, the
    papers, the notes and the web are sources too where they are set up; notes by default only where no cloud model sees
    them, and the web never with the privacy mode `local_only`. `domain` is the name of a `DomainConfiguration`, `None`
    to choose one. `model` is an alias of models.toml or `PROVIDER:ID`, `None` for the default. `limits` are those of
    every run; `max_cycles` and `max_fetches` are the agent's own, `None` for the configured ones. With `clarifies`, the
    agent may ask the user what is meant, at most twice. The report is written to `export_path`, if given, in the format
    of its suffix.
    """

    query: str
    privacy_mode: PrivacyMode = "cloud_allowed"
    documents: tuple[Path, ...] = ()
    collections: tuple[str, ...] = ()
    default_documents: bool = True
    library: bool = True
    vault: bool | None = None
    web: bool = True
    domain: str | None = None
    model: str | None = None
    session: str | None = None
    limits: RunLimits = field(default_factory=RunLimits)
    max_cycles: int | None = None
    max_fetches: int | None = None
    clarifies: bool = False
    export_path: Path | None = None


class ResearchState(TypedDict):
    """The state of a run, read from the store; every list is in the order in which its items were found."""

    session_id: str
    original_query: str
    privacy_mode: PrivacyMode
    started_at: datetime
    refined_query: str
    domain: str
    sources_queried: list[str]
    entities_found: list[dict[str, Any]]
    facts_extracted: list[dict[str, Any]]
    access_failures: list[dict[str, Any]]
    current_phase: Phase
    saturation_metrics: dict[str, float] | None
    should_stop: bool
    stop_reason: str | None
    final_report: dict[str, Any] | None
    export_path: str | None
