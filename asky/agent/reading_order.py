"""In which order the pages that searches have found are read."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import NamedTuple

from asky.text.urls import canonical_url

_RANK_OFFSET = 60
"""Source: Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion", SIGIR 2009."""


class SearchRanking(NamedTuple):
    """The addresses that one search returned, best first, and the number of the sub-question that it was for."""

    about: int
    addresses: Sequence[str]


def order_pages(rankings: Sequence[SearchRanking], about: Collection[int]) -> list[tuple[str, int]]:
    """Return the pages that searches found for the sub-questions `about`, those to read first at the start.

    Each comes with the sub-question for which it scores best. There, a page scores 1 / (60 + rank) on average over all
    searches, 0 in one that did not return it: what several searches return comes before what one ranks high. Of equal
    pages, the one that was found first comes first.
    """
    searches = Counter(each.about for each in rankings)
    scores: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for each in rankings:
        if each.about in about:
            for rank, address in enumerate(dict.fromkeys(each.addresses), start=1):
                scores[address][each.about] += 1 / (_RANK_OFFSET + rank) / searches[each.about]
    best = [(address, *max(of.items(), key=lambda item: item[1])) for address, of in scores.items()]
    return [(address, number) for address, number, _ in sorted(best, key=lambda found: -found[2])]


def page_key(url: str) -> str:
    """Return the canonical form of an address, or `url` itself if it has none."""
    with suppress(ValueError):
        return canonical_url(url)
    return url
