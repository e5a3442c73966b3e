from __future__ import annotations

from typing import Any

import pytest

from asky.research.no_evidence import NoEvidence, no_evidence, outage
from asky.storage.runs import LedgerEntry

NOTHING_BEFORE = ("asked", {"sources": 0})
SLOW = ("timed_out", "it did not send its robots.txt in time")
MISSING, DOWN, FETCHED = ("missing", "a.example has no such page"), ("unreachable", "no such host"), ("fetched", None)


def searched(*found: str, failed: bool = False) -> tuple[str, dict[str, Any]]:
    return "web_searched", {"found": list(found), "failures": [["brave", "unreachable", "no answer"]] * failed}


def read(url: str, verdict: tuple[str, str | None]) -> tuple[str, dict[str, Any]]:
    return "read", {"url": url, "verdict": verdict[0], "why": verdict[1], "hosts": []}


def chose(selected: list[str], *rejected: str) -> tuple[str, dict[str, Any]]:
    return "shortlisted", {
        "selected": [{"url": url} for url in selected],
        "rejected": [[url, "no"] for url in rejected],
    }


def of(*entries: tuple[str, dict[str, Any]]) -> NoEvidence | None:
    return no_evidence([LedgerEntry("2026-11-22T09:00:00Z", kind, data) for kind, data in (NOTHING_BEFORE, *entries)])


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([searched(), chose([])], "the web search found nothing"),
        ([searched("u", "v"), chose([], "u", "v")], "2 pages were found on the web, but none may be used"),
        ([searched("u"), read("u", MISSING), chose([], "u")], "the page could not be read: a.example has no such page"),
        (
            [searched(), read("u", MISSING), chose([], "u")],
            "the web search found nothing and the page could not be read: a.example has no such page",
        ),
        (
            [searched("u", "v", "w"), read("u", MISSING), read("v", DOWN), chose([], "u", "v", "w")],
            "none of the 2 pages that were tried could be read: a.example has no such page (1); no such host (1)",
        ),
        (
            [searched("u", "v"), read("u", FETCHED), read("v", DOWN), chose([], "u", "v")],
            "one page was read, but none matches the question",
        ),
    ],
)
def test_what_was_missing_is_said(entries: list[tuple[str, dict[str, Any]]], message: str) -> None:
    found = of(*entries)
    assert found is not None
    assert (found.message, found.code) == (message, "no_evidence")
    assert found.sentence == f"{message[0].upper()}{message[1:]}."
    assert found.hint


def test_a_reason_that_the_user_knows_is_not_told_again() -> None:
    entries = [LedgerEntry("2026-11-22T09:00:00Z", *each) for each in (NOTHING_BEFORE, read("u", MISSING))]
    found = no_evidence(entries, ["https://a.example/u was not read: a.example has no such page"])
    assert found is not None
    assert found.message == "the page could not be read"


def test_pages_none_of_which_can_be_reached_are_told_apart() -> None:
    for other in (DOWN, SLOW):
        found = of(searched("u", "v"), read("u", DOWN), read("v", other), chose([], "u", "v"))
        assert found is not None
        message = "none of the 2 pages that were tried could be reached"
        assert (found.message, found.code) == (message, "unreachable")
    found = of(searched("u", "v"), read("u", SLOW), read("v", SLOW), chose([], "u", "v"))
    assert found is not None
    assert found.code == "no_evidence"


@pytest.mark.parametrize(
    "entries",
    [
        [],
        [("searched", {"hits": []})],
        [searched(failed=True), chose([])],
        [searched("u"), read("u", FETCHED), chose(["u"])],
        [searched("u", "v"), read("u", FETCHED), read("v", DOWN)],
        [searched(failed=True), chose([]), ("searched", {"hits": [["s1", 0.1]]})],
        [("asked", {"sources": 3}), searched(), chose([])],
    ],
)
def test_a_run_with_sources_or_without_a_search_lacks_nothing(entries: list[tuple[str, dict[str, Any]]]) -> None:
    assert of(*entries) is None


NO_KEY = [["web search", "not_configured", "brave needs a key"]]
REFUSED = [["web search", "unreachable", "brave does not answer"]]


def failed(failures: list[list[str]], **more: Any) -> LedgerEntry:
    return LedgerEntry("2026-11-22T09:00:00Z", "web_searched", {"found": [], "failures": failures, **more})


def test_where_every_search_failed_the_first_failure_is_the_reason() -> None:
    found = outage([failed(NO_KEY, hints={"web search": "export BRAVE_API_KEY=..."}), failed(REFUSED)])
    assert found is not None
    assert (found.code, found.message) == ("not_configured", "brave needs a key")
    assert found.hint == "export BRAVE_API_KEY=..."
    earlier = LedgerEntry("2026-11-22T09:00:00Z", "searched", {"hits": [["P1", 0.5]]})
    found = outage([failed(REFUSED), earlier])
    assert found is not None
    assert (found.code, found.hint) == ("unreachable", "pages read earlier do not answer the question")


def test_a_search_that_any_service_has_answered_is_no_outage() -> None:
    assert outage([]) is None
    assert outage([failed([["brave", "unreachable", "no answer"]])]) is None
    assert outage([failed(REFUSED), failed([])]) is None
