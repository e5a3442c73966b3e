"""What a run remembers beside its steps: recorded as changes with each step, and restored from these."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from asky.evidence.codec import decode_evidence, encode_evidence
from asky.storage.scope import Scope

if TYPE_CHECKING:
    from asky.research.run import ResearchRun
    from asky.runs.journal.allowlist import AllowlistEntry
    from asky.storage.documents import DocumentStore
    from asky.values import Evidence


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
            self.earlier_warnings += each["warned"]
            self.rejected += [(url, why) for url, why in each["rejected"]]
            self.allowlist += each["offers"]
            self.sent_queries += each.get("sent", ())  # missing from steps of an earlier version
            if each["use"] is not None:
                self._restore_web_use(each["use"])
        for found in run.shown.values():
            run.keys.hold(found.key, found.sha256, found.span)
        self._recorded_shown = dict(run.shown)
        self._recorded_lengths = {
            "queries": len(run.queries),
            "private_notes": len(run.private_notes),
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
