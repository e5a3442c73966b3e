"""Questions as values, and how their open options follow from the session."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from asky.chat.modes import Mode as Mode
from asky.config.limits import RunLimits as RunLimits
from asky.errors import ConfigError, NotConfigured, UsageError
from asky.research.local.spelling import as_on_disk
from asky.runs.access import BUILT_IN, Access, naming_session, note_built_in_stays
from asky.text.scrub import one_line

if TYPE_CHECKING:
    from asky.config.loader import Config
    from asky.storage.sessions import Session, SessionStore
    from asky.wiring import Services

_OFFERS = 2
BUILT_IN_ANSWERS = "no model is configured: answering with sentences quoted from the sources"
_ALL_SESSIONS_NEEDS_RESEARCH = "--all-sessions needs research mode: only research recalls findings"

Item = TypeVar("Item")
Notes = Callable[[], Sequence[str]]
"""Returns the notes that the user has typed since the last call."""
Recall = Literal["session", "all"]
"""The findings that a question in research mode recalls: those of its session, or all."""


DocumentName = Path | str
"""A file or folder, or as text the target of an adapter."""


def document_name(name: Path | str) -> DocumentName:
    """Return `name` as a path as it is on disk, unless it is the target of an adapter, such as `wiki://releases`."""
    return name if isinstance(name, str) and is_address(name) else as_on_disk(Path(name))


def is_address(name: str) -> bool:
    """Return whether `name` is a URL or a target rather than a path; `file://` names a path."""
    return "://" in name and not name.casefold().startswith("file://")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A text that a question is about; `name` is its title. It becomes a source of the session."""

    text: str
    name: str = "standard input"


@dataclass(frozen=True, slots=True, kw_only=True)
class WebOptions:
    """The web options of a question.

    If `allowed` is `None`, the web is used unless the question names documents or the session forbids it; `True` makes
    it an error if no search service is set up. `sites` are the only domains to use or, with a leading `-`, domains to
    exclude; nothing published before `since` is used (`2024`, `2024-05-01`, `30d`, `6m`, `1y`). `shortlist` says
    whether sources are selected and read before the first model call. `queries` replace the queries derived from the
    question.
    """

    allowed: bool | None = None
    sites: tuple[str, ...] = ()
    since: str | None = None
    shortlist: Literal["auto", "on", "off"] = "auto"
    queries: tuple[str, ...] = ()

    @property
    def narrows(self) -> bool:
        """`True` if sources are restricted by site or date."""
        return bool(self.sites) or self.since is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskRequest:
    """A question and its options; open ones follow from the session, or else from the configuration.

    `session` is a name or an id: an unknown name creates a session, `None` creates one with a generated name.
    `resume_last` continues the most recently used session instead, or with `session` that one only if it exists.
    `documents` are files, folders and targets of adapters, updated first; `collections` are names of `asky corpus`.
    Without `default_documents`, neither the documents that are kept nor those named before in the session are used.
    `model` is an alias of models.toml or `PROVIDER:ID`. With `offline`, only this machine is used. `instructions` for
    the model follow asky's own in its system prompt. With `note_tools`, the model may find notes of the vault, if there
    is one, and research them.
    """

    question: str
    mode: Mode | None = None
    session: str | None = None
    resume_last: bool = False
    documents: tuple[DocumentName, ...] = ()
    collections: tuple[str, ...] = ()
    default_documents: bool = True
    attachments: tuple[Attachment, ...] = ()
    web: WebOptions = field(default_factory=WebOptions)
    model: str | None = None
    limits: RunLimits = field(default_factory=RunLimits)
    recall: Recall = "session"
    offline: bool = False
    instructions: str = ""
    note_tools: bool = False

    def __post_init__(self) -> None:
        for name in ("documents", "collections", "attachments"):
            object.__setattr__(self, name, as_tuple(name, getattr(self, name)))
        object.__setattr__(self, "documents", tuple(document_name(each) for each in self.documents))


