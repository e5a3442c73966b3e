from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from asky.errors import NotConfigured, SourceRefused, SourceUnreadable, TimedOut
from asky.net.browser.fetcher import BrowserFetcher, BrowserLimits
from asky.net.browser.gate import PageLimits
from asky.net.browser.process import _FLAGS, find_chromium, open_chromium
from asky.net.guard import Guard
from asky.net.pace import Pace
from tests.support.browsing import PATIENT, QUICK, browse, left_behind, needs_browser, open_browser, shown
from tests.support.site import Asked, Site, Wire

pytestmark = needs_browser()

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where this test's browsers have their files, by which they are known: one that any user can get to."""
    tmp_path_factory.getbasetemp()  # first: the folders of all other tests do not lie in this one
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        Path(name).chmod(0o755)
        monkeypatch.setattr(tempfile, "tempdir", name)
        monkeypatch.setenv("TMPDIR", name)
        yield Path(name)


def script(code: str, rest: str = "") -> str:
    return f"<!DOCTYPE html><title>T</title><body><p>before</p>{rest}<script>{code}</script></body>"


def test_a_page_that_scripts_write_is_read_as_they_leave_it() -> None:
    with Site() as site:
        site.page(
            "/a", html='<div id="root"></div><noscript>Please enable scripts</noscript><script src="/app.js"></script>'
        )
        site.page(
            "/app.js",
            body="fetch('/d.json').then(r => r.json()).then(d => setTimeout(() => root.textContent = d.text, 3000));",
        )
        site.page("/d.json", body='{"text": "The mill burnt in 1911, at Łódź."}')
        fetched = browse(open_browser(site), site.url("/a"))
        assert site.paths() == ["/a", "/app.js", "/d.json"]
    assert '<div id="root">The mill burnt in 1911, at Łódź.</div>' in fetched.body.decode()
    assert b"enable scripts" not in fetched.body
    assert b"<script" not in fetched.body
    assert (fetched.status, fetched.media_type, fetched.charset) == (200, "text/html", "utf-8")
    assert (fetched.url, fetched.redirects, fetched.is_cut) == (site.url("/a"), (), False)


@pytest.mark.extended
def test_modules_workers_and_components_add_to_the_text() -> None:
    with Site() as site:
        site.page(
            "/a",
            html=script(
                "new Worker('/w.js').onmessage = e => document.body.append(e.data);"
                "customElements.define('x-card', class extends HTMLElement { constructor() { super();"
                "this.attachShadow({mode: 'open'}).innerHTML = '<h2>in the card</h2><slot></slot>'; } });",
                "<x-card>and in its slot</x-card><script type=module src=/m.js></script>",
            ),
        )
        site.page("/m.js", body="import {word} from '/n.js'; document.body.append(word);", media_type="text/javascript")
        site.page("/n.js", body="export const word = 'from a module';", media_type="text/javascript")
        site.page("/w.js", body="fetch('/d').then(r => r.text()).then(postMessage);", media_type="text/javascript")
        site.page("/d", body="from a worker", media_type="text/plain")
        html = shown(site, "/a")
    assert "<x-card><h2>in the card</h2>and in its slot</x-card>" in html
    assert "from a module" in html
    assert "from a worker" in html


@pytest.mark.extended
def test_redirects_lead_to_the_address_that_is_reported() -> None:
    with Site() as site:
        site.redirect("/a", "/b")
        site.page("/b", html=script("location.href = '/c'"))
        site.page("/c", html=script("history.pushState({}, '', '/elsewhere'); document.body.append('arrived')"))
        fetched = browse(open_browser(site), site.url("/a"))
    assert fetched.url == site.url("/c")
    assert fetched.redirects == (site.url("/a"), site.url("/b"))
    assert b"arrived" in fetched.body


