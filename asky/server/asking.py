"""The routes of questions for the chat, and of passages."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import anyio
from fastapi import APIRouter, Query
from fastapi.responses import Response

from asky.app.requests import AskRequest, WebOptions
from asky.app.schemas.search import hits_object
from asky.app.serving.documents import sources_object
from asky.errors import Interrupted
from asky.server.errors import Json
from asky.server.models import AskQuestion, Limits, SearchPassages
from asky.server.sessions import answer_of, in_worker

if TYPE_CHECKING:
    from asky.app.asky import Asky
    from asky.app.serving.runs import KeptRun
    from asky.server.sessions import Sessions


class AskingRoutes:
    """Answers questions and finds passages."""

    def __init__(self, asky: Asky, sessions: Sessions, stopping: anyio.Event) -> None:
        self._asky = asky
        self._sessions = sessions
        self._stopping = stopping

    def router(self) -> APIRouter:
        """Return the routes."""
        router = APIRouter(prefix="/api", tags=["questions"])
        router.add_api_route("/ask", self.ask, methods=["POST"])
        router.add_api_route("/sources", self.sources, methods=["GET"])
        router.add_api_route("/search", self.search_by_url, methods=["GET"])
        router.add_api_route("/search", self.search, methods=["POST"])
        return router

    async def sources(self) -> Response:
        """Say what a question that names nothing is answered from, as an `asky.own_sources/1` object."""
        return Json(await in_worker(sources_object, self._asky.services))

    async def ask(self, body: AskQuestion) -> Response:
        """Answer a question; the reply is an `asky.answer/1` object, or without `wait` where to follow the run.

        The run goes on if the connection is lost.
        """
        request = AskRequest(
            question=body.question,
            mode=body.mode,
            session=body.session,
            collections=tuple(body.collections),
            default_documents=body.default_documents,
            web=WebOptions(allowed=body.web),
            model=body.model,
            limits=(body.limits or Limits()).as_run_limits(),
            offline=body.offline,
        )
        chat = self._asky.chat
        kept = await self._sessions.start(lambda kept: chat.start(request, approve=kept.approve))
        kept.asked = body.question
        if not body.wait:
            place = f"/api/research/{kept.id}"
            return Json({"session_id": kept.id, "status": "started", "events": f"{place}/events"}, 202)
        await self._end(kept)
        return Json(answer_of(kept))

    async def _end(self, kept: KeptRun) -> None:
        """Wait for the end of a run. Raises `Interrupted` if the server ends before."""
        async with anyio.create_task_group() as group:

            async def give_up() -> None:
                await self._stopping.wait()
                group.cancel_scope.cancel()

            group.start_soon(give_up)
            await kept.ended()
            group.cancel_scope.cancel()
        if not kept.has_ended:
            raise Interrupted("the server is stopping", hint=f"`asky runs resume {kept.id}` goes on")

    async def search(self, body: SearchPassages) -> Response:
        """Return the passages that match best, as an `asky.hits/1` object."""
        return await self._found(body.query, body.limit, body.collection)

    async def search_by_url(
        self,
        q: Annotated[str, Query(min_length=1, max_length=10_000)],
        limit: Annotated[int, Query(ge=1, le=50)] = 10,
        collection: Annotated[str | None, Query(max_length=200)] = None,
    ) -> Response:
        """Return the passages that match best, as an `asky.hits/1` object."""
        return await self._found(q, limit, collection)

    async def _found(self, query: str, limit: int, collection: str | None) -> Response:
        search = self._asky.search
        scope = await in_worker(search.resolve_collection, collection)
        hits = await in_worker(partial(search.search_in, scope, query, limit=limit))
        return Json(hits_object(query, hits, scope.unread))
