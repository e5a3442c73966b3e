from __future__ import annotations

from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.errors import SourceRefused
from asky.research.web.url_allowlist import UrlAllowlist


def allowed(offered: UrlAllowlist, urls: list[str]) -> list[str]:
    """Those of `urls` that may be fetched when they are asked for in this order."""
    found = []
    for url in urls:
        try:
            found.append(offered.require(url))
        except SourceRefused:
            continue
    return found


def test_an_address_that_nobody_offered_is_refused() -> None:
    offered = UrlAllowlist(is_private=False)
    offered.offer(["https://a.example/page"])
    assert offered.require("https://A.example:443/page#part") == "https://a.example/page"
    for url in ("https://a.example/page?d=SECRET", "https://evil.example/", "https://a.example/pag", "not an address"):
        with pytest.raises(SourceRefused):
            offered.require(url)


@pytest.mark.parametrize("more", ["?utm_source=SECRET", "?fbclid=SECRET", "#SECRET", "?&&#SECRET"])
def test_what_an_address_carries_beside_the_page_is_not_what_to_fetch(more: str) -> None:
    offered = UrlAllowlist(is_private=False)
    offered.offer(["https://a.example/page"])
    assert offered.require("https://a.example/page" + more) == "https://a.example/page"
    assert offered.require("https://SECRET@a.example/%70age") == "https://a.example/page"


def test_links_of_a_page_can_be_followed_but_not_for_ever() -> None:
    offered = UrlAllowlist(is_private=False)
    links = [f"https://spell.example/{letter}" for letter in "abcdefghijklmnop"]
    offered.offer_links(links)
    for url in links[:10]:
        offered.require(url)
    offered.require(links[0])  # again is no further link
    with pytest.raises(SourceRefused, match="10 links of"):
        offered.require(links[10])


def test_what_the_user_named_and_what_a_search_found_is_not_counted_as_followed() -> None:
    urls = [f"https://a.example/{number}" for number in range(30)]
    named = UrlAllowlist(is_private=True)
    named.offer(urls)
    assert allowed(named, urls) == urls
    found = UrlAllowlist(is_private=False)
    found.offer_found(urls)
    assert allowed(found, urls) == urls


SITES = [f"https://{letter}.example/" for letter in "abcdefghijklmnopqrstuvwxyz"]


def test_with_private_documents_open_results_are_read_from_the_top_of_the_newest_search() -> None:
    offered = UrlAllowlist(is_private=True)
    offered.offer_found(SITES)
    assert allowed(offered, SITES) == SITES[:7]
    offered = UrlAllowlist(is_private=True)
    offered.offer_found(SITES)
    newest = [f"https://new-{number}.example/" for number in range(20)]
    offered.offer_found([*newest[:10], SITES[0], *newest[10:]])
    assert allowed(offered, [newest[0], newest[2], SITES[0], newest[1]]) == [newest[0], newest[2], newest[1]]


def test_with_private_documents_open_no_letter_is_spelled_to_many_sites_of_one_owner() -> None:
    offered = UrlAllowlist(is_private=True)
    offered.offer_found(SITES)
    spelled = [SITES[ord(letter) - ord("a")] for letter in "spore"]
    assert len(allowed(offered, spelled)) < 2
    with pytest.raises(SourceRefused, match="reveal too much"):
        offered.require(SITES[-1])


def test_results_found_before_private_documents_were_open_count_afterwards() -> None:
    offered = UrlAllowlist(is_private=False)
    offered.offer_found(SITES)
    offered.require(SITES[-1])
    offered.is_private = True
    assert offered.require(SITES[-1])
    assert allowed(offered, [SITES[9], SITES[10]]) == [SITES[9]]


def sequences(found: int, linked: int) -> int:
    """How many sequences of choices a model has beside private documents: all that the sites can learn."""
    urls = [*SITES[:found], *(f"https://a.example/{number}" for number in range(linked))]
    offered = UrlAllowlist(is_private=True)
    offered.offer_found(urls[:found])
    offered.offer_links(urls[found:])
    count, unfinished = 0, [(offered, frozenset[str]())]
    while unfinished:
        before, chosen = unfinished.pop()
        count += 1
        for url in urls:
            after = deepcopy(before)
            if url not in chosen and allowed(after, [url]):
                unfinished.append((after, chosen | {url}))
    return count


@pytest.mark.parametrize(("found", "linked"), [(26, 0), (12, 3), (3, 3), (1, 20)])
def test_all_sites_together_learn_no_more_than_a_letter(found: int, linked: int) -> None:
    assert sequences(found, linked) < 2**8


def test_with_private_documents_open_links_count_on_named_hosts_only_and_few_of_them() -> None:
    offered = UrlAllowlist(is_private=True)
    offered.offer_found(["https://found.example/"])
    offered.offer_links([f"https://found.example/{letter}" for letter in "abcde"])
    offered.offer_links(["https://honeypot.example/s", "javascript:alert(1)", ""])
    for letter in "ab":
        offered.require(f"https://found.example/{letter}")
    with pytest.raises(SourceRefused, match="reveal too much"):
        offered.require("https://found.example/d")
    with pytest.raises(SourceRefused, match=r"honeypot\.example was named by a page only"):
        offered.require("https://honeypot.example/s")


@given(st.integers(2, 300), st.integers(1, 8))
def test_links_tell_less_than_one_letter_however_many_there_are_and_wherever(count: int, hosts: int) -> None:
    offered = UrlAllowlist(is_private=True)
    offered.offer_found([f"https://site-{host}.example/" for host in range(hosts)])
    links = [f"https://site-{number % hosts}.example/{number}" for number in range(count)]
    offered.offer_links(links)
    followed = len(allowed(offered, links))
    choices = 1
    for taken in range(followed):
        choices *= count - taken
    assert choices < 2**8