def test_requests_tell_nothing_of_who_asks_and_nothing_is_kept() -> None:
    with Site() as site:
        site.page(
            "/a",
            html=script("document.cookie = 'a=1'; fetch('/d', {headers: {Authorization: 'x', Accept: 'text/x'}})"),
            headers={"Set-Cookie": "b=2"},
        )
        site.page("/d", body="d", media_type="text/plain")
        reader = open_browser(site)
        browse(reader, site.url("/a"))
        browse(reader, site.url("/a"))
        assert site.paths() == ["/a", "/d"] * 2
        for asked in site.requests:
            assert asked.method == "GET"
            assert set(asked.headers) <= {"host", "user-agent", "accept", "accept-encoding", "connection", "origin"}
            assert asked.headers["user-agent"].startswith("asky/")
        assert site.requests[1].headers["accept"] == "text/x"


@pytest.mark.extended
def test_only_what_can_add_to_the_text_is_asked_for() -> None:
    with Site() as site:
        site.page(
            "/a",
            html="<link rel=stylesheet href=/s.css onload=\"document.body.append('styled')\">"
            + "<link rel=icon href=/i.ico><link rel=prefetch href=/p>"
            + "<link rel=preload as=font href=/f.woff crossorigin>"
            + script(
                "fetch('/post', {method: 'POST', body: 'x'}).catch(() => document.body.append('no post'));"
                "navigator.sendBeacon('/beacon', 'x'); new EventSource('/events'); new Image().src = '/j.png';"
                "navigator.serviceWorker && navigator.serviceWorker.register('/sw.js').catch(() => 0)",
                "<img src=/i.png><video src=/v.mp4></video><iframe src=/frame></iframe><object data=/o></object>"
                "<form action=/sent method=post><input name=x></form>"
                "<script>setTimeout(() => document.forms[0].submit(), 99)</script>",
            ),
        )
        html = shown(site, "/a")
        assert site.paths() == ["/a"]
    assert "no post" in html


@pytest.mark.extended
def test_scripts_reach_no_other_private_address_and_no_other_port() -> None:
    with Site() as site, Site(host="127.0.0.2") as other, Site() as neighbour:
        targets = [other.url("/x"), neighbour.url("/x"), f"http://localhost:{neighbour.port}/x", "http://[::1]:8080/x"]
        site.page(
            "/a",
            html=script(
                f"const all = {targets!r};"
                "const refused = () => document.body.append('refused ');"
                "for (const each of all) { fetch(each, {mode: 'no-cors'}).catch(refused);"
                "const x = new XMLHttpRequest(); x.open('GET', each); x.onerror = refused; x.send();"
                "const s = document.createElement('script'); s.src = each; document.body.append(s);"
                "const f = document.createElement('iframe'); f.src = each; document.body.append(f);"
                "new Worker(URL.createObjectURL(new Blob([`fetch('${each}', {mode: 'no-cors'})`]))); }"
            ),
        )
        html = shown(site, "/a")
        assert other.reached == []
        assert neighbour.reached == []
    assert html.count("refused ") == 8


@pytest.mark.extended
def test_a_grant_for_another_host_does_not_hold_for_the_scripts_of_a_page() -> None:
    with Site() as site, Site(host="127.0.0.2") as wiki:
        wiki.page("/secret", body="secret", headers={"Access-Control-Allow-Origin": "*"}, media_type="text/plain")
        site.page(
            "/a", html=script(f"fetch('{wiki.url('/secret')}').then(r => r.text()).then(t => document.body.append(t))")
        )
        site.page("/b", html=script(f"location.href = '{wiki.url('/secret')}'"))
        site.redirect("/c", wiki.url("/secret"))
        reader = open_browser(site, wiki)
        assert b"secret" not in browse(reader, site.url("/a")).body.replace(b"/secret", b"")
        assert b"before" in browse(reader, site.url("/b")).body
        with pytest.raises(SourceRefused, match=r"127\.0\.0\.2 is in a private network"):
            browse(reader, site.url("/c"))
        assert wiki.reached == []


