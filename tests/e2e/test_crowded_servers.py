"""A server with few descriptors that somebody without the token opens connections to: others are answered, runs end."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.asky_command import ASKY, clean_environment
from tests.support.endpoint import Answer, Call, Endpoint, Wire
from tests.support.lab import ASKED, Lab, open_lab

HALF_A_HEAD = b"GET / HTTP/1.1\r\nX: "
HALF_A_BODY = b'POST /api/login HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{"'
SENT = {"half a head": HALF_A_HEAD, "nothing": b"", "half a body": HALF_A_BODY}
LOG_BYTES = 10_000


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    with Endpoint("The harbour is deep.") as endpoint:
        yield open_lab(tmp_path, endpoint)


@dataclass
class Server:
    """A server that may open few descriptors; `log` is what it has said once it has ended."""

    url: str
    headers: Mapping[str, str]
    log: bytes = b""

    def get(self, path: str) -> httpx2.Response:
        """The reply to a request over a connection of its own."""
        return httpx2.get(self.url + path, headers=dict(self.headers), timeout=20)

    def ask(self) -> str:
        """The id of a question that the server now answers."""
        body = {"question": ASKED, "web": False, "wait": False}
        reply = httpx2.post(f"{self.url}/api/ask", json=body, headers=dict(self.headers), timeout=60)
        return str(reply.json()["session_id"])

    @contextmanager
    def following(self, run: str) -> Iterator[Iterator[dict[str, Any]]]:
        """What is said of a run until it ends."""
        url = f"{self.url}/api/research/{run}/events"
        with httpx2.stream("GET", url, headers=dict(self.headers), timeout=60) as reply:
            yield (json.loads(line[6:]) for line in reply.iter_lines() if line.startswith("data: "))


@contextmanager
def server(lab: Lab, descriptors: int, *command: str) -> Iterator[Server]:
    """A server that may open so many descriptors."""
    process = subprocess.Popen(
        ["sh", "-c", f'ulimit -n {descriptors}; exec "$@"', "sh", *ASKY, *command, "--port", "0"],
        env=clean_environment(lab.home, lab.environ(ASKY_MODEL="far")),
        cwd=lab.home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        words = process.stderr.readline().decode().split()
        token = Path(words[-1]).read_text().strip()
        found = Server(words[4].rstrip("/;").removesuffix("/mcp"), {"authorization": f"Bearer {token}"})
        with ThreadPoolExecutor(1) as reading:
            log = reading.submit(process.stderr.read)
            try:
                yield found
            finally:
                process.kill()
            found.log = log.result()
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


@contextmanager
def crowd(url: str, count: int, sent: bytes) -> Iterator[list[socket.socket]]:
    """Connections that have each sent that."""
    host, _, port = url.removeprefix("http://").partition(":")
    with ExitStack() as opened:
        sockets = []
        for _ in range(count):
            each = opened.enter_context(socket.create_connection((host, int(port)), timeout=10))
            each.sendall(sent.replace(b"%s", f"{host}:{port}".encode()))
            sockets.append(each)
        yield sockets


def slowest(server: Server, path: str, count: int = 5) -> float:
    """Seconds that the slowest of some requests took."""
    took = []
    for _ in range(count):
        before = time.monotonic()
        assert server.get(path).status_code == 200
        took.append(time.monotonic() - before)
    return max(took)


@pytest.mark.parametrize(
    ("descriptors", "count", "sent"),
    [
        pytest.param(128, 200, "half a head"),
        *(pytest.param(128, 200, sent, marks=pytest.mark.extended) for sent in ("nothing", "half a body")),
        *(pytest.param(1024, 1150, sent, marks=pytest.mark.extended) for sent in SENT),
    ],
)
def test_a_crowd_without_the_token_stops_neither_a_run_nor_others(
    lab: Lab, descriptors: int, count: int, sent: str
) -> None:
    asks = Answer(
        calls=(Call("get_relevant_content", {"queries": ["harbour"]}),), wire=Wire(silent_before_headers=True)
    )
    lab.endpoint.play(asks, Answer("The harbour is deep."))
    with server(lab, descriptors, "serve") as served:
        run = served.ask()
        lab.endpoint.wait_for_requests(1)
        with served.following(run) as followed:
            next(followed)
            with crowd(served.url, count, SENT[sent]):
                took = max(slowest(served, f"/api/research/{run}/status"), slowest(served, "/"))
                lab.endpoint.release()
                *_, last = followed
    print(f"\n{count} connections, {sent}: others waited at most {took:.2f} s; log of {len(served.log)} bytes")
    assert (last["type"], last["status"]) == ("complete", "finished")
    assert took < (1.0 if count > 1000 else 5.0)  # without limits, it is as long as the crowd stays
    assert len(served.log) < LOG_BYTES


def test_mcp_over_http_answers_beside_a_crowd(lab: Lab) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    with server(lab, 128, "mcp", "--http") as served, crowd(served.url, 200, HALF_A_HEAD):
        for headers, status in ((served.headers, {200, 400, 406}), ({}, {401})):
            reply = httpx2.post(f"{served.url}/mcp", json=ping, headers=dict(headers), timeout=5)
            assert reply.status_code in status
    assert len(served.log) < LOG_BYTES
