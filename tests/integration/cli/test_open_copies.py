"""Questions to the web whose papers are read at open copies, as the configuration says. No model is needed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.files import pdf
from tests.support.in_process import InProcess
from tests.support.site import Site
from tests.support.twins.base import Reply
from tests.support.twins.papers import Paper, UnpaywallTwin
from tests.support.twins.web import SearxngTwin

QUESTION = "What does clay bind in the soil for centuries?"
TEXT = "Clay binds the carbon of the soil for centuries, as every probe of the old fields shows."
LANDING = (
    "<html><head><title>Clay</title></head><body><article><h1>Clay</h1><p>Clay binds carbon in the soil for centuries,"
    " say the few lines that a journal of old fields shows to everybody who comes by.</p></article></body></html>"
)


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as opened:
        opened.page("/landing", html=LANDING)
        opened.page("/open.pdf", body=pdf([TEXT], title="Clay"))
        yield opened


@pytest.fixture
def finder(site: Site) -> Iterator[UnpaywallTwin]:
    with UnpaywallTwin(rows=[Paper("Clay", doi="10.5555/clay", pdf=site.url("/open.pdf"))]) as twin:
        yield twin


@pytest.fixture
def asky(
    tmp_path: Path,
    site: Site,
    finder: UnpaywallTwin,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[InProcess]:
    home = tmp_path / "home"
    home.mkdir()
    command = InProcess(home, monkeypatch, capsys)
    row = {"url": site.url("/landing"), "title": "Clay", "content": "Clay binds carbon.", "doi": "10.5555/Clay"}
    with SearxngTwin() as twin:
        twin.play(Reply({"results": [row]}))
        for name, value in {
            "RESEARCH__EMBEDDING__MODEL": str(tmp_path / "no model"),
            "NETWORK__ALLOW_PRIVATE": json.dumps([site.authority]),
            "NETWORK__HOST_GAP_S": "0",
            "SEARCH__SEARXNG__BASE_URL": twin.base_url,
            "SEARCH__SEARXNG__GAP_S": "0",
            "SEARCH__UNPAYWALL__BASE_URL": finder.base_url,
        }.items():
            monkeypatch.setenv(f"ASKY_{name}", value)
        monkeypatch.setattr("sys.stdin", None)
        yield command


def configure(
    monkeypatch: pytest.MonkeyPatch, *providers: str, email: str | None = "ada.bly@soils.university.edu"
) -> None:
    monkeypatch.setenv("ASKY_SEARCH__PROVIDERS", json.dumps(providers))
    if email is not None:
        monkeypatch.setenv("ASKY_SEARCH__EMAIL", email)


@pytest.mark.parametrize("providers", [("searxng", "unpaywall"), ("unpaywall",)])
def test_a_finder_that_is_named_and_has_an_address_is_asked(
    asky: InProcess,
    site: Site,
    finder: UnpaywallTwin,
    monkeypatch: pytest.MonkeyPatch,
    providers: tuple[str, ...],
) -> None:
    configure(monkeypatch, *providers)
    done = asky("-r", QUESTION, "--json")
    assert done.code == 0, done.err
    assert [each["url"] for each in done.json["citations"]] == [site.url("/open.pdf")]
    assert (done.json["citations"][0]["page"], done.json["citations"][0]["quote"]) == (1, TEXT)
    assert [request.path for request in finder.requests] == ["/v2/10.5555/clay"]
    assert asky("why", "1").code == 0
    shown = asky("runs", "show").out
    assert f"searched for “10.5555/clay” (unpaywall at {finder.host}): 1 found" in shown
    assert "ada.bly" not in asky("runs", "export").out


@pytest.mark.parametrize(
    ("providers", "email"), [(("searxng",), "ada.bly@soils.university.edu"), (("searxng", "unpaywall"), None)]
)
def test_a_finder_that_is_not_named_or_has_no_address_is_not_asked(
    asky: InProcess,
    site: Site,
    finder: UnpaywallTwin,
    monkeypatch: pytest.MonkeyPatch,
    providers: tuple[str, ...],
    email: str | None,
) -> None:
    configure(monkeypatch, *providers, email=email)
    done = asky("-r", QUESTION, "--json")
    assert done.code == 0, done.err
    assert {each["url"] for each in done.json["citations"]} == {site.url("/landing")}
    assert finder.requests == []
    warned = [each for each in done.json["warnings"] if "unpaywall" in each]
    assert warned == ([] if email else ["unpaywall asks its users for an e-mail address"])


def test_offline_nobody_is_asked(
    asky: InProcess, site: Site, finder: UnpaywallTwin, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(monkeypatch, "searxng", "unpaywall")
    asky("-r", QUESTION)
    before = len(finder.requests), len(site.requests)
    assert asky("-r", QUESTION, "--offline").code == 0
    assert (len(finder.requests), len(site.requests)) == before


def test_a_finder_that_is_down_is_named_in_the_answer_and_the_paper_is_read_where_it_is(
    asky: InProcess, site: Site, finder: UnpaywallTwin, monkeypatch: pytest.MonkeyPatch
) -> None:
    finder.play("error500")
    configure(monkeypatch, "searxng", "unpaywall")
    done = asky("-r", QUESTION, "--json")
    assert done.code == 0, done.err
    assert {each["url"] for each in done.json["citations"]} == {site.url("/landing")}
    assert any(each.startswith("unpaywall could not be queried: ") for each in done.json["warnings"])
    assert "unpaywall failed: " in asky("runs", "show").out
