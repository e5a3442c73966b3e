from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import anyio
import pytest

from asky.errors import (
    AskyError,
    AuthenticationFailed,
    NotConfigured,
    ProviderError,
    RateLimited,
    TimedOut,
    Unreachable,
)
from asky.search.catalog import ROWS, make_provider, make_service
from asky.search.federation import merge
from asky.search.port import Candidate, OpenCopy, SearchProvider, SearchRequest, SearchResults
from asky.search.providers.unpaywall import Unpaywall
from asky.search.providers.unpaywall import make as make_unpaywall
from tests.support.searching import FakeTime, check_search_provider, search_context, search_settings
from tests.support.twins.base import Reply, Scenario, Throttled, Twin
from tests.support.twins.papers import (
    ARTICLES,
    PAPERS,
    Article,
    CrossrefTwin,
    OpenAlexTwin,
    Paper,
    SemanticScholarTwin,
    UnpaywallTwin,
    WikipediaTwin,
)
from tests.support.twins.papers_xml import ArxivTwin, PubMedTwin, arxiv_error, arxiv_feed

KEY = "key/with+odd=characters-0123456789"
EMAIL = "ada.bly+asky@soils.university.edu"
TWINS: dict[str, type[Twin]] = {
    "semantic_scholar": SemanticScholarTwin,
    "pubmed": PubMedTwin,
    "arxiv": ArxivTwin,
    "openalex": OpenAlexTwin,
    "crossref": CrossrefTwin,
    "wikipedia": WikipediaTwin,
}
KEYED = ("semantic_scholar", "pubmed", "openalex")
SOIL, PEAT, BAD = "https://doi.org/10.5555/soil.1", "https://arxiv.org/abs/2301.01234", "https://doi.org/10.5555/bad"
FOUND = {
    "semantic_scholar": (SOIL, PEAT, BAD),
    "pubmed": ("https://pubmed.ncbi.nlm.nih.gov/41000001/", "https://pubmed.ncbi.nlm.nih.gov/41000003/"),
    "arxiv": ("https://arxiv.org/abs/2301.01234v2",),
    "openalex": (SOIL, PEAT, BAD),
    "crossref": (SOIL, BAD),
    "wikipedia": ("Soil_carbon", "C%2B%2B/%C3%89tude%3F"),
}
REQUEST = SearchRequest("soil carbon")


@dataclass
class Pair:
    """A service, the twin that it asks, and the time that both of them share."""

    twin: Any
    provider: SearchProvider
    time: FakeTime

    def search(self, request: SearchRequest = REQUEST) -> SearchResults:
        return anyio.run(self.provider.search, request)

    def fail(self, request: SearchRequest = REQUEST) -> AskyError:
        with pytest.raises(AskyError) as caught:
            self.search(request)
        shown = f"{caught.value!r} {caught.value.hint}"
        assert KEY not in shown
        assert EMAIL not in shown
        return caught.value

    def sent(self, number: int = -1) -> dict[str, str]:
        return {name: values[0] for name, values in self.twin.requests[number].params.items()}


def pair_of(name: str, twin: Twin, *, has_key: bool = True, email: str | None = EMAIL, **service: object) -> Pair:
    time = FakeTime()
    variable = ROWS[name].key_variable
    environ = {variable: KEY} if variable and has_key else {}
    settings = search_settings(name, twin.base_url, email=email, **service)
    return Pair(twin, make_provider(name, settings, search_context(environ, waiting=time.waiting)), time)


@pytest.fixture(params=TWINS)
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    """Each service in turn."""
    with TWINS[request.param](key=KEY) as twin:
        yield pair_of(request.param, twin)


@pytest.fixture(params=KEYED)
def keyed(request: pytest.FixtureRequest) -> Iterator[Pair]:
    """Each service that takes a key."""
    with TWINS[request.param](key=KEY) as twin:
        yield pair_of(request.param, twin)


def found_by(name: str, twin: Twin, rows: Sequence[Paper] = (), *script: Scenario) -> tuple[Candidate, ...]:
    """What a service finds whose twin has these papers, or plays this script."""
    with twin:
        twin.rows = rows or None
        twin.play(*(script or ("normal",)))
        return pair_of(name, twin).search().candidates


