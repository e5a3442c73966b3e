"""Who may use the server, and with what: hosts, origins, tokens, cookies, and the limits on what is sent."""

from __future__ import annotations

import json
from contextlib import suppress

import httpx2
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from asky.server.bodies import MAX_BODY, MAX_DEPTH
from tests.support.lab import Lab
from tests.support.scripted_agent import ScriptedAgent, until_stopped
from tests.support.served import BEARER, TOKEN, Served, close_code, serving

pytestmark = pytest.mark.anyio
JSON = {"content-type": "application/json"}


def wrong(served: Served) -> list[tuple[dict[str, str], int]]:
    """Headers that are refused, with the status."""
    port = served.port
    return [
        ({}, 401),
        ({"authorization": f"Bearer {TOKEN}x"}, 401),
        ({"authorization": f"Basic {TOKEN}"}, 401),
        ({"cookie": f"asky-{port}={TOKEN}"}, 401),
        (BEARER | {"host": f"evil.example:{port}"}, 421),
        (BEARER | {"host": f"127.0.0.1.evil.example:{port}"}, 421),
        (BEARER | {"origin": "http://evil.example"}, 403),
        (BEARER | {"origin": "null"}, 403),
        (BEARER | {"origin": f"http://127.0.0.1:{port + 1}"}, 403),
    ]


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
async def test_only_who_names_the_server_and_shows_the_token_passes(lab: Lab, host: str) -> None:
    with lab.open() as asky:
        async with serving(asky, ScriptedAgent(asky, until_stopped), host=host) as served:
            run_id = await served.start()
            async with httpx2.AsyncClient(base_url=served.url) as http:
                for headers, status in wrong(served):
                    reply = await http.get("/api/research", headers=headers)
                    assert (reply.status_code, reply.json()["schema"]) == (status, "asky.error/1"), headers
                    with pytest.raises(InvalidStatus) as refused:
                        async with served.websocket(run_id, headers=headers):
                            pass
                    assert refused.value.response.status_code == status, headers
                asked = {"origin": "http://evil.example", "access-control-request-method": "POST"}
                reply = await http.options("/api/research/start", headers=asked)
                assert not [name for name in reply.headers if name.startswith("access-control")]
            own = BEARER | {"origin": f"http://localhost:{served.port}"}
            async with served.websocket(run_id, headers=own) as connection:
                assert json.loads(await connection.recv())["type"] == "progress"


async def test_a_browser_exchanges_the_token_for_a_cookie(lab: Lab) -> None:
    with lab.open() as asky:
        async with (
            serving(asky, ScriptedAgent(asky)) as served,
            httpx2.AsyncClient(base_url=served.url) as http,
        ):
            assert (await http.post("/api/login", json={"token": "wrong"})).status_code == 401
            evil = {"origin": "http://evil.example"}
            assert (await http.post("/api/login", json={"token": TOKEN}, headers=evil)).status_code == 403
            reply = await http.post("/api/login", json={"token": TOKEN})
            cookie = reply.headers["set-cookie"]
            assert TOKEN not in cookie
            assert {"HttpOnly", "SameSite=strict", "Path=/"} <= {each.strip() for each in cookie.split(";")}
            assert (await http.get("/api/research")).status_code == 200
            shown = {"cookie": cookie.partition(";")[0]}
            run_id = await served.start()
            async with served.websocket(run_id, headers=shown) as connection:
                assert json.loads(await connection.recv())["type"] == "progress"
            await http.post("/api/logout")
            assert (await http.get("/api/research")).status_code == 401


async def test_the_page_is_open_to_all_and_may_talk_to_its_server_alone(lab: Lab) -> None:
    with lab.open() as asky:
        async with serving(asky) as served, httpx2.AsyncClient(base_url=served.url) as http:
            for path, kind in (("/", "text/html"), ("/page.js", "text/javascript"), ("/page.css", "text/css")):
                reply = await http.get(path)
                assert (reply.status_code, reply.headers["content-type"].partition(";")[0]) == (200, kind)
                policy = dict(
                    each.strip().partition(" ")[::2] for each in reply.headers["content-security-policy"].split(";")
                )
                assert policy["default-src"] == "'none'"
                assert (policy["script-src"], policy["style-src"]) == ("'self'", "'self'")
                assert policy["connect-src"] == f"'self' ws://127.0.0.1:{served.port}"
            assert (await http.get("/page.py")).status_code == 401
            assert (await http.get("/", headers={"host": "evil.example"})).status_code == 421


