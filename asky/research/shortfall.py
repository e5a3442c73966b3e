"""Why a question to the web could not be answered, as the ledger of its run tells it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from asky.errors import NotEnoughEvidence, Unreachable

if TYPE_CHECKING:
    from asky.storage.runs import LedgerEntry

_READ = frozenset({"fetched", "cached", "stale"})
_MAYBE = frozenset({"timed_out", "source_refused", "given_up"})
_LOOKED = "what had been read before holds too little"

LOOK = "`asky runs show -v` says what was tried, and what came of it"
"""The hint where the web was used and holds too little."""

WHOLE_SEARCH = "web search"
"""What a failure is about that left no service to answer."""


@dataclass(frozen=True, slots=True)
class Shortfall:
    """What was missing, in words. `code` is that of the error that it comes to."""

    message: str
    hint: str
    code: str = NotEnoughEvidence.code

    @property
    def sentence(self) -> str:
        return f"{self.message[:1].upper()}{self.message[1:]}."


def shortfall(ledger: Sequence[LedgerEntry]) -> Shortfall | None:
    """Why a run has no source; `None` where it has some, and where it did not use the web or could not search.

    "Nothing was found", "nothing could be read" and "nothing that was read fits" are told apart.
    """
    tried = {str(data["url"]): data for data in _all(ledger, "read")}
    passed_over = {str(url) for data in _all(ledger, "shortlisted") for url, _ in data["rejected"]}
    if _has_sources(ledger, [url for url, data in tried.items() if data["verdict"] in _READ], passed_over):
        return None
    searches = [data for data in _all(ledger, "web_searched") if data["found"] or not data["failures"]]
    found = {str(url) for data in searches for url in data["found"]}
    nothing = "the web search found nothing" if searches and not found else ""
    if read := [data for data in tried.values() if data["verdict"] in _READ]:
        return Shortfall(f"{_pages(len(read))} read, and none fits the question", LOOK)
    if tried:
        is_unreachable = _is_unreachable(list(tried.values()))
        message = " and ".join(filter(None, [nothing, _unread(list(tried.values()), is_unreachable=is_unreachable)]))
        hint = "check the connection of this machine to the web" if is_unreachable else LOOK
        return Shortfall(message, hint, Unreachable.code if is_unreachable else NotEnoughEvidence.code)
    if found:
        return Shortfall(f"{_pages(len(found))} found on the web, and none may be used", LOOK)
    return Shortfall(nothing, "ask in other words, or name pages in the question") if nothing else None


def outage(ledger: Sequence[LedgerEntry]) -> Shortfall | None:
    """Why a run could not search: the failure of its first search, where every one of them failed; else `None`.

    A search is one question to all search services, and one that any of them has answered has not failed.
    """
    failed = [_failure(data) for data in _all(ledger, "web_searched")]
    return failed[0] if failed and all(failed) else None


def _failure(search: Mapping[str, Any]) -> Shortfall | None:
    """What a search failed with, if no service has answered it."""
    for subject, code, message in search["failures"]:
        if subject == WHOLE_SEARCH:
            advice = search.get("hints", {}).get(subject)
            return Shortfall(message, f"{advice}; {_LOOKED}" if advice else _LOOKED, code)
    return None


def _has_sources(ledger: Sequence[LedgerEntry], read: Sequence[str], passed_over: set[str]) -> bool:
    had_some = any(data["sources"] for data in _all(ledger, "asked"))
    were_chosen = any(data["selected"] for data in _all(ledger, "shortlisted"))
    were_searched = any(data["hits"] for data in _all(ledger, "searched"))
    return had_some or were_chosen or were_searched or any(url not in passed_over for url in read)


def _is_unreachable(tried: Sequence[Mapping[str, Any]]) -> bool:
    """Whether no host answered. One that was not even asked, for want of its address, may count as slow or refused."""
    unreached = [data["verdict"] == "unreachable" for data in tried]
    return any(unreached) and all(
        was or (not data["hosts"] and data["verdict"] in _MAYBE) for was, data in zip(unreached, tried, strict=True)
    )


def _unread(tried: Sequence[Mapping[str, Any]], *, is_unreachable: bool) -> str:
    if len(tried) == 1:
        return f"the page could not be read: {tried[0]['why']}"
    return f"none of the {len(tried):,} pages that were tried could be {'reached' if is_unreachable else 'read'}"


def _pages(count: int) -> str:
    return "one page was" if count == 1 else f"{count:,} pages were"


def _all(ledger: Sequence[LedgerEntry], kind: str) -> Iterator[Mapping[str, Any]]:
    return (entry.data for entry in ledger if entry.kind == kind)
