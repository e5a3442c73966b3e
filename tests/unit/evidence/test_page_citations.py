"""Citations by page: what is read as one, which passage it means, and that nothing else passes for one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.evidence.citations.markers import CitationStream, number_citations
from asky.evidence.citations.page_citations import (
    PageCitations,
    PageCitationStream,
    read_page_citations,
    with_pages,
)
from asky.evidence.paper_names import paper_name
from asky.values import Evidence, Location, Page, Source, Span

_PAGE_CHARS = 100


def paper(id_: str, version: int | None = None, doi: str | None = None) -> Source:
    name = id_ if version is None else f"{id_}v{version}"
    return Source(f"s{id_}", "file", f"paper:{id_}", id_, url=f"https://arxiv.org/abs/{name}", doi=doi)


def passage(key: str, source: Source, document_id: int, page: int, *, text: str = "words", pages: int = 1) -> Evidence:
    span = Span((page - 1) * _PAGE_CHARS + 10, (page + pages - 1) * _PAGE_CHARS - 10)
    return Evidence(key, source, document_id, "0" * 64, span, text.ljust(len(span)), Location(page=page))


def pages_of(labels: Sequence[str | None]) -> tuple[Page, ...]:
    return tuple(
        Page(number, label, (number - 1) * _PAGE_CHARS, number * _PAGE_CHARS)
        for number, label in enumerate(labels, start=1)
    )


PLAIN = pages_of([None] * 20)
BOOK = pages_of(["i", "ii", "iii", "iv", *map(str, range(1, 17))])
DOCUMENTS = {1: PLAIN, 2: PLAIN, 3: BOOK, 4: PLAIN, 5: PLAIN}
TIDES = paper("2509.10446", 1)
OLD = paper("hep-th/9901001", 2)
THESIS = paper("marsh1999tides")
PRINTED = paper(
    "10.5555/(sici)1097(1998)17:15<1661::aid-1>3.0.co;2-2", doi="10.5555/(sici)1097(1998)17:15<1661::aid-1>3.0.co;2-2"
)
SHOWN = {
    each.key: each
    for each in (
        passage("Pa005", TIDES, 1, 5, text="The moon raises the tides of every open sea."),
        passage("Pb005", TIDES, 1, 5, text="Harbours are measured with gauges."),
        passage("Pa006", TIDES, 1, 6, pages=2),
        passage("Pa012", TIDES, 1, 12),
        passage("Pc003", OLD, 2, 3),
        passage("Pd004", THESIS, 3, 4),  # iv
        passage("Pd007", THESIS, 3, 7),  # 3
        passage("Pe001", PRINTED, 4, 1),
    )
}


def citations() -> PageCitations:
    return PageCitations(SHOWN, lambda document_id: DOCUMENTS[document_id])


def numbered(text: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    found = number_citations(text, SHOWN, lambda: PageCitationStream(citations()))
    return found.text, found.order, found.unknown


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("2509.10446v1, page 5", [("2509.10446v1", "5-5")]),
        ("2509.10446v1, pages 5-6", [("2509.10446v1", "5-6")]),
        ("2509.10446v1, pp. 125–8", [("2509.10446v1", "125-128")]),
        ("2509.10446v1, p. 5", [("2509.10446v1", "5-5")]),
        ("2509.10446v1, p5", [("2509.10446v1", "5-5")]),
        ("2509.10446v1 page 5", [("2509.10446v1", "5-5")]),
        ("arXiv:2509.10446, Page 5", [("2509.10446", "5-5")]),
        ("https://arxiv.org/abs/2509.10446v1, page 5", [("2509.10446v1", "5-5")]),
        ("**2509.10446v1**, page\n 5", [("2509.10446v1", "5-5")]),
        ("2509.10446v1, pages 5, 7 and 9", [("2509.10446v1", "5-5 7-7 9-9")]),
        ("2509.10446v1, page 5, page 7", [("2509.10446v1", "5-5 7-7")]),
        ("2509.10446v1, page 5; hep-th/9901001v2, page 3", [("2509.10446v1", "5-5"), ("hep-th/9901001v2", "3-3")]),
        ("2509.10446v1, page 5, math.GT/0309136, p. 3", [("2509.10446v1", "5-5"), ("math.GT/0309136", "3-3")]),
        ("2509.10446v1, page 5 and 2302.67890v2, page 6", [("2509.10446v1", "5-5"), ("2302.67890v2", "6-6")]),
        ("marsh1999tides, page iv", [("marsh1999tides", "iv-iv")]),
        ("marsh1999tides, page iv (PDF 4)", [("marsh1999tides", "4-4")]),
        ("marsh1999tides, pages iii–v", [("marsh1999tides", "iii-v")]),
        ("doi:10.5555/x.y;z, page 3", [("10.5555/x.y;z", "3-3")]),
        ("see Marsh 1999, page 5", [("Marsh 1999", "5-5")]),
        ("7", []),
        ("Pa005", []),
        ("page 5", []),
        ("turn the page", []),
        ("2509.10446v1, page five", []),
        ("2509.10446v1", []),
        ("x" * 500 + ", page 5", []),
    ],
)
def test_what_is_read_in_a_bracket(content: str, found: list[tuple[str, str]]) -> None:
    read = read_page_citations(content)
    assert [(each.name, " ".join(f"{a}-{b}" for a, b in each.ranges)) for each in read] == found


@pytest.mark.parametrize(
    ("text", "shown", "order"),
    [
        ("The moon raises tides [2509.10446v1, page 5].", "The moon raises tides [1].", ("Pa005",)),
        ("Gauges measure harbours [2509.10446v1, page 5].", "Gauges measure harbours [1].", ("Pb005",)),
        ("Both [2509.10446v1, pages 6-7].", "Both [1].", ("Pa006",)),
        ("Tides [2509.10446, page 12; hep-th/9901001v2, page 3].", "Tides [1][2].", ("Pa012", "Pc003")),
        ("Front [marsh1999tides, page iv], body [marsh1999tides, p. 3].", "Front [1], body [2].", ("Pd004", "Pd007")),
        ("A print [10.5555/(SICI)1097(1998)17:15<1661::AID-1>3.0.CO;2-2, page 1].", "A print [1].", ("Pe001",)),
        ("A key [Pa005], a page [2509.10446v1, page 12].", "A key [1], a page [2].", ("Pa005", "Pa012")),
    ],
)
def test_a_page_that_was_shown_is_cited(text: str, shown: str, order: tuple[str, ...]) -> None:
    assert numbered(text) == (shown, order, ())


@pytest.mark.parametrize(
    "cited",
    [
        "2509.10447v1, page 5",  # no such paper
        "2509.10446v2, page 5",  # another version
        "2509.10446v1, page 9",  # not shown
        "2509.10446v1, page 99",  # beyond the end
        "2509.10446v1, pages 5-9",  # in part
        "2509.10446v1, pages 6-5",  # backwards
        "2509.10446v1, pages 1-999",
        "marsh1999tides, page 4",  # printed on page 8, which was not shown; page 4 of the file is iv
        "marsh1999tides, page v",
        "Marsh 1999, page 5",
    ],
)
def test_a_page_that_was_not_shown_is_struck_out(cited: str) -> None:
    assert numbered(f"So it is [{cited}].") == (f"So it is ~~[{cited}?]~~.", (), (f"[{cited}?]",))


def test_of_a_group_only_what_was_not_shown_is_struck_out() -> None:
    text, order, unknown = numbered("Tides [2509.10446v1, page 12; 2302.67890v2, page 1].")
    assert (text, order, unknown) == (
        "Tides [1]~~[2302.67890v2, page 1?]~~.",
        ("Pa012",),
        ("[2302.67890v2, page 1?]",),
    )


def judged() -> Iterator[tuple[str, bool]]:
    """Yield 200 citations, half of which are true, in all their forms."""
    forms = ["{}, page {}", "{}, p. {}", "{} page {}", "{}, pages {}-{}", "see {}, pp. {}"]
    known = [("2509.10446v1", page) for page in (5, 6, 7, 12)]
    known += [("2509.10446", 12), ("hep-th/9901001v2", 3), ("hep-th/9901001", 3), ("arXiv:2509.10446v1", 5)]
    known += [("marsh1999tides", page) for page in ("iv", 3)]
    known += [(each, page) for each, page in known[:10]]
    for form in forms:
        for name, page in known:
            yield form.format(name, page, page), True
    false = [("2509.10446v1", page) for page in (1, 4, 8, 11, 13, 20, 21, 400)]
    false += [("2509.10446v3", 5), ("2509.10440v1", 5), ("hep-th/9901002v2", 3), ("hep-ph/9901001v2", 3)]
    false += [("marsh1999tides", page) for page in ("v", "xii", 1, 5, 17)]
    false += [("marsh2000tides", "iv"), ("10.5555/other", 3), ("Marsh et al.", 5)]
    for form in forms:
        for name, page in false:
            yield form.format(name, page, page), False


def test_200_citations_of_which_half_are_false_are_all_judged_rightly() -> None:
    cases = list(judged())
    assert [sum(truth is each for _, truth in cases) for each in (True, False)] == [100, 100]
    wrong = [cited for cited, truth in cases if (numbered(f"So it is [{cited}].")[2] == ()) is not truth]
    assert wrong == []


@given(st.lists(st.integers(0, 60), max_size=8))
def test_the_result_does_not_depend_on_how_the_answer_is_cut(cuts: list[int]) -> None:
    text = "The moon [2509.10446v1, page 5] and \\[2509.10446v1, page 99\\] and [a link](x) [2509.10446v1, p. 12"
    stream = CitationStream(SHOWN, lambda: PageCitationStream(citations()))
    edges = [0, *sorted(cuts), len(text)]
    pieces = [stream.feed(text[begin:end]) for begin, end in pairwise(edges)]
    assert "".join(pieces) + stream.close() == numbered(text)[0]


@given(st.text(alphabet="[]P0a5.v,; \n\\-", max_size=200))
def test_text_without_pages_is_left_to_the_gate(text: str) -> None:
    stream = PageCitationStream(citations())
    assert stream.feed(text) + stream.close() == text


def test_markers_become_pages_for_the_reader_and_stay_in_code() -> None:
    cited = [
        {"n": 1, "paper": "2509.10446v1", "page": 5, "page_label": None},
        {"n": 2, "paper": "marsh1999tides", "page": 4, "page_label": "iv"},
        {"n": 3, "page": 1, "page_label": None},
        {"n": 4, "paper": "2509.10446v1", "page": 5, "page_label": None},
        {"n": 5, "paper": "hep-th/9901001v2", "page": None, "page_label": None},
    ]
    text = "Tides [1][4] and [1][2], not [3] nor `[1]`. [5]"
    assert with_pages(text, cited) == (
        "Tides [2509.10446v1, page 5] and [2509.10446v1, page 5] [marsh1999tides, page iv], not [3] nor `[1]`."
        " [hep-th/9901001v2]"
    )


def test_a_paper_is_named_with_the_version_that_was_read() -> None:
    assert [paper_name(each) for each in (TIDES, OLD, THESIS)] == ["2509.10446v1", "hep-th/9901001v2", "marsh1999tides"]
    assert paper_name(replace(TIDES, uri="file:///a.pdf")) is None
    assert paper_name(replace(TIDES, uri="paper:2509.10446#summary")) is None
