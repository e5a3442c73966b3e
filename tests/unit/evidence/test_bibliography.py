"""Bibliographies are read back by parsers that others wrote."""

from __future__ import annotations

import json
import re
import string
import warnings
from collections.abc import Sequence
from typing import Any

import pytest
import rispy
from citeproc.source.json import CiteProcJSON
from hypothesis import given
from hypothesis import strategies as st
from pybtex.database import BibliographyData, parse_string

from asky.evidence.export.bibliography import bibliography
from asky.evidence.export.works import cited_works
from asky.text.scrub import one_line
from tests.support.reports import answer_of, citation

PUBMED = "https://pubmed.ncbi.nlm.nih.gov"
PAPER = {
    "kind": "web",
    "url": "https://doi.org/10.5555/ABC.1_x",
    "title": "Tides & 100 % {of} the $ea_level #1",
    "authors": ["Jane Q. Doe", "Müller-Lüdenscheidt, Jürgen", "李明"],
    "published": "2021-03-09",
    "published_in": "Journal of Tides",
    "doi": "https://doi.org/10.5555/ABC.1_x",
}
HOSTILE = (
    "{", "}", "}}", "{{{", "\\", "\\}", "a } b { c", "100 % sure", "a & b", "#1 $5 a_b ~x ^y", "@article{x,",
    '"quoted"', "line\nbreak\r\nER  - \nTY  - JOUR", "a\u2028TI  - b", "\ud800 lone", "\x00nul", "TY  - BOOK",
    "日本語 の 題",
    "é̈", "a" * 5000, "\x1b[31mred", "\u202eevil", " and ", "and and and", "Doe, Jane and Roe, Richard", "%",
    "\\textbackslash{}", "}, note = {x",
)  # fmt: skip


def answer(*citations: dict[str, Any]) -> dict[str, Any]:
    return answer_of("x", citations=[{**each, "n": n} for n, each in enumerate(citations, start=1)])


def bibtex(*citations: dict[str, Any]) -> BibliographyData:
    return parse_string(bibliography([answer(*citations)], "bibtex"), "bibtex")


