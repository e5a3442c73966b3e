"""What a fetch sends, follows, repeats and returns."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
import trustme

from asky.concurrency import gather
from asky.errors import AskyError, RateLimited, SourceRefused, SourceUnreadable, TimedOut, Unreachable
from asky.net.pace import Pace
from asky.net.retry import Retry, Waiting
from asky.version import __version__
from tests.support.fetching import fetch, names, open_fetcher, outcome
from tests.support.searching import FakeTime
from tests.support.site import Asked, Site, Wire
from tests.support.site_damage import PAGE, to
from tests.support.site_damage import status as answer_with

NOW = 1_700_000_000.0


class Clock:
    """A clock of the day, and waits that nobody waits for."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    @property
    def waiting(self) -> Waiting:
        return Waiting(wall_clock=lambda: NOW, sleep=self.sleep, jitter=lambda: 0.5)


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        site.page("/a", "<p>The mill.</p>", etag='"1"', last_modified="Tue, 14 Nov 2023 22:13:20 GMT")
        yield site


def test_a_page_comes_with_what_its_header_says(site: Site) -> None:
    fetched = fetch(open_fetcher(site), site.url("/a#part"))
    assert fetched.requested == site.url("/a#part")
    assert fetched.url == site.url("/a")
    assert (fetched.status, fetched.body, fetched.is_cut) == (200, b"<p>The mill.</p>", False)
    assert (fetched.media_type, fetched.charset) == ("text/html", "utf-8")
    assert (fetched.etag, fetched.last_modified) == ('"1"', "Tue, 14 Nov 2023 22:13:20 GMT")
    assert fetched.redirects == ()


def test_a_request_tells_nothing_of_who_asks(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    site.page("/cookie", "<p>Have a cookie.</p>", headers={"Set-Cookie": "seen=1"})
    site.redirect("/on", "/cookie")
    fetcher = open_fetcher(site)
    fetch(fetcher, site.url("/on"))
    fetch(fetcher, site.url("/cookie"))
    assert len(site.requests) == 3
    for asked in site.requests:
        assert asked.method == "GET"
        assert set(asked.headers) == {"host", "user-agent", "accept", "accept-encoding", "connection"}
        assert asked.headers["user-agent"] == f"asky/{__version__}"
        assert asked.headers["accept-encoding"] == "gzip"
        assert asked.headers["host"] == site.authority
    assert len(site.reached) == 3, "a connection for every request"


def test_what_is_known_is_not_sent_again(site: Site) -> None:
    fetcher = open_fetcher(site)
    assert fetch(fetcher, site.url("/a"), etag='"1"').status == 304
    assert fetch(fetcher, site.url("/a"), last_modified="Tue, 14 Nov 2023 22:13:20 GMT").status == 304
    assert fetch(fetcher, site.url("/a"), etag='"0"').body == b"<p>The mill.</p>"
    assert fetch(fetcher, site.url("/a"), etag='"1"\r\nX-More: 1', last_modified="\u2713").status == 200
    assert "x-more" not in site.requests[-1].headers


def test_a_validator_that_cannot_be_sent_back_is_not_kept(site: Site) -> None:
    site.page("/b", "<p>Here.</p>", etag='"' + "a" * 3000 + '"')
    assert fetch(open_fetcher(site), site.url("/b")).etag is None
    assert fetch(open_fetcher(site), site.url("/damage/header_latin1")).etag == '"caf\xe9"'


def test_redirects_are_followed_and_written_down(site: Site) -> None:
    site.redirect("/1", "/2")
    site.redirect("/2", "3?x=1#y", status=308)
    site.page("/3", "<p>Here.</p>")
    fetched = fetch(open_fetcher(site), site.url("/1"))
    assert fetched.url == site.url("/3?x=1")
    assert fetched.redirects == (site.url("/1"), site.url("/2"))


def test_five_redirects_are_followed_and_six_are_not(site: Site) -> None:
    fetcher = open_fetcher(site)
    assert fetch(fetcher, site.url("/damage/hops/5")).body == PAGE
    with pytest.raises(SourceUnreadable, match="more than 5 redirects"):
        fetch(fetcher, site.url("/damage/hops/6"))


def test_a_redirect_to_another_host_asks_that_host_by_its_name() -> None:
    with Site() as first, Site(host="127.0.0.2") as second:
        second.page("/b", "<p>Here.</p>")
        name = f"other.test:{second.port}"
        first.redirect("/a", f"http://{name}/b")
        fetcher = open_fetcher(first, allow=[name], resolve=names({"other.test": ["127.0.0.2"]}))
        assert fetch(fetcher, first.url("/a")).url == f"http://{name}/b"
        assert second.requests[0].headers["host"] == name


def test_each_host_is_told_before_it_is_asked_and_no_other() -> None:
    told: list[str] = []
    with Site() as first, Site(host="127.0.0.2") as second:
        name = f"other.test:{second.port}"
        first.redirect("/a", f"http://{name}/b")
        first.redirect("/inside", "http://127.0.0.3/")
        fetcher = open_fetcher(first, allow=[name], resolve=names({"other.test": ["127.0.0.2"]}))
        assert outcome(fetcher, first.url("/a"), reached=told.append) == "missing"
        assert told == ["127.0.0.1", "other.test"]
        assert outcome(fetcher, first.url("/inside"), reached=told.append) == "source_refused"
        assert outcome(fetcher, "http://unknown.test/", reached=told.append) == "unreachable"
        assert told[2:] == ["127.0.0.1"]
        assert (len(first.requests), len(second.requests)) == (2, 1)


def test_two_names_of_one_address_share_no_connection(site: Site) -> None:
    both = {"one.test": ["127.0.0.1"], "two.test": ["127.0.0.1"]}
    fetcher = open_fetcher(allow=[f"{name}:{site.port}" for name in both], resolve=names(both))
    for name in both:
        fetch(fetcher, f"http://{name}:{site.port}/a")
    assert [asked.headers["host"] for asked in site.requests] == [f"{name}:{site.port}" for name in both]
    assert len(site.reached) == 2


def test_the_next_address_is_tried_where_one_does_not_answer(site: Site) -> None:
    fetcher = open_fetcher(
        allow=[f"two.test:{site.port}"], resolve=names({"two.test": ["::1", "127.0.0.9", "127.0.0.1"]})
    )
    assert fetch(fetcher, f"http://two.test:{site.port}/a").status == 200


def test_a_closed_port_is_an_unreachable_host() -> None:
    with Site() as site:
        url, authority = site.url("/"), site.authority
    with pytest.raises(Unreachable, match=r"could not reach 127\.0\.0\.1: connection refused"):
        fetch(open_fetcher(allow=[authority]), url)


def test_open_and_closed_private_ports_look_alike(site: Site) -> None:
    with Site() as closed:
        pass
    messages = []
    for port in (site.port, closed.port):
        with pytest.raises(SourceRefused) as caught:
            fetch(open_fetcher(), f"http://127.0.0.1:{port}/")
        messages.append(caught.value.message.replace(str(port), "PORT"))
    assert messages[0] == messages[1]
    assert site.reached == []


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def secure(authority: trustme.CA, *hosts: str, **options: object) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*hosts, **options).configure_cert(context)  # type: ignore[arg-type]
    return context


