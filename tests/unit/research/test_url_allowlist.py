from __future__ import annotations

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


def test_with_private_documents_open_few_results_of_a_site_can_be_read() -> None:
    offered = UrlAllowlist(is_private=True)
    spelled = [f"https://{letter}.honeypot.example/{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    others = [f"https://site-{number}.example/" for number in range(10)]
    offered.offer_found([*spelled, *others])
    offered.offer_found(reversed(spelled))  # another search makes them no more
    assert allowed(offered, [*reversed(spelled), *others]) == [*reversed(spelled[:4]), *others]
    with pytest.raises(SourceRefused, match=r"4 results of z\.honeypot\.example"):
        offered.require(spelled[-1])


def test_with_private_documents_open_links_count_on_named_hosts_only_and_few_of_them() -> None:
    offered = UrlAllowlist(is_private=True)
    offered.offer_found(["https://found.example/"])
    offered.offer_links([f"https://found.example/{letter}" for letter in "abcde"])
    offered.offer_links(["https://honeypot.example/s", "javascript:alert(1)", ""])
    for letter in "abc":
        offered.require(f"https://found.example/{letter}")
    with pytest.raises(SourceRefused, match=r"reveal too much to found\.example"):
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