def csl(*citations: dict[str, Any]) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = json.loads(bibliography([answer(*citations)], "csl"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of a type or a field that it does not know
        CiteProcJSON(items)
    return items


def ris(*citations: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = rispy.loads(bibliography([answer(*citations)], "ris"))
    return found


def untex(text: str) -> str:
    """What TeX typesets for an escaped text."""
    named = {"textbackslash": "\\", "textbraceleft": "{", "textbraceright": "}", "textasciitilde": "~"}
    named["textasciicircum"] = "^"
    assert not re.search(r"(?<!\\)[&%$#_~^]", text)
    return re.sub(r"\\(?:([a-z]+)\{\}|([&%$#_]))", lambda match: named[match[1]] if match[1] else match[2], text)


def test_a_paper_has_its_authors_journal_date_and_doi_in_every_format() -> None:
    cited = citation(**PAPER, page=3)
    entry = bibtex(cited).entries["doe2021tides"]
    assert entry.type == "article"
    assert [str(each) for each in entry.persons["author"]] == ["Doe, Jane Q.", "Müller-Lüdenscheidt, Jürgen", "{李明}"]
    assert untex(entry.fields["title"][1:-1]) == PAPER["title"]
    wanted = {"journal": "Journal of Tides", "year": "2021", "month": "March", "day": "9", "doi": "10.5555/abc.1_x"}
    assert {name: entry.fields[name] for name in wanted} == wanted
    assert entry.fields["url"] == "https://doi.org/10.5555/ABC.1_x"
    assert entry.fields["urldate"] == "2026-03-14"
    assert entry.fields["note"].startswith("cited: p. 3; SHA-256")
    (item,) = csl(cited)
    assert item == {
        "id": "doe2021tides",
        "type": "article-journal",
        "title": PAPER["title"],
        "author": [
            {"family": "Doe", "given": "Jane Q."},
            {"family": "Müller-Lüdenscheidt", "given": "Jürgen"},
            {"literal": "李明"},
        ],
        "issued": {"date-parts": [[2021, 3, 9]]},
        "container-title": "Journal of Tides",
        "DOI": "10.5555/abc.1_x",
        "URL": "https://doi.org/10.5555/ABC.1_x",
        "accessed": {"date-parts": [[2026, 3, 14]]},
        "note": f"cited: p. 3; SHA-256 of the text that was read: {cited['sha256']}",
    }
    (row,) = ris(cited)
    assert (row["type_of_reference"], row["id"], row["title"]) == ("JOUR", "doe2021tides", PAPER["title"])
    assert row["authors"] == ["Doe, Jane Q.", "Müller-Lüdenscheidt, Jürgen", "李明"]
    assert (row["year"], row["date"], row["doi"]) == ("2021", "2021/03/09", "10.5555/abc.1_x")
    assert (row["secondary_title"], row["access_date"]) == ("Journal of Tides", "2026/03/14")
    assert (row["urls"], row["notes"]) == ([cited["url"]], [item["note"]])


def test_a_file_with_an_arxiv_id_is_a_preprint_with_its_eprint_in_every_format() -> None:
    facts = {"kind": "file", "url": None, "path": "/papers/attention.pdf", "title": "Tides", "authors": ["Ada Bly"]}
    cited = citation(**facts, published="2021-04-12", doi="10.48550/arxiv.2101.00001", page=2)
    entry = bibtex(cited).entries["bly2021tides"]
    assert [str(each) for each in entry.persons["author"]] == ["Bly, Ada"]
    wanted = {"year": "2021", "eprint": "2101.00001", "archiveprefix": "arXiv", "doi": "10.48550/arxiv.2101.00001"}
    assert {name: entry.fields[name] for name in wanted} == wanted
    (item,) = csl(cited)
    assert (item["type"], item["number"], item["author"]) == (
        "article", "arXiv:2101.00001", [{"family": "Bly", "given": "Ada"}],
    )  # fmt: skip
    (row,) = ris(cited)
    assert (row["type_of_reference"], row["year"], row["authors"]) == ("UNPB", "2021", ["Bly, Ada"])


@pytest.mark.parametrize(
    ("changed", "types"),
    [
        ({}, ("online", "webpage", "ELEC")),
        ({"url": "https://x.example/a.pdf", "page": 2}, ("misc", "document", "GEN")),
        ({"url": "https://arxiv.org/abs/1706.03762v5"}, ("misc", "article", "UNPB")),
        ({"doi": "10.5555/x"}, ("misc", "article", "GEN")),
        ({"doi": "10.5555/x", "published_in": "Sea"}, ("article", "article-journal", "JOUR")),
        ({"url": f"{PUBMED}/1234567/", "published_in": "Sea"}, ("article", "article-journal", "JOUR")),
        ({"kind": "file", "url": None, "path": "/home/you/tides.md"}, ("misc", "document", "GEN")),
        ({"kind": "note", "url": None, "path": "Sea/Tides.md"}, ("misc", "manuscript", "UNPB")),
    ],
)  # fmt: skip
def test_the_type_of_an_entry_follows_what_the_source_is(changed: dict[str, Any], types: tuple[str, ...]) -> None:
    cited = citation(**changed)
    (entry,) = bibtex(cited).entries.values()
    assert (entry.type, csl(cited)[0]["type"], ris(cited)[0]["type_of_reference"]) == types


def test_ids_of_archives_stand_in_the_fields_that_are_made_for_them() -> None:
    arxiv, pubmed = (
        citation(url="https://arxiv.org/pdf/1706.03762v5"),
        citation(2, url=f"{PUBMED}/77/"),
    )
    first, second = bibtex(arxiv, pubmed).entries.values()
    assert (first.fields["eprint"], first.fields["archiveprefix"], second.fields["pmid"]) == (
        "1706.03762",
        "arXiv",
        "77",
    )
    assert (csl(arxiv)[0]["number"], csl(pubmed)[0]["PMID"]) == ("arXiv:1706.03762", "77")
    assert [each["accession_number"] for each in ris(arxiv, pubmed)] == ["arXiv:1706.03762", "77"]


def test_a_source_is_listed_once_with_all_its_pages_and_only_what_is_cited_is_listed() -> None:
    same = {"source_id": "s1", "url": "https://x.example/a.pdf"}
    one, two = answer(citation(**same, page=2)), answer(citation(**same, page=7, page_label="v"), citation(9))
    one["sources"] = [{"source_id": "s5", "url": "https://unused.example/", "title": "U", "score": 1.0, "used": False}]
    works = cited_works([one, two])
    assert [(work.url, work.pages) for work in works] == [
        ("https://x.example/a.pdf", ("p. 2", "p. v (PDF 7)")),
        ("https://tides.example/daily", ()),
    ]
    doubled = cited_works([answer(citation(1, doi="10.5555/X"), citation(2, url="https://doi.org/10.5555/x"))])
    assert len(doubled) == 1


def test_an_answer_of_before_there_were_authors_and_one_without_citations_are_exported_too() -> None:
    assert not {"authors", "published", "doi"} & citation().keys()
    assert ris(citation())[0]["title"] == "Tides"
    assert [bibliography([answer()], form) for form in ("bibtex", "csl", "ris")] == ["", "[]\n", ""]  # type: ignore[arg-type]  # a literal


def test_keys_are_told_apart_and_do_not_change_when_more_answers_come() -> None:
    pages = [citation(n, url=f"https://www.tides.co.uk/{n}", published="2020") for n in range(1, 31)]
    few, many = (cited_works([answer(*pages[:count])]) for count in (2, 30))
    assert [work.key for work in few] == ["tides2020tides", "tides2020tidesa"]
    assert [work.key for work in many[:2]] == [work.key for work in few]
    assert len({work.key for work in many}) == 30
    assert many[27].key == "tides2020tidesaa"


@pytest.mark.parametrize(
    ("changed", "key"),
    [
        ({"url": "https://en.wikipedia.org/wiki/Tide", "title": "The Tide - Wikipedia"}, "wikipediatide"),
        ({"url": "http://127.0.0.1:8000/", "title": "日本"}, "source127001"),
        ({"url": None, "kind": "file", "path": "/a/tides.md", "title": "tides.md"}, "tides"),
        ({"url": None, "kind": "file", "path": "/a/日本", "title": "日本"}, "source"),
        ({"authors": ["Ångström, Å."], "published": "1868", "title": "Sur le spectre"}, "angstrom1868sur"),
        ({"url": "https://who.int/x", "authors": ["World Health Organization"], "title": "Tides"}, "whotides"),
    ],
)  # fmt: skip
def test_a_key_is_made_of_who_when_and_what(changed: dict[str, Any], key: str) -> None:
    assert cited_works([answer(citation(**changed))])[0].key == key


@pytest.mark.parametrize("published", ["2020", "2020-05", "2020-05-17", "2020-13-01", "soon", "20201", "0000"])
def test_as_much_of_a_date_as_makes_sense_is_given(published: str) -> None:
    dates = {"2020": [2020], "2020-05": [2020, 5], "2020-05-17": [2020, 5, 17], "2020-13-01": [2020], "0000": [0]}
    (item,) = csl(citation(published=published))
    assert item.get("issued", {}).get("date-parts", [None])[0] == dates.get(published)


def assert_reads_back(title: str, authors: Sequence[str], site: str) -> None:
    cited = citation(title=title, authors=list(authors), published_in=site, url=None, kind="file", path=title)
    plain = one_line(title, None) or "Untitled"
    names = [text for each in authors if (text := one_line(each, None))]
    data = bibtex(cited, citation(2))
    assert len(data.entries) == 2
    entry = next(iter(data.entries.values()))
    assert " ".join(untex(entry.fields["title"][1:-1]).split()) == plain
    assert len(entry.persons.get("author", [])) == len(names)
    assert untex(entry.fields.get("howpublished", "")) == one_line(site, None)
    first, second = csl(cited, citation(2))
    assert (first["title"], second["title"]) == (plain, "Tides")
    assert first.get("container-title", "") == one_line(site, None)
    one, two = ris(cited, citation(2))
    assert (one["title"], two["title"], one["type_of_reference"]) == (plain, "Tides", "GEN")
    assert len(one.get("authors", [])) == len(names)
    assert one["id"].isascii()
    assert set(one["id"]) <= set(string.ascii_lowercase + string.digits)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_titles_authors_and_sites_stay_in_their_fields(text: str) -> None:
    assert_reads_back(text, [text, "Doe, Jane"], text)


@pytest.mark.extended
@given(
    st.text(st.characters() | st.sampled_from('{}\\&%$#_~^"\n,@= ')),
    st.lists(st.text(st.characters() | st.sampled_from("{}\\&, and"), max_size=20), max_size=3),
    st.text(max_size=20),
)
def test_whatever_a_page_calls_itself_reads_back(title: str, authors: list[str], site: str) -> None:
    assert_reads_back(title, authors, site)


@given(st.text(st.characters() | st.sampled_from("{}\\%#&_ "), max_size=40))
def test_an_address_cannot_leave_its_field(tail: str) -> None:
    cited = citation(url=f"https://x.example/{tail}")
    data = bibtex(cited, citation(2))
    assert [entry.type for entry in data.entries.values()] == ["online", "online"]
    assert ris(cited)[0]["urls"][0].startswith("https://x.example/")


def test_works_that_would_share_a_key_are_told_apart_in_time_that_grows_with_their_number() -> None:
    titles = ["Tides"] * 30 + ["Tides a"] + ["Tidesb"] + ["Tides"] * 20_000
    cited = [
        {"n": n, "source_id": f"s{n}", "kind": "file", "url": None, "title": title, "page": None, "page_label": None}
        | {"sha256": "0"}
        for n, title in enumerate(titles)
    ]
    keys = [each.key for each in cited_works([{"citations": cited}])]
    assert keys[:4] == ["tides", "tidesa", "tidesb", "tidesc"]
    assert keys[30:34] == ["tidesad", "tidesba", "tidesae", "tidesaf"]
    assert len(set(keys)) == len(keys)
