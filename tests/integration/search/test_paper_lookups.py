from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from asky.config.loader import load_config
from asky.errors import AskyError, ProviderError, RateLimited, Unreachable
from asky.research.web.lookup_cache import CachedLookup
from asky.search.catalog import ROWS
from asky.search.identifiers import Identifier
from asky.search.lookup import FoundPaper, Notice, PaperLookup, UnknownPaper
from asky.search.port import Candidate
from asky.storage.database import Database
from asky.storage.pages import SearchTable
from asky.wiring import Services
from tests.support.lookups import FakeLookup, check_paper_lookup
from tests.support.registries import EMAIL, KEY, TWINS, RegistryWorld, registry_world
from tests.support.twins.base import Reply, Request, Throttled
from tests.support.twins.papers import Paper
from tests.support.twins.papers_xml import arxiv_feed

OLD = "10.1002/(sici)1099-0771(199806)11:2<107::aid-bdm292>3.0.co;2-y"
COMMA = "10.1001/jama.251.19.2504,2509"
DOI, PREPRINT = Identifier("doi", "10.5555/soil.1"), Identifier("arxiv", "2301.01234")
KNOWN = {"arxiv": PREPRINT, "pubmed": Identifier("pmid", "41000001")}
UNKNOWN = {"arxiv": Identifier("arxiv", "2301.09999"), "pubmed": Identifier("pmid", "7")}
NOBODY = Identifier("doi", "10.5555/none")
DATED = {"date-parts": [[2010, 2, 6]]}


@pytest.fixture
def world() -> Iterator[RegistryWorld]:
    with registry_world() as world:
        yield world


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "asky.db")
    yield opened
    opened.close()


def fail(call: Callable[[], object]) -> AskyError:
    with pytest.raises(AskyError) as caught:
        call()
    shown = f"{caught.value!r} {caught.value.hint}"
    assert KEY not in shown
    assert EMAIL not in shown
    return caught.value


@pytest.mark.parametrize("name", [*TWINS, "fake"])
def test_a_registry_keeps_the_ports_promises(world: RegistryWorld, database: Database, name: str) -> None:
    known, unknown = KNOWN.get(name, DOI), UNKNOWN.get(name, NOBODY)
    fake = FakeLookup({DOI.key: FoundPaper(Candidate("https://doi.org/10.5555/soil.1", "Soil", kind="paper"), (DOI,))})
    lookup: PaperLookup = fake if name == "fake" else world.lookups[name]
    found = anyio.run(check_paper_lookup, lookup, known, unknown)
    cached = CachedLookup(lookup, SearchTable(database), ttl_s=60.0)
    assert anyio.run(check_paper_lookup, cached, known, unknown) == found
    assert world.faults() == []


@pytest.mark.parametrize("name", TWINS)
def test_a_registry_describes_a_paper_as_its_search_does(world: RegistryWorld, name: str) -> None:
    found = world.find(name, KNOWN.get(name, DOI))
    soil = ("Carbon in soil & peat", ("Ada Bly", "Émile Du Châtel"))
    assert (found.candidate.title, found.candidate.authors) == (
        ("A model of peat", ("Ada Bly",)) if name == "arxiv" else soil
    )
    assert (found.notices, found.unchecked, found.same_as) == ((), (), ())
    ids = {
        "arxiv": {"arxiv:2301.01234"},
        "crossref": {"doi:10.5555/soil.1"},
    }
    assert {each.key for each in found.ids} == ids.get(name, {"doi:10.5555/soil.1", "pmid:41000001"})


