"""How questions are asked: what was typed here, and what follows from the session that they are asked in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic

from asky.cli.choices import C
from asky.cli.terminal import one_line
from asky.errors import ConfigError, NotConfigured
from asky.storage.scope import Scope

if TYPE_CHECKING:
    from asky.cli.workbench import Workbench
    from asky.storage.sessions import Session
    from asky.values import SourceKind

BUILT_IN = "extractive"
"""The name of the model that needs no configuration."""
_PRIVATE_KINDS: tuple[SourceKind, ...] = ("file", "note")


@dataclass(frozen=True, slots=True)
class Manner(Generic[C]):
    """`typed` is what the user said here, `session` the one that was joined, as it was then.

    Neither is ever written into the other, so that what one session says is not taken for the user's word in the next:
    its model could be sent the documents of a session that it was kept from. `stays_built_in` says that no other model
    has seen the private documents of the session, and that none sees them before one is typed.
    """

    typed: C
    session: Session | None = None
    stays_built_in: bool = False

    @property
    def choices(self) -> C:
        """How the next question is asked: as was typed, and else as the session says."""
        followed = self.typed.following(self.session)
        return replace(followed, model=BUILT_IN) if self.stays_built_in and followed.model is None else followed

    @property
    def chosen_model(self) -> str | None:
        """The name of the model that the user chose, here or in the session before; `None` where that was left open."""
        return self.typed.following(self.session).model

    def typing(self, **changes: Any) -> Manner[C]:
        """With more that was typed, by the names of the fields of `Choices`."""
        return replace(self, typed=replace(self.typed, **changes))


def join(bench: Workbench, typed: C, session: Session | None) -> Manner[C]:
    """What was `typed`, in `session` or in a new one. Whether its model is still there is not looked up."""
    manner = Manner(typed, session)
    if manner.chosen_model is not None or not _holds_private(bench, session):
        return manner
    return replace(manner, stays_built_in=bench.services.config.model(None).provider is not None)


def leave_for(bench: Workbench, left: Manner[C], session: Session | None) -> Manner[C]:
    """What was typed before `session`, or a new one, is gone to.

    Documents stay with the session that they were named in, and one that was kept off the web stays off it.
    """
    is_off = session is not None and session.settings.get("web") is False
    web = None if is_off and left.typed.web else left.typed.web
    return join(bench, replace(left.typed, docs=(), collection=(), web=web), session)


def tell_model(bench: Workbench, manner: Manner[C], *, left: str | None = None) -> None:
    """Tell a user whose session was asked with another model until now, or stays with the built-in one.

    So is one who was asking a model called `left`, and another one now. Raises what `Config.model` does where the model
    is gone.
    """
    now = manner.choices.model
    asked_with, chosen = _asked_with(bench, manner.session), bench.services.config.model(now).name
    placed, told = _placed(bench, now), None
    if manner.typed.model is not None and asked_with not in (None, chosen):
        told = f"answers come from {placed} now: this session was asked with {asked_with} until now"
    elif manner.typed.model is None and manner.stays_built_in:
        default = _placed(bench, None)
        told = f"answers come from {BUILT_IN} as before: this session has documents, and {default} has to be chosen"
    elif left not in (None, chosen):
        told = f"answers come from {placed} now"
    if told is not None:
        bench.terminal.note(told)


def _asked_with(bench: Workbench, session: Session | None) -> str | None:
    """The name of the model that the session was asked with last; `None` where it was not asked yet."""
    if session is None or "model" not in session.settings:
        return None
    name = session.settings["model"] or BUILT_IN
    try:
        return one_line(bench.services.config.model(name).name)
    except (ConfigError, NotConfigured):  # it is gone, and another one was typed
        return one_line(name)


def _placed(bench: Workbench, name: str | None) -> str:
    """The model of that name, or the default one, and the host that it is asked at."""
    from urllib.parse import urlsplit  # 10 ms: not for a usage error

    chosen = bench.services.config.model(name)
    if chosen.provider is None:
        return chosen.name
    return f"{one_line(chosen.name)} at {urlsplit(chosen.provider.base_url).netloc.rpartition('@')[2]}"


def _holds_private(bench: Workbench, session: Session | None) -> bool:
    """Whether something was asked in the session, and of private documents."""
    if session is None or "model" not in session.settings:
        return False
    services = bench.services
    if session.collections and services.corpus.count_sources(Scope(session.collections), _PRIVATE_KINDS):
        return True
    return any(each.source.kind in _PRIVATE_KINDS for each in services.runs.passages_of_session(session.id))
