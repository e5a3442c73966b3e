"""The URL allowlist of a run, recorded in its state so that a resumed run may fetch the same addresses."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from asky.errors import SourceRefused
from asky.research.web.url_allowlist import UrlAllowlist

AllowlistEntry = list[Any]  # [kind, URLs]; kind: named, found, linked or asked


class JournaledAllowlist(UrlAllowlist):
    """A URL allowlist that starts with the recorded `entries`, and appends new ones to this list.

    Requests of the model are recorded too: they count toward its limits, so that an interruption does not let a run
    reveal more to a site.
    """

    def __init__(self, entries: list[AllowlistEntry], *, is_private: bool) -> None:
        super().__init__(is_private=is_private)
        recorded, entries[:] = list(entries), []
        self._entries = entries
        offer = {"named": self.offer, "found": self.offer_found, "linked": self.offer_links}
        for kind, urls in recorded:
            if kind in offer:
                offer[kind](urls)
            else:
                with suppress(SourceRefused):  # more is private now than then
                    self.require(urls[0])

    def offer(self, urls: Iterable[str]) -> None:
        """See `UrlAllowlist.offer`."""
        super().offer(self._add_entry("named", urls))

    def offer_found(self, urls: Iterable[str]) -> None:
        """See `UrlAllowlist.offer_found`."""
        super().offer_found(self._add_entry("found", urls))

    def offer_links(self, urls: Iterable[str]) -> None:
        """See `UrlAllowlist.offer_links`."""
        super().offer_links(self._add_entry("linked", urls))

    def require(self, url: str) -> str:
        """See `UrlAllowlist.require`."""
        key = super().require(url)
        self._add_entry("asked", [url])
        return key

    def _add_entry(self, kind: str, urls: Iterable[str]) -> list[str]:
        listed = list(urls)
        if listed:
            self._entries.append([kind, listed])
        return listed
