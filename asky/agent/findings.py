"""What a run has found, as its recorded steps say: the same for a node, for the API and for a report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from asky.agent.items import circular_citations, entity_key, fact_keys
from asky.agent.models import Entity, Fact, Phase
from asky.agent.reading_order import SearchRanking, page_key
from asky.agent.saturation import SaturationMetrics
from asky.agent.stopping import CycleRecord
from asky.storage.steps import Step
from asky.text.terms import terms_of
from asky.text.urls import host_of

STEP = "researched"
"""The kind of the steps with the results of nodes; their key is the name of the node and the cycle."""

_NEXT: Mapping[str, Phase] = {
    "": "clarify",
    "clarify": "plan",
    "plan": "collect",
    "collect": "process",
    "process": "analyze",
    "analyze": "evaluate",
    "export": "finished",
}
_QUALITY = {"page": 0.5, "snippet": 0.3, "documents": 0.5, "library": 0.6, "vault": 0.5}
_PAPER_QUALITY = 0.6
"""How likely a source of each origin is right on its own: a choice, so that one source verifies nothing, and two do."""


_OF_HOSTS = ("page", "snippet")  # pages of one host are no independent sources


def step_key(node: str, cycle: int) -> str:
    """Return the key of the step with the result of a node."""
    return f"{node} {cycle}"


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """A part of the question, and what is searched for it first; `context` is what its pronouns mean, in few words."""

    text: str
    queries: tuple[str, ...] = ()
    context: str = ""

    @property
    def whole(self) -> str:
        """The text with its context."""
        return f"{self.text} {self.context}".strip()


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage that was found: `origin` is `page`, `snippet`, or the user's `documents`, `library` or `vault`.

    `address` is its URL, or else its URI; `about` are the numbers of the sub-questions that it was found for.
    """

    key: str
    address: str
    title: str
    origin: str
    is_private: bool
    is_paper: bool
    about: tuple[int, ...]
    cycle: int = 0


@dataclass(frozen=True, slots=True)
class FoundStatement:
    """A statement that was taken from passages, with the statements that it contradicts."""

    text: str
    keys: tuple[str, ...]
    contradicts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mention:
    """Something with a name, in passages."""

    name: str
    type: str
    keys: tuple[str, ...]


