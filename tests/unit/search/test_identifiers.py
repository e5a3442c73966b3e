from __future__ import annotations

from collections.abc import Callable
from string import ascii_letters, digits

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.search.identifiers import (
    Identifier,
    arxiv_id_of,
    doi_field,
    doi_of,
    find_identifiers,
    identifier_of,
    work_keys,
)
from asky.search.papers import doi_url
from asky.search.port import Candidate
from tests.support.timing import check_linear


def keys(text: str) -> list[str]:
    return [one.key for one in find_identifiers(text)]


@pytest.mark.parametrize(
    ("text", "value", "version"),
    [
        ("arXiv:2301.01234", "2301.01234", None),
        ("arXiv:2301.01234v2", "2301.01234", 2),
        ("arxiv: 2301.01234v12.", "2301.01234", 12),
        ("[arXiv:0704.0001 [hep-ph]]", "0704.0001", None),
        ("see 1412.9999v1, which", "1412.9999", 1),
        ("http://arxiv.org/abs/2301.01234v2", "2301.01234", 2),
        ("https://arxiv.org/pdf/2301.01234v2.pdf", "2301.01234", 2),
        ("https://www.arxiv.org/pdf/2301.01234", "2301.01234", None),
        ("https://export.arxiv.org/e-print/2301.01234", "2301.01234", None),
        ("https://arxiv.org/html/2301.01234v1/figure1.png", "2301.01234", 1),
        ("arxiv.org/abs/2301.01234?context=cs", "2301.01234", None),
        ("10.48550/arXiv.2301.01234", "2301.01234", None),
        ("https://doi.org/10.48550/arXiv.2301.01234", "2301.01234", None),
        ("doi:10.48550/ARXIV.2301.01234v3", "2301.01234", 3),
        ("math.CA/0611800", "math/0611800", None),
        ("math/0611800v2", "math/0611800", 2),
        ("https://arxiv.org/abs/hep-th/9901001", "hep-th/9901001", None),
        ("arXiv:cond-mat.str-el/0703001", "cond-mat/0703001", None),
        ("https://arxiv.org/abs/quant-ph/9508027v1", "quant-ph/9508027", 1),
        ("https://doi.org/10.48550/arXiv.hep-th/9901001", "hep-th/9901001", None),
    ],
)
def test_an_arxiv_id_is_found_in_each_of_its_forms(text: str, value: str, version: int | None) -> None:
    assert find_identifiers(text) == (Identifier("arxiv", value, version),)


@pytest.mark.parametrize(
    "text",
    [
        "1301.12345",  # five digits came in 2015
        "1501.1234",  # and four digits ended with 2014
        "0703.0001",  # the form began in April 2007
        "2313.01234",  # no thirteenth month
        "2300.01234",
        "1512.0338.1",
        "v2509.10446",
        "2509.10446v0",
        "2509.104467",
        "192.2509.10446",
        "12301.01234",
        "path/2301.01234",
        "2301.01234/2",
        "made-up/0611800",
        "math/0704800",  # the old form had ended
        "math/0813001",
        "hep-th/9913001",
        "https://evil.example/abs/2301.01234",
        "https://evilarxiv.org.example/abs/2301.01234",
        "a price of 2301.0",
    ],
)
def test_what_only_looks_like_an_arxiv_id_is_none(text: str) -> None:
    assert arxiv_id_of(text) is None


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("10.5555/x1", "10.5555/x1"),
        ("DOI:10.5555/X1", "10.5555/x1"),
        ("doi: 10.5555/x1.", "10.5555/x1"),
        ("https://doi.org/10.5555/X1", "10.5555/x1"),
        ("http://dx.doi.org/10.5555%2Fx1", "10.5555/x1"),
        ("(see https://doi.org/10.1016/S0140-6736(20)31180-6).", "10.1016/s0140-6736(20)31180-6"),
        ("(10.5555/x1)", "10.5555/x1"),
        ('"10.5555/x1",', "10.5555/x1"),
        ("*10.5555/x1*", "10.5555/x1"),
        ("\u201c10.5555/x1\u201d", "10.5555/x1"),
        ("10.5555/a_b-c;d.e", "10.5555/a_b-c;d.e"),
        ("https://publisher.example/doi/abs/10.5555/x1?journalCode=j", "10.5555/x1"),
        ("https://publisher.example/doi/pdf/10.5555/x1.pdf", "10.5555/x1"),
        ("https://publisher.example/doi/10.5555/x1/full#section-2", "10.5555/x1"),
        ("https://publisher.example/article?id=10.5555/x1&page=2", "10.5555/x1"),
        ("https://doi.org/10.5555/x1/full", "10.5555/x1/full"),  # at its own address a DOI is exact
        ("10.123456789/x", "10.123456789/x"),
    ],
)
def test_a_doi_is_found_and_brought_to_one_form(text: str, doi: str) -> None:
    assert find_identifiers(text) == (Identifier("doi", doi),)


