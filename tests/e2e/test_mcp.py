"""`asky mcp` as a host starts it: a process that speaks the protocol, and nothing else, on its standard streams."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters, types
from mcp.client.streamable_http import streamable_http_client

from tests.e2e.test_startup import modules_of
from tests.support.asky_command import ASKY, clean_environment, run_asky
from tests.support.endpoint import Answer, Endpoint, Wire
from tests.support.hosts import ERAS, value_of
from tests.support.lab import ASKED, SECRET, Lab, open_lab

ENDS_S = 5.0
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
SDK = ("mcp", "mcp_types", "starlette", "uvicorn", "asky.mcp")


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    with Endpoint("The harbour is deep.") as endpoint:
        lab = open_lab(tmp_path, endpoint)
        run_asky("corpus", "add", str(lab.private), home=tmp_path, environ=lab.environ())
        yield lab


@contextmanager
def server(lab: Lab, *arguments: str, **environ: str) -> Iterator[subprocess.Popen[bytes]]:
    """The process of `asky mcp`, with pipes for its streams; it is killed if it is left running."""
    process = subprocess.Popen(
        [*ASKY, "mcp", *arguments],
        env=clean_environment(lab.home, lab.environ(**environ)),
        cwd=lab.home,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            assert stream is not None
            stream.close()


def send(process: subprocess.Popen[bytes], *lines: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(b"".join(line + b"\n" for line in lines))
    process.stdin.flush()


def receive(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    """The next message; anything else on stdout is an error."""
    assert process.stdout is not None
    message: dict[str, Any] = json.loads(process.stdout.readline())
    assert message["jsonrpc"] == "2.0"
    return message


@pytest.mark.few(1)
@pytest.mark.parametrize("era", [*ERAS, "auto"])
def test_a_host_that_starts_the_command_gets_answers(lab: Lab, era: str) -> None:
    async def main() -> None:
        environ = clean_environment(lab.home, lab.environ())
        parameters = StdioServerParameters(command=sys.executable, args=["-m", "asky", "mcp"], env=environ)
        heard: list[float] = []

        async def note(progress: float, total: float | None, message: str | None) -> None:
            heard.append(progress)

        async def answer(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
            return types.ElicitResult(action="decline")

        async with Client(parameters, mode=era, elicitation_callback=answer) as client:
            answered = value_of(await client.call_tool("ask", {"question": ASKED}, progress_callback=note))
            assert SECRET in answered["answer"]
            assert heard == sorted(set(heard))
            refused = await client.call_tool("fetch_page", {"url": "https://example.org/?code=heliotrope"})
            assert refused.is_error

    anyio.run(main)


@pytest.mark.extended
def test_a_call_cancelled_over_standard_input_closes_its_connection_within_a_second(lab: Lab) -> None:
    lab.endpoint.play(Answer("The harbour is deep.", wire=Wire(silent_before_headers=True)))

    async def main() -> None:
        environ = clean_environment(lab.home, lab.environ(ASKY_MODEL="far"))
        parameters = StdioServerParameters(command=sys.executable, args=["-m", "asky", "mcp"], env=environ)
        async with Client(parameters, mode="legacy") as client:
            async with anyio.create_task_group() as group:
                group.start_soon(client.call_tool, "ask", {"question": "How deep is the harbour?"})
                await anyio.to_thread.run_sync(lab.endpoint.wait_for_requests, 1)
                group.cancel_scope.cancel()
            with anyio.fail_after(1.0):
                await anyio.to_thread.run_sync(lab.endpoint.wait_for_abandoned, abandon_on_cancel=True)

    anyio.run(main)


def test_bad_lines_are_answered_or_passed_over_and_nothing_else_is_printed(lab: Lab) -> None:
    chance = random.Random(14)
    bad = [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"no JSON",
        b'{"jsonrpc":"2.0"}',
        b"\xff\xfe\x00",
        b'{"jsonrpc":"2.0","id":{},"method":1}',
    ]
    bad += [json.dumps(PING).encode()[: chance.randrange(1, 40)] for _ in range(20)]
    bad += [bytes(each for each in chance.randbytes(200) if each != 10) for _ in range(20)]
    bad += [b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"ask","arguments":[]}}']
    bad += [b"[" * 100_000, b'"' + b"x" * 5_000_000 + b'"']
    with server(lab) as process:
        send(process, *bad, json.dumps(PING | {"id": "last"}).encode())
        while receive(process).get("id") != "last":
            pass
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(ENDS_S) == 0
        assert process.stdout is not None
        assert process.stdout.read() == b""
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()


def test_half_a_surrogate_pair_anywhere_in_a_request_is_answered(lab: Lab) -> None:
    def search(query: str, id_: str) -> bytes:
        call = f'{{"name":"search_corpus","arguments":{{"query":"{query}"}}}}'
        return f'{{"jsonrpc":"2.0","id":"{id_}","method":"tools/call","params":{call}}}'.encode()

    with server(lab) as process:
        initialize(process)
        queries = ["\\ud800", "harbour\\uDC00 code", "\\ud83d\\ude00 harbour", "a \\\\ud800 b", "\\ud800\\ud800\\udc00"]
        requests = [search(each, f"q{number}") for number, each in enumerate(queries)]
        requests.append(b'{"jsonrpc":"2.0","id":"m","method":"\\udfff"}')
        requests.append(b'{"jsonrpc":"2.0","id":"k","method":"ping","params":{"\\ud9ab":1}}')
        send(process, *requests)
        answered = {receive(process)["id"] for _ in requests}
    assert answered == {"q0", "q1", "q2", "q3", "q4", "m", "k"}


@pytest.mark.extended
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("arguments", [(), ("--http", "--port", "0")])
def test_a_signal_ends_the_server_in_good_order(lab: Lab, number: signal.Signals, arguments: tuple[str, ...]) -> None:
    lab.endpoint.play(Answer("The harbour is deep. And wide.", delta_chars=4, wire=Wire(silent_after=1500)))
    with server(lab, *arguments, ASKY_MODEL="far") as process:
        if arguments:
            begin_over_http(process)
        else:
            initialize(process)
            call = {"name": "ask", "arguments": {"question": "How deep is the harbour?"}}
            send(process, json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}).encode())
            lab.endpoint.wait_for_bytes(1500)
        before = time.monotonic()
        process.send_signal(number)
        code = process.wait(ENDS_S)
        print(f"ended after {time.monotonic() - before:.2f} s")
        assert code == 128 + number
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()
    if not arguments:
        listed = json.loads(run_asky("runs", "list", "--json", home=lab.home, environ=lab.environ()).stdout)
        assert [each["status"] for each in listed["runs"]] == ["cancelled"]


@pytest.mark.extended
def test_a_host_that_closes_standard_input_ends_the_server_and_its_runs(lab: Lab) -> None:
    lab.endpoint.play(Answer("The harbour is deep. And wide.", delta_chars=4, wire=Wire(silent_after=1500)))
    with server(lab, ASKY_MODEL="far") as process:
        initialize(process)
        call = {"name": "ask", "arguments": {"question": "How deep is the harbour?"}}
        send(process, json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}).encode())
        lab.endpoint.wait_for_bytes(1500)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(ENDS_S) == 0
    listed = json.loads(run_asky("runs", "list", "--json", home=lab.home, environ=lab.environ()).stdout)
    assert [each["status"] for each in listed["runs"]] == ["cancelled"]


def initialize(process: subprocess.Popen[bytes]) -> None:
    given = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    send(process, json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": given}).encode())
    assert "result" in receive(process)
    send(process, b'{"jsonrpc":"2.0","method":"notifications/initialized"}')


def begin_over_http(process: subprocess.Popen[bytes]) -> tuple[str, str]:
    """The URL of the server and the file with its token, which it tells on stderr."""
    assert process.stderr is not None
    words = process.stderr.readline().decode().split()
    return words[4].rstrip(";"), words[-1]


def test_the_command_serves_http_to_who_reads_the_token(lab: Lab) -> None:
    async def main(url: str, token: str) -> None:
        async with (
            httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=60) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            found = value_of(await client.call_tool("search_corpus", {"query": "harbour code"}))
            assert SECRET in found["hits"][0]["text"]
            assert (await http.post(url, headers={"authorization": "Bearer no"}, json=PING)).status_code == 401

    with server(lab, "--http", "--port", "0") as process:
        url, file = begin_over_http(process)
        token = Path(file).read_text().strip()
        assert token not in " ".join(map(str, process.args))  # type: ignore[arg-type]
        anyio.run(main, url, token)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "arguments", [("--token-file", "x"), ("--name", "desk.lan"), ("--http", "--token-file", "/nowhere/token")]
)
def test_wrong_options_are_refused(lab: Lab, arguments: tuple[str, ...]) -> None:
    done = run_asky("mcp", *arguments, home=lab.home)
    assert done.returncode == 2
    assert done.stdout == ""


@pytest.mark.few(1)
@pytest.mark.parametrize("arguments", [["search", "harbour"], ["ask", "--no-web", ASKED], ["runs"], ["mcp", "--help"]])
def test_no_other_command_loads_the_protocol(lab: Lab, arguments: list[str]) -> None:
    loaded = modules_of(arguments, lab.home, lab.environ())
    assert not [name for name in loaded if name in SDK or name.startswith(tuple(f"{each}." for each in SDK))]
