"""Papers are read where everybody may: at the copy that search knows, that Unpaywall knows, or at the landing page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import anyio
import pytest

from asky.config.schema import Retrieval, ShortlistSettings
from asky.errors import AskyError, Unreachable
from asky.events import Warned
from asky.research.page import ReadPage
from asky.research.run import ResearchRun
from asky.research.shortlist_types import SearchAll, Shortlist
from asky.research.source_policy import SourcePolicy
from asky.research.source_shortlist import source_shortlist
from asky.research.web.access import WebAccess
from asky.research.web.open_copies import CopyFinder, OpenCopies, named_paper
from asky.research.web.run import WebRun
from asky.search.catalog import make_service
from asky.search.port import Candidate, OpenCopy
from asky.search.providers.unpaywall import make
from asky.storage.scope import Scope
from tests.support.files import pdf
from tests.support.search_store import SearchStore
from tests.support.searching import FakeSearch, search_context, search_settings
from tests.support.site import Site
from tests.support.twins.base import Reply, Throttled
from tests.support.twins.papers import Paper, UnpaywallTwin
from tests.support.webs import LabWeb

EMAIL = "ada.bly@soils.university.edu"
QUESTION = "How does soil keep carbon?"
TEXT = "Soil keeps carbon because microbes cannot reach what is bound to clay."
ABSTRACT = "Soil keeps carbon for centuries where clay binds it. " * 4


def page(text: str) -> str:
    return f"<html><head><title>Soil</title></head><body><article><h1>Soil</h1><p>{text}</p></article></body></html>"


CAPTCHA = "<html><head><title>Just a moment...</title></head><body><p>Complete the captcha: are you human?</p></body>"


class FindingWeb(LabWeb):
    """A web with a finder of open copies."""

    finder: CopyFinder | None = None

    def open(self, run: ResearchRun, access: WebAccess, *, is_private: bool) -> WebRun:
        """See `LabWeb`."""
        return WebRun(
            run,
            collection_id=access.collection_id,
            cache=self.cache,
            searcher=self.searcher,
            make_shortlist=self._choose,
            corpus=self.store.corpus,
            runs=self.runs,
            acquirer=self.acquirer,
            max_results=20,
            max_candidates=20,
            policy=self.policy,
            is_private=is_private,
            listener=self.store.heard.append,
            finder=self.finder,
        )

    async def _choose(self, question: str, search: SearchAll, read: ReadPage) -> Shortlist:
        return await source_shortlist(
            question,
            search=search,
            read=read,
            embed=self.store.search.embed_texts,
            settings=ShortlistSettings(),
            policy=self.policy,
            today=date(2026, 11, 22),
        )


class Lab:
    """Runs over a site, a search that finds papers, and a twin of Unpaywall that knows their copies."""

    def __init__(self, folder: Path, site: Site, twin: UnpaywallTwin) -> None:
        self.site = site
        self.twin = twin
        self.store = SearchStore(folder, settings=Retrieval(engine="exact"))
        self.web = FindingWeb(self.store, site)
        self.run_id = ""

    def finder(self, email: str = EMAIL) -> CopyFinder:
        return make(
            make_service("unpaywall", search_settings("unpaywall", self.twin.base_url, email=email), search_context())
        )

    def open(self, *papers: Candidate, finder: CopyFinder | None) -> WebRun:
        """A run whose search finds `papers`."""
        self.web.search_with(FakeSearch(papers))
        run = self.web.runs.start(question=QUESTION, mode="research", model="none", session_id=None)
        self.run_id = run.id
        collection = self.store.corpus.collection("session", create=True)
        research = ResearchRun(run.id, None, Scope((collection,)), 1000, 5)
        self.web.finder = finder
        return self.web.open(research, WebAccess(collection), is_private=False)

    def read(self, *papers: Candidate, finder: CopyFinder | None = None) -> tuple[WebRun, ShortlistSettings]:
        web = self.open(*papers, finder=finder or self.finder())
        return web, anyio.run(web.shortlist, QUESTION)

    def ledger(self, kind: str) -> list[Mapping[str, Any]]:
        return [entry.data for entry in self.web.runs.ledger(self.run_id) if entry.kind == kind]

    def lookups(self) -> list[Mapping[str, Any]]:
        return [entry for entry in self.ledger("web_searched") if entry["queries"] != [QUESTION]]

    def tries(self) -> list[tuple[str, str]]:
        return [(entry["url"], entry["verdict"]) for entry in self.ledger("read")]

    def warnings(self) -> list[str]:
        return [event.message for event in self.store.heard if isinstance(event, Warned)]


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    with Site() as site:
        rows = [
            Paper("Soil", doi="10.5555/soil.1", pdf=site.url("/open.pdf")),
            Paper("Closed", doi="10.5555/closed"),
        ]
        with UnpaywallTwin(rows=rows) as twin:
            site.page("/landing", html=page(TEXT))
            site.page("/open.pdf", body=pdf([TEXT]))
            opened = Lab(tmp_path, site, twin)
            with opened.web:
                yield opened
            opened.store.close()


def paper(
    lab: Lab, doi: str | None = "10.5555/soil.1", *, url: str = "/landing", pdf_url: str | None = None
) -> Candidate:
    return Candidate(
        lab.site.url(url), "Soil and carbon", ABSTRACT, kind="paper", doi=doi, pdf_url=pdf_url and lab.site.url(pdf_url)
    )


def read_at(chosen: Shortlist) -> list[str | None]:
    return [each.page.source.url if each.page else None for each in chosen.selected]


def test_a_paper_without_a_known_copy_is_read_at_its_open_copy(lab: Lab) -> None:
    web, chosen = lab.read(paper(lab))
    assert read_at(chosen) == [lab.site.url("/open.pdf")]
    assert chosen.selected[0].candidate.url == lab.site.url("/landing")
    assert lab.tries() == [(lab.site.url("/open.pdf"), "fetched")]
    assert [asked.path for asked in lab.site.requests] == ["/open.pdf"]
    (lookup,) = lab.lookups()
    assert lookup["queries"] == ["10.5555/soil.1"]
    assert lookup["services"] == [{"name": "unpaywall", "host": lab.twin.host}]
    assert lookup["found"] == [lab.site.url("/open.pdf")]
    assert (lookup["copies"][0]["version"], lookup["failures"]) == ("acceptedVersion", [])
    assert (web.ledger.use.searches, web.ledger.use.fetches) == (2, 1)
    assert lab.twin.faults == []


def test_each_doi_is_asked_for_once_in_a_run(lab: Lab) -> None:
    web = lab.open(paper(lab), paper(lab, "10.5555/closed", url="/closed"), finder=lab.finder())
    lab.site.page("/closed", html=page(TEXT + " This paper is closed."))
    for _ in range(2):
        anyio.run(web.shortlist, QUESTION)
    assert sorted(request.path for request in lab.twin.requests) == ["/v2/10.5555/closed", "/v2/10.5555/soil.1"]


def test_without_an_open_copy_the_landing_page_is_read(lab: Lab) -> None:
    _, chosen = lab.read(paper(lab, "10.5555/closed"))
    assert read_at(chosen) == [lab.site.url("/landing")]
    assert lab.lookups()[0]["found"] == []
    assert lab.warnings() == []


def test_an_open_copy_may_be_a_page(lab: Lab) -> None:
    lab.site.page("/repository", html=page(TEXT))
    best = {"url": lab.site.url("/repository"), "url_for_pdf": None, "version": "publishedVersion"}
    lab.twin.play(Reply({"best_oa_location": best}))
    _, chosen = lab.read(paper(lab))
    assert read_at(chosen) == [lab.site.url("/repository")]


@pytest.mark.parametrize("doi", [None, "10.5555/soil.1"])
def test_a_paper_whose_copy_search_knows_or_that_has_no_doi_is_not_asked_for(lab: Lab, doi: str | None) -> None:
    lab.read(paper(lab, doi, pdf_url="/open.pdf" if doi else None))
    assert lab.twin.requests == []


def test_without_a_finder_papers_are_read_as_search_found_them(lab: Lab) -> None:
    web = lab.open(paper(lab), finder=None)
    assert read_at(anyio.run(web.shortlist, QUESTION)) == [lab.site.url("/landing")]
    assert lab.twin.requests == []


@pytest.mark.parametrize(
    ("scenario", "code"),
    [("error500", "provider"), ("echo", "authentication"), (Throttled(), "rate_limited"), ("not_json", "provider")],
)
def test_a_finder_that_fails_is_named_and_papers_are_read_at_their_landing_pages(
    lab: Lab, scenario: Any, code: str
) -> None:
    lab.twin.play(scenario)
    _, chosen = lab.read(paper(lab))
    assert read_at(chosen) == [lab.site.url("/landing")]
    (lookup,) = lab.lookups()
    assert [failed[:2] for failed in lookup["failures"]] == [["unpaywall", code]]
    assert lab.warnings()[0].startswith("unpaywall could not be queried: ")
    assert EMAIL not in f"{lookup} {lab.warnings()}"


def test_a_finder_that_fails_is_left_alone_for_the_rest_of_the_run(lab: Lab) -> None:
    lab.twin.play("echo")
    papers = []
    for number in range(12):
        lab.site.page(f"/{number}", html=page(f"{TEXT} This is report {number} of {number * 7} on clay."))
        papers.append(paper(lab, f"10.5555/{number}", url=f"/{number}"))
    lab.read(*papers)
    assert 1 <= len(lab.twin.requests) <= 2
    assert len(lab.warnings()) == len(lab.twin.requests)
    assert len(lab.tries()) == 12


def test_an_address_of_nobody_is_a_failure_that_reached_nobody(lab: Lab) -> None:
    web, chosen = lab.read(paper(lab), finder=lab.finder("test@example.com"))
    assert read_at(chosen) == [lab.site.url("/landing")]
    assert lab.twin.requests == []
    (lookup,) = lab.lookups()
    assert (lookup["services"], lookup["failures"][0][1]) == ([], "not_configured")
    assert web.ledger.use.searches == 1


@pytest.mark.parametrize(
    ("facts", "verdict"),
    [
        ({"status": 404}, "missing"),
        ({"status": 403}, "blocked"),
        ({"html": CAPTCHA}, "captcha"),
        ({"html": page("Click here to download the article. " * 20)}, "not_a_pdf"),
    ],
)
@pytest.mark.parametrize("is_known", [True, False])
def test_where_a_copy_cannot_be_read_the_landing_page_is(
    lab: Lab, facts: dict[str, Any], verdict: str, is_known: bool
) -> None:
    lab.site.page("/open.pdf", **facts)
    _, chosen = lab.read(paper(lab, pdf_url="/open.pdf" if is_known else None))
    assert read_at(chosen) == [lab.site.url("/landing")]
    assert lab.tries() == [(lab.site.url("/open.pdf"), verdict), (lab.site.url("/landing"), "fetched")]
    assert lab.ledger("read")[0]["why"]


def test_where_neither_can_be_read_both_reasons_are_told(lab: Lab) -> None:
    lab.site.page("/open.pdf", status=404)
    lab.site.page("/landing", html=CAPTCHA)
    web, chosen = lab.read(paper(lab, pdf_url="/open.pdf"))
    ((url, reason),) = chosen.rejected
    assert url == lab.site.url("/landing")
    copy, _, landing = reason.partition("; its landing page: ")
    assert "404" in copy
    assert "/landing" in landing
    assert [verdict for _, verdict in lab.tries()] == ["missing", "captcha"]
    assert web.ledger.use.fetches == 2


def test_a_copy_on_a_host_that_is_not_wanted_is_not_fetched(lab: Lab) -> None:
    with Site(host="127.0.0.2") as denied:
        denied.page("/open.pdf", body=pdf([TEXT]))
        lab.web.policy = SourcePolicy(deny_domains=("127.0.0.2",))
        candidate = Candidate(lab.site.url("/landing"), "Soil", ABSTRACT, kind="paper", pdf_url=denied.url("/open.pdf"))
        _, chosen = lab.read(candidate)
        assert denied.requests == []
    assert read_at(chosen) == [lab.site.url("/landing")]
    assert lab.tries()[0] == (denied.url("/open.pdf"), "source_refused")
    assert lab.ledger("read")[0]["why"] == "127.0.0.2: 127.0.0.2 is denied"


def test_a_paper_that_is_named_by_its_doi_may_be_read_at_a_copy_and_an_address_is_read_as_it_is() -> None:
    for url in ("https://doi.org/10.5555/Soil.1", "http://dx.doi.org/10.5555%2Fsoil.1"):
        found = named_paper(url)
        assert found is not None
        assert (found.url, found.doi, found.origin) == (url, "10.5555/soil.1", "prompt")
    assert named_paper("https://publisher.example/doi/10.5555/soil.1") is None
    assert named_paper("https://doi.org/") is None


class SlowFinder:
    """Never answers."""

    name, host = "slow", "slow.invalid"

    async def find_open_copy(self, doi: str) -> OpenCopy | None:
        await anyio.sleep_forever()
        raise AssertionError(doi)


def test_a_finder_that_does_not_answer_is_not_waited_for() -> None:
    assert patient(SlowFinder(), 0.01) == [(None, "slow did not answer within 0.01 s")]


def test_what_was_asked_is_noted_also_where_the_run_goes_on_without_an_answer() -> None:
    noted: list[str] = []

    async def main() -> None:
        async def note(doi: str, copy: OpenCopy | None, error: AskyError | None) -> None:
            noted.append(f"{doi}: {error}")

        with anyio.move_on_after(0.01):
            await OpenCopies(SlowFinder(), note).of("10.5555/soil.1")

    anyio.run(main)
    assert noted == ["10.5555/soil.1: slow did not answer in time"]


def test_several_who_want_one_paper_ask_once() -> None:
    asked: list[str] = []

    class Finder:
        name, host = "once", "once.invalid"

        async def find_open_copy(self, doi: str) -> OpenCopy | None:
            asked.append(doi)
            await anyio.lowlevel.checkpoint()
            raise Unreachable("down")

    assert patient(Finder(), 5.0, "10.5555/A", "doi:10.5555/a", "no doi") == [(None, "down")]
    assert asked == ["10.5555/a"]


def patient(finder: CopyFinder, timeout_s: float, *dois: str) -> Sequence[tuple[OpenCopy | None, str]]:
    """What is noted where `dois` are wanted at the same time."""
    noted: list[tuple[OpenCopy | None, str]] = []

    async def main() -> None:
        async def note(doi: str, copy: OpenCopy | None, error: AskyError | None) -> None:
            noted.append((copy, str(error)))

        copies = OpenCopies(finder, note, timeout_s=timeout_s)
        async with anyio.create_task_group() as group:
            for doi in dois or ("10.5555/soil.1",):
                group.start_soon(copies.of, doi)

    anyio.run(main)
    return noted
