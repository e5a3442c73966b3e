"""The addresses of a run as they came to be offered, so that a run that is taken up again may name them too."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from asky.chat.run_state import Offer
from asky.errors import SourceRefused
from asky.research.offered import OfferedUrls


class RecordedOffers(OfferedUrls):
    """Offered addresses that begin with those of `offers`, and note there what is added.

    What the model was allowed counts as well, so that a run tells no site more for having been interrupted.
    """

    def __init__(self, offers: list[Offer], *, is_private: bool) -> None:
        super().__init__(is_private=is_private)
        earlier, offers[:] = list(offers), []
        self._offers = offers
        offer = {"named": self.offer, "found": self.offer_found, "linked": self.offer_links}
        for how, urls in earlier:
            if how in offer:
                offer[how](urls)
            else:
                with suppress(SourceRefused):  # more than then is private now
                    self.require(urls[0])

    def offer(self, urls: Iterable[str]) -> None:
        """See `OfferedUrls.offer`."""
        super().offer(self._noted("named", urls))

    def offer_found(self, urls: Iterable[str]) -> None:
        """See `OfferedUrls.offer_found`."""
        super().offer_found(self._noted("found", urls))

    def offer_links(self, urls: Iterable[str]) -> None:
        """See `OfferedUrls.offer_links`."""
        super().offer_links(self._noted("linked", urls))

    def require(self, url: str) -> str:
        """See `OfferedUrls.require`."""
        key = super().require(url)
        self._noted("asked", [url])
        return key

    def _noted(self, how: str, urls: Iterable[str]) -> list[str]:
        given = list(urls)
        if given:
            self._offers.append([how, given])
        return given
