"""The server over HTTP: who may use it, in both eras of the protocol, and how it ends."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.to_thread
import httpx2
import pytest
from mcp import Client, types
from mcp.client.streamable_http import streamable_http_client

from asky.app.serving.http import open_socket
from asky.mcp.http import MAX_BODY, MAX_SESSIONS, PATH, serve_http
from asky.mcp.server import McpServer
from tests.support.endpoint import Answer, Call, Wire
from tests.support.hosts import ERAS, value_of
from tests.support.lab import ASKED, SECRET, Lab
from tests.support.twins.web import SearxngTwin

pytestmark = pytest.mark.anyio

TOKEN = "a-token-of-the-tests"
BEARER = {"authorization": f"Bearer {TOKEN}"}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    value: str = request.param
    return value


@dataclass
class Served:
    """A server over HTTP; `port` is where it listens."""

    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{PATH}"

    @asynccontextmanager
    async def host(self, era: str, **options: Any) -> AsyncIterator[Client]:
        """A client that knows the token."""
        async with (
            httpx2.AsyncClient(headers=BEARER, timeout=60) as http,
            Client(streamable_http_client(self.url, http_client=http), mode=era, **options) as client,
        ):
            yield client

    async def status(self, headers: dict[str, str], content: bytes | None = None, path: str = PATH) -> int:
        """The status of a request with these headers."""
        accept = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
        async with httpx2.AsyncClient(timeout=60) as http:
            url = f"http://127.0.0.1:{self.port}{path}"
            body = {"json": PING} if content is None else {"content": content}
            return (await http.post(url, headers=accept | headers, **body)).status_code


@asynccontextmanager
async def serving(
    lab: Lab, *, host: str = "127.0.0.1", wait_s: float = 50.0, names: tuple[str, ...] = (), **environ: str
) -> AsyncIterator[Served]:
    """A server of the lab on a free port."""
    with lab.open(**environ) as asky:
        await asky.corpus.add([lab.private])
        listening, started = open_socket(host, 0), anyio.Event()
        server = McpServer(asky, lab.environ(), wait_s=wait_s).build()
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: serve_http(server, listening, TOKEN, host=host, names=names, started=started.set))
            await started.wait()
            yield Served(listening.getsockname()[1])
            group.cancel_scope.cancel()


async def test_tools_answer_and_report_progress(lab: Lab, era: str) -> None:
    heard: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    async with serving(lab) as served, served.host(era) as client:
        answer = value_of(await client.call_tool("ask", {"question": ASKED}, progress_callback=note))
    assert SECRET in answer["answer"]
    assert len(heard) > 2
    assert heard == sorted(set(heard))


@pytest.mark.few(1)
@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
async def test_only_known_names_with_the_token_pass_on_any_address(lab: Lab, host: str) -> None:
    async with serving(lab, host=host) as served:
        port = served.port
        for headers, status in [
            ({}, 401),
            ({"authorization": "Bearer"}, 401),
            ({"authorization": f"Basic {TOKEN}"}, 401),
            ({"authorization": f"Bearer {TOKEN}x"}, 401),
            (BEARER | {"host": f"evil.example:{port}"}, 421),
            (BEARER | {"host": "127.0.0.1"}, 421),
            (BEARER | {"host": f"127.0.0.1:{port}.evil.example"}, 421),
            (BEARER | {"host": f"0.0.0.0:{port}"}, 421),
            (BEARER | {"origin": "http://evil.example"}, 403),
            (BEARER | {"origin": "null"}, 403),
            (BEARER | {"origin": f"https://127.0.0.1:{port}"}, 403),
        ]:
            assert await served.status(headers) == status, headers
        assert await served.status(BEARER | {"origin": f"http://localhost:{port}"}) not in (401, 403, 421)
        assert await served.status({}, path="/.well-known/oauth-protected-resource") == 401
        async with served.host("2026-07-28") as client:
            assert (await client.list_tools()).tools


async def test_a_name_that_the_user_adds_passes(lab: Lab) -> None:
    async with serving(lab, host="0.0.0.0", names=("desk.lan",)) as served:
        assert await served.status(BEARER | {"host": f"desk.lan:{served.port}"}) not in (401, 403, 421)


async def test_a_request_that_is_too_large_is_refused_and_no_page_may_read_replies(lab: Lab) -> None:
    async with serving(lab) as served:
        assert await served.status(BEARER, b" " * (MAX_BODY + 1)) == 413
        async with httpx2.AsyncClient() as http:
            asked = {"origin": "http://evil.example", "access-control-request-method": "POST"}
            reply = await http.options(served.url, headers=asked)
        assert reply.status_code == 403
        assert not [name for name in reply.headers if name.startswith("access-control")]


@pytest.mark.few(1)
async def test_an_answer_that_takes_long_is_fetched_over_another_connection(lab: Lab, era: str) -> None:
    lab.endpoint.play(Answer("The harbour is deep.", wire=Wire(silent_before_headers=True)))
    async with serving(lab, wait_s=0.5, ASKY_MODEL="far") as served:
        async with served.host(era) as client:
            begun = value_of(await client.call_tool("ask", {"question": "How deep is the harbour?"}))
        assert begun["status"] in ("starting", "running")
        lab.endpoint.release()
        async with served.host(era) as client:
            status = begun
            while status["status"] not in ("finished", "failed"):
                status = value_of(await client.call_tool("run_status", {"run": begun["run"], "wait_s": 50}))
    assert status["answer"]["answer"].startswith("The harbour is deep.")


async def test_the_longest_idle_session_makes_room_and_none_with_a_call_in_progress(lab: Lab) -> None:
    """Hosts that never end their sessions fill a server."""
    lab.endpoint.play(Answer("The harbour is deep.", wire=Wire(silent_before_headers=True)))
    given = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    asked = {"name": "ask", "arguments": {"question": "How deep is the harbour?"}}
    headers = BEARER | {"accept": "application/json, text/event-stream"}

    def request(method: str, params: dict[str, Any]) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": method, "method": method, "params": params}

    async with serving(lab, ASKY_MODEL="far") as served, httpx2.AsyncClient(headers=headers, timeout=60) as http:

        async def open_session() -> dict[str, str]:
            reply = await http.post(served.url, json=request("initialize", given))
            assert reply.status_code == 200
            session = {"mcp-session-id": reply.headers["mcp-session-id"]}
            begun = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            assert (await http.post(served.url, json=begun, headers=session)).status_code == 202
            return session

        async def status(session: dict[str, str]) -> int:
            return (await http.post(served.url, json=request("ping", {}), headers=session)).status_code

        async with anyio.create_task_group() as group:
            calling, idle, used = [await open_session() for _ in range(3)]
            group.start_soon(lambda: http.post(served.url, json=request("tools/call", asked), headers=calling))
            await anyio.to_thread.run_sync(lab.endpoint.wait_for_requests, 1)
            others = [await open_session() for _ in range(MAX_SESSIONS - 3)]
            assert await status(used) == 200
            newest = [await open_session() for _ in range(2)]
            found = [await status(each) for each in (idle, others[0], calling, used, others[1], *newest)]
            assert found == [404, 404, 200, 200, 200, 200, 200]
            lab.endpoint.release()


async def test_a_cancelled_call_closes_its_connection_within_a_second(lab: Lab, era: str) -> None:
    lab.endpoint.play(Answer("The harbour is deep.", wire=Wire(silent_before_headers=True)))
    async with serving(lab, ASKY_MODEL="far") as served, served.host(era) as client:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "ask", {"question": "How deep is the harbour?"})
            await anyio.to_thread.run_sync(lab.endpoint.wait_for_requests, 1)
            group.cancel_scope.cancel()
        with anyio.fail_after(1.0):
            await anyio.to_thread.run_sync(lab.endpoint.wait_for_abandoned, abandon_on_cancel=True)


async def test_a_host_that_goes_away_stops_what_only_it_waited_for(lab: Lab) -> None:
    era = "2026-07-28"  # before, a lost connection is no cancellation
    lab.endpoint.play(Answer("The harbour is deep.", wire=Wire(silent_before_headers=True)))
    async with serving(lab, ASKY_MODEL="far") as served:
        async with anyio.create_task_group() as group:

            async def go_away() -> None:
                async with served.host(era) as client, anyio.create_task_group() as calls:
                    calls.start_soon(client.call_tool, "ask", {"question": "How deep is the harbour?"})
                    await anyio.sleep_forever()

            group.start_soon(go_away)
            await anyio.to_thread.run_sync(lab.endpoint.wait_for_requests, 1)
            group.cancel_scope.cancel()
        with anyio.fail_after(2.0):
            await anyio.to_thread.run_sync(lab.endpoint.wait_for_abandoned, abandon_on_cancel=True)


@pytest.mark.few(2)
@pytest.mark.parametrize("is_approved", [True, False])
async def test_the_user_is_asked_over_http(lab: Lab, era: str, is_approved: bool) -> None:
    (lab.private / "ketter.md").write_text("# Harbours\n\nThe harbour of Ketter has a code and tides.\n")
    lab.endpoint.play(
        Answer(calls=(Call("get_relevant_content", {"queries": ["harbour code"]}),)),
        Answer(calls=(Call("web_search", {"queries": ["tides Ketter"]}),)),
        Answer("I will not say."),
    )

    async def answer(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        return types.ElicitResult(action="accept" if is_approved else "decline", content={"send": is_approved})

    with SearxngTwin(rows=[]) as twin:
        environ = {"ASKY_SEARCH__SEARXNG__BASE_URL": twin.base_url, "ASKY_SEARCH__SEARXNG__GAP_S": "0"}
        async with (
            serving(lab, ASKY_MODEL="far", **environ) as served,
            served.host(era, elicitation_callback=answer) as client,
        ):
            value_of(await client.call_tool("ask", {"question": ASKED, "web": True}))
        sent = [each for request in twin.requests for each in request.params["q"]]
    assert ("tides Ketter" in sent) is is_approved
