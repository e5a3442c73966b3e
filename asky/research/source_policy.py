"""Which sources may be read at all: by site, by age, by kind. Asked before anything is fetched."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta

from asky.errors import UsageError
from asky.search.port import Candidate, CandidateKind, Recency
from asky.text.urls import host_of

_DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?(?!\d)")
_NO_DOMAIN = re.compile(r"[\s/?#@*%\\]|^$|^[^\[]*:")


@dataclass(frozen=True, slots=True)
class SourcePolicy:
    """What the user wants sources to be. Domains are as `parse_domains` gives them; each stands for its subdomains too.

    `deny_domains` holds for everything. `allow_domains` (empty: all), `recency` and `kinds` (empty: all) do not hold
    for what the question itself names: who writes an address into a question wants it read.
    """

    allow_domains: tuple[str, ...] = ()
    deny_domains: tuple[str, ...] = ()
    recency: Recency | None = None
    kinds: tuple[CandidateKind, ...] = ()

    def refusal(self, candidate: Candidate, *, today: date) -> str | None:
        """Why `candidate` must not be read, in a few words, or `None`. Its `pdf_url` is of the same source."""
        is_named = candidate.origin == "prompt"
        if reason := self.address_refusal(candidate.url, is_named=is_named):
            return reason
        if is_named:
            return None
        if self.kinds and candidate.kind not in self.kinds:
            return f"a {candidate.kind} source; wanted: {', '.join(self.kinds)}"
        return self.age_refusal(candidate.published, today=today)

    def address_refusal(self, url: str, *, is_named: bool = False) -> str | None:
        """Why nothing may be read at `url`: where a candidate is, or where it led.

        Raises `ValueError` for what is no absolute http or https URL.
        """
        host = _plain_host(url)
        if denied := _covering(host, self.deny_domains):
            return f"{denied} is denied"
        if self.allow_domains and not is_named and not _covering(host, self.allow_domains):
            return f"{host} is not among the allowed domains"
        return None

    def age_refusal(self, published: str | None, *, today: date) -> str | None:
        """Why something of that date is too old. What has no date is not: most pages of the web have none."""
        latest = latest_day(published)
        if self.recency is None or latest is None or latest >= today - timedelta(days=_DAYS[self.recency]):
            return None
        return f"published {published}: more than a {self.recency} ago"


def parse_domains(given: Iterable[str]) -> tuple[str, ...]:
    """Domains as users write them (`Example.org`, `*.example.org`, `www.example.org`, `bücher.example`) in one form.

    A top-level domain alone (`gov`) stands for all below it. Raises `UsageError` for anything that is no domain.
    """
    return tuple(dict.fromkeys(_parse_domain(each) for each in given))


def latest_day(published: str | None) -> date | None:
    """The last day that an ISO date, or a year or month alone, can mean; `None` for what is none."""
    match = _DATE.match(published or "")
    if match is None:
        return None
    year, month, day = int(match[1]), int(match[2] or 12), int(match[3] or 0)
    try:
        return date(year, month, day or calendar.monthrange(year, month)[1])
    except ValueError:  # calendar's error for month 13 is one too
        return None


def _parse_domain(given: str) -> str:
    text = given.strip().removeprefix("*").removeprefix(".")
    if not _NO_DOMAIN.search(text):
        with suppress(ValueError):
            return _plain_host(f"https://{text}/")
    raise UsageError(f"{given!r} is no domain", hint="write it like example.org, without scheme, port and path")


def _plain_host(url: str) -> str:
    """The host without a leading `www.`, which tells no sites apart."""
    host = host_of(url)
    return host.removeprefix("www.") if host.count(".") > 1 else host


def _covering(host: str, domains: Iterable[str]) -> str | None:
    """The first of `domains` that is `host` or above it."""
    return next((domain for domain in domains if host == domain or host.endswith(f".{domain}")), None)
