"""Tries every way out of asky in a network namespace whose every address is this machine's; prints what was reached.

Run by `unshare -rn`. All of IPv4 is routed to this machine, where a site and a server of names listen, so that no
connection and no question for a name goes unnoticed. Each way is tried freely, and kept on this machine.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from functools import partial
from pathlib import Path

import anyio

from asky.app.agent.requests import ResearchRequest
from asky.concurrency import in_thread
from asky.errors import AskyError
from asky.llm.endpoint.endpoint import Endpoint
from asky.llm.endpoint.model_list import list_models
from asky.llm.endpoint.official import ask_official_client
from asky.llm.endpoint.openai_compatible import OpenAICompatibleModel
from asky.llm.port import Message
from asky.net.breaker import Breaker
from asky.net.browser.fetcher import BrowserFetcher
from asky.net.connection import open_response
from asky.net.guard import Guard
from asky.net.http import client_factory
from asky.net.pace import Pace
from asky.net.plain_get import is_listening, plain_get
from asky.net.reach import reach
from asky.net.retry import Retry
from asky.search.service import Service
from asky.text.urls import parse_address
from tests.support.fetching import open_fetcher
from tests.support.library import open_asky
from tests.support.site import Site

FAR, NAMED, NEAR = "93.184.216.34", "far.example", "127.0.0.1"
_LAST = "127.0.0.2"
_PORT = 8080
_ONCE = Retry(max_tries=1)
_REQUEST = {"model": "m", "messages": [{"role": "user", "content": "Hello"}], "stream": True}


async def _fetch(host: str) -> None:
    await open_fetcher(allow=[f"{NEAR}:{_PORT}"], timeout_s=5.0, robots=True).fetch(_url(host))


async def _fetch_in_a_task(host: str) -> None:
    errors: list[AskyError] = []

    async def fetch() -> None:
        try:
            await _fetch(host)
        except AskyError as error:
            errors.append(error)

    async with anyio.create_task_group() as group:
        group.start_soon(fetch)
    for error in errors:
        raise error


async def _open(host: str) -> None:
    """Connect to an address that was found before."""
    async with open_response(parse_address(_url(NAMED)), (FAR if host == NAMED else host,), (), None):
        pass


async def _search(host: str) -> None:
    service = Service(name="some", base_url=_url(host), pace=Pace(None), breaker=Breaker(None), retry=_ONCE)
    await service.request("GET", "/")


async def _call_model(host: str) -> None:
    model = OpenAICompatibleModel(_endpoint(host), client=client_factory(_url(host)), retry=_ONCE)
    async with aclosing(model.stream([Message("user", "Hello")], [])) as items:
        async for _ in items:
            pass


async def _ask_officially(host: str) -> str | None:
    return await in_thread(ask_official_client, _endpoint(host), _REQUEST)


async def _list_models(host: str) -> None:
    await in_thread(list_models, _url(host))


async def _look_for_a_server(host: str) -> None:
    await in_thread(is_listening, _url(host))


async def _follow(host: str) -> None:
    """Read a page of this machine that redirects to `host`."""
    await open_fetcher(allow=[f"{NEAR}:{_PORT}"], timeout_s=5.0).fetch(f"{_url(NEAR)}to/{host}")


async def _render(host: str) -> None:
    await BrowserFetcher(Guard(), Pace(None)).fetch(_url(host))


async def _research(host: str) -> None:
    """Research a document without leaving this machine; a search service and a model elsewhere are set up."""
    home = Path(os.environ["HOME"])
    folder = home / "documents"
    folder.mkdir()
    (folder / "tides.md").write_text("# Tides\n\nThe moon raises two high tides a day.\n")
    settings = {"search.searxng.base_url": _url(FAR), "providers.far.base_url": _url(FAR)}
    request = ResearchRequest(
        query="How many high tides does the moon raise?", documents=(folder,), privacy_mode="local_only"
    )
    with open_asky(home, settings=settings) as asky:
        async with asky.agent.start(request) as run:
            assert "two high tides" in (await run.result()).text


WAYS = {
    each.__name__.lstrip("_"): each
    for each in (
        _fetch,
        _fetch_in_a_task,
        _follow,
        _open,
        _search,
        _call_model,
        _ask_officially,
        _list_models,
        _look_for_a_server,
    )
}


def main() -> None:
    for command in ("link set lo up", "route add local 0.0.0.0/0 dev lo"):
        subprocess.run(["ip", *command.split()], check=True, capture_output=True)
    questions = _listen_for_names()
    with Site("0.0.0.0", _PORT) as site:
        site.page("/", "<p>Here.</p>")
        for host in (FAR, NAMED, NEAR):
            site.redirect(f"/to/{host}", _url(host))
        attempt = partial(_try, site, questions)
        report = {
            f"{name} {host}": [anyio.run(attempt, way, host, local_only) for local_only in (False, True)]
            for name, way in WAYS.items()
            for host in (FAR, NAMED, NEAR)
        }
        report[f"render {FAR}"] = [anyio.run(attempt, _render, FAR, True)]
        report["research"] = anyio.run(attempt, _research, FAR, False)
    print(json.dumps(report))


def _listen_for_names() -> list[bytes]:
    """Be every server of names, and know none; returns the questions."""
    questions: list[bytes] = []
    listening = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listening.bind(("0.0.0.0", 53))

    def answer() -> None:
        while True:
            question, sender = listening.recvfrom(4096)
            questions.append(question)
            listening.sendto(question[:2] + b"\x81\x83" + question[4:], sender)

    threading.Thread(target=answer, daemon=True).start()
    return questions


async def _try(
    site: Site, questions: list[bytes], way: Callable[[str], Awaitable[object]], host: str, local_only: bool
) -> dict[str, object]:
    site.reached.clear()
    questions.clear()
    with reach(local_only=local_only):
        try:
            outcome = str(await way(host) or "ok")
        except AskyError as error:
            outcome = error.code
    plain_get(_url(_LAST), {}, timeout_s=5.0, max_bytes=4096)  # accepted after all others
    return {"outcome": outcome, "reached": sorted({*site.reached} - {_LAST}), "questions": len(questions)}


def _url(host: str) -> str:
    return f"http://{host}:{_PORT}/"


def _endpoint(host: str) -> Endpoint:
    return Endpoint("some", "some", _url(host), "m", None, 4096)


if __name__ == "__main__":
    main()
