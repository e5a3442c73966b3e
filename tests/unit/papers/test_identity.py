"""Which paper a text is, by what it says of itself."""

from __future__ import annotations

import pytest

from asky.papers.files import file_name, page_name
from asky.papers.identity import (
    bears_title,
    filled,
    free_id,
    identifier_in,
    identify,
    is_title_like,
    may_be_one,
    of_record,
    read_name,
    without_ids,
    without_version,
)
from asky.search.identifiers import Identifier
from asky.search.lookup import FoundPaper
from asky.search.port import Candidate
from asky.values import Document, Page


def document(title: str | None = "On the tides", **metadata: str) -> Document:
    return Document("text", "application/pdf", title, metadata=metadata)


@pytest.mark.parametrize(
    ("metadata", "id_", "version", "url"),
    [
        ({"arxiv": "2101.00001v2"}, "2101.00001", 2, "https://arxiv.org/abs/2101.00001v2"),
        ({"arxiv": "math/9404236v1"}, "math/9404236", 1, "https://arxiv.org/abs/math/9404236v1"),
        ({"arxiv": "2101.00001v1", "doi": "10.5555/X1"}, "2101.00001", 1, "https://arxiv.org/abs/2101.00001v1"),
        ({"doi": "10.5555/X1"}, "10.5555/x1", None, "https://doi.org/10.5555/x1"),
        ({"author": "Ann Marsh; Bo Li", "published": "2020-03"}, "marsh2020tides", None, None),
        ({"author": "Ann Marsh"}, "my-scan-3", None, None),
        ({}, "my-scan-3", None, None),
    ],
)
def test_a_paper_is_called_by_its_strongest_id(
    metadata: dict[str, str], id_: str, version: int | None, url: str | None
) -> None:
    found = identify(document(**metadata), "my scan (3)")
    assert (found.id, found.version, found.url) == (id_, version, url)


def test_a_paper_without_a_title_has_that_of_its_file() -> None:
    assert identify(document(None), "my scan (3)").title == "my scan (3)"
    assert identify(document(None), "...").id == "paper"


def test_its_names_are_the_strongest_first() -> None:
    known = identify(document(author="Ann Marsh", published="2020", doi="10.5555/x", arxiv="2101.00001v2"), "a")
    assert known.keys[:2] == ("doi:10.5555/x", "arxiv:2101.00001")


@pytest.mark.parametrize(
    ("known", "may"),
    [
        (["doi:10.5555/x", "title:on the tides"], True),
        (["doi:10.5555/y", "title:on the tides"], False),
        (["arxiv:2101.00001", "title:on the tides"], True),
        (["title:on the tides"], True),
    ],
)
def test_two_dois_under_one_title_are_two_papers(known: list[str], may: bool) -> None:
    assert may_be_one(identify(document(doi="10.5555/x"), "a"), known) is may


@pytest.mark.parametrize(
    ("title", "other", "alike"),
    [
        ("On the tides", "ON THE TIDES", True),
        ("On the tides", "On the tides of nine harbours: a longer study", True),
        ("Tides of Zürich", "Tides of Zurich", True),
        ("A comment on Marsh", "On the tides of nine harbours", False),
        ("Bread", "Tides", False),
    ],
)
def test_titles_of_one_paper_share_half_of_their_words(title: str, other: str, alike: bool) -> None:
    assert is_title_like(title, other) is alike


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("2005.11401v4", ("arxiv:2005.11401",)),
        ("arXiv:2005.11401", ("arxiv:2005.11401",)),
        ("https://arxiv.org/abs/2005.11401", ("arxiv:2005.11401",)),
        ("https://doi.org/10.5555/X1", ("doi:10.5555/x1",)),
        ("tides", ()),
    ],
)
def test_a_name_that_a_user_types_is_read(text: str, keys: tuple[str, ...]) -> None:
    assert read_name(text) == keys


def test_a_version_is_no_part_of_the_id() -> None:
    assert without_version("2005.11401v4") == "2005.11401"
    assert without_version("10.5555/v") == "10.5555/v"


def test_an_id_that_is_taken_gets_a_letter() -> None:
    taken = {"marsh2020tides", "marsh2020tidesb"}
    assert free_id("marsh2020tides", taken.__contains__) == "marsh2020tidesc"
    assert free_id("li2020sea", taken.__contains__) == "li2020sea"
    many = {"a", *(f"a{chr(98 + each)}" for each in range(25))}
    assert free_id("a", many.__contains__) == "a27"


def test_no_two_papers_have_one_file() -> None:
    ids = ["10.5555/a/b", "10.5555/a_b", "10.5555_a/b", "10.5555/a<b", "10.5555/a>b", "a" * 150, "a" * 151]
    names = [file_name(each) for each in ids]
    assert len(set(names)) == len(ids)
    assert all(len(each) <= 110 and "/" not in each for each in names)
    assert file_name("math/9404236") == "math_9404236"


def test_a_printed_page_number_stands_before_that_in_the_file() -> None:
    assert page_name(Page(6, "iv", 0, 1)) == "page iv (PDF 6)"
    assert page_name(Page(6, "6", 0, 1)) == page_name(Page(6, None, 0, 1)) == "page 6"


def test_a_record_names_a_paper_by_what_was_asked_and_all_forms_are_its_names() -> None:
    candidate = Candidate(
        "https://doi.org/10.5555/x1", "On the tides", published="2020", authors=("Ann Marsh",), venue="Tides Today"
    )
    newest, doi = Identifier("arxiv", "2101.00001", 3), Identifier("doi", "10.5555/x1")
    found = FoundPaper(candidate, (doi, newest), same_as=(Identifier("doi", "10.5555/p1"),))
    record = of_record(found, (Identifier("arxiv", "2101.00001", 1),))
    assert (record.id, record.version, record.doi, record.published_in) == (
        "2101.00001",
        1,
        "10.5555/x1",
        "Tides Today",
    )
    assert record.keys[:3] == ("arxiv:2101.00001", "doi:10.5555/x1", "doi:10.5555/p1")
    assert of_record(found).version == 3


def test_an_entry_fills_only_what_the_first_page_lacks() -> None:
    entry = Candidate("", "Tides", published="2019", authors=("Bo Li",), venue="Tides Today")
    ids = (Identifier("doi", "10.5555/other"), Identifier("pmid", "7"))
    page = identify(document(author="Ann Marsh", doi="10.5555/x1"), "scan")
    made = filled(page, entry, ids)
    assert (made.title, made.authors, made.published) == ("On the tides", ("Ann Marsh",), "2019")
    assert (made.doi, made.pmid, made.published_in) == ("10.5555/x1", "7", "Tides Today")
    assert "doi:10.5555/other" not in made.keys


def test_what_is_anothers_id_leaves_no_name() -> None:
    made = without_ids(identify(document(arxiv="2101.00001v2", doi="10.5555/x1"), "scan"))
    assert (made.keys, made.identifiers, made.url) == ((), (), None)


def test_names_are_identifiers_or_titles() -> None:
    assert identifier_in("doi:10.48550/arxiv.2101.00001") == Identifier("arxiv", "2101.00001")
    assert identifier_in("pmid:7") == Identifier("pmid", "7")
    assert identifier_in("title:onthetides:2020:marsh") is None


def test_a_text_bears_a_title_that_is_its_own_or_stands_on_its_first_page() -> None:
    page = identify(document("Harbour studies"), "scan")
    assert bears_title("Studies of one harbour", page, "")
    assert bears_title("On the tides of nine bays", page, "ON THE TIDES\nof nine bays")
    assert not bears_title("Why bread rises", page, "On the tides of nine bays")