@pytest.mark.extended
def test_what_one_host_does_not_share_with_another_stays_unread() -> None:
    with Site() as site, Site() as second:
        second.page("/closed", body="closed word", media_type="text/plain")
        second.page("/open", body="open word", media_type="text/plain", headers={"Access-Control-Allow-Origin": "*"})
        site.redirect("/sly", second.url("/closed"))
        ask = "for (const each of {!r}) fetch(each).then(r => r.text()).then(t => document.body.append(t))"
        site.page("/a", html=script(ask.format([second.url("/closed"), second.url("/open"), "/sly"])))
        html = browse(open_browser(site, second), site.url("/a")).body.decode()
        assert {asked.headers.get("origin") for asked in second.requests} == {site.url("").rstrip("/")}
    assert "open word" in html
    assert "closed word" not in html


def test_an_address_that_leads_to_a_private_one_is_refused_before_it_is_asked() -> None:
    with Site() as site, Site(host="127.0.0.2") as other:
        site.redirect("/a", other.url("/x"))
        site.redirect("/s.js", other.url("/x"))
        site.page("/b", html=script("", "<script src=/s.js></script><meta http-equiv=refresh content='0;url=/a'>"))
        reader = open_browser(site)
        with pytest.raises(SourceRefused):
            browse(reader, site.url("/a"))
        assert b"before" in browse(reader, site.url("/b")).body
        with pytest.raises(SourceRefused):
            browse(reader, other.url("/"))
        assert other.reached == []


@pytest.mark.extended
def test_sockets_of_scripts_lead_nowhere() -> None:
    with Site() as site, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as heard:
        heard.bind(("127.0.0.1", 0))
        heard.settimeout(1)
        stun = f"stun:127.0.0.1:{heard.getsockname()[1]}"
        site.page(
            "/a",
            html=script(
                f"const w = new WebSocket('ws://{site.authority}/ws');"
                "w.onerror = () => document.body.append('no socket');"
                f"try {{ const c = new RTCPeerConnection({{iceServers: [{{urls: '{stun}'}}]}});"
                "c.createDataChannel('x');"
                "c.createOffer().then(o => c.setLocalDescription(o)).catch(() => 0); } catch (e) {}"
                f"try {{ new WebTransport('https://{site.authority}/t').ready.catch(() => 0) }} catch (e) {{}}"
            ),
        )
        html = shown(site, "/a")
        assert len(site.reached) == 1
        with pytest.raises(TimeoutError):
            heard.recv(100)
    assert "no socket" in html


@pytest.mark.extended
def test_the_browser_has_no_network_even_where_no_request_is_held_up() -> None:
    from playwright.async_api import Error

    async def main(url: str) -> None:
        async with open_chromium(find_chromium()) as browser:
            page = await browser.new_page()
            with pytest.raises(Error, match="ERR_"):
                await page.goto(url)

    with Site() as site:
        anyio.run(main, site.url("/a"))
        assert site.reached == []


def test_the_flags_alone_keep_the_browser_off_the_network(tmp_path: Path) -> None:
    with Site() as site:
        flags = [flag for flag in _FLAGS if flag != "--remote-debugging-pipe"]
        command = [str(find_chromium()), f"--user-data-dir={tmp_path}", "--no-sandbox", *flags, "--dump-dom"]
        for url in (site.url("/a"), f"http://localhost:{site.port}/a"):
            subprocess.run([*command, url], capture_output=True, timeout=300, check=False)
        assert site.reached == []


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "code",
    [
        "setInterval(() => document.body.append('x'), 1)",
        "for (;;) {}",
        "setTimeout(() => { for (;;) {} }, 10)",
        "setInterval(() => { alert(1); confirm(1); prompt(1); print() }, 1)",
        "setInterval(() => window.open('/w'), 1)",
        "const f = () => Promise.resolve().then(f); f()",
        "onbeforeunload = () => 'stay'; setInterval(() => console.log('x'.repeat(1e5)), 1)",
        "new Worker(URL.createObjectURL(new Blob(['for (;;) {}'])))",
        "setInterval(() => { const a = document.createElement('a'); a.href = 'data:,'; a.download = 1; a.click() })",
    ],
)
def test_scripts_without_an_end_cost_a_bounded_time_and_the_text_is_read(code: str, folder: Path) -> None:
    with Site() as site:
        site.page("/a", html=script(code))
        started = time.monotonic()
        html = shown(site, "/a", limits=QUICK)
        assert time.monotonic() - started < 60
        assert site.paths() == ["/a"]
    assert "<p>before</p>" in html
    assert left_behind(folder) == []
    assert list(folder.iterdir()) == []


