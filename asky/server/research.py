"""The routes of research, and of every other run by its id."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Header, Path, Query, WebSocket
from fastapi.responses import Response

from asky.app.schemas.run import why_object
from asky.app.serving.research import AGENT, ReportForm, ResearchRequest, allowed_documents, export_report
from asky.server.errors import Json, RunConflict, SessionNotFound
from asky.server.models import ApprovalBody, Clarification, Limits, NoteBody, StartResearch
from asky.server.sessions import in_worker
from asky.server.streams import EventStream

if TYPE_CHECKING:
    from asky.app.asky import Asky
    from asky.app.runs import Run
    from asky.app.serving.runs import KeptRun
    from asky.server.sessions import Sessions
    from asky.server.streams import RunStreams

MAX_SEQ = 2**53
_TYPES = {"json": "application/json", "md": "text/markdown", "html": "text/html", "pdf": "application/pdf"}
_PAGE_POLICY = "sandbox allow-scripts allow-popups; frame-ancestors 'none'"
"""Keeps a report, whose own policy allows only its own script, from the origin of the server."""


class ResearchRoutes:
    """Starts, follows, steers and reads runs."""

    def __init__(self, asky: Asky, sessions: Sessions, streams: RunStreams) -> None:
        self._asky = asky
        self._sessions = sessions
        self._streams = streams

    def router(self) -> APIRouter:
        """Return the routes."""
        router = APIRouter(prefix="/api/research", tags=["research"])
        router.add_api_route("/start", self.start, methods=["POST"])
        router.add_api_route("", self.list_sessions, methods=["GET"])
        for name, read in _named(self.status, self.result, self.report, self.sources, self.events):
            router.add_api_route(f"/{{session_id}}/{name}", read, methods=["GET"])
        router.add_api_route("/{session_id}/why/{n}", self.why, methods=["GET"])
        for name, steer in _named(self.stop, self.resume, self.approve, self.answer, self.tell):
            router.add_api_route(f"/{{session_id}}/{name}", steer, methods=["POST"])
        return router

    # starting and steering

    async def start(self, body: StartResearch) -> Response:
        """Start research; returns its `session_id`."""
        request = ResearchRequest(
            query=body.query,
            privacy_mode=body.privacy_mode,
            documents=await in_worker(allowed_documents, body.documents, self._asky.config),
            collections=tuple(body.collections),
            default_documents=body.default_documents,
            library=body.library,
            vault=body.vault,
            web=body.web,
            domain=body.domain,
            model=body.model,
            session=body.session,
            limits=(body.limits or Limits()).as_run_limits(),
            max_cycles=body.max_cycles,
            max_fetches=body.max_fetches,
            clarifies=body.clarify,
        )
        kept = await self._sessions.start_research(request)
        return Json({"session_id": kept.id, "status": "started"})

    async def resume(self, session_id: str) -> Response:
        """Go on with a run that was interrupted, stopped or failed."""
        kept = await self._sessions.resume(session_id)
        return Json({"session_id": kept.id, "status": "started"})

    async def stop(self, session_id: str) -> Response:
        """Have a run end early. Research ends its cycle and writes its report."""
        return Json({"status": await self._sessions.stop(session_id)})

    async def approve(self, session_id: str, body: ApprovalBody) -> Response:
        """Decide about what the run waits to send."""
        pending = (await self._kept(session_id)).pending
        if pending is None or pending.token != body.token:
            raise RunConflict("the run does not wait for this approval", hint="its status says what it waits for")
        pending.settle(is_approved=body.approve)
        return Json({"status": "approved" if body.approve else "declined"})

    async def answer(self, session_id: str, body: Clarification) -> Response:
        """Answer the question that the run waits with."""
        question = (await self._kept(session_id)).question
        if question is None:
            raise RunConflict("the run has no question", hint="its status says what it waits for")
        question.settle(body.text)
        return Json({"status": "answered"})

    async def tell(self, session_id: str, body: NoteBody) -> Response:
        """Tell the run something that it takes into account from its next step on."""
        handle = (await self._kept(session_id)).handle
        assert handle is not None  # as it has an id
        handle.tell(body.note)
        return Json({"status": "told"})

    async def _kept(self, session_id: str) -> KeptRun:
        await self._sessions.require_known(session_id)
        return self._sessions.require_kept(session_id)

    # reading

    async def list_sessions(self, limit: Annotated[int, Query(ge=1, le=1000)] = 20) -> Response:
        """List research, newest first."""
        found = await in_worker(partial(self._sessions.agent.list, limit=limit))
        listed = [
            {
                "session_id": each.id,
                "query": each.query,
                "status": each.status,
                "started_at": _time(each.started_at),
                "cycle": each.cycle,
                "current_phase": each.phase,
                "stop_reason": each.stop_reason,
            }
            for each in found
        ]
        return Json({"schema": "asky.researches/1", "sessions": listed})

    async def status(self, session_id: str) -> Response:
        """Say how far a run is, and what it waits for."""
        outcome = await self._sessions.outcome(session_id)
        kept = self._sessions.kept(session_id)
        state = await self._state(session_id)
        value = {
            "schema": "asky.research_status/1",
            "session_id": session_id,
            "status": outcome.status,
            "saturation_metrics": None,
            "stop_reason": None,
            "waits_for": _waits_for(kept) if kept is not None else None,
            "error": outcome.error,
        }
        return Json(value | state)

    async def _state(self, session_id: str) -> dict[str, Any]:
        run = await self._stored(session_id)
        if run is None or run.mode != AGENT:
            progress = await self._sessions.progress(session_id)
            return {
                "query": run.question if run is not None else self._sessions.asked(session_id),
                "current_phase": progress.phase,
                "sources_queried": progress.sources_queried,
                "entities_found": progress.entities_found,
            }
        state = await in_worker(self._sessions.agent.state, session_id)
        return {
            "query": state["original_query"],
            "refined_query": state["refined_query"],
            "privacy_mode": state["privacy_mode"],
            "domain": state["domain"],
            "started_at": _time(state["started_at"]),
            "current_phase": state["current_phase"],
            "sources_queried": len(state["sources_queried"]),
            "entities_found": len(state["entities_found"]),
            "facts_found": len(state["facts_extracted"]),
            "access_failures": len(state["access_failures"]),
            "saturation_metrics": state["saturation_metrics"],
            "stop_reason": state["stop_reason"],
        }

    async def _stored(self, session_id: str) -> Run | None:
        try:
            return await self._sessions.find(session_id)
        except SessionNotFound:
            return None

    async def result(self, session_id: str) -> Response:
        """Return the answer of a run that has ended, as an `asky.answer/1` object; null if it has none."""
        outcome = await self._sessions.outcome(session_id)
        if outcome.status == "running":
            raise RunConflict("the run is in progress", hint="its status says how far it is")
        value = {"session_id": session_id, "status": outcome.status, "result": outcome.answer, "error": outcome.error}
        return Json(value)

    async def report(
        self, session_id: str, report_format: Annotated[ReportForm, Query(alias="format")] = "json"
    ) -> Response:
        """Return the report of a run with an answer."""
        run = await self._with_answer(session_id)
        file = await in_worker(export_report, self._asky.runs, run, report_format)
        headers = {"content-security-policy": _PAGE_POLICY} if report_format == "html" else {}
        return Response(file, media_type=_TYPES[report_format], headers=headers)

    async def sources(self, session_id: str) -> Response:
        """Return the sources of the answer of a run: used, not used, rejected, and what could not be read of them."""
        answer = (await self._with_answer(session_id)).answer or {}
        value = {"schema": "asky.run_sources/1", "session_id": session_id}
        value |= {name: answer.get(name, []) for name in ("sources", "citations", "rejected", "unread")}
        return Json(value | {"unread_count": answer.get("unread_count", 0)})

    async def why(
        self,
        session_id: str,
        n: Annotated[int, Path(ge=1, le=1_000_000)],
        context: Annotated[int, Query(ge=0, le=100_000)] = 300,
    ) -> Response:
        """Return the stored passage behind citation `n`, in its context, checked again."""
        run = await self._with_answer(session_id)
        opened = await in_worker(partial(self._asky.runs.open_citation, run, n, context_chars=context))
        return Json(why_object(run, opened))

    async def _with_answer(self, session_id: str) -> Run:
        await self._sessions.require_known(session_id)
        run = await self._stored(session_id)
        if run is None or run.answer is None:
            raise RunConflict("the run has no answer yet", hint="its status says how far it is")
        return run

    # following

    async def events(
        self,
        session_id: str,
        after: Annotated[int, Query(ge=0, le=MAX_SEQ)] = 0,
        last_event_id: Annotated[str | None, Header()] = None,
    ) -> Response:
        """Follow a run as server-sent events, from the number after `Last-Event-ID` or `after`."""
        await self._sessions.require_known(session_id)
        return EventStream(self._streams, session_id, _number(last_event_id, after))

    async def follow(self, websocket: WebSocket, session_id: str, after: str = "0") -> None:
        """Follow a run over a WebSocket."""
        await self._streams.websocket(session_id, _number(after, 0), websocket.receive, websocket.send)


def _named(*handlers: Callable[..., Any]) -> list[tuple[str, Callable[..., Any]]]:
    return [(each.__name__, each) for each in handlers]


def _number(text: str | None, otherwise: int) -> int:
    """Return the number of an event, as a client names it."""
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 16 else otherwise


def _waits_for(kept: KeptRun) -> dict[str, Any] | None:
    pending, question = kept.pending, kept.question
    if pending is not None:
        services = [f"{name} ({host})" for name, host in pending.queries.services]
        queries = list(pending.queries.queries)
        approval = {"token": pending.token, "queries": queries, "services": services, "reason": pending.queries.reason}
        return {"approval": approval, "question": None}
    return {"approval": None, "question": question.text} if question is not None else None


def _time(value: object) -> object:
    return value.isoformat() if hasattr(value, "isoformat") else value
