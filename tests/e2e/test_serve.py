"""`asky serve` as a user starts it: its address, its end, and what a server that was killed leaves behind."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.e2e.test_startup import modules_of
from tests.support.asky_command import ASKY, clean_environment, run_asky
from tests.support.endpoint import Answer, Endpoint, Wire
from tests.support.lab import ASKED, Lab, open_lab

ENDS_S = 5.0
LIBRARIES = ("fastapi", "starlette", "uvicorn", "websockets", "asky.server")


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    with Endpoint("The harbour is deep.") as endpoint:
        yield open_lab(tmp_path, endpoint)


@contextmanager
def server(lab: Lab, *arguments: str, **environ: str) -> Iterator[tuple[subprocess.Popen[bytes], httpx2.Client]]:
    """The process of `asky serve`, and a client that shows its token; the process is killed if it is left running."""
    process = subprocess.Popen(
        [*ASKY, "serve", "--port", "0", *arguments],
        env=clean_environment(lab.home, lab.environ(**environ)),
        cwd=lab.home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        words = process.stderr.readline().decode().split()
        token = Path(words[-1]).read_text().strip()
        headers = {"authorization": f"Bearer {token}"}
        assert token not in " ".join(words)
        with httpx2.Client(base_url=words[4].rstrip(";"), headers=headers, timeout=60) as client:
            yield process, client
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def begin(lab: Lab, client: httpx2.Client) -> str:
    """The id of a question whose model has begun to answer, and says nothing more."""
    reply = client.post("/api/ask", json={"question": ASKED, "web": False, "wait": False})
    lab.endpoint.wait_for_bytes(1500)
    return str(reply.json()["session_id"])


def status_of(client: httpx2.Client, run_id: str) -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"/api/research/{run_id}/status").json()
    return found


@pytest.mark.few(1)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_server_in_good_order(lab: Lab, number: signal.Signals) -> None:
    lab.endpoint.play(Answer("The harbour is deep. And wide.", delta_chars=4, wire=Wire(silent_after=1500)))
    with server(lab, ASKY_MODEL="far") as (process, client):
        run_id = begin(lab, client)
        with client.stream("GET", f"/api/research/{run_id}/events") as idle:
            next(idle.iter_lines())
            before = time.monotonic()
            process.send_signal(number)
            code = process.wait(ENDS_S)
            print(f"ended after {time.monotonic() - before:.2f} s")
        assert code == 128 + number
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()
    listed = json.loads(run_asky("runs", "list", "--json", home=lab.home, environ=lab.environ()).stdout)
    assert [each["status"] for each in listed["runs"]] == ["cancelled"]


def test_a_run_of_a_killed_server_is_interrupted_and_goes_on_in_the_next(lab: Lab) -> None:
    lab.endpoint.play(Answer("The harbour is deep. And wide.", delta_chars=4, wire=Wire(silent_after=1500)))
    with server(lab, ASKY_MODEL="far") as (process, client):
        run_id = begin(lab, client)
        process.kill()
    lab.endpoint.play(Answer("The harbour is deep."))
    with server(lab, ASKY_MODEL="far") as (_, client):
        assert status_of(client, run_id)["status"] == "interrupted"
        assert client.post(f"/api/research/{run_id}/resume").json() == {"session_id": run_id, "status": "started"}
        with client.stream("GET", f"/api/research/{run_id}/events") as events:
            data = [json.loads(line[6:]) for line in events.iter_lines() if line.startswith("data: ")]
        assert (data[-1]["type"], data[-1]["status"]) == ("complete", "finished")
        assert [each["seq"] for each in data[:-1]] == list(range(1, len(data)))
        assert (
            client.get(f"/api/research/{run_id}/result").json()["result"]["answer"].startswith("The harbour is deep.")
        )


def test_a_port_that_is_taken_is_one_line(lab: Lab) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = run_asky("serve", "--port", port, home=lab.home, environ=lab.environ())
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == f"asky: cannot listen on 127.0.0.1 port {port}: address already in use"


@pytest.mark.extended
def test_another_host_is_said_to_be_open_to_others(lab: Lab) -> None:
    with server(lab, "--host", "0.0.0.0") as (process, client):
        assert client.get("/api/openapi.json", headers={"host": f"127.0.0.1:{client.base_url.port}"}).status_code == 200
        process.terminate()
        assert process.stderr is not None
        assert b"others in the network can reach it" in process.stderr.read()


@pytest.mark.parametrize("arguments", [["runs"], ["serve", "--help"]])
def test_no_other_command_loads_the_libraries(lab: Lab, arguments: list[str]) -> None:
    loaded = modules_of(arguments, lab.home, lab.environ())
    assert not [
        each for each in loaded if each in LIBRARIES or each.startswith(tuple(f"{name}." for name in LIBRARIES))
    ]
