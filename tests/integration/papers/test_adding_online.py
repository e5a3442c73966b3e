"""Papers added by ids and addresses: looked up in registries, fetched where they are open, and kept once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import anyio
import pytest

from asky.app.asky import Asky
from asky.errors import UsageError
from asky.papers.keeping import AddedPaper
from asky.runs.access import Access
from asky.storage.scope import Scope
from asky.values import PRIVATE_KINDS
from tests.support.files import pdf
from tests.support.paper_world import MirroredAsky, PaperWorld, paper_world
from tests.support.papers import TEXT, paper_pdf
from tests.support.twins.papers import Paper

TITLE = "On the tides of nine harbours"
NEW, OLD = "2101.00001", "hep-th/9901001"


@pytest.fixture
def world() -> Iterator[PaperWorld]:
    with paper_world() as opened:
        yield opened


@pytest.fixture
def asky(world: PaperWorld, tmp_path: Path) -> Iterator[Asky]:
    with MirroredAsky(world, tmp_path) as opened:
        yield opened


def add(asky: Asky, *arguments: str | Path, **options: bool) -> list[AddedPaper]:
    return list(anyio.run(partial(asky.papers.add, arguments, **options)).outcomes)


def retry(asky: Asky, **options: bool) -> list[AddedPaper]:
    return list(anyio.run(partial(asky.papers.retry, **options)).outcomes)


def short(added: list[AddedPaper]) -> list[tuple[str, str, str | None]]:
    return [(each.file, each.outcome, each.paper.name if each.paper is not None else None) for each in added]


def tides(**facts: object) -> Paper:
    return Paper(TITLE, authors=(("Ann", "Marsh"),), day="2021-02-03", **facts)  # type: ignore[arg-type]


def test_an_arxiv_id_is_looked_up_and_its_own_pdf_is_kept_in_the_version_found(asky: Asky, world: PaperWorld) -> None:
    world.know(tides(arxiv=NEW))
    world.site.page(f"/arxiv/pdf/{NEW}v2", body=paper_pdf(arxiv=f"{NEW}v2"), media_type="application/pdf")
    (added,) = add(asky, f"arXiv:{NEW}")
    assert (added.outcome, added.paper and added.paper.name, added.why) == ("added", f"{NEW}v2", None)
    (paper,) = asky.papers.papers()
    assert (paper.source.kind, paper.source.url) == ("paper", f"https://arxiv.org/abs/{NEW}v2")
    assert (paper.source.title, paper.source.authors, paper.source.published) == (TITLE, ("Ann Marsh",), "2021-02-03")
    assert "tides" in anyio.run(asky.papers.search, "moon")[0].hit.text
    before = world.sent
    assert short(add(asky, NEW, f"https://arxiv.org/abs/{NEW}v1")) == [(NEW, "known", f"{NEW}v2")]
    assert world.sent == before, "nothing is sent for what is known"


def test_the_version_that_is_asked_for_is_read_and_a_newer_one_takes_its_place(asky: Asky, world: PaperWorld) -> None:
    world.know(tides(arxiv=NEW, versions=3))
    for number in (1, 3):
        body = paper_pdf(f"Draft of {TITLE}" if number == 1 else TITLE, pages=[f"{TEXT} In words of {number}."])
        world.site.page(f"/arxiv/pdf/{NEW}v{number}", body=body, media_type="application/pdf")
    (added,) = add(asky, f"{NEW}v1")
    assert added.paper is not None
    assert (added.paper.name, added.paper.notice_texts) == (f"{NEW}v1", (f"newer version {NEW}v3 exists",))
    (updated,) = add(asky, f"{NEW}v3")
    assert updated.paper is not None
    assert (updated.outcome, updated.paper.name, updated.paper.notice_texts) == ("updated", f"{NEW}v3", ())
    (older,) = add(asky, f"{NEW}v1")
    assert (older.outcome, older.why) == ("known", f"the paper {NEW}v3")


@pytest.mark.parametrize(
    "argument", ["10.5555/Tides.1", "PMID:41000001", "doi.org/10.5555/tides.1", "https://doi.org/10.5555/tides.1"]
)
def test_a_doi_and_a_pmid_are_read_at_the_open_copy_that_a_registry_knows(
    asky: Asky, world: PaperWorld, argument: str
) -> None:
    url = world.site.page("/tides.pdf", body=paper_pdf())
    world.know(tides(doi="10.5555/tides.1", pmid="41000001", pdf=url, venue="Tides Today"))
    (added,) = add(asky, argument)
    assert (added.outcome, added.why) == ("added", None)
    (paper,) = asky.papers.papers()
    assert (paper.id, paper.doi, paper.status) == ("10.5555/tides.1", "10.5555/tides.1", "complete")
    assert (paper.source.published_in, paper.notices_checked_at is not None) == ("Tides Today", True)
    before = world.sent
    assert [each.outcome for each in add(asky, "10.5555/tides.1")] == ["known"]
    assert world.sent == before


def test_the_finder_is_asked_where_no_registry_knows_an_open_copy(asky: Asky, world: PaperWorld) -> None:
    url = world.site.page("/tides.pdf", body=paper_pdf())
    world.know(tides(doi="10.5555/tides.1"))
    world.twins["unpaywall"].rows = (tides(doi="10.5555/tides.1", pdf=url),)
    assert short(add(asky, "10.5555/tides.1")) == [("10.5555/tides.1", "added", "10.5555/tides.1")]


def test_a_paper_without_an_open_pdf_is_kept_and_completed_later(asky: Asky, world: PaperWorld) -> None:
    world.know(tides(doi="10.5555/tides.1", pdf=world.site.url("/tides.pdf")))
    (added,) = add(asky, "10.5555/tides.1")
    assert added.outcome == "unread"
    assert added.why is not None
    assert "127.0.0.1" in added.why
    (paper,) = asky.papers.find("tides")
    assert (paper.status, paper.source.title, paper.source.authors) == ("no_pdf", TITLE, ("Ann Marsh",))
    before = world.sent
    (again,) = add(asky, "10.5555/tides.1")
    assert (again.outcome, "asky papers retry" in (again.why or ""), world.sent) == ("known", True, before)
    (offline,) = retry(asky, offline=True)
    assert (offline.outcome, world.sent) == ("unread", before)
    world.site.page("/tides.pdf", body=paper_pdf())
    assert short(retry(asky)) == [("10.5555/tides.1", "updated", "10.5555/tides.1")]
    assert asky.papers.papers()[0].status == "complete"
    assert retry(asky) == []


def test_a_local_pdf_completes_a_paper_that_has_none(asky: Asky, world: PaperWorld, tmp_path: Path) -> None:
    world.know(tides(doi="10.5555/tides.1"))
    add(asky, "10.5555/tides.1")
    (tmp_path / "a.pdf").write_bytes(paper_pdf(doi="10.5555/tides.1"))
    before = world.sent
    assert short(add(asky, tmp_path / "a.pdf")) == [("a.pdf", "updated", "10.5555/tides.1")]
    (paper,) = asky.papers.papers()
    assert (paper.status, paper.source.kind, world.sent) == ("complete", "file", before)


@pytest.mark.few(4)
@pytest.mark.parametrize("damage", ["locked", "cut", "page", "gone", "bomb"])
def test_a_pdf_that_cannot_be_read_is_named_with_the_reason(asky: Asky, world: PaperWorld, damage: str) -> None:
    site = world.site
    url = {
        "locked": site.page("/locked.pdf", body=pdf(["secret"], password="x")),
        "cut": site.page("/cut.pdf", body=paper_pdf()[:400]),
        "page": site.page("/page.pdf", html="<p>Please sign in.</p>"),
        "gone": site.url("/gone.pdf"),
        "bomb": site.url("/damage/bomb"),
    }[damage]
    fine = site.page("/fine.pdf", body=paper_pdf("Why bread rises in warm rooms"))
    world.know(
        tides(doi="10.5555/tides.1", pdf=url), Paper("Why bread rises in warm rooms", doi="10.5555/bread", pdf=fine)
    )
    added = add(asky, "10.5555/tides.1", "10.5555/bread")
    assert [each.outcome for each in added] == ["unread", "added"], "one failure never ends the rest"
    assert added[0].why
    assert [each.status for each in asky.papers.papers()] == ["complete", "no_pdf"]


def test_an_id_that_nobody_knows_is_named_and_not_kept(asky: Asky, world: PaperWorld) -> None:
    (added,) = add(asky, "10.5555/nothing")
    assert (added.outcome, added.why) == ("unread", "no registry knows 10.5555/nothing")
    assert asky.papers.papers() == []


def test_what_is_no_id_stops_an_add_before_anything_is_sent(asky: Asky, world: PaperWorld) -> None:
    with pytest.raises(UsageError, match="no file, and no arXiv id"):
        add(asky, "10.5555/tides.1", "tides")
    assert world.sent == 0


def test_with_registries_that_refuse_everything_papers_are_kept_by_their_ids(asky: Asky, world: PaperWorld) -> None:
    world.play("throttle")
    world.site.page(f"/arxiv/pdf/{NEW}", body=paper_pdf(arxiv=f"{NEW}v2"), media_type="application/pdf")
    added = add(asky, NEW, "10.5555/tides.1")
    assert short(added) == [(NEW, "added", f"{NEW}v2"), ("10.5555/tides.1", "unread", "10.5555/tides.1")]
    assert all("could not" in (each.why or "") for each in added)
    assert all(each.notices_checked_at is None for each in asky.papers.papers())
    world.know(tides(doi="10.5555/tides.1", pdf=world.site.page("/t.pdf", body=paper_pdf(TITLE))))
    (completed,) = retry(asky)
    assert completed.paper is not None
    assert (completed.outcome, completed.paper.source.title) == ("updated", TITLE)


def test_an_address_is_fetched_and_identified_by_its_first_page(asky: Asky, world: PaperWorld) -> None:
    url = world.site.page("/dir/tides.pdf", body=paper_pdf(doi="10.5555/tides.1"))
    other = world.site.page("/plain.pdf", body=paper_pdf("Why bread rises in warm rooms", authors="Bo Li"))
    added = add(asky, url, other)
    assert [each.outcome for each in added] == ["added", "added"]
    by_title = {each.source.title: each for each in asky.papers.papers()}
    assert by_title[TITLE].id == "10.5555/tides.1"
    assert by_title["Why bread rises in warm rooms"].source.url == other
    before = world.sent
    assert [each.outcome for each in add(asky, url, other)] == ["known", "known"]
    assert world.sent == before


def test_secrets_in_an_address_are_not_spoken_of(asky: Asky, world: PaperWorld) -> None:
    (added,) = add(asky, world.site.url("/gone.pdf?token=tok-123456789"))
    assert added.outcome == "unread"
    assert "tok-123456789" not in f"{added.file} {added.why}"


def test_a_pdf_of_another_paper_is_not_taken(asky: Asky, world: PaperWorld) -> None:
    url = world.site.page("/bread.pdf", body=paper_pdf("Why bread rises in warm rooms", authors="Bo Li"))
    world.know(tides(doi="10.5555/tides.1", pdf=url))
    (added,) = add(asky, "10.5555/tides.1")
    assert added.why == "the PDF at its address is titled “Why bread rises in warm rooms”: not taken"
    assert [each.status for each in asky.papers.papers()] == ["no_pdf"]


def test_offline_ids_are_refused_and_files_are_added(asky: Asky, world: PaperWorld, tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(paper_pdf(arxiv=f"{NEW}v2"))
    assert short(add(asky, tmp_path / "a.pdf", offline=True)) == [("a.pdf", "added", f"{NEW}v2")]
    known, refused = add(asky, NEW, "10.5555/x1", offline=True)
    assert (known.outcome, refused.outcome, refused.why) == ("known", "unread", "not looked up: --offline")
    assert world.sent == 0
    with pytest.raises(UsageError, match="exclude each other"):
        add(asky, NEW, offline=True, looks_up=True)


def test_preprint_and_print_that_a_registry_relates_are_one_paper(asky: Asky, world: PaperWorld) -> None:
    relation = {"has-preprint": [{"id-type": "arxiv", "id": NEW, "asserted-by": "subject"}]}
    world.site.page(f"/arxiv/pdf/{NEW}v2", body=paper_pdf(arxiv=f"{NEW}v2"), media_type="application/pdf")
    world.know(tides(arxiv=NEW))
    add(asky, NEW)
    world.know(tides(doi="10.5555/tides.1", relation=relation))
    (added,) = add(asky, "10.5555/tides.1")
    assert (added.outcome, added.why) == ("known", f"the paper {NEW}v2")
    assert asky.papers.resolve("10.5555/tides.1").id == NEW
    assert len(asky.papers.papers()) == 1


def test_two_dois_under_one_title_stay_two(asky: Asky, world: PaperWorld) -> None:
    urls = [world.site.page(f"/{n}.pdf", body=paper_pdf(pages=[f"{TEXT} Part {n}."])) for n in (1, 2)]
    world.know(*(tides(doi=f"10.5555/tides.{n}", pdf=url) for n, url in enumerate(urls, start=1)))
    assert [each.outcome for each in add(asky, "10.5555/tides.1", "10.5555/tides.2")] == ["added", "added"]
    assert len(asky.papers.papers()) == 2


def test_an_export_brings_its_pdfs_and_what_they_lack_and_its_ids(
    asky: Asky, world: PaperWorld, tmp_path: Path
) -> None:
    (tmp_path / "tides.pdf").write_bytes(paper_pdf(authors=""))
    (tmp_path / "refs.bib").write_text(
        "@article{marsh, title={On the tides of nine harbours}, author={Marsh, Ann}, year={2021},"
        " journal={Tides Today}, doi={10.5555/tides.1}, file={tides.pdf}}\n"
        "@article{li, title={Why bread rises in warm rooms}, author={Li, Bo}, doi={10.5555/bread}}\n"
        "@misc{none, title={Nothing}}\n"
    )
    url = world.site.page("/bread.pdf", body=paper_pdf("Why bread rises in warm rooms", authors="Bo Li"))
    world.know(Paper("Why bread rises in warm rooms", doi="10.5555/bread", pdf=url))
    added = {each.file: each for each in add(asky, tmp_path / "refs.bib")}
    assert {name: each.outcome for name, each in added.items()} == {
        "refs.bib: none": "unread",
        "tides.pdf": "added",
        "refs.bib: li": "added",
    }
    paper = asky.papers.resolve("10.5555/tides.1")
    assert (paper.source.authors, paper.source.published_in) == (("Ann Marsh",), "Tides Today")
    assert paper.source.kind == "file"
    asked = [request for twin in world.twins.values() for request in twin.requests]
    assert not any("tides.1" in request.path or "tides.1" in str(request.params) for request in asked)
    before = world.sent
    again = [each.outcome for each in add(asky, tmp_path / "refs.bib")]
    assert (sorted(again), world.sent) == (["known", "known", "unread"], before)


def test_of_a_local_pdf_only_its_id_is_sent_and_only_if_it_may_be(
    asky: Asky, world: PaperWorld, tmp_path: Path
) -> None:
    world.know(tides(doi="10.5555/tides.1", venue="Tides Today"))
    (tmp_path / "a.pdf").write_bytes(paper_pdf(authors="", doi="10.5555/tides.1"))
    (added,) = add(asky, tmp_path / "a.pdf", looks_up=True)
    assert (added.outcome, added.why) == ("added", None)
    paper = asky.papers.resolve("10.5555/tides.1")
    assert (paper.source.authors, paper.source.published_in) == (("Ann Marsh",), "Tides Today")
    assert (paper.source.kind, paper.notices_checked_at is not None) == ("file", True)
    asked = [request for twin in world.twins.values() for request in twin.requests]
    assert all("tides.1" in f"{request.path} {request.params}" for request in asked)
    assert not any("harbours" in f"{request.path} {request.params}".lower() for request in asked)


def test_a_local_pdf_without_an_id_is_found_by_its_title_if_that_may_be_sent(
    asky: Asky, world: PaperWorld, tmp_path: Path
) -> None:
    world.know(tides(doi="10.5555/tides.1", venue="Tides Today"))
    (tmp_path / "a.pdf").write_bytes(paper_pdf(authors="Ann Marsh"))
    (tmp_path / "b.pdf").write_bytes(paper_pdf("Why bread rises in warm rooms", authors="Bo Li"))
    (tmp_path / "c.pdf").write_bytes(paper_pdf(authors="Bo Li", pages=[f"{TEXT} Another text of that title."]))
    added = {each.file: each for each in add(asky, *sorted(tmp_path.glob("*.pdf")), looks_up=True)}
    unknown = "its first page has no id, and no registry was found to know its title"
    assert {name: each.why for name, each in added.items()} == {"a.pdf": None, "b.pdf": unknown, "c.pdf": unknown}
    paper = asky.papers.resolve("10.5555/tides.1")
    assert (paper.source.published_in, paper.source.kind) == ("Tides Today", "file")
    assert added["a.pdf"].paper is not None
    assert added["a.pdf"].paper.id == paper.id
    searched = [name for name, twin in world.twins.items() for each in twin.requests if "bread" in str(each.params)]
    assert sorted(searched) == ["crossref", "openalex"]


def test_no_title_is_sent_unasked(asky: Asky, world: PaperWorld, tmp_path: Path) -> None:
    world.know(tides(doi="10.5555/tides.1"))
    (tmp_path / "a.pdf").write_bytes(paper_pdf(authors="Ann Marsh"))
    add(asky, tmp_path / "a.pdf")
    assert world.sent == 0


def test_an_id_on_page_one_that_is_anothers_is_flagged_and_not_taken(
    asky: Asky, world: PaperWorld, tmp_path: Path
) -> None:
    world.know(tides(doi="10.5555/tides.1"))
    (tmp_path / "a.pdf").write_bytes(
        paper_pdf("Why bread rises in warm rooms", authors="Bo Li", doi="10.5555/tides.1", pages=["Of yeast."])
    )
    (added,) = add(asky, tmp_path / "a.pdf", looks_up=True)
    assert added.paper is not None
    assert (added.outcome, added.paper.doi) == ("added", None)
    assert added.why == f"its first page names 10.5555/tides.1, which is “{TITLE}”: added without that id"
    with pytest.raises(UsageError, match="no paper of the library"):
        asky.papers.resolve("10.5555/tides.1")


def test_a_lookup_that_fails_leaves_a_local_pdf_as_its_first_page_says(
    asky: Asky, world: PaperWorld, tmp_path: Path
) -> None:
    world.play("throttle")
    (tmp_path / "a.pdf").write_bytes(paper_pdf(doi="10.5555/tides.1"))
    (added,) = add(asky, tmp_path / "a.pdf", looks_up=True)
    assert added.paper is not None
    assert (added.outcome, added.paper.doi, added.paper.notices_checked_at) == ("added", "10.5555/tides.1", None)
    assert "could not" in (added.why or "")


def test_notices_are_stored_with_their_sources_and_checked_again(asky: Asky, world: PaperWorld, tmp_path: Path) -> None:
    world.know(tides(doi="10.5555/tides.1"))
    (tmp_path / "a.pdf").write_bytes(paper_pdf(doi="10.5555/tides.1"))
    (added,) = add(asky, tmp_path / "a.pdf")
    assert added.paper is not None
    assert (added.paper.notices, added.paper.notices_checked_at) == ((), None)
    world.know(tides(doi="10.5555/tides.1", is_retracted=True, marked_by=("crossref",)))
    (checked,) = retry(asky, looks_up=True)
    assert checked.paper is not None
    assert checked.paper.warning == "RETRACTED (Crossref)"
    assert checked.paper.notices_checked_at is not None
    assert checked.paper.source.kind == "file"
    (notice,) = checked.paper.notices
    assert (notice.kind, notice.source, notice.identifier) == ("retraction", "crossref", "10.5555/notice")
    facts = (tmp_path / "asky" / "data" / "papers" / "paper_metadata" / "10.5555_tides.1.json").read_text()
    assert '"kind": "retraction"' in facts
    sent = world.sent
    assert retry(asky, looks_up=True) == []
    assert world.sent == sent, "what registries said a moment ago is not asked again"


def test_notices_that_could_not_be_checked_are_not_none(asky: Asky, world: PaperWorld) -> None:
    url = world.site.page("/tides.pdf", body=paper_pdf())
    world.know(tides(doi="10.5555/tides.1", pdf=url, is_retracted=True, marked_by=("openalex",)))
    world.twins["crossref"].play("error500")
    (added,) = add(asky, "10.5555/tides.1")
    assert added.paper is not None
    assert (added.outcome, added.paper.notices_checked_at) == ("added", None)
    assert added.paper.notice_texts == ("RETRACTED (OpenAlex)",)
    assert (added.why or "").startswith("notices could not be checked: crossref")


def test_a_fetched_paper_is_public_and_a_local_one_is_not_unless_its_open_copy_is_known(
    asky: Asky, world: PaperWorld, tmp_path: Path
) -> None:
    body = paper_pdf(doi="10.5555/tides.1")
    (tmp_path / "a.pdf").write_bytes(body)
    add(asky, tmp_path / "a.pdf")

    def private() -> int:
        services = asky.services
        scope = Scope((asky.papers.collection(), asky.papers.summaries()))
        return services.corpus.count_sources(scope, PRIVATE_KINDS)

    assert private() == 2, "the text and the summary"
    (found,) = add(asky, world.site.page("/tides.pdf", body=body))
    assert found.outcome == "known"
    assert private() == 0
    bread = world.site.page("/bread.pdf", body=paper_pdf("Why bread rises in warm rooms", authors="Bo Li"))
    add(asky, bread)
    assert private() == 0
    (tmp_path / "b.pdf").write_bytes(paper_pdf("A letter to nobody in particular", authors="Cy Ro"))
    add(asky, tmp_path / "b.pdf")
    assert private() == 2


@pytest.mark.parametrize(("is_local", "is_kept_from_it"), [(False, False), (True, True)])
def test_a_session_over_fetched_papers_may_go_to_the_default_model(
    asky: Asky, world: PaperWorld, tmp_path: Path, is_local: bool, is_kept_from_it: bool
) -> None:
    (tmp_path / "a.pdf").write_bytes(paper_pdf(doi="10.5555/tides.1"))
    url = world.site.page("/tides.pdf", body=(tmp_path / "a.pdf").read_bytes())
    add(asky, tmp_path / "a.pdf" if is_local else url)
    result = anyio.run(asky.papers.research_query, "How many tides does the moon raise in a day?")
    assert result.success, result.message
    services = asky.services
    session = services.sessions.find("papers")
    assert session is not None
    access = Access.of_session(session, None, services.corpus, services.runs, offline=False)
    assert access.only_built_in is is_kept_from_it


def test_an_old_id_of_arxiv_is_read_too(asky: Asky, world: PaperWorld) -> None:
    world.know(tides(arxiv=OLD, versions=1))
    world.site.page(f"/arxiv/pdf/{OLD}v1", body=paper_pdf(), media_type="application/pdf")
    assert short(add(asky, f"https://arxiv.org/pdf/{OLD}")) == [(f"https://arxiv.org/pdf/{OLD}", "added", f"{OLD}v1")]
    assert asky.papers.pdf(asky.papers.papers()[0]).exists()


def test_what_a_registry_says_of_an_id_is_not_taken_for_a_paper_that_only_bears_it(
    asky: Asky, world: PaperWorld, tmp_path: Path
) -> None:
    world.know(tides(doi="10.5555/tides.1", is_retracted=True))
    (tmp_path / "a.pdf").write_bytes(
        paper_pdf("Why bread rises in warm rooms", authors="Bo Li", doi="10.5555/tides.1", pages=["Of yeast."])
    )
    add(asky, tmp_path / "a.pdf")
    (flagged,) = retry(asky, looks_up=True)
    assert flagged.why is not None
    assert flagged.why.endswith(f"bears its id, but “{TITLE}” is another title: not looked up")
    (paper,) = asky.papers.papers()
    assert (paper.source.title, paper.notices, paper.notices_checked_at) == ("Why bread rises in warm rooms", (), None)


def test_an_address_longer_than_any_file_name_is_an_address(asky: Asky, world: PaperWorld) -> None:
    (added,) = add(asky, world.site.url(f"/{'a' * 300}.pdf"))
    assert added.outcome == "unread"


def test_one_pdf_at_the_addresses_of_two_papers_is_kept_for_one(asky: Asky, world: PaperWorld) -> None:
    url = world.site.page("/volume.pdf", body=paper_pdf())
    world.know(
        tides(doi="10.5555/tides.1", pdf=url), Paper("Why bread rises in warm rooms", doi="10.5555/bread", pdf=url)
    )
    assert short(add(asky, "10.5555/tides.1")) == [("10.5555/tides.1", "added", "10.5555/tides.1")]
    (other,) = add(asky, "10.5555/bread")
    assert (other.outcome, other.why) == ("unread", "the PDF at its address is that of 10.5555/tides.1: not taken")
    assert asky.papers.resolve("10.5555/tides.1").source.title == TITLE


def test_a_paper_is_looked_up_again_by_its_own_ids_and_not_by_those_of_its_preprint(
    asky: Asky, world: PaperWorld
) -> None:
    relation = {"has-preprint": [{"id-type": "arxiv", "id": NEW, "asserted-by": "subject"}]}
    world.know(tides(doi="10.5555/tides.1", relation=relation))
    add(asky, "10.5555/tides.1")
    assert asky.papers.resolve(NEW).id == "10.5555/tides.1"
    world.site.page(f"/arxiv/pdf/{NEW}", body=paper_pdf(arxiv=f"{NEW}v1"), media_type="application/pdf")
    (again,) = retry(asky)
    assert (again.outcome, asky.papers.papers()[0].status) == ("unread", "no_pdf")


def test_a_paper_that_is_read_in_print_is_called_by_its_doi_and_known_by_its_arxiv_id(
    asky: Asky, world: PaperWorld, tmp_path: Path
) -> None:
    world.know(tides(doi="10.5555/tides.1", arxiv=NEW, pdf=world.site.page("/print.pdf", body=paper_pdf())))
    (added,) = add(asky, "10.5555/tides.1")
    assert added.paper is not None
    assert (added.outcome, added.paper.name) == ("added", "10.5555/tides.1")
    assert added.paper.source.url == "https://doi.org/10.5555/tides.1"
    before = world.sent
    (known,) = add(asky, NEW)
    assert (known.outcome, known.why, world.sent) == ("known", "the paper 10.5555/tides.1", before)


def test_a_doi_whose_paper_is_open_at_arxiv_is_read_there_in_its_version(asky: Asky, world: PaperWorld) -> None:
    world.know(tides(doi="10.5555/tides.1", arxiv=NEW))
    for name in (NEW, f"{NEW}v2"):
        world.site.page(f"/arxiv/pdf/{name}", body=paper_pdf(arxiv=f"{NEW}v2"), media_type="application/pdf")
    (added,) = add(asky, "10.5555/tides.1")
    assert added.paper is not None
    assert (added.paper.name, added.paper.doi) == (f"{NEW}v2", "10.5555/tides.1")
