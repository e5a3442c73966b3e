"""What a host says to crawlers is kept to, and asked for once."""

from __future__ import annotations

from collections.abc import Iterator

import anyio
import pytest

from asky.concurrency import gather
from asky.errors import SourceRefused, Unreachable
from asky.net.pace import Pace
from asky.net.retry import Waiting
from tests.support.fetching import fetch, open_fetcher, outcome
from tests.support.searching import FakeTime
from tests.support.site import Asked, Site, Wire
from tests.support.site_damage import endless, wait_after


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        for path in ("/a", "/private", "/private/b", "/c.pdf", "/d?x=1"):
            site.page(path.partition("?")[0], "<p>Here.</p>")
        yield site


def read(site: Site, path: str = "/private", timeout_s: float = 10.0) -> str:
    return outcome(open_fetcher(site, robots=True, timeout_s=timeout_s), site.url(path))


VARIANTS = [
    ("User-agent: *\nDisallow: /private", "/private", "source_refused"),
    ("User-agent: *\nDisallow: /private", "/private/b", "source_refused"),
    ("User-agent: *\nDisallow: /private", "/a", "ok"),
    ("User-agent: asky\nDisallow: /\n\nUser-agent: *\nDisallow:", "/a", "source_refused"),
    ("User-agent: ASKY\nAllow: /\n\nUser-agent: *\nDisallow: /", "/a", "ok"),
    ("User-agent: Googlebot\nDisallow: /", "/a", "ok"),
    ("User-agent: *\nDisallow: /private\nAllow: /private/b", "/private/b", "ok"),
    ("User-agent: *\nDisallow: /*.pdf$", "/c.pdf", "source_refused"),
    ("User-agent: *\nDisallow: /*?x=", "/d?x=1", "source_refused"),
    ("User-agent: *\r\nDisallow: /private\r\n", "/private", "source_refused"),
    ("\ufeffUser-agent: *\nDisallow: /private", "/private", "source_refused"),
    ("User-agent: *\nDisallow:", "/private", "ok"),
    ("User-agent: Googlebot\nUser-agent: asky*\nUser-agent: Bingbot # and so on\nDisallow: /", "/a", "source_refused"),
    ("User-agent: asky-image\nUser-agent: masky\nUser-agent: *bot\nDisallow: /", "/a", "ok"),
    ("User-agent: Googlebot\nDisallow: /\nUser-agent: *\nAllow: /", "/a", "ok"),
    ("", "/private", "ok"),
    ("<html>no robots here</html>", "/private", "ok"),
    (b"\xff\xfe\x00garbage\x00", "/private", "ok"),
    ("# " + "a" * 400_000 + "\nUser-agent: *\nDisallow: /private", "/private", "source_refused"),
    ("User-agent: *\nDisallow: /" + "*a" * 20_000 + "$", "/private", "ok"),
]


@pytest.mark.parametrize(("text", "path", "word"), VARIANTS, ids=[str(n) for n in range(len(VARIANTS))])
def test_what_robots_txt_says_is_kept_to(text: str | bytes, path: str, word: str, site: Site) -> None:
    site.robots(text)
    assert read(site, path) == word
    assert site.paths()[0] == "/robots.txt"
    assert (path.partition("?")[0] in site.paths()) is (word == "ok")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 429])
def test_no_robots_txt_allows(status: int, site: Site) -> None:
    site.robots("User-agent: *\nDisallow: /", status=status)
    assert read(site) == "ok"


@pytest.mark.parametrize("status", [500, 503])
def test_a_broken_robots_txt_forbids(status: int, site: Site) -> None:
    site.robots("User-agent: *\nAllow: /", status=status)
    assert read(site) == "source_refused"


def test_robots_txt_may_be_somewhere_else(site: Site) -> None:
    site.page("/other.txt", body="User-agent: *\nDisallow: /private")
    site.redirect("/robots.txt", "/other.txt", status=301)
    assert read(site) == "source_refused"
    site.redirect("/robots.txt", "/damage/loop")
    assert read(site) == "ok"
    site.redirect("/robots.txt", "http://169.254.169.254/")
    assert read(site) == "ok"


def test_a_robots_txt_that_never_comes_forbids_and_leaves_time(site: Site) -> None:
    site.script("/robots.txt", wait_after())
    assert read(site, timeout_s=1.0) == "source_refused"
    site.script("/robots.txt", endless("HTTP/1.1 200 OK\r\n\r\n", b"# and so on\n" * 500))
    assert read(site) == "ok"
    site.script("/robots.txt", wait_after("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nUser-agent: *"))
    assert read(site, timeout_s=1.0) == "source_refused"


