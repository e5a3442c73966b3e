"""The cache of pages over a real site, real readers and a real store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import anyio
import pytest

from asky.concurrency import gather
from asky.config.schema import Retrieval
from asky.errors import SourceRefused, SourceUnreadable
from asky.net.fetching import Fetched, Reached
from asky.research.cache import CacheSettings, KnownFailure
from asky.research.page import WebPage
from asky.research.web.purge import Purge
from asky.storage.pages import CACHE_COLLECTION
from asky.storage.scope import Scope
from asky.storage.text_vectors import TextVectorTable
from tests.support.files import pdf_bomb
from tests.support.search_store import SearchStore
from tests.support.site import Site
from tests.support.webs import LabWeb

HOUR = 3600.0
TEXT = "The mill by the river burnt down in 1911 and was never built again, although the town voted for it twice."


def html(text: str, *links: str) -> str:
    anchors = "".join(f'<li><a href="{link}">link to {link}</a></li>' for link in links)
    return (
        f"<html><head><title>Mill</title></head><body><article><p>{text}</p></article><ul>{anchors}</ul></body></html>"
    )


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as opened:
        yield opened


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SearchStore]:
    opened = SearchStore(tmp_path, settings=Retrieval(engine="exact"))
    yield opened
    opened.close()


@pytest.fixture
def web(store: SearchStore, site: Site) -> Iterator[LabWeb]:
    with LabWeb(store, site) as opened:
        yield opened


def fetched(site: Site) -> list[str]:
    return [asked.target for asked in site.requests]


def test_a_page_is_fetched_once_and_kept_with_its_links(site: Site, web: LabWeb) -> None:
    site.page("/mill", html=html(TEXT, "/a", "http://other.example/b"))
    first = web.read(site.url("/mill"))
    again = web.read(site.url("/mill") + "#part")
    tracked = web.read(site.url("/mill?utm_source=x"))
    assert fetched(site) == ["/mill"]
    assert [first.was_cached, again.was_cached, tracked.was_cached] == [False, True, True]
    assert first.document.text == again.document.text
    assert TEXT in first.document.text
    assert [link.url for link in again.document.links] == [site.url("/a"), "http://other.example/b"]
    assert first.source == again.source
    assert first.source.kind == "web"


def test_a_stale_page_that_did_not_change_keeps_its_document(site: Site, web: LabWeb) -> None:
    site.page("/mill", html=html(TEXT), etag='"1"')
    first = web.read(site.url("/mill"))
    web.now += 2 * HOUR
    renewed = web.read(site.url("/mill"))
    assert site.requests[-1].headers["if-none-match"] == '"1"'
    assert renewed.document_id == first.document_id
    assert not renewed.was_cached
    assert web.read(site.url("/mill")).was_cached


def test_a_changed_page_is_a_new_document_and_the_old_vectors_are_gone(site: Site, web: LabWeb) -> None:
    site.page("/mill", html=html(TEXT), etag='"1"')
    first = web.read(site.url("/mill"))
    scope = Scope((web.store.corpus.collection(CACHE_COLLECTION),))
    assert web.store.search.store_chunk_embeddings(scope) > 0
    site.page("/mill", html=html("The mill stands again since 1950. " * 4), etag='"2"')
    web.now += 2 * HOUR
    changed = web.read(site.url("/mill"))
    assert changed.document_id != first.document_id
    assert changed.source.id == first.source.id
    coverage = web.store.search.coverage(scope)
    assert coverage is not None
    assert coverage.embedded == 0
    assert web.store.search.search_content_chunks("burnt 1911", scope, limit=3) == [] or all(
        "1911" not in hit.text for hit in web.store.search.search_content_chunks("burnt 1911", scope, limit=3)
    )


def test_an_address_that_failed_is_left_alone_for_a_minute(site: Site, web: LabWeb) -> None:
    with pytest.raises(SourceUnreadable) as failed:
        web.read(site.url("/nothing"))
    assert not isinstance(failed.value, KnownFailure)
    with pytest.raises(KnownFailure) as known:
        web.read(site.url("/nothing"))
    assert (known.value.verdict, known.value.message) == (failed.value.verdict, failed.value.message)
    assert len(site.requests) == 1
    with pytest.raises(SourceUnreadable):
        web.read(site.url("/nothing"), again=True)
    assert len(site.requests) == 2
    site.page("/nothing", html=html(TEXT))
    web.now += 61
    assert TEXT in web.read(site.url("/nothing")).document.text


def test_while_a_host_has_trouble_the_old_copy_is_used(site: Site, web: LabWeb) -> None:
    site.page("/mill", html=html(TEXT))
    web.read(site.url("/mill"))
    site.page("/mill", status=503)
    web.now += 2 * HOUR
    stale = web.read(site.url("/mill"))
    assert stale.is_stale
    assert TEXT in stale.document.text


def test_a_loop_of_redirects_is_trouble_and_is_remembered(site: Site, web: LabWeb) -> None:
    site.page("/mill", html=html(TEXT))
    web.read(site.url("/mill"))
    site.redirect("/mill", "/mill")
    web.now += 2 * HOUR
    assert web.read(site.url("/mill")).is_stale
    for expected in (SourceUnreadable, KnownFailure):
        with pytest.raises(expected, match="more than 5 redirects, or a loop"):
            web.read(site.url("/damage/loop"))


@pytest.mark.extended
def test_of_a_long_page_the_beginning_is_kept_unless_all_of_it_is_wanted(site: Site, web: LabWeb) -> None:
    site.page("/long", html=html(f"{TEXT}</p><p>" * 12_000), etag='"1"')
    page = web.read(site.url("/long"))
    assert page.is_cut
    assert (1 << 20) - 2_000 < len(page.document.text) <= 1 << 20
    assert web.read(site.url("/long")).is_cut
    web.now += 2 * HOUR
    whole = anyio.run(partial(web.cache.cache_url, site.url("/long"), whole=True))
    assert "if-none-match" not in site.requests[-1].headers
    assert not whole.is_cut
    assert len(whole.document.text) > 1 << 20
    assert whole.source.id == page.source.id


@pytest.mark.extended
def test_a_reader_that_waits_no_longer_leaves_the_way_free_for_others(store: SearchStore, site: Site) -> None:
    bomb = pdf_bomb(200)
    for at in range(4):
        site.page(f"/heavy{at}", body=bomb, media_type="application/pdf")
    site.page("/mill", html=html(TEXT))

    async def give_up(url: str) -> None:
        with anyio.move_on_after(1):
            await fresh.cache.cache_url(url)

    async def main() -> WebPage:
        await gather([site.url(f"/heavy{at}") for at in range(4)], give_up, limit=4)
        with anyio.fail_after(120):
            return await fresh.cache.cache_url(site.url("/mill"))

    with LabWeb(store, site) as fresh:
        assert TEXT in anyio.run(main).document.text


def test_a_page_that_is_gone_is_not_answered_from_its_old_copy(site: Site, web: LabWeb) -> None:
    site.page("/mill", html=html(TEXT))
    web.read(site.url("/mill"))
    site.page("/mill", status=404)
    web.now += 2 * HOUR
    with pytest.raises(SourceUnreadable):
        web.read(site.url("/mill"))


def test_redirects_lead_to_one_source_under_both_addresses(site: Site, web: LabWeb) -> None:
    site.page("/new", html=html(TEXT))
    site.redirect("/old", "/new")
    first = web.read(site.url("/old"))
    assert first.source.url == site.url("/new")
    assert web.read(site.url("/new")).was_cached
    assert web.read(site.url("/old")).source.id == first.source.id
    assert fetched(site) == ["/old", "/new"]


def test_readers_of_one_address_wait_for_one_fetch(site: Site, web: LabWeb) -> None:
    site.page("/mill", html=html(TEXT), delay_s=0.2)

    async def main() -> None:
        await gather([site.url("/mill")] * 5, web.cache.cache_url, limit=5)

    anyio.run(main)
    assert fetched(site) == ["/mill"]


def test_what_cannot_be_content_is_named_and_not_kept(site: Site, web: LabWeb) -> None:
    site.page("/zip", body=b"PK\x03\x04" + bytes(200), media_type="text/html")
    site.page("/cut", html=html(TEXT * 3))
    with pytest.raises(SourceUnreadable):
        web.read(site.url("/zip"))
    with pytest.raises(SourceUnreadable):
        web.read(site.url("/damage/gzip_cut"))
    with pytest.raises(SourceRefused):
        web.read("file:///etc/passwd")
    with pytest.raises(SourceRefused):
        web.read("http://10.0.0.1/")
    assert web.pages.counts(web.now).pages == 0


def test_offline_reads_what_is_kept_however_old_and_nothing_else(store: SearchStore, site: Site, web: LabWeb) -> None:
    site.page("/mill", html=html(TEXT))
    web.read(site.url("/mill"))
    with LabWeb(store) as closed:
        closed.now = web.now + 1000 * HOUR
        assert TEXT in closed.read(site.url("/mill")).document.text
        with pytest.raises(KnownFailure, match="not in the cache"):
            closed.read(site.url("/other"))
    assert fetched(site) == ["/mill"]


def test_purging_forgets_what_is_stale_but_not_what_a_session_or_a_citation_holds(site: Site, web: LabWeb) -> None:
    site.page("/kept", html=html(TEXT))
    site.page("/dropped", html=html("Another mill stood on the hill, and its wheel turned until the war came. " * 2))
    kept, dropped = web.read(site.url("/kept")), web.read(site.url("/dropped"))
    session = web.store.corpus.collection("session s", create=True)
    web.store.corpus.hold(session, [kept.source.id])
    settings = CacheSettings(ttl_s=HOUR, max_bytes=1 << 30)
    purge = Purge(web.pages, web.searches, TextVectorTable(web.store.database), settings, now=lambda: web.now)
    assert purge.run() == 0
    web.now += 2 * HOUR
    assert purge.run() == 2
    assert web.store.corpus.source(kept.source.id) is not None
    assert web.store.corpus.source(dropped.source.id) is None


def test_a_page_that_is_used_stays_where_others_go_for_want_of_room(site: Site, web: LabWeb) -> None:
    for name in ("first", "second"):
        site.page(f"/{name}", html=html(f"The {name} mill burnt down and was never built again, although they voted."))
        web.read(site.url(f"/{name}"))
        web.now += 1
    web.now += 1000
    web.read(site.url("/first"))
    kept = web.pages.get(site.url("/first"))
    assert kept is not None
    assert web.pages.outdated(web.now, keep_s=0.0, max_bytes=kept.bytes + 1) == [site.url("/second")]


def test_purging_beside_the_first_use_stops_when_asked_to(site: Site, web: LabWeb) -> None:
    settings = CacheSettings(ttl_s=HOUR, max_bytes=1 << 30)
    purge = Purge(web.pages, web.searches, TextVectorTable(web.store.database), settings, now=lambda: web.now)
    purge.start()
    purge.stop()
    purge.stop()


def test_a_page_that_needs_javascript_is_what_a_browser_makes_of_it(
    store: SearchStore, site: Site, web: LabWeb
) -> None:
    shell = (
        '<html><head><title>App</title></head><body><div id="root"></div><script src="/app.js"></script></body></html>'
    )
    site.page("/app", html=shell)
    with pytest.raises(SourceUnreadable) as refused:
        web.read(site.url("/app"))
    assert refused.value.verdict == "needs_javascript"
    asked: list[str] = []

    async def browse(url: str, reached: Reached) -> Fetched:
        reached("scripts.example")
        asked.append(url)
        return Fetched(url, url, 200, html(TEXT).encode(), "text/html", "utf-8")

    with LabWeb(store, site, browse=browse) as seeing:
        seeing.now = web.now + 100
        assert TEXT in seeing.read(site.url("/app")).document.text
    assert asked == [site.url("/app")]


def test_every_host_is_told_that_was_asked_for_a_page(store: SearchStore, site: Site, web: LabWeb) -> None:
    site.page("/app", html='<html><body><div id="root"></div><script src="/app.js"></script></body></html>')
    site.page("/tides", html=html(TEXT))

    async def browse(url: str, reached: Reached) -> Fetched:
        reached("scripts.example")
        return Fetched(url, url, 200, html(TEXT).encode(), "text/html", "utf-8")

    async def hosts_of(seeing: LabWeb, path: str) -> list[str]:
        told: list[str] = []
        with suppress(SourceUnreadable):
            await seeing.cache.cache_url(site.url(path), reached=told.append)
        return told

    with LabWeb(store, site, browse=browse) as seeing:
        assert anyio.run(hosts_of, seeing, "/app") == [site.host, "scripts.example"]
        assert anyio.run(hosts_of, seeing, "/app") == []
        assert anyio.run(hosts_of, seeing, "/missing") == [site.host]
        assert anyio.run(hosts_of, seeing, "/missing") == []
    assert site.paths() == ["/app", "/missing"]
