"""Diagnosis of web questions that could not be answered, from the ledger of the run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from asky.errors import NotEnoughEvidence, Unreachable
from asky.net.reasons import common_reasons

if TYPE_CHECKING:
    from asky.storage.runs import LedgerEntry

_READ = frozenset({"fetched", "cached", "stale"})
_POSSIBLY_UNREACHABLE = frozenset({"timed_out", "source_refused", "given_up"})
_EARLIER_READING = "pages read earlier do not answer the question"

SEE_RUN = "`asky runs show -v` lists what was tried and with what result"
"""The hint if the web was used but holds too little."""

WEB_SEARCH = "web search"
"""The subject of a failure that left no service to answer."""


@dataclass(frozen=True, slots=True)
class NoEvidence:
    """The reason, in words. `code` is that of the resulting error."""

    message: str
    hint: str
    code: str = NotEnoughEvidence.code

    @property
    def sentence(self) -> str:
        return f"{self.message[:1].upper()}{self.message[1:]}."


def no_evidence(ledger: Sequence[LedgerEntry], told: Sequence[str] = ()) -> NoEvidence | None:
    """Return why a run has no source; `None` if it has some, or if it did not use the web or could not search.

    Distinguishes "nothing was found", "nothing could be read" and "nothing that was read fits". The reason why a page
    could not be read is left out if the user has been `told` it in one of these sentences.
    """
    tried = {str(data["url"]): data for data in _all(ledger, "read")}
    rejected = {str(url) for data in _all(ledger, "shortlisted") for url, _ in data["rejected"]}
    if _has_sources(ledger, [url for url, data in tried.items() if data["verdict"] in _READ], rejected):
        return None
    searches = [data for data in _all(ledger, "web_searched") if data["found"] or not data["failures"]]
    found = {str(url) for data in searches for url in data["found"]}
    nothing = "the web search found nothing" if searches and not found else ""
    if read := [data for data in tried.values() if data["verdict"] in _READ]:
        return NoEvidence(f"{_pages(len(read))} read, but none matches the question", SEE_RUN)
    if tried:
        is_unreachable = _is_unreachable(list(tried.values()))
        message = " and ".join(
            filter(None, [nothing, _unreadable(list(tried.values()), told, is_unreachable=is_unreachable)])
        )
        hint = "check this machine's internet connection" if is_unreachable else SEE_RUN
        return NoEvidence(message, hint, Unreachable.code if is_unreachable else NotEnoughEvidence.code)
    if found:
        return NoEvidence(f"{_pages(len(found))} found on the web, but none may be used", SEE_RUN)
    return NoEvidence(nothing, "rephrase the question, or name pages in it") if nothing else None


def outage(ledger: Sequence[LedgerEntry]) -> NoEvidence | None:
    """Return why a run could not search: the failure of its first search, if all of them failed; else `None`.

    A search is one question to all search services; it has not failed if any of them answered.
    """
    earlier = _EARLIER_READING if _has_sources(ledger, (), set()) else ""
    failed = [_failure(data, earlier) for data in _all(ledger, "web_searched")]
    return failed[0] if failed and all(failed) else None


def _failure(search: Mapping[str, Any], earlier: str) -> NoEvidence | None:
    """Return the failure of a search, if no service answered it; `earlier` says what other sources were worth."""
    for subject, code, message in search["failures"]:
        if subject == WEB_SEARCH:
            advice = search.get("hints", {}).get(subject)
            return NoEvidence(message, "; ".join(filter(None, [advice, earlier])), code)
    return None


def _has_sources(ledger: Sequence[LedgerEntry], read: Sequence[str], rejected: set[str]) -> bool:
    had_some = any(data["sources"] for data in _all(ledger, "asked"))
    were_chosen = any(data["selected"] for data in _all(ledger, "shortlisted"))
    were_searched = any(data["hits"] for data in _all(ledger, "searched"))
    return had_some or were_chosen or were_searched or any(url not in rejected for url in read)


def _is_unreachable(tried: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether no host answered. A failed name lookup may be counted as slow or refused."""
    unreached = [data["verdict"] == "unreachable" for data in tried]
    return any(unreached) and all(
        was or (not data["hosts"] and data["verdict"] in _POSSIBLY_UNREACHABLE)
        for was, data in zip(unreached, tried, strict=True)
    )


def _unreadable(tried: Sequence[Mapping[str, Any]], told: Sequence[str], *, is_unreachable: bool) -> str:
    if len(tried) == 1:
        why = tried[0]["why"]
        return "the page could not be read" + ("" if any(why in each for each in told) else f": {why}")
    reasons = common_reasons({str(data["url"]): str(data["why"]) for data in tried})
    return f"none of the {len(tried):,} pages that were tried could be " + (
        "reached" if is_unreachable else f"read: {reasons}"
    )


def _pages(count: int) -> str:
    return "one page was" if count == 1 else f"{count:,} pages were"


def _all(ledger: Sequence[LedgerEntry], kind: str) -> Iterator[Mapping[str, Any]]:
    return (entry.data for entry in ledger if entry.kind == kind)