@pytest.mark.parametrize(
    ("scenario", "reason"),
    [
        ("captcha200", "blocked"),
        ("redirect", "bad_request"),
        ("not_json", "blocked or malformed"),
        ("bomb", "malformed"),
        ("error500", "unavailable"),
        (Reply("<html><body>404 Not Found</body></html>", 404, "text/html"), "bad_request"),
        (Reply("{}"), "malformed"),
        (Reply("[]"), "malformed"),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", TWINS)
def test_a_failure_is_no_unknown_paper(world: RegistryWorld, name: str, scenario: Any, reason: str) -> None:
    world.twins[name].play(scenario)
    error = fail(lambda: world.find(name, KNOWN.get(name, DOI)))
    assert isinstance(error, ProviderError)
    assert error.reason in reason.split()


@pytest.mark.parametrize("name", TWINS)
def test_throttling_and_a_broken_answer_are_no_unknown_paper(world: RegistryWorld, name: str) -> None:
    world.twins[name].play("throttle")
    assert isinstance(fail(lambda: world.find(name, KNOWN.get(name, DOI))), RateLimited)
    world.twins[name].play("cut")
    assert isinstance(fail(lambda: world.find(name, KNOWN.get(name, DOI))), Unreachable)


@pytest.mark.parametrize("name", ["crossref", "pubmed", "arxiv"])
def test_another_paper_than_the_one_looked_up_is_no_answer(world: RegistryWorld, name: str) -> None:
    twin, wanted = world.twins[name], KNOWN.get(name, DOI)
    other = {"crossref": "10.5555/other", "pubmed": "8", "arxiv": "2301.08888"}[name]
    twin.rows = [Paper("Another", doi="10.5555/other", pmid="8", arxiv="2301.08888")]

    def misled(request: Request) -> Reply:
        params = {key: [each.replace(wanted.value, other) for each in values] for key, values in request.params.items()}
        reply: Reply = twin.answer(replace(request, path=request.path.replace(wanted.value, other), params=params))
        return reply

    twin.play(misled)
    assert fail(lambda: world.find(name, wanted)).message == f"{name}: its answer is not the paper that was looked up"


def test_the_version_asked_for_is_described_and_the_newest_is_told(world: RegistryWorld) -> None:
    first = world.find("arxiv", replace(PREPRINT, version=1))
    assert (first.candidate.title, first.candidate.url) == (
        "Draft of A model of peat",
        "https://arxiv.org/abs/2301.01234v1",
    )
    newest = Identifier("arxiv", "2301.01234", 2)
    assert first.ids == (newest,)
    assert first.notices == (Notice("newer_version", "2026-03-01", "arxiv", newest),)
    for asked in (PREPRINT, newest):
        second = world.find("arxiv", asked)
        assert (second.candidate.url, second.notices) == ("https://arxiv.org/abs/2301.01234v2", ())
    assert anyio.run(world.lookups["arxiv"].lookup, replace(PREPRINT, version=3)) is None
    asked_for = [request.param("id_list") for request in world.twins["arxiv"].requests]
    assert asked_for == ["2301.01234", "2301.01234v1", "2301.01234", "2301.01234", "2301.01234", "2301.01234v3"]


def test_a_withdrawal_is_told_whichever_version_is_asked_for(world: RegistryWorld) -> None:
    world.know(Paper("Gone", arxiv="2301.01234", note="Withdrawn by the author due to an error", versions=3))
    for version, url in ((None, "v3"), (3, "v3"), (1, "v1")):
        found = world.find("arxiv", replace(PREPRINT, version=version))
        last = Identifier("arxiv", "2301.01234", 3)
        assert found.notices == (Notice("withdrawal", "2026-03-01", "arxiv", last),)
        assert found.candidate.is_retracted
        assert found.candidate.url.endswith(url)


@pytest.mark.parametrize(
    "answer",
    [arxiv_feed(), arxiv_feed("<entry><id>http://arxiv.org/abs/2301.01234v1</id></entry>", total=1)],
    ids=["empty", "bare"],
)
def test_arxiv_answers_in_two_ways_that_it_does_not_know_an_id(world: RegistryWorld, answer: Reply) -> None:
    world.twins["arxiv"].play(answer)
    assert anyio.run(world.lookups["arxiv"].lookup, PREPRINT) is None
    world.twins["arxiv"].play(arxiv_feed(total=1))
    assert isinstance(fail(lambda: world.find("arxiv", PREPRINT)), ProviderError)


def test_an_id_that_pubmed_drops_is_unknown(world: RegistryWorld) -> None:
    body = "<eFetchResult><ERROR>ID list is empty! In it there are neither IDs nor accessions.</ERROR></eFetchResult>"
    world.twins["pubmed"].play(Reply(body, 400, "text/xml"))
    assert anyio.run(world.lookups["pubmed"].lookup, KNOWN["pubmed"]) is None


def test_a_work_that_openalex_has_merged_is_found_where_it_went(world: RegistryWorld) -> None:
    moved = Reply("", 301, headers=(("Location", "https://api.openalex.org/works/W1?select=id"),))
    world.twins["openalex"].play(moved, "normal")
    assert world.find("openalex", DOI).candidate.title == "Carbon in soil & peat"
    assert [request.path for request in world.twins["openalex"].requests] == ["/works/doi:10.5555/soil.1", "/works/W1"]
    world.twins["openalex"].play(moved)
    assert isinstance(fail(lambda: world.find("openalex", DOI)), ProviderError)


def test_openalex_is_not_asked_what_it_takes_for_something_else(world: RegistryWorld) -> None:
    for doi in (COMMA, "10.5555/a&b"):
        error = fail(lambda doi=doi: world.find("openalex", Identifier("doi", doi)))  # type: ignore[misc]
        assert error.message == ("openalex refused the request: it takes no identifier with a comma or an ampersand")
    assert world.sent() == {}


# identifiers on the way


@pytest.mark.parametrize(
    "doi",
    [OLD, "10.1016/s0140-6736(20)31180-6", "10.5555/a_b-c;d#e?f=g%h", "10.5555/../../members", "10.5555//x", COMMA],
)
@pytest.mark.parametrize("name", ["crossref", "openalex", "semantic_scholar"])
def test_a_doi_with_any_characters_arrives_whole(world: RegistryWorld, name: str, doi: str) -> None:
    if name == "openalex" and doi == COMMA:
        return
    world.know(Paper("Odd", doi=doi.upper() if name == "crossref" else doi))
    found = world.find(name, Identifier("doi", doi))
    assert Identifier("doi", doi) in found.ids
    assert found.candidate.doi == doi
    assert world.faults() == []


FIELDS = {"openalex": ("select",), "semantic_scholar": ("fields",)}
"""The parameters that name what the answer shall have."""
WHO = {"tool": "asky", "email": EMAIL, "api_key": KEY}
SENT: dict[str, list[tuple[str, dict[str, str]]]] = {
    "arxiv": [("/api/query", {"id_list": "2301.01234", "max_results": "1"})],
    "crossref": [
        ("/v1/works/10.5555/soil.1", {"mailto": EMAIL}),
        (
            "/v1/works",
            {"filter": "updates:10.5555/soil.1", "rows": "100", "select": "DOI,update-to", "mailto": EMAIL},
        ),
    ],
    "pubmed": [
        (
            "/entrez/eutils/efetch.fcgi",
            {"db": "pubmed", "id": "41000001", "rettype": "abstract", "retmode": "xml", **WHO},
        )
    ],
    "openalex": [("/works/doi:10.5555/soil.1", {"api_key": KEY})],
    "semantic_scholar": [("/graph/v1/paper/DOI:10.5555/soil.1", {})],
}


@pytest.mark.parametrize("name", TWINS)
def test_nothing_but_the_identifier_is_sent_and_who_asks(name: str) -> None:
    with registry_world(parameters={"filter": "is_oa:true", "sort": "x"}) as world:
        world.find(name, KNOWN.get(name, DOI))
        sent = [
            (request.path, {key: value for key, (value,) in request.params.items() if key not in FIELDS.get(name, ())})
            for request in world.twins[name].requests
        ]
        assert sent == SENT[name]
        assert all(not request.body for request in world.twins[name].requests)


# notices that could not be checked


def test_a_record_is_kept_if_the_works_that_update_it_cannot_be_looked_up(world: RegistryWorld) -> None:
    correction = {"type": "correction", "DOI": "10.5555/c", "updated": DATED}
    world.know(Paper("Soil", doi=DOI.value, updated_by=(correction,)))
    world.twins["crossref"].play("normal", "throttle")
    found = world.find("crossref", DOI)
    assert found.notices == (Notice("correction", "2010-02-06", "crossref", Identifier("doi", "10.5555/c")),)
    assert found.unchecked == ("crossref received too many requests",)


@pytest.mark.parametrize(
    ("doi", "is_checked"), [(COMMA, True), ("10.1002/a,b:c", False), ("10.1002/x:a,b", True), ("10.1002/a,b,c", True)]
)
def test_a_comma_in_a_doi_is_no_reason_to_call_it_clean(world: RegistryWorld, doi: str, is_checked: bool) -> None:
    notice = Paper("Retraction", doi="10.5555/n", update_to=({"type": "retraction", "DOI": doi.upper()},))
    world.know(Paper("Odd", doi=doi), notice)
    found = world.find("crossref", Identifier("doi", doi))
    assert [each.kind for each in found.notices] == (["retraction"] if is_checked else [])
    assert (found.unchecked == ()) == is_checked


def test_a_registry_that_reads_a_comma_in_another_way_is_noticed(world: RegistryWorld) -> None:
    world.know(Paper("Odd", doi=COMMA))
    other = Reply({"message": {"items": [{"DOI": "10.1001/jama.251.19.2504"}]}})
    world.twins["crossref"].play("normal", other)
    (reason,) = world.find("crossref", Identifier("doi", COMMA)).unchecked
    assert reason == "crossref refused the request: works that update a DOI with a comma cannot be looked up"
    assert len(world.twins["crossref"].requests) == 2


# several registries


def test_what_one_registry_tells_of_a_paper_is_looked_up_where_its_notices_are(world: RegistryWorld) -> None:
    retraction = {"type": "retraction", "DOI": "10.5555/n", "updated": DATED}
    world.know(
        Paper("Soil", doi="10.5555/s", pmid="41", pmcid="PMC5", arxiv="2301.01234", updated_by=(retraction,), venue="J")
    )
    notice = Notice("retraction", "2010-02-06", "crossref", Identifier("doi", "10.5555/n"))
    for asked, registries in (
        (Identifier("pmcid", "PMC5"), ("semantic_scholar", "crossref", "pubmed")),
        (Identifier("pmid", "41"), ("pubmed", "openalex", "semantic_scholar", "crossref")),
        (PREPRINT, ("arxiv", "openalex", "semantic_scholar", "crossref", "pubmed")),
        (Identifier("doi", "10.5555/s"), ("crossref", "openalex", "semantic_scholar", "pubmed")),
    ):
        found = world.look_up(asked)
        assert found.paper.notices == (notice,)
        assert found.paper.candidate.is_retracted
        assert (found.asked, found.failures, found.has_checked_notices) == (registries, (), True)
        assert {each.key for each in found.paper.ids} == {"doi:10.5555/s", "pmid:41", "pmcid:PMC5", "arxiv:2301.01234"}
    assert world.faults() == []


def test_a_registry_that_throttles_throughout_fails_in_time_and_the_others_answer(world: RegistryWorld) -> None:
    world.twins["crossref"].play(Throttled((("Retry-After", "11"),)))
    found = world.look_up(DOI)
    assert found.paper.candidate.title == "Carbon in soil & peat"
    assert [each.subject for each in found.failures] == ["crossref"]
    assert not found.has_checked_notices
    assert found.paper.unchecked == ("crossref received too many requests; it asks clients to wait 11 s",)
    assert world.time.now_s <= ROWS["crossref"].timeout_s


def test_lookups_keep_the_pace_of_the_service() -> None:
    with registry_world(gap_s=None) as world:
        world.find("crossref", DOI)
        assert world.time.slept == [ROWS["crossref"].gap_s]
        world.find("arxiv", replace(PREPRINT, version=1))
        assert world.time.slept == [ROWS["crossref"].gap_s, ROWS["arxiv"].gap_s]


def test_an_identifier_that_nobody_knows_is_told_from_one_that_could_not_be_looked_up(world: RegistryWorld) -> None:
    error = fail(lambda: world.look_up(NOBODY))
    assert isinstance(error, UnknownPaper)
    assert error.message == "no registry knows 10.5555/none"
    assert error.hint == "check it; asked: crossref, openalex, semantic_scholar"
    world.twins["semantic_scholar"].play("throttle")
    assert isinstance(fail(lambda: world.look_up(NOBODY)), RateLimited)
    assert isinstance(fail(lambda: world.look_up(UNKNOWN["arxiv"])), UnknownPaper)
    for twin in world.twins.values():
        twin.play("html502")
    error = fail(lambda: world.look_up(DOI))
    assert error.message.startswith("could not look up 10.5555/soil.1: ")
    assert error.retryable


# the cache


def test_a_second_lookup_sends_nothing_while_the_answer_is_fresh(world: RegistryWorld, database: Database) -> None:
    now = 1000.0

    def look(identifier: Identifier) -> FoundPaper | None:
        lookup = CachedLookup(world.lookups["crossref"], SearchTable(database), ttl_s=60.0, now=lambda: now)
        return anyio.run(lookup.lookup, identifier)

    world.know(Paper("Soil", doi=DOI.value, updated_by=({"type": "retraction", "DOI": "10.5555/n", "updated": DATED},)))
    first = look(DOI)
    assert look(DOI) == first
    assert look(NOBODY) is look(NOBODY) is None
    assert world.sent() == {"crossref": 3}
    now = 1061.0
    assert look(DOI) == first
    assert world.sent() == {"crossref": 5}


def test_failures_and_unchecked_papers_are_looked_up_again(world: RegistryWorld, database: Database) -> None:
    lookup = CachedLookup(world.lookups["crossref"], SearchTable(database), ttl_s=60.0)
    world.twins["crossref"].play("captcha200", "normal", "throttle", "throttle", "throttle", "normal")
    assert isinstance(fail(lambda: anyio.run(lookup.lookup, DOI)), ProviderError)
    found = anyio.run(lookup.lookup, DOI)
    assert found is not None
    assert found.unchecked
    again = anyio.run(lookup.lookup, DOI)
    assert again == replace(found, unchecked=())


def test_a_process_looks_papers_up_as_configured_and_the_next_one_sends_nothing(
    world: RegistryWorld, tmp_path: Path
) -> None:
    environ = {"HOME": str(tmp_path), "ASKY_HOME": str(tmp_path / "asky")}
    flags: dict[str, object] = {f"search.{name}.base_url": twin.base_url for name, twin in world.twins.items()}
    flags |= {f"search.{name}.gap_s": 0.0 for name in world.twins}
    config = load_config(environ=environ, cwd=tmp_path, flags=flags)
    papers = []
    for _ in range(2):
        with Services(config, environ) as services:
            assert services.web(offline=True).registries is None
            registries = services.web().registries
            assert registries is not None
            papers.append(anyio.run(registries.look_up, DOI))
    assert papers[0] == papers[1]
    assert papers[0].has_checked_notices
    assert world.sent() == {"crossref": 2, "openalex": 1, "semantic_scholar": 1, "pubmed": 1}
