from __future__ import annotations

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.search.identifiers import Identifier
from asky.search.papers import (
    arxiv_url,
    date_of,
    doi_url,
    paper,
    plain_abstract,
    plain_title,
    search_words,
    without_operators,
)
from asky.search.providers.arxiv import build_query
from asky.search.providers.openalex import rebuild_abstract


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<jats:p>Soil <jats:italic>keeps</jats:italic> carbon.</jats:p>", "Soil keeps carbon."),
        ("<jats:title>Abstract</jats:title><jats:p>Soil.</jats:p>", "Soil."),
        ("<title>Summary</title><p>Soil.</p>", "Soil."),
        ("<jats:sec><jats:title>Methods</jats:title><jats:p>Cores.</jats:p></jats:sec>", "Methods: Cores."),
        ("<jats:sec><jats:title>Aims:</jats:title><jats:p>To see.</jats:p></jats:sec>", "Aims: To see."),
        ("<jats:p>H<jats:sub>2</jats:sub>O &lt; 5 &amp; p &gt; 1</jats:p>", "H2O < 5 & p > 1"),
        ("&lt;jats:p&gt;Twice &amp;lt; escaped&lt;/jats:p&gt;", "Twice < escaped"),
        ("One</p><p>two", "One two"),
        (
            "of <jats:inline-formula><jats:alternatives><jats:tex-math>$$x$$</jats:tex-math>"
            "<mml:math><mml:mi>x</mml:mi></mml:math></jats:alternatives></jats:inline-formula>.",
            "of x.",
        ),
        ("  spread\n over\tlines ", "spread over lines"),
        (None, ""),
        (7, ""),
    ],
)
def test_an_abstract_is_text_without_markup(markup: object, text: str) -> None:
    assert plain_abstract(markup) == text


def test_a_title_has_its_formulas_once() -> None:
    title = "On <i>CO<sub>2</sub></i> and <mml:math><mml:mi>y</mml:mi><annotation>y</annotation></mml:math>"
    assert plain_title(title) == "On CO2 and y"


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        ((2023, 1, 3), "2023-01-03"),
        ((2023, 1), "2023-01"),
        ((2023,), "2023"),
        (("2026", "Mar", "3"), "2026-03-03"),
        (("2026", "03", ""), "2026-03"),
        (("2026", "Spring", ""), "2026"),
        ((2023, 13, 1), "2023"),
        ((2023, 2, 30), "2023-02"),
        ((2023, None, 3), "2023"),
        ((None,), None),
        (("", "", ""), None),
    ],
)
def test_a_date_is_as_exact_as_makes_sense(parts: tuple[object, ...], found: str | None) -> None:
    assert date_of(*parts) == found


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ('"soil carbon" AND (peat OR bog) NOT x*', "soil carbon and peat or bog not x"),
        ("-peat co-limitation", "peat co-limitation"),
        ("title:soil [ti] ~3", "title soil ti 3"),
        ("C++ R&D 3.5 don't", "C++ R&D 3.5 don't"),
        ("android ORNL", "android ORNL"),
        ("_- _-x well_-known", "x well known"),
        ("\u571f\u58e4 \u70ad", "\u571f\u58e4 \u70ad"),
        ("Ku\u0308hlung", "K\u00fchlung"),
        ("\u0939\u093f\u0928\u094d\u0926\u0940", "\u0939\u093f\u0928\u094d\u0926\u0940"),
    ],
)
def test_operators_are_taken_out_of_a_query(query: str, words: str) -> None:
    assert without_operators(query) == words


@given(st.text())
def test_no_query_keeps_an_operator(query: str) -> None:
    kept = without_operators(query)
    assert without_operators(kept) == kept
    assert not re.search(r'["*?()\[\]{}:~^!|\\/]|(?<!\w)-|\b(AND|OR|NOT)\b', kept)


def test_words_are_searched_for_once_and_in_order() -> None:
    assert search_words("The soil, soil and the peat", 9) == (["soil", "peat"], ())
    assert search_words("to be or not to be", 9) == (["to", "be", "or", "not"], ())
    note = "only 2 of the query's 3 words were searched for"
    assert search_words("soil of peat and carbon", 2) == (["soil", "peat"], (note,))
    assert search_words("???", 9) == ([], ())


@given(st.lists(st.text(alphabet="abcdé.,-", min_size=1, max_size=6), max_size=40))
def test_an_abstract_is_rebuilt_from_its_index(words: list[str]) -> None:
    index: dict[str, list[int]] = {}
    for place, word in enumerate(words):
        index.setdefault(word, []).append(place)
    assert rebuild_abstract(dict(sorted(index.items()))) == " ".join(words)


@pytest.mark.parametrize(
    ("index", "text"),
    [
        (None, ""),
        ([], ""),
        ({}, ""),
        ({"gap": [5], "a": [0]}, "a gap"),
        ({"a": [0], "no": "x", "far": [10**12], "minus": [-1], "half": [0.5]}, "a"),
    ],
)
def test_a_damaged_index_gives_what_it_has(index: object, text: str) -> None:
    assert rebuild_abstract(index) == text


def test_every_word_of_a_query_to_arxiv_has_its_field() -> None:
    days = (date(2026, 11, 15), date(2026, 11, 22))
    assert build_query(["soil", "co-limitation"], None, days[1]) == 'all:soil AND all:"co limitation"'
    assert build_query(["c++"], *days) == 'all:"c" AND submittedDate:[202611150000 TO 202611222359]'


def test_a_paper_without_title_or_address_is_none() -> None:
    assert paper(title="", doi="10.5555/x") is None
    assert paper(title="Soil") is None
    assert paper(title="Soil", page="javascript:alert(1)") is None
    assert paper(title="Soil", doi="no doi", page="https://example.org/") is not None


@given(st.one_of(st.none(), st.integers(), st.lists(st.none()), st.text(st.characters()), st.just("10.5555/\ud800")))
def test_a_paper_is_made_of_whatever_a_service_sends(value: object) -> None:
    made = paper(title="Soil", doi=value, page=value, pdf_url=value)
    assert made is None or made.url.encode().startswith(b"http")


def test_the_address_of_a_paper_can_be_opened() -> None:
    assert doi_url("10.1002/(sici)1097<1::aid#2>3.0.co;2-k") == (
        "https://doi.org/10.1002/(sici)1097%3C1::aid%232%3E3.0.co;2-k"
    )
    assert arxiv_url(Identifier("arxiv", "math/0611800", 2), "pdf") == "https://arxiv.org/pdf/math/0611800v2"