@pytest.mark.parametrize("text", ["10.5555/", "10.555/x", "110.5555/x", "v10.5555/x", "10.1234567890/x", "10.5555/.,"])
def test_what_only_looks_like_a_doi_is_none(text: str) -> None:
    assert find_identifiers(text) == ()
    assert doi_of(text) is None


OLD = "10.1002/(sici)1099-0771(199806)11:2<107::aid-bdm292>3.0.co;2-y"


@pytest.mark.parametrize(
    ("value", "doi"),
    [
        (OLD, OLD),
        (OLD.upper(), OLD),
        ("https://doi.org/10.1002/(SICI)1099-0771(199806)11:2%3C107::AID-BDM292%3E3.0.CO;2-Y", OLD),
        ("doi: 10.5555/X1", "10.5555/x1"),
        ("10.1001/jama.251.19.2504,2509", "10.1001/jama.251.19.2504,2509"),
        ("10.5555/x1.", "10.5555/x1"),
        ("10.5555/x1, and 10.5555/x2", "10.5555/x1"),
        ("a title", None),
        ("10.5555/", None),
        (None, None),
        (7, None),
    ],
)
def test_the_doi_in_a_field_of_its_own_is_whole(value: object, doi: str | None) -> None:
    assert doi_field(value) == doi


def test_two_papers_of_one_issue_are_two_although_their_dois_differ_in_angle_brackets_alone() -> None:
    other = OLD.replace("<107", "<121")
    first, second = (Candidate(doi_url(doi), doi=doi) for doi in (OLD, other))
    assert (work_keys(first), work_keys(second)) == ((f"doi:{OLD}",), (f"doi:{other}",))


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("PMID: 41000001", "pmid:41000001"),
        ("PMID 7", "pmid:7"),
        ("pmid:00041", "pmid:41"),
        ("https://pubmed.ncbi.nlm.nih.gov/41000001/", "pmid:41000001"),
        ("https://www.ncbi.nlm.nih.gov/pubmed/41000001", "pmid:41000001"),
        ("https://europepmc.org/article/MED/41000001", "pmid:41000001"),
        ("PMC1234567", "pmcid:PMC1234567"),
        ("PMCID: PMC1234567.2", "pmcid:PMC1234567"),
        ("https://pmc.ncbi.nlm.nih.gov/articles/PMC1234567/", "pmcid:PMC1234567"),
        ("https://www.ncbi.nlm.nih.gov/pmc/articles/PMC1234567/pdf/x.pdf", "pmcid:PMC1234567"),
    ],
)
def test_the_numbers_of_pubmed_are_found_with_what_names_them(text: str, key: str) -> None:
    assert keys(text) == [key]


@pytest.mark.parametrize(
    "text", ["41000001", "PMID: 123456789", "PMID 0", "APMC123", "https://pubmed.example/41000001"]
)
def test_a_number_that_nothing_names_is_no_identifier(text: str) -> None:
    assert keys(text) == []


def test_identifiers_of_prose_come_in_order_and_once() -> None:
    text = (
        "As in 10.5555/B (PMID: 12, PMC34) and arXiv:2301.01234v1; again https://doi.org/10.5555/b and "
        "https://arxiv.org/abs/2301.01234v2."
    )
    assert keys(text) == ["doi:10.5555/b", "pmid:12", "pmcid:PMC34", "arxiv:2301.01234"]