def test_a_service_keeps_the_ports_promises(pair: Pair) -> None:
    results = anyio.run(check_search_provider, pair.provider, REQUEST)
    expected = FOUND[pair.provider.name]
    if pair.provider.name == "wikipedia":
        expected = tuple(f"{pair.twin.base_url}/wiki/{page}" for page in expected)
    assert tuple(candidate.url for candidate in results.candidates) == expected
    assert pair.twin.faults == []
    assert pair.provider.host == pair.twin.host


@pytest.mark.parametrize("name", KEYED)
def test_a_service_that_can_do_without_a_key_is_asked_without(name: str) -> None:
    with TWINS[name](key=KEY) as twin:
        pair = pair_of(name, twin, has_key=False, email=None)
        assert pair.search().candidates
        assert twin.faults == []
        asked = twin.requests[0]
        assert "x-api-key" not in asked.headers
        assert not {"api_key", "email", "mailto"} & asked.params.keys()


@pytest.mark.parametrize("name", ["semantic_scholar", "pubmed", "openalex", "crossref"])
def test_a_paper_comes_with_what_the_service_knows_of_it(name: str) -> None:
    paper = found_by(name, TWINS[name](key=KEY))[0]
    assert (paper.kind, paper.doi, paper.title) == ("paper", "10.5555/soil.1", "Carbon in soil & peat")
    assert paper.snippet.endswith("Soil keeps carbon, and p < 0.05.")
    assert paper.authors == ("Ada Bly", "Émile Du Châtel")
    assert (paper.venue, paper.published) == ("Journal of Invented Soils", "2023-01-03")
    assert paper.citations == (None if name == "pubmed" else 3)
    has_open_copy = name in ("semantic_scholar", "openalex")
    assert paper.pdf_url == ("https://repository.example/soil.pdf" if has_open_copy else None)
    assert not paper.is_retracted


@pytest.mark.parametrize("name", ["pubmed", "openalex", "crossref"])
def test_a_retracted_paper_is_marked(name: str) -> None:
    marked = [paper.is_retracted for paper in found_by(name, TWINS[name](key=KEY))]
    assert marked == [paper.is_retracted for paper in PAPERS if name == "openalex" or paper.doi]


def test_a_retraction_in_the_title_counts_where_the_service_has_no_word_for_it() -> None:
    titles = ("RETRACTED: Claims", "[Retracted Article] Claims", "Withdrawn: Claims", "Retracted papers: a survey")
    rows = [Paper(title, doi=f"10.5555/{number}") for number, title in enumerate(titles)]
    papers = found_by("semantic_scholar", SemanticScholarTwin(key=KEY), rows)
    assert [paper.is_retracted for paper in papers] == [True, True, True, False]


@pytest.mark.parametrize("name", ["semantic_scholar", "openalex", "arxiv"])
def test_a_preprint_is_read_at_arxiv(name: str) -> None:
    found = found_by(name, TWINS[name](key=KEY))
    (paper,) = (paper for paper in found if "arxiv.org" in paper.url)
    version = "v2" if name == "arxiv" else ""
    assert paper.url == f"https://arxiv.org/abs/2301.01234{version}"
    assert paper.pdf_url == f"https://arxiv.org/pdf/2301.01234{version}"


def test_one_paper_that_all_services_have_is_one() -> None:
    row = Paper("Carbon in soil & peat", doi="10.5555/Soil.1", arxiv="2301.01234", pmid="41000001", abstract="A.")
    names = ("semantic_scholar", "pubmed", "arxiv", "openalex", "crossref")
    lists = [found_by(name, TWINS[name](key=KEY), [row]) for name in names]
    (paper,) = merge(lists)
    assert [found.provider for found in paper.found] == list(names)


def test_nothing_found_is_an_empty_list(pair: Pair) -> None:
    pair.twin.play("empty")
    results = pair.search()
    assert results.candidates == ()
    assert results.notes == (("left out: zzz",) if pair.provider.name == "pubmed" else ())


