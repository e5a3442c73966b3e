"""A text that was verified: its statements, what they cite, and the passages that decide about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from asky.app.requests import DocumentName, as_tuple, document_name
from asky.evidence.marks import MARKED
from asky.values import Citation, Claim, Source, UnreadFile, Verdict

if TYPE_CHECKING:
    from asky.evidence.references.cited import CitedReference

VERDICTS: tuple[Verdict, ...] = ("supported", "partial", "unsupported", "contradicted")


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyRequest:
    """A text to verify, and the documents to verify it against: updated files, folders and targets, and collections.

    `text` is a file, or Markdown or plain text that is called `name`. Without documents and collections, the default
    collection is used.
    """

    text: Path | str
    name: str = "standard input"
    documents: tuple[DocumentName, ...] = ()
    collections: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("documents", "collections"):
            object.__setattr__(self, name, as_tuple(name, getattr(self, name)))
        object.__setattr__(self, "documents", tuple(document_name(each) for each in self.documents))


@dataclass(frozen=True, slots=True)
class ResolvedReference:
    """A reference of the text, and the ids of the given sources that it names; none if it names none of them."""

    reference: CitedReference
    source_ids: tuple[str, ...]


def is_unresolved(resolved: ResolvedReference) -> bool:
    """Return whether a citation names none of the given sources; a link within a sentence need not."""
    return not resolved.source_ids and not resolved.reference.is_mention


@dataclass(frozen=True, slots=True)
class VerifiedClaim:
    """A statement with its verdict. `claim.citations` is the passage that decided, by number; empty without one.

    `statement` is what was compared: without markup and citations, and with the heads of its row and column for a cell
    of a table. `references` are the numbers of what it cites itself, `better` that of a passage that supports what the
    cited source does not, and `reason` says in words what the verdict rests on.
    """

    claim: Claim
    statement: str
    references: tuple[int, ...]
    reason: str
    better: int | None = None

    @property
    def passage(self) -> int | None:
        """Return the number of the passage that decided."""
        return self.claim.citations[0] if self.claim.citations else None


def count_verdicts(claims: Sequence[VerifiedClaim]) -> dict[Verdict, int]:
    """Return how many claims have each verdict, also if none has."""
    return {verdict: sum(each.claim.verdict == verdict for each in claims) for verdict in VERDICTS}


@dataclass(frozen=True, slots=True)
class VerifiedText:
    """The result: `text` is the whole text, as Markdown if its format has headings, links or tables.

    `passages` are numbered from 1 in the order of the claims. `left_out` names given sources that are this very text,
    `sources` are the others. `unread` are the files among the documents that could not be read, and parts of files;
    `unread_names` those of the files that were named themselves.
    """

    name: str
    path: str | None
    text: str
    claims: tuple[VerifiedClaim, ...]
    passages: tuple[Citation, ...]
    references: tuple[ResolvedReference, ...]
    sources: tuple[Source, ...]
    left_out: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0
    counts: Mapping[Verdict, int] = field(default_factory=dict)
    unread: tuple[UnreadFile, ...] = ()
    unread_names: tuple[UnreadFile, ...] = ()

    @property
    def faults(self) -> int:
        """Return the number of claims that are unsupported, contradicted, or supported by something else than cited."""
        return sum(each.claim.verdict in MARKED or each.better is not None for each in self.claims)
