from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.errors import ProviderError
from asky.search.port import Candidate, SearchRequest
from asky.search.rows import clip, collect, language_of, passages, plain, texts, web_url, whole_number, within
from asky.search.service_table import RequestLimits


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<b>bold</b> &amp; <i class='x'>slanted</i>", "bold & slanted"),
        ("a<br>b<p>c</p><div>d</div>", "a b c d"),
        ("H<sub>2</sub>O<!-- no -->", "H2O"),
        ("x < y and y > z; a<b", "x < y and y > z; a<b"),
        ("use &lt;b&gt; &#39;here&#39;", "use <b> 'here'"),
        ("<jats:title>Aim</jats:title><jats:p>To see.</jats:p>", "Aim To see."),
        (" two \n\t lines\u202e\x1b[31m red\x00 ", "two lines red�"),
        ("<" * 2000 + "a", "<" * 2000 + "a"),
        (None, ""),
        (["list"], ""),
        (7, ""),
    ],
)
def test_markup_becomes_plain_text(markup: object, text: str) -> None:
    assert plain(markup) == text


def test_long_texts_are_cut_with_an_ellipsis() -> None:
    assert plain("word " * 100, 20) == "word word word word…"
    assert passages("a", ["b", None, "<i>c</i>"], 7) == "a … b … c"
    assert len(passages(["x" * 3000, "y" * 3000])) == 5000
    assert texts("one") == ("one",)
    assert texts({"a": 1}) == ()


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org",
        "http://example.org:8080/a?b=c#d",
        "HTTPS://EXAMPLE.ORG/A",
        "https://münchen.example/straße",
        "https://www.google.com/maps/place/x",
        "https://google.com.example.org/url?q=x",
        "https://duckduckgo.com/about",
        "https://xn--mnchen-3ya.example/",
        "http://[2001:db8::1]/a",
    ],
)
def test_addresses_of_pages_stay_as_they_are(url: str) -> None:
    assert web_url(f" {url}\n") == url


@pytest.mark.parametrize(
    "url",
    [
        "/url?q=https://example.org",
        "//example.org/a",
        "example.org/a",
        "ftp://example.org/a",
        "javascript:alert(1)",
        "data:text/html,x",
        "https://",
        "https:///a",
        "https://user:password@example.org/",
        "https://example.org:99999/",
        "https://exa\nmple.org/",
        "https://[::1",
        "https://www.google.com/url?sa=t&url=https%3A%2F%2Fexample.org",
        "https://www.google.co.uk/aclk?sa=l",
        "https://duckduckgo.com/l/?uddg=x",
        "https://duckduckgo.com/y.js?ad_domain=x",
        "https://www.bing.com/ck/a?!&&p=x",
        "https://r.search.yahoo.com/_ylt=x",
        "https://www.baidu.com/link?url=x",
        "https://example.org/" + "a" * 9000,
        "",
        None,
        7,
        {"url": "https://example.org"},
    ],
)
def test_what_is_no_address_of_a_page_is_none(url: object) -> None:
    assert web_url(url) is None


def test_white_space_in_an_address_is_escaped() -> None:
    assert web_url("https://example.org/a b") == "https://example.org/a%20b"


@given(st.text(max_size=300), st.integers(1, 60), st.integers(1, 12) | st.none())
def test_a_clipped_query_keeps_to_its_limits_and_begins_as_it_did(query: str, chars: int, words: int | None) -> None:
    limits = RequestLimits(query_chars=chars, query_words=words)
    text, notes = clip(query, limits)
    whole, none = clip(query, RequestLimits(query_chars=10_000))
    assert len(text) <= chars
    assert words is None or len(text.split()) <= words
    assert whole.startswith(text)
    assert bool(notes) == (text != whole)
    assert none == ()
    assert clip(text, limits) == (text, ())


@given(st.text())
def test_plain_text_has_no_controls_and_one_line(text: str) -> None:
    line = plain(text)
    assert line == " ".join(line.split())
    assert not re.search(r"[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]", line)
    line.encode()


def read(row: object) -> Candidate | None:
    url = web_url(row["url"]) if isinstance(row, dict) else None
    return Candidate(url) if url else None


def test_results_are_ranked_without_what_is_no_source_or_comes_twice() -> None:
    rows = [
        {"url": "/relative"},
        {"url": "https://example.org/a?utm_source=x"},
        {"url": "https://EXAMPLE.org:443/a#part"},
        "no row",
        {"url": "https://example.org/b"},
        {"url": "https://example.org/c"},
    ]
    found = collect("x", SearchRequest("q", max_results=2), rows, read, notes=("first",))
    assert [(each.url, each.found[0].rank) for each in found.candidates] == [
        ("https://example.org/a?utm_source=x", 1),
        ("https://example.org/b", 2),
    ]
    assert found.notes == ("first", "2 results without a usable address left out")
    assert collect("x", SearchRequest("q"), None, read).candidates == ()


@pytest.mark.parametrize("rows", [{}, "text", 7, True])
def test_results_that_are_no_list_are_malformed(rows: object) -> None:
    with pytest.raises(ProviderError) as caught:
        collect("x", SearchRequest("q"), rows, read)
    assert caught.value.reason == "malformed"


@pytest.mark.parametrize(
    ("text", "language"),
    [("en", ("en", None)), ("pt-BR", ("pt", "BR")), ("PT_br", ("pt", "BR")), ("all", ("all", None)), ("english", None)],
)
def test_languages_are_read(text: str, language: tuple[str, str | None] | None) -> None:
    assert language_of(SearchRequest("q", language=text)) == language
    assert language_of(SearchRequest("q")) is None


@pytest.mark.parametrize(
    ("value", "number"), [(3, 3), ("12", 12), (-1, None), (True, None), ("1e3", None), (2.5, None)]
)
def test_whole_numbers_are_read(value: object, number: int | None) -> None:
    assert whole_number(value) == number


def test_tables_in_tables_may_be_missing() -> None:
    assert within({"a": {"b": 1}}, "a", "b") == 1
    assert within({"a": [1]}, "a", "b") is None
    assert within(None, "a") is None