@pytest.mark.parametrize(
    ("name", "titles", "dropped"),
    [
        ("semantic_scholar", ["Bare", "Nulls"], 2),
        ("pubmed", ["Bare title", "A chapter", "Noticed"], 2),
        ("arxiv", ["Bare", "Gone"], 1),
        ("openalex", ["Bare", "Odd"], 2),
        ("crossref", ["Bare", "Odd title: of its kind"], 2),
        ("wikipedia", ["Bare", "Null"], 1),
    ],
)
def test_optional_parts_may_be_absent_null_or_of_another_type(name: str, titles: list[str], dropped: int) -> None:
    with TWINS[name](key=KEY) as twin:
        twin.play("sparse")
        results = pair_of(name, twin).search()
        assert [candidate.title for candidate in results.candidates] == titles
        assert results.notes[-1].startswith(f"{dropped} result")


def test_odd_records_of_pubmed_are_read_for_what_they_have() -> None:
    bare, chapter, noticed = found_by("pubmed", PubMedTwin(key=KEY), (), "sparse")
    assert (bare.authors, bare.published, bare.snippet, bare.doi) == (("The Group",), "2025-12", "", None)
    assert (chapter.venue, chapter.published, chapter.snippet) == ("A Book", "2020", "Of it.")
    assert (noticed.doi, noticed.is_retracted, noticed.published) == ("10.5555/noticed", True, None)


def test_odd_records_of_openalex_and_crossref_are_read_for_what_they_have() -> None:
    _, odd = found_by("openalex", OpenAlexTwin(key=KEY), (), "sparse")
    assert (odd.snippet, odd.published, odd.citations, odd.authors) == ("a gap", "2020", 7, ("Raw Name",))
    assert odd.url == "https://openalex.org/W2"
    bare, odd = found_by("crossref", CrossrefTwin(), (), "sparse")
    assert (bare.published, bare.authors, bare.venue) == (None, (), None)
    assert (odd.snippet, odd.published, odd.authors) == ("Escaped markup", "2020", ("A Group", "Only"))


def test_a_withdrawn_preprint_has_no_pdf() -> None:
    bare, gone = found_by("arxiv", ArxivTwin(), (), "sparse")
    assert (bare.url, bare.pdf_url) == ("https://arxiv.org/abs/math/0611800v1", "https://arxiv.org/pdf/math/0611800v1")
    assert (gone.is_retracted, gone.pdf_url) == (True, None)


def test_a_labelled_abstract_of_pubmed_keeps_its_labels() -> None:
    paper = found_by("pubmed", PubMedTwin(key=KEY))[0]
    assert paper.snippet == "BACKGROUND: Of soil, H2O. RESULTS: Soil keeps carbon, and p < 0.05."


def test_snippets_of_wikipedia_are_plain_text() -> None:
    first, second = found_by("wikipedia", WikipediaTwin())
    assert first.snippet == 'Soil carbon is "solid" carbon & more'
    assert (first.kind, second.title) == ("web", ARTICLES[1].title)


@pytest.mark.parametrize("scenario", ["bom", "gzip", "latin1"])
def test_an_answer_is_read_whatever_its_encoding(pair: Pair, scenario: str) -> None:
    pair.twin.rows = (
        None if pair.provider.name == "wikipedia" else [Paper("Été", doi="10.5555/e", arxiv="2301.01234", pmid="7")]
    )
    pair.twin.play(scenario)
    assert any("É" in candidate.title for candidate in pair.search().candidates)


@pytest.mark.parametrize("body", ["[]", "null", "7", "{}", '{"results": 7}', '"text"', '{"error": null}'])
def test_an_answer_of_another_form_is_malformed(pair: Pair, body: str) -> None:
    pair.twin.play(Reply(body))
    error = pair.fail()
    assert isinstance(error, ProviderError)
    assert (error.reason, error.retryable) == ("malformed", False)