@given(st.text(alphabet=digits, min_size=4, max_size=9), st.text(alphabet=ascii_letters + digits, min_size=1))
def test_a_doi_survives_every_way_of_writing_it(registrant: str, suffix: str) -> None:
    doi = f"10.{registrant}/{suffix}".lower()
    for written in (
        doi,
        doi.upper(),
        f"doi:{doi}",
        f"https://doi.org/{doi}",
        f"http://dx.doi.org/10.{registrant}%2F{suffix}",
    ):
        assert keys(f"({written}).") == [f"doi:{doi}"]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("2301.01234v2", "arxiv:2301.01234"),
        ("arXiv:2301.01234 [cs.CL]", "arxiv:2301.01234"),
        ("math.GT/0309136", "arxiv:math/0309136"),
        ("doi: 10.5555/B.", "doi:10.5555/b"),
        ("http://dx.doi.org/10.5555%2Fb", "doi:10.5555/b"),
        ("10.5555/(a)17:15/16<1::AID>3", "doi:10.5555/(a)17:15/16<1::aid>3"),
        ("https://doi.org/10.5555/(a)17:15/16%3C1::AID%3E3", "doi:10.5555/(a)17:15/16<1::aid>3"),
        ("10.48550/arXiv.2301.01234", "arxiv:2301.01234"),
        ("PMID 12", "pmid:12"),
        ("pmcid: PMC34", "pmcid:PMC34"),
    ],
)
def test_a_text_that_is_an_identifier_as_a_whole(text: str, key: str) -> None:
    found = identifier_of(text)
    assert found is not None
    assert found.key == key


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12",
        "see 10.5555/b",
        "10.5555/b and c",
        "x/10.5555/b",
        "a-2301.01234",
        "2301.01234.pdf",
        "2301.1234",
        "PMID x",
    ],
)
def test_a_text_around_an_identifier_is_none(text: str) -> None:
    assert identifier_of(text) is None


@given(st.text())
def test_no_text_breaks_the_search_for_identifiers(text: str) -> None:
    whole = identifier_of(text)
    for one in (*find_identifiers(text), *([whole] if whole else [])):
        assert one.value


def test_long_hostile_text_takes_linear_time() -> None:
    def find(before: str, piece: str) -> Callable[[int], object]:
        return lambda chars: find_identifiers(before + piece * (chars // len(piece)))

    for before, piece in (("10.5555/", ")"), ("", "https://"), ("", "arxiv.org/"), ("", "a-"), ("", "10.5555/%")):
        check_linear(find(before, piece), 5_000)


def test_two_names_of_one_work_share_a_key() -> None:
    preprint = Candidate("https://arxiv.org/abs/2301.01234", doi="10.48550/arxiv.2301.01234")
    page = Candidate("https://arxiv.org/pdf/2301.01234v2.pdf")
    published = Candidate("https://publisher.example/doi/10.5555/x1.pdf")
    record = Candidate("https://pubmed.ncbi.nlm.nih.gov/41/", doi="10.5555/x1")
    assert set(work_keys(preprint)) & set(work_keys(page)) == {"arxiv:2301.01234"}
    assert set(work_keys(published)) & set(work_keys(record)) == {"doi:10.5555/x1"}
    assert work_keys(record) == ("doi:10.5555/x1", "pmid:41")


def test_without_identifiers_title_year_and_first_author_identify_a_work() -> None:
    one = Candidate(
        "https://a.example/1", title="Soil carbon: a Review", published="2023-04-01", authors=("Zoë Brontë", "B. Two")
    )
    other = Candidate(
        "https://b.example/2", title="SOIL CARBON \u2014 A review.", published="2023", authors=("Z. Bronte",)
    )
    assert work_keys(one) == work_keys(other) == ("title:soilcarbonareview:2023:bronte",)


@pytest.mark.parametrize(
    "candidate",
    [
        Candidate("https://a.example/", title="Editorial", published="2023", authors=("A. One",)),
        Candidate("https://a.example/", title="Soil carbon: a review", authors=("A. One",)),
        Candidate("https://a.example/", title="Soil carbon: a review", published="2023"),
    ],
)
def test_a_title_that_many_works_may_have_identifies_none(candidate: Candidate) -> None:
    assert work_keys(candidate) == ()
