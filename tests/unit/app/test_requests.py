"""What a question is asked with: what its request says, and what its session said before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from asky.app.requests import AskRequest, ResolvedAsk, check_resolved, resolve_in
from asky.cli.ask_options import AskOptions
from asky.config.loader import load_config
from asky.errors import UsageError
from asky.storage.sessions import Session
from asky.wiring import Services
from tests.support.talks import typed


def session(mode: str = "standard", **settings: Any) -> Session:
    return Session("0" * 12, "sea", mode, "2026-01-01", "2026-01-01", settings=settings)


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    """The services of an empty store."""
    environ = {"HOME": str(tmp_path), "ASKY_HOME": str(tmp_path / "asky")}
    with Services(load_config(environ=environ, cwd=tmp_path), environ) as services:
        yield services


class Following:
    """Resolves requests against an empty store, as they are resolved before they are asked."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def __call__(self, request: AskRequest, said: Session | None) -> ResolvedAsk:
        resolved = resolve_in(request, said, self._services)
        check_resolved(resolved)
        return resolved


@pytest.fixture
def follow(services: Services) -> Following:
    return Following(services)


def test_what_the_request_leaves_open_is_as_the_session_had_it(follow: Following) -> None:
    followed = follow(typed(), session("research", web=True, model="fast", sites=["nasa.gov"], since="1y"))
    assert followed.mode == "research"
    assert followed.model == followed.chosen_model == "fast"
    assert followed.web is not None
    assert (followed.web.sites, followed.web.since) == (("nasa.gov",), "1y")


def test_the_request_goes_before_what_the_session_said(follow: Following) -> None:
    given = typed(mode="lean", model="slow", allowed=False)
    followed = follow(given, session("research", web=True, model="fast"))
    assert (followed.mode, followed.model, followed.web) == ("lean", "slow", None)


@pytest.mark.parametrize("mode", ["research", "lean", "standard"])
def test_the_default_mode_can_be_had_again_in_any_session(follow: Following, mode: str) -> None:
    assert follow(typed(mode="standard"), session(mode)).mode == "standard"
    assert follow(typed(mode="standard"), session("lean", web=True)).web is not None


def test_a_lean_session_that_is_allowed_the_web_now_is_asked_in_the_ordinary_way(follow: Following) -> None:
    followed = follow(typed(allowed=True), session("lean", web=False))
    assert followed.mode == "standard"
    assert followed.web is not None


def test_a_web_that_was_used_is_used_again_but_not_demanded(follow: Following) -> None:
    used = follow(typed(), session(web=True))
    assert used.web is not None
    assert not used.requires_web  # or a search service that is gone would be an error
    assert follow(typed(allowed=True), session(web=True)).requires_web
    assert follow(typed(), session(web=True, sites=["nasa.gov"])).requires_web  # or sites would be left out unsaid
    assert follow(typed(), session(web=False)).web is None


def test_documents_that_are_named_now_keep_a_question_off_the_web(follow: Following) -> None:
    assert follow(typed(documents=(Path("x"),)), session(web=True)).web is None
    assert follow(typed(collections=("x",)), session(web=True)).web is None
    assert follow(typed(documents=(Path("x"),), allowed=True), session(web=False)).web is not None


def test_without_a_session_nothing_changes(follow: Following) -> None:
    request = typed(mode="research", allowed=True, sites=("nasa.gov",), since="1y", shortlist="off", model="fast")
    resolved = follow(request, None)
    assert resolved.request == request
    assert (resolved.mode, resolved.web, resolved.model) == (request.mode, request.web, request.model)


def options(**given: Any) -> AskOptions:
    """The flags of `asky ask`, of which these were typed."""
    names = ("docs", "collection", "site")
    flags = ("research", "lean", "standard", "offline", "resume", "all_sessions")
    open_ = dict.fromkeys(AskOptions.__dataclass_fields__) | dict.fromkeys(names, ()) | dict.fromkeys(flags, False)
    return AskOptions(**{**open_, "shortlist": "auto", **given})


@pytest.mark.parametrize(
    "given",
    [
        {"research": True, "lean": True},
        {"research": True, "standard": True},
        {"lean": True, "standard": True},
    ],
)
def test_flags_that_contradict_each_other_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="cannot be combined"):
        options(**given).check()


def test_a_request_that_contradicts_itself_is_refused_whoever_asks(services: Services, follow: Following) -> None:
    with pytest.raises(UsageError, match="cannot be combined"):
        follow(typed(mode="lean", allowed=True), None)


def test_findings_of_all_sessions_are_for_research(follow: Following) -> None:
    with pytest.raises(UsageError, match="only research recalls"):
        follow(typed(recall="all"), None)
    resumed = typed(recall="all", resume_last=True)
    with pytest.raises(UsageError, match="only research recalls"):
        follow(resumed, session("standard"))
    with pytest.raises(UsageError, match="only research recalls"):
        follow(replace(resumed, mode="standard"), session("research"))
    follow(typed(recall="all", mode="research"), None)
    assert follow(resumed, session("research")).request.recall == "all"


@pytest.mark.parametrize("given", [{"sites": ("nasa.gov",)}, {"since": "2021"}])
def test_wishes_about_the_web_are_refused_where_it_is_not_used(follow: Following, given: dict[str, Any]) -> None:
    for kept_off in ({"allowed": False}, {"documents": (Path("x"),)}, {"mode": "lean"}):
        with pytest.raises(UsageError, match="need the web, which this question does not use"):
            follow(typed(**given, **kept_off), None)
    with pytest.raises(UsageError, match="need the web, which this question does not use"):
        follow(typed(**given), session(web=False))


@pytest.mark.parametrize("given", [{"sites": ("not a domain",)}, {"since": "soon"}])
def test_wishes_that_mean_nothing_are_refused(follow: Following, given: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        follow(typed(**given), None)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"since": "2021"}, (("nasa.gov",), "2021")),
        ({"sites": ("esa.int",)}, (("esa.int",), "1y")),
        ({"sites": ("-x.org",)}, (("nasa.gov", "-x.org"), "1y")),
        ({"sites": ("-nasa.gov", "-x.org")}, (("-nasa.gov", "-x.org"), "1y")),
        ({"sites": ("-x.org", "esa.int")}, (("-x.org", "esa.int"), "1y")),
    ],
)
def test_sites_and_day_are_taken_over_each_by_itself(
    follow: Following, given: dict[str, Any], wanted: tuple[object, object]
) -> None:
    web = follow(typed(**given), session(web=True, sites=["nasa.gov"], since="1y")).web
    assert web is not None
    assert (web.sites, web.since) == wanted


def test_what_is_shut_out_now_comes_to_what_was_shut_out_before(follow: Following) -> None:
    web = follow(typed(sites=("-b.org", "-a.org")), session(web=True, sites=["-a.org"])).web
    assert web is not None
    assert web.sites == ("-a.org", "-b.org")


def test_the_shortlist_is_taken_over_unless_it_is_said(follow: Following) -> None:
    said = session(web=True, shortlist="off")
    followed, given = follow(typed(), said).web, follow(typed(shortlist="on"), said).web
    assert followed is not None
    assert given is not None
    assert (followed.shortlist, given.shortlist) == ("off", "on")


def test_nothing_of_the_web_is_taken_over_where_it_is_not_used(follow: Following) -> None:
    followed = follow(typed(documents=(Path("x"),)), session(web=True, sites=["nasa.gov"], since="1y"))
    assert followed.web is None