@pytest.mark.parametrize(
    ("scenario", "reason"),
    [
        ("captcha200", "blocked"),
        ("captcha202", "blocked"),
        ("html403", "blocked"),
        ("redirect", "bad_request"),
        ("bomb", "malformed"),
        ("error500", "unavailable"),
        ("html502", "unavailable"),
    ],
)
def test_a_failure_is_named_and_only_one_that_may_pass_is_tried_again(pair: Pair, scenario: str, reason: str) -> None:
    pair.twin.play(scenario)
    error = pair.fail()
    assert isinstance(error, ProviderError)
    assert (error.reason, error.retryable) == (reason, reason == "unavailable")
    assert len(pair.twin.requests) == (ROWS[pair.provider.name].max_tries if error.retryable else 1)


def test_a_wrong_key_is_an_error_of_the_key(keyed: Pair) -> None:
    keyed.twin.key = "another"
    error = keyed.fail()
    assert isinstance(error, AuthenticationFailed)
    assert error.hint == f"check the value of {ROWS[keyed.provider.name].key_variable}"
    assert len(keyed.twin.requests) == 1


def test_a_service_that_throttles_is_asked_again_when_it_says(pair: Pair) -> None:
    pair.twin.play(Throttled((("Retry-After", "2.5"),)), "normal")
    if ROWS[pair.provider.name].max_tries == 1:
        assert isinstance(pair.fail(), RateLimited)
    else:
        assert pair.search().candidates
        assert pair.time.slept == [2.5]


def test_what_a_service_repeats_of_its_user_is_masked(pair: Pair) -> None:
    pair.twin.play("echo")
    pair.fail()
    assert KEY not in repr(pair.provider)


def test_an_answer_that_breaks_off_is_an_error(pair: Pair) -> None:
    pair.twin.play("cut")
    assert isinstance(pair.fail(), Unreachable)


def test_a_silent_service_ends_at_the_deadline() -> None:
    with ArxivTwin() as twin:
        twin.play("silent")
        assert isinstance(pair_of("arxiv", twin, timeout_s=0.4).fail(), TimedOut)


@pytest.mark.parametrize("word", ["soil", "x" * 4000])
def test_a_query_is_cut_to_what_the_service_takes(pair: Pair, word: str) -> None:
    query = " ".join(f"{word}{number}" for number in range(400))
    results = pair.search(SearchRequest(query, max_results=1000))
    assert pair.twin.faults == []
    assert results.candidates[0].found[0].query == query
    assert any("the query was cut" in note for note in results.notes)
    assert len(pair.twin.requests[0].path) + sum(map(len, pair.sent(0).values())) < 1700


@pytest.mark.parametrize("query", ["", "  \n", "??? !! ()", '"" * -'])
def test_a_query_without_words_is_not_sent(pair: Pair, query: str) -> None:
    error = pair.fail(SearchRequest(query))
    assert isinstance(error, ProviderError)
    assert error.reason == "bad_request"
    assert pair.twin.requests == []