def trusting(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


def test_a_certificate_must_fit_the_name_that_was_asked_for(authority: trustme.CA) -> None:
    seen: list[str | None] = []
    server = secure(authority, "wiki.test")
    server.sni_callback = lambda _socket, name, _context: seen.append(name)
    with Site(tls=server) as site:
        site.page("/a", "<p>Here.</p>")
        both = {"wiki.test": ["127.0.0.1"], "other.test": ["127.0.0.1"]}
        fetcher = open_fetcher(
            allow=[f"{name}:{site.port}" for name in both], resolve=names(both), context=lambda: trusting(authority)
        )
        assert fetch(fetcher, f"https://wiki.test:{site.port}/a").body == b"<p>Here.</p>"
        with pytest.raises(Unreachable, match=r"its certificate is not valid \(.*other\.test") as caught:
            fetch(fetcher, f"https://other.test:{site.port}/a")
        assert not caught.value.retryable
        assert seen == ["wiki.test", "other.test"]
        assert len(site.requests) == 1


def test_a_certificate_that_nobody_signed_is_refused(authority: trustme.CA) -> None:
    with Site(tls=secure(authority, "127.0.0.1")) as site, pytest.raises(Unreachable, match="certificate is not valid"):
        fetch(open_fetcher(site), site.url("/a"))


def test_tls_with_a_server_that_has_none_says_so(site: Site) -> None:
    with pytest.raises(Unreachable, match="could not reach") as caught:
        fetch(open_fetcher(site), site.url("/a").replace("http:", "https:"))
    assert not caught.value.retryable


def test_a_page_is_not_taken_from_https_to_http(authority: trustme.CA, site: Site) -> None:
    with Site(tls=secure(authority, "127.0.0.1")) as secured:
        secured.redirect("/a", site.url("/a"))
        with pytest.raises(SourceRefused, match="from https to http"):
            fetch(open_fetcher(site, secured, context=lambda: trusting(authority)), secured.url("/a"))
        assert site.requests == []


@pytest.mark.parametrize("code", [408, 425, 429, 500, 502, 503, 504])
def test_what_may_pass_is_tried_three_times(code: int, site: Site) -> None:
    site.page("/busy", status=code)
    clock = Clock()
    with pytest.raises(AskyError):
        fetch(open_fetcher(site, retry=Retry(), waiting=clock.waiting), site.url("/busy"))
    assert len(site.requests) == 3
    assert clock.waits == [0.25, 0.5]


@pytest.mark.parametrize("code", [400, 401, 403, 404, 410, 451, 501])
def test_what_will_not_pass_is_tried_once(code: int, site: Site) -> None:
    site.page("/no", status=code)
    with pytest.raises(SourceUnreadable):
        fetch(open_fetcher(site, retry=Retry(), waiting=Clock().waiting), site.url("/no"))
    assert len(site.requests) == 1


def test_a_host_that_recovers_is_heard(site: Site) -> None:
    async def recover(asked: Asked, wire: Wire) -> None:
        await (answer_with(503) if len(site.requests) < 3 else answer_with(200, body=PAGE))(asked, wire)

    fetcher = open_fetcher(site, retry=Retry(), waiting=Clock().waiting)
    assert fetch(fetcher, site.script("/once-more", recover)).body == PAGE


@pytest.mark.parametrize(
    ("header", "wait_s"),
    [("7", 7.0), ("Tue, 14 Nov 2023 22:13:23 GMT", 3.0), ("Tue, 14 Nov 2023 22:13:00 GMT", 0.0), ("soon", 0.25)],
)
def test_a_wait_that_is_asked_for_is_waited_in_full(header: str, wait_s: float, site: Site) -> None:
    async def answer(asked: Asked, wire: Wire) -> None:
        slow = answer_with(429, {"Retry-After": header})
        await (slow if len(site.requests) == 1 else answer_with(200, body=PAGE))(asked, wire)

    clock = Clock()
    fetcher = open_fetcher(site, retry=Retry(), waiting=clock.waiting)
    assert fetch(fetcher, site.script("/slow", answer)).status == 200
    assert clock.waits == [wait_s]


def test_a_wait_for_which_there_is_no_time_is_not_begun(site: Site) -> None:
    clock = Clock()
    site.page("/later", status=429, headers={"Retry-After": "86400000"})
    with pytest.raises(RateLimited, match="asks clients to wait 1000 days"):
        fetch(open_fetcher(site, retry=Retry(), waiting=clock.waiting), site.url("/later"))
    site.page("/later", status=503, headers={"Retry-After": "11"})
    with pytest.raises(RateLimited, match="asks clients to wait 11 s") as limited:
        fetch(open_fetcher(site, retry=Retry(), waiting=clock.waiting, timeout_s=10.0), site.url("/later"))
    assert limited.value.wait_s == 11
    assert clock.waits == []
    assert len(site.requests) == 2


def test_tries_of_many_fetches_stay_within_a_budget(site: Site) -> None:
    site.page("/busy", status=503)
    fetcher = open_fetcher(site, retry=Retry(), waiting=Clock().waiting)

    async def main() -> None:
        await gather([site.url(f"/busy?{n}") for n in range(100)], fetcher.fetch, limit=10)

    anyio.run(main)
    assert 100 < len(site.requests) <= 123


def test_five_pages_that_come_pay_for_one_further_try(site: Site) -> None:
    site.page("/busy", status=503)
    fetcher = open_fetcher(site, retry=Retry(), waiting=Clock().waiting)

    def tries() -> int:
        before = len(site.requests)
        with pytest.raises(AskyError):
            fetch(fetcher, site.url("/busy"))
        return len(site.requests) - before

    assert [tries() for _ in range(3)] == [3, 2, 1]  # nothing is left of what there was at first
    for _ in range(5):
        fetch(fetcher, site.url("/a"))
    assert tries() == 2


def test_one_deadline_holds_for_all_redirects_and_tries(site: Site) -> None:
    async def slow(asked: Asked, wire: Wire) -> None:
        await anyio.sleep(0.3)
        await to(f"{asked.path}a")(asked, wire)

    for path in ("/s", "/sa", "/saa", "/saaa"):
        site.script(path, slow)
    with pytest.raises(TimedOut, match=r"127\.0\.0\.1 did not send the page within 0\.7 s"):
        fetch(open_fetcher(site, timeout_s=0.7), site.url("/s"))


@pytest.mark.parametrize("is_named", [True, False])
def test_waiting_for_a_turn_takes_no_time_of_a_page_that_the_user_named(site: Site, is_named: bool) -> None:
    time = FakeTime()
    fetcher = open_fetcher(
        site, pace=Pace(None, time.waiting), waiting=time.waiting, host_gap_s=3.0, per_host=1, timeout_s=7.0
    )

    async def one(number: int) -> int:
        return (await fetcher.fetch(site.url(f"/a?{number}"), named_by_user=is_named)).status

    async def main() -> list[object]:
        return list(await gather(range(6), one, limit=6))

    outcomes = anyio.run(main)
    assert outcomes.count(200) == (6 if is_named else 3)
    assert sum(time.slept) == pytest.approx(3.0 * (outcomes.count(200) - 1))


def test_a_page_that_the_user_named_has_its_time_from_its_turn_on(site: Site) -> None:
    async def hang(asked: Asked, wire: Wire) -> None:
        await anyio.sleep_forever()

    site.script("/hangs", hang)
    fetcher = open_fetcher(site, host_gap_s=0.0, per_host=1, timeout_s=0.3)

    async def one(path: str) -> object:
        return await fetcher.fetch(site.url(path), named_by_user=True)

    async def main() -> list[object]:
        return list(await gather(["/hangs", "/hangs?2", "/a"], one, limit=3))

    first, second, third = anyio.run(main)
    assert [getattr(each, "code", None) for each in (first, second)] == ["timed_out", "timed_out"]
    assert getattr(third, "status", None) == 200


def test_a_page_whose_time_is_up_between_two_turns_is_late(site: Site) -> None:
    class Lingering(Pace):
        @asynccontextmanager
        async def turn(self, key: str, *, gap_s: float, at_once: int) -> AsyncIterator[None]:
            async with super().turn(key, gap_s=gap_s, at_once=at_once):
                yield
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.2)

    site.redirect("/on", "/a")
    fetcher = open_fetcher(site, pace=Lingering(None), timeout_s=0.1)
    with pytest.raises(TimedOut, match=r"did not send the page within 0\.1 s"):
        fetch(fetcher, site.url("/on"), named_by_user=True)


