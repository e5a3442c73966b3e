"""Stored records as the use cases return them; some rows may be damaged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar

from asky.llm.tokens import token_bound as token_bound
from asky.storage.sessions import own_collection
from asky.storage.stored_json import SEE_DOCTOR
from asky.values import Unreadable

if TYPE_CHECKING:
    from asky.storage.runs import LedgerEntry, Run
    from asky.storage.sessions import Session, StoredMessage

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Listing(Generic[Item]):
    """The rows that can be read, in order, and separately those that cannot."""

    found: tuple[Item, ...]
    damaged: tuple[Unreadable, ...] = ()

    def __len__(self) -> int:
        return len(self.found) + len(self.damaged)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run with the tokens of its model calls, and their cost if a price is known."""

    run: Run
    tokens: int
    cost_usd: float | None


@dataclass(frozen=True)
class RunDetails:
    """A run with its ledger. `session` is the name of its session, or `None` if it has none or that was removed."""

    run: Run
    session: str | None
    ledger: Sequence[LedgerEntry]

    @cached_property
    def models(self) -> list[str]:
        """The models that were called, in order of first use."""
        return list(dict.fromkeys(str(each.data["model"]) for each in self.ledger if each.data.get("model")))

    @cached_property
    def hosts(self) -> list[str]:
        """The hosts that were contacted, in order of first use."""
        return list(dict.fromkeys(host for each in self.ledger for host in _hosts(each)))

    @cached_property
    def searches(self) -> list[str]:
        """The search queries, in order of first use."""
        queries = [query for each in self.ledger if each.kind == "searched" for query in each.data.get("queries", ())]
        return list(dict.fromkeys(map(str, queries)))

    @cached_property
    def partial(self) -> str | None:
        """The partial answer of a run that failed, as the model wrote it."""
        failures = (each.data for each in self.ledger if each.kind == "failed")
        return next((str(data["partial"]) for data in failures if data.get("partial")), None)


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session and its first question."""

    session: Session
    first_question: str | None


@dataclass(frozen=True, slots=True)
class SessionDetails:
    """A session with its transcript. `collections` are the names of the collections that its questions use."""

    session: Session
    collections: Sequence[str]
    messages: Sequence[StoredMessage]
    runs: Sequence[Run]
    damaged: Sequence[Unreadable]

    @property
    def named_collections(self) -> list[str]:
        """The collections except the session's own."""
        own = own_collection(self.session.id)
        return [name for name in self.collections if name != own]

    @property
    def has_own_collection(self) -> bool:
        """`True` if the session has texts of its own: attachments, or pages read for it."""
        return own_collection(self.session.id) in self.collections


def split_damaged(rows: Sequence[Item | Unreadable]) -> Listing[Item]:
    """Return `rows` with those that cannot be read split off."""
    found = tuple(each for each in rows if not isinstance(each, Unreadable))
    return Listing(found, tuple(each for each in rows if isinstance(each, Unreadable)))


def damaged_notes(damaged: Sequence[Unreadable]) -> Iterator[str]:
    """Yield notes on what is wrong with the first of the rows and how to repair them; none if `damaged` is empty."""
    if damaged:
        yield damaged[0].why + (f", and {len(damaged) - 1:,} more" if len(damaged) > 1 else "")
        yield SEE_DOCTOR


def _hosts(entry: LedgerEntry) -> Sequence[str]:
    """Return the hosts that an entry says were contacted: of a model, of search services, or of a page."""
    data = entry.data
    if data.get("host"):
        return [str(data["host"])]
    if entry.kind == "web_searched":
        return [str(each["host"]) for each in data["services"] if each["host"]]
    return [str(host) for host in data.get("hosts", ())] if entry.kind == "read" else []