@pytest.mark.parametrize("max_results", [1, 2, 1000])
def test_no_more_results_come_than_are_asked_for(pair: Pair, max_results: int) -> None:
    name = pair.provider.name
    pair.twin.rows = [
        Article(f"Paper {n}", "")
        if name == "wikipedia"
        else Paper(f"Paper {n}", doi=f"10.5555/{n}", pmid=f"{n + 1}", arxiv=f"2301.{n:05}")
        for n in range(150)
    ]
    found = pair.search(SearchRequest("soil", max_results=max_results)).candidates
    assert len(found) == min(max_results, ROWS[name].limits.results)
    assert pair.twin.faults == []


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("semantic_scholar", {"publicationDateOrYear": "2026-11-15:"}),
        ("pubmed", {"datetype": "pdat", "mindate": "2026/11/15", "maxdate": "3000/12/31"}),
        ("arxiv", {"search_query": "all:soil AND submittedDate:[202611150000 TO 202611222359]"}),
        ("openalex", {"filter": "from_publication_date:2026-11-15"}),
        ("crossref", {"filter": "from-pub-date:2026-11-15"}),
    ],
)
def test_recency_is_put_in_the_services_words(name: str, sent: dict[str, str]) -> None:
    with TWINS[name](key=KEY) as twin:
        pair = pair_of(name, twin)
        pair.search(SearchRequest("soil", recency="week"))
        assert sent.items() <= pair.sent(0).items()
        assert twin.faults == []
        pair.search(SearchRequest("soil"))
        later = pair.sent(len(twin.requests) // 2)
        assert not sent.items() & later.items()


@pytest.mark.parametrize(
    ("name", "parameter", "sent"),
    [
        ("semantic_scholar", "query", "state of the art soil carbon not and peat"),
        ("pubmed", "term", "state-of-the-art soil carbon peat"),
        ("arxiv", "search_query", 'all:"state of the art" AND all:soil AND all:carbon AND all:peat'),
        ("openalex", "search", "state-of-the-art soil carbon not and peat"),
        ("wikipedia", "srsearch", "state-of-the-art soil carbon not and peat"),
    ],
)
def test_queries_are_words_and_no_operators(name: str, parameter: str, sent: str) -> None:
    with TWINS[name](key=KEY) as twin:
        pair = pair_of(name, twin)
        assert pair.search(SearchRequest('state-of-the-art (soil) "carbon"? NOT AND -peat*')).candidates
        assert pair.sent(0)[parameter] == sent
        assert twin.faults == []


def test_a_question_keeps_its_telling_words_where_all_words_must_match() -> None:
    with ArxivTwin() as twin:
        pair = pair_of("arxiv", twin)
        pair.search(SearchRequest("What is the role of soil in the storage of carbon?"))
        assert pair.sent()["search_query"] == "all:role AND all:soil AND all:storage AND all:carbon"
        results = pair.search(SearchRequest(" ".join(f"word{number}" for number in range(14))))
        assert results.notes == ("only 10 of the query's 14 words were searched for",)
        pair.search(SearchRequest("The Who"))
        assert pair.sent()["search_query"] == "all:the AND all:who"


def test_the_users_parameters_go_along_and_filters_are_joined() -> None:
    with OpenAlexTwin(key=KEY) as twin:
        pair = pair_of(
            "openalex", twin, parameters={"filter": "is_oa:true", "sort": "cited_by_count:desc", "search": 1}
        )
        pair.search(SearchRequest("soil", recency="day"))
        assert pair.sent()["filter"] == "is_oa:true,from_publication_date:2026-11-21"
        assert (pair.sent()["sort"], pair.sent()["search"]) == ("cited_by_count:desc", "soil")
        pair.search(SearchRequest("soil"))
        assert pair.sent()["filter"] == "is_oa:true"


def test_services_that_ask_for_it_learn_who_asks() -> None:
    with CrossrefTwin() as crossref, PubMedTwin(key=KEY) as pubmed, WikipediaTwin() as wikipedia:
        for name, twin in (("crossref", crossref), ("pubmed", pubmed), ("wikipedia", wikipedia)):
            pair_of(name, twin).search()
        assert crossref.requests[0].param("mailto") == EMAIL
        assert [(each.param("tool"), each.param("email")) for each in pubmed.requests] == [("asky", EMAIL)] * 2
        assert wikipedia.requests[0].headers["user-agent"].endswith(f"(mailto:{EMAIL})")


@pytest.mark.parametrize(("name", "least_s"), [("arxiv", 3.0), ("semantic_scholar", 1.0), ("crossref", 0.2)])
def test_a_service_is_asked_at_its_own_pace(name: str, least_s: float) -> None:
    with TWINS[name](key=KEY) as twin:
        pair = pair_of(name, twin, gap_s=None)
        pair.search()
        pair.search()
        pair.search()
        assert pair.time.slept == [ROWS[name].gap_s] * 2
        assert min(pair.time.slept) >= least_s


def test_both_requests_of_a_search_of_pubmed_keep_its_pace() -> None:
    with PubMedTwin(key=KEY) as twin:
        without_key = pair_of("pubmed", twin, gap_s=None, has_key=False)
        without_key.search()
        assert without_key.time.slept == [ROWS["pubmed"].gap_s]
        assert min(without_key.time.slept) >= 1 / 3
        with_key = pair_of("pubmed", twin, gap_s=None)
        with_key.search()
        assert with_key.time.slept == [ROWS["pubmed"].keyed_gap_s]
        assert min(with_key.time.slept) >= 0.1


def test_pubmed_tells_what_it_made_of_the_query() -> None:
    with PubMedTwin(key=KEY) as twin:
        twin.translation = '"soil"[MeSH Terms] OR "soil"[All Fields]'
        assert pair_of("pubmed", twin).search().notes == (f"searched for {twin.translation}",)


def test_pubmed_asks_for_no_records_where_it_found_none() -> None:
    with PubMedTwin(key=KEY) as twin:
        twin.play("empty")
        pair_of("pubmed", twin).search()
        assert len(twin.requests) == 1


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("Search Backend failed: Couldn't resolve #exLinkSrv2", "unavailable"),
        ("Invalid db name specified: x", "bad_request"),
    ],
)
def test_an_error_of_pubmed_within_an_answer_is_one(said: str, reason: str) -> None:
    with PubMedTwin(key=KEY) as twin:
        twin.play(Reply({"esearchresult": {"ERROR": said}}))
        error = pair_of("pubmed", twin).fail()
        assert isinstance(error, ProviderError)
        assert error.reason == reason


