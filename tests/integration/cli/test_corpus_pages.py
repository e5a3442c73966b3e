"""`asky corpus add URL`: pages of a loopback site in the corpus, cited and opened. No model is needed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pymupdf
import pytest

from tests.support.files import pdf
from tests.support.in_process import InProcess
from tests.support.site import Asked, Site, Wire

MOON = "The moon raises two high tides a day, which sailors on every coast of the ocean know by heart."
SUN = "The sun raises smaller tides of its own, a little less than half as high as those of the moon."
CAPTCHA = "<html><head><title>Just a moment...</title></head><body><p>Complete the captcha: are you human?</p></body>"


def page(text: str, title: str = "Tides") -> str:
    return (
        f"<html><head><title>{title}</title></head><body><nav><a href='/'>Home</a></nav><article><h1>{title}</h1>"
        f"<h2>Causes</h2><p>{text}</p></article></body></html>"
    )


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as opened:
        opened.page("/tides", html=page(MOON), etag='"1"')
        opened.page("/report.pdf", body=pdf(["An empty beginning.", SUN]))
        opened.redirect("/moved", "/tides")
        opened.page("/gone", status=404)
        opened.page("/check", html=CAPTCHA)
        yield opened


@pytest.fixture
def asky(tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    home = tmp_path / "home"
    home.mkdir()
    command = InProcess(home, monkeypatch, capsys)
    monkeypatch.setenv("ASKY_RESEARCH__EMBEDDING__MODEL", str(tmp_path / "no model"))
    monkeypatch.setenv("ASKY_NETWORK__ALLOW_PRIVATE", json.dumps([site.authority]))
    monkeypatch.setenv("ASKY_NETWORK__HOST_GAP_S", "0")
    monkeypatch.setattr("sys.stdin", None)
    return command


def asked(site: Site) -> list[str]:
    return [each.path for each in site.requests]


def collections(asky: InProcess) -> list[str]:
    found: list[str] = asky("corpus", "list", "--collections", "--json").json["collections"]
    return found


def test_what_a_page_was_read_without_is_named(asky: InProcess, site: Site) -> None:
    with pymupdf.open(stream=pdf(["A plan of the harbour."])) as document:
        document.embfile_add("plan.dwg", b"AC1032\0\1", filename="plan.dwg")
        site.page("/plan.pdf", body=document.tobytes())
    url = site.url("/plan.pdf")
    part = {"path": url, "verdict": "partial", "part": "plan.dwg", "message": "no reader for it"}
    added = asky("corpus", "add", url, "--json").json
    assert (added["unread"], added["unread_count"]) == ([part], 1)
    assert asky("cache", "show", url, "--json").json["unread"] == [part]
    line = f"{url}: 1 part was not read: plan.dwg (no reader for it)"
    assert line in asky("cache", "show", url).err
    assert line in asky("corpus", "add", url).err
    asky("corpus", "add", site.url("/gone"))
    (gone,) = asky("cache", "show", site.url("/gone"), "--json").json["unread"]
    assert (gone["path"], gone["verdict"]) == (site.url("/gone"), "failed")


def test_a_page_and_a_pdf_are_found_cited_and_opened(asky: InProcess, site: Site) -> None:
    added = asky("corpus", "add", site.url("/tides"), site.url("/report.pdf"), "--collection", "sea", "--json")
    assert (added.code, added.err) == (0, "")
    (report,) = added.json["reports"]
    assert report["verdicts"] == {"indexed": 2}
    assert report["passages_added"] >= 2
    assert sorted(asked(site)) == ["/report.pdf", "/tides"]  # who names a page need not ask robots.txt
    hits = asky("search", "sun smaller tides", "--collection", "sea", "--json").json["hits"]
    assert (hits[0]["url"], hits[0]["page"]) == (site.url("/report.pdf"), 2)
    said = asky("-r", "What do sailors on every coast of the ocean know by heart?", "--collection", "sea", "--json")
    assert said.code == 0, said.err
    answer = said.json
    cited = answer["citations"][0]
    assert (cited["kind"], cited["url"], cited["section"]) == ("web", site.url("/tides"), "Tides › Causes")
    assert len(site.requests) == 2
    opened = asky("why", "1")
    assert opened.code == 0
    assert "two high tides a day" in opened.out
    assert "checked: the stored text has this hash" in opened.out


def test_a_page_that_is_added_again_is_asked_for_again(asky: InProcess, site: Site) -> None:
    url = site.url("/tides")
    asky("corpus", "add", url)
    again = asky("corpus", "add", url, "--json").json["reports"][0]
    assert site.requests[-1].headers["if-none-match"] == '"1"'
    assert (again["verdicts"], again["passages_added"]) == ({"unchanged": 1}, 0)
    site.page("/tides", html=page("Tides come late in spring, and herons know it well."), etag='"2"')
    changed = asky("corpus", "add", url, "--json").json["reports"][0]
    assert (changed["verdicts"], changed["passages_added"]) == ({"indexed": 1}, 1)
    assert asky("search", "sailors", "--json").json["hits"] == []
    assert len(asky("search", "herons", "--json").json["hits"]) == 1
    assert len(asky("corpus", "list", "--json").json["sources"]) == 1


def test_an_address_that_failed_is_tried_again_at_once(asky: InProcess, site: Site) -> None:
    assert asky("corpus", "add", site.url("/late")).code == 1
    site.page("/late", html=page(MOON))
    assert asky("corpus", "add", site.url("/late")).code == 0


def test_a_page_that_is_gone_when_it_is_added_again_stays_as_it_was(asky: InProcess, site: Site) -> None:
    asky("corpus", "add", site.url("/tides"))
    site.page("/tides", status=404)
    assert asky("corpus", "add", site.url("/tides")).code == 1
    assert len(asky("search", "moon", "--json").json["hits"]) == 1


@pytest.mark.extended
def test_while_its_host_has_trouble_a_page_stays_and_that_is_said(asky: InProcess, site: Site) -> None:
    asky("corpus", "add", site.url("/tides"))
    site.page("/tides", status=500)
    done = asky("corpus", "add", site.url("/tides"))
    assert done.code == 0
    assert "its host is failing, so the earlier text is kept" in done.err


def test_one_page_is_added_once_whatever_way_it_is_written(asky: InProcess, site: Site) -> None:
    urls = (site.url("/tides"), site.url("/tides#part"), site.url("/tides?utm_source=x"), site.url("/moved"))
    report = asky("corpus", "add", *urls, "--json").json["reports"][0]
    assert sum(report["verdicts"].values()) == 2
    listed = asky("corpus", "list", "--json").json["sources"]
    assert [each["url"] for each in listed] == [site.url("/tides")]


@pytest.mark.parametrize(
    ("path", "message"),
    [("/gone", "127.0.0.1 has no such page (HTTP 404)"), ("/check", "/check: a test for humans instead of the page")],
)
def test_what_is_no_page_is_an_error_of_one_line_and_leaves_nothing(
    asky: InProcess, site: Site, path: str, message: str
) -> None:
    done = asky("corpus", "add", site.url(path))
    assert (done.code, done.out) == (1, "")
    first, *hint = done.err.splitlines()
    assert first.startswith("asky: ")
    assert first.endswith(message)
    assert all(line.startswith("hint: ") for line in hint)
    error = asky("corpus", "add", site.url(path), "--json")
    assert (error.code, error.out, error.error["code"]) == (1, "", "source_unreadable")
    assert collections(asky) == []


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("ftp://example.org/a", "only http and https are fetched"),
        ("local://notes.md", "only http and https are fetched"),
        ("http://", "it has no host"),
        ("https://ann:secret@example.org/", "https://example.org/: it contains a user name"),
    ],
)
def test_what_is_no_address_of_a_page_is_refused_before_anything_is_written(
    asky: InProcess, site: Site, url: str, message: str
) -> None:
    done = asky("corpus", "add", site.url("/tides"), url)
    assert done.code == 2
    assert message in done.err
    assert "secret" not in done.err
    assert (asked(site), collections(asky)) == ([], [])


@pytest.mark.parametrize("url", ["http://10.0.0.1/", "http://127.0.0.1:9/", "http://[::1]/"])
def test_a_private_address_is_refused_with_the_way_to_allow_it(asky: InProcess, url: str) -> None:
    done = asky("corpus", "add", url)
    assert done.code == 1
    message, hint = done.err.splitlines()
    assert message.startswith("asky: refused: ")
    assert hint.startswith("hint: if it is yours, add ")
    assert hint.endswith(" to network.allow_private")
    assert collections(asky) == []


def test_a_denied_page_is_not_read_nor_one_that_leads_there(
    asky: InProcess, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Site(host="127.0.0.2") as denied:
        denied.page("/tides", html=page(MOON))
        site.redirect("/there", denied.url("/tides"))
        monkeypatch.setenv("ASKY_NETWORK__ALLOW_PRIVATE", json.dumps([site.authority, denied.authority]))
        monkeypatch.setenv("ASKY_RESEARCH__SOURCES__DENY_DOMAINS", '["127.0.0.2"]')
        for url in (denied.url("/tides"), site.url("/there")):
            done = asky("corpus", "add", url)
            assert done.code == 1
            assert "127.0.0.2: 127.0.0.2 is denied" in done.err
    assert "default" not in collections(asky)


def test_offline_pages_of_the_cache_are_added_and_no_others(asky: InProcess, site: Site) -> None:
    missing = asky("corpus", "add", "--offline", site.url("/tides"))
    assert missing.code == 1
    assert "is not in the cache" in missing.err
    assert collections(asky) == []
    asky("corpus", "add", site.url("/tides"), "--collection", "one")
    before = asked(site)
    done = asky("corpus", "add", "--offline", site.url("/tides"), "--collection", "two", "--json")
    assert (done.code, done.json["reports"][0]["verdicts"]) == (0, {"indexed": 1})
    assert done.json["reports"][0]["passages_added"] == 0
    assert asked(site) == before
    assert len(asky("search", "moon", "--collection", "two", "--json").json["hits"]) == 1


def test_one_that_fails_does_not_lose_the_others(asky: InProcess, site: Site, tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("# Bread\n\nBread rises with yeast.\n")
    given = (site.url("/gone"), str(note), site.url("/tides"))
    done = asky("corpus", "add", *given)
    assert done.code == 1
    assert f"{site.url('/gone')}: missing: 127.0.0.1 has no such page (HTTP 404)" in done.err
    assert done.err.splitlines()[-1] == "asky: 127.0.0.1 has no such page (HTTP 404)"
    assert len(asky("corpus", "list", "--json").json["sources"]) == 2
    again = asky("corpus", "add", *given, "--json")
    assert [each["verdicts"] for each in again.json["reports"]] == [{"unchanged": 1}, {"missing": 1, "unchanged": 1}]
    assert (again.code, again.error["code"]) == (1, "source_unreadable")
    assert [each["verdict"] for each in again.json["reports"][1]["problems"]] == ["missing"]


def test_a_path_that_is_not_there_leaves_the_pages_beside_it_unread(asky: InProcess, site: Site) -> None:
    done = asky("corpus", "add", site.url("/tides"), "nowhere")
    assert done.code == 2
    assert (asked(site), collections(asky)) == ([], [])


@pytest.mark.extended
def test_the_exit_code_tells_a_host_that_is_down_from_a_page_that_is_missing(asky: InProcess, site: Site) -> None:
    async def leave(_: Asked, wire: Wire) -> None:
        await wire.reset()

    site.script("/a", leave)
    site.script("/b", leave)
    assert asky("corpus", "add", site.url("/a")).code == 5
    both = asky("corpus", "add", site.url("/a"), site.url("/b"))
    assert both.code == 5
    assert "2 of 2 could not be added" in both.err
    mixed = asky("corpus", "add", site.url("/a"), site.url("/gone"), site.url("/tides"))
    assert mixed.code == 1
    assert "2 of 3 could not be added" in mixed.err


def test_a_page_can_be_removed_and_added_again_and_a_sync_leaves_it_alone(
    asky: InProcess, site: Site, tmp_path: Path
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "note.md").write_text("Bread rises with yeast.\n")
    asky("corpus", "add", site.url("/tides"), str(tmp_path / "docs"))
    before = asked(site)
    assert asky("corpus", "sync").code == 0
    assert asked(site) == before
    assert len(asky("corpus", "list", "--json").json["sources"]) == 2
    assert "removed 1 document" in asky("corpus", "rm", site.url("/tides")).err
    assert asky("search", "moon", "--json").json["hits"] == []
    assert asky("corpus", "add", site.url("/tides"), "--json").json["reports"][0]["verdicts"] == {"indexed": 1}


def test_a_page_of_the_corpus_outlives_the_cache(asky: InProcess, site: Site) -> None:
    asky("corpus", "add", site.url("/tides"))
    assert asky("cache", "clear").code == 0
    assert len(asky("search", "moon", "--json").json["hits"]) == 1
    assert asky("corpus", "add", site.url("/tides"), "--json").json["reports"][0]["verdicts"] == {"unchanged": 1}


def test_a_page_that_is_cut_says_so(asky: InProcess, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASKY_NETWORK__MAX_PAGE_MB", "1")
    site.page("/long.txt", body=(MOON + "\n").encode() * 16_000)
    done = asky("corpus", "add", site.url("/long.txt"), "--no-embed")
    assert done.code == 0
    assert "only its beginning was read" in done.err