async def test_what_is_sent_is_limited(lab: Lab) -> None:
    with lab.open() as asky:
        async with serving(asky, ScriptedAgent(asky)) as served:
            for body, headers, status in [
                (b'{"query": "' + b"x" * MAX_BODY + b'"}', JSON, 413),
                (b'{"query": "x"}', {"content-type": "text/plain"}, 415),
                (b'{"query": "x"}', {}, 415),
                (b"query=x", {"content-type": "application/x-www-form-urlencoded"}, 415),
                (b"[" * 100_000, JSON, 400),
                (b'{"query":' * (MAX_DEPTH + 1) + b"1" + b"}" * (MAX_DEPTH + 1), JSON, 400),
                (json.dumps({"query": "[" * 1000}).encode(), JSON, 200),
                (b"{", JSON, 422),
                (b"", JSON, 422),
                (b"\xff", JSON, 400),
                (b'{"query": "\\ud800"}', JSON, 422),
                (b'{"query": "x", "limits": {"time_s": NaN}}', JSON, 422),
                (b'{"query": "x", "limits": {"turns": ' + b"9" * 5000 + b"}}", JSON, 400),
                (b'{"query": "x", "other": 1}', JSON, 422),
                (b'{"query": " "}', JSON, 422),
                (b'{"query": "x", "privacy_mode": "none"}', JSON, 422),
                (b'{"query": "x", "domain": "unknown"}', JSON, 400),
            ]:
                reply = await served.http.post("/api/research/start", content=body, headers=headers)
                assert reply.status_code == status, (body[:60], reply.text)
                if status != 200:
                    assert reply.json()["schema"] == "asky.error/1"


@pytest.mark.parametrize("mib", [2, 40])
@pytest.mark.parametrize("is_known", [True, False])
async def test_a_body_that_is_too_large_is_refused_however_large_it_is(lab: Lab, mib: int, is_known: bool) -> None:
    async def pieces() -> object:
        for _ in range(16 * mib):
            yield b" " * 65536

    body = b" " * (mib << 20) if is_known else pieces()
    with lab.open() as asky:
        async with serving(asky, ScriptedAgent(asky)) as served:
            reply = await served.http.post("/api/research/start", content=body, headers=JSON)
            assert reply.status_code == 413
            assert await served.get("/api/research")


async def test_a_client_that_floods_its_websocket_is_dropped(lab: Lab) -> None:
    with lab.open() as asky:
        async with serving(asky, ScriptedAgent(asky, until_stopped)) as served:
            run_id = await served.start()
            async with served.websocket(run_id) as connection:
                with suppress(ConnectionClosed):
                    for _ in range(10_000):
                        await connection.send("x")
                assert await close_code(connection) is None
            async with served.websocket(run_id) as connection:
                await connection.send("x" * 70_000)
                assert await close_code(connection) == 1009
            assert (await served.get(f"/api/research/{run_id}/status"))["status"] == "running"


async def test_replies_are_not_kept_guessed_about_or_shown_elsewhere(lab: Lab) -> None:
    with lab.open() as asky:
        async with serving(asky, ScriptedAgent(asky)) as served:
            reply = await served.http.get("/api/research")
            assert reply.headers["cache-control"] == "no-store"
            assert reply.headers["x-content-type-options"] == "nosniff"
            assert "frame-ancestors 'none'" in reply.headers["content-security-policy"]
            assert "server" not in reply.headers
            run_id = await served.start()
            await served.followed(run_id)
            reply = await served.http.get(f"/api/research/{run_id}/report?format=html")
            assert "sandbox allow-scripts" in reply.headers["content-security-policy"]
