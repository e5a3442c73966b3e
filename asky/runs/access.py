"""Access rules of a run: which models may see its sources, and which hosts it may reach.

Every run checks its model with `Access.require_model` and opens the web with its `Access`; no interface of asky decides
any of it. The queries and addresses that leave a run with private documents are checked by
`asky.research.web.query_leak_guard` and `url_allowlist`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from asky.errors import UsageError
from asky.net.addresses import is_loopback
from asky.storage.scope import Scope
from asky.values import PRIVATE_KINDS

if TYPE_CHECKING:
    from asky.storage.corpus import CorpusStore
    from asky.storage.runs import RunStore
    from asky.storage.sessions import Session

BUILT_IN = "extractive"
"""The name of the built-in model, which needs no configuration and sends nothing."""


class NamedModel(Protocol):
    """A model by its name and host; `host` is `None` for the built-in model."""

    @property
    def name(self) -> str: ...
    @property
    def host(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Access:
    """The rules of one run.

    With `offline`, only hosts on this machine may be reached. With `only_built_in`, only the built-in model may see the
    sources: no other has seen the private documents of the session, and the user has not chosen one.
    """

    offline: bool = False
    only_built_in: bool = False

    @classmethod
    def of_session(
        cls, session: Session | None, chosen: str | None, corpus: CorpusStore, runs: RunStore, *, offline: bool
    ) -> Access:
        """Return the rules of a run in `session`; `None` stands for a new session.

        `chosen` is the model that the user chose for this or an earlier question, `None` for the default. If the
        session has answered questions about private documents, only an explicit choice admits a model other than the
        built-in one: the default may have been configured since.
        """
        return cls(offline, only_built_in=chosen is None and _holds_private(session, corpus, runs))

    def require_model(self, model: NamedModel) -> None:
        """Raise `UsageError` if `model` may not see the sources of the run."""
        if model.host is None:
            return
        if self.only_built_in:
            raise UsageError(
                f"this session has private documents that were not yet shown to a model at {model.host}",
                hint=f"allow it in this session with -m {model.name}, or answer with -m {BUILT_IN}",
            )
        if self.offline and not _is_on_this_machine(model.host):
            raise UsageError(
                f"--offline excludes the model {model.name}, which runs at {model.host}",
                hint=f"leave out --offline, or choose a model on this machine with -m, such as {BUILT_IN}",
            )


def _is_on_this_machine(host: str) -> bool:
    return is_loopback(urlsplit(f"//{host}").hostname or "")


def _holds_private(session: Session | None, corpus: CorpusStore, runs: RunStore) -> bool:
    """Return whether a question was asked in the session, and about private documents."""
    if session is None or "model" not in session.settings:
        return False
    if session.collections and corpus.count_sources(Scope(session.collections), PRIVATE_KINDS):
        return True
    return any(each.source.kind in PRIVATE_KINDS for each in runs.passages_of_session(session.id))
