"""Findings: results saved for later questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from asky.app.records import Listing, split_damaged
from asky.app.requests import as_tuple
from asky.concurrency import in_thread
from asky.errors import UsageError
from asky.events import Noted
from asky.research.memory import clean_finding, clean_tags, host_of_passage, source_test
from asky.storage.findings import EVERY_FINDING, Finding, FindingScope

if TYPE_CHECKING:
    from asky.storage.findings import Trust
    from asky.wiring import Services

_MAX_QUERY_CHARS = 20_000
_SEE_LIST = "`asky memory list` lists the findings"


@dataclass(frozen=True, slots=True)
class SavedFinding(Finding):
    """A finding with the name of its `session`, or `None` if it applies to all sessions."""

    session: str | None = None


@dataclass(frozen=True, slots=True)
class AddedFinding:
    """A finding that `add` was called for; `is_new` is false if the same text was saved already."""

    finding: SavedFinding
    is_new: bool


class MemoryService:
    """Lists, searches and edits findings. `session` is a name or an id; `None` means all sessions.

    Raises `UsageError` if the session does not exist.
    """

    def __init__(self, services: Services) -> None:
        self._services = services

    def list_findings(self, session: str | None = None) -> Listing[SavedFinding]:
        """Return findings, newest first, and separately those that cannot be read."""
        rows = split_damaged(self._services.findings.listed(self._scope(session)))
        return Listing(tuple(self._saved(rows.found)), rows.damaged)

    def findings(self, session: str | None = None) -> list[SavedFinding]:
        """Return findings, newest first. Raises `StoreDamaged` if one cannot be read."""
        return self._saved(self._services.findings.recent(self._scope(session)))

    async def search(
        self, query: str, *, session: str | None = None, limit: int = 10
    ) -> list[tuple[SavedFinding, float]]:
        """Return the findings that match `query`, best first, at most `limit`, with their relevance from 0 to 1."""
        require_query(query)

        def find() -> list[tuple[SavedFinding, float]]:
            found = self._services.vectors.search_findings(query, self._scope(session), limit=limit)
            saved = self._saved([finding for finding, _ in found])
            return [(finding, score) for finding, (_, score) in zip(saved, found, strict=True)]

        return await in_thread(find)

    def get(self, ids: Sequence[int]) -> list[SavedFinding]:
        """Return the findings with these ids, each once. Raises `UsageError` naming the ids that do not exist."""
        found = self._services.findings.get(ids)
        missing = [str(id_) for id_ in dict.fromkeys(ids) if id_ not in found]
        if missing:
            raise UsageError(f"there is no finding {', '.join(missing)}", hint=_SEE_LIST)
        return self._saved(list(found.values()))

    def find_by_source(self, source: str) -> list[SavedFinding]:
        """Return the findings that cite a source, given as an id, URL, domain, file, or a folder above it.

        Raises `UsageError` if there are none.
        """
        if not source.strip():
            raise UsageError("the source is empty")
        is_named = source_test(source.strip())
        found = [each for each in self._services.findings.recent() if any(map(is_named, each.passages))]
        if not found:
            raise UsageError(f"no finding cites {source!r}", hint=_SEE_LIST)
        return self._saved(found)

    def add(
        self, text: str, *, session: str | None = None, tags: Sequence[str] = (), trust: Trust = "user"
    ) -> AddedFinding:
        """Save `text` as a finding, for all sessions or for one, which is created if it does not exist.

        `trust` says who wrote it: `local` stands for a program that may have read private documents. A `Noted` event
        reports a new session. Raises `UsageError` if the text or a tag is empty or too long.
        """
        cleaned, cleaned_tags = _clean(text, tags)
        findings, session_id = self._services.findings, self._open_session(session)
        existing = findings.same(cleaned, session_id=session_id)
        # The first search computes its vector: no model is loaded for this.
        id_ = findings.add(cleaned, session_id=session_id, run_id=None, tags=cleaned_tags, trust=trust)
        (saved,) = self._saved(list(findings.get([id_]).values()))
        return AddedFinding(saved, is_new=existing is None)

    def remove(self, ids: Sequence[int]) -> int:
        """Delete findings and return their number. Their texts are overwritten in the store's file."""
        return self._services.findings.remove(as_tuple("ids", ids))

    def _scope(self, session: str | None) -> FindingScope:
        return EVERY_FINDING if session is None else FindingScope("session", self._session_id(session))

    def _session_id(self, name: str) -> str:
        found = self._services.sessions.find(name.encode("utf-8", "replace").decode())
        if found is None:
            raise UsageError(f"there is no session {name!r}", hint="`asky session list` lists the sessions")
        return found.id

    def _open_session(self, name: str | None) -> str | None:
        """Return the id of a session, which is created if it does not exist."""
        if name is None:
            return None
        sessions = self._services.sessions
        existing = sessions.find(name)
        session = existing or sessions.open(name, mode="standard")
        if existing is None:
            self._services.listener(Noted(f"created the session {session.name}"))
        return session.id

    def _saved(self, findings: Sequence[Finding]) -> list[SavedFinding]:
        names = self._services.sessions.names()
        return [
            SavedFinding(
                **{each.name: getattr(finding, each.name) for each in fields(Finding)},
                session=names.get(finding.session_id) if finding.session_id is not None else None,
            )
            for finding in findings
        ]


def require_query(query: str) -> None:
    """Raise `UsageError` if the query is empty or too long."""
    if not query.strip():
        raise UsageError("the query is empty", hint="`asky memory list` shows all findings")
    if len(query) > _MAX_QUERY_CHARS:
        raise UsageError(f"the query is longer than {_MAX_QUERY_CHARS:,} characters")


def require_finding(text: str, tags: Sequence[str] = ()) -> None:
    """Raise `UsageError` if a finding or a tag is empty or too long, or there are too many tags."""
    _clean(text, tags)


def _clean(text: str, tags: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return a finding and its tags as they are stored."""
    return clean_finding(text), clean_tags(as_tuple("tags", tags))


def describe_source(passage: Mapping[str, Any]) -> str:
    """Return the title of the source of a cited passage, and its host if it is a web page."""
    title = passage.get("title") or passage["source_id"]
    host = host_of_passage(passage)
    return f"“{title}”" + (f" at {host}" if host else "")