@pytest.mark.extended
def test_requests_without_an_end_are_cut_off_at_the_limit() -> None:
    with Site() as site:
        site.page(
            "/a", html=script("(async () => { for (let i = 0; ; i++) try { await fetch('/d?' + i) } catch {} })()")
        )
        site.page("/d", body="x", media_type="text/plain")
        limits = replace(PATIENT, page=PageLimits(max_requests=20))
        with pytest.raises(SourceUnreadable, match="without end"):
            shown(site, "/a", limits=limits)
        assert 15 < len(site.requests) <= 20


@pytest.mark.extended
def test_a_page_that_leads_on_and_on_is_left() -> None:
    async def onward(asked: Asked, wire: Wire) -> None:
        number = int(asked.target.partition("?")[2] or 0)
        body = f"<p>page {number}</p><meta http-equiv=refresh content='0;url=/a?{number + 1}'>"
        await wire.answer(200, body.encode(), headers={"Content-Type": "text/html"})

    with Site() as site:
        site.script("/a", onward)
        assert "page 5" in shown(site, "/a", limits=PATIENT)
        assert len(site.requests) == 6


@pytest.mark.extended
def test_a_page_with_more_bytes_than_its_share_is_cut_off() -> None:
    with Site() as site:
        site.page("/a", html=script("for (let i = 0; i < 40; i++) fetch('/d?' + i).catch(() => 0)"))
        site.page("/d", body=b"x" * (1 << 20), media_type="text/plain")
        shown(site, "/a", limits=replace(PATIENT, page=PageLimits(max_bytes=5 << 20, at_once=1)))
        assert len(site.requests) == 1 + 5


def test_a_document_that_cannot_be_had_is_the_error_of_a_fetch() -> None:
    with Site() as site:
        site.page("/pdf", body=b"%PDF-1.4", media_type="application/pdf")
        reader = open_browser(site)
        verdicts = []
        for path in ("/gone", "/pdf", "/damage/status_500"):
            with pytest.raises(SourceUnreadable) as caught:
                browse(reader, site.url(path))
            verdicts.append(caught.value.verdict)
    assert verdicts[:2] == ["missing", "unsupported"]


@pytest.mark.extended
def test_the_deadline_ends_a_page_that_never_comes(folder: Path) -> None:
    async def hang(asked: Asked, wire: Wire) -> None:
        await wire.hang()

    with Site() as site:
        site.script("/a", hang)
        site.page("/b", html=script("fetch('/a').then(() => 0)"))
        with pytest.raises(TimedOut):
            shown(site, "/a", limits=BrowserLimits(timeout_s=1))
        assert "before" in shown(site, "/b", limits=QUICK)
    assert left_behind(folder) == []
    assert list(folder.iterdir()) == []


@pytest.mark.extended
def test_a_page_beyond_the_cap_is_cut() -> None:
    with Site() as site:
        grow = "for (let i = 0; i < 3000; i++) document.body.append(document.createElement('p'), 'word '.repeat(100))"
        site.page("/a", html=script(grow))
        fetched = browse(open_browser(site, limits=BrowserLimits(max_chars=100_000)), site.url("/a"))
    assert fetched.is_cut
    assert len(fetched.body) == len("<!DOCTYPE html>") + 100_000


@pytest.mark.extended
def test_pages_that_eat_memory_cost_asky_little_of_its_own() -> None:
    with Site() as site:
        grow = "const s = 'x'.repeat(1e6); for (let i = 0; i < 3000; i++) document.body.append(s + i)"
        site.page("/huge", html=script(grow))
        site.page("/d", body=b"y" * (6 << 20), media_type="text/plain")
        flood = "for (let i = 0; i < 40; i++) fetch('/d?' + i); for (;;) console.log('x'.repeat(1e6))"
        site.page("/flood", html=script(flood))
        site.page("/long", html=script("for (let i = 0; i < 2000; i++) fetch('/d?' + 'x'.repeat(1e6) + i)"))
        for path, outcome in (("/huge", "too_large"), ("/flood", "read"), ("/long", "")):
            peak_kb, became = run_alone(site, path)
            assert became == outcome or not outcome
            assert int(peak_kb) < 300 << 10


