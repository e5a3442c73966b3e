"""The source policy: which sites, ages and kinds may be read. Applied before anything is fetched."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date

from asky.errors import UsageError
from asky.search.dates import first_day_of, recency_since
from asky.search.port import Candidate, CandidateKind, Recency
from asky.text.addresses import parse_domains, site_of

_UNITS: dict[str, Recency] = {"d": "day", "w": "week", "m": "month", "y": "year"}
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?(?!\d)")
_SPAN = re.compile(r"(\d{1,6})([dwmy])", re.ASCII)


@dataclass(frozen=True, slots=True)
class SourcePolicy:
    """The user's restrictions on sources. Domains are as `parse_domains` returns them; each includes its subdomains.

    `deny_domains` applies to everything. `allow_domains` (empty: all), `since`, the earliest publication day, and
    `kinds` (empty: all) do not apply to addresses in the question itself: the user wants those read. `recency` is
    passed to search services; it excludes nothing from `since` on.
    """

    allow_domains: tuple[str, ...] = ()
    deny_domains: tuple[str, ...] = ()
    since: date | None = None
    recency: Recency | None = None
    kinds: tuple[CandidateKind, ...] = ()

    def narrowed(self, sites: Iterable[str] = (), since: str | None = None, *, today: date) -> SourcePolicy:
        """Return this policy with the restrictions of one question added.

        `sites` replace the allowed domains; one with a `-` before it is denied in addition. `since` is a date (`2024`,
        `2024-05`, `2024-05-01`) or a span up to `today` (`30d`, `2w`, `6m`, `1y`). Raises `UsageError` for anything
        else.
        """
        given = [site.strip() for site in sites]
        allowed = parse_domains(site for site in given if not site.startswith("-"))
        denied = parse_domains(site[1:] for site in given if site.startswith("-"))
        first = self.since if since is None else _parse_since(since, today)
        return replace(
            self,
            allow_domains=allowed or self.allow_domains,
            deny_domains=tuple(dict.fromkeys((*self.deny_domains, *denied))),
            since=first,
            recency=None if first is None else recency_since(first, today),
        )

    def words(self) -> tuple[str, ...]:
        """Return a readable description; empty if the policy restricts nothing."""
        return (
            *(f"only {domain}" for domain in self.allow_domains),
            *(f"not {domain}" for domain in self.deny_domains),
            *((f"published since {self.since}",) if self.since is not None else ()),
            *(f"of the kind {kind}" for kind in self.kinds),
        )

    def refusal(self, candidate: Candidate) -> str | None:
        """Return why `candidate` must not be read, in a few words, or `None`. Its `pdf_url` has the same source."""
        is_named = candidate.origin == "prompt"
        if reason := self.address_refusal(candidate.url, is_named=is_named):
            return reason
        if is_named:
            return None
        if self.kinds and candidate.kind not in self.kinds:
            return f"a {candidate.kind} source; wanted: {', '.join(self.kinds)}"
        return self.age_refusal(candidate.published)

    def address_refusal(self, url: str, *, is_named: bool = False) -> str | None:
        """Return why `url`, the address of a candidate or a redirect target, must not be read, or `None`.

        Raises `ValueError` for anything but an absolute http or https URL.
        """
        host = site_of(url)
        if denied := _covering(host, self.deny_domains):
            return f"{denied} is denied"
        if self.allow_domains and not is_named and not _covering(host, self.allow_domains):
            return f"{host} is not among the allowed domains"
        return None

    def age_refusal(self, published: str | None) -> str | None:
        """Return why a source of that date is too old, or `None`. Undated sources pass: most web pages have no date."""
        latest = latest_day(published)
        if self.since is None or latest is None or latest >= self.since:
            return None
        return f"published {published}: before {self.since}"


def latest_day(published: str | None) -> date | None:
    """Return the last day that an ISO date, year or month can mean; `None` for anything else."""
    match = _DATE.match(published or "")
    if match is None:
        return None
    year, month, day = int(match[1]), int(match[2] or 12), int(match[3] or 0)
    try:
        return date(year, month, day or calendar.monthrange(year, month)[1])
    except ValueError:  # calendar raises a ValueError for month 13 too
        return None


def _parse_since(given: str, today: date) -> date:
    text = given.strip().lower()
    with suppress(ValueError, OverflowError):
        if span := _SPAN.fullmatch(text):
            length = today - first_day_of(_UNITS[span[2]], today)
            return today - int(span[1]) * length
        if match := _DATE.fullmatch(text):
            first = date(int(match[1]), int(match[2] or 1), int(match[3] or 1))
            if first <= today:
                return first
    raise UsageError(
        f"--since {given!r} is not a date in the past", hint="write a date like 2024 or 2024-05-01, or 30d, 2w, 6m, 1y"
    )


def _covering(host: str, domains: Iterable[str]) -> str | None:
    """Return the first of `domains` that is `host` or one of its parents."""
    return next((domain for domain in domains if host == domain or host.endswith(f".{domain}")), None)
