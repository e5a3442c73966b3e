from __future__ import annotations

from datetime import date

import pytest

from asky.errors import UsageError
from asky.research.source_policy import SourcePolicy, latest_day
from asky.search.port import Candidate
from asky.text.addresses import parse_domains

TODAY = date(2026, 11, 1)


def refusal(policy: SourcePolicy, url: str = "https://example.org/a", **facts: object) -> str | None:
    return policy.refusal(Candidate(url, **facts))  # type: ignore[arg-type]  # what a test names


def test_everything_passes_a_policy_that_says_nothing() -> None:
    assert refusal(SourcePolicy()) is None


@pytest.mark.parametrize("url", ["https://example.org/", "http://a.b.EXAMPLE.org:8080/x", "https://www.example.org./"])
def test_a_domain_stands_for_all_below_it(url: str) -> None:
    assert refusal(SourcePolicy(deny_domains=("example.org",)), url) == "example.org is denied"
    assert refusal(SourcePolicy(allow_domains=("example.org",)), url) is None


@pytest.mark.parametrize("url", ["https://notexample.org/", "https://example.org.evil.example/", "https://org/"])
def test_a_name_that_only_looks_like_the_domain_is_another(url: str) -> None:
    assert refusal(SourcePolicy(deny_domains=("example.org",)), url) is None
    assert "is not among the allowed domains" in (refusal(SourcePolicy(allow_domains=("example.org",)), url) or "")


def test_what_the_question_names_is_read_unless_it_is_denied() -> None:
    policy = SourcePolicy(("allowed.example",), ("denied.example",), since=TODAY, kinds=("paper",))

    assert refusal(policy, "https://other.example/", origin="prompt", published="1999") is None
    assert refusal(policy, "https://denied.example/", origin="prompt") == "denied.example is denied"


def test_denying_goes_before_allowing() -> None:
    policy = SourcePolicy(allow_domains=("example.org",), deny_domains=("ads.example.org",))

    assert refusal(policy, "https://ads.example.org/") == "ads.example.org is denied"
    assert refusal(policy, "https://example.org/") is None


@pytest.mark.parametrize(
    ("published", "since", "passes"),
    [
        ("2026-10-31", "1d", True),
        ("2026-10-30", "1d", False),
        ("2026-10-25T08:00:00Z", "1w", True),
        ("2026-10", "1w", True),
        ("2026-09", "1m", False),
        ("2025", "1y", True),
        ("2024", "1y", False),
        (None, "1d", True),
        ("last spring", "1d", True),
        ("2027-01-01", "1d", True),
    ],
)
def test_a_source_is_too_old_where_its_latest_possible_day_is(published: str | None, since: str, passes: bool) -> None:
    policy = SourcePolicy().narrowed(since=since, today=TODAY)

    assert (refusal(policy, published=published) is None) is passes


def test_a_kind_that_is_not_wanted_is_refused() -> None:
    assert refusal(SourcePolicy(kinds=("paper",))) == "a web source; wanted: paper"
    assert refusal(SourcePolicy(kinds=("paper",)), kind="paper") is None


def test_domains_are_brought_to_one_form() -> None:
    given = ["Example.ORG", "*.example.org", ".example.org.", "www.example.org", "bücher.example", "gov", "[::1]"]

    assert parse_domains(given) == ("example.org", "xn--bcher-kva.example", "gov", "[::1]")


@pytest.mark.parametrize(
    "given", ["", "*", "https://example.org", "example.org/a", "example.org:80", "a b", "u@x.org", "::1"]
)
def test_what_is_no_domain_is_an_error(given: str) -> None:
    with pytest.raises(UsageError, match="is not a domain"):
        parse_domains([given])


@pytest.mark.parametrize(
    ("published", "day"),
    [("2026", date(2026, 12, 31)), ("2024-02", date(2024, 2, 29)), ("2026-02-30", None), ("2026-13", None), ("", None)],
)
def test_the_latest_day_of_a_date(published: str, day: date | None) -> None:
    assert latest_day(published) == day


@pytest.mark.parametrize(
    ("since", "first", "recency"),
    [
        ("2026", "2026-01-01", "year"),
        ("2026-10", "2026-10-01", "month"),
        ("2026-10-31", "2026-10-31", "day"),
        ("2026-11-01", "2026-11-01", "day"),
        ("30d", "2026-10-02", "month"),
        (" 2W ", "2026-10-18", "month"),
        ("1y", "2025-10-31", "year"),
        ("2y", "2024-10-30", None),
        ("1066-10-14", "1066-10-14", None),
    ],
)
def test_a_date_or_a_span_says_since_when(since: str, first: str, recency: str | None) -> None:
    policy = SourcePolicy().narrowed(since=since, today=TODAY)

    assert (str(policy.since), policy.recency) == (first, recency)
    assert refusal(policy, published=first) is None
    assert refusal(policy, published="1000-01-01") == f"published 1000-01-01: before {first}"


@pytest.mark.parametrize(
    "since",
    ["", "yesterday", "2026-13", "2026-02-30", "2027", "2026-11-02", "d", "-1d", "999999y", "30 d", "1.5y", "٣d"],
)
def test_what_is_no_day_is_a_usage_error(since: str) -> None:
    with pytest.raises(UsageError, match="not a date in the past"):
        SourcePolicy().narrowed(since=since, today=TODAY)


def test_a_question_chooses_among_sites_and_denies_more() -> None:
    basic = SourcePolicy(("old.example",), ("bad.example",), kinds=("paper",))

    one = basic.narrowed(["Example.org", "-*.Ads.example.org", "example.org"], today=TODAY)

    assert (one.allow_domains, one.deny_domains) == (("example.org",), ("bad.example", "ads.example.org"))
    assert one.kinds == ("paper",)
    assert basic.narrowed(["-x.example"], today=TODAY).allow_domains == ("old.example",)
    assert basic.narrowed(today=TODAY) == basic
    for wrong in ("-", "", "--x/y", "https://example.org", "-a b"):
        with pytest.raises(UsageError, match="is not a domain"):
            basic.narrowed([wrong], today=TODAY)


def test_a_policy_says_in_words_what_it_wants() -> None:
    assert SourcePolicy().words() == ()
    policy = SourcePolicy(("a.example",), ("b.example",), kinds=("paper",)).narrowed(since="2026", today=TODAY)
    assert policy.words() == ("only a.example", "not b.example", "published since 2026-01-01", "of the kind paper")
