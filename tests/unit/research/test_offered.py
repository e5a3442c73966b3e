from __future__ import annotations

import pytest

from asky.errors import SourceRefused
from asky.research.offered import OfferedUrls


def test_an_address_that_nobody_offered_is_refused() -> None:
    offered = OfferedUrls(is_private=False)
    offered.offer(["https://a.example/page"])
    assert offered.require("https://A.example:443/page#part") == "https://a.example/page"
    for url in ("https://a.example/page?d=SECRET", "https://evil.example/", "https://a.example/pag", "not an address"):
        with pytest.raises(SourceRefused):
            offered.require(url)


def test_links_of_a_page_can_be_followed_but_not_for_ever() -> None:
    offered = OfferedUrls(is_private=False)
    links = [f"https://spell.example/{letter}" for letter in "abcdefghijklmnop"]
    offered.offer_links(links)
    for url in links[:10]:
        offered.require(url)
    offered.require(links[0])  # again is no further link
    with pytest.raises(SourceRefused, match="10 links of"):
        offered.require(links[10])


def test_what_a_search_found_is_not_counted_as_followed() -> None:
    offered = OfferedUrls(is_private=True)
    urls = [f"https://a.example/{number}" for number in range(30)]
    offered.offer(urls)
    assert [offered.require(url) for url in urls] == urls


def test_with_private_documents_open_links_count_on_named_hosts_only_and_few_of_them() -> None:
    offered = OfferedUrls(is_private=True)
    offered.offer(["https://found.example/"])
    offered.offer_links([f"https://found.example/{letter}" for letter in "abcd"])
    offered.offer_links(["https://honeypot.example/s", "javascript:alert(1)", ""])
    for letter in "abc":
        offered.require(f"https://found.example/{letter}")
    with pytest.raises(SourceRefused, match="3 links"):
        offered.require("https://found.example/d")
    with pytest.raises(SourceRefused, match=r"honeypot\.example was named by a page only"):
        offered.require("https://honeypot.example/s")
