"""What a run of the agent does, as its record keeps it beside the question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from asky.agent.models import PrivacyMode
from asky.storage.scope import Scope


@dataclass(frozen=True, slots=True)
class AgentTask:
    """What a run does.

    `rule` is the name of the rule for stopping, and `domain` that of the field. `services` are the search services to
    ask, best first, and `unavailable` other sources of the field, each with the reason. `collections` are those of the
    user's own sources, by id, and `local` says what they are, for the report; with `is_private`, they hold private
    documents. The report is written to `export_path`, if there is one.
    """

    privacy_mode: PrivacyMode
    max_cycles: int
    max_fetches: int
    rule: str
    domain: str
    services: tuple[str, ...] = ()
    unavailable: tuple[tuple[str, str], ...] = ()
    collections: tuple[int, ...] = ()
    local: tuple[str, ...] = ()
    is_private: bool = False
    export_path: str | None = None

    @property
    def local_scope(self) -> Scope | None:
        """The user's own sources, or `None` if there are none."""
        return Scope(self.collections) if self.collections else None

    def encode(self) -> dict[str, Any]:
        """Return this value as JSON."""
        return asdict(self)


def decode_task(data: Mapping[str, Any]) -> AgentTask:
    """Return the value that `AgentTask.encode` encoded."""
    lists = {name: tuple(data[name]) for name in ("services", "collections", "local")}
    lists["unavailable"] = tuple((name, why) for name, why in data["unavailable"])
    return AgentTask(**{**data, **lists})
