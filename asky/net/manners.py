"""How often a site wants to be asked, where it says so: for its pages and its service, which share their turns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Manners:
    """At most `at_once` requests at the same time to `domain` and everything below it, begun `gap_s` seconds apart."""

    domain: str
    gap_s: float
    at_once: int


ARXIV = Manners("arxiv.org", 3.1, 1)
"""Source: info.arxiv.org/help/api, "Terms of Use": one request in three seconds over one connection, all machines of
its user together; a little slower, as connections take unequally long to come about."""

WIKIPEDIA = Manners("wikipedia.org", 0.5, 2)
"""Source: wikitech.wikimedia.org/wiki/Robot_policy: no more than three requests at once."""

_KNOWN = (ARXIV, WIKIPEDIA)


def manners_at(host: str) -> Manners | None:
    """The manners that `host`, a name in lower case, asks for; `None` where nothing is known of it."""
    name = host.rstrip(".")
    return next((each for each in _KNOWN if name == each.domain or name.endswith(f".{each.domain}")), None)


def turn_at(host: str, *, gap_s: float, at_once: int) -> tuple[str, float, int]:
    """The key, the gap in seconds and the number at once with which pages of `host` are asked for.

    What is given is for hosts of which nothing is known, and is never gone below.
    """
    known = manners_at(host)
    if known is None:
        return host, gap_s, at_once
    return known.domain, max(known.gap_s, gap_s), min(known.at_once, at_once)