def test_a_cancelled_visit_leaves_no_process_and_no_file(folder: Path) -> None:
    begun = threading.Event()

    async def begin(asked: Asked, wire: Wire) -> None:
        begun.set()
        await wire.answer(200, b"begun")

    async def visit(url: str) -> None:
        await open_browser(site, limits=PATIENT).fetch(url)
        pytest.fail("it was to be cancelled")

    async def main(url: str) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(visit, url)
            assert await anyio.to_thread.run_sync(begun.wait, 120)
            group.cancel_scope.cancel()

    with Site() as site:
        site.page("/a", html=script("fetch('/begun').then(() => { for (;;) {} })"))
        site.script("/begun", begin)
        anyio.run(main, site.url("/a"))
        assert site.paths() == ["/a", "/begun"]
    assert left_behind(folder) == []
    assert list(folder.iterdir()) == []


@pytest.mark.extended
def test_the_browser_ends_with_asky_when_asky_is_killed(folder: Path) -> None:
    with Site() as site:
        asked = threading.Event()

        async def hang(request: Asked, wire: Wire) -> None:
            asked.set()
            await wire.hang()

        site.page("/a", html=script("fetch('/d')"))
        site.script("/d", hang)
        process = subprocess.Popen([sys.executable, "-c", ALONE, site.authority, site.url("/a")], cwd=ROOT)
        assert asked.wait(timeout=120)
        process.kill()
        process.wait()
    assert left_behind(folder) == []


@pytest.mark.extended
def test_several_pages_at_once_do_not_see_each_other(folder: Path) -> None:
    async def main(site: Site) -> list[bytes]:
        reader = open_browser(site)
        bodies: list[bytes] = []

        async def one(path: str) -> None:
            bodies.append((await reader.fetch(site.url(path))).body)

        async with anyio.create_task_group() as group:
            for path in ("/1", "/2", "/3"):
                group.start_soon(one, path)
        return bodies

    code = "document.body.append('seen: ' + (localStorage.getItem('x') || 'nobody')); localStorage.setItem('x', 'you')"
    with Site() as site:
        for path in ("/1", "/2", "/3"):
            site.page(path, html=script(code))
        bodies = anyio.run(main, site)
    assert all(b"seen: nobody" in body for body in bodies)
    assert left_behind(folder) == []
    assert list(folder.iterdir()) == []


def test_a_browser_that_cannot_start_is_said(folder: Path) -> None:
    with Site() as site:
        site.page("/a", html="<p>a</p>")
        for program in (folder / "none", Path("/bin/true")):
            reader = BrowserFetcher(Guard([site.authority]), Pace(None), executable=program)
            with pytest.raises(NotConfigured, match="could not be started"):
                browse(reader, site.url("/a"))
    assert left_behind(folder) == []
    assert list(folder.iterdir()) == []


ALONE = textwrap.dedent("""
    import sys
    from pathlib import Path
    import anyio
    from asky.errors import SourceUnreadable
    from asky.net.browser.fetcher import BrowserFetcher, BrowserLimits
    from asky.net.guard import Guard
    from asky.net.pace import Pace

    async def main():
        reader = BrowserFetcher(Guard([sys.argv[1]]), Pace(None), BrowserLimits(timeout_s=200, idle_timeout_s=5))
        return await reader.fetch(sys.argv[2])

    try:
        anyio.run(main)
        outcome = "read"
    except SourceUnreadable as error:
        outcome = error.verdict
    peak = Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]
    print(peak, outcome)
""")


def run_alone(site: Site, path: str) -> list[str]:
    """The peak of memory, in kB, of a process that reads one page, and what became of it."""
    command = [sys.executable, "-c", ALONE, site.authority, site.url(path)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=300).stdout.split()
