"""Access rules of a run: which models may see its sources, and which hosts it may reach.

Every run checks its model with `Access.require_model` and opens the web with its `Access`; no interface of asky decides
any of it. Below that, connections of an `offline` run ask `asky.net.reach`, and with `private_stays` prompts pass
`asky.runs.prompt_leak_guard`. The queries and addresses that leave a run with private documents are checked by
`asky.research.web.query_leak_guard` and `url_allowlist`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from asky.errors import NotConfigured, UsageError
from asky.net.addresses import is_loopback
from asky.storage.scope import Scope
from asky.values import PRIVATE_KINDS, SourceKind

if TYPE_CHECKING:
    from asky.storage.corpus import CorpusStore
    from asky.storage.runs import RunStore
    from asky.storage.sessions import Session

BUILT_IN = "extractive"
"""The name of the built-in model, which needs no configuration and sends nothing."""


ACCESS_OPTIONS = ("offline", "private_stays")
"""The rules that are recorded with a run."""


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
    sources: no other has seen the private documents of the session, and the user has not chosen one. With
    `private_stays`, passages of private sources may be shown to models on this machine only.
    """

    offline: bool = False
    only_built_in: bool = False
    private_stays: bool = False

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

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Access:
        """Return the rules that `as_options` encoded, for a run that is resumed."""
        return cls(**{name: bool(options.get(name, False)) for name in ACCESS_OPTIONS})

    def as_options(self) -> dict[str, bool]:
        """Return the rules as JSON: `offline`, and the others that hold, but for the one that chose the model."""
        given = {name: getattr(self, name) for name in ACCESS_OPTIONS}
        return {name: value for name, value in given.items() if value or name == "offline"}

    def may_see(self, model: NamedModel, kind: SourceKind) -> bool:
        """Return whether a passage of a source of this kind may be in a prompt for `model`."""
        return not self.private_stays or kind not in PRIVATE_KINDS or is_on_this_machine(model)

    def require_model(self, model: NamedModel) -> None:
        """Raise `UsageError` if `model` may not see the sources of the run."""
        if model.host is None:
            return
        if self.only_built_in:
            raise UsageError(
                f"this session has private documents that were not yet shown to a model at {model.host}",
                hint=f"allow it in this session with -m {model.name}, or answer with -m {BUILT_IN}",
            )
        if self.offline and not is_on_this_machine(model):
            raise UsageError(
                f"--offline excludes the model {model.name}, which runs at {model.host}",
                hint=f"leave out --offline, or choose a model on this machine with -m, such as {BUILT_IN}",
            )


def note_built_in_stays(default: str) -> str:
    """Return the note that a session stays with the built-in model; `default` names the default model and its host."""
    return (
        f"still answering with {BUILT_IN}: no other model has seen your documents here; use -m to switch to {default}"
    )


@contextmanager
def naming_session(session: Session | None, model: str | None) -> Iterator[None]:
    """Say in an error that a model is gone that the session was last used with, unless `model` was asked for now."""
    try:
        yield
    except NotConfigured as error:
        if session is not None and model is None and session.settings.get("model"):
            last = f"the session {session.name} was last used with it; -m chooses another, such as -m {BUILT_IN}"
            error.hint = f"{last}; {error.hint}" if error.hint else last
        raise


def is_on_this_machine(model: NamedModel) -> bool:
    """Return whether prompts for `model` stay on this machine."""
    return model.host is None or is_loopback(urlsplit(f"//{model.host}").hostname or "")


def _holds_private(session: Session | None, corpus: CorpusStore, runs: RunStore) -> bool:
    """Return whether a question was asked in the session, and about private documents."""
    if session is None or "model" not in session.settings:
        return False
    if session.collections and corpus.count_sources(Scope(session.collections), PRIVATE_KINDS):
        return True
    return any(each.source.kind in PRIVATE_KINDS for each in runs.passages_of_session(session.id))
