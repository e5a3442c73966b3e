"""The report of a run of research: its answer, what it found on the way, what it did not find, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from asky.storage.stored_json import ANSWER, CONTRADICTION, NUMBER, TEXT, fits
from asky.values import Contradiction, ContradictionSide

SCHEMA = "asky.research/1"

REPORTED = "reported"
"""The kind of the ledger entry that holds an encoded `ResearchReport`; the last one of a run counts."""

AnswerStatus = Literal["answered", "partly", "unanswered"]


@dataclass(frozen=True, slots=True)
class ReportedSubQuestion:
    """A part of the query, and whether the run found an answer to it."""

    text: str
    status: AnswerStatus


@dataclass(frozen=True, slots=True)
class ReportedFact:
    """A statement that was found.

    `citations` are numbers of the answer's citations, `keys` those of passages that it does not cite, and `sources` the
    addresses. `confidence` is in [0, 1]; `source_count` counts independent sources, so that reprints count once.
    """

    statement: str
    confidence: float
    verified: bool
    source_count: int
    citations: tuple[int, ...] = ()
    keys: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReportedEntity:
    """Something with a name, and how often it was mentioned."""

    name: str
    entity_type: str
    mention_count: int


@dataclass(frozen=True, slots=True)
class ReportedFailure:
    """A page or service that could not be used; `source_name` is the service that it belongs to.

    `url` is empty for a service.
    """

    url: str
    source_name: str
    error_type: str
    error_message: str
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class ReportedUnavailableSource:
    """A source that the domain names, but that this run could not query, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class ReportedCycle:
    """One cycle: what it searched for, what it found, and the measures by which the run decided whether to go on.

    `novelty` and the four measures are in [0, 1]; `reason` says in words why the run went on or stopped. `held_back`
    are those of its `queries` that no service got, as they could reveal a private document.
    """

    cycle: int
    queries: tuple[str, ...]
    fetches: int
    sources_read: int
    new_entities: int
    new_facts: int
    novelty: float
    new_entities_ratio: float
    new_facts_ratio: float
    citation_circularity: float
    source_coverage: float
    reason: str = ""
    held_back: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReportedMethod:
    """How the run worked: its rule for stopping, its limits by name, its model, and the host of that.

    `host` is `None` for a model on this machine.
    """

    rule: str
    model: str
    host: str | None = None
    limits: Mapping[str, int | float | str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchReport:
    """What a run of research ends in, also if nothing was found.

    `answer` is an `asky.answer/1` object, with an empty text if there is nothing to say. Times are those of the store.
    `confidence` is in [0, 1], `None` if it was not estimated. All lists are in the order in which they are shown.
    """

    run: str
    query: str
    refined_query: str
    domain: str
    privacy_mode: str
    started_at: str
    finished_at: str | None
    stop_reason: str
    answer: Mapping[str, Any]
    method: ReportedMethod
    confidence: float | None = None
    sub_questions: tuple[ReportedSubQuestion, ...] = ()
    facts: tuple[ReportedFact, ...] = ()
    entities: tuple[ReportedEntity, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    failures: tuple[ReportedFailure, ...] = ()
    sources_queried: tuple[str, ...] = ()
    unavailable_sources: tuple[ReportedUnavailableSource, ...] = ()
    cycles: tuple[ReportedCycle, ...] = ()

    @property
    def found_nothing(self) -> bool:
        """Return whether the answer cites no source and no fact was found."""
        return not self.answer["citations"] and not self.facts

    @property
    def queries(self) -> tuple[str, ...]:
        """Return what was searched for, in order, each once."""
        return tuple(dict.fromkeys(query for each in self.cycles for query in each.queries))

    def encode(self) -> dict[str, Any]:
        """Return this report as an `asky.research/1` object, made of what JSON has."""
        method = {**asdict(replace(self.method, limits={})), "limits": dict(self.method.limits)}
        plain = asdict(replace(self, answer={}, method=replace(self.method, limits={})))
        return {"schema": SCHEMA, **_plain(plain), "method": method, "answer": dict(self.answer)}


RESEARCH: Mapping[str, Any] = MappingProxyType(
    {
        "run": str, "query": str, "refined_query": str, "domain": str, "privacy_mode": str, "started_at": str,
        "finished_at": TEXT, "stop_reason": str, "answer": ANSWER, "confidence?": NUMBER | None,
        "method": {"rule": str, "model": str, "host?": TEXT, "limits?": dict},
        "sub_questions?": [{"text": str, "status": str}],
        "facts?": [
            {
                "statement": str, "confidence": NUMBER, "verified": bool, "source_count": int, "citations?": [int],
                "keys?": [str], "sources?": [str],
            }
        ],
        "entities?": [{"name": str, "entity_type": str, "mention_count": int}],
        "contradictions?": [CONTRADICTION],
        "failures?": [{"url": str, "source_name": str, "error_type": str, "error_message": str, "hint?": TEXT}],
        "sources_queried?": [str],
        "unavailable_sources?": [{"name": str, "reason": str}],
        "cycles?": [
            {
                "cycle": int, "queries": [str], "fetches": int, "sources_read": int, "new_entities": int,
                "new_facts": int, "novelty": NUMBER, "new_entities_ratio": NUMBER, "new_facts_ratio": NUMBER,
                "citation_circularity": NUMBER, "source_coverage": NUMBER, "reason?": str,
                "held_back?": [str],
            }
        ],
    }
)  # fmt: skip
"""The template of an `asky.research/1` object, and so of a ledger entry `REPORTED`; see `asky.storage.stored_json`."""


def decode_research(data: Mapping[str, Any]) -> ResearchReport:
    """Return the report that `ResearchReport.encode` encoded; fields that it does not know are left out.

    Raises `ValueError` if `data` is not an `asky.research/1` object.
    """
    if not fits(data, dict(RESEARCH)):
        raise ValueError(f"not an {SCHEMA} object")
    lists: dict[str, Any] = {
        name: tuple(_decode(kind, each) for each in data.get(name, ())) for name, kind in _MEMBERS.items()
    }
    contradictions = tuple(
        replace(_decode(Contradiction, each), sides=tuple(_decode(ContradictionSide, side) for side in each["sides"]))
        for each in data.get("contradictions", ())
    )
    report = _decode(ResearchReport, data)
    return replace(report, method=_decode(ReportedMethod, data["method"]), contradictions=contradictions, **lists)


_Value = TypeVar("_Value")
_MEMBERS: Mapping[str, type[Any]] = MappingProxyType(
    {
        "sub_questions": ReportedSubQuestion,
        "facts": ReportedFact,
        "entities": ReportedEntity,
        "failures": ReportedFailure,
        "unavailable_sources": ReportedUnavailableSource,
        "cycles": ReportedCycle,
    }
)


def _decode(kind: type[_Value], data: Mapping[str, Any]) -> _Value:
    names = [each.name for each in fields(kind) if each.name in data]  # type: ignore[arg-type]  # all are dataclasses
    return kind(**{name: _hashable(data[name]) for name in names})


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, tuple) else value
