"""What a search service says of a paper comes with the citation of its PDF, which says nothing of itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pybtex.database import parse_string

from tests.support.files import pdf
from tests.support.in_process import InProcess
from tests.support.site import Site
from tests.support.twins.base import Reply
from tests.support.twins.papers import Paper, UnpaywallTwin
from tests.support.twins.web import SearxngTwin

QUESTION = "What does clay bind in the soil for centuries?"
TEXT = "Clay binds the carbon of the soil for centuries, as every probe of the old fields shows."
# Too many to be shortened in silence: half a name would be a wrong one.
AUTHORS = ["Bly, Ada", *(f"Fitz-Marshwarden the {number}th, Bartholomew" for number in range(4, 12))]
METAS = "".join(f"<meta name='citation_author' content='{name}'>" for name in AUTHORS)
PAGE = (
    f"<html><head><title>Reeds</title>{METAS}<meta name='citation_doi' content='doi:10.5555/Reeds'>"
    "<meta name='citation_publication_date' content='2019/05/06'>"
    "<meta name='citation_journal_title' content='Soils &amp; Seas'></head><body><article><h1>Reeds</h1>"
    "<p>Reeds hold the bank of the river against every flood, as the old wardens wrote.</p>"
    "<p>More is known of the fields, where the soil was dug every spring.</p></article></body></html>"
)


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as opened:
        opened.page("/landing", html="<p>Ask your library.</p>")
        opened.page("/open.pdf", body=pdf([TEXT]))
        opened.page("/article", html=PAGE)
        yield opened


@pytest.fixture
def asky(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[InProcess]:
    home = tmp_path / "home"
    home.mkdir()
    command = InProcess(home, monkeypatch, capsys)
    row = {
        "url": site.url("/landing"), "title": "Clay & old fields", "content": "Clay binds carbon.",
        "doi": "10.5555/Clay", "authors": ["Ada Bly", "Bo Marsh"], "journal": "Soils", "publishedDate": "2021-03-09",
    }  # fmt: skip
    papers = [Paper("Clay", doi="10.5555/clay", pdf=site.url("/open.pdf"))]
    with SearxngTwin() as twin, UnpaywallTwin(rows=papers) as finder:
        twin.play(Reply({"results": [row]}))
        for name, value in {
            "RESEARCH__EMBEDDING__MODEL": str(tmp_path / "no model"),
            "NETWORK__ALLOW_PRIVATE": json.dumps([site.authority]),
            "NETWORK__HOST_GAP_S": "0",
            "SEARCH__SEARXNG__BASE_URL": twin.base_url,
            "SEARCH__SEARXNG__GAP_S": "0",
            "SEARCH__UNPAYWALL__BASE_URL": finder.base_url,
            "SEARCH__PROVIDERS": json.dumps(["searxng", "unpaywall"]),
            "SEARCH__EMAIL": "ada.bly@soils.university.edu",
        }.items():
            monkeypatch.setenv(f"ASKY_{name}", value)
        monkeypatch.setattr("sys.stdin", None)
        yield command


def test_a_pdf_is_cited_with_the_authors_the_journal_and_the_doi_that_search_knows(asky: InProcess, site: Site) -> None:
    done = asky("-r", QUESTION, "--json")
    assert done.code == 0, done.err
    cited = done.json["citations"][0]
    assert (cited["url"], cited["title"]) == (site.url("/open.pdf"), "Clay & old fields")
    assert (cited["authors"], cited["published"]) == (["Ada Bly", "Bo Marsh"], "2021-03-09")
    assert (cited["published_in"], cited["doi"]) == ("Soils", "10.5555/clay")
    (entry,) = parse_string(asky("runs", "export", "--format", "bibtex").out, "bibtex").entries.values()
    assert (entry.type, entry.key) == ("article", "bly2021clay")
    assert (entry.fields["journal"], entry.fields["doi"]) == ("Soils", "10.5555/clay")
    # read anew, the page itself says no more than before, and what was known stays
    again = asky("-r", QUESTION, "--json").json["citations"][0]
    assert (again["authors"], again["doi"]) == (cited["authors"], cited["doi"])


def test_a_page_is_cited_with_what_its_head_says(asky: InProcess, site: Site) -> None:
    done = asky("-r", f"{site.url('/article')} What holds the bank of the river against every flood?", "--json")
    assert done.code == 0, done.err
    cited = next(each for each in done.json["citations"] if each["url"] == site.url("/article"))
    assert (cited["authors"], cited["published"]) == (AUTHORS, "2019-05-06")
    assert (cited["published_in"], cited["doi"]) == ("Soils & Seas", "10.5555/reeds")
