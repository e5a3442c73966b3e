"""What the stages of one run share: its scope, and the passages that it has shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from asky.evidence.keys import KeyRing
from asky.evidence.passages import new_marker

if TYPE_CHECKING:
    from asky.research.memory import MemoryScope
    from asky.storage.scope import Scope
    from asky.values import Evidence


@dataclass(slots=True)
class ResearchRun:
    """The scope of one run and what it has shown. `shown` maps keys to passages, in the order shown.

    `question` is the user's question, as the model sees it. `memory` says whether findings of other sessions are
    recalled too. `private_notes` are other context of the model that must stay local: findings that the user wrote or
    that may contain words of private documents, and output of the user's own tools. `noted` are the recalled findings,
    as `asky.research.memory.noted_record` has them. `pages` are the ids of the sources that the run has read on the
    web; if not all passages are embedded yet, theirs come first. `recent` are the ids of the sources that the last
    answer of the session cites, which "it" may mean.
    """

    run_id: str
    session_id: str | None
    scope: Scope
    passage_tokens: int
    max_passages: int
    shown: dict[str, Evidence] = field(default_factory=dict)
    queries: list[str] = field(default_factory=list)
    marker: str = field(default_factory=new_marker)
    question: str = ""
    memory: MemoryScope = "session"
    private_notes: list[str] = field(default_factory=list)
    noted: list[dict[str, Any]] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)
    recent: Sequence[str] = ()
    keys: KeyRing = field(init=False)

    def __post_init__(self) -> None:
        self.keys = KeyRing(self.run_id)
