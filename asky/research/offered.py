"""Which addresses a run may fetch: those that the user, a search or a page that was read has offered, and not too many.

A page can tell a model to fetch an address that carries away what the model has read. An address that nobody offered is
therefore refused. But a choice among offered addresses carries something too: a page with a link for each letter has a
secret spelled to it. Where private documents are open, all that a site learns by the model's choices stays below one
letter: of the results of a site only the first few can be read, in whatever order; and a page's links count only on
hosts that the user or a search named, until following them would tell more.

Source: "Web fetch tool", Anthropic's documentation (only addresses that have appeared); S. Willison, July 2026, on the
attack that spells a secret through nested links.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from asky.errors import SourceRefused
from asky.text.urls import canonical_url, host_of, site_of

if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST_PER_HOST = 10
_MOST_FOUND_PRIVATE = 4  # of a site: which of four are read, and in which order, is one of 65 choices, six bits
_MOST_BITS_PRIVATE = 7.0  # by all links of a run, where one of n is log2(n + 1) bits: none is followed too
_PRIVATE = "private documents are open in this run"
_ROUNDING = 1e-9


class OfferedUrls:
    """The addresses that a run's model may name. `is_private` says that the run can read private documents.

    It may become so while the run goes on.
    """

    def __init__(self, *, is_private: bool) -> None:
        self.is_private = is_private
        self._named: set[str] = set()
        self._hosts: set[str] = set()
        self._found: Counter[str] = Counter()
        self._crowded: set[str] = set()
        self._linked: dict[str, str] = {}
        self._followed: Counter[str] = Counter()
        self._told_bits = 0.0

    def offer(self, urls: Iterable[str]) -> None:
        """Take note of addresses that the user named; what is no address is passed over."""
        for url in _canonical(urls):
            self._named.add(url)
            self._hosts.add(host_of(url))

    def offer_found(self, urls: Iterable[str]) -> None:
        """Take note of addresses that a search found, best first; what is no address is passed over."""
        for url in _canonical(urls):
            self._hosts.add(host_of(url))
            if url in self._named or url in self._crowded:
                continue
            site = site_of(url) if self.is_private else ""
            self._found[site] += 1
            has_room = not self.is_private or self._found[site] <= _MOST_FOUND_PRIVATE
            (self._named if has_room else self._crowded).add(url)

    def offer_links(self, urls: Iterable[str]) -> None:
        """Take note of the links of a page that was read."""
        self._linked |= {url: host_of(url) for url in _canonical(urls)}

    def require(self, url: str) -> str:
        """The canonical form of an address that the model asks for, which is what to fetch; each address counts once.

        Raises `SourceRefused` for one that may not be fetched.
        """
        try:
            key = canonical_url(url)
        except ValueError as error:
            raise SourceRefused(str(error)) from None
        if key in self._named:
            return key
        host = host_of(key)
        if key in self._crowded:
            raise SourceRefused(f"no more than {_MOST_FOUND_PRIVATE} results of {host} may be read: {_PRIVATE}")
        if key not in self._linked:
            raise SourceRefused(f"{url[:200]} was not offered by any source", hint="fetch what a search or page showed")
        if self.is_private:
            self._follow_in_private(host)
        elif self._followed[host] >= _MOST_PER_HOST:
            raise SourceRefused(f"{_MOST_PER_HOST} links of {host} were followed in this run, which is the most")
        self._followed[host] += 1
        self._named.add(key)  # asking again for the same page follows no further link
        return key

    def _follow_in_private(self, host: str) -> None:
        if host not in self._hosts:
            raise SourceRefused(f"{host} was named by a page only, and {_PRIVATE}")
        choices = sum(each in self._hosts and url not in self._named for url, each in self._linked.items())
        bits = math.log2(choices + 1)
        if self._told_bits + bits > _MOST_BITS_PRIVATE + _ROUNDING:
            raise SourceRefused(f"following more links would tell {host} too much: {_PRIVATE}")
        self._told_bits += bits


def _canonical(urls: Iterable[str]) -> Iterator[str]:
    for url in urls:
        try:
            yield canonical_url(url)
        except ValueError:
            continue
