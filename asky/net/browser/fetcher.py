"""Rendering pages that need scripts: in a Chromium without a network, whose every request asky answers.

fetch       one deadline for all of it, and a separate browser for this page
load        the page, on a clock that jumps to the next timer whenever nothing is being loaded
read        the resulting page, with the contents of its components, cut at a cap
"""

from __future__ import annotations

import base64
import contextlib
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from asky.errors import SourceUnreadable, TimedOut
from asky.net.browser.gate import GateRequest, GateResponse, PageGate, PageLimits
from asky.net.browser.process import find_chromium, load_playwright, open_chromium
from asky.net.fetching import Fetched, Reached, ignore_host
from asky.net.guard import Guard
from asky.text.urls import WebAddress

if TYPE_CHECKING:
    from playwright.async_api import Browser, CDPSession

    from asky.config.schema import Network
    from asky.net.pace import Pace

_PAGES_AT_ONCE = 2
_TIMERS_S = 5.0
"""The seconds that the page's own clock runs: content that a page writes later than that is not awaited."""

_AGAIN_S = 1.0
_LAST_S = 0.1
_POLL_S = 0.05
_CALM_POLLS = 10
_URL_CHARS = 10_000  # more than the guard allows, and a bound on addresses that a page may make up by the megabyte
_HEADER_CHARS = 1000

_NO_DIALOGS = "window.alert = window.confirm = window.prompt = window.print = () => undefined;"

# In an isolated world, which scripts of the page cannot tamper with.
_READ = """(() => {
    const flatten = (root) => {
        for (const host of root.querySelectorAll('*')) {
            const shadow = host.shadowRoot;
            if (!shadow) continue;
            flatten(shadow);
            for (const slot of shadow.querySelectorAll('slot')) {
                const given = slot.assignedNodes();
                slot.replaceWith(...(given.length ? given : slot.childNodes));
            }
            host.replaceChildren(...shadow.childNodes);
        }
    };
    flatten(document);
    for (const each of document.querySelectorAll('script:not([type="application/ld+json"]), noscript')) each.remove();
    const html = document.documentElement ? document.documentElement.outerHTML : '';
    return [html.slice(0, %d), html.length > %d];
})()"""


@dataclass(frozen=True, slots=True)
class BrowserLimits:
    """Limits for one page. `idle_timeout_s` is how long to wait for its scripts once there is something to read."""

    timeout_s: float = 30.0
    idle_timeout_s: float = 10.0
    max_chars: int = 10 << 20
    page: PageLimits = field(default_factory=PageLimits)


class BrowserFetcher:
    """Fetches pages as rendered by a browser. Each has a separate browser, without cookies or history.

    `executable` is a Chromium; without one, an installed one is searched for. `make_context` makes the TLS context.
    """

    def __init__(
        self,
        guard: Guard,
        pace: Pace,
        limits: BrowserLimits | None = None,
        *,
        executable: Path | None = None,
        make_context: Callable[[], ssl.SSLContext] | None = None,
    ) -> None:
        self._guard = guard
        self._pace = pace
        self._limits = limits or BrowserLimits()
        self._executable = executable
        self._make_context = make_context or _system_context
        self._places = anyio.Semaphore(_PAGES_AT_ONCE)

    async def fetch(self, url: str, reached: Reached = ignore_host) -> Fetched:
        """Return the page at `url` after its scripts: `body` is its DOM as HTML in UTF-8, without scripts.

        `noscript` elements are dropped too. Only for an address that the content fetcher has read: robots.txt was
        checked there, and is not checked again. `reached` is called for every host that the page or a resource for its
        scripts is fetched from. Raises the errors listed in `asky.net.fetching`, and `NotConfigured` without Playwright
        or Chromium.
        """
        start = self._guard.check(url)
        load_playwright()
        executable = self._executable or find_chromium()
        async with self._places:
            try:
                with anyio.fail_after(self._limits.timeout_s):
                    return await self._fetch(url, start, executable, reached)
            except TimeoutError:
                raise TimedOut(
                    f"{start.host} kept the browser busy for {self._limits.timeout_s:g} s without a page to read"
                ) from None

    async def _fetch(self, url: str, start: WebAddress, executable: Path, reached: Reached) -> Fetched:
        from playwright.async_api import Error

        gate = PageGate(start, self._guard, self._pace, self._limits.page, self._make_context, reached)
        await gate.open()
        try:
            async with open_chromium(executable) as browser:
                return await _Visit(url, start, gate, self._limits).run(browser)
        except Error as error:
            raise SourceUnreadable(f"{start.host}: the browser stopped unexpectedly ({_first_line(error)})") from error