@dataclass(slots=True)
class Findings:
    """All that a run has found. `cycle` is the one that was begun last, 0 before the first.

    `rankings` are what the searches on the web returned, in their order.
    `threshold` is the confidence from which a fact counts as verified.
    """

    threshold: float = 0.6
    academic_required: bool = False
    refined_query: str = ""
    domain: str = ""
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    sub_questions: list[SubQuestion] = field(default_factory=list)
    available: list[str] = field(default_factory=list)
    unavailable: list[tuple[str, str]] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    reasons: dict[int, str] = field(default_factory=dict)
    next_queries: list[str] = field(default_factory=list)
    passages: dict[str, FoundPassage] = field(default_factory=dict)
    rankings: list[SearchRanking] = field(default_factory=list)
    known_addresses: dict[str, None] = field(default_factory=dict)
    tried_addresses: dict[str, None] = field(default_factory=dict)
    failures: list[dict[str, Any]] = field(default_factory=list)
    links: dict[str, list[str]] = field(default_factory=dict)
    same_as: dict[str, str] = field(default_factory=dict)
    statements: list[FoundStatement] = field(default_factory=list)
    mentions: list[tuple[Mention, str]] = field(default_factory=list)
    answered: set[int] = field(default_factory=set)
    cycles: list[CycleRecord] = field(default_factory=list)
    cycle: int = 0
    last_node: str = ""
    should_stop: bool = False
    stop_reason: str | None = None
    is_over_budget: bool = False
    metrics: dict[str, float] | None = None
    export_path: str | None = None
    _done: set[str] = field(default_factory=set)
    _queries_of: dict[int, list[str]] = field(default_factory=dict)
    _held_back_in: dict[int, list[str]] = field(default_factory=dict)

    @classmethod
    def of_steps(cls, steps: Iterable[Step]) -> Findings:
        """Return what the recorded steps of a run say, in their order."""
        found = cls()
        for each in steps:
            if each.kind == STEP:
                node, _, cycle = each.key.partition(" ")
                found.apply(node, int(cycle), each.data)
        return found

    def is_done(self, node: str, cycle: int) -> bool:
        """Return whether the result of a node has been applied."""
        return step_key(node, cycle) in self._done

    @property
    def phase(self) -> Phase:
        """The node that comes next, or is entered now."""
        if self.last_node == "evaluate":
            return "synthesize" if self.should_stop else "collect"
        return _NEXT[self.last_node]

    def apply(self, node: str, cycle: int, data: Mapping[str, Any]) -> None:
        """Add the recorded result of a node; once more changes nothing."""
        key = step_key(node, cycle)
        if key in self._done:
            return
        self._done.add(key)
        self.last_node, self.cycle = node, max(self.cycle, cycle)
        getattr(self, f"_apply_{node}")(data)

    def _apply_clarify(self, data: Mapping[str, Any]) -> None:
        self.refined_query, self.domain = data["refined_query"], data["domain"]
        self.threshold, self.academic_required = data["threshold"], data["academic_required"]
        self.asked = [(question, answer) for question, answer in data["asked"]]

    def _apply_plan(self, data: Mapping[str, Any]) -> None:
        self.sub_questions = [
            SubQuestion(each["text"], tuple(each["queries"]), each["context"]) for each in data["sub_questions"]
        ]
        self.available = list(data["available"])
        self.unavailable = [(name, why) for name, why in data["unavailable"]]

    def add_sub_questions(self, texts: Iterable[str]) -> None:
        """Add what the user has asked for meanwhile; once more changes nothing."""
        known = {each.text for each in self.sub_questions}
        self.sub_questions += [SubQuestion(each) for each in texts if each not in known]

    def _apply_collect(self, data: Mapping[str, Any]) -> None:
        self.add_sub_questions(data["notes"])
        self.queries += data["queries"]
        self._queries_of[self.cycle] = data["queries"]
        self._held_back_in[self.cycle] = data.get("held_back", [])
        for each in data["passages"]:
            about = tuple(each["about"])
            known = self.passages.get(each["key"]) or FoundPassage(**{**each, "about": ()}, cycle=self.cycle)
            self.passages[known.key] = replace(known, about=tuple(dict.fromkeys((*known.about, *about))))
        self.rankings += [SearchRanking(**each) for each in data.get("rankings", ())]
        self.known_addresses |= dict.fromkeys(data["known"])
        self.tried_addresses |= dict.fromkeys(data["tried"])
        self.failures += data["failures"]
        self.links |= data["links"]
        self.next_queries = []

    def _apply_process(self, data: Mapping[str, Any]) -> None:
        self.statements += [
            FoundStatement(each["text"], tuple(each["keys"]), tuple(each["contradicts"])) for each in data["facts"]
        ]
        self.mentions += [
            (Mention(each["name"], each["type"], tuple(each["keys"])), data["at"]) for each in data["entities"]
        ]
        self.answered |= set(data["answered"])
        self.next_queries = list(data["next_queries"])

    def _apply_analyze(self, data: Mapping[str, Any]) -> None:
        self.same_as = dict(data["same_as"])

    def _apply_evaluate(self, data: Mapping[str, Any]) -> None:
        self.metrics, self.should_stop = dict(data["metrics"]), data["should_stop"]
        self.stop_reason = data["reason"] if self.should_stop else None
        self.is_over_budget = data["by_budget"]
        self.reasons[self.cycle] = data["reason"]
        record = dict(data["record"])
        self.cycles.append(CycleRecord(**{**record, "metrics": SaturationMetrics(**record["metrics"])}))

    def _apply_export(self, data: Mapping[str, Any]) -> None:
        self.export_path = data["export_path"]

    # what the statements and mentions amount to

    def facts(self) -> list[Fact]:
        """Return the distinct facts, in the order in which they were first stated."""
        keys = fact_keys([each.text for each in self.statements])
        key_of = dict(zip((each.text for each in self.statements), keys, strict=True))
        grouped: dict[str, list[FoundStatement]] = {}
        against: dict[str, dict[str, None]] = {}
        for key, each in zip(keys, self.statements, strict=True):
            grouped.setdefault(key, []).append(each)
            for other in each.contradicts:
                if other in key_of and key_of[other] != key:
                    against.setdefault(key, {})[other] = None
                    against.setdefault(key_of[other], {})[each.text] = None
        return [self._fact(found, tuple(against.get(key, ()))) for key, found in grouped.items()]

    def _fact(self, found: Sequence[FoundStatement], against: tuple[str, ...]) -> Fact:
        keys = tuple(dict.fromkeys(key for each in found for key in each.keys if key in self.passages))
        passages = [self.passages[key] for key in keys]
        best: dict[str, float] = {}
        for each in passages:
            origin = self.same_as.get(each.address, each.address)
            host = host_of(origin) if each.origin in _OF_HOSTS else origin
            best[host] = max(best.get(host, 0.0), _PAPER_QUALITY if each.is_paper else _QUALITY[each.origin])
        doubt = 1.0
        for quality in best.values():
            doubt *= 1 - quality
        confidence = round(1 - doubt, 3)
        has_paper = any(each.is_paper or each.origin == "library" for each in passages)
        is_verified = confidence >= self.threshold and not against and (has_paper or not self.academic_required)
        addresses = tuple(dict.fromkeys(each.address for each in passages))
        return Fact(found[0].text, addresses, keys, confidence, is_verified, against)

    def entities(self, *, with_private: bool = True) -> list[Entity]:
        """Return the distinct entities, in the order in which they were first seen.

        Without `with_private`, what private passages mention does not count.
        """
        public = {key for key, each in self.passages.items() if not each.is_private}
        grouped: dict[str, list[tuple[Mention, str]]] = {}
        for mention, at in self.mentions:
            if not with_private and public.isdisjoint(mention.keys):
                continue
            grouped.setdefault(entity_key(mention.name, mention.type), []).append((mention, at))
        return [self._entity(found) for found in grouped.values()]

    def _entity(self, found: Sequence[tuple[Mention, str]]) -> Entity:
        first, at = found[0]
        keys = [key for mention, _ in found for key in mention.keys if key in self.passages]
        addresses = dict.fromkeys(self.passages[key].address for key in keys)
        return Entity(first.name, first.type, tuple(addresses), datetime.fromisoformat(at), max(1, len(set(keys))))

    def circular(self) -> tuple[int, int]:
        """Return how many citations lead back to a source already known, and how many there are."""
        counted = circular_citations(self.links, self.same_as)
        return counted.circular, counted.total

    def queries_of(self, cycle: int) -> list[str]:
        """Return the queries of a cycle."""
        return self._queries_of.get(cycle, [])

    def held_back_in(self, cycle: int) -> list[str]:
        """Return those queries of a cycle that no search service got, as they could reveal a private document."""
        return self._held_back_in.get(cycle, [])

    def passages_of(self, cycle: int) -> list[FoundPassage]:
        """Return the passages that were first found in a cycle."""
        return [each for each in self.passages.values() if each.cycle == cycle]

    def failed_addresses(self) -> set[str]:
        """Return the pages that could not be read."""
        return {page_key(each["url"]) for each in self.failures if each["url"]}

    def has_only_failed(self) -> bool:
        """Return whether pages were tried and none could be read, nor anything of the user's own sources."""
        origins = {each.origin for each in self.passages.values()}
        return (
            bool(self.failed_addresses())
            and self.failed_addresses() >= set(self.tried_addresses)
            and (origins <= {"snippet"})
        )

    def has_tried(self, addresses: Iterable[str]) -> bool:
        """Return whether all of these pages were tried."""
        return all(page_key(each) in self.tried_addresses for each in addresses)

    def touched_parts(self) -> set[int]:
        """Return the numbers of the sub-questions for which a fact was found that has a word of it."""
        found: dict[int, set[str]] = {}
        for fact in self.facts():
            for number in {number for key in fact.keys for number in self.passages[key].about}:
                found.setdefault(number, set()).update(terms_of(fact.statement))
        parts = enumerate(self.sub_questions)
        return {number for number, each in parts if terms_of(each.text) & found.get(number, set())}

    def is_private(self, fact: Fact) -> bool:
        """Return whether a fact is from a private document."""
        return any(self.passages[key].is_private for key in fact.keys)

    def encode_facts(self) -> list[dict[str, Any]]:
        """Return the facts as JSON."""
        return [asdict(each) for each in self.facts()]

    def encode_entities(self) -> list[dict[str, Any]]:
        """Return the entities as JSON."""
        return [asdict(each) | {"first_seen": each.first_seen.isoformat()} for each in self.entities()]
