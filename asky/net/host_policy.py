"""Published request limits of sites, shared by their pages and their services."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HostPolicy:
    """The limits for `domain` and its subdomains: at most `at_once` concurrent requests, `gap_s` seconds apart."""

    domain: str
    gap_s: float
    at_once: int


ARXIV = HostPolicy("arxiv.org", 3.1, 1)
"""Source: info.arxiv.org/help/api, "Terms of Use": one request in three seconds over one connection, for all
machines of its user together; slightly slower, as connections take varying time to open.
"""

WIKIPEDIA = HostPolicy("wikipedia.org", 0.5, 2)
"""Source: wikitech.wikimedia.org/wiki/Robot_policy: no more than three requests at once."""

_KNOWN = (ARXIV, WIKIPEDIA)


def policy_at(host: str) -> HostPolicy | None:
    """Return the policy of `host`, a name in lower case; `None` if it is unknown."""
    name = host.rstrip(".")
    return next((each for each in _KNOWN if name == each.domain or name.endswith(f".{each.domain}")), None)


def policy_for(host: str, *, gap_s: float, at_once: int) -> tuple[str, float, int]:
    """Return the key, the gap in seconds and the concurrency for pages of `host`.

    The given values apply to unknown hosts; a known policy is never less strict than they are.
    """
    known = policy_at(host)
    if known is None:
        return host, gap_s, at_once
    return known.domain, max(known.gap_s, gap_s), min(known.at_once, at_once)