def test_throttling_of_pubmed_counts_under_status_200_too() -> None:
    with PubMedTwin(key=KEY) as twin:
        twin.play("echo", "normal")
        assert pair_of("pubmed", twin).search().candidates
        twin.play("normal", "echo")
        error = pair_of("pubmed", twin).fail()
        assert isinstance(error, RateLimited)
        assert error.retryable


@pytest.mark.parametrize(
    "body",
    [
        "<eFetchResult><ERROR>Cannot retrieve</ERROR></eFetchResult>",
        "<PubmedArticleSet><PubmedArticle>",
        "",
        "no xml",
    ],
)
def test_records_that_do_not_come_are_an_error_and_not_an_empty_list(body: str) -> None:
    with PubMedTwin(key=KEY) as twin:
        twin.play("normal", Reply(body, content_type="text/xml"))
        error = pair_of("pubmed", twin).fail()
        assert isinstance(error, ProviderError)
        assert error.reason in ("malformed", "unavailable")


@pytest.mark.parametrize("status", [200, 400])
def test_an_error_of_arxiv_is_no_paper(status: int) -> None:
    with ArxivTwin() as twin:
        twin.play(arxiv_error("start must be an integer", status))
        error = pair_of("arxiv", twin).fail()
        assert error.message == "arxiv refused the request: start must be an integer"


def test_an_empty_page_of_arxiv_that_should_not_be_is_fetched_again() -> None:
    with ArxivTwin() as twin:
        twin.play(arxiv_feed(total=12), "normal")
        pair = pair_of("arxiv", twin, gap_s=None)
        assert pair.search().candidates
        assert pair.time.slept == [ROWS["arxiv"].gap_s]
        twin.play(arxiv_feed(total=12))
        error = pair.fail()
        assert isinstance(error, ProviderError)
        assert error.reason == "unavailable"


@pytest.mark.parametrize("name", ["arxiv", "pubmed"])
def test_xml_with_entities_of_its_own_is_refused(name: str) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;"><!ENTITY s SYSTEM "file:///etc/passwd">]><x>&b;&s;</x>'
    script: tuple[Scenario, ...] = (Reply(f'<?xml version="1.0"?>{bomb}', content_type="text/xml"),)
    with TWINS[name](key=KEY) as twin:
        twin.play(*(("normal", *script) if name == "pubmed" else script))
        error = pair_of(name, twin).fail()
        assert error.message == f"{name}: its answer declares a document type"


def test_openalex_without_budget_is_not_asked_again() -> None:
    with OpenAlexTwin(key=KEY) as twin:
        twin.play("quota")
        error = pair_of("openalex", twin).fail()
        assert isinstance(error, RateLimited)
        assert not error.retryable
        assert len(twin.requests) == 1
        keyless = pair_of("openalex", twin, has_key=False).fail()
        assert keyless.hint is not None
        assert "OPENALEX_API_KEY" in keyless.hint