def as_tuple(name: str, values: Iterable[Item]) -> tuple[Item, ...]:
    """Return the values of the argument `name` as a tuple. Raises `TypeError` for a single text or path."""
    if isinstance(values, (str, Path)):
        raise TypeError(f"{name} takes a sequence, not {values!r}")
    return tuple(values)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedAsk:
    """A request with all options resolved.

    `session` is the session as it is now, or `None` if it has yet to be created. `model` is the name of the model that
    answers, or `None` for the configured default, and `chosen_model` the one that later questions of the session use.
    `web` is `None` if the question may not use the web. `has_own_text` says that it comes with texts or names files.
    `notes` say which model answers if that is not obvious.
    """

    request: AskRequest
    session: Session | None
    mode: Mode
    model: str | None
    chosen_model: str | None
    access: Access
    web: WebOptions | None
    has_own_text: bool = False
    notes: tuple[str, ...] = ()

    @property
    def requires_web(self) -> bool:
        """`True` if it is an error that nothing is set up for the web."""
        return self.web is not None and (self.request.web.allowed is True or self.web.narrows)


def resolve(request: AskRequest, services: Services, has_own_text: bool) -> ResolvedAsk:
    """Return `request` with all options resolved. Nothing is written and no host but this machine is contacted.

    `has_own_text` says that the question comes with texts or names files. Raises `UsageError` if options contradict
    each other or the session, or there is no session to continue.
    """
    resolved = resolve_in(request, find_session(services.sessions, request), services, has_own_text=has_own_text)
    check_resolved(resolved)
    with naming_session(resolved.session, request.model):
        return replace(resolved, notes=tuple(_opening_notes(resolved, services)))


def resolve_in(
    request: AskRequest, session: Session | None, services: Services, *, has_own_text: bool = False
) -> ResolvedAsk:
    """Return `request` resolved for `session`; `check_resolved` checks for contradictions."""
    mode, web = _follow(request, session, has_own_text=has_own_text)
    settings = session.settings if session is not None else {}
    chosen = request.model or settings.get("model")
    access = Access.of_session(session, chosen, services.corpus, services.runs, offline=request.offline)
    return ResolvedAsk(
        request=request,
        session=session,
        mode=mode,
        model=BUILT_IN if access.only_built_in else chosen,
        chosen_model=chosen,
        access=access,
        web=web,
        has_own_text=has_own_text,
    )


def find_session(sessions: SessionStore, request: AskRequest) -> Session | None:
    """Return the session of `request`, or `None` if it has yet to be created.

    `resume_last` means the most recently used session in which something was asked; with a name, that session. Raises
    `UsageError` if there is none.
    """
    if request.session is not None:
        found = sessions.find(request.session)
        if found is None and request.resume_last:
            raise UsageError(
                f"there is no session {one_line(request.session)!r} to continue", hint="-s alone starts it"
            )
        return found
    if not request.resume_last:
        return None
    for id_ in sessions.names():
        last = sessions.find(id_)
        if last is not None and (last.messages or sessions.run_ids(id_)):  # or its first question is being answered
            return last
    raise UsageError("there is no session to continue", hint="leave -c out to start one")


def _follow(
    request: AskRequest, session: Session | None, *, has_own_text: bool = False
) -> tuple[Mode, WebOptions | None]:
    """Return the mode, and the web options or `None` if the web may not be used.

    Naming documents keeps the question off the web, in an existing session as in a new one, and so do texts that come
    with it and files that it names, unless it also says which pages it wants. Earlier use of the web does not require
    it now: the search service may be gone.
    """
    settings: dict[str, Any] = dict(session.settings) if session is not None else {}
    requested = request.web
    allowed = False if requested.allowed is None and settings.get("web") is False else requested.allowed
    mode = request.mode or _mode_of(session, allowed)
    names_documents = bool(request.documents or request.collections) or (has_own_text and not requested.narrows)
    if mode == "lean" or allowed is False or (names_documents and allowed is not True):
        return mode, None
    return mode, replace(
        requested,
        allowed=allowed,
        sites=_sites(requested.sites, settings.get("sites", ())) if settings else requested.sites,
        since=requested.since or settings.get("since"),
        shortlist=settings.get("shortlist", "auto") if requested.shortlist == "auto" else requested.shortlist,
    )


