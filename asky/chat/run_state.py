"""What a run has come to beside its conversation: each step is recorded with what has changed of it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from asky.chat.packing import pack_evidence, unpack_evidence
from asky.storage.scope import Scope

if TYPE_CHECKING:
    from asky.chat.recording import Record
    from asky.research.tools import ResearchRun
    from asky.research.web import WebRun
    from asky.storage.documents import DocumentStore
    from asky.values import Evidence

Offer = list[Any]  # how an address was offered, and which


@dataclass(slots=True)
class RunState:
    """The state of one run.

    `heard` is what the user is warned of in this process, and grows; `earlier` what an earlier process of the run has
    said, `earlier_s` the seconds that it had taken. `rejected`, `offers` and `use` (searches, fetches, pages that were
    there already) are what the web has come to, `sent` the queries that were watched.
    """

    research: ResearchRun
    heard: Sequence[str] = ()
    earlier: list[str] = field(default_factory=list)
    earlier_s: float = 0.0
    has_sources: bool = False
    rejected: list[tuple[str, str]] = field(default_factory=list)
    offers: list[Offer] = field(default_factory=list)
    sent: list[str] = field(default_factory=list)
    use: Any = None
    _started: float = field(default_factory=time.monotonic)
    _recorded: dict[str, Evidence] = field(default_factory=dict)
    _marks: dict[str, int] = field(default_factory=dict)
    _said_shown: dict[str, Evidence] = field(default_factory=dict)
    _said_marks: dict[str, int] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """How long the run has taken, in all of its processes."""
        return self.earlier_s + time.monotonic() - self._started

    @property
    def warned(self) -> list[str]:
        """What the user was warned of while it went on, once each."""
        return list(dict.fromkeys([*self.earlier, *self.heard]))

    def changes(self) -> dict[str, Any]:
        """What is new since what was marked as recorded; until this is, it is said again."""
        run = self.research
        shown = {key: each for key, each in run.shown.items() if self._recorded.get(key) is not each}
        self._said_shown = shown
        return {
            "seconds": round(self.seconds, 3),
            "has_sources": self.has_sources,
            "question": run.question,
            "collections": run.scope.collections,
            "sources": run.scope.sources,
            "use": asdict(self.use) if self.use is not None else None,
            "shown": [pack_evidence(each) for each in shown.values()],
            "queries": self._new("queries", run.queries),
            "private_notes": self._new("private_notes", run.private_notes),
            "warned": self._new("warned", self.warned),
            "rejected": self._new("rejected", self.rejected),
            "offers": self._new("offers", self.offers),
            "sent": self._new("sent", self.sent),
        }

    def _new(self, name: str, items: Sequence[Any]) -> list[Any]:
        begin = self._marks.get(name, 0)
        new = list(items[begin:])  # one look at it: tools add to it from threads
        self._said_marks[name] = begin + len(new)
        return new

    def mark_recorded(self) -> None:
        """What `changes` gave last is on disk."""
        self._recorded.update(self._said_shown)
        self._marks.update(self._said_marks)

    def restore(self, changes: Iterable[Mapping[str, Any]], documents: DocumentStore) -> None:
        """Come to where the run was after these changes, in their order."""
        run = self.research
        for each in changes:
            self.earlier_s, self.has_sources = each["seconds"], each["has_sources"]
            run.question = each["question"]
            run.scope = Scope(_tuple(each["collections"]), _tuple(each["sources"]))
            run.shown |= {found.key: found for found in unpack_evidence(each["shown"], documents)}
            run.queries += each["queries"]
            run.private_notes += each["private_notes"]
            self.earlier += each["warned"]
            self.rejected += [(url, why) for url, why in each["rejected"]]
            self.offers += each["offers"]
            self.sent += each.get("sent", ())  # not in what an earlier asky recorded
            if each["use"] is not None:
                self._restore_use(each["use"])
        for found in run.shown.values():
            run.keys.hold(found.key, found.sha256, found.span)
        self._recorded = dict(run.shown)
        self._marks = {
            "queries": len(run.queries),
            "private_notes": len(run.private_notes),
            "warned": len(self.earlier),
            "rejected": len(self.rejected),
            "offers": len(self.offers),
            "sent": len(self.sent),
        }

    def _restore_use(self, packed: Mapping[str, int]) -> None:
        from asky.research.web_ledger import WebUse  # for questions to the web only

        self.use = WebUse(**packed)

    def attach(self, web: WebRun, record: Record, *, is_private: bool) -> None:
        """Let `web`, which has just been opened, go on from this state and search through the `record`."""
        from asky.chat.recorded_offers import RecordedOffers  # these three for questions to the web only
        from asky.chat.recorded_searches import recorded_search
        from asky.research.outgoing import OutgoingQueries

        web.searches.recorded = lambda ask: recorded_search(ask, record)
        web.searches.outgoing = OutgoingQueries(self.sent)
        web.offered = RecordedOffers(self.offers, is_private=is_private)
        web.rejected = self.rejected
        if self.use is None:
            self.use = web.ledger.use
        else:
            web.ledger.use = self.use


def _tuple(found: Sequence[Any] | None) -> tuple[Any, ...] | None:
    return None if found is None else tuple(found)