@pytest.mark.parametrize(
    ("code", "reason"),
    [("maxlag", "unavailable"), ("internal_api_error_X", "unavailable"), ("badvalue", "bad_request")],
)
def test_an_error_of_wikipedia_comes_with_status_200(code: str, reason: str) -> None:
    with WikipediaTwin() as twin:
        twin.play(Reply({"error": {"code": code, "info": "Waiting for a server"}}))
        error = pair_of("wikipedia", twin).fail()
        assert isinstance(error, ProviderError)
        assert error.reason == reason


# open copies


def unpaywall_of(twin: Twin, email: str | None = EMAIL) -> Unpaywall:
    settings = search_settings("unpaywall", twin.base_url, email=email)
    return make_unpaywall(make_service("unpaywall", settings, search_context()))


@pytest.fixture
def unpaywall() -> Iterator[UnpaywallTwin]:
    with UnpaywallTwin() as twin:
        yield twin


@pytest.mark.parametrize("doi", ["10.5555/Soil.1", "doi:10.5555/soil.1", "https://doi.org/10.5555%2FSOIL.1"])
def test_an_open_copy_is_found_by_its_doi(unpaywall: UnpaywallTwin, doi: str) -> None:
    copy = anyio.run(unpaywall_of(unpaywall).find_open_copy, doi)
    pdf = "https://repository.example/soil.pdf"
    assert copy == OpenCopy("https://repository.example/1", pdf, "acceptedVersion", None, "repository")
    assert unpaywall.faults == []


def test_a_page_may_be_all_that_is_open(unpaywall: UnpaywallTwin) -> None:
    unpaywall.play("sparse")
    copy = anyio.run(unpaywall_of(unpaywall).find_open_copy, "10.5555/soil.1")
    assert copy == OpenCopy("https://publisher.example/1", host_type="publisher")


@pytest.mark.parametrize("doi", ["10.5555/bad", "10.5555/unknown(1);2"])
def test_closed_and_unknown_papers_have_no_open_copy(unpaywall: UnpaywallTwin, doi: str) -> None:
    assert anyio.run(unpaywall_of(unpaywall).find_open_copy, doi) is None
    assert unpaywall.requests[0].path.startswith("/v2/10.5555/")


@pytest.mark.parametrize(
    "email",
    ["test@example.com", "you@domain.com", "your-email@yourdomain.com", "a@b", "nobody", "x@mail.example", "a@b.test"],
)
def test_an_address_of_nobody_is_not_sent(unpaywall: UnpaywallTwin, email: str) -> None:
    with pytest.raises(NotConfigured) as caught:
        anyio.run(unpaywall_of(unpaywall, email).find_open_copy, "10.5555/soil.1")
    assert email not in str(caught.value)
    assert unpaywall.requests == []


@pytest.mark.parametrize(
    ("scenario", "kind"),
    [
        ("echo", AuthenticationFailed),
        ("throttle", RateLimited),
        ("html502", ProviderError),
        ("captcha200", ProviderError),
        (Reply({}), ProviderError),
        (Reply("<html>no such page</html>", 404, "text/html"), ProviderError),
    ],
)
def test_not_being_able_to_look_is_not_the_same_as_no_copy(
    unpaywall: UnpaywallTwin, scenario: Scenario, kind: type[AskyError]
) -> None:
    unpaywall.play(scenario)
    with pytest.raises(kind) as caught:
        anyio.run(unpaywall_of(unpaywall).find_open_copy, "10.5555/soil.1")
    assert EMAIL not in f"{caught.value!r} {caught.value.hint}"


def test_text_without_a_doi_is_not_sent(unpaywall: UnpaywallTwin) -> None:
    with pytest.raises(ProviderError, match="this is not a DOI"):
        anyio.run(unpaywall_of(unpaywall).find_open_copy, "a title")
    assert unpaywall.requests == []
