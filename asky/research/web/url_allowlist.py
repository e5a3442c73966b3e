"""The addresses that a run may fetch: offered by the user, a search or a page that was read, and limited in number.

A page can tell a model to fetch an address that carries away what the model has read, so an address that nobody offered
is refused. But a choice among offered addresses leaks data too: a page with a link for each letter, or a search result
for each, can have a secret spelled to it, and one attacker may own many sites. If the run can read private documents,
all that all sites together learn from the model's choices stays at one letter: each choice among search results and
links counts, until another would leak more. Links count only on hosts that the user or a search named.

Source: "Web fetch tool", Anthropic's documentation (only addresses that have appeared); S. Willison, July 2026, on the
attack that spells a secret through nested links; P. Elias, 1975, on the code whose lengths the results cost.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from asky.errors import SourceRefused
from asky.text.urls import canonical_url, host_of

if TYPE_CHECKING:
    from collections.abc import Iterable

_MAX_PER_HOST = 10
_MAX_BITS_PRIVATE = 7.0  # over all choices of a run
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
        self._found: list[str] = []  # those not read yet, in the order in which they are best read
        self._linked: dict[str, str] = {}
        self._followed: Counter[str] = Counter()
        self._leaked_bits = 0.0

    def offer(self, urls: Iterable[str]) -> None:
        """Add addresses that the user named; invalid ones are ignored."""
        for url in _canonical(urls):
            self._named.add(url)
            self._hosts.add(host_of(url))

    def offer_found(self, urls: Iterable[str]) -> None:
        """Add addresses that a search found, best first, before those of earlier searches; invalid ones are ignored."""
        found = list(_canonical(urls))
        self._hosts.update(map(host_of, found))
        self._found = [each for each in dict.fromkeys([*found, *self._found]) if each not in self._named]

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
        if key in self._found:
            self._choose_found(key)
        elif key in self._linked:
            self._follow(host_of(key))
        else:
            raise SourceRefused(
                f"{url[:200]} was not offered by any source", hint="choose an address from a search result or a page"
            )
        self._named.add(key)  # requesting the same page again is no further choice
        return key

    def _choose_found(self, key: str) -> None:
        """Count the choice of a search result: 1 bit for the first that is unread, 3 for the next two, then 5."""
        if self.is_private:
            self._leak(2 * (self._found.index(key) + 1).bit_length() - 1, "read results from the top of the list")
        self._found.remove(key)

    def _follow(self, host: str) -> None:
        """Count the choice of a link: log2(n + 1) bits for one of n, as following none is a choice too.

        It is one bit more while results are unread, which could have been chosen instead.
        """
        if not self.is_private:
            if self._followed[host] >= _MAX_PER_HOST:
                raise SourceRefused(f"{_MAX_PER_HOST} links of {host} were followed in this run, which is the limit")
            self._followed[host] += 1
            return
        if host not in self._hosts:
            raise SourceRefused(f"{host} was named by a page only, and {_PRIVATE}")
        choices = sum(each in self._hosts and url not in self._named for url, each in self._linked.items())
        self._leak(math.log2(choices + 1) + bool(self._found), "answer from what was read")

    def _leak(self, bits: float, hint: str) -> None:
        """Count what the sites learn from a choice. Raises `SourceRefused` if that would be too much."""
        if self._leaked_bits + bits > _MAX_BITS_PRIVATE + _ROUNDING:
            raise SourceRefused(f"choosing this page would reveal too much to its site: {_PRIVATE}", hint=hint)
        self._leaked_bits += bits


def _canonical(urls: Iterable[str]) -> Iterator[str]:
    for url in urls:
        try:
            yield canonical_url(url)
        except ValueError:
            continue
