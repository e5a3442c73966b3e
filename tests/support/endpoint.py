"""A chat-completions endpoint on loopback that plays a script.

    with Endpoint("Hello.") as endpoint:                      # http, port 0, in a thread of its own
        call(endpoint.base_url, model="test-model")           # sync, async or another process
    assert endpoint.faults == []                              # what a real endpoint would have refused

An entry of the script is played for each chat request, the last one for ever:

    "text" | Answer(text, calls=(Call("search", {...}),), ...)     a reply of the model
    Problem("rate", headers=(("Retry-After", "1"),))               a failure in the words of the dialect
    Raw(body, status, content_type, headers)                       any bytes at all; `sse(...)` writes a stream
    a function of the `Request` that returns one of these          such as `obedient`: it calls the first tool, then
                                                                   cites; see `shown_keys` and `tool_results`

`dialect` (OPENAI, OLLAMA, LLAMACPP, GEMINI, VLLM, OPENROUTER, LMSTUDIO, ANTHROPIC) decides how a reply is streamed,
what errors look like and which requests are refused; fields of an `Answer` overrule it. `Rules(api_key=, models=,
context_chars=, refuses=, tools_need_effort=, loading=)` are checked before the script: what they refuse takes no entry
of it, nor does an invalid request, which is answered with 400 and noted in `faults`.

`Wire` cuts a body, holds it back or splits it; then `release()` and `step()` let it go on, and `wait_for_requests(n)`,
`wait_for_bytes(n)`, `wait_for_abandoned(n)` wait for the client. Only a `Wire(pause_s=...)` takes time. `requests` are
the chat requests as they came (bytes too), `played` counts those that got an entry, `connections` the connections,
`abandoned` the replies whose client left before their end.

    python -m tests.support.endpoint --demo [DIALECT]             an obedient model
    python -m tests.support.endpoint --script FILE [DIALECT]      a JSON list of entries

Both print the base URL and run until the standard input is closed.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.support.endpoint_checks import Fault, Rules, check, cut_messages, prompt_tokens, refusal
from tests.support.endpoint_demo import entry_from_json, obedient
from tests.support.endpoint_dialects import (
    ANTHROPIC,
    DIALECTS,
    GEMINI,
    KINDS,
    LLAMACPP,
    LMSTUDIO,
    OLLAMA,
    OPENAI,
    OPENROUTER,
    VLLM,
    Dialect,
    error_body,
    error_object,
    overflow,
)
from tests.support.endpoint_frames import complete, events
from tests.support.endpoint_script import (
    Answer,
    Call,
    Entry,
    Problem,
    Raw,
    Reply,
    Request,
    Sse,
    Usage,
    Wire,
    last_user_text,
    shown_keys,
    sse,
    tool_results,
)
from tests.support.endpoint_wire import Connection, Gates, PeerLeft, send, stop_accepting

__all__ = [
    "ANTHROPIC",
    "DIALECTS",
    "GEMINI",
    "KINDS",
    "LLAMACPP",
    "LMSTUDIO",
    "OLLAMA",
    "OPENAI",
    "OPENROUTER",
    "VLLM",
    "Answer",
    "Call",
    "Dialect",
    "Endpoint",
    "Entry",
    "Problem",
    "Raw",
    "Request",
    "Rules",
    "Sse",
    "Usage",
    "Wire",
    "last_user_text",
    "obedient",
    "overflow",
    "shown_keys",
    "sse",
    "tool_results",
]

_WAIT_S = 300.0


class Endpoint:
    """A scripted endpoint; use it as a context manager. See the module."""

    def __init__(self, *script: Entry, dialect: Dialect = OPENAI, rules: Rules | None = None) -> None:
        assert script, "a script has an entry"
        self.dialect = dialect
        self.rules = rules or Rules()
        self.requests: list[Request] = []
        self.faults: list[str] = []
        self.played = 0
        self.connections = 0
        self.abandoned = 0
        self.sent_bytes = 0
        self._script: tuple[Entry, ...] = script
        self._changed = threading.Condition()
        self._call_ids = (dialect.call_id.format(number) for number in itertools.count(1))
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="endpoint")
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop
        self._gates: Gates
        self._stopping: asyncio.Event
        self._tasks: set[asyncio.Task[None]] = set()
        self._port = 0

    @property
    def base_url(self) -> str:
        """The URL that a client is configured with; no slash at the end."""
        return f"http://127.0.0.1:{self._port}{self.dialect.base_path}"

    def play(self, *script: Entry) -> None:
        """Begin another script; what was recorded stays."""
        assert script, "a script has an entry"
        self._script, self.played = script, 0

    def release(self) -> None:
        """Let silent bodies go on, now and later."""
        self._loop.call_soon_threadsafe(self._gates.released.set)

    def step(self, pieces: int = 1) -> None:
        """Let a gated body go on by some pieces."""
        for _ in range(pieces):
            self._loop.call_soon_threadsafe(self._gates.steps.release)

    def wait_for_requests(self, count: int) -> None:
        """Until that many chat requests have come. Raises `TimeoutError` after five minutes, as the others do."""
        self._wait(lambda: len(self.requests) >= count, f"{count} requests")

    def wait_for_bytes(self, count: int) -> None:
        """Until that many bytes of bodies have been written."""
        self._wait(lambda: self.sent_bytes >= count, f"{count} bytes")

    def wait_for_abandoned(self, count: int = 1) -> None:
        """Until clients have left that many replies before their end."""
        self._wait(lambda: self.abandoned >= count, f"{count} abandoned replies")

    def __enter__(self) -> Endpoint:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()

    def _wait(self, condition: Callable[[], bool], what: str) -> None:
        with self._changed:
            if not self._changed.wait_for(condition, _WAIT_S):
                raise TimeoutError(f"no {what} within {_WAIT_S:.0f} s")

    # in the thread of the server

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._gates = Gates()
        self._stopping = asyncio.Event()
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stopping.wait()
        await stop_accepting(server)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        connection = Connection(self.connections, reader, writer)
        with self._changed:
            self.connections += 1
        try:
            while (request := await connection.read_request()) is not None:
                if not await self._answer(connection, request):
                    break
        except PeerLeft:
            with self._changed:
                self.abandoned += 1
                self._changed.notify_all()
        except asyncio.CancelledError:
            pass  # the server stops; a task that ends as cancelled would be reported
        finally:
            await connection.close()
            self._tasks.discard(task)

    async def _answer(self, connection: Connection, request: Request) -> bool:
        """Whether the connection stays open."""
        if request.path == f"{self.dialect.base_path}/models" and request.method == "GET":
            reply: Reply = self._models(request)
        elif request.path == f"{self.dialect.base_path}/chat/completions" and request.method == "POST":
            reply = self._chat(request)
        else:
            reply = self._refuse(Problem("not_found", message=f"no {request.method} {request.path} here"))
        return await self._send(connection, request, reply)

    def _models(self, request: Request) -> Raw | Problem:
        known = self.rules.api_key
        if known is not None and request.headers.get("authorization") != f"Bearer {known}":
            return Problem("auth")
        data = [{"id": name, "object": "model", "owned_by": self.dialect.name} for name in self.rules.models]
        return Raw(json.dumps({"object": "list", "data": data}).encode(), content_type="application/json")

    def _chat(self, request: Request) -> Reply:
        with self._changed:
            self.requests.append(request)
            self._changed.notify_all()
        if len(self.requests) <= self.rules.loading:
            return Problem("loading")
        try:
            check(request, self.dialect)
        except Fault as fault:
            return self._refuse(Problem(fault.kind, message=str(fault)))
        refused = refusal(request, self.dialect, self.rules)
        if refused is not None:
            return refused
        entry = self._script[min(self.played, len(self._script) - 1)]
        self.played += 1
        if not callable(entry):
            return entry
        try:
            return entry(self._as_seen(request))
        except Exception as error:  # noqa: BLE001 - a fault of the test's function must reach the test
            return self._refuse(Problem("server", message=f"the script failed: {error!r}"))

    def _refuse(self, problem: Problem) -> Problem:
        self.faults.append(problem.message or problem.kind)
        return problem

    def _as_seen(self, request: Request) -> Request:
        """The request as the model reads it, which may be less than was sent."""
        limit = self.rules.context_chars
        if limit is None or not self.dialect.silent_overflow:
            return request
        body = dict(request.json) | {"messages": cut_messages(request, limit)}
        return Request(request.connection, request.method, request.path, request.headers, request.body, body)

    async def _send(self, connection: Connection, request: Request, reply: Reply) -> bool:
        if isinstance(reply, str):
            reply = Answer(reply)
        if isinstance(reply, Raw):
            headers = [("Content-Type", reply.content_type), *reply.headers]
            length = None if reply.content_type == "text/event-stream" else len(reply.body)
            return await self._write(connection, reply.status, headers, (reply.body,), reply.wire, length)
        if isinstance(reply, Problem):
            return await self._send_problem(connection, reply)
        model = request.json["model"]
        usage = reply.usage or self._usage(request, reply)
        if reply.stream is False or not request.json.get("stream"):
            body = complete(reply, self.dialect, usage, model=model, call_ids=self._call_ids)
            json_type = [("Content-Type", "application/json")]
            return await self._write(connection, 200, json_type, (body,), reply.wire, len(body))
        asked = bool((request.json.get("stream_options") or {}).get("include_usage"))
        chunks = events(reply, self.dialect, usage, model=model, call_ids=self._call_ids, wants_usage=asked)
        headers = [("Content-Type", "text/event-stream"), ("Cache-Control", "no-cache")]
        return await self._write(connection, 200, headers, chunks, reply.wire, None)

    async def _send_problem(self, connection: Connection, problem: Problem) -> bool:
        content_type, body = error_body(problem, self.dialect)
        status = problem.status or KINDS[problem.kind][0]
        if problem.where == "choice":
            error = error_object(problem, problem.shape or self.dialect.shape)
            inner = error.get("error", error) if isinstance(error, dict) else error
            message = {"role": "assistant", "content": ""}
            choice = {"index": 0, "message": message, "finish_reason": "error", "error": inner}
            content_type = "application/json"
            body = json.dumps({"id": "gen-1", "object": "chat.completion", "choices": [choice]}).encode()
        if problem.where != "status":
            status = 200
        headers = [("Content-Type", content_type), *problem.headers]
        return await self._write(connection, status, headers, (body,), problem.wire, len(body))

    async def _write(
        self, connection: Connection, status: int, headers: list[tuple[str, str]], chunks: Any, wire: Wire, length: Any
    ) -> bool:
        return await send(connection, status, headers, chunks, wire, self._gates, length=length, sent=self._count_bytes)

    def _count_bytes(self, count: int) -> None:
        with self._changed:
            self.sent_bytes += count
            self._changed.notify_all()

    def _usage(self, request: Request, answer: Answer) -> Usage:
        seen = self._as_seen(request)
        arguments = sum(len(call.arguments_text) for call in answer.calls)
        completion = max(1, (len(answer.text) + len(answer.reasoning) + arguments) // 4)
        return Usage(prompt_tokens(seen.messages, seen.tools), completion)


def main(arguments: list[str]) -> int:
    """Serve a script until the standard input is closed."""
    if arguments[:1] == ["--demo"]:
        script: list[Entry] = [obedient]
    elif arguments[:1] == ["--script"] and len(arguments) > 1:
        script = [entry_from_json(each) for each in json.loads(Path(arguments[1]).read_text(encoding="utf-8"))]
    else:
        print("usage: python -m tests.support.endpoint --demo | --script FILE [DIALECT]", file=sys.stderr)
        return 2
    dialect = arguments[-1] if arguments[-1] in DIALECTS else "openai"
    with Endpoint(*script, dialect=DIALECTS[dialect]) as endpoint:
        print(endpoint.base_url, flush=True)
        sys.stdin.read()
        for fault in endpoint.faults:
            print(f"fault: {fault}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