def _mode_of(session: Session | None, allowed: bool | None) -> Mode:
    """Return the mode of the session, but `standard` for a lean session if the web is allowed now."""
    if session is None or (session.mode == "lean" and allowed is True):
        return "standard"
    mode: Mode = session.mode  # type: ignore[assignment] # as it was written from a request
    return mode


def _sites(requested: Sequence[str], earlier: Sequence[str]) -> tuple[str, ...]:
    """Return `requested`, added to the `earlier` sites of the session if it only excludes domains."""
    if not all(each.startswith("-") for each in requested):
        return tuple(requested)
    kept = [each for each in earlier if f"-{each}" not in requested]
    return tuple(dict.fromkeys([*kept, *requested]))


def check_resolved(resolved: ResolvedAsk) -> None:
    """Raise `UsageError` if options contradict each other or the session."""
    request = resolved.request
    if request.recall == "all" and resolved.mode != "research":
        raise UsageError(_ALL_SESSIONS_NEEDS_RESEARCH, hint="add -r")
    if request.mode == "lean" and request.web.allowed is True:
        raise UsageError("-L and --web cannot be combined", hint="use one of them")
    options = resolved.web or request.web
    if not options.narrows:
        return
    if resolved.web is None:
        hint = "leave them out, or add --web"
        raise UsageError("--site and --since need the web, which this question does not use", hint=hint)
    from asky.research.source_policy import SourcePolicy  # only if sources are restricted

    SourcePolicy().narrowed(options.sites, options.since, today=datetime.now(timezone.utc).date())


def lacks_model(resolved: ResolvedAsk, config: Config) -> bool:
    """Return whether the built-in model answers because nobody has chosen a model, be it this one."""
    is_open = resolved.chosen_model is None and not config.is_default_chosen
    return is_open and config.model(None).provider is None


def _opening_notes(resolved: ResolvedAsk, services: Services) -> Iterator[str]:
    """Yield the notes for the user before a question is answered. Raises as `model_notes` does.

    That no model is configured is noted once in a conversation.
    """
    yield from model_notes(resolved, services.config)
    is_first = resolved.session is None or not resolved.session.messages
    if is_first and lacks_model(resolved, services.config):
        yield BUILT_IN_ANSWERS
        from asky.llm.endpoint.available import find_available  # only if no model is configured

        found = find_available(services.config.providers, services.environ)
        yield from (each.offer() for each in found[:_OFFERS])


def model_notes(resolved: ResolvedAsk, config: Config, *, previous: str | None = None) -> Iterator[str]:
    """Yield notes for the user if a different model answers than before.

    That is: the session was last asked with another model, or stays with the built-in one, or `previous`, the model of
    the conversation so far, is another one. Raises as `Config.model` does if the model is gone.
    """
    chosen = config.model(resolved.model).name
    previous_model = _previous_model(resolved.session, config)
    model = _model_and_host(config, resolved.model)
    if resolved.request.model is not None and previous_model not in (None, chosen):
        yield f"now answering with {model}; this session used {previous_model} before"
    elif resolved.access.only_built_in and config.model(None).provider is not None:
        yield note_built_in_stays(_model_and_host(config, None))
    elif previous not in (None, chosen):
        yield f"now answering with {model}"


def _previous_model(session: Session | None, config: Config) -> str | None:
    """Return the name of the model that last answered in the session, or `None` if there is none."""
    if session is None or "model" not in session.settings:
        return None
    name = session.settings["model"] or BUILT_IN
    try:
        return one_line(config.model(name).name)
    except (ConfigError, NotConfigured):  # it is gone, and another model was chosen
        return one_line(name)


def _model_and_host(config: Config, name: str | None) -> str:
    """Return the name of a model, by default the default one, with its host."""
    from urllib.parse import urlsplit  # 10 ms: not for a usage error

    chosen = config.model(name)
    if chosen.provider is None:
        return chosen.name
    return f"{one_line(chosen.name)} at {urlsplit(chosen.provider.base_url).netloc.rpartition('@')[2]}"
