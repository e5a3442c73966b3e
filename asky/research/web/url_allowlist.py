"""The addresses that a run may fetch: offered by the user, a search or a page that was read, and limited in number.

A page can tell a model to fetch an address that carries away what the model has read, so an address that nobody offered
is refused. But a choice among offered addresses leaks data too: a page with a link for each letter can have a secret
spelled to it. If the run can read private documents, all that a site learns from the model's choices stays below one
letter: only the first few search results of a site can be read, in whatever order; and a page's links count only on
hosts that the user or a search named, until following them would leak more.

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

_MAX_PER_HOST = 10
_MAX_FOUND_PRIVATE = 4  # per site: which of four are read, and in which order, is one of 65 choices, six bits
_MAX_BITS_PRIVATE = 7.0  # over all links of a run; one of n is log2(n + 1) bits: following none is a choice too
_PRIVATE = "private documents are open in this run"
_ROUNDING = 1e-9


class UrlAllowlist:
    """The addresses that a run's model may request. `is_private` says that the run can read private documents.

    It may become true during the run.
    """

    def __init__(self, *, is_private: bool) -> None:
        self.is_private = is_private
        self._named: set[str] = set()
        self._hosts: set[str] = set()
        self._found: Counter[str] = Counter()
        self._over_limit: set[str] = set()
        self._linked: dict[str, str] = {}
        self._followed: Counter[str] = Counter()
        self._leaked_bits = 0.0

    def offer(self, urls: Iterable[str]) -> None:
        """Add addresses that the user named; invalid ones are ignored."""
        for url in _canonical(urls):
            self._named.add(url)
            self._hosts.add(host_of(url))

    def offer_found(self, urls: Iterable[str]) -> None:
        """Add addresses that a search found, best first; invalid ones are ignored."""
        for url in _canonical(urls):
            self._hosts.add(host_of(url))
            if url in self._named or url in self._over_limit:
                continue
            site = site_of(url) if self.is_private else ""
            self._found[site] += 1
            is_within_limit = not self.is_private or self._found[site] <= _MAX_FOUND_PRIVATE
            (self._named if is_within_limit else self._over_limit).add(url)

    def offer_links(self, urls: Iterable[str]) -> None:
        """Add the links of a page that was read."""
        self._linked |= {url: host_of(url) for url in _canonical(urls)}

    def require(self, url: str) -> str:
        """Return the canonical form of an address that the model requests, to be fetched; each address counts once.

        Raises `SourceRefused` for one that may not be fetched.
        """
        try:
            key = canonical_url(url)
        except ValueError as error:
            raise SourceRefused(str(error)) from None
        if key in self._named:
            return key
        host = host_of(key)
        if key in self._over_limit:
            raise SourceRefused(f"no more than {_MAX_FOUND_PRIVATE} results of {host} may be read: {_PRIVATE}")
        if key not in self._linked:
            raise SourceRefused(
                f"{url[:200]} was not offered by any source", hint="choose an address from a search result or a page"
            )
        if self.is_private:
            self._follow_in_private(host)
        elif self._followed[host] >= _MAX_PER_HOST:
            raise SourceRefused(f"{_MAX_PER_HOST} links of {host} were followed in this run, which is the limit")
        self._followed[host] += 1
        self._named.add(key)  # requesting the same page again follows no further link
        return key

    def _follow_in_private(self, host: str) -> None:
        if host not in self._hosts:
            raise SourceRefused(f"{host} was named by a page only, and {_PRIVATE}")
        choices = sum(each in self._hosts and url not in self._named for url, each in self._linked.items())
        bits = math.log2(choices + 1)
        if self._leaked_bits + bits > _MAX_BITS_PRIVATE + _ROUNDING:
            raise SourceRefused(f"following more links would reveal too much to {host}: {_PRIVATE}")
        self._leaked_bits += bits


def _canonical(urls: Iterable[str]) -> Iterator[str]:
    for url in urls:
        try:
            yield canonical_url(url)
        except ValueError:
            continue
