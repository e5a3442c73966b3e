"""Permission for a question to use the web, and the port through which its run does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from asky.research.run import ResearchRun
    from asky.research.source_policy import SourcePolicy
    from asky.research.web.run import WebRun
    from asky.research.web.summaries import Summaries, Summarise


@dataclass(frozen=True, slots=True)
class WebAccess:
    """Permission for a question to use the web.

    Pages that are read become sources of `collection_id`. `named` are the addresses that the user wrote. `shortlist`
    says that sources are chosen and read before a model sees any. `policy` restricts the sources, `None` if the
    question has no restrictions of its own. `queries` are search queries from the user that replace the generated ones.
    `file_names` are those of the local files in the question, which are not searched for. `services` are the names of
    the search services to ask, all that are set up if there are none.
    """

    collection_id: int
    named: tuple[str, ...] = ()
    shortlist: bool = True
    policy: SourcePolicy | None = None
    queries: tuple[str, ...] = ()
    file_names: tuple[str, ...] = ()
    services: tuple[str, ...] = ()


class Web(Protocol):
    """The components through which a run uses the web; built in `asky.wiring`."""

    def open(self, run: ResearchRun, access: WebAccess, *, is_private: bool) -> WebRun:
        """Return the web access of one run; `is_private` says that the run can read private documents."""
        ...

    def summaries(self, summarise: Summarise | None) -> Summaries:
        """Return the page summaries of one run, made by `summarise` if given."""
        ...

    def cached(self) -> int | None:
        """Return the collection of all cached pages; `None` if there are none."""
        ...


def encode_access(access: WebAccess | None) -> dict[str, Any] | None:
    """Return `access` as JSON; `None` for a question that may not use the web."""
    if access is None:
        return None
    policy = None
    if access.policy is not None:
        since = access.policy.since
        policy = asdict(access.policy) | {"since": since.isoformat() if since is not None else None}
    return {
        "collection_id": access.collection_id,
        "named": list(access.named),
        "shortlist": access.shortlist,
        "policy": policy,
        "queries": list(access.queries),
        "file_names": list(access.file_names),
        "services": list(access.services),
    }


def decode_access(encoded: Mapping[str, Any] | None) -> WebAccess | None:
    """Return the permission that `encode_access` encoded."""
    if encoded is None:
        return None
    return WebAccess(
        encoded["collection_id"],
        tuple(encoded["named"]),
        encoded["shortlist"],
        _decode_policy(encoded["policy"]),
        tuple(encoded["queries"]),
        tuple(encoded.get("file_names", ())),  # this and the next are missing from runs of an earlier version
        tuple(encoded.get("services", ())),
    )


def _decode_policy(encoded: Mapping[str, Any] | None) -> Any:
    if encoded is None:
        return None
    from asky.research.source_policy import SourcePolicy  # for questions to the web only

    since = date.fromisoformat(encoded["since"]) if encoded["since"] is not None else None
    lists = {name: tuple(encoded[name]) for name in ("allow_domains", "deny_domains", "kinds")}
    return SourcePolicy(**lists, since=since, recency=encoded["recency"])
