"""Start, follow, stop and resume runs of the research agent, and read their reports."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from asky.agent.domains import GENERAL, DomainSources, available_sources, choose_domain, domains_of, find_domain
from asky.agent.models import PRIVACY_MODES
from asky.agent.models import PrivacyMode as PrivacyMode
from asky.agent.models import ResearchRequest as ResearchRequest
from asky.agent.models import ResearchState as ResearchState
from asky.agent.modes import AGENT
from asky.agent.records import AgentRecords
from asky.agent.records import ResearchSummary as ResearchSummary
from asky.agent.task import AgentTask
from asky.app.inputs import Inputs, session_documents
from asky.app.web import SET_UP_SEARCH, documents_remedy, nothing_to_answer_from, why_no_documents
from asky.concurrency import in_thread
from asky.errors import NotEnoughEvidence, UsageError
from asky.events import Listener, Warned, ignore
from asky.research.web.access import WebAccess
from asky.runs.access import BUILT_IN, is_on_this_machine
from asky.runs.context import Question, raise_for_outcome
from asky.search.catalog import keyless
from asky.storage.scope import Scope
from asky.storage.sessions import own_collection
from asky.values import PRIVATE_KINDS, decline

if TYPE_CHECKING:
    from pathlib import Path

    from asky.agent.domains import DomainConfiguration
    from asky.agent.worker import AgentWorker
    from asky.app.answers import ExportedDocument, Form
    from asky.app.ask import ChatService
    from asky.app.runs import RunService
    from asky.runs.context import RunHandle
    from asky.runs.starter import OpenedSession, RunStarter
    from asky.values import Answer, Approve, Clarify
    from asky.wiring import Services


_UNREAD = "none of the pages that were found could be read"
_MAX_SERVICES = 5
_UNKNOWN_SCORE = 0.25
"""Where a service stands that was never asked: before those that gave little, behind those that gave much."""


@dataclass(frozen=True, slots=True)
class LeftOutServices:
    """Search services without a key that a field would ask first and that are not set up; `used` are those that are."""

    domain: str
    names: tuple[str, ...]
    used: tuple[str, ...]

    def words(self) -> str:
        """Return that they are left out, in words."""
        return f"research in the field {self.domain} searches {', '.join(self.names)} first, which are not set up"


class AgentService(AgentRecords):
    """Runs of the research agent. Synchronous methods read; `start` and `resume` are to be entered."""

    def __init__(self, services: Services, chat: ChatService, runs: RunService) -> None:
        super().__init__(services.runs)
        self._runs_exported = runs
        self._services = services
        self._chat = chat

    @asynccontextmanager
    async def start(
        self,
        request: ResearchRequest,
        *,
        listen: Listener = ignore,
        notes: Callable[[], Sequence[str]] = tuple,
        approve: Approve = decline,
        clarify: Clarify | None = None,
    ) -> AsyncIterator[RunHandle]:
        """Research a question in the background of the body; leaving the body cancels the run if it has not finished.

        `notes` is called before each cycle for what the user adds, `approve` is asked before words of private documents
        are sent to search services, and `clarify` what is meant, if the request allows it. Documents are read first.

        Raises `UsageError` for an empty question, an unknown mode or domain, a missing file, and a model that may not
        see the sources, and `NotConfigured` without anything to search.
        """
        _require_usable(request)
        starter, services = self._starter, self._services
        model = await in_thread(self._model_for, request)
        inputs = Inputs(services, listen)
        for path in request.documents:
            await inputs.add_document(path)
        if await in_thread(self._uses_vault, request):
            await services.notes.index(embed=False)
        opened = await in_thread(self._open, starter, request, model)
        told = list(opened.told)
        inputs.emit = told.append
        question = await in_thread(self._question, request, inputs, opened)
        opened = replace(opened, told=tuple(told))
        ask = clarify if request.clarifies else None
        async with starter.start(opened, question, listen=listen, notes=notes, approve=approve, clarify=ask) as run:
            yield run

    @asynccontextmanager
    async def resume(
        self,
        run_id: str,
        *,
        listen: Listener = ignore,
        notes: Callable[[], Sequence[str]] = tuple,
        approve: Approve = decline,
        clarify: Clarify | None = None,
    ) -> AsyncIterator[RunHandle]:
        """Go on with a run that was interrupted, cancelled or has failed, with what it has recorded; see `start`.

        Raises `UsageError` for a run that has ended, or that another process has.
        """
        found = await in_thread(self.find, run_id)
        resumed = self._chat.resume(found, listen=listen, notes=notes, approve=approve, clarify=clarify)
        async with resumed as handle:
            yield handle

    def export(self, run_id: str, form: Form, folder: Path | None = None) -> ExportedDocument:
        """Return the report of a run in a format, for a file in `folder` if that is known.

        Raises `UsageError` before there is one.
        """
        report = self.keep_report(run_id)
        return self._runs_exported.export_answer(report.answer, form, folder)

    def raise_for_outcome(self, answer: Answer) -> None:
        """Raise the error of an answer that is incomplete or without evidence, or that no page was read for."""
        raise_for_outcome(answer, self._services.runs, strict=False)
        if self.has_only_failed(answer.run):
            raise NotEnoughEvidence(_UNREAD, hint="the report says why, and rests on what search services say")

    def left_out_services(self, request: ResearchRequest) -> LeftOutServices | None:
        """Return the services without a key that the field of a question lacks, although the web is searched.

        `None` if it has a service of its first choice, or is kept off the web. Raises `UsageError` for an unknown
        field.
        """
        if request.privacy_mode == "local_only" or not request.web:
            return None
        domain, used = self._domain(request), [each.name for each in self._services.web().providers]
        names = tuple(each for each in domain.primary_sources if each in keyless())
        if not used or not names or any(each in domain.primary_sources for each in used):
            return None
        return LeftOutServices(domain.domain, names, tuple(used))

    # starting

    @property
    def _starter(self) -> RunStarter[AgentWorker]:
        return self._services.agent_starter

    def _model_for(self, request: ResearchRequest) -> str | None:
        """Return the model to use: without a named one, a run that stays local gets one that does."""
        if request.model is not None or request.privacy_mode != "local_only":
            return request.model
        is_local = is_on_this_machine(self._services.models.model(None))
        return None if is_local else BUILT_IN

    def _uses_vault(self, request: ResearchRequest) -> bool:
        """Return whether the notes are a source: by default where they stay on this machine."""
        wanted = request.vault if request.vault is not None else request.privacy_mode != "cloud_allowed"
        return wanted and self._services.config.notes.vault is not None

    def _open(
        self, starter: RunStarter[AgentWorker], request: ResearchRequest, model: str | None
    ) -> OpenedSession[AgentWorker]:
        return starter.open(
            request.session,
            model,
            request.limits,
            offline=request.privacy_mode == "local_only",
            private_stays=request.privacy_mode == "hybrid",
        )

    def _question(self, request: ResearchRequest, inputs: Inputs, opened: OpenedSession[AgentWorker]) -> Question:
        services = self._services
        local = ["documents"] * bool(inputs.collections)
        inputs.add_collections(request.collections, opened.session, default_documents=request.default_documents)
        earlier = session_documents(services, opened.session) if request.default_documents else ()
        collections = [*earlier, *inputs.collections]
        local += request.collections or ["documents"] * bool(collections and not local)
        if request.library and services.papers.papers():
            collections.append(services.papers.collection())
            local.append("library")
        if self._uses_vault(request):
            collections += services.notes.scope().collections or ()
            local.append("vault")
        query, domain = " ".join(request.query.split()), self._domain(request)
        if (left_out := self.left_out_services(request)) is not None:
            inputs.emit(Warned(f"{left_out.words()}: they need no key, and `asky setup` turns them on"))
        sources = self._sources(request, domain)
        web = self._web(opened, domain, sources.available)
        if web is None and not collections:
            raise self._nothing_to_search(request)
        own = (*collections, *((web.collection_id,) if web is not None else ()))
        config = services.config.agent
        task = AgentTask(
            request.privacy_mode,
            request.max_cycles or config.max_cycles,
            config.max_fetches if request.max_fetches is None else request.max_fetches,
            config.stopping_rule,
            domain.domain,
            sources.available if web is not None else (),
            sources.unavailable,
            tuple(dict.fromkeys(collections)),
            tuple(dict.fromkeys(local)),
            bool(collections and services.corpus.count_sources(Scope(tuple(collections)), PRIVATE_KINDS)),
            str(request.export_path.absolute()) if request.export_path is not None else None,
        )
        rejected = tuple(inputs.rejected)
        if web is None:
            inputs.require_readable(Scope(own))
        unread = inputs.unread_of(tuple(collections))
        return Question(query, query, AGENT, Scope(own), rejected, web=web, task=task.encode(), unread=unread)

    def _domain(self, request: ResearchRequest) -> DomainConfiguration:
        domains = domains_of(self._services.config.agent.domains)
        return find_domain(request.domain, domains) if request.domain else choose_domain(request.query, domains)

    def _nothing_to_search(self, request: ResearchRequest) -> UsageError:
        """Return the error for a question with neither sources of the user nor the web, with the remedy."""
        services, uses_default = self._services, request.default_documents
        documents = documents_remedy(services, default_documents=uses_default)
        lacking = why_no_documents(services, default_documents=uses_default) or "no documents are kept"
        if request.privacy_mode == "local_only":
            why = "the privacy mode local_only keeps the question off the web"
            return nothing_to_answer_from([lacking, why], f"{documents}, or choose another --privacy")
        if not request.web:
            why = "--no-web turns the web off"
            return nothing_to_answer_from([lacking, why], f"{documents}, or leave --no-web out")
        return nothing_to_answer_from([lacking, "no search service is set up"], f"{documents}, {SET_UP_SEARCH}")

    def _sources(self, request: ResearchRequest, domain: DomainConfiguration) -> DomainSources:
        """Return the search services of a field that are set up, those that gave most before first."""
        if request.privacy_mode == "local_only" or not request.web:
            return DomainSources((), ())
        found = available_sources(domain, [each.name for each in self._services.web().providers])
        scores = dict(self._services.source_records.get_ranked_sources(domain.domain))
        ranked = sorted(found.available, key=lambda name: -scores.get(name, _UNKNOWN_SCORE))
        missing = () if domain.domain == GENERAL and ranked else found.unavailable  # any one does for the whole web
        return replace(found, available=tuple(ranked[:_MAX_SERVICES]), unavailable=missing)

    def _web(
        self, opened: OpenedSession[AgentWorker], domain: DomainConfiguration, names: tuple[str, ...]
    ) -> WebAccess | None:
        services = self._services
        if not names:
            return None
        collection_id = services.corpus.collection(own_collection(opened.session.id), create=True)
        policy = services.web().policy
        denied = tuple(dict.fromkeys((*policy.deny_domains, *domain.denied_domains)))
        policy = replace(policy, deny_domains=denied)
        return WebAccess(collection_id, shortlist=False, policy=policy, services=names)


def _require_usable(request: ResearchRequest) -> None:
    if not request.query.strip():
        raise UsageError("the question is empty")
    if request.max_cycles is not None and request.max_cycles < 1:
        raise UsageError("max_cycles must be at least 1")
    if request.privacy_mode not in PRIVACY_MODES:
        raise UsageError(
            f"unknown privacy mode: {request.privacy_mode[:40]!r}", hint=f"one of {', '.join(PRIVACY_MODES)}"
        )
