"""Which addresses a run may fetch: those that the user, a search or a page that was read has offered, and not too many.

A page can tell a model to fetch an address that carries away what the model has read. An address that nobody offered is
therefore refused, and where private documents are open a page's links count only on hosts that the user or a search
named, and only a few of them: letters can be spelled with links too.

Source: "Web fetch tool", Anthropic's documentation (only addresses that have appeared); S. Willison, July 2026, on the
attack that spells a secret through nested links.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from asky.errors import SourceRefused
from asky.text.urls import canonical_url, host_of

_MOST_PER_HOST = 10
_MOST_PER_HOST_PRIVATE = 3


class OfferedUrls:
    """The addresses that a run's model may name. `is_private` says that the run can read private documents."""

    def __init__(self, *, is_private: bool) -> None:
        self._is_private = is_private
        self._named: set[str] = set()
        self._hosts: set[str] = set()
        self._linked: set[str] = set()
        self._followed: Counter[str] = Counter()

    def offer(self, urls: Iterable[str]) -> None:
        """Take note of addresses that the user or a search named; what is no address is passed over."""
        for url in _canonical(urls):
            self._named.add(url)
            self._hosts.add(host_of(url))

    def offer_links(self, urls: Iterable[str]) -> None:
        """Take note of the links of a page that was read."""
        self._linked.update(_canonical(urls))

    def require(self, url: str) -> str:
        """The canonical form of an address that the model asks for; each address counts once.

        Raises `SourceRefused` for one that may not be fetched.
        """
        try:
            key = canonical_url(url)
        except ValueError as error:
            raise SourceRefused(str(error)) from None
        if key in self._named:
            return key
        host = host_of(key)
        if key not in self._linked:
            raise SourceRefused(f"{url[:200]} was not offered by any source", hint="fetch what a search or page showed")
        if self._is_private and host not in self._hosts:
            raise SourceRefused(f"{host} was named by a page only, and private documents are open in this run")
        most = _MOST_PER_HOST_PRIVATE if self._is_private else _MOST_PER_HOST
        if self._followed[host] >= most:
            raise SourceRefused(f"{most} links of {host} were followed in this run, which is the most")
        self._followed[host] += 1
        self._named.add(key)  # asking again for the same page follows no further link
        return key


def _canonical(urls: Iterable[str]) -> Iterable[str]:
    for url in urls:
        try:
            yield canonical_url(url)
        except ValueError:
            continue