def test_the_deadline_holds_while_a_name_is_looked_up() -> None:
    async def never(host: str) -> Sequence[str]:
        await anyio.sleep_forever()
        raise AssertionError

    with pytest.raises(TimedOut):
        fetch(open_fetcher(resolve=never, timeout_s=0.2), "http://mill.test/")


def test_a_deadline_of_the_caller_is_the_callers(site: Site) -> None:
    async def main() -> None:
        with anyio.move_on_after(0.2) as scope:
            await open_fetcher(site).fetch(site.url("/damage/never_answers"))
        assert scope.cancelled_caught

    anyio.run(main)


def test_a_page_is_cut_at_the_cap_and_a_pdf_at_its_own(site: Site) -> None:
    site.page("/long", "x" * 3000)
    site.page("/long.pdf", body=b"%PDF-1.7\n" + bytes(range(256)) * 12)
    fetcher = open_fetcher(site, max_page_bytes=1000, max_pdf_bytes=4000)
    page, pdf = fetch(fetcher, site.url("/long")), fetch(fetcher, site.url("/long.pdf"))
    assert (len(page.body), page.is_cut) == (1000, True)
    assert (len(pdf.body), pdf.is_cut) == (3081, False)
    assert outcome(open_fetcher(site, max_page_bytes=1000, max_pdf_bytes=2000), site.url("/long.pdf")) == "too_large"
    site.page("/just", "x" * 1000)
    assert not fetch(fetcher, site.url("/just")).is_cut