def test_a_refusal_names_the_rule_and_the_way_round_it(site: Site) -> None:
    site.robots("User-agent: *\nDisallow: /private")
    with pytest.raises(SourceRefused) as caught:
        fetch(open_fetcher(site, robots=True), site.url("/private"))
    assert "robots.txt of 127.0.0.1 disallows reading /private" in caught.value.message
    assert "network.robots" in (caught.value.hint or "")


def test_a_user_who_asks_for_a_page_is_no_crawler(site: Site) -> None:
    site.robots("User-agent: *\nDisallow: /")
    assert fetch(open_fetcher(site, robots=True), site.url("/private"), named_by_user=True).status == 200
    assert fetch(open_fetcher(site, robots=False), site.url("/private")).status == 200
    assert site.paths() == ["/private", "/private"]


def test_a_redirect_does_not_lead_round_the_rules() -> None:
    with Site() as open_site, Site() as closed:
        closed.robots("User-agent: *\nDisallow: /")
        closed.page("/a", "<p>Here.</p>")
        open_site.redirect("/a", closed.url("/a"))
        assert outcome(open_fetcher(open_site, closed, robots=True), open_site.url("/a")) == "source_refused"
        assert closed.paths() == ["/robots.txt"]


def test_a_robots_txt_with_many_names_and_many_rules_is_read_in_time(site: Site) -> None:
    names = "".join(f"User-agent: a{n}\nSitemap: /{n}\n" for n in range(8_000))
    site.robots(f"{names}User-agent: asky\nDisallow: /private*\n" + "Disallow: /x*y$\n" * 15_000)
    assert read(site, timeout_s=60.0) == "source_refused"


def test_many_fetches_ask_once(site: Site) -> None:
    site.robots("User-agent: *\nDisallow: /private")
    fetcher = open_fetcher(site, robots=True)

    async def main() -> None:
        await gather([site.url(f"/a?{n}") for n in range(20)], fetcher.fetch, limit=20)

    anyio.run(main)
    assert site.paths().count("/robots.txt") == 1
    assert site.paths().count("/a") == 20


def test_a_host_that_is_down_is_unreachable_and_not_forbidden() -> None:
    with Site() as site:
        pass
    with pytest.raises(Unreachable):
        fetch(open_fetcher(site, robots=True), site.url("/a"))


def test_the_delay_that_a_host_asks_for_is_kept(site: Site) -> None:
    site.robots("User-agent: *\nCrawl-delay: 0.3")
    clock = FakeTime()
    fetcher = open_fetcher(site, robots=True, pace=Pace(None, clock.waiting), waiting=clock.waiting)

    async def main() -> None:
        await gather([site.url(f"/a?{n}") for n in range(3)], fetcher.fetch, limit=3)

    anyio.run(main)
    assert site.paths().count("/a") == 3
    assert clock.slept == pytest.approx([0.3] * 2)


def test_a_delay_of_days_is_cut(site: Site) -> None:
    site.robots("User-agent: *\nCrawl-delay: 86400")
    fetcher = open_fetcher(site, robots=True, timeout_s=5.0)

    async def main() -> list[str]:
        found = await gather([site.url("/a"), site.url("/c.pdf")], fetcher.fetch, limit=2)
        return sorted(getattr(one, "code", "ok") for one in found)

    assert anyio.run(main) == ["ok", "rate_limited"]


def test_a_host_is_asked_again_after_a_failure(site: Site) -> None:
    now = 1000.0
    answers = iter([503, 200])

    async def answer(asked: Asked, wire: Wire) -> None:
        await wire.answer(next(answers), b"User-agent: *\nAllow: /")

    site.script("/robots.txt", answer)
    fetcher = open_fetcher(site, robots=True, waiting=Waiting(clock=lambda: now))
    assert outcome(fetcher, site.url("/a")) == "source_refused"
    assert outcome(fetcher, site.url("/a")) == "source_refused"
    now += 100
    assert outcome(fetcher, site.url("/a")) == "ok"
    assert site.paths().count("/robots.txt") == 2


def hosts_told(site: Site, path: str, **options: bool) -> list[str]:
    told: list[str] = []
    outcome(open_fetcher(site, robots=True), site.url(path), reached=told.append, **options)
    return told


def test_a_host_whose_robots_txt_was_asked_for_counts_as_reached(site: Site) -> None:
    site.robots("User-agent: *\nDisallow: /private")
    assert hosts_told(site, "/private") == [site.host]
    assert site.paths() == ["/robots.txt"]
    assert hosts_told(site, "/a") == [site.host, site.host]
    assert hosts_told(site, "/private", named_by_user=True) == [site.host]
    assert len(site.requests) == 4
