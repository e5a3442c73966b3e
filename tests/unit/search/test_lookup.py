"""Several registries as one, with registries that need no network."""

from __future__ import annotations

import anyio
import pytest

from asky.config.schema import Search, SearchServiceSettings
from asky.errors import AskyError, NotConfigured, ProviderError, RateLimited, StoreFull
from asky.search.catalog import ROWS, make_lookups
from asky.search.identifiers import Identifier
from asky.search.lookup import PAPER_LOOKUPS, FoundPaper, LookedUp, Notice, PaperRegistries, UnknownPaper
from asky.search.port import Candidate
from tests.support.lookups import FakeLookup
from tests.support.searching import search_context

DOI, OTHER, PMID = Identifier("doi", "10.5555/x"), Identifier("doi", "10.5555/y"), Identifier("pmid", "41")
BUSY = RateLimited("busy")


def paper(*ids: Identifier, title: str = "A paper", notices: tuple[Notice, ...] = (), **facts: object) -> FoundPaper:
    candidate = Candidate("https://doi.org/10.5555/x", title, kind="paper", **facts)  # type: ignore[arg-type] # facts
    return FoundPaper(candidate, ids, notices=notices)


def look_up(identifier: Identifier, **registries: FakeLookup) -> LookedUp:
    for name, fake in registries.items():
        fake.name = name
    return anyio.run(PaperRegistries(registries.values()).look_up, identifier)


def test_the_registry_that_counts_most_provides_what_it_knows_and_others_the_rest() -> None:
    found = look_up(
        DOI,
        semantic_scholar=FakeLookup({DOI.key: paper(title="a paper", snippet="S2's", citations=9)}),
        openalex=FakeLookup({DOI.key: paper(title="A Paper!", snippet="OpenAlex's", venue="V", citations=3)}),
        crossref=FakeLookup({DOI.key: paper(DOI, title="A paper", published="2020")}),
    )
    described = found.paper.candidate
    assert (described.title, described.published, described.snippet) == ("A paper", "2020", "OpenAlex's")
    assert (described.venue, described.citations) == ("V", 9)
    assert found.asked == ("crossref", "openalex", "semantic_scholar")


def test_an_identifier_is_looked_up_once_and_what_the_second_round_tells_no_more() -> None:
    crossref = FakeLookup({DOI.key: paper(DOI), OTHER.key: paper(OTHER)})
    pubmed = FakeLookup({PMID.key: paper(PMID, OTHER)})
    found = look_up(
        DOI,
        crossref=crossref,
        openalex=FakeLookup({DOI.key: paper(DOI, PMID)}),
        semantic_scholar=FakeLookup({DOI.key: paper(DOI, PMID)}),
        pubmed=pubmed,
    )
    assert (crossref.asked, pubmed.asked) == ([DOI], [PMID])
    assert found.paper.ids == (DOI, PMID, OTHER)
    assert found.paper.unchecked == ("crossref was not asked about 10.5555/y",)


def test_a_preprint_of_a_paper_is_not_looked_up() -> None:
    arxiv = FakeLookup({"arxiv:2301.01234": paper()})
    preprint = Identifier("arxiv", "2301.01234")
    found = look_up(DOI, crossref=FakeLookup({DOI.key: paper(DOI, preprint)}), arxiv=arxiv)
    assert arxiv.asked == []
    assert found.has_checked_notices
    assert found.paper.ids == (DOI, preprint)


def test_a_doi_of_another_agency_has_no_notices_that_could_be_checked() -> None:
    found = look_up(DOI, crossref=FakeLookup(), openalex=FakeLookup({DOI.key: paper(DOI)}))
    assert (found.failures, found.has_checked_notices) == ((), False)
    assert found.paper.unchecked == ("crossref does not know 10.5555/x",)


def test_a_number_of_pubmed_central_alone_leads_to_no_notices() -> None:
    pmcid = Identifier("pmcid", "PMC5")
    found = look_up(pmcid, semantic_scholar=FakeLookup({pmcid.key: paper()}))
    assert found.paper.ids == (pmcid,)
    assert found.paper.unchecked == ("no registry lists notices on PMC5",)


def test_a_bare_mark_is_no_notice_on_a_paper_that_is_one() -> None:
    mark = Notice("retraction", None, "openalex")
    notice = FoundPaper(paper(title="Retracted: A paper").candidate, (DOI,), is_notice=True)
    found = look_up(
        DOI, crossref=FakeLookup({DOI.key: notice}), openalex=FakeLookup({DOI.key: paper(DOI, notices=(mark,))})
    )
    assert (found.paper.notices, found.paper.candidate.is_retracted) == ((), False)


def test_notices_come_by_severity_and_then_by_date() -> None:
    kinds = ("newer_version", "correction", "concern", "withdrawal", "retraction")
    notices = [Notice(kind, date, "crossref") for kind in kinds for date in (None, "2020-01", "2019")]
    found = look_up(DOI, crossref=FakeLookup({DOI.key: paper(DOI, notices=tuple(notices))}))
    assert [each.kind for each in found.paper.notices[::3]] == list(reversed(kinds))
    assert [each.date for each in found.paper.notices[:3]] == ["2019", "2020-01", None]


@pytest.mark.parametrize(
    ("known", "kind"),
    [
        ((None, None), UnknownPaper),
        ((None, BUSY), RateLimited),
        ((BUSY, None), RateLimited),
        ((BUSY, BUSY), RateLimited),
    ],
    ids=str,
)
def test_unknown_is_what_all_registries_of_a_doi_say(
    known: tuple[AskyError | None, AskyError | None], kind: type[AskyError]
) -> None:
    crossref, openalex = (FakeLookup(error=error) for error in known)
    with pytest.raises(kind):
        look_up(DOI, crossref=crossref, openalex=openalex)


def test_pubmed_alone_knows_which_numbers_there_are() -> None:
    with pytest.raises(UnknownPaper, match="no registry knows 41"):
        look_up(PMID, pubmed=FakeLookup(), openalex=FakeLookup(error=BUSY))
    with pytest.raises(RateLimited):
        look_up(PMID, pubmed=FakeLookup(error=BUSY), openalex=FakeLookup())


def test_different_failures_are_one_error_that_names_each() -> None:
    with pytest.raises(ProviderError) as caught:
        look_up(DOI, crossref=FakeLookup(error=BUSY), openalex=FakeLookup(error=NotConfigured("no key", hint="set it")))
    assert caught.value.message == "could not look up 10.5555/x: busy; no key"
    assert (caught.value.retryable, caught.value.hint) == (True, "set it")


def test_an_answer_that_cannot_be_recorded_ends_the_lookup() -> None:
    with pytest.raises(StoreFull):
        look_up(DOI, crossref=FakeLookup(error=StoreFull("full")), openalex=FakeLookup({DOI.key: paper(DOI)}))


def test_all_registries_are_made_whichever_services_the_user_searches_with() -> None:
    names = {each.name for each in make_lookups(Search(providers=("brave",)), search_context())}
    assert names == {name for names in PAPER_LOOKUPS.values() for name in names}
    assert names <= set(ROWS)


def test_a_registry_that_is_not_usable_fails_when_it_is_asked() -> None:
    search = Search(openalex=SearchServiceSettings(api_key_env="MINE"))
    lookup = next(each for each in make_lookups(search, search_context()) if each.name == "openalex")
    with pytest.raises(NotConfigured, match="the variable MINE is not set"):
        anyio.run(lookup.lookup, DOI)