def test_a_gzipped_page_is_the_page(site: Site) -> None:
    site.page("/packed", "<p>mill</p>" * 500, gzip=True)
    assert fetch(open_fetcher(site), site.url("/packed")).body == b"<p>mill</p>" * 500


def test_fetches_from_one_host_keep_their_distance_and_their_number(site: Site, tmp_path: Path) -> None:
    running, most = 0, 0
    both, clock = asyncio.Event(), FakeTime()

    async def count(asked: Asked, wire: Wire) -> None:
        nonlocal running, most
        running, most = running + 1, max(most, running + 1)
        if running == 2:
            both.set()
        await both.wait()
        await anyio.sleep(0.2)  # for a third, which must not come
        running -= 1
        await wire.answer(200, b"<p>Here.</p>")

    site.script("/slow", count)
    pace = Pace(tmp_path / "state", clock.waiting)
    fetcher = open_fetcher(site, pace=pace, waiting=clock.waiting, host_gap_s=0.2, per_host=2, timeout_s=60.0)

    async def main() -> None:
        await gather([site.url(f"/slow?{n}") for n in range(6)], fetcher.fetch, limit=6)

    anyio.run(main)
    assert len(site.requests) == 6
    assert clock.slept == pytest.approx([0.2] * 5)
    assert most == 2
