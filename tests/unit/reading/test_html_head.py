from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.reading.html.head import canonical_url_of, describe, is_about_one_item, iso_date, title_of
from asky.reading.html.survey import survey_page

URL = "https://www.a.example/news/one?id=7"


def facts(head: str, url: str | None = URL) -> dict[str, str]:
    return {key: value for key, value in describe(survey_page(head), url).items() if value}


def data(value: Any) -> str:
    return f'<script type="application/ld+json">{value if isinstance(value, str) else json.dumps(value)}</script>'


@pytest.mark.parametrize(
    "head",
    [
        data({"@type": "NewsArticle", "datePublished": "2024-03-09T10:00:00+01:00"}),
        data({"@graph": [{"@type": "WebSite"}, {"@type": "Article", "datePublished": "2024-03-09"}]}),
        data([{"@type": "A"}, {"datePublished": "2024-3-9"}]),
        '<meta property="article:published_time" content="2024-03-09T10:00">',
        '<meta name="citation_publication_date" content="2024/03/09">',
        '<meta itemprop="datePublished" content=" 2024-03-09 ">',
        '<meta name="DC.date" content="2024.03.09">',
        '<p>On <time datetime="2024-03-09">9 March</time> or <time datetime="2020-01-01">then</time></p>',
        data("{not json") + '<meta name="date" content="2024-03-09">',
        data("[" * 100_000) + '<meta name="date" content="2024-03-09">',
    ],
)
def test_the_date_of_publication_is_found(head: str) -> None:
    assert facts(head)["published"] == "2024-03-09"


@pytest.mark.parametrize(
    "value", ["9 March 2024", "2024", "2024-13-01", "0000-01-01", "20240309", None, 5, ["2024-03-09"]]
)
def test_what_is_no_full_date_is_left_out(value: object) -> None:
    assert iso_date(value) is None


@pytest.mark.parametrize(
    ("head", "author"),
    [
        ('<meta name="author" content="A. Writer">', "A. Writer"),
        ('<meta name="citation_author" content="B, A."><meta name="citation_author" content="D, C.">', "B, A.; D, C."),
        ('<meta property="article:author" content="https://a.example/ann">' + data({"author": {"name": "Ann"}}), "Ann"),
        (data({"author": [{"name": "Ann"}, {"name": "Ben"}, {"name": "Ann"}]}), "Ann; Ben"),
        (data({"@type": "X", "author": "Ann"}), "Ann"),
    ],
)
def test_authors_are_named_and_not_linked(head: str, author: str) -> None:
    assert facts(head)["author"] == author


@pytest.mark.parametrize(
    ("canonical", "kept"),
    [
        ("/news/one", "https://www.a.example/news/one"),
        ("https://a.example/news/one", "https://a.example/news/one"),
        ("//m.a.example/news/one#x", "https://m.a.example/news/one"),
        ("https://b.example/news/one", None),
        ("https://a.example.b.example/", None),
        ("https://evil-a.example/", None),
        ("http://www.a.example:8080/", None),
        ("/", None),
        ("javascript:x", None),
        ("https://www.a.example/?p=1", "https://www.a.example/?p=1"),
    ],
)
def test_a_canonical_address_counts_within_the_site_only(canonical: str, kept: str | None) -> None:
    survey = survey_page(f'<link rel="Canonical" href="{canonical}">')
    assert canonical_url_of(survey, URL) == kept


def test_without_an_address_of_its_own_a_page_has_no_canonical_one() -> None:
    assert "canonical_url" not in facts('<link rel=canonical href="https://a.example/x">', None)


def test_language_site_and_description() -> None:
    head = '<html lang="pt_BR"><meta property="og:site_name" content="S"><meta name="description" content="D">'
    assert facts(head) == {"language": "pt-BR", "site_name": "S", "description": "D"}
    assert facts('<html lang="{{ lang }}"><meta property="og:locale" content="de_DE">') == {"language": "de-DE"}


def test_titles_in_order_of_trust() -> None:
    page = "<title>Window</title><h1>Head <i>ing</i></h1><h1>Second</h1><svg><title>Icon</title></svg>"
    assert title_of(survey_page('<meta property="og:title" content="Given">' + page)) == "Given"
    assert title_of(survey_page(page)) == "Window"
    assert title_of(survey_page(page.partition("</title>")[2])) == "Head ing"
    assert title_of(survey_page("<p>x</p>")) is None


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ('<meta property="og:type" content="article">', True),
        ('<meta property="og:type" content="product.item">', True),
        (data({"@type": "Product"}), True),
        ('<meta property="og:type" content="website">' + data({"@type": "ItemList"}), False),
        ("", False),
    ],
)
def test_pages_say_whether_they_tell_of_one_thing(head: str, expected: bool) -> None:
    assert is_about_one_item(survey_page(head)) is expected


@given(st.recursive(st.none() | st.text(max_size=5), lambda inner: st.lists(inner) | st.dictionaries(
    st.sampled_from(["@graph", "author", "name", "datePublished", "mainEntity"]), inner), max_leaves=10))  # fmt: skip
def test_structured_data_of_any_shape_is_survived(value: Any) -> None:
    describe(survey_page(data(json.dumps(value).replace("<", ""))), URL)
