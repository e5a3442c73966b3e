from __future__ import annotations

import pytest

from asky.research.shortlist_collect import (
    LINK_COSINE,
    MAX_LINKS,
    QUERY_CHARS,
    QUERY_WORDS,
    choose_links,
    offered_links,
    read_prompt,
    search_queries,
    unite,
)
from asky.search.port import Candidate, ServiceRank
from asky.text.addresses import without_addresses
from asky.values import Link
from tests.support.shortlist_web import page


@pytest.mark.parametrize(
    ("question", "urls"),
    [
        ("What does https://example.org/a say about soil?", ["https://example.org/a"]),
        ("Is it so (see https://example.org/a_(b)), or not?", ["https://example.org/a_(b)"]),
        ("Read https://example.org/a. Then https://example.org/b!", ["https://example.org/a", "https://example.org/b"]),
        ('[one](https://x.org/a)[two](https://x.org/b "t")', ["https://x.org/a", "https://x.org/b"]),
        (
            "<https://x.org/a> `https://x.org/b` **https://x.org/c**",
            ["https://x.org/a", "https://x.org/b", "https://x.org/c"],
        ),
        ("https://a.org,https://b.org;http://c.org", ["https://a.org", "https://b.org", "http://c.org"]),
        ('"https://x.org/it\'s"', ["https://x.org/it's"]),
        ("https://bücher.example/straße.", ["https://bücher.example/straße"]),
        ("https://x.org/a。これは何ですか", ["https://x.org/a"]),
        ("| https://x.org/a | b |", ["https://x.org/a"]),
        ("HTTPS://X.org/a#one https://x.org/a#two https://x.org/a?utm_source=z", ["HTTPS://X.org/a#one"]),
        ("www.example.org/x and example.org/page", ["https://www.example.org/x", "https://example.org/page"]),
        ("http://[2001:db8::1]:8080/x", ["http://[2001:db8::1]:8080/x"]),
        ("Summarise arXiv:2301.12345v2", ["https://arxiv.org/abs/2301.12345v2"]),
        ("What does doi:10.5555/AbC1. say?", ["https://doi.org/10.5555/abc1"]),
        ("https://arxiv.org/abs/2301.12345 https://arxiv.org/pdf/2301.12345", ["https://arxiv.org/abs/2301.12345"]),
    ],
)
def test_addresses_are_found_without_what_surrounds_them(question: str, urls: list[str]) -> None:
    candidates = read_prompt(question).candidates

    assert [each.url for each in candidates] == urls
    assert {each.origin for each in candidates} == {"prompt"}


@pytest.mark.parametrize(
    "question",
    [
        "Is amazon.com profitable?",
        "What is in docs/readme.md and src/main.py?",
        "mail me@www.example.org or me@example.org/x",
        "http:// http:/x ftp://example.org/x file:///etc/passwd",
        "and/or e.g./i.e. node.js/express 1.2/3.4",
        "http://[::1 http://[zz]/ b",
        "",
    ],
)
def test_what_only_looks_like_an_address_is_none(question: str) -> None:
    assert read_prompt(question).candidates == ()


def test_a_question_is_searched_for_as_it_is() -> None:
    assert search_queries(read_prompt("  How do bats\n hunt? ")) == ("How do bats hunt?",)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("What does https://example.org/a say  about soil?", "What does say about soil?"),
        ("See www.example.org on soil", "See on soil"),
        ("https://example.org/a", "https://example.org/a"),
        ("  what is  soil? ", "  what is  soil? "),
    ],
)
def test_passages_are_looked_for_by_words_alone(query: str, words: str) -> None:
    assert without_addresses(query) == words


def test_addresses_are_no_part_of_a_query() -> None:
    prompt = read_prompt("Does [this page](https://x.org/bats) (https://y.org/) say how bats hunt moths?")

    assert search_queries(prompt) == ("Does this page say how bats hunt moths?",)


@pytest.mark.parametrize(
    "question", ["Summarise https://x.org/a", "https://x.org/a", "???", "", "Compare https://a.org and https://b.org."]
)
def test_a_prompt_that_says_nothing_beside_its_addresses_is_not_searched_for(question: str) -> None:
    assert search_queries(read_prompt(question)) == ()


def test_a_question_of_stop_words_is_searched_for() -> None:
    assert search_queries(read_prompt("Who is it?")) == ("Who is it?",)


def test_a_long_prompt_becomes_its_question_and_its_phrases() -> None:
    pasted = "The library loading time of serverless functions grows with every dependency they have. " * 20

    question, phrases = search_queries(read_prompt(f"{pasted}How can the cold start of functions be made shorter?"))

    assert question == "How can the cold start of functions be made shorter?"
    assert "library loading" in phrases.lower()


def test_a_long_prompt_without_a_question_begins_its_query() -> None:
    queries = search_queries(read_prompt("Bats hunt moths by the echo of their calls. " * 40))

    assert queries[0].startswith("Bats hunt moths by the echo")
    assert all(len(query) <= QUERY_CHARS and len(query.split()) <= QUERY_WORDS for query in queries)


def test_endless_words_are_cut() -> None:
    assert search_queries(read_prompt("x" * 5000)) == ("x" * QUERY_CHARS,)


def test_what_is_named_and_found_is_one_candidate_that_knows_both() -> None:
    named = Candidate("https://x.org/a#part", origin="prompt")
    found = Candidate("https://x.org/a", "Title", "Snippet", found=(ServiceRank("s", 2, "q"),))
    other = Candidate("https://y.org/")

    first, second = unite([named], [other, found])

    assert (first.url, first.origin, first.title, first.found) == (named.url, "prompt", "Title", found.found)
    assert second == other


def test_links_in_the_text_are_offered_nearest_in_words_first() -> None:
    text = "Some text about bats. " * 5
    links = [
        Link("https://x.org/moths", "About moths", 0),
        Link("https://x.org/echo", "How bats use the echo", 10),
        Link("https://x.org/echo#again", "The echo", 12),
        Link("https://x.org/3", "3", 15),
        Link("https://x.org/none", "", 16),
        Link("https://x.org/self#top", "Back to the bats", 17),
        Link("http://[broken", "Broken bats", 18),
        Link("https://x.org/known", "Known bats", 19),
        Link("https://x.org/menu", "Bats menu", len(text)),
    ]

    offered = offered_links(
        [page("https://x.org/self", text, links=links)], "What echo do bats use?", ["https://x.org/known"]
    )

    assert [(each.url, each.title) for each in offered] == [
        ("https://x.org/echo", "How bats use the echo"),
        ("https://x.org/moths", "About moths"),
    ]
    assert {(each.origin, each.parent) for each in offered} == {("link", "https://x.org/self")}


def test_links_near_the_question_are_chosen_nearest_first() -> None:
    links = [Candidate(f"https://x.org/{place}", title="t") for place in range(20)]
    cosines = [LINK_COSINE - 0.01, LINK_COSINE, *(0.5 for _ in range(17)), 0.9]

    chosen = choose_links(links, cosines, "question")

    assert [each.url for each in chosen] == [links[place].url for place in (19, 2, 3, 4, 5, 6, 7, 8)]
    assert len(chosen) == MAX_LINKS


def test_without_vectors_links_need_two_terms_of_the_question() -> None:
    links = [Candidate("https://x.org/1", title="Bats and their echo"), Candidate("https://x.org/2", title="Bats")]

    assert choose_links(links, None, "How do bats use an echo?") == (links[0],)