class _Visit:
    """One page in one browser."""

    def __init__(self, url: str, start: WebAddress, gate: PageGate, limits: BrowserLimits) -> None:
        self._url = url
        self._start = start
        self._gate = gate
        self._limits = limits
        self._sending = anyio.Lock()
        self._waiting = anyio.CancelScope()
        self._moves = 0
        self._in_flight = 0

    async def run(self, browser: Browser) -> Fetched:
        """Open the page, wait for it, read it."""
        whole = await browser.new_browser_cdp_session()  # for the whole browser: frames and workers use it too
        context = await browser.new_context(service_workers="block", accept_downloads=False)
        await context.add_init_script(_NO_DIALOGS)
        page = await context.new_page()
        session = await context.new_cdp_session(page)
        frame = str((await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"])
        found: list[Fetched] = []
        failures: list[Exception] = []

        async with anyio.create_task_group() as group:
            send, receive = anyio.create_memory_object_stream[tuple[str, GateRequest]](
                10 * self._limits.page.max_requests
            )

            def take(event: dict[str, Any]) -> None:
                with contextlib.suppress(anyio.WouldBlock):  # further requests wait forever, which is a valid response
                    send.send_nowait((event["requestId"], _gate_request(event)))

            async def serve() -> None:
                async for request_id, gate_request in receive:
                    group.start_soon(self._answer, whole, request_id, gate_request, frame)

            with send, receive:
                whole.on("Fetch.requestPaused", take)
                await whole.send("Fetch.enable", {"patterns": [{"urlPattern": "*"}]})
                group.start_soon(serve)
                try:
                    with anyio.CancelScope() as alive:
                        page.on("crash", lambda _: alive.cancel())
                        found.append(await self._visit(page, session, frame))
                except Exception as error:  # noqa: BLE001 - raised below; a task group would wrap it
                    failures.append(error)
                group.cancel_scope.cancel()
        if failures:
            raise failures[0]
        if not found:
            raise _too_large(self._start.host)
        return found[0]

    async def _answer(self, whole: CDPSession, request_id: str, gate_request: GateRequest, frame: str) -> None:
        from playwright.async_api import Error

        self._moves += 1
        self._in_flight += 1
        answer = await self._gate.answer(gate_request, frame)
        if self._gate.is_overrun:
            self._waiting.cancel()
        with contextlib.suppress(Error):  # the requester may be gone
            if answer is None:
                # A page that tried to navigate away stays only if that is aborted; scripts only notice blocked
                # requests.
                reason = "Aborted" if gate_request.kind == "Document" else "BlockedByClient"
                await whole.send("Fetch.failRequest", {"requestId": request_id, "errorReason": reason})
            else:
                async with self._sending:  # one at a time, as a response takes several times its size in transit
                    await whole.send("Fetch.fulfillRequest", _fulfil_params(request_id, answer))
        self._moves += 1
        self._in_flight -= 1

    async def _visit(self, page: Any, session: CDPSession, frame: str) -> Fetched:
        from playwright.async_api import Error

        try:
            await page.goto(str(self._start), wait_until="commit", timeout=0)
        except Error as error:
            raise self._gate.failure or SourceUnreadable(
                f"{self._start.host}: the browser could not open the page ({_first_line(error)})"
            ) from error
        with anyio.move_on_after(self._limits.idle_timeout_s) as self._waiting:
            await self._run_until_idle(session)
        if self._gate.is_overrun:
            raise SourceUnreadable(f"{self._start.host}: the page keeps loading without end")
        if self._waiting.cancelled_caught:
            await session.send("Runtime.terminateExecution")
        return await self._read(session, frame)

    async def _run_until_idle(self, session: CDPSession) -> None:
        """Let the page's clock run and wait until nothing is being loaded; repeat if that started something."""
        budget_s, before = _TIMERS_S, -1
        while before != self._moves:
            await self._run_clock(session, budget_s)
            before = self._moves
            await self._wait_until_idle()
            budget_s = _AGAIN_S
        await self._run_clock(session, _LAST_S)

    async def _run_clock(self, session: CDPSession, budget_s: float) -> None:
        """Run timers and messages until `budget_s` of the page's own time has passed; then stop its clock."""
        ran = anyio.Event()
        session.once("Emulation.virtualTimeBudgetExpired", lambda _: ran.set())
        policy = {"policy": "pauseIfNetworkFetchesPending", "budget": 1000 * budget_s}
        await session.send("Emulation.setVirtualTimePolicy", policy)
        await ran.wait()

    async def _wait_until_idle(self) -> None:
        """Wait until nothing has been requested or answered for a moment: workers ignore the clock."""
        idle, before = 0, -1
        while idle < _CALM_POLLS:
            await anyio.sleep(_POLL_S)
            idle = idle + 1 if before == self._moves and not self._in_flight else 0
            before = self._moves

    async def _read(self, session: CDPSession, frame: str) -> Fetched:
        """Return the page in its present state. Raises `SourceUnreadable` unless a document came through the gate."""
        shown = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]
        passed = self._gate.documents.get(str(shown["loaderId"]))
        if not passed:
            raise self._gate.failure or SourceUnreadable(f"{self._start.host}: the page navigated away by itself")
        world = await session.send("Page.createIsolatedWorld", {"frameId": frame})
        size = self._limits.max_chars
        question = {
            "expression": _READ % (size, size),
            "contextId": world["executionContextId"],
            "returnByValue": True,
        }
        result = (await session.send("Runtime.evaluate", question))["result"].get("value")
        if not isinstance(result, list):
            raise _too_large(self._start.host)
        html, is_cut = result
        return Fetched(
            requested=self._url,
            url=passed[-1],
            status=200,
            body=f"<!DOCTYPE html>{html}".encode("utf-8", "replace"),
            media_type="text/html",
            charset="utf-8",
            is_cut=bool(is_cut),
            redirects=self._passed_before(passed),
        )

    def _passed_before(self, last: list[str]) -> tuple[str, ...]:
        """Return the addresses of the documents that led to the last one."""
        everything = [address for passed in self._gate.documents.values() for address in passed]
        return tuple(everything[: everything.index(last[-1])])


def open_browser_fetcher(network: Network, pace: Pace) -> BrowserFetcher:
    """Return the configured fetcher. Raises `ConfigError` for an invalid entry of `allow_private`."""
    return BrowserFetcher(Guard(network.allow_private), pace)


def _gate_request(event: dict[str, Any]) -> GateRequest:
    request = event["request"]
    headers = {name.lower(): value for name, value in request["headers"].items()}
    return GateRequest(
        method=request["method"],
        url=request["url"][:_URL_CHARS],
        kind=event["resourceType"],
        frame=event["frameId"],
        navigation=event.get("networkId", ""),
        accept=headers.get("accept", "")[:_HEADER_CHARS],
        origin=headers.get("origin", "")[:_HEADER_CHARS],
        is_ahead="prefetch" in headers.get("sec-purpose", ""),
    )


def _fulfil_params(request_id: str, answer: GateResponse) -> dict[str, Any]:
    return {
        "requestId": request_id,
        "responseCode": answer.status,
        "responseHeaders": [{"name": name, "value": value} for name, value in answer.headers],
        "body": base64.b64encode(answer.body).decode("ascii"),
    }


def _too_large(host: str) -> SourceUnreadable:
    return SourceUnreadable(f"{host}: the page is larger than the browser can hold", verdict="too_large")


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or ["no reason given"])[0][:200]


def _system_context() -> ssl.SSLContext:
    import httpx2  # 0.09 s; the machine's trusted certificates, as everywhere else

    return httpx2.create_ssl_context()
